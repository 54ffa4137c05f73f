"""`insync ask` on the command line: the first screen, what is behind options, exit codes, and options that are gone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from insync.cli.commands.ask import ask_command as command
from insync.cli.main import run
from insync.kafka_questions.ask import Answer, answer
from insync.kafka_questions.question import Question
from insync.machine import compiler
from insync.machine.compiler import Code
from insync.runtime.errors import UserError

TWO = ("--quiet", "--replicas", "2")


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = command.main([*TWO, *arguments], "insync ask", standalone_mode=False, help_option_names=["-h", "--help"])
    return code, capsys.readouterr().out


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_verdict_comes_first_with_the_settings_and_where_they_come_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out = ask(capsys, "--release", "4.1", "--acks", "1", "--against", "broker")
    lines = out.splitlines()
    assert code == 1
    assert lines[0] == "Kafka 4.1, RF 2, min.insync.replicas=2, acks=1, unclean election off, ELR on"
    assert lines[1].startswith(
        "the command line: release, RF, acks; assumed: min.insync.replicas=2 (Kafka's default is 1), "
    )
    assert "AT RISK: an acknowledged record can be lost when a broker is killed; a setting would prevent it." in out
    assert "C-2: with acks=1 the leader acknowledges what nobody else has" in out
    assert "(common; 4 steps). Change acks=all." in flat(out)
    assert "What to change: acks=all." in out
    assert "More: --explain C-2 (its shortest trace)" in out
    assert "states" not in out


@pytest.mark.parametrize(
    ("environment", "given", "kind"),
    [({}, [], Code.QUICK), ({}, ["--pairs"], Code.FAST), ({"INSYNC_CODE": "fast"}, [], Code.FAST)],
)
def test_short_searches_take_quick_code_unless_another_kind_is_chosen(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], given: list[str], kind: Code
) -> None:
    def refused(question: Question, wanted: object) -> Answer:
        raise UserError(compiler.wanted())

    monkeypatch.setattr("insync.cli.commands.ask.answer", refused)
    monkeypatch.delenv("INSYNC_CODE")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=f"^{kind}$"):
        command.main([*TWO, *given, "--release", "4.1"], "insync ask", standalone_mode=False)


def test_safe_says_against_what(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--release", "4.1", "--against", "broker", "--against", "slow")
    assert code == 0
    assert "SAFE against all that was searched, each alone: no acknowledged record is lost." in out
    assert "Safe against, each alone: broker killed, slow follower." in out
    assert "Writes with acks=all are refused when 1 of 2 replicas is down" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("--release", "4.1"),
        ("--release", "3.9.2"),
        ("--release", "4.1", "--acks", "1", "--min-insync-replicas", "1", "--unclean-leader-election", "on"),
        ("--release", "2.8", "--acks", "1", "--min-insync-replicas", "1"),
        ("--release", "4.1", "--elr", "off", "--min-insync-replicas", "1"),
    ],
    ids=" ".join,
)
def test_the_first_screen_has_20_lines_at_most(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    _, out = ask(capsys, "--replicas", "3", *arguments)
    lines = out.splitlines()
    assert len(lines) <= 20
    assert max(map(len, lines)) <= 120
    assert "states" not in out


@pytest.mark.slow
def test_open_defects_are_listed_apart_and_decide_only_where_that_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = answer(Question(settings={"release": "4.1"}))
    monkeypatch.setattr("insync.cli.commands.ask.answer", lambda question, wanted: found)
    given = ("--replicas", "3", "--release", "4.1")
    code, out = ask(capsys, *given)
    assert code == 0
    assert "that no release has fixed" in out
    lose = "which lose records and which no release has fixed (insync defects N-04)."
    assert f"Not searched here: N-04, N-12, N-06, N-03, {lose}" in flat(out)
    assert "If the cluster was upgraded, eligible.leader.replicas.version is 0 (give --elr off)" in flat(out)
    assert ask(capsys, *given, "--fail-on", "any")[0] == 1
    accepted = [part for name in ("C-7", "N-01", "N-02") for part in ("--accept", name)]
    code, out = ask(capsys, *given, "--fail-on", "any", *accepted)
    assert code == 0
    assert "but for what is accepted (C-7, N-01, N-02)." in flat(out)
    assert "that no release has fixed" not in out


def test_a_cause_is_explained_step_by_step_by_its_name_or_its_ticket(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "lost.json"
    given = ("--elr", "off", "--against", "everyday", "--trace", str(file))
    code, out = ask(capsys, *given, "--explain", "KIP-966")
    assert code == 1
    assert out.splitlines()[3].startswith("R-25   Last replica standing")
    assert "b1 crashes, its log ends at 0" in flat(out)
    assert "What it takes:" in out
    assert "Safe against" not in out
    written = tmp_path / "lost.R-25.json"
    assert f"Replay: insync replay {written}" in out
    assert run(["replay", str(written)]) == 0
    capsys.readouterr()
    with pytest.raises(UserError, match="C-7 is no cause in this answer; see `insync defects C-7`"):
        ask(capsys, "--against", "slow", "--explain", "C-7")


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        (("--acks", "all"), "C-2"),
        (("--acks", "all"), "C-19"),
        (("--min-insync-replicas", "2"), "C-3"),
        (("--unclean-leader-election", "off"), "C-6"),
        (("--elr", "on"), "KIP-966"),
        (("--replicas", "2"), "C-10"),
        (("--release", "4.1"), "R-22"),
        (("--release", "4.1"), "M-5"),
        (("--release", "4.1"), "N-05"),
    ],
)
def test_what_cannot_be_a_cause_is_refused_before_anything_is_searched(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], cause: str
) -> None:
    monkeypatch.setattr("insync.cli.commands.ask.answer", lambda question, wanted: pytest.fail("it was searched"))
    with pytest.raises(UserError, match=r"cannot be a cause with Kafka 4.1, RF 2.*see `insync defects .*`"):
        ask(capsys, *given, "--explain", cause)


def test_a_cause_that_remains_when_settings_are_changed_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--release", "3.9", "--min-insync-replicas", "1", "--against", "everyday", "--explain", "R-26")
    _, out = ask(capsys, *given)
    assert "min.insync.replicas=1" in out.splitlines()[0]
    assert "The trace is that of a cluster with min.insync.replicas=2, where yours has min.insync.replicas=1." in out
    (header,) = [line for line in out.splitlines() if " fails after " in line]
    assert "min_insync_replicas 1" not in header


def test_an_unclean_election_is_named_so_with_eligible_leader_replicas_too(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--release", "4.1", "--unclean-leader-election", "on", "--against", "everyday")
    assert "C-6: an unclean election takes a broker from outside the ISR, which lacks the record." in flat(out)


@pytest.mark.parametrize("fewest", ["1", "2"])
def test_eligible_leader_replicas_are_turned_on_by_a_command_that_keeps_the_fewest_in_sync_replicas(
    capsys: pytest.CaptureFixture[str], fewest: str
) -> None:
    _, out = ask(capsys, "--elr", "off", "--min-insync-replicas", fewest, "--against", "everyday")
    command_line = "kafka-features.sh --bootstrap-server HOST:PORT upgrade --feature eligible.leader.replicas.version=1"
    said = flat(out)
    assert "(first kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type brokers --entity-default" in said
    assert "--add-config min.insync.replicas=2 unless each topic or the cluster has it" in said
    assert f"then {command_line})." in said


def test_an_upgrade_is_finished_before_eligible_leader_replicas_are_turned_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a short path leaves room for the commands in the answer
    Path("features.txt").write_text(
        "Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: 4.1-IV1\t"
        "FinalizedVersionLevel: 3.9-IV0\tEpoch: 9\n"
    )
    _, out = ask(capsys, "--config", "features.txt", "--min-insync-replicas", "2", "--against", "everyday")
    upgrade = "(first kafka-features.sh --bootstrap-server HOST:PORT upgrade --release-version 4.1, when all nodes have"
    assert upgrade in flat(out)


def test_a_gate_on_any_cause_says_which_it_counts(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--against", "cluster")
    code, out = ask(capsys, *given, "--fail-on", "any")
    assert (code, "Exit code 1, as --fail-on any counts C-7." in out) == (1, True)
    code, out = ask(capsys, *given, "--fail-on", "any", "--accept", "C-7")
    assert (code, "Exit code 1" in out) == (0, False)
    assert "SAFE against all that was searched, but for what is accepted (C-7)." in out
    assert "Exit code 1" not in ask(capsys, *given)[1]
    assert "Exit code 1" not in ask(capsys, "--acks", "1", "--against", "broker", "--fail-on", "any")[1]


def test_the_files_of_traces_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "lost.json"
    _, out = ask(capsys, "--acks", "1", "--against", "broker", "--trace", str(file))
    written = tmp_path / "lost.C-2.json"
    assert written.exists()
    assert f"Traces written: {written}. Step by step: insync replay {written}" in flat(out)


def test_where_flushing_comes_from_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--release", "4.1", "--flush", "always", "--against", "broker")
    assert out.splitlines()[0].endswith("ELR on, flushed always")
    assert out.splitlines()[1].startswith("the command line: release, RF, flush.messages; assumed: min.insync.replicas")
    assert "flush" not in ask(capsys, "--against", "broker")[1].split("SAFE")[0]


def test_details_are_a_table_of_promises_against_disturbances(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--acks", "1", "--against", "broker", "--against", "slow", "--details")
    assert "  P1  an acknowledged record is never lost" in out
    (row,) = [line for line in out.splitlines() if line.startswith("  broker  ")]
    assert row.split()[1:5] == ["lost", "in", "4", "steps"]
    assert "More:" not in out


@pytest.mark.slow_for("given2...")
@pytest.mark.parametrize(
    ("given", "costs"),
    [
        (
            ("--min-insync-replicas", "1", "--against", "everyday"),
            "It costs: writes with acks=all stop when 1 of 2 replicas is down or slow (with a rep",
        ),
        (
            ("--acks", "1", "--against", "broker"),
            "What to change: acks=all. It costs: a write waits for every in-sync replica.",
        ),
        (
            ("--unclean-leader-election", "on", "--against", "everyday"),
            "It costs: a partition has no leader while all its in-sync replicas are down.",
        ),
    ],
)
def test_what_is_to_be_changed_has_its_price(
    capsys: pytest.CaptureFixture[str], given: tuple[str, ...], costs: str
) -> None:
    _, out = ask(capsys, "--release", "4.1", "--elr", "on", *given)
    assert costs in flat(out)


def test_the_replicas_to_add_have_a_price_too(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--quiet", "--replicas", "1", "--min-insync-replicas", "1", "--release", "4.1", "--against", "everyday"]
    command.main(given, "insync ask", standalone_mode=False, help_option_names=["-h", "--help"])
    out = flat(capsys.readouterr().out)
    assert "What to change: replication factor 3, min.insync.replicas=2 (with ELR for the topic, or for the clus" in out
    assert "It costs: writes with acks=all stop when 2 of 3 replicas are down or slow; 3 copies on disk and" in out


def test_acks_that_nothing_says_are_those_of_newer_producers(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--release", "2.8", "--against", "slow")
    assert "acks=all (1 by default in producers before 3.0, KIP-679)" in flat(out)
    _, out = ask(capsys, "--release", "3.0", "--against", "slow")
    assert "producers before" not in out


@pytest.mark.parametrize(("option", "what"), [("--replicas", "a replication factor"), ("--min-insync-replicas", "min")])
def test_more_than_the_model_has_is_answered_with_the_nearest(option: str, what: str) -> None:
    with pytest.raises(
        UserError, match=rf"at most 5 replicas, so there is no answer for {what}.* of 7 \(the command li"
    ):
        command.main(["--quiet", option, "7"], "insync ask", standalone_mode=False)


def test_liveness_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--against", "slow", "--finishes")
    assert code == 0
    assert "A rolling restart always finishes: no partition stays under-replicated, as each broker" in flat(out)
    assert "A dead leader is always replaced while another member of the ISR runs." in out


def test_the_answer_is_there_for_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--acks", "1", "--release", "3.9.2", "--against", "broker", "--json")
    answer = json.loads(out)
    (one,) = answer["combinations"]
    (row,), (cause,) = one["rows"], one["causes"]
    assert (code, answer["verdict"]) == (1, "violated")
    assert (one["version"], one["settings"]["release"], one["origins"]["acks"]) == (
        "3.9.2",
        "3.9.1",
        "the command line",
    )
    assert (row["against"], row["promises"]["no_acknowledged_record_is_lost"]) == ("broker", "lost in 4 steps")
    assert (cause["name"], cause["kind"], cause["change"]) == ("C-2", "settings", {"acks": "all"})
    assert len(cause["steps"]) == cause["trace_length"] == 5
    assert one["verdict"] == {"settings": "violated", "any": "violated"}
    assert one["writes_stop"]


def test_a_search_that_was_stopped_promises_nothing(
    capsys: pytest.CaptureFixture[str], interrupted: Callable[[int], None]
) -> None:
    interrupted(0)
    code, out = ask(capsys, "--against", "broker")
    assert code == 3
    assert "UNKNOWN: not all that can happen when a broker is killed was searched." in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--fencings", "2"],
            "--fencings is an option of the model; `insync ask` takes disturbances by name, --against NAME",
        ),
        (["--records", "2"], "`insync check cluster --records N` searches with it"),
        (["--consumer", "leader"], "`insync check cluster --consumer` has it"),
        (["--matrix"], "--matrix is gone: the answer itself names the settings to change"),
        (["--property", "reads_repeat"], "--property is gone: --details and --json have every promise"),
        (["--release", "3.99"], "from 0.10.2 to 4.4; the nearest are 3.9.1 and 4.0."),
        (["--release", "nine"], "'nine' is not known"),
    ],
)
def test_what_is_gone_answers_with_a_sentence(arguments: list[str], said: str) -> None:
    with pytest.raises(click.UsageError) as caught:
        command.main(arguments, "insync ask", standalone_mode=False, help_option_names=["-h", "--help"])
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--against", "rak"], "Did you mean 'rack'?"),
        (["--accept", "N-99"], "The catalogue has no defect 'N-99'. `insync defects` lists them"),
        (["--explain", "R-999"], "The catalogue has no defect 'R-999'. `insync defects` lists them"),
        (["--explain", "KIP-1"], "The catalogue has no entry of KIP-1"),
    ],
)
def test_an_unknown_name_is_the_users_mistake(arguments: list[str], said: str) -> None:
    with pytest.raises(UserError) as caught:
        command.main(arguments, "insync ask", standalone_mode=False, help_option_names=["-h", "--help"])
    assert said in str(caught.value)


def test_what_is_searched_is_on_standard_error_unless_quiet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.explorer.progress.Pulse.due", lambda _: True)
    given = ["--replicas", "2", "--against", "slow"]
    command.main(given, "insync ask", standalone_mode=False, help_option_names=["-h", "--help"])
    assert "Progress: searching: a follower is slow." in capsys.readouterr().err
    command.main([*given, "--quiet"], "insync ask", standalone_mode=False, help_option_names=["-h", "--help"])
    assert capsys.readouterr().err == ""


def test_a_broker_that_cannot_write_is_the_first_thing_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--release", "3.6", "--min-insync-replicas", "3", "--against", "slow")
    assert "NO WRITES: writes with acks=all are refused though no broker has failed." in out
    code, out = ask(capsys, "--acks", "0", "--against", "broker")
    assert "NOTHING IS PROMISED: with acks=0 no record is acknowledged" in out
    assert (code, "What to change: acks=all." in out) == (1, True)


def test_the_page_of_a_cause_has_the_verdict_as_its_title_and_marks_the_step_of_harm(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = tmp_path / "lost.html"
    ask(capsys, "--acks", "1", "--against", "broker", "--html", str(page))
    text = page.read_text()
    assert "<title>An acknowledged record can be lost: with acks=1 the leader acknowledges" in text
    assert "Kafka 4.1, RF 2, min.insync.replicas=2, acks=1, unclean election off, ELR on. The harm is done in" in text
    assert 'class="harm"' in text
    assert "b1 appends a record \u2014 here the harm is done" in text


def test_a_cluster_that_takes_no_writes_fails_with_what_to_change(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--quiet", "--release", "3.4", "--replicas", "1", "--min-insync-replicas", "2", "--against", "broker"]
    assert command.main(given, "insync ask", standalone_mode=False) == 1
    out = flat(capsys.readouterr().out)
    assert "NO WRITES: writes with acks=all are refused though no broker has failed." in out
    assert "What to change: min.insync.replicas=1 or less, or a replication factor of 2 or more." in out
    command.main([*given, "--acks", "1"], "insync ask", standalone_mode=False)
    assert "NO WRITES" not in capsys.readouterr().out, "with acks=1 they are taken"


def test_a_row_that_breaks_a_promise_is_not_among_the_safe_ones(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--release", "0.10.2", "--against", "broker", "--against", "slow")
    assert "a promise can be broken when a broker is killed" in flat(out)
    assert "broker killed" not in flat(out).partition("Safe against")[2].split(".")[0]


@pytest.mark.parametrize(("fewest", "said"), [(2, True), (1, False)])
def test_tools_that_wait_for_a_spare_replica_stop_no_broker(
    capsys: pytest.CaptureFixture[str], fewest: int, said: bool
) -> None:
    pytest.importorskip("scipy")
    given = ("--release", "4.1", "--min-insync-replicas", str(fewest), "--against", "slow", "--finishes")
    out = flat(ask(capsys, *given)[1])
    assert ("Strimzi's roller and Cruise Control, stop no broker" in out) == said


@pytest.mark.parametrize(
    ("option", "value"), [("--against", "moon"), ("--accept", "NOPE"), ("--explain", "NOPE"), ("--accept", "KAFKA-1")]
)
def test_a_name_that_there_is_not_is_told_with_its_option(option: str, value: str) -> None:
    with pytest.raises(UserError, match=f"^{option}: .*{value}"):
        command.main([*TWO, option, value], "insync ask", standalone_mode=False)


def test_what_acks_decides_is_explained_with_acks_1() -> None:
    with pytest.raises(UserError, match=r"ELR on; give --acks 1, or see `insync defects C-2`"):
        command.main([*TWO, "--release", "4.1", "--explain", "C-2"], "insync ask", standalone_mode=False)


def test_a_verdict_names_what_is_accepted_and_promises_nothing_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--release", "4.1", "--min-insync-replicas", "1", "--against", "everyday", "--against", "cluster")
    code, out = ask(capsys, *given, "--accept", "C-3")
    assert code == 0
    said = (
        "SAFE against all that was searched, each alone, but for a loss of power of the whole cluster, by design, and "
        "for what is accepted (C-3)."
    )
    assert said in flat(out)
    assert "lost only when" not in out


def test_with_one_replica_there_is_no_rack_and_no_follower(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--quiet", "--replicas", "1", "--min-insync-replicas", "1", "--release", "3.6"]
    given += ["--against", "rack", "--against", "everyday"]
    command.main(given, "insync ask", standalone_mode=False, help_option_names=["-h", "--help"])
    out = flat(capsys.readouterr().out)
    assert "AT RISK: an acknowledged record can be lost when the broker loses power" in out
    assert "By: power loss of the broker" in out
    assert "With more replicas: R-25, R-26 (--details)" in out
    assert "follower" not in out.split("Writes with acks=all")[0]
    assert "a rack" not in out


def test_a_release_that_has_eligible_leader_replicas_as_a_preview_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--release", "4.0", "--min-insync-replicas", "2", "--against", "everyday")
    assert "no setting but eligible.leader.replicas.version=1, which is a preview in 4.0, keeps more" in flat(out)


@pytest.mark.parametrize(("fewest", "begins"), [("2", ""), ("1", "min.insync.replicas=2; against R-25 and R-26, ")])
def test_an_upgrade_comes_after_an_unclean_election_that_sleeps_is_turned_off(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, fewest: str, begins: str
) -> None:
    file = tmp_path / "msk.tf"
    file.write_text(
        'resource "aws_msk_configuration" "a" {\n  server_properties = "default.replication.factor=2"\n}\n'
        'resource "aws_msk_cluster" "a" {\n  kafka_version = "3.7.x.kraft"\n}\n'
    )
    given = ["--quiet", "--config", str(file), "--min-insync-replicas", fewest, "--against", "everyday"]
    command.main(given, "insync ask", standalone_mode=False, help_option_names=["-h", "--help"])
    out = flat(capsys.readouterr().out)
    assert "unclean election on (Kafka 3.7 ignores it)" in out.split("topics")[0][:200]
    assert "so no unclean election takes place" in out
    assert "the answer is for true" not in out
    first = "first unclean.leader.election.enable=false, which Kafka heeds from 3.9 on; then an upgrade to"
    assert f"What to change: {begins}{first}" in out


@pytest.mark.slow_for("3.9...")
@pytest.mark.parametrize(
    ("release", "path"),
    [
        ("2.8", "Kafka 4.1, eligible.leader.replicas.version=1 (from ZooKeeper by way of 3.9 and its migration"),
        ("3.9", "an upgrade to Kafka 4.1, eligible.leader.replicas.version=1 (first kafka-features.sh"),
    ],
)
def test_an_upgrade_from_zookeeper_goes_by_way_of_kraft(
    capsys: pytest.CaptureFixture[str], release: str, path: str
) -> None:
    _, out = ask(capsys, "--release", release, "--against", "everyday")
    assert path in flat(out)


def test_where_the_fewest_in_sync_replicas_are_set_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--release", "4.1", "--min-insync-replicas", "1", "--against", "everyday")
    assert (
        "What to change: min.insync.replicas=2 (with ELR for the topic, or for the cluster: kafka-configs.sh"
        in flat(out)
    )


@pytest.mark.parametrize("acks", ["-1", "all"])
def test_acks_may_be_written_as_its_number(capsys: pytest.CaptureFixture[str], acks: str) -> None:
    _, out = ask(capsys, "--release", "4.1", f"--acks={acks}", "--against", "slow")
    assert "acks=all" in out.splitlines()[0]


@pytest.mark.parametrize(("given", "release"), [("5.5.1", "2.5"), ("6.2", "2.8"), ("7.6", "3.6"), ("8.0.0", "4.0")])
def test_a_number_of_confluent_platform_is_told_with_its_release_of_kafka(given: str, release: str) -> None:
    with pytest.raises(click.UsageError) as caught:
        command.main(["--release", given], "insync ask", standalone_mode=False)
    assert f"Confluent Platform {given} has Kafka {release}: give --release {release}." in str(caught.value)
    assert str(caught.value).endswith("The newest Kafka that the model has is 4.4.")


def test_the_hint_names_the_disturbance_that_explains_a_cause_without_the_other_searches(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out = ask(capsys, "--acks", "1", "--against", "slow", "--against", "broker", "--against", "election")
    assert "More: --against broker --explain C-2 (its shortest trace)" in flat(out)
    _, out = ask(capsys, "--acks", "1", "--against", "broker", "--explain", "C-2")
    assert "\n\nC-2   acks=1 and a leader that fails\n" in out


def test_what_is_accepted_for_nothing_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--acks", "1", "--against", "broker", "--quiet")
    assert command.main([*given, "--accept", "N-09"], "insync ask", standalone_mode=False) == 1
    assert "--accept N-09 changes nothing, as N-09 is no cause in this answer." in flat(capsys.readouterr().err)
    command.main([*given, "--accept", "C-2"], "insync ask", standalone_mode=False)
    assert "changes nothing" not in capsys.readouterr().err
