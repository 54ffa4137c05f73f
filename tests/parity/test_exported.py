"""Spin and TLC have said of every exported model what insync says, and of the very module that is exported now.

The record is tests/parity/exported.csv. `make judge` has the checkers judge what has changed since. The columns are
those of `Judged`; `named` is what a subject is judged by, `none` its whole space where a violation ends the search,
anything else a property of runs.
"""

from __future__ import annotations

import runpy
from collections import Counter, defaultdict
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pytest

from insync.explorer import check
from insync.kafka.defects import all_defects
from insync.kafka.releases import Release
from insync.model.catalogue import BUILT_IN
from insync_judged import JUDGED, UNJUDGED, Figures, Judged, module_hash
from insync_subjects import Subject, subjects
from insync_ways import WAYS, asked, exported, missing

LEAST = 250
"""How many comparisons there must be."""


@cache
def record() -> tuple[Judged, ...]:
    return tuple(JUDGED.read().values())


@cache
def rows() -> dict[tuple[str, str], list[Judged]]:
    """Those of each subject."""
    found = defaultdict[tuple[str, str], list[Judged]](list)
    for row in record():
        found[row.model, row.bounds].append(row)
    return found


def rows_of(subject: Subject) -> list[Judged]:
    return rows().get((subject.model, subject.name), [])


def parts() -> list[tuple[Subject, ...]]:
    """The subjects that are judged, in parts of some seconds; those of one part are not alike."""
    judged = [subject for subject in subjects() if rows_of(subject)]
    return [tuple(judged[start::PARTS]) for start in range(PARTS)]


PARTS = 96
QUICK = 0
PARAMETERS = [
    pytest.param(part, id=f"part-{number}", marks=[] if number == QUICK else [pytest.mark.slow])
    for number, part in enumerate(parts())
]


def test_every_comparison_is_equal() -> None:
    assert [row for row in record() if row.agrees != "yes"] == []


def test_there_are_as_many_comparisons_as_are_promised() -> None:
    assert len(record()) >= LEAST


def test_what_is_on_record_is_judged_in_every_way() -> None:
    assert {row.engine for row in record()} == set(WAYS)


def test_every_model_release_and_defect_is_judged() -> None:
    judged = {(row.model, row.bounds) for row in record()}
    too_large = {(row.model, row.bounds) for row in UNJUDGED.read().values() if row.engine == "spin" and row.module}
    assert {(one.model, one.name) for one in subjects()} - judged == too_large - judged
    assert {row.model for row in record()} >= set(BUILT_IN)
    releases = {release.value for release in Release}
    assert releases >= {word[8:] for row in record() for word in row.bounds.split() if word.startswith("release=")}
    assert len({word for row in record() for word in row.bounds.split() if word.startswith("defect=")}) <= len(
        all_defects()
    )


def test_a_comparison_is_made_or_it_is_said_why_not() -> None:
    unjudged = UNJUDGED.read()
    assert JUDGED.read().keys() & unjudged.keys() == set()
    assert all(row.reason for row in unjudged.values())
    assert missing(asked()) == [], "run make judge"


def test_the_table_of_times_is_that_of_the_record() -> None:
    """`python benchmarks/judged.py` writes it, as `make judge` does at its end."""
    script = Path(__file__).parents[2] / "benchmarks" / "judged.py"
    written = runpy.run_path(str(script))
    assert written["TABLE"].read_text(encoding="utf-8") == written["page"](
        *([asdict(row) for row in rows] for rows in (record(), UNJUDGED.read().values()))
    )


@pytest.mark.parametrize("part", PARAMETERS)
def test_what_was_judged_is_what_is_exported(part: tuple[Subject, ...]) -> None:
    """It is not if a model, a property or the export has changed: then `make judge` has it judged again."""
    changed = []
    for subject in part:
        for row in rows_of(subject):
            way = WAYS[row.engine]
            with way.traced():
                model = subject.made()  # anew: the text of Promela has the order in which nodes were made
            if module_hash(exported(way, model, subject.asked(model, row.properties))) != row.module:
                changed.append(f"{row.engine}: {row.model} {row.bounds} ({row.properties})")
    assert changed == [], "run make judge"


def small_rows() -> list[Judged]:
    """A row of each model of the catalogue and some more, of at most some thousand states."""
    small = [row for row in record() if row.engine == "spin" and int(row.states) <= 2_000]
    seen: Counter[str] = Counter()
    chosen = []
    for row in small:
        seen[row.model] += 1
        if seen[row.model] == 1 or (row.model == "cluster" and seen[row.model] % 12 == 0):
            chosen.append(row)
    return chosen[:12]


@pytest.mark.slow
@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row.model} {row.bounds}"[-60:]) for row in small_rows()])
def test_insync_says_what_is_on_record(row: Judged) -> None:
    (subject,) = (one for one in subjects() if (one.model, one.name) == (row.model, row.bounds))
    model = subject.made()
    found = check(model, properties=subject.asked(model, row.properties), threads=1)
    assert row.figures.matches(Figures.of_check(found))


HOLDS = Figures("holds", "10", "3", "20", "")
FAILS = Figures("violated", "8", "2", "", "a:2 b:2")


@pytest.mark.parametrize(
    ("said", "own", "same"),
    [
        (HOLDS, HOLDS, True),
        (Figures("holds", "10", "3", "21", ""), HOLDS, False),
        (Figures("holds", "10", "4", "20", ""), HOLDS, False),
        (Figures("holds", "9", "3", "20", ""), HOLDS, False),
        (FAILS, HOLDS, False),
        (FAILS, FAILS, True),
        (Figures("violated", "8", "2", "", "a:2"), FAILS, False),
        (Figures("violated", "", "", "", "a:2"), FAILS, True),
        (Figures("violated", "", "", "", "a:3"), FAILS, False),
        (Figures("violated", "", "", "", "c:2"), FAILS, False),
        (Figures("violated", "", "", "", ""), FAILS, False),
    ],
)
def test_figures_match_as_far_as_a_checker_says_anything(said: Figures, own: Figures, same: bool) -> None:
    assert said.matches(own) == same


def test_a_comment_changes_no_hash_and_all_else_does() -> None:
    one = {"m.pml": "/* a */ int x;  /* b\n c */\n", "m.tla": "x == 1 \\* why\n(* more *)\n"}
    other = {"m.pml": "/* d */ int x;\n", "m.tla": "x == 1\n\n"}
    assert module_hash(one) == module_hash(other)
    assert module_hash({**one, "m.tla": "x == 2\n\n"}) != module_hash(one)
