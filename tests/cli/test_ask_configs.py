"""`insync ask --config`: an answer for each combination of settings, with its topics and where values come from."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import click
import pytest

from insync.cli.commands.ask import ask_command as command
from insync.explorer.traces.grid import plain
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.cluster_settings import Asked
from insync.kafka_questions.documents.settings import describe_head, describe_settings
from insync.runtime.errors import UserError

QUICK = ("--quiet", "--against", "broker")
TOPICS = (
    "Topic: orders\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: min.insync.replicas=2,segment.bytes=1\n"
    "\tTopic: orders\tPartition: 0\tLeader: none\tReplicas: 1,2\tIsr: 1\n"
    "Topic: logs\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: cleanup.policy=compact\n"
)
PRODUCER = "bootstrap.servers=a:9092\nacks=1\n"


def ask(capsys: pytest.CaptureFixture[str], folder: Path, files: dict[str, str], *more: str) -> tuple[int, str]:
    """Run `insync ask` in a folder of files, so that the report has their names without the path to the folder."""
    given = []
    for name, text in files.items():
        (folder / name).write_text(text)
        given += ["--config", name]
    with contextlib.chdir(folder):
        code = command.main(
            [*QUICK, *given, *more], "insync ask", standalone_mode=False, help_option_names=["-h", "--help"]
        )
    return code, capsys.readouterr().out


def test_each_combination_has_its_topics_and_the_places_of_its_settings(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out = ask(capsys, tmp_path, {"topics.txt": TOPICS, "producer.properties": PRODUCER}, "--release", "4.1")
    assert code == 1
    assert out.startswith("Kafka 4.1: 2 combinations of settings, the worst first\n")
    assert out.count("AT RISK: an acknowledged record can be lost when a broker is killed") == 1
    assert "\norders: RF 2, min.insync.replicas=2, acks=1, unclean election off, ELR on\n" in out
    assert "Writes with acks=all would be refused when 1 of 2 replicas is down, 1 is fenced, or 1 follower is" in out
    assert "\nlogs: RF 1, min.insync.replicas=1, acks=1, unclean election off, ELR on\n" in out
    said = " ".join(out.split())
    assert "Topic orders has no leader now in partition 0" in said
    assert "Causes: C-2. What to change: acks=all." in said
    given = {"topics.txt": TOPICS, "producer.properties": PRODUCER}
    _, out = ask(capsys, tmp_path, given, "--release", "4.1", "--details")
    said = " ".join(out.split())
    assert "topics: orders\n" in out
    assert "topics: logs\n" in out
    assert " producer.properties, line 2: acks" in said
    assert " topics.txt, line 1: RF, min.insync.replicas" in said
    assert "assumed: unclean election, ELR as in a new cluster" in said


def test_of_several_combinations_the_worst_come_first_on_one_screen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    text = "".join(
        f"Topic: t{number}\tReplicationFactor: {1 + number % 3}\tConfigs: min.insync.replicas={1 + number % 2}\n"
        for number in range(12)
    )
    files = {"topics.txt": text, "server.properties": "unclean.leader.election.enable=true\n"}
    code, out = ask(capsys, tmp_path, files, "--release", "4.1", "--against", "everyday")
    lines = out.splitlines()
    assert (code, len(lines) <= 20, max(map(len, lines)) <= 120) == (1, True, True)
    words = [line.split(":")[0].strip() for line in lines if line.startswith(("  AT", "  SAFE"))]
    assert words == sorted(words)
    assert words[0] == "AT RISK"
    assert "\n  topics.txt, line 1: RF, min.insync.replicas\n" in out
    assert " server.properties, line 1: unclean election;" in " ".join(out.split())
    assert " more: " in out
    assert "(--details)" in out


def test_a_long_path_is_printed_unbroken_with_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    folder = tmp_path / ("a-folder-of-120-characters-" * 5)[:120]
    folder.mkdir()
    for name, text in {"topics.txt": TOPICS, "server.properties": "unclean.leader.election.enable=true\n"}.items():
        (folder / name).write_text(text)
    given = [word for name in ("topics.txt", "server.properties") for word in ("--config", str(folder / name))]
    command.main([*QUICK, *given, "--release", "4.1"], "insync ask", standalone_mode=False)
    out = capsys.readouterr().out
    assert f"\n  {folder / 'topics.txt'}, line 1: RF, min.insync.replicas\n" in out
    assert f"\n  {folder / 'server.properties'},\n" in out


def test_a_long_name_of_a_topic_is_printed_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    name = "t" * 249  # Kafka allows no longer one
    _, out = ask(
        capsys, tmp_path, {"topics.txt": TOPICS.replace("Topic: orders", f"Topic: {name}")}, "--release", "4.1"
    )
    assert f"\n{name}: ...\n  topics.txt, line 1: RF, min.insync.replicas\n" in out


def test_what_ends_is_told_once_for_combinations_that_agree(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("scipy")
    monkeypatch.setenv("COLUMNS", "120")
    sizes = ((2, 2), (2, 1), (1, 1))
    topics = "".join(
        f"Topic: t{of}{fewest}\tReplicationFactor: {of}\tConfigs: min.insync.replicas={fewest}\n"
        for of, fewest in sizes
    )
    files = {"topics.txt": topics, "producer.properties": PRODUCER + "min.insync.replicas=2\n"}
    _, out = ask(capsys, tmp_path, files, "--release", "4.1", "--finishes")
    assert len(out.splitlines()) <= 20
    said = " ".join(out.split())
    assert "t22: A rolling restart always finishes. But tools that wait for a spare in-sync replica" in said
    assert said.count("A rolling restart always finishes. A dead leader is always replaced") == 1


def test_of_several_topics_the_one_that_takes_no_writes_says_so_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "".join(
        f"Topic: t{replicas}\tReplicationFactor: {replicas}\tConfigs: min.insync.replicas=2\n" for replicas in (1, 2)
    )
    code, out = ask(capsys, tmp_path, {"topics.txt": text}, "--release", "3.4")
    assert code == 1
    assert " ".join(out.split()).lower().count("are refused though no broker has failed") == 1
    assert "Writes with acks=all are refused when 1 of 2 replicas is down" in out


def test_a_page_names_the_topics(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "lost.html"
    files = {"topics.txt": TOPICS.split("\n")[0] + "\n", "producer.properties": PRODUCER}
    ask(capsys, tmp_path, files, "--release", "4.1", "--html", str(page))
    assert "Topics: orders. The harm is done in step" in page.read_text()
    ask(capsys, tmp_path, {"server.properties": "default.replication.factor=2\nacks=1\n"}, "--html", str(page))
    assert "Topics:" not in page.read_text(), "no topic is named"


def test_details_name_what_was_not_asked_about(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, out = ask(capsys, tmp_path, {"topics.txt": TOPICS}, "--release", "4.1", "--details")
    assert "not a setting of the model: cleanup.policy (compaction, which is not modelled)" in out
    assert "ignored: segment.bytes" in out


def test_files_and_the_command_line_go_together(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = {"server.properties": "default.replication.factor=2\nmin.insync.replicas=1\n"}
    code, out = ask(capsys, tmp_path, files, "--release", "4.1", "--min-insync-replicas", "2", "--json")
    answer = json.loads(out)
    (one,) = answer["combinations"]
    assert (code, one["settings"]["min_insync_replicas"], one["origins"]["min_insync_replicas"]) == (
        0,
        2,
        "the command line",
    )
    assert one["topics"] == ["all other topics"]


@pytest.mark.slow
def test_the_rebalancing_that_a_file_turns_off_is_no_advice(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = "default.replication.factor=3\nmin.insync.replicas=2\nauto.leader.rebalance.enable=false\n"
    (tmp_path / "server.properties").write_text(text)
    given = ["--quiet", "--config", str(tmp_path / "server.properties"), "--release", "4.1", "--details"]
    command.main(given, "insync ask", standalone_mode=False, help_option_names=["-h", "--help"])
    assert "auto.leader.rebalance.enable=false, which you have" in " ".join(capsys.readouterr().out.split())


def test_several_combinations_are_no_one_answer_for_a_build(tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_text(TOPICS)
    for told in (["--github"], ["--sarif", str(tmp_path / "found.sarif")]):
        with pytest.raises(click.UsageError, match=f"{told[0]} writes one answer, and the files have 2"):
            command.main(
                ["--config", str(tmp_path / "topics.txt"), *told],
                "insync ask",
                standalone_mode=False,
                help_option_names=["-h", "--help"],
            )


def test_what_the_model_is_too_small_for_is_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="at most 5 replicas, so there is no answer for a replication factor of 7"):
        ask(capsys, tmp_path, {"topics.txt": "Topic: wide\tReplicationFactor: 7\n"}, "--release", "4.1")


def test_a_topic_that_the_model_is_too_small_for_is_left_out_and_the_others_are_answered(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "Topic: wide\tReplicationFactor: 7\n" + TOPICS
    code, out = ask(capsys, tmp_path, {"topics.txt": text}, "--release", "4.1")
    said = " ".join(out.split())
    assert code == 3, "the others are safe, and of this one nothing is known"
    place = "topics.txt, line 1"
    assert f"Left out: wide, with a replication factor of 7 ({place}); the model has at most 5 replicas." in said
    assert said.count("Left out") == 1
    assert "wide: RF" not in said
    assert "orders: RF 2" in said
    assert "logs: RF 1" in said
    assert "Topic orders has no leader now in partition 0" in said, "remarks of the first are not lost with it"


@pytest.mark.parametrize(
    ("tag", "head"), [("3.9.2", "Kafka 3.9.2 (same rules as 3.9.1), RF 3, "), ("4.1.0", "Kafka 4.1.0, RF 3, ")]
)
def test_the_head_has_the_release_of_the_file_and_where_it_differs_that_of_the_rules(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, tag: str, head: str
) -> None:
    compose = {"compose.yaml": f"services:\n  kafka:\n    image: apache/kafka:{tag}\n"}
    code, out = ask(capsys, tmp_path, compose, "--replicas", "3", "--acks", "1")
    assert (code, out.startswith(head)) == (1, True)


@pytest.mark.parametrize(("count", "shown"), [(1, "t0"), (8, "t0, t1, t2, t3, t4, t5, t6, t7"), (9, " t7 and 1 more")])
def test_of_many_topics_the_first_eight_are_named_and_the_others_counted(count: int, shown: str) -> None:
    said = describe_head(Asked({}, topics=[f"t{n}" for n in range(count)]), Cluster(), plain, 120)
    topics = said.splitlines()[1]
    assert topics.endswith(shown)
    assert ("more" in topics) == (count > 8)


def test_settings_have_the_names_that_kafka_has_for_them() -> None:
    some: dict[str, int | str] = {
        "acks": "all",
        "min_insync_replicas": 2,
        "unclean_leader_election": "on",
        "elr": "off",
        "release": "4.1",
    }
    assert describe_settings(some) == (
        "acks=all, min.insync.replicas=2, unclean.leader.election.enable=true, eligible.leader.replicas.version=0, "
        "Kafka 4.1"
    )
    assert describe_settings({"replicas": 3, "flush": "always"}) == "replication factor 3, flush.messages=1"


def test_a_release_that_no_file_says_is_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = {"server.properties": "node.id=1\ndefault.replication.factor=2\nmin.insync.replicas=2\n"}
    _, out = ask(capsys, tmp_path, files)
    assert "warning: No file says the release, and the answer is for Kafka 4.1: give --release." in " ".join(
        out.split()
    )
    _, out = ask(capsys, tmp_path, files, "--release", "4.1")
    assert "No file says" not in out
    files = {"compose.yaml": "services: {k: {image: 'apache/kafka:latest', environment: {KAFKA_NODE_ID: 1}}}\n"}
    _, out = ask(capsys, tmp_path, files, "--replicas", "2")
    assert " ".join(out.split()).count("give --release") == 1


def test_a_build_is_told_the_cause_at_the_line_of_the_setting_to_change(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "server.properties": "default.replication.factor=2\nmin.insync.replicas=2\n",
        "producer.properties": PRODUCER,
    }
    _, out = ask(capsys, tmp_path, files, "--release", "4.1", "--github", "--sarif", "found.sarif")
    (line,) = [line for line in out.splitlines() if line.startswith("::error")]
    assert line.startswith("::error file=producer.properties,line=2,title=insync%3A C-2::C-2: with acks=1 the leader")
    assert "Change acks=all." in line
    assert "fetch_sessions" not in line
    (run,) = json.loads((tmp_path / "found.sarif").read_text())["runs"]
    (found,) = run["results"]
    assert found["ruleId"] == "C-2"
    assert run["tool"]["driver"]["rules"][found["ruleIndex"]]["id"] == "C-2"
