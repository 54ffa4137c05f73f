"""What `insync ask` tries where a disturbance alone breaks something, and what it says where no setting helps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from insync.cli.commands.ask import command
from insync.cli.show.attempts_report import describe_attempt, what_helps
from insync.explorer.results import PropertyResult, Verdict, Violation
from insync.explorer.traces.trace import Trace
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects.findings import page_of
from insync.kafka_questions.ask import LOSS, Asked, Cell, Question
from insync.kafka_questions.disturbances import DISTURBANCES, Attempt, Disturbed
from insync.runtime.watch import StopReason

ELECTION, REASSIGNMENTS, UNEQUAL = DISTURBANCES
FINDINGS = Path(__file__).parents[2] / "docs/findings"
CALM = ("--records", "1", "--shrinks", "0", "--lossy-crashes", "0", "--replicas", "2", "--quiet", "--release", "4.3")
SETTINGS: dict[str, int | str] = {"elr": "off"}
TRACE = Trace("cluster", {}, LOSS, (), "")
HELD, CUT = Cell(SETTINGS, "holds", None), Cell(SETTINGS, "incomplete", None, StopReason.INTERRUPT)
LOST = Cell(SETTINGS, "violated", 5, None, TRACE)


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    command.main([*CALM, *arguments], "insync ask", standalone_mode=False)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("disturbance", "bounds", "changes"),
    [
        (ELECTION, {"release": "4.3"}, [{"flushing": "always"}, {"elr": "off"}]),
        (ELECTION, {"release": "4.0"}, [{"release": "4.4"}, {"flushing": "always"}]),
        (REASSIGNMENTS, {"release": "4.3", "flushing": "always"}, [{"elr": "off"}, {"min_insync": 1}]),
        (REASSIGNMENTS, {"release": "4.3", "flushing": "always", "min_insync": 3},
         [{"elr": "off"}, {"min_insync": 2}, {"min_insync": 1}]),
        (REASSIGNMENTS, {"release": "4.1", "flushing": "always", "min_insync": 1},
         [{"min_insync": 2}, {"release": "4.4"}, {"elr": "off"}]),
    ],
)  # fmt: skip
def test_what_might_keep_what_a_disturbance_breaks(
    disturbance: Any, bounds: dict[str, int | str], changes: list[dict[str, int | str]]
) -> None:
    assert disturbance.changes(Question(bounds=bounds)) == changes


@pytest.mark.slow
def test_a_change_that_loses_something_else_is_no_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    """Without eligible leader replicas N-02 is not there, and two lossy crashes lose a record (R-25)."""
    said = ask(capsys, "--elections", "0", "--lossy-crashes", "1", "--shrinks", "1", "--property", LOSS)
    _, tried = said.split("What would have kept that:\n")
    _, off, less, *_ = [" ".join(line.split()) for line in tried.splitlines()]
    assert off.startswith("eligible leader replicas off that holds, but a record is lost without it, in ")
    assert less.startswith("min.insync.replicas=1 that holds, but a record is lost without it, in ")
    assert f"What helps: no setting that was tried; {REASSIGNMENTS.avoided_by} (docs" in " ".join(tried.split())


@pytest.mark.slow
def test_where_nothing_else_is_lost_a_setting_helps(capsys: pytest.CaptureFixture[str]) -> None:
    answer = json.loads(ask(capsys, "--elections", "0", "--json"))
    (found,) = answer["disturbances"]
    assert [(each["settings"], each["verdict"]) for each in found["remedies"]] == [
        ({"flushing": "always"}, "violated"), ({"elr": "off"}, "holds"), ({"min_insync": 1}, "holds"),
    ]  # fmt: skip
    assert [each["undisturbed"] and each["undisturbed"]["verdict"] for each in found["remedies"]] == [
        None, "holds", "holds",
    ]  # fmt: skip
    assert found["remedy"] == SETTINGS
    assert found["avoided_by"] == REASSIGNMENTS.avoided_by


@pytest.mark.slow
def test_where_no_setting_helps_it_is_said_what_operators_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    said = " ".join(ask(capsys, "--replicas", "3", "--reassignments", "0").split())
    assert "records flushed always broken all the same, in 9 steps: whoever may lead next has every" in said
    assert f"What helps: no setting that was tried; {ELECTION.avoided_by} (docs/findings/N-01.md)." in said


def test_a_change_that_was_not_searched_is_unknown(
    capsys: pytest.CaptureFixture[str], interrupted: Callable[[int], None]
) -> None:
    interrupted(3)  # after the question, the reassignments, and the fix of N-02
    said = " ".join(ask(capsys, "--elections", "0").split())
    assert "records flushed always unknown: stopped by Ctrl-C eligible" in said
    assert "What helps: unknown, as not every change was searched." in said


@pytest.mark.parametrize(
    ("attempt", "said"),
    [
        (Attempt(LOST), "a record is lost all the same, in 4 steps"),
        (Attempt(CUT), "unknown: stopped by Ctrl-C"),
        (Attempt(HELD, HELD), "that holds, and what held without it"),
        (Attempt(HELD, LOST), "that holds, but a record is lost without it, in 4 steps"),
        (Attempt(HELD, CUT), "unknown: stopped by Ctrl-C"),
    ],
)
def test_what_an_attempt_comes_to(attempt: Attempt, said: str) -> None:
    assert describe_attempt(attempt, False, 120) == f"  {'eligible leader replicas off':<48}  {said}"
    assert describe_attempt(attempt, True, 120).startswith("\nWhat would have kept that:\n")


@pytest.mark.parametrize("fix", ["holds", "violated"])
@pytest.mark.parametrize(
    ("attempts", "said"),
    [
        ([Attempt(LOST), Attempt(HELD, HELD)], "eligible leader replicas off"),
        ([Attempt(HELD, LOST), Attempt(CUT)], "unknown, as not every change was searched"),
        ([Attempt(HELD, CUT)], "unknown, as not every change was searched"),
    ],
)
def test_what_helps_is_a_change_that_loses_nothing(fix: str, attempts: list[Attempt], said: str) -> None:
    assert what_helps(disturbed(fix, attempts)) == said


def test_what_avoids_an_entry_is_not_said_of_what_is_not_put_down_to_it() -> None:
    assert what_helps(disturbed("violated", [Attempt(LOST)])) == "no single change of those that were tried"
    assert what_helps(disturbed("holds", [Attempt(LOST)])).endswith(f"{ELECTION.avoided_by} (docs/findings/N-01.md)")


@pytest.mark.parametrize("disturbance", DISTURBANCES)
def test_what_avoids_an_entry_is_on_its_page(disturbance: Any) -> None:
    page = (FINDINGS / f"{page_of(disturbance.defect.name)}.md").read_text()
    assert "**What avoids it.**" in page
    assert set(disturbance.avoided_by.split()) & {"auto.leader.rebalance.enable=false,", "min.insync.replicas"}


def disturbed(fix: str, attempts: list[Attempt]) -> Disturbed:
    result: Any = SimpleNamespace(violations=[Violation(LOSS, 5, TRACE)], stopped_by=None)
    fixed: Any = SimpleNamespace(properties=[PropertyResult(LOSS, Verdict(fix))], stopped_by=None)
    return Disturbed(ELECTION, Asked(Cluster(), result), fixed, tuple(attempts))
