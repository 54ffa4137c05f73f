"""What `kafka-topics --describe` prints, as releases from 1.1 to 4.1 print it, and what is wrong with a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.kafka_questions.configs.printed import printed_in
from insync.kafka_questions.configs.reading import Configured, read_configs
from insync.runtime.errors import UserError


def printed(*lines: str) -> str:
    """Return lines as the tool prints them, with a tab where these have a bar."""
    return "".join(line.replace("|", "\t") + "\n" for line in lines)


V1_1 = printed(
    "Topic:quick-start|PartitionCount:1|ReplicationFactor:1|Configs:segment.bytes=1073741824|MarkedForDeletion:true",
    "|Topic: quick-start|Partition: 0|Leader: -1|Replicas: 0|Isr: |MarkedForDeletion: true",
)
V3_5 = printed(
    "Topic: foo|TopicId: NPmZHyhbR9y00wMglMH2sg|PartitionCount: 2|ReplicationFactor: 3|Configs: min.insync.replicas=2",
    "|Topic: foo|Partition: 0|Leader: 1|Replicas: 1,2,3|Isr: 1,2,3",
    "|Topic: foo|Partition: 1|Leader: none|Replicas: 2,3,1|Isr: 3",
)
V3_8 = printed(
    "Topic: foo|TopicId: NPmZHyhbR9y00wMglMH2sg|PartitionCount: 1|ReplicationFactor: 1|Configs: segment.bytes=1073741",
    "|Topic: foo|Partition: 0|Leader: 0|Replicas: 0|Isr: 0|Elr: N/A|LastKnownElr: N/A",
)
V4_1 = printed(
    "Topic: foo|TopicId: 2q-H2y2PRoyGktIr6q4Lrg|PartitionCount: 4|ReplicationFactor: 3"
    "|Configs: min.insync.replicas=2,segment.bytes=1073741824,retention.ms=7200000",
    "|Topic: foo|Partition: 0|Leader: 4|Replicas: 4,5,3|Isr: 4,5,3|Elr: |LastKnownElr: ",
    "|Topic: foo|Partition: 1|Leader: none|Replicas: 5,3,4|Isr: |Elr: 5,3|LastKnownElr: 4",
    "|Topic: foo|Partition: 2|Leader: 3|Replicas: 3,4,5,1|Isr: 3,4,5|Adding Replicas: 1|Removing Replicas: 4|Elr: "
    "|LastKnownElr: ",
    "|Topic: foo|Partition: 3|Leader: 3|Replicas: 3,4|Isr: 3,4|Elr: |LastKnownElr: ",
)


def read(tmp_path: Path, text: str, *, compares: bool = False, **given: int) -> Configured:
    file = tmp_path / "topics.txt"
    file.write_text(text, encoding="utf-8")
    return read_configs([file], given, compares_partitions=compares)


def sizes(configured: Configured) -> dict[str, int | str]:
    return {topic: found.settings["replicas"] for found in configured.combinations for topic in found.topics}


@pytest.mark.parametrize("spaced", [False, True], ids=["tabs", "spaces"])
@pytest.mark.parametrize(
    ("text", "found"),
    [(V1_1, {"quick-start": 1}), (V3_5, {"foo": 3}), (V3_8, {"foo": 1}), (V4_1, {"foo": 3, "foo-3": 2})],
    ids=["1.1", "3.5", "3.8", "4.1"],
)
def test_every_release_is_read(tmp_path: Path, text: str, found: dict[str, int], spaced: bool) -> None:
    configured = read(tmp_path, text.expandtabs(8) if spaced else text)
    assert sizes(configured) == found
    assert not any("set themselves" in remark for remark in configured.remarks)
    minimum = 2 if "min.insync" in text else 1
    assert {one.settings["min_insync_replicas"] for one in configured.combinations} == {minimum}


def test_a_replica_that_is_being_added_does_not_count_yet() -> None:
    """Kafka's own replication factor is reckoned so, and one that is being removed has the log until then."""
    line = printed("Topic: x|Partition: 0|Replicas: 1,2,3,4|Isr: 1,2|Adding Replicas: 3,4|Removing Replicas: 1|Elr: ")
    for given in (line, line.expandtabs(4)):
        (entry,) = printed_in("f", [given])
        assert (entry.topic, entry.key, entry.value) == ("x", "replicas of partition 0", "2")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Topic: x\tPartition: 0\tLeader: none\tReplicas: \tIsr: ", "line 1: '' is not a list of the replicas of"),
        ("Topic: x\tPartition: 0", "line 1: '' is not a list of the replicas of"),
        (
            "Topic: x\tPartition: first\tReplicas: 1",
            "line 1: 'first' is not the number of a partition; give its output",
        ),
        ("Topic: x\tPartition: ²\tReplicas: 1", "'²' is not the number of a partition"),
        ("Topic: x\tLeader: 1", "is not a line of kafka-topics --describe"),
    ],
)
def test_a_line_that_is_none_is_named_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, line)
    assert said in str(caught.value)


def test_a_pasted_session_is_read_with_its_prompts_comments_and_notices(tmp_path: Path) -> None:
    session = (
        "# before the upgrade\n"
        "ops@kafka-1:~$ kafka-topics.sh --bootstrap-server kafka-1:9092 --describe\n"
        "Picked up JAVA_TOOL_OPTIONS: -Xmx1g\n"
        "[2025-05-01 10:00:00,000] WARN The metadata cache is stale (org.apache.kafka.Metadata)\n"
        f"{V3_5}$ kafka-topics.sh --version\n2.8.1 (Commit:839b886f9b732b15)\n"
        "$ kafka-configs.sh --bootstrap-server kafka-1:9092 --describe --entity-type brokers --entity-default\n"
        "Default configs for brokers in the cluster are:\n  min.insync.replicas=1 sensitive=false synonyms={}\n"
    )
    (foo, other) = read(tmp_path, session, replicas=3).combinations
    assert (foo.topics, foo.settings["min_insync_replicas"]) == (("foo",), 2)
    assert other.settings["min_insync_replicas"] == 1
    with pytest.raises(UserError, match="line 5: 'Error: timed out' is not a line of kafka-topics --describe"):
        read(tmp_path, f"$ bin/kafka-topics.sh --describe\n{V3_5}Error: timed out\n")


def test_partitions_without_a_leader_and_those_that_are_missing_are_told(tmp_path: Path) -> None:
    (leaderless,) = read(tmp_path, V3_5).remarks
    assert leaderless.startswith("Topic foo has no leader now in partition 1: nobody can write there")
    first, *_ = read(tmp_path, V1_1).remarks
    assert "quick-start has no leader now in partition 0" in first
    two = "".join(
        f"{line}\n" for line in V4_1.splitlines() if "Partition: 1" not in line and "Partition: 2" not in line
    )
    (missing,) = read(tmp_path, two).remarks
    assert missing.startswith("Of topic foo 2 of 4 partitions are in the files")


def test_partitions_alone_say_how_many_replicas_there_are_but_not_what_the_topic_sets(tmp_path: Path) -> None:
    alone = "".join(f"{line}\n" for line in V4_1.splitlines()[2:])
    configured = read(tmp_path, alone, compares=True)
    assert sizes(configured) == {"foo": 3, "foo-3": 2}
    assert configured.remarks[0].startswith("The files lack these topics' own settings: foo; give what kafka-topics")
    assert not any("partition_zero_replicas" in one.settings for one in configured.combinations), (
        "nobody says how many 0 has"
    )


def test_a_partition_of_another_size_says_how_many_replicas_partition_0_has(tmp_path: Path) -> None:
    foo, third = read(tmp_path, V4_1, compares=True).combinations
    assert (foo.topics, "partition_zero_replicas" in foo.settings) == (("foo",), False)
    assert (third.topics, third.settings["partition_zero_replicas"]) == (("foo-3",), 3)
    assert not any("partition_zero_replicas" in one.settings for one in read(tmp_path, V4_1).combinations)


def test_where_the_command_says_how_many_replicas_there_are_partitions_do_not_differ(tmp_path: Path) -> None:
    assert sizes(read(tmp_path, V4_1, compares=True, replicas=3)) == {"foo": 3}


def test_the_factor_of_a_topic_is_that_of_partition_0(tmp_path: Path) -> None:
    """As Kafka prints it: without the line of partition 0 that is still known."""
    without = "".join(f"{line}\n" for line in V4_1.splitlines() if "Partition: 0" not in line)
    combinations = read(tmp_path, without, compares=True).combinations
    assert {one.topics: one.settings.get("partition_zero_replicas") for one in combinations} == {
        ("foo",): None,
        ("foo-3",): 3,
    }


def test_partitions_whose_isr_is_smaller_are_named(tmp_path: Path) -> None:
    lines = [
        "Topic: orders\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: min.insync.replicas=2",
        "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3",
        "\tTopic: orders\tPartition: 1\tLeader: 2\tReplicas: 1,2,3\tIsr: 2,1",
    ]
    file = tmp_path / "topics.txt"
    file.write_text("\n".join(lines))
    (remark,) = read_configs([file], {}).remarks
    assert remark == (
        "The answer is for partitions whose ISR is full; of topic orders it is smaller now, and fewer failures stop "
        "writes (partition 1: 2 of 3 replicas)."
    )
    file.write_text("\n".join(lines[:2]).replace("PartitionCount: 2", "PartitionCount: 1"))
    assert read_configs([file], {}).remarks == ()
