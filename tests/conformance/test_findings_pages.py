"""The pages of the findings are right: their commands run and print what the pages say.

Those of `insync kafka` need Kafka's jars, and are marked `kafka`; what searches a large space is marked `slow`,
and so are `insync defects`, whose entries the tests of the catalogue look at one by one, and what a page shows of its
patch on more than one release.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from insync.cli.main import run
from insync.conformance.jars.pinned import pinned, pinned_for_cluster
from insync.conformance.jars.store import is_stored
from insync.conformance.patches.patched_jars import known_patches
from insync.kafka.defects import DEFECTS, LEFT_OUT

PAGES = Path(__file__).parents[2] / "docs" / "findings"
_SMALL = 200_000
_STATES = re.compile(r"(?<=in all )[\d,]+(?= states)|[\d,]+(?= states seen)")


def commands(page: Path) -> list[tuple[str, str]]:
    """The commands of a page, each with what it prints."""
    blocks = "".join(re.findall(r"^```console\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))
    parts = [re.sub(r" \\\n *", " ", part).partition("\n") for part in blocks.split("$ insync ")[1:]]
    return [(command, printed) for command, _, printed in parts]


FINDINGS = sorted(page for page in PAGES.glob("*.md") if commands(page))


IN_THE_GATE = {
    "N-05": (4, 5),
    "N-08": (2, 3),
    "N-11": (2, 4),
    "N-14": (1,),
    "N-17": (2, 3),
    "N-19": (2,),
    "N-20": (1, 2, 3),
}
"""The commands of pages, by their numbers on these, that are quick; the others without Kafka are slow."""


def parameters(*, of_kafka: bool) -> list[object]:
    found: list[object] = []
    for page in FINDINGS:
        tried: set[str] = set()
        number = 0
        for command, printed in commands(page):
            if command.startswith("kafka ") == of_kafka:
                number += 1
                large = any(int(size.replace(",", "")) > _SMALL for size in _STATES.findall(printed))
                slow = large or command.startswith("defects ") or patch_of(command) in tried
                slow = slow or not (of_kafka or number in IN_THE_GATE.get(page.stem, ()))
                tried |= {patch_of(command)} - {""}
                marks = [pytest.mark.slow, pytest.mark.timeout(600)] if slow else []
                found.append(pytest.param(page, command, printed, id=f"{page.stem}: {command}", marks=marks))
    return found


def patch_of(command: str) -> str:
    """The name of the patch that a command tries; empty for all other commands."""
    return command.split()[2] if command.startswith("kafka patch ") else ""


def printed_by(command: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert run([*shlex.split(command), "--quiet"]) in (0, 1)
    return printed.getvalue()


def without_counts(text: str) -> list[str]:
    """The lines without the sizes of spaces, which every rule of the model changes; traces and verdicts stay."""
    return [re.sub(r", depth \d+$", "", _STATES.sub("?", line)).rstrip() for line in text.splitlines()]


def check(command: str, expected: str) -> None:
    printed = iter(without_counts(printed_by(command)))
    for line in without_counts(expected):
        if line not in ("", "..."):
            assert line in printed, f"{command} does not print {line!r} there"


@pytest.mark.parametrize(("page", "command", "expected"), parameters(of_kafka=False))
def test_a_command_prints_what_the_page_says(
    page: Path, command: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check(command, expected)


@pytest.mark.kafka
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("page", "command", "expected"), parameters(of_kafka=True))
def test_kafka_does_what_the_page_says(
    page: Path, command: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = shlex.split(command)[shlex.split(command).index("--kafka") + 1]
    live = command.startswith("kafka scenario ")
    if not is_stored((pinned_for_cluster if live else pinned)(version)):
        wanted = f"{version} --cluster" if live else version
        pytest.skip(f"insync kafka fetch {wanted}, with INSYNC_CACHE_DIR set, fetches what this needs")
    monkeypatch.chdir(tmp_path)
    for file in re.findall(r"\S+\.json", command):
        (writing,) = [one for one, _ in commands(page) if one.endswith(f"--trace {file}") and one.startswith("check")]
        printed_by(writing)
    check(command, expected)


@pytest.mark.parametrize("name", known_patches())
def test_every_patch_has_a_page_that_tries_it(name: str) -> None:
    page = PAGES / f"{'-'.join(name.split('-')[:2])}.md"
    assert re.search(rf"insync kafka patch {name.removesuffix('-3.9')}\b", page.read_text(), re.IGNORECASE)


@pytest.mark.parametrize("page", FINDINGS, ids=lambda page: page.stem)
def test_the_index_has_every_page(page: Path) -> None:
    assert f"]({page.name})" in (PAGES / "README.md").read_text()


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_what_a_page_links_to_is_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", FINDINGS, ids=lambda page: page.stem)
def test_a_page_is_of_a_defect_and_has_every_section(page: Path) -> None:
    assert page.stem in {*DEFECTS, *(one.name for one in LEFT_OUT)}
    wanted = ["For operators", "The code", "On released Kafka", "The fix", "How bad", "What was not shown"]
    sections = re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)
    assert [section for section in sections if section in wanted] == wanted
