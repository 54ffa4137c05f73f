"""The commands of the findings' pages: what runs them, and compares what they print with what the pages say."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from enum import Enum
from pathlib import Path

import pytest

from insync.cli.main import run
from insync.conformance.jars.pinned import pinned, pinned_for_cluster
from insync.conformance.jars.store import is_stored

PAGES = Path(__file__).parents[2] / "docs" / "findings"
_SMALL = 200_000
_STATES = re.compile(r"(?<=in all )[\d,]+(?= states)|[\d,]+(?= states seen)")


class Needs(Enum):
    """What a command of a page needs of Kafka."""

    NOTHING = "nothing"
    CLASSES = "classes"
    BROKERS = "brokers"


def commands(page: Path) -> list[tuple[str, str]]:
    """The commands of a page, each with what it prints."""
    blocks = "".join(re.findall(r"^```console\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))
    parts = [re.sub(r" \\\n *", " ", part).partition("\n") for part in blocks.split("$ insync ")[1:]]
    return [(command, printed) for command, _, printed in parts]


TRIED = sorted(page for page in PAGES.glob("*.md") if commands(page))


IN_THE_GATE = {
    "N-02": (10, 11),
    "N-03": (4, 5, 6),
    "N-08": (2, 3),
    "N-11": (2, 4),
    "N-14": (1, 5),
    "N-17": (2, 3),
}
"""The commands of pages, by their numbers on these, that are quick; the others without Kafka are slow."""


def needs(command: str) -> Needs:
    """What a command needs of Kafka."""
    if not command.startswith("kafka "):
        return Needs.NOTHING
    return Needs.BROKERS if command.startswith("kafka scenario ") else Needs.CLASSES


def parameters(needed: Needs) -> list[object]:
    """The parameters of a test of all commands of pages that need the same of Kafka: page, command, what it prints."""
    found: list[object] = []
    for page in TRIED:
        tried: set[str] = set()
        number = 0
        for command, printed in commands(page):
            if needs(command) is needed:
                number += 1
                large = any(int(size.replace(",", "")) > _SMALL for size in _STATES.findall(printed))
                slow = large or command.startswith("defects ") or patch_of(command) in tried
                slow = slow or not (needed is not Needs.NOTHING or number in IN_THE_GATE.get(page.stem, ()))
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


def check_on_kafka(page: Path, command: str, expected: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a command of a page on Kafka in a folder, with the traces that the page has written before."""
    version = shlex.split(command)[shlex.split(command).index("--kafka") + 1]
    live = needs(command) is Needs.BROKERS
    if not is_stored((pinned_for_cluster if live else pinned)(version)):
        wanted = f"{version} --cluster" if live else version
        pytest.skip(f"insync kafka fetch {wanted}, with INSYNC_CACHE_DIR set, fetches what this needs")
    monkeypatch.chdir(folder)
    for file in re.findall(r"\S+\.json", command):
        (writing,) = [one for one, _ in commands(page) if one.endswith(f"--trace {file}") and one.startswith("check")]
        printed_by(writing)
    check(command, expected)
