"""Findings without a fix: the table has all that lose records, and an answer names those that it did not search."""

from __future__ import annotations

import pytest

from insync.explorer.traces.grid import plain
from insync.kafka.defects import DEFECTS
from insync.kafka.releases import Release, has_defect
from insync.kafka_questions import ask
from insync.kafka_questions.causes.open_defects import LOSING, OPEN, not_searched, open_after_upgrade
from insync.kafka_questions.causes.releases import cause_of_release
from insync.kafka_questions.disturbances import DISTURBANCES, Row
from insync.kafka_questions.documents.ask import describe_first_screen
from insync.kafka_questions.documents.verdict import Gate
from insync.kafka_questions.question import ELECTABLE, LOSS, Question

WITH_ELR = ("N-02", "N-04", "N-03")


def test_all_entries_of_the_newest_release_that_lose_records_are_in_the_table() -> None:
    newest = list(Release)[-1]
    losing = {
        name
        for name, entry in DEFECTS.items()
        if name[0] in "RN" and has_defect(entry, newest) and entry.breaks in (LOSS, ELECTABLE)
    }
    assert losing == {*LOSING, "N-20"}  # N-20 is another way to N-03
    assert {one.name for one in OPEN} <= set(LOSING)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"release": "4.1"}, ("N-02", "N-01", "N-04", "N-12", "N-06", "N-03")),
        ({"release": "4.4", "elr": "off"}, ("N-01", "N-12", "N-06")),
        ({"release": "3.9"}, ("N-01", "N-12", "N-06")),
        ({"release": "3.6"}, ("N-01", "N-06")),
        ({"release": "3.9", "replicas": 2}, ("N-01", "N-12")),
        ({"release": "4.1", "replicas": 1, "min_insync_replicas": 1}, ("N-12",)),
        ({"release": "2.8"}, ()),
        ({"release": "4.1", "acks": "0"}, ()),
    ],
    ids=str,
)
def test_what_was_not_searched_is_named_by_release_and_settings(
    settings: dict[str, int | str], named: tuple[str, ...]
) -> None:
    question = Question(settings=settings)
    assert not_searched(question, question, ()) == named


def test_what_was_searched_to_the_end_is_not_named_again() -> None:
    question = Question(settings={"release": "4.1"})
    assert not_searched(question, question, ("N-01", "N-02")) == ("N-04", "N-12", "N-06", "N-03")


def test_the_release_that_an_answer_advises_is_said_to_have_defects_of_its_own() -> None:
    question = Question(settings={"release": "3.9"})
    model, row = question.model, Row((DISTURBANCES["rack"],), None)
    cause = cause_of_release(DEFECTS["R-26"], model, row, (), model)
    assert cause.change == {"release": "4.0"}
    assert open_after_upgrade(question, ()) == ()
    assert open_after_upgrade(question, [cause]) == ()  # ELR is a preview there, and off
    assert ask({"release": "3.9", "replicas": 2}, against=["everyday"]).open_after_upgrade == WITH_ELR


def test_a_safe_answer_says_which_findings_it_did_not_search() -> None:
    answer = ask({"release": "4.1", "replicas": 2}, against=["slow"])
    screen = " ".join(describe_first_screen(answer, Gate(), plain, 120).split())
    assert screen.startswith("SAFE")
    lose = "which lose records and which no release has fixed (insync defects N-02)."
    assert screen.endswith(f"Not searched here: N-02, N-01, N-04, N-12, N-03, {lose}")
    accepting = Gate(accepted=["N-02", "N-01", "N-04", "N-12", "N-03"])
    assert "Not searched here" not in describe_first_screen(answer, accepting, plain, 120)
