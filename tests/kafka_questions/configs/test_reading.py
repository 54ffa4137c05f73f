"""What overrides what, and where a mistake in a file is: properties, `kafka-configs` and `kafka-topics`."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.kafka_questions.configs.entries import NAMED, NOTHING, Source, setting_of
from insync.kafka_questions.configs.precedence import EVERY_OTHER
from insync.kafka_questions.configs.printed import printed_in
from insync.kafka_questions.configs.properties import properties_in
from insync.kafka_questions.configs.reading import Configured, read_configs
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
Dynamic configs for topic bare are:
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
        "orders": {"replicas": 3, "min_insync_replicas": 2, "unclean_leader_election": "off"},
        "orders-1": {"replicas": 2, "min_insync_replicas": 2, "unclean_leader_election": "off"},
        "logs": {"replicas": 1, "min_insync_replicas": 1, "unclean_leader_election": "off"},
    }
    keys = [entry.key for entry in printed_in("f", TOPICS.splitlines())]
    assert "cleanup.policy" in keys
    assert "delete" not in keys, "a comma within a value"
    spaces = list(
        printed_in("f", ["Topic: x   PartitionCount: 1   ReplicationFactor: 2   Configs: min.insync.replicas=2"])
    )
    assert [(entry.key, entry.value) for entry in spaces] == [("ReplicationFactor", "2"), ("min.insync.replicas", "2")]
    older = list(printed_in("f", ["Topic:x\tPartitionCount:1\tReplicationFactor:2\tConfigs:"]))
    assert [(entry.topic, entry.value) for entry in older] == [("x", "2")]


def test_settings_as_kafka_configs_describes_them(tmp_path: Path) -> None:
    """What was set for the cluster is stronger than a broker's file; a topic's own value is the strongest."""
    broker = {"replicas": 3, "min_insync_replicas": 1, "unclean_leader_election": "on"}
    assert by_topic(read(tmp_path, CONFIGS)) == {
        "a.b": {**broker, "flush": "always"},
        "old": {**broker, "min_insync_replicas": 3},
        "bare": broker,
        EVERY_OTHER: broker,
    }
    synonyms = [entry for entry in printed_in("f", CONFIGS.splitlines()) if "synonyms" in entry.value]
    assert synonyms == []
    places = {entry.place for entry in printed_in("f", ["", *CONFIGS.splitlines()]) if entry.key != NOTHING}
    assert {place.file for place in places} == {"f"}
    assert min(place.line for place in places) > 2, "the first line is empty, and the second a heading"


def test_defaults_of_all_topics_are_of_none_in_particular() -> None:
    lines = ["Default configs for topics in the cluster are:", "  min.insync.replicas=2 sensitive=false synonyms={}"]
    (entry,) = printed_in("f", lines)
    assert (entry.topic, entry.value, entry.source) == (None, "2", Source.CLUSTER)


def test_files_of_several_formats_and_the_command_line_go_together(tmp_path: Path) -> None:
    broker = "min.insync.replicas=2\nunclean.leader.election.enable=TRUE\nreplica.lag.time.max.ms=5\nport=9092\n"
    configured = read(tmp_path, TOPICS, broker)
    assert by_topic(configured)["logs"] == {"replicas": 1, "min_insync_replicas": 2, "unclean_leader_election": "on"}
    assert list(configured.named) == ["cleanup.policy", "replica.lag.time.max.ms"]
    assert configured.ignored == ("port", "segment.bytes")
    kraft = "process.roles=broker,controller\ncontroller.quorum.voters=1@a:9093,2@b:9093\nnode.id=1\n"
    found = read(tmp_path, TOPICS, kraft)
    assert "node.id" in found.ignored
    assert "controller.quorum.voters" not in found.ignored, "it tells which kind of controller there is"
    misspelt = read(tmp_path, TOPICS, "min.insync.replica=2\nunclean.leader.election.interval.ms=1\n").ignored
    assert "min.insync.replica (is min.insync.replicas meant?)" in misspelt
    assert "unclean.leader.election.interval.ms" in misspelt, "it is one of Kafka's"
    every = "".join(f"{key}=1\n" for key in reversed(NAMED))
    assert list(read(tmp_path, TOPICS, broker + every, release="3.9").named) == sorted(NAMED)
    assert by_topic(read(tmp_path, TOPICS, broker, min_insync_replicas=1))["orders"]["min_insync_replicas"] == 1


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("min.insync.replica", "min.insync.replicas"),
        ("unclean.leader.election.enabled", "unclean.leader.election.enable"),
        ("KAFKA_MIN_INSYNC_REPLICA", "KAFKA_MIN_INSYNC_REPLICAS"),
        ("KAFKA_CFG_MIN_INSYNC_REPLICA", "KAFKA_CFG_MIN_INSYNC_REPLICAS"),
    ],
)
def test_a_key_that_is_probably_misspelt_is_a_remark_with_its_line(tmp_path: Path, key: str, meant: str) -> None:
    (remark,) = read(tmp_path, f"default.replication.factor=3\n{key}=1\n").remarks
    assert f"0.txt, line 2: Kafka ignores {key}; " in remark
    assert "=1 counts (Kafka's default)." in remark or "=false counts (Kafka's default)." in remark
    assert f"Did you mean {meant}?" in remark
    assert (
        read(tmp_path, "default.replication.factor=3\nlog.flush.scheduler.interval.ms=1\nlog.dirs=/a\n").remarks == ()
    )


def test_a_setting_that_a_file_gives_twice_is_a_remark_and_the_last_counts(tmp_path: Path) -> None:
    text = "min.insync.replicas=2\ndefault.replication.factor=3\nmin.insync.replicas=1\n"
    configured = read(tmp_path, text)
    (remark,) = configured.remarks
    assert remark.endswith("0.txt, lines 1, 3: min.insync.replicas is given more than once, and the last one counts.")
    assert by_topic(configured)[EVERY_OTHER]["min_insync_replicas"] == 1
    other = "min.insync.replicas=2\n"
    assert not any("more than once" in said for said in read(tmp_path, TOPICS, other, other).remarks)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("min.insync.replicas=two", "0.txt, line 1: 'two' is not a value of min.insync.replicas; give a whole number"),
        ("\nmin.insync.replicas=0", "line 2: '0' is not a value"),
        ("unclean.leader.election.enable=yes", "'yes' is not a value of unclean.leader.election.enable; give true or"),
        ("acks=2", "'2' is not a value of acks; give 0, 1 or all"),
        (
            "min.insync.replicas=2   # acks=all needs two",
            "give a whole number of at least 1, and put the comment on a line of its own, as Kafka takes it for a part",
        ),
        ("unclean.leader.election.enable=false # no", "give true or false, and put the comment on a line of its own"),
        ("port=1\njust-a-word", "line 2: 'just-a-word' is not a property; write key=value"),
        (TOPICS + "Error: timed out", "line 7: 'Error: timed out' is not a line of kafka-topics --describe"),
        ("Topic: a\tReplicationFactor: x", "line 1: 'x' is not a value of ReplicationFactor"),
        ("Topic: a\tReplicationFactor: 1\tConfigs: loose", "'loose' is not a setting"),
        (CONFIGS + "oh", "'oh' is not a line of kafka-configs --describe; give its output as it is"),
        ("Dynamic configs for topic a are:\n  acks=1", "No file says how many replicas topic a has; give --replicas"),
        ("\n# nothing\n", "has no settings"),
        ("", "0.txt is empty; give server.properties"),
        (" \n\n", "0.txt is empty"),
        (
            "#!/bin/sh\nexport KAFKA_HEAP_OPTS=-Xmx1G\nkafka-topics.sh --list\n",
            "0.txt is a shell script, which is not read; give server.properties",
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
        found = by_topic(read(tmp_path, text, replicas=3))
        assert found == {EVERY_OTHER: {"replicas": 3, "min_insync_replicas": 1, "unclean_leader_election": "off"}}
        with pytest.raises(UserError, match="No file says how many replicas topics have; give --replicas"):
            read(tmp_path, text)


def test_a_file_that_is_none(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "missing", "there is no such file"), (tmp_path, "is a folder")):
        with pytest.raises(UserError, match=said):
            read_configs([path], {})
    binary = tmp_path / "binary"
    for data in (b"\x80=1", b"\xff\xfe=1\xff"):
        binary.write_bytes(data)
        with pytest.raises(UserError, match="not text in UTF-8 or UTF-16"):
            read_configs([binary], {})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_as_editors_of_other_systems_write_it(tmp_path: Path, encoding: str, end: str) -> None:
    file = tmp_path / "server.properties"
    file.write_bytes(f"min.insync.replicas=2{end}default.replication.factor=3{end}".encode(encoding))
    assert by_topic(read_configs([file], {})) == {
        EVERY_OTHER: {"replicas": 3, "min_insync_replicas": 2, "unclean_leader_election": "off"}
    }


BROKER = "broker.id={}\ndefault.replication.factor=3\n"


def test_a_broker_without_a_key_that_another_has_is_at_kafkas_default(tmp_path: Path) -> None:
    one, other = BROKER.format(1) + "min.insync.replicas=2\n", BROKER.format(2)
    configured = read(tmp_path, one, other)
    assert by_topic(configured)[EVERY_OTHER]["min_insync_replicas"] == 1
    (remark,) = configured.remarks
    assert remark.startswith("min.insync.replicas differs: 2 (")
    assert by_topic(read(tmp_path, one, other + "min.insync.replicas=2\n"))[EVERY_OTHER]["min_insync_replicas"] == 2
    assert by_topic(read(tmp_path, one, "acks=1\n"))[EVERY_OTHER]["min_insync_replicas"] == 2, "that is no broker"
    assert by_topic(read(tmp_path, one, other, min_insync_replicas=3))[EVERY_OTHER]["min_insync_replicas"] == 3


@pytest.mark.parametrize(
    "synonyms",
    [
        "DEFAULT_CONFIG:inter.broker.protocol.version=3.6-IV2",
        "STATIC_BROKER_CONFIG:inter.broker.protocol.version=2.8, DEFAULT_CONFIG:inter.broker.protocol.version=3.6-IV2",
    ],
)
def test_all_that_a_broker_prints_says_its_release(tmp_path: Path, synonyms: str) -> None:
    value = synonyms.split("=")[1].split(",")[0]
    text = (
        "All configs for broker 1 are:\n"
        "  default.replication.factor=3 sensitive=false synonyms={}\n"
        f"  inter.broker.protocol.version={value} sensitive=false synonyms={{{synonyms}}}\n"
    )
    (one,) = read(tmp_path, text).combinations
    assert one.settings["release"] == "3.6"
    assert one.origins["release"] == f"what the broker supports, {tmp_path / '0.txt'}, line 3"
    assert (
        read(tmp_path, "default.replication.factor=3\ninter.broker.protocol.version=3.6\n")
        .combinations[0]
        .settings["release"]
        == "3.6"
    )


@pytest.mark.parametrize(
    ("value", "flushing"), [("1", "always"), ("500", "sometimes"), ("9223372036854775807", "never")]
)
def test_how_often_logs_are_flushed(value: str, flushing: str) -> None:
    (entry,) = properties_in("f", [f"log.flush.interval.messages={value}"])
    assert setting_of(entry) == ("flush", flushing)


def test_how_many_replicas_a_topic_has_may_be_said_in_the_command(tmp_path: Path) -> None:
    text = "Configs for topic 'old' are min.insync.replicas=3\n"
    assert by_topic(read(tmp_path, text, replicas=5))["old"]["replicas"] == 5
    with pytest.raises(UserError, match="No file says how many replicas topic old has; give --replicas"):
        read(tmp_path, text)
