"""What `insync ask` says of elections and reassignments: N-01, N-02, and where neither is to be found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from insync.cli.commands.ask import command
from insync.cli.main import run
from insync.cli.show.ask_report import describe_disturbed
from insync.cli.show.exposure_report import Shown, describe_exposure
from insync.cli.show.seen_on_kafka import seen_in_short
from insync.explorer.results import PropertyResult, Verdict, Violation, together
from insync.explorer.traces.grid import plain
from insync.explorer.traces.trace import Trace, TraceStep
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.ask import ELECTABLE, LOSS, Asked, Question
from insync.kafka_questions.disturbances import DISTURBANCES, Disturbed, disturbed
from insync.kafka_questions.exposure import Exposure
from insync.runtime.watch import StopReason

ELECTION, REASSIGNMENTS, UNEQUAL = DISTURBANCES
CALM = ("--records", "1", "--shrinks", "0", "--lossy-crashes", "0")


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = command.main([*CALM, "--quiet", *arguments], "insync ask", standalone_mode=False)
    return code, capsys.readouterr().out


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code, out = ask(capsys, "--json", *arguments)
    return code, json.loads(out)


@pytest.mark.parametrize(
    ("replicas", "min_insync", "searched"), [(3, 1, 2), (3, 2, 2), (3, 3, 3), (5, 3, 3), (2, 3, 2)]
)
def test_two_reassignments_are_looked_for_with_as_few_replicas_as_show_them(
    replicas: int, min_insync: int, searched: int
) -> None:
    given = Question(bounds={"replicas": replicas, "min_insync": min_insync})
    assert REASSIGNMENTS.bounds(given)["replicas"] == searched
    assert ELECTION.bounds(given)["replicas"] == replicas


@pytest.mark.parametrize(
    ("bounds", "concerned"),
    [
        ({"replicas": 1}, []),
        ({"replicas": 2}, ["one election", "two reassignments"]),
        ({"replicas": 2, "elr": "off"}, ["one election"]),
        ({"replicas": 2, "elections": 1}, ["two reassignments"]),
        ({"replicas": 2, "elections": 0}, ["two reassignments"]),
        ({"replicas": 2, "reassignments": 1}, ["one election"]),
    ],
)
def test_a_disturbance_is_looked_for_where_it_can_happen_and_was_not_asked_for(
    bounds: dict[str, int | str], concerned: list[str]
) -> None:
    question = Question(bounds={"release": "4.3", **bounds})
    assert [one.words for one in DISTURBANCES if one.concerns(question)] == concerned
    silent = Question(bounds={"release": "4.3"}, promises=())
    assert not any(one.concerns(silent) for one in DISTURBANCES)


@pytest.mark.parametrize(("given", "taken"), [(0, 0), (1, 1), (2, 1), (4, 1)])
def test_no_more_is_searched_than_shows_it_and_than_the_user_allows(given: int, taken: int) -> None:
    assert ELECTION.bounds(Question(bounds={"fencings": given}))["fencings"] == taken


def test_one_election_and_one_expired_session_are_looked_for(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--release", "4.0")
    first, second = out.split("With one election, in less: ")
    assert code == 1
    assert "broken" not in first
    assert "whoever may lead next has every committed record                broken in 9 steps" in second
    assert "an acknowledged record is never lost                            holds" in second, "that takes a crash"
    said = " ".join(second.split())
    assert "N-01: A leader elected again counts what ISR members had" in said
    seen = seen_in_short("N-01")
    assert f"With its fix that holds. S{seen[1:]}. See `insync defects N-01`. Finding N-01: new." in said
    assert "on running brokers" in seen, "as the record says"
    assert "reassignments, in less" not in out, "4.0 keeps no eligible leader replicas unless it is told to"


@pytest.mark.slow
def test_with_a_lossy_crash_the_acknowledged_record_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    question = Question(bounds={"release": "4.1", "shrinks": 0, "records": 1})
    found = next(disturbed(question))
    lengths = {violation.property: violation.trace_length for violation in found.asked.result.violations}
    assert lengths == {"electable_replicas_are_complete": 10, "no_acknowledged_record_is_lost": 13}
    assert found.defect is not None
    assert found.defect.name == "N-01"


@pytest.mark.slow
def test_two_reassignments_are_looked_for_where_eligible_replicas_are_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "lost.json"
    code, found = answer(capsys, "--release", "4.3", "--trace", str(file))
    assert (code, found["verdict"]) == (1, "violated")
    assert {promise["verdict"] for promise in found["promises"]} == {"holds"}
    election, reassignments = found["disturbances"]
    assert (election["with"], election["defect"]["name"]) == ("one election", "N-01")
    assert (reassignments["with"], reassignments["defect"]["name"]) == ("two reassignments", "N-02")
    assert reassignments["settings"]["replicas"] == 2
    (lost,) = reassignments["promises"]
    assert (lost["trace_length"], len(lost["steps"])) == (11, 11)
    assert lost["trace"] == str(tmp_path / "lost.two_reassignments.json")
    complete = election["promises"][1]
    assert (complete["name"], complete["trace"]) == ("electable_replicas_are_complete", str(file))
    for written in (complete["trace"], lost["trace"]):
        assert run(["replay", written]) == 0


@pytest.mark.slow
def test_who_says_how_many_there_are_gets_one_search(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer(capsys, "--release", "4.3", "--elections", "0", "--reassignments", "0")
    assert (code, found["verdict"], found["disturbances"]) == (0, "holds", [])
    code, found = answer(capsys, "--release", "4.3", "--elections", "1", "--reassignments", "0", "--fencings", "0")
    assert (code, found["disturbances"]) == (0, []), "an election and no expired session break nothing"


@pytest.mark.slow
def test_what_the_user_rules_out_stays_ruled_out(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer(capsys, "--release", "4.3", "--fencings", "0")
    assert (code, found["verdict"]) == (0, "holds")
    assert [other["settings"].get("fencings") for other in found["disturbances"]] == [0, 0]
    assert [other["defect"] for other in found["disturbances"]] == [None, None]


@pytest.mark.slow
def test_where_a_record_is_lost_already_they_are_looked_for_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """With acks=1 a crash loses the record whatever else happens, and N-01 is to blame for what its fix keeps alone."""
    arguments = ("--release", "4.0", "--acks", "1", "--crashes", "1")
    code, out = ask(capsys, *arguments)
    assert code == 1
    _, election = out.split("With one election, in less: ")
    said = " ".join(election.split())
    assert "an acknowledged record is never lost broken in 3 steps" in said
    assert "With its fix this holds: whoever may lead next has every committed record." in said
    assert "electable_replicas_are_complete fails after 9 steps" in said
    assert "no_acknowledged_record_is_lost fails after" not in said, "that trace is shown above"
    assert " lossy crashes 0, crashes 1, " in election


@pytest.mark.slow
def test_a_change_that_helps_is_tried_with_an_election_and_reassignments(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer(capsys, "--release", "3.9", "--lossy-crashes", "1", "--replicas", "2")
    assert code == 1
    newest = next(remedy for remedy in found["remedies"] if remedy["settings"] == {"release": "4.4"})
    assert newest["verdict"] == "holds"
    by = {each["with"]: each["defect"] and each["defect"]["name"] for each in newest["disturbances"]}
    assert by == {"one election": None, "two reassignments": "N-02"}
    (seen,) = [each["defect"]["seen"] for each in newest["disturbances"] if each["defect"]]
    assert seen == seen_in_short("N-02")
    _, out = ask(capsys, "--release", "3.9", "--lossy-crashes", "1", "--replicas", "2")
    assert "with two reassignments at risk: a record is lost in 10 steps (N-02: A replica that" in " ".join(out.split())


@pytest.mark.parametrize(
    ("bounds", "searched"),
    [
        ({"replicas": 2, "partition_zero": 3}, {"replicas": 2, "partition_zero": 3}),
        ({"replicas": 3, "partition_zero": 2}, {"replicas": 2, "partition_zero": 2}),
        ({"replicas": 1, "partition_zero": 3}, {"replicas": 2, "spares": 1, "partition_zero": 3}),
    ],
)
def test_a_partition_of_another_size_than_partition_0_is_asked_about_n_05(
    bounds: dict[str, int | str], searched: dict[str, int | str]
) -> None:
    question = Question(bounds=bounds)
    assert UNEQUAL.concerns(question)
    found = UNEQUAL.bounds(question)
    assert searched.items() <= found.items()
    assert (found["crashes"], found["lossy_crashes"], found["reassignments"]) == (1, 0, 2)
    assert not UNEQUAL.concerns(Question(bounds={**bounds, "partition_zero": 0}))
    assert not UNEQUAL.concerns(Question(bounds={**bounds, "elr": "off"}))


@pytest.mark.slow_for("2-9")
@pytest.mark.parametrize(("replicas", "length"), [(2, 9), (1, 14)])
def test_what_breaks_as_partition_0_has_more_replicas_is_put_down_to_n_05(replicas: int, length: int) -> None:
    question = Question(bounds={"replicas": replicas, "partition_zero": 3, "elections": 0}, promises=[LOSS])
    (unequal,) = [found for found in disturbed(question) if found.disturbance is UNEQUAL]
    assert unequal.defect is not None
    assert (unequal.defect.name, unequal.asked.result.violations[0].trace_length) == ("N-05", length)


@pytest.mark.parametrize(("lossy", "crashes", "allowed"), [(1, 0, 1), (0, 1, 1), (0, 0, 0), (2, 2, 1)])
def test_where_something_is_lost_already_brokers_crash_without_losing(lossy: int, crashes: int, allowed: int) -> None:
    question = Question(bounds={"lossy_crashes": lossy, "crashes": crashes})
    losing = ELECTION.bounds(question, losing=True)
    assert (losing["lossy_crashes"], losing["crashes"]) == (0, allowed)
    assert ELECTION.bounds(question)["lossy_crashes"] == min(lossy, 1)


@pytest.mark.parametrize(
    ("bounds", "election", "reassignments"),
    [
        ({}, True, True),
        ({"replicas": 1, "min_insync": 1}, False, False),
        ({"elections": 0}, False, True),
        ({"reassignments": 1}, True, False),
        ({"elr": "off"}, True, False),
        ({"release": "4.0"}, True, False),
        ({"release": "4.0", "elr": "on"}, True, True),
    ],
)
def test_whom_a_disturbance_concerns(bounds: dict[str, int | str], election: bool, reassignments: bool) -> None:
    question = Question(bounds=bounds)
    assert (ELECTION.concerns(question), REASSIGNMENTS.concerns(question)) == (election, reassignments)


def test_the_bounds_are_those_of_the_user_or_less() -> None:
    asked = Question(bounds={"release": "4.2", "replicas": 5, "min_insync": 3, "records": 4, "crashes": 2})
    budgets = {"records": 1, "shrinks": 0}
    settings = {"release": "4.2", "min_insync": 3, **budgets}
    assert ELECTION.bounds(asked) == {
        **settings, "replicas": 5, "elections": 1, "lossy_crashes": 1, "crashes": 0, "fencings": 1,
    }  # fmt: skip
    assert REASSIGNMENTS.bounds(asked) == {
        **settings, "replicas": 3, "reassignments": 2, "lossy_crashes": 0, "crashes": 0, "fencings": 2,
    }  # fmt: skip


# ---------------------------------------------------------------------------------------------------- a fix cut short


@pytest.mark.slow
def test_a_fix_that_was_not_searched_to_its_end_says_nothing_of_its_entry(
    capsys: pytest.CaptureFixture[str], interrupted: Callable[[int], None]
) -> None:
    interrupted(2)  # after the question and the one election, of which something is broken
    code, out = ask(capsys, "--release", "4.0")
    said = " ".join(out.split())
    assert code == 1
    assert "Whether N-01 is behind that is unknown: the search with its fix was stopped by Ctrl-C." in said
    assert "not shown to be N-01" not in said
    interrupted(2)
    code, found = answer(capsys, "--release", "4.0")
    (election,) = found["disturbances"]
    assert (code, election["verdict"], election["defect"]) == (1, "violated", None)
    assert election["with_fix"] == {"of": "N-01", "keeps": [], "unknown": [ELECTABLE], "stopped_by": "interrupt"}


@pytest.mark.slow
def test_a_fix_that_was_searched_says_what_it_keeps(capsys: pytest.CaptureFixture[str]) -> None:
    _, found = answer(capsys, "--release", "4.0")
    (election,) = found["disturbances"]
    assert election["with_fix"] == {"of": "N-01", "keeps": [ELECTABLE], "unknown": [], "stopped_by": None}
    _, found = answer(capsys, "--release", "4.0", "--fencings", "0")
    assert [other["with_fix"] for other in found["disturbances"]] == [None], "nothing is broken"


MODEL = Cluster()
START = (TraceStep(None, {}, MODEL.decode(MODEL.program.initials[0])),)


def result_of(verdicts: dict[str, Verdict], stopped_by: StopReason | None = None) -> Any:
    lost = Trace("cluster", {}, LOSS, START, "")
    return SimpleNamespace(
        verdict=together(list(verdicts.values())),
        violations=[Violation(name, 3, lost) for name, verdict in verdicts.items() if verdict is Verdict.VIOLATED],
        properties=[PropertyResult(name, verdict) for name, verdict in verdicts.items()],
        warnings=(), stopped_by=stopped_by, distinct_states=7, frontier=0,
    )  # fmt: skip


BROKEN = result_of({LOSS: Verdict.VIOLATED, ELECTABLE: Verdict.VIOLATED})
NO_TIME = result_of({LOSS: Verdict.INCOMPLETE, ELECTABLE: Verdict.INCOMPLETE}, StopReason.TIME)


@pytest.mark.parametrize(
    ("lost", "complete", "kept", "undecided", "said"),
    [
        ("violated", "violated", (), (), ["That is not shown to be N-01, as it does not hold with the fix of N-01."]),
        ("incomplete", "incomplete", (), (LOSS, ELECTABLE), ["Whether N-01 is behind that is unknown: the search"]),
        ("violated", "incomplete", (), (ELECTABLE,), ["Whether N-01 is behind this (whoever may lead next has every"]),
        ("holds", "incomplete", (LOSS,), (ELECTABLE,), ["With its fix this holds: an ack", "Whether N-01 is be"]),
        ("holds", "holds", (LOSS, ELECTABLE), (), ["With its fix that holds."]),
    ],
)
def test_of_each_broken_promise_it_is_said_whether_the_fix_keeps_it(
    lost: str, complete: str, kept: tuple[str, ...], undecided: tuple[str, ...], said: list[str]
) -> None:
    fixed = result_of({LOSS: Verdict(lost), ELECTABLE: Verdict(complete)}, StopReason.TIME)
    found = Disturbed(ELECTION, Asked(MODEL, BROKEN), fixed)
    assert (found.kept, found.undecided) == (kept, undecided)
    text = " ".join(describe_disturbed(found, {}, plain, 100).split())
    assert all(each in text for each in said)
    assert ("not shown to be" in text) == (not kept and not undecided)
    assert ("is unknown: the search with its fix was stopped by the limit on the time" in text) == bool(undecided)


@pytest.mark.parametrize("losing", [False, True])
def test_in_a_table_too_an_entry_whose_fix_was_cut_short_is_not_ruled_out(losing: bool) -> None:
    asked = Asked(MODEL, BROKEN if losing else result_of({LOSS: Verdict.HOLDS}))
    cut, unsearched = Disturbed(ELECTION, asked=Asked(MODEL, BROKEN), fixed=NO_TIME), Asked(MODEL, NO_TIME)
    shown = Shown(Exposure({}, asked, disturbed=(cut, Disturbed(REASSIGNMENTS, unsearched))), ["t"])
    text = " ".join(describe_exposure(shown, set(), plain, 100).split())
    assert "with one election at risk: a record is lost in 2 steps; whether N-01 is behind it is unknown: the" in text
    assert "with two reassignments unknown: stopped by the limit on the time" in text
    assert "with the fix of" not in text
