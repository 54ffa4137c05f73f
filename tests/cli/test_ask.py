from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from insync.cli.commands.ask import command
from insync.cli.main import run
from insync.explorer import Limits
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.ask import Question

SMALL = ("--replicas", "2", "--records", "1", "--shrinks", "0")


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = command.main([*SMALL, *arguments], "insync ask", standalone_mode=False)
    return code, capsys.readouterr().out


def rows_of(out: str) -> list[list[str]]:
    """Return the words of each row of the table of outcomes, which ends where that of failures begins."""
    table = out.split("How many brokers must fail")[0]
    return [line.split() for line in table.splitlines() if line.startswith("  ") and "acks" not in line]


@pytest.mark.slow
def test_settings_that_are_safe_within_the_budgets(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--release", "4.1", "--reassignments", "0")
    assert code == 0
    assert "Kafka 4.1, replicas 2, records 1, shrinks 0" in out
    assert "states searched, all of them" in out
    assert " ".join(out.split()).count(" holds") == 9, "7 promises, and 2 with one election, which takes 3 replicas"
    assert "What would have kept the record" not in out


def test_settings_that_lose_a_record_and_what_would_have_kept_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--release", "3.9")
    assert code == 1
    assert "an acknowledged record is never lost                            broken in 5 steps, with a race" in out
    assert "r0 was acknowledged, but b1, which leads now, does not have it: its log is [|]." in out
    text = " ".join(out.split())
    assert "What would have kept the record: Kafka 4.4 no record is lost" in text
    assert "records flushed always no record is lost" in text


def test_where_the_shortest_way_takes_a_race_the_shortest_without_one_is_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "lost.json"
    code, out = ask(capsys, "--release", "3.9", "--property", "no_acknowledged_record_is_lost", "--trace", str(file))
    assert code == 1
    raced, calm = out.split("The shortest way takes a race inside one method of Kafka. Without races: ")
    assert "the controller stalls in ClusterControlManager.registerBroker (race)" in " ".join(raced.split())
    assert calm.startswith("Kafka 3.9, races off, replicas 2")
    assert "broken in 9 steps\n" in calm
    assert "(race)" not in calm
    assert (tmp_path / "lost.without_races.json").exists()


@pytest.mark.slow
def test_where_it_takes_no_race_there_is_no_second_search(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--acks", "1", "--lossy-crashes", "0", "--json")
    answer = json.loads(out)
    assert answer["verdict"] == "violated"
    assert answer["without_races"] is None


@pytest.mark.slow
def test_nothing_is_tried_for_a_promise_that_is_not_about_records(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--release", "0.10.2", "--acks", "0")
    assert code == 1
    assert "the end of the partition never goes back                        broken in 8 steps" in out
    assert "What would have kept the record" not in out


@pytest.mark.slow
def test_acks_1_is_told_to_use_acks_all(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--acks", "1")
    assert "acks=all no record is lost" in " ".join(out.split())


@pytest.mark.slow
def test_all_changes_together_are_tried_where_no_single_one_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--acks", "1", "--min-insync", "1", "--unclean", "on", "--crashes", "1", "--json")
    remedies = json.loads(out)["remedies"]
    assert [remedy["verdict"] for remedy in remedies[:-1]] == ["violated"] * (len(remedies) - 1)
    assert remedies[-1]["settings"] == {"acks": "all", "min_insync": 2, "unclean": "off", "flushing": "always"}
    assert remedies[-1]["verdict"] == "holds"


@pytest.mark.slow
def test_changes_are_not_put_together_where_a_single_one_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--release", "3.9", "--json")
    remedies = json.loads(out)["remedies"]
    assert len(remedies) > 1
    assert "holds" in [remedy["verdict"] for remedy in remedies]
    assert [len(remedy["settings"]) for remedy in remedies] == [1] * len(remedies)


def test_the_matrix_has_a_row_for_each_acks_and_min_insync(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--matrix")
    rows = rows_of(out)
    assert code == 1, "as without --matrix: something is lost"
    assert [row[:2] for row in rows] == [["0", "1"], ["0", "2"], ["1", "1"], ["1", "2"], ["all", "1"], ["all", "2"]]
    assert rows[0][2:] == ["nothing", "is", "promised"] * 2
    assert rows[2][2:] == ["lost", "in", "3", "steps"] * 2, "written, copied to nobody, lost with its leader"
    assert rows[5][2] == "safe"


def test_the_answer_is_there_for_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--release", "3.9", "--json")
    answer = json.loads(out)
    assert answer["settings"]["release"] == "3.9"
    assert answer["verdict"] == "violated"
    assert answer["bounds"] == Cluster(release="3.9", replicas=2, records=1, shrinks=0).identity
    lost, *_ = answer["promises"]
    assert (lost["name"], lost["verdict"]) == ("no_acknowledged_record_is_lost", "violated")
    assert (lost["trace_length"], len(lost["steps"]), lost["trace"]) == (6, 6, None)
    assert "does not have it" in lost["reason"]
    assert lost["steps"][0]["action"] is None
    assert lost["promised"]
    held = next(promise for promise in answer["promises"] if promise["verdict"] == "holds")
    assert held == {**held, "trace_length": None, "reason": None, "demands": None, "steps": None, "trace": None}
    kept = next(remedy for remedy in answer["remedies"] if remedy["settings"] == {"release": "4.4"})
    assert (kept["verdict"], kept["property"], kept["trace_length"], kept["steps"]) == ("holds", None, None, None)
    assert [found["with"] for found in kept["disturbances"]] == ["one election", "two reassignments"]
    assert [found["defect"] and found["defect"]["name"] for found in kept["disturbances"]] == [None, "N-02"]
    assert (answer["stopped_by"], answer["warnings"]) == (None, [])


@pytest.mark.slow
def test_the_trace_of_a_broken_promise_is_evidence_to_hand_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "lost.json"
    code, out = ask(capsys, "--release", "3.9", "--trace", str(file))
    assert code == 1
    assert f"Replay: insync replay {file}" in out
    trace = json.loads(file.read_text())
    assert (trace["property"], len(trace["steps"])) == ("no_acknowledged_record_is_lost", 6)
    assert trace["bounds"] == Cluster(release="3.9", replicas=2, records=1, shrinks=0).identity
    assert run(["replay", str(file)]) == 0


def test_a_search_that_was_stopped_promises_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--replicas", "3", "--records", "2", "--shrinks", "1", "--max-seconds", "0.2")
    assert code == 3
    assert "states searched, not all of them" in out
    assert "unknown" in out


def test_a_release_that_is_not_modelled_is_the_users_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(click.UsageError, match=r"3\.99"):
        ask(capsys, "--release", "3.99")


def test_an_interrupted_answer_is_unknown(
    capsys: pytest.CaptureFixture[str], interrupted: Callable[[int], None]
) -> None:
    interrupted(0)
    code, out = ask(capsys, "--release", "3.9")
    assert code == 3
    assert "0 states searched, not all of them: stopped by Ctrl-C" in out
    assert " ".join(out.split()).count(" unknown") == 9, "9 promises"
    assert "writes with acks=all are refused when 1 broker is down" in out, "that is looked for first"


@pytest.mark.slow
def test_of_many_broken_promises_two_are_shown_step_by_step(
    capsys: pytest.CaptureFixture[str], interrupted: Callable[[int], None]
) -> None:
    interrupted(1)  # the remedies do not matter here
    _, out = ask(capsys, "--release", "3.9", "--acks", "1")
    assert out.count("  broken in ") == 4
    fails = [line.split(" fails ")[0] for line in out.splitlines() if " fails after " in line]
    assert fails == ["no_acknowledged_record_is_lost", "watermark_never_goes_back"]


@pytest.mark.slow
def test_the_remedies_that_were_not_tried_are_unknown(
    capsys: pytest.CaptureFixture[str], interrupted: Callable[[int], None]
) -> None:
    """What was found before is known all the same: the promise is broken."""
    interrupted(3)
    code, out = ask(capsys, "--release", "3.9", "--acks", "1")
    assert code == 1
    assert "never lost                            broken in 3 steps" in out
    _, remedies = out.split("What would have kept the record:\n")
    assert [line.split("  ")[-1].strip() for line in remedies.split("\n\n")[0].splitlines()] == [
        "a record is lost all the same, in 5 steps",
        *["unknown: stopped by Ctrl-C"] * 3,
    ]
    interrupted(3)
    _, out = ask(capsys, "--release", "3.9", "--acks", "1", "--json")
    assert [(cell["verdict"], cell["stopped_by"]) for cell in json.loads(out)["remedies"]] == [
        ("violated", None),
        *[("incomplete", "interrupt")] * 3,
    ]


@pytest.mark.slow
def test_the_cells_that_were_not_tried_are_unknown(
    capsys: pytest.CaptureFixture[str], interrupted: Callable[[int], None]
) -> None:
    interrupted(3)
    code, out = ask(capsys, "--matrix")
    rows = rows_of(out)
    assert code == 1, "what was lost before is known"
    assert [row[:2] for row in rows] == [["0", "1"], ["0", "2"], ["1", "1"], ["1", "2"], ["all", "1"], ["all", "2"]]
    assert rows[3][-1:] + rows[4][2:] + rows[5][2:] == ["unknown"] * 5
    assert out.endswith("\nunknown: stopped by Ctrl-C\n")
    assert "  never" in out.split("How many brokers must fail")[1], "that was looked for first"
    interrupted(3)
    code, out = ask(capsys, "--matrix", "--json")
    cells = json.loads(out)["matrix"]
    assert (code, len(cells)) == (1, 12)
    assert [cell["stopped_by"] for cell in cells] == [None] * 7 + ["interrupt"] * 5


@pytest.mark.slow
def test_a_setting_that_means_less_than_it_says_is_warned_of_once(capsys: pytest.CaptureFixture[str]) -> None:
    remark = "Kafka 3.9 has no eligible leader replicas"
    _, out = ask(capsys, "--release", "3.9", "--elr", "on", "--min-insync", "3", "--replicas", "1")
    assert " ".join(out.split()).count(f"warning: {remark}") == 1
    assert "warning: min.insync.replicas 3 is more than the 1 replica: " in out
    matrix = ("--release", "3.9", "--elr", "on", "--replicas", "1", "--matrix")
    _, out = ask(capsys, *matrix)
    assert " ".join(out.split()).count(f"warning: {remark}") == 1
    _, out = ask(capsys, *matrix, "--json")
    assert [text.startswith(remark) for text in json.loads(out)["warnings"]] == [True]


@pytest.mark.slow
@pytest.mark.parametrize("quiet", [False, True])
def test_progress_is_on_standard_error_unless_quiet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, quiet: bool
) -> None:
    monkeypatch.setattr("insync.explorer.progress.Pulse.due", lambda _: True)
    command.main(
        [*SMALL, "--replicas", "1", "--matrix", *(["--quiet"] if quiet else [])], "insync ask", standalone_mode=False
    )
    _, err = capsys.readouterr()
    if quiet:
        assert err == ""
        return
    searches = [line for line in err.splitlines() if line.startswith("Progress: search ")]
    assert len(searches) == 4
    assert searches[1] == (
        "Progress: search 2 of 4, with acks=1, min.insync.replicas=1, unclean.leader.election.enable=true."
    )
    assert "\nProgress(1) at " in err


def test_a_promise_may_be_asked_about_alone(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--release", "3.9", "--property", "logs_keep_write_order", "--json")
    answer = json.loads(out)
    assert (code, [promise["name"] for promise in answer["promises"]]) == (0, ["logs_keep_write_order"])
    assert (answer["remedies"], answer["disturbances"]) == ([], [])
    with pytest.raises(click.UsageError, match="leader_is_eligible"):
        ask(capsys, "--property", "leader_is_liked")


@pytest.mark.slow
def test_the_seconds_are_those_of_the_whole_answer(capsys: pytest.CaptureFixture[str]) -> None:
    question = Question(bounds={"replicas": 2}, limits=Limits(seconds=60), asked_at=time.monotonic() - 61)
    assert [cell.verdict for cell in question.matrix()][4:] == ["incomplete"] * 8, "a minute has passed already"
    code, out = ask(capsys, "--matrix", "--max-seconds", "0.001")
    assert code == 3
    assert "unknown: stopped by" in out


@pytest.mark.parametrize(("seconds", "left"), [(60, (9, 10)), (None, None)])
def test_when_writes_stop_may_take_a_quarter_of_the_seconds(
    seconds: float | None, left: tuple[int, int] | None
) -> None:
    share = Question(bounds={}, limits=Limits(seconds=seconds), asked_at=time.monotonic() - 20.5).share(0.25)
    assert share.limits is not None
    assert share.limits.seconds is None if left is None else left[0] < (share.limits.seconds or 0) < left[1]


@pytest.mark.slow
def test_a_matrix_in_which_all_that_is_promised_holds_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--matrix", "--lossy-crashes", "0", "--fencings", "0", "--json")
    answer = json.loads(out)
    assert (code, answer["verdict"]) == (0, "holds")


@pytest.mark.slow
def test_every_cell_has_the_steps_of_its_trace_for_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--matrix", "--json")
    cells = json.loads(out)["matrix"]
    assert [len(cell["steps"] or ()) for cell in cells] == [cell["trace_length"] or 0 for cell in cells]
    assert any(cell["steps"] for cell in cells)


@pytest.mark.slow
def test_without_a_release_the_answer_says_which_it_is_about(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--fencings", "0", "--lossy-crashes", "0")
    said = (
        "No --release was given: this is 4.1. Of the newer ones 4.1.1, 4.2, 4.3, 4.4 differ, and in "
        "last_leader_when_leaderless, named_directory_keeps_elr, reassignment_ends alone."
    )
    assert " ".join(out.split()).startswith(said)
    _, out = ask(capsys, "--fencings", "0", "--lossy-crashes", "0", "--release", "4.1")
    assert "No --release" not in out


def test_with_acks_0_nothing_is_promised_and_retries_do_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    calm = ("--acks", "0", "--retries", "1", "--replicas", "1", "--min-insync", "1", "--lossy-crashes", "0")
    code, out = ask(capsys, *calm)
    said = " ".join(out.split())
    assert code == 0
    assert "warning: With acks=0 nothing is promised of acknowledged records" in said
    assert "warning: With acks=0 a producer awaits no answer and sends nothing again, so retries do nothing." in said
    assert said.count("nothing is promised") == 3
    assert "an acknowledged record is never lost nothing is promised" in said
    assert "whoever may lead next has every committed record holds" in said
    answer = json.loads(ask(capsys, *calm, "--json")[1])
    empty = [promise["name"] for promise in answer["promises"] if not promise["promised"]]
    assert empty == ["no_acknowledged_record_is_lost", "acks_mean_enough_copies"]


@pytest.mark.slow
def test_when_writes_stop_is_said_and_the_exit_code_does_not_depend_on_it(capsys: pytest.CaptureFixture[str]) -> None:
    calm = ["--quiet", "--lossy-crashes", "0", "--fencings", "0"]
    code, out = ask(capsys, *calm, "--release", "4.0")
    _, said = out.split("When do writes stop?\n")
    assert code == 0
    assert said.splitlines()[0] == (
        "  writes with acks=all are refused when 1 broker is down, 1 broker is fenced, or 1 follower is slow"
    )
    _, out = ask(capsys, *calm, "--release", "3.6", "--min-insync", "3", "--json")
    stops = json.loads(out)["writes_stop"]
    assert [(stop["by"], stop["failures"]) for stop in stops if stop["name"] == "writes_are_taken"] == [
        ("down", 0), ("fenced", 0), ("slow", 0), ("down_beside_slow", 0),
    ]  # fmt: skip
    assert [len(stop["steps"]) for stop in stops if stop["name"] == "a_leader_is_there"] == [4, 2, 0, 4]


@pytest.mark.slow
def test_a_matrix_is_about_any_promise_and_has_the_traces_beside_one_another(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file, page = tmp_path / "broken.json", tmp_path / "broken.html"
    small = ("--replicas", "2", "--fencings", "0", "--crashes", "1")
    wanted = ("--property", "electable_replicas_are_complete", "--property", "watermark_never_goes_back")
    given = ("--matrix", *small, *wanted, "--trace", str(file), "--html", str(page), "--json")
    code, out = ask(capsys, *given)
    answer = json.loads(out)
    assert (code, answer["promises"], answer["writes_stop"]) == (1, [wanted[3], wanted[1]], [])
    broken = [cell for cell in answer["matrix"] if cell["verdict"] == "violated"]
    assert broken
    for cell in broken:
        name = ".".join(f"{key}_{value}" for key, value in cell["settings"].items())
        assert cell["trace"] == str(tmp_path / f"broken.{name}.json")
        assert json.loads(Path(cell["trace"]).read_text())["property"] == cell["property"]
    assert run(["replay", broken[-1]["trace"]]) == 0
    assert all(cell["trace"] is None for cell in answer["matrix"] if cell not in broken)
    assert page.read_text().count("broken.acks_") >= len(broken)
    assert not file.exists()


@pytest.mark.slow
def test_a_matrix_says_when_writes_stop_and_what_it_is_without(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--matrix", "--replicas", "1", "--elr", "on", "--release", "4.1")
    rows = out.split("How many brokers must fail before writes stop?")[1].splitlines()
    assert [row.split() for row in rows if row.startswith("  1")] == [
        ["1", "off", "1", "1", "never", "1", "1", "never", "1"], ["1", "on", "1", "1", "never", "1", "1", "never", "1"]
    ]  # fmt: skip
    assert "The table is without" not in out, "one replica can be neither elected nor taken away"
    assert "Can an acknowledged record be lost?   Kafka 4.1" in out
