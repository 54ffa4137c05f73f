"""`insync ask --config`: the three formats, what overrides what, mistakes, and what is answered."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from insync.cli.commands.ask import command
from insync.cli.show.exposure_report import Shown, describe_exposure
from insync.explorer.results import PropertyResult, Verdict, Violation
from insync.explorer.traces.grid import plain
from insync.explorer.traces.trace import Trace
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.ask import LOSS, Asked, Cell, Question
from insync.kafka_questions.configs.reading import (
    EVERY_OTHER,
    NAMED,
    Configured,
    configs_in,
    properties_in,
    read_configs,
    setting_of,
    topics_in,
)
from insync.kafka_questions.disturbances import Remedy
from insync.kafka_questions.exposure import Exposure, exposures
from insync.runtime.errors import UserError

TOPICS = (
    "Topic: orders\tTopicId: aX-_\tPartitionCount: 2\tReplicationFactor: 3\t"
    "Configs: min.insync.replicas=2,cleanup.policy=compact,delete,segment.bytes=1024\n"
    "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\tElr: \tLastKnownElr: \n"
    "\tTopic: orders\tPartition: 1\tLeader: 2\tReplicas: 2,3\tIsr: 2,3\tElr: \tLastKnownElr: \n"
    "\n"
    "Topic: logs\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
    "\tTopic: logs\tPartition: 0\tLeader: none\tReplicas: 1\tIsr: \n"
)
CONFIGS = """All configs for broker 1 are:
  min.insync.replicas=2 sensitive=false synonyms={STATIC_BROKER_CONFIG:min.insync.replicas=2, DEFAULT_CONFIG:x=1}
  default.replication.factor=3 sensitive=false synonyms={}
Default configs for brokers in the cluster are:
  min.insync.replicas=1 sensitive=false synonyms={}
  unclean.leader.election.enable=true sensitive=false synonyms={}
Dynamic configs for topic a.b are:
  flush.messages=1 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:flush.messages=1}
Configs for topic 'old' are min.insync.replicas=3
Dynamic configs for topic none are:
"""


def read(tmp_path: Path, *texts: str, **given: int | str) -> Configured:
    files = [tmp_path / f"{number}.txt" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    return read_configs(files, given)


def by_topic(configured: Configured) -> dict[str, dict[str, int | str]]:
    return {topic: dict(found.settings) for found in configured.combinations for topic in found.topics}


def test_properties_as_java_has_them() -> None:
    lines = [
        "# a = b",
        "! c",
        "",
        "min.insync.replicas = 2",
        "a:b",
        "acks all",
        "log.dirs=/x,\\",
        "   /y,\\",
        "/z",
        "empty=",
    ]
    found = [(entry.key, entry.value, entry.place.line) for entry in properties_in("f", lines)]
    assert found == [
        ("min.insync.replicas", "2", 4), ("a", "b", 5), ("acks", "all", 6), ("log.dirs", "/x,/y,/z", 7),
        ("empty", "", 10),
    ]  # fmt: skip


def test_topics_as_kafka_topics_describes_them(tmp_path: Path) -> None:
    assert by_topic(read(tmp_path, TOPICS)) == {
        "orders": {"replicas": 3, "min_insync": 2, "unclean": "off"},
        "orders-1": {"replicas": 2, "min_insync": 2, "unclean": "off"},
        "logs": {"replicas": 1, "min_insync": 1, "unclean": "off"},
    }
    keys = [entry.key for entry in topics_in("f", TOPICS.splitlines())]
    assert "cleanup.policy" in keys
    assert "delete" not in keys, "a comma within a value"
    spaces = list(
        topics_in("f", ["Topic: x   PartitionCount: 1   ReplicationFactor: 2   Configs: min.insync.replicas=2"])
    )
    assert [(entry.key, entry.value) for entry in spaces] == [("ReplicationFactor", "2"), ("min.insync.replicas", "2")]
    older = list(topics_in("f", ["Topic:x\tPartitionCount:1\tReplicationFactor:2\tConfigs:"]))
    assert [(entry.topic, entry.value) for entry in older] == [("x", "2")]


def test_settings_as_kafka_configs_describes_them(tmp_path: Path) -> None:
    """A broker's own value is stronger than the cluster's default, wherever they stand; a topic's is the strongest."""
    broker = {"replicas": 3, "min_insync": 2, "unclean": "on"}
    assert by_topic(read(tmp_path, CONFIGS)) == {
        "a.b": {**broker, "flushing": "always"},
        "old": {**broker, "min_insync": 3},
        EVERY_OTHER: broker,
    }
    synonyms = [entry for entry in configs_in("f", CONFIGS.splitlines()) if "synonyms" in entry.value]
    assert synonyms == []
    places = {entry.place for entry in configs_in("f", ["", *CONFIGS.splitlines()])}
    assert {place.file for place in places} == {"f"}
    assert min(place.line for place in places) > 2, "the first line is empty, and the second a heading"


def test_defaults_of_all_topics_are_of_none_in_particular() -> None:
    lines = ["Default configs for topics in the cluster are:", "  min.insync.replicas=2 sensitive=false synonyms={}"]
    (entry,) = configs_in("f", lines)
    assert (entry.topic, entry.value, entry.default) == (None, "2", True)


def test_files_of_several_formats_and_the_command_line_go_together(tmp_path: Path) -> None:
    broker = "min.insync.replicas=2\nunclean.leader.election.enable=TRUE\nreplica.lag.time.max.ms=5\nport=9092\n"
    configured = read(tmp_path, TOPICS, broker)
    assert by_topic(configured)["logs"] == {"replicas": 1, "min_insync": 2, "unclean": "on"}
    assert list(configured.named) == ["cleanup.policy", "replica.lag.time.max.ms"]
    assert configured.ignored == ("port", "segment.bytes")
    misspelt = read(tmp_path, TOPICS, "min.insync.replica=2\nunclean.leader.election.interval.ms=1\n").ignored
    assert "min.insync.replica (is min.insync.replicas meant?)" in misspelt
    assert "unclean.leader.election.interval.ms" in misspelt, "it is one of Kafka's"
    every = "".join(f"{key}=1\n" for key in reversed(NAMED))
    assert list(read(tmp_path, TOPICS, broker + every).named) == sorted(NAMED)
    assert by_topic(read(tmp_path, TOPICS, broker, min_insync=1))["orders"]["min_insync"] == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("min.insync.replicas=two", "0.txt, line 1: 'two' is not a value of min.insync.replicas; give a whole number"),
        ("\nmin.insync.replicas=0", "line 2: '0' is not a value"),
        ("unclean.leader.election.enable=yes", "'yes' is not a value of unclean.leader.election.enable; give true or"),
        ("acks=2", "'2' is not a value of acks; give 0, 1 or all"),
        ("port=1\njust-a-word", "line 2: 'just-a-word' is not a property; write key=value"),
        (TOPICS + "Error: timed out", "line 7: 'Error: timed out' is not a line of kafka-topics --describe"),
        ("Topic: a\tReplicationFactor: x", "line 1: 'x' is not a value of ReplicationFactor"),
        ("Topic: a\tReplicationFactor: 1\tConfigs: loose", "'loose' is not a setting"),
        (CONFIGS + "oh", "'oh' is not a line of kafka-configs --describe; give its output as it is"),
        ("Dynamic configs for topic a are:\n  acks=1", "No file says how many replicas topic a has; give --replicas"),
        ("\n# nothing\n", "has no settings"),
        (
            "#!/bin/sh\nexport KAFKA_HEAP_OPTS=-Xmx1G\nkafka-topics.sh --list\n",
            "0.txt has no key of Kafka's; its first is",
        ),
        ("Dear all,\nplease keep this e.g. in mind", "its first is 'Dear'"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)


def test_a_broker_that_leaves_all_that_matters_at_its_default_has_an_answer(tmp_path: Path) -> None:
    for text in ("listeners=PLAINTEXT://:9092\n", "log.dirs=/var/kafka\n", "broker.id=1\nhost=a\n"):
        assert by_topic(read(tmp_path, text)) == {EVERY_OTHER: {"replicas": 1, "min_insync": 1, "unclean": "off"}}


def test_a_file_that_is_none(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(UserError, match="cannot be read"):
            read_configs([path], {})
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe=1")
    with pytest.raises(UserError, match="not text in UTF-8"):
        read_configs([binary], {})


@pytest.mark.parametrize(
    ("value", "flushing"), [("1", "always"), ("500", "sometimes"), ("9223372036854775807", "never")]
)
def test_how_often_logs_are_flushed(value: str, flushing: str) -> None:
    (entry,) = properties_in("f", [f"log.flush.interval.messages={value}"])
    assert setting_of(entry) == ("flushing", flushing)


@pytest.mark.slow
def test_topics_at_risk_are_named_with_what_goes_wrong_and_what_helps(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "topics.txt"
    narrow = TOPICS.replace("Factor: 3", "Factor: 2").replace("Replicas: 1,2,3", "Replicas: 1,2")
    file.write_text(narrow + "Topic: wide\tReplicationFactor: 7\n", encoding="utf-8")
    arguments = ["--quiet", "--release", "3.9", "--config", str(file)]
    code = command.main(arguments, "insync ask", standalone_mode=False)
    text = " ".join(capsys.readouterr().out.split())
    assert code == 1
    assert "orders-1" not in text
    assert "min.insync.replicas=2, replication factor 2, unclean.leader.election.enable=false topics: orders" in text
    assert "at risk: an acknowledged record is lost in 5 steps by: b1 crashes, its log ends at 0" in text
    assert "what helps: Kafka 4.4" in text
    assert "topics: wide unknown: the model has at most 5 replicas, not 7" in text
    assert "not asked about: cleanup.policy (compaction, which is not modelled) ignored: segment.bytes" in text
    command.main([*arguments, "--json"], "insync ask", standalone_mode=False)
    answer = json.loads(capsys.readouterr().out)
    orders = answer["combinations"][0]
    assert (answer["verdict"], orders["verdict"], orders["remedy"]) == ("violated", "violated", {"release": "4.4"})
    (lost,) = orders["promises"]
    assert len(lost["steps"]) == lost["trace_length"] == 6
    assert {stop["by"] for stop in orders["writes_stop"]} == {"down", "fenced", "slow", "down_beside_slow"}


@pytest.mark.slow
def test_what_helps_is_named_also_where_nothing_has_failed_on_the_way(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.kafka_questions.exposure._FAILURES", frozenset())
    file = tmp_path / "server.properties"
    file.write_text("default.replication.factor=2\nmin.insync.replicas=2\n", encoding="utf-8")
    command.main(["--quiet", "--release", "3.9", "--config", str(file)], "insync ask", standalone_mode=False)
    text = capsys.readouterr().out
    assert "what helps: Kafka 4.4" in text
    assert "by:" not in text


@pytest.mark.parametrize(
    ("verdict", "said"), [("incomplete", "unknown, as not every change"), ("violated", "no single")]
)
def test_what_helps_is_unknown_where_a_change_was_not_searched(verdict: str, said: str) -> None:
    lost = Violation(LOSS, 3, Trace("cluster", {}, LOSS, (), ""))
    properties = [PropertyResult(LOSS, Verdict.VIOLATED)]
    result: Any = SimpleNamespace(violations=[lost], properties=properties, warnings=(), stopped_by=None)
    asked = Asked(Cluster(), result)
    exposure = Exposure({}, asked, remedies=(Remedy(Cell({"acks": "all"}, verdict, None)),))
    assert f"what helps: {said}" in describe_exposure(Shown(exposure, ["t"]), set(), plain, 120)


def test_settings_that_are_safe_end_with_0(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("default.replication.factor=2\nmin.insync.replicas=2\n", encoding="utf-8")
    calm = ["--elections", "0", "--reassignments", "0"]
    code = command.main(["--release", "4.1", "--config", str(file), *calm], "insync ask", standalone_mode=False)
    text = capsys.readouterr().out
    assert code == 0
    assert f"topics: {EVERY_OTHER}" in text
    assert "safe: no acknowledged record is lost in" in text
    assert "with one election" not in text


@pytest.mark.slow
def test_settings_that_are_safe_but_for_a_disturbance_are_at_risk(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "server.properties"
    file.write_text("default.replication.factor=2\nmin.insync.replicas=2\n", encoding="utf-8")
    arguments = ["--release", "4.1", "--config", str(file), "--elections", "0"]
    code = command.main(arguments, "insync ask", standalone_mode=False)
    text = " ".join(capsys.readouterr().out.split())
    assert code == 1
    assert "safe: no acknowledged record is lost in" in text
    assert "with two reassignments at risk: a record is lost in 10 steps (N-02: A replica that was removed" in text
    assert "what helps: no setting that was tried; lower min.insync.replicas of the topic before" in text
    command.main([*arguments, "--json"], "insync ask", standalone_mode=False)
    (combination,) = json.loads(capsys.readouterr().out)["combinations"]
    (found,) = combination["disturbances"]
    assert (combination["verdict"], found["verdict"], found["defect"]["name"]) == ("violated", "violated", "N-02")
    (lost,) = found["promises"]
    assert len(lost["steps"]) == lost["trace_length"] == 11


def test_what_the_model_is_too_small_for_is_unknown() -> None:
    (found,) = exposures(Question(bounds={}), [{"replicas": 3, "min_insync": 6}])
    assert (found.verdict, found.causes, found.remedy) == ("incomplete", [], None)
    assert found.beyond == "the model has at most 5 min.insync.replicas, not 6"


@pytest.mark.parametrize("told", [["--github"], ["--sarif", "found.sarif"]], ids=str)
@pytest.mark.parametrize("table", ["--config", "--matrix"])
def test_a_table_is_no_one_answer_for_a_build(tmp_path: Path, table: str, told: list[str]) -> None:
    (tmp_path / "a.properties").write_text("min.insync.replicas=2\n")
    given = [table, str(tmp_path / "a.properties")] if table == "--config" else [table]
    with pytest.raises(click.UsageError, match=f"{told[0]} tells of one answer, and not of a table. Leave {table} out"):
        command.main([*given, *told], "insync ask", standalone_mode=False)


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    with pytest.raises(click.UsageError, match="--matrix tries settings, and --config reads them"):
        command.main(["--matrix", "--config", str(tmp_path)], "insync ask", standalone_mode=False)


@pytest.mark.parametrize(("count", "shown"), [(1, "t0"), (8, "t0, t1, t2, t3, t4, t5, t6, t7"), (9, " t7 and 1 more")])
def test_of_many_topics_the_first_eight_are_named_and_the_others_counted(count: int, shown: str) -> None:
    combination = Shown(Exposure({}, None, beyond="too many"), [f"t{n}" for n in range(count)])
    said = describe_exposure(combination, set(), plain, 120)
    *_, topics, outcome = said.splitlines()
    assert topics.endswith(shown)
    assert ("more" in topics) == (count > 8)
    assert outcome == "  unknown: too many"


def test_how_many_replicas_a_topic_has_may_be_said_in_the_command(tmp_path: Path) -> None:
    text = "Configs for topic 'old' are min.insync.replicas=3\n"
    assert by_topic(read(tmp_path, text, replicas=5))["old"]["replicas"] == 5
    with pytest.raises(UserError, match="No file says how many replicas topic old has; give --replicas"):
        read(tmp_path, text)


def properties(folder: Path, text: str) -> str:
    file = folder / "server.properties"
    file.write_text(text)
    return str(file)


CALM = ("--quiet", "--elections", "0", "--reassignments", "0", "--lossy-crashes", "0", "--fencings", "0")


def test_with_acks_0_nothing_is_promised(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = properties(tmp_path, "acks=0\ndefault.replication.factor=1\n")
    code = command.main([*CALM, "--config", file, "--release", "4.1"], "insync ask", standalone_mode=False)
    text = " ".join(capsys.readouterr().out.split())
    assert code == 0
    assert "nothing is promised: no record is acknowledged" in text
    assert "safe" not in text


@pytest.mark.slow
def test_another_promise_is_asked_of_each_combination_and_its_traces_are_beside_one_another(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "Topic: a\tReplicationFactor: 2\tConfigs: unclean.leader.election.enable=true,min.insync.replicas=1\n"
    (tmp_path / "topics.txt").write_text(f"{text}Topic: b\tReplicationFactor: 1\tConfigs: \n")
    file, page = tmp_path / "broken.json", tmp_path / "broken.html"
    (tmp_path / "broken.combination_2.json").write_text("{}")
    given = ["--config", str(tmp_path / "topics.txt"), "--property", "watermark_never_goes_back"]
    given += ["--trace", str(file), "--html", str(page), "--release", "4.1", "--shrinks", "1", "--crashes", "1"]
    code = command.main([*CALM, *given], "insync ask", standalone_mode=False)
    out, err = capsys.readouterr()
    said = " ".join(out.split())
    written = tmp_path / "broken.combination_1.json"
    assert code == 1
    assert "Can this be broken: the end of the partition never goes back?" in said
    assert "at risk: broken in " in said
    assert "safe: all that was asked about holds in" in said
    assert f"trace: {written}" in out
    assert json.loads(written.read_text())["property"] == "watermark_never_goes_back"
    assert "broken.combination_1.json" in page.read_text()
    assert f"Page: {page}" in out
    assert "broken.combination_2.json was not written" in err
    assert not file.exists()


def test_a_trace_that_cannot_be_written_does_not_end_the_answer(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = properties(tmp_path, "min.insync.replicas=1\ndefault.replication.factor=2\n")
    (tmp_path / "lost.combination_1.json").mkdir()
    given = [*CALM, "--config", file, "--acks", "1", "--crashes", "1", "--release", "4.1"]
    with pytest.raises(UserError, match=r"lost\.combination_1\.json"):
        command.main([*given, "--trace", str(tmp_path / "lost.json")], "insync ask", standalone_mode=False)
    assert "at risk: an acknowledged record is lost in" in capsys.readouterr().out


@pytest.mark.slow
def test_topics_that_are_told_in_part_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_text("\tTopic: a\tPartition: 3\tLeader: none\tReplicas: 1\tIsr: \n")
    given = [*CALM, "--config", str(tmp_path / "topics.txt"), "--release", "4.1"]
    command.main(given, "insync ask", standalone_mode=False)
    assert "not known is what these topics set themselves: a; give what" in capsys.readouterr().out
