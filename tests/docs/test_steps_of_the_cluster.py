"""The table of steps in docs/guide/cluster-model.md is what the steps of the cluster say of themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.steps import Takes, words_of
from insync.kafka.releases import Release
from insync.model.language.declarations import action_specs
from insync.model.language.parts import HeldPart

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "cluster-model.md"
TABLE = re.compile(r"(?<=\n## Steps\n\n)(?:\|.*\n)+")
CODE = re.compile(r"\b(?:[A-Z]\w*[a-z]\w*\.[a-z]\w+|[a-z]+[A-Z]\w*|(?:[A-Z][a-z]+){2,})\b")
"""A class of Kafka, a method, or both."""

SMALL: dict[str, int | str] = {"replicas": 3, "records": 1, "isr_shrinks": 2}
WITHOUT_DIRECTORIES = dict.fromkeys(("log_dir_moves", "log_dir_losses", "log_dir_failures"), 0)


def table() -> str:
    """The table: steps by part, each with its label, what it takes, the releases that have it, and Kafka's methods."""
    lines = ["| step | in words | what it takes | releases | Kafka |", "|---|---|---|---|---|", *rows(releases)]
    return "".join(f"{line}\n" for line in lines)


def rows(of: Callable[[str], str | None]) -> Iterator[str]:
    """The rows; without the releases where the function says nothing of them."""
    specs = action_specs(Cluster)
    for held in (one for one in vars(Cluster).values() if isinstance(one, HeldPart)):
        for kind in held.kinds:
            for name, method in vars(kind).items():
                if name in specs:
                    cited = said(method).partition("Kafka: ")[2]
                    named = ", ".join(f"`{one}`" for one in CODE.findall(cited))
                    cells = f"`{name}`", specs[name].label, takes(name), of(name), named
                    yield f"| {' | '.join(cell for cell in cells if cell is not None)} |"


def said(method: object) -> str:
    return " ".join((inspect.getdoc(method) or "").split())


def takes(name: str) -> str:
    """What a step takes, in the words that it always has or in those of the function that looks at the moment."""
    needs = words_of(Cluster, name).needs
    if isinstance(needs, Takes):
        return f"{needs.hardness.value}: {needs.text}"
    return "" if needs is None else (inspect.getdoc(needs) or "").split("\n")[0]


@cache
def live() -> dict[Release, set[str]]:
    """The steps that something can take in each release, where all happens that may."""
    found: dict[Release, set[str]] = {}
    for release in Release:
        if release.same_since is not release:
            found[release] = found[release.same_since]
            continue
        chosen = {**SMALL, "preset": "everything", "release": release.value}
        models = Cluster(**chosen), Cluster(**{**chosen, **WITHOUT_DIRECTORIES})
        found[release] = {action.name for model in models for action in model.program.actions}
    return found


def releases(name: str) -> str:
    """The releases that have a step, as spans; nothing if all have it."""
    order, spans = list(live()), list[list[Release]]()
    for before, release in zip([None, *order], order, strict=False):
        if name in live()[release]:
            if before is None or name not in live()[before]:
                spans.append([])
            spans[-1].append(release)
    if spans == [order]:
        return ""
    said_of = [
        f"{one[0].value} on"
        if one[-1] is order[-1]
        else f"{one[0].value} alone"
        if len(one) == 1
        else f"{one[0].value} to {one[-1].value}"
        for one in spans
    ]
    return ", ".join(said_of) or "none: an entry of the catalogue has it"


def test_the_guide_has_the_table_that_the_steps_make() -> None:
    (written,) = TABLE.findall(PAGE.read_text())
    without = [[*cells[:3], *cells[4:]] for line in written.splitlines() if (cells := line.strip("| ").split(" | "))]
    assert without[2:] == [line.strip("| ").split(" | ") for line in rows(lambda _: None)], "`make records` writes it"


@pytest.mark.slow
def test_the_guide_names_the_releases_that_have_a_step() -> None:
    assert TABLE.findall(PAGE.read_text()) == [table()], "`make records` writes it"


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text()), encoding="utf-8")
