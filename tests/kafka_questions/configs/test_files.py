"""Every kind of file that operators have, in several spellings, each with its right reading."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from insync.kafka_questions.cluster_settings import settings_asked
from insync.kafka_questions.configs.precedence import EVERY_OTHER
from insync.kafka_questions.configs.reading import Configured, read_configs
from insync.runtime.errors import UserError


def read(folder: Path, files: dict[str, str], **given: int | str) -> Configured:
    paths = []
    for name, text in files.items():
        (folder / name).write_text(dedent(text), encoding="utf-8")
        paths.append(folder / name)
    return read_configs(paths, given)


def of(configured: Configured, topic: str = EVERY_OTHER) -> dict[str, int | str]:
    (found,) = [one for one in configured.combinations if topic in one.topics]
    return dict(found.settings)


SAFE = {"replicas": 3, "min_insync_replicas": 2, "unclean_leader_election": "off"}
STATIC = "default.replication.factor=3\nmin.insync.replicas=2\nunclean.leader.election.enable=false\n"
KAFKAS = "DEFAULT_CONFIG:min.insync.replicas=1"
OF_A_BROKER = (
    "Dynamic configs for broker 1 are:\n"
    f"  min.insync.replicas=3 sensitive=false synonyms={{DYNAMIC_BROKER_CONFIG:min.insync.replicas=3, {KAFKAS}}}\n"
)
DEFAULTS = "Default configs for brokers in the cluster are:\n"


@pytest.mark.parametrize("order", [False, True], ids=["file first", "file last"])
@pytest.mark.parametrize(
    ("printed", "changed"),
    [
        (
            f"{DEFAULTS}  unclean.leader.election.enable=true sensitive=false synonyms={{}}\n",
            {"unclean_leader_election": "on"},
        ),
        (f"{DEFAULTS}  min.insync.replicas=1 sensitive=false synonyms={{}}\n", {"min_insync_replicas": 1}),
        (
            f"{DEFAULTS}  min.insync.replicas=1 sensitive=false synonyms={{}}\n{OF_A_BROKER}",
            {"min_insync_replicas": 3},
        ),
        (
            f"All configs for broker 1 are:\n  min.insync.replicas=1 sensitive=false synonyms={{{KAFKAS}}}\n",
            {},
        ),
        (
            "Default config for brokers in the cluster are:\n  min.insync.replicas=1 sensitive=false\n",
            {"min_insync_replicas": 1},
        ),
    ],
    ids=["cluster over file", "cluster's min over file", "broker over cluster", "default under file", "older heading"],
)
def test_what_was_set_while_the_cluster_ran_is_stronger_than_a_file(
    tmp_path: Path, printed: str, changed: dict[str, int | str], order: bool
) -> None:
    files = {"printed.txt": printed, "server.properties": STATIC}
    found = read(tmp_path, dict(reversed(files.items())) if order else files)
    assert of(found) == {**SAFE, **changed}


def test_every_value_says_where_it_comes_from(tmp_path: Path) -> None:
    printed = f"{DEFAULTS}  unclean.leader.election.enable=true sensitive=false synonyms={{}}\n"
    found = read(tmp_path, {"server.properties": "default.replication.factor=3\n", "p.txt": printed}, acks="all")
    (one,) = found.combinations
    assert one.origins == {
        "replicas": f"{tmp_path / 'server.properties'}, line 1",
        "unclean_leader_election": f"{tmp_path / 'p.txt'}, line 2",
        "min_insync_replicas": "Kafka's default",
        "acks": "the command line",
    }


SHOWN = "Topic: a\tTopicId: q1\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: segment.bytes=9\n"
SERVER = "node.id=1\nlisteners=PLAINTEXT://:9092\n"
CLIENT = "bootstrap.servers=a:9092\nacks=all\n"
PREFIX = "Kafka's default"
SHOWS_NONE = f"{PREFIX}, as kafka-topics shows no other"
SUPPORTED = "Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: 4.1-IV1\t"


@pytest.mark.parametrize(
    ("files", "fewest", "unclean"),
    [
        ({"server.properties": SERVER}, PREFIX, PREFIX),
        ({"topics.txt": SHOWN}, SHOWS_NONE, SHOWS_NONE),
        ({"topics.txt": SHOWN.replace("TopicId: q1\t", "")}, None, None),
        ({"topics.txt": SHOWN.replace("TopicId: q1\t", ""), "server.properties": SERVER}, PREFIX, PREFIX),
        ({"controller": "process.roles=controller\nnode.id=9\n"}, PREFIX, PREFIX),
        ({"broker": "process.roles=broker\nnode.id=9\n"}, None, None),
        ({"both": "process.roles=broker,controller\nnode.id=9\n"}, PREFIX, PREFIX),
        ({"producer.properties": CLIENT}, None, None),
        ({"printed.txt": f"{DEFAULTS}  log.retention.ms=1 sensitive=false\n"}, None, None),
        ({"features.txt": f"{SUPPORTED}FinalizedVersionLevel: 4.1-IV1\tEpoch: 9\n"}, None, None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_a_default_is_assumed_unless_the_file_is_there_that_would_say_more(
    tmp_path: Path, files: dict[str, str], fewest: str | None, unclean: str | None
) -> None:
    (one,) = read(tmp_path, files, replicas=3).combinations
    assert (one.origins.get("min_insync_replicas"), one.origins.get("unclean_leader_election")) == (fewest, unclean)
    assert (one.settings["min_insync_replicas"], one.settings["unclean_leader_election"]) == (1, "off")


def test_a_file_that_the_running_cluster_contradicts_is_named(tmp_path: Path) -> None:
    found = read(tmp_path, {"server.properties": STATIC, "topics.txt": SHOWN})
    (remark,) = found.remarks
    assert f"is as {tmp_path / 'server.properties'}, line 2 says, but kafka-topics shows topic a without it" in remark
    assert of(found, "a")["min_insync_replicas"] == 2
    own = SHOWN.replace("segment.bytes=9", "min.insync.replicas=2")
    assert read(tmp_path, {"server.properties": STATIC, "topics.txt": own}).remarks == ()
    older = SHOWN.replace("TopicId: q1\t", "")
    assert read(tmp_path, {"server.properties": STATIC, "topics.txt": older}).remarks == ()


FEATURES = (
    "Feature: eligible.leader.replicas.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1\t"
    "FinalizedVersionLevel: {}\tEpoch: 9\n"
    "Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: 4.1-IV1\t"
    "FinalizedVersionLevel: 4.1-IV1\tEpoch: 9\n"
)


@pytest.mark.parametrize(
    ("text", "elr"),
    [
        (FEATURES.format(1), "on"),
        (FEATURES.format(0), "off"),
        ("$ bin/kafka-features.sh describe\n" + FEATURES.format(0).expandtabs(4), "off"),
        (FEATURES.format(0).splitlines()[1], "off"),
    ],
    ids=["level 1", "level 0", "pasted", "not finalized"],
)
def test_eligible_leader_replicas_are_kept_where_their_feature_is_finalized(
    tmp_path: Path, text: str, elr: str
) -> None:
    found = read(tmp_path, {"features.txt": text, "server.properties": STATIC})
    assert of(found) == {**SAFE, "elr": elr, "release": "4.1"}
    assert found.combinations[0].origins["release"].startswith("what the broker supports, ")
    assert (found.in_kraft, found.remarks) == (True, ())
    assert of(read(tmp_path, {"features.txt": text}, replicas=3, elr="on", release="4.2"))["elr"] == "on"


@pytest.mark.parametrize(
    ("finalized", "supported"), [("3.6-IV2", "4.1-IV1"), ("3.9-IV0", "4.1-IV1"), ("4.0-IV3", "4.3-IV0")]
)
def test_the_finalized_metadata_version_is_no_release_of_brokers_but_a_lower_bound(
    tmp_path: Path, finalized: str, supported: str
) -> None:
    text = (
        f"Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: {supported}\t"
        f"FinalizedVersionLevel: {finalized}\tEpoch: 9\n"
    )
    found = read(tmp_path, {"features.txt": text}, replicas=3)
    assert of(found)["release"] == supported[:3]
    (remark,) = found.remarks
    assert f"metadata.version is finalized at that of {finalized[:3]}, so an upgrade is not finished" in remark
    assert f"Run insync with --release {finalized[:3]} as well." in remark


def test_a_tool_that_is_older_than_the_brokers_says_no_release(tmp_path: Path) -> None:
    text = (
        "Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: UNKNOWN [29]\t"
        "FinalizedVersionLevel: 3.9-IV0\tEpoch: 9\n"
    )
    with pytest.raises(
        UserError,
        match=r"features.txt, line 1: the tool is older than the brokers, .*\[29\], finalized 3.9-IV0\); give",
    ):
        read(tmp_path, {"features.txt": text}, replicas=3)
    assert of(read(tmp_path, {"features.txt": text}, replicas=3, release="4.3"))["release"] == "4.3"


def test_releases_of_several_brokers_are_ranked_by_their_order_and_not_as_texts(tmp_path: Path) -> None:
    two = {"a.env": "x", "compose.yaml": TWO.replace("3.7", "2.8.1", 1)}
    del two["a.env"]
    assert of(read(tmp_path, two))["release"] == "2.8.1"
    two["compose.yaml"] = TWO.replace("3.7", "0.10.2", 1).replace("3.7", "2.0")
    assert of(read(tmp_path, two))["release"] == "0.10.2"


@pytest.mark.parametrize(
    ("images", "written"),
    [
        (("3.9.2", "3.9.2"), "3.9.2"),
        (("3.9.1", "3.9.2"), ""),
        (("3.9.2", "4.1.2"), "3.9.2"),
        (("4.1.0", "4.1.0"), "4.1.0"),
        (("3.7", "3.7"), "3.7"),
    ],
    ids=["patch", "not told apart", "the older one decides", "first of a series", "series"],
)
def test_the_release_is_there_as_the_files_write_it(tmp_path: Path, images: tuple[str, str], written: str) -> None:
    one, other = images
    (tmp_path / "compose.yaml").write_text(dedent(TWO).replace("3.7", one, 1).replace("3.7", other, 1))
    configured = read_configs([tmp_path / "compose.yaml"], {"replicas": 3})
    assert configured.version == written
    assert [one.version for one in settings_asked({}, "", configured)] == [written]
    assert [one.version for one in settings_asked({"release": "3.9.1"}, "3.9.1", configured)] == ["3.9.1"]


STRIMZI = """
    apiVersion: kafka.strimzi.io/v1beta2
    kind: KafkaNodePool
    metadata: {name: brokers}
    spec: {replicas: 6, roles: [broker]}
    ---
    apiVersion: kafka.strimzi.io/v1beta2
    kind: Kafka
    metadata:
      name: my-cluster
    spec:
      kafka:
        version: 3.9.2
        config:
          default.replication.factor: 3
          min.insync.replicas: 2
          offsets.topic.replication.factor: 1
    ---
    apiVersion: kafka.strimzi.io/v1beta2
    kind: KafkaTopic
    metadata: {name: orders}
    spec:
      partitions: 12
      replicas: 4
      config: {min.insync.replicas: 3, retention.ms: 7200000}
"""
TOPIC = """
    apiVersion: kafka.strimzi.io/v1
    kind: KafkaTopic
    metadata:
      name: shipped-things
    spec:
      topicName: Shipped_Things
      replicas: 3
      config:
        "min.insync.replicas": "1"
        unclean.leader.election.enable: true
"""
NO_REPLICAS = "kind: KafkaTopic\nmetadata: {name: bare}\nspec: {partitions: 1}\n"


def test_resources_of_strimzi_in_several_documents(tmp_path: Path) -> None:
    found = read(tmp_path, {"cluster.yaml": STRIMZI})
    assert of(found) == {**SAFE, "release": "3.9.1"}
    assert of(found, "orders") == {**SAFE, "replicas": 4, "min_insync_replicas": 3, "release": "3.9.1"}
    assert of(read(tmp_path, {"topic.yml": TOPIC}), "Shipped_Things") == {
        "replicas": 3,
        "min_insync_replicas": 1,
        "unclean_leader_election": "on",
    }
    both = read(tmp_path, {"topic.yml": NO_REPLICAS, "server.properties": STATIC})
    assert of(both, "bare") == SAFE, "a topic without replicas has those of the broker's default"
    with pytest.raises(UserError, match="how many replicas topic bare has"):
        read(tmp_path, {"topic.yml": NO_REPLICAS})


COMPOSE = """
    services:
      kafka:
        image: apache/kafka:4.1.0
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_MIN_INSYNC_REPLICAS: 2
          KAFKA_DEFAULT_REPLICATION_FACTOR: 3
          KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
      ui:
        image: provectuslabs/kafka-ui:v0.7.2
        environment: {KAFKA_CLUSTERS_0_NAME: local}
"""
LIST = """
    x-common: &common
      image: confluentinc/cp-kafka:7.6.1
    services:
      broker:
        <<: *common
        environment:
          - KAFKA_MIN_INSYNC_REPLICAS=2
          - "KAFKA_DEFAULT_REPLICATION_FACTOR=3"
          - KAFKA_UNCLEAN_LEADER_ELECTION_ENABLE=false
"""
TWO = """
    services:
      kafka-1:
        image: bitnami/kafka:3.7
        environment: {KAFKA_CFG_MIN_INSYNC_REPLICAS: "2", KAFKA_CFG_DEFAULT_REPLICATION_FACTOR: 3}
      kafka-2:
        image: bitnami/kafka:3.7
        environment: {KAFKA_CFG_MIN_INSYNC_REPLICAS: "1", KAFKA_CFG_DEFAULT_REPLICATION_FACTOR: 3}
"""
DEPLOYED = """
    kind: StatefulSet
    spec:
      template:
        spec:
          containers:
            - name: kafka
              image: docker.io/apache/kafka-native:4.0.1
              env:
                - name: KAFKA_MIN_INSYNC_REPLICAS
                  value: "2"
                - {name: KAFKA_DEFAULT_REPLICATION_FACTOR, value: "3"}
"""


def test_compose_files_and_containers(tmp_path: Path) -> None:
    assert of(read(tmp_path, {"docker-compose.yml": COMPOSE})) == {**SAFE, "release": "4.1"}
    assert of(read(tmp_path, {"compose.yaml": LIST})) == {**SAFE, "release": "3.6"}
    assert of(read(tmp_path, {"set.yaml": DEPLOYED})) == {**SAFE, "release": "4.0.1"}
    two = read(tmp_path, {"compose.yaml": TWO})
    assert of(two) == {**SAFE, "min_insync_replicas": 1, "release": "3.7"}
    assert two.remarks[0].startswith("min.insync.replicas differs: 2 (")
    assert two.remarks[0].endswith("the answer is for the one that promises least.")


@pytest.mark.parametrize(
    "text",
    [
        "KAFKA_MIN_INSYNC_REPLICAS=2\nKAFKA_DEFAULT_REPLICATION_FACTOR=3\n",
        "# broker\nexport KAFKA_CFG_MIN_INSYNC_REPLICAS='2'\nexport KAFKA_CFG_DEFAULT_REPLICATION_FACTOR=\"3\"\n",
        "KAFKA_HEAP_OPTS=-Xmx1G\nKAFKA_MIN_INSYNC_REPLICAS=2 # two\nKAFKA_DEFAULT_REPLICATION_FACTOR=3\n",
    ],
    ids=["plain", "exported", "with others"],
)
def test_files_of_variables(tmp_path: Path, text: str) -> None:
    assert of(read(tmp_path, {".env": text})) == SAFE


BITNAMI = """
    image: {registry: docker.io, repository: bitnami/kafka, tag: 3.9.0-debian-12-r1}
    overrideConfiguration:
      min.insync.replicas: 2
      default.replication.factor: 3
    provisioning:
      replicationFactor: 1
      topics:
        - name: audit
          partitions: 3
          replicationFactor: 3
          config:
            min.insync.replicas: 1
"""
TEXT = """
    extraConfig: |
      # durability
      min.insync.replicas=2
      default.replication.factor=3
    heapOpts: -Xmx1024m
"""
CP = """
    cp-kafka:
      brokers: 3
      configurationOverrides:
        "default.replication.factor": 3
        min.insync.replicas: "2"
"""


BY_NAME = """
    kafka_topics:
      orders: {partitions: 3, replication_factor: 3, config: {min.insync.replicas: 2}}
"""
CLOUDFORMATION = """
    Resources:
      Conf:
        Type: AWS::MSK::Configuration
        Properties:
          Name: !Sub "${AWS::StackName}-conf"
          ServerProperties: |
            default.replication.factor=3
            min.insync.replicas=2
"""
CONFIG_MAP = """
    kind: ConfigMap
    data:
      server.properties: |
        min.insync.replicas=2
        default.replication.factor=3
"""


CONFLUENT = """
    kind: Kafka
    metadata: {name: kafka}
    spec:
      replicas: 3
      image: {application: confluentinc/cp-server:7.9.0}
      configOverrides:
        server:
          - default.replication.factor=3
          - min.insync.replicas=2
"""
PRINTED_BY_AWS = """
    {"Arn": "arn:aws:kafka:eu-west-1:1:configuration/x", "Revision": 3, "ServerProperties":
    "ZGVmYXVsdC5yZXBsaWNhdGlvbi5mYWN0b3I9MwptaW4uaW5zeW5jLnJlcGxpY2FzPTIK"}
"""


def test_resources_of_confluent_and_what_aws_prints(tmp_path: Path) -> None:
    assert of(read(tmp_path, {"kafka.yaml": CONFLUENT})) == {**SAFE, "release": "3.9"}
    found = read(tmp_path, {"configuration.json": PRINTED_BY_AWS})
    assert of(found) == {**SAFE, "unclean_leader_election": "on"}
    with pytest.raises(UserError, match=r"other\.json is JSON without a setting of brokers or topics"):
        read(tmp_path, {"other.json": '{"ServerProperties": "QQ=="}'})


def test_properties_within_other_resources(tmp_path: Path) -> None:
    assert of(read(tmp_path, {"stack.yaml": CLOUDFORMATION})) == {**SAFE, "unclean_leader_election": "on"}
    assert of(read(tmp_path, {"stack.yaml": CONFIG_MAP})) == SAFE
    assert of(read(tmp_path, {"topics.yaml": BY_NAME}), "orders") == SAFE
    listed = '{"topics": [{"name": "x", "replication_factor": 3, "config": {"min.insync.replicas": "2"}}]}'
    assert of(read(tmp_path, {"topics.json": listed}), "x") == SAFE


@pytest.mark.parametrize(
    ("values", "kraft", "zookeeper"),
    [
        ("kraft: {enabled: true}\nzookeeper: {enabled: false}\n", True, False),
        ("kraft:\n  enabled: false\nzookeeper:\n  enabled: true\n", False, True),
        ("zookeeper:\n  replicaCount: 3\n", False, False),
    ],
)
def test_values_of_charts_say_whose_the_controller_is(
    tmp_path: Path, values: str, kraft: bool, zookeeper: bool
) -> None:
    found = read(tmp_path, {"values.yaml": dedent(BITNAMI) + values})
    assert (found.in_kraft, bool(found.in_zookeeper)) == (kraft, zookeeper)


def test_values_of_charts(tmp_path: Path) -> None:
    found = read(tmp_path, {"values.yaml": BITNAMI})
    assert of(found) == {**SAFE, "release": "3.9"}
    assert of(found, "audit") == {**SAFE, "min_insync_replicas": 1, "release": "3.9"}
    for text in (TEXT, CP):
        assert of(read(tmp_path, {"values.yaml": text})) == SAFE


ANSIBLE = (
    "kafka_broker_custom_properties:\n  min.insync.replicas: 2\n  default.replication.factor: 3\n",
    "---\nkafka_default_replication_factor: 3\nkafka_min_insync_replicas: 2\nkafka_heap: 4g\n",
    "- hosts: kafka\n  vars:\n    server:\n      - min.insync.replicas=2\n      - default.replication.factor=3\n",
)


@pytest.mark.parametrize("text", ANSIBLE, ids=["properties", "variables", "play"])
def test_variables_of_ansible(tmp_path: Path, text: str) -> None:
    assert of(read(tmp_path, {"main.yml": text})) == SAFE


MSK = """
    resource "aws_msk_configuration" "this" {
      kafka_versions = ["3.6.0"]
      name           = "durable"
      server_properties = <<PROPERTIES
    auto.create.topics.enable = false
    default.replication.factor=3
    min.insync.replicas = 2
    PROPERTIES
    }
"""
INDENTED = """
    resource "aws_msk_configuration" "this" {
      server_properties = <<-EOT
        min.insync.replicas = 2
        default.replication.factor = 3
      EOT
    }
"""
TOPICS = """
    resource "kafka_topic" "logs" {
      name               = "logs.v1"
      replication_factor = 3
      partitions         = 10
      config = {
        "min.insync.replicas" = "2" # two
        "unclean.leader.election.enable" = "true"
      }
    }
    resource "aws_msk_configuration" "other" {
      server_properties = "min.insync.replicas=1\\ndefault.replication.factor=2\\n"
    }
"""


def test_terraform(tmp_path: Path) -> None:
    assert of(read(tmp_path, {"msk.tf": MSK})) == {**SAFE, "unclean_leader_election": "on", "release": "3.6"}
    assert of(read(tmp_path, {"main.tf": INDENTED})) == {**SAFE, "unclean_leader_election": "on"}
    both = read(tmp_path, {"main.tf": TOPICS})
    assert of(both, "logs.v1") == {**SAFE, "unclean_leader_election": "on"}
    assert of(both) == {"replicas": 2, "min_insync_replicas": 1, "unclean_leader_election": "on"}
    with pytest.raises(UserError, match=r"line 2: server_properties is computed"):
        read(tmp_path, {"main.tf": 'resource "aws_msk_configuration" "x" {\n  server_properties = file("a")\n}\n'})


def test_the_release_of_a_cluster_of_amazon_msk_is_not_what_its_configuration_may_be_used_with(tmp_path: Path) -> None:
    cluster = 'resource "aws_msk_cluster" "a" {\n  kafka_version = "3.7.x.kraft"\n}\n'
    for files in ({"msk.tf": MSK + cluster}, {"a.tf": MSK, "b.tf": cluster}):
        found = read(tmp_path, files)
        assert (of(found)["release"], found.in_kraft, found.in_zookeeper) == ("3.7", True, "")
        assert not [one for one in found.remarks if "differs" in one]


MODULE = """
    module "kafka" {
      source  = "terraform-aws-modules/msk-kafka-cluster/aws"
      kafka_version = "3.5.1"
      configuration_server_properties = {
        "min.insync.replicas"        = 2
        "default.replication.factor" = 3
      }
    }
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [("msk.tf", MSK), ("module.tf", MODULE), ("stack.yaml", CLOUDFORMATION), ("aws.json", PRINTED_BY_AWS)],
)
def test_what_a_configuration_of_amazon_msk_leaves_out_is_as_msk_sets_it(tmp_path: Path, name: str, text: str) -> None:
    found = read(tmp_path, {name: text})
    (one,) = found.combinations
    assert (one.settings["min_insync_replicas"], one.settings["unclean_leader_election"]) == (2, "on")
    assert one.origins["unclean_leader_election"] == "Amazon MSK's default"
    (remark,) = found.remarks
    assert "Amazon MSK sets to true, and to false with tiered storage" in remark
    assert remark.endswith("give --unclean-leader-election off with tiered storage.")
    given = read_configs([tmp_path / name], {"unclean_leader_election": "off"})
    assert (given.remarks, of(given)["unclean_leader_election"]) == ((), "off")


def test_the_fewest_in_sync_replicas_of_amazon_msk_are_those_of_two_zones(tmp_path: Path) -> None:
    found = read(tmp_path, {"msk.tf": MSK.replace("min.insync.replicas", "num.io.threads")})
    assert of(found)["min_insync_replicas"] == 1
    assert "Amazon MSK sets to 1 with two zones and to 2 with three" in found.remarks[0]


@pytest.mark.parametrize(
    ("text", "acks"),
    [
        ("bootstrap.servers=a:9092\nacks=1\nretries=3\n", "1"),
        ("bootstrap.servers: a:9092\nacks: all\nenable.idempotence: false\n", "all"),
        ("acks=-1\nkey.serializer=org.apache.kafka.common.serialization.StringSerializer\n", "all"),
    ],
    ids=["one", "colons", "minus one"],
)
def test_a_producers_file_says_acks_and_no_number_of_replicas(tmp_path: Path, text: str, acks: str) -> None:
    with pytest.raises(UserError, match="No file says how many replicas topics have"):
        read(tmp_path, {"producer.properties": text})
    assert of(read(tmp_path, {"producer.properties": text, "server.properties": STATIC}))["acks"] == acks


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "values.yaml",
            "config:\n  min.insync.replicas: {{ .Values.min }}\n",
            "line 2: min.insync.replicas is the templ",
        ),
        (
            "values.yaml",
            "config:\n  min.insync.replicas: '{{ min }}'\n",
            "is the template {{ min }}, which is not filled in",
        ),
        (
            "compose.yml",
            "services:\n  k:\n    environment:\n      - KAFKA_MIN_INSYNC_REPLICAS=${MIN:?say it}\n",
            "${MIN:?say it}",
        ),
        (
            "server.properties.j2",
            "min.insync.replicas={{ min }}\n",
            "line 1: min.insync.replicas is the template {{ min }}",
        ),
        ("main.tf", 'resource "kafka_topic" "t" {\n  replication_factor = var.rf\n}\n', "is the template var.rf"),
        ("server.properties.j2", "{% if x %}\nmin.insync.replicas=1\n", "line 1: '{% if x %}' is an instruction of a"),
        (
            "kafka.yaml",
            "{{- if .Values.on }}\nkind: Kafka\n{{ end }}\n",
            "is a template; give the file that is made of",
        ),
    ],
)
def test_a_template_is_named_and_not_guessed(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, {name: text})
    assert said in str(caught.value)


def test_a_template_does_not_matter_where_the_command_says_more(tmp_path: Path) -> None:
    text = "min.insync.replicas={{ min }}\ndefault.replication.factor={{ rf }}\n"
    assert of(read(tmp_path, {"a.j2": text}, min_insync_replicas=2, replicas=3)) == SAFE


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("pod.xml", "<broker/>\n", "is XML, which is not read; give server.properties"),
        (
            "kafka.env",
            "KAFKA_OPTS='-Dx=y'\n",
            "has no key of Kafka's; its first is 'KAFKA_OPTS'",
        ),
        (
            "Dockerfile",
            "FROM apache/kafka:4.0.1\nENV A=1 B=2\n",
            "is a Dockerfile, which is not read; give server.prop",
        ),
        ("groups.txt", "GROUP  TOPIC  PARTITION  CURRENT-OFFSET\n", "is what kafka-consumer-groups prints, which is"),
        ("log4j.properties", "log4j.rootLogger=INFO\n", "is a configuration of logging, which"),
        ("zookeeper.properties", "dataDir=/tmp/zk\nclientPort=2181\n", "is ZooKeeper's own configuration"),
        ("quorum.txt", "ClusterId:   abc\nLeaderId: 1\n", "is what kafka-metadata-quorum prints"),
        ("connect.properties", "config.storage.topic=c\ngroup.id=x\n", "is the configuration of a worker of Connect"),
        ("user.yaml", "kind: KafkaUser\nspec: {}\n", "has resources of kind KafkaUser without a setting of brokers or"),
        ("ci.yaml", "on: [push]\njobs: {}\n", "is YAML without a setting of brokers or topics"),
        ("broken.yaml", "a: [1\n", "is not YAML: a comma"),
    ],
)
def test_another_kind_of_file_is_refused_by_name(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, {name: text})
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / name))


BROKER = "process.roles=broker\nnode.id=1\ndefault.replication.factor=3\nmin.insync.replicas=2\n"
CONTROLLER = "process.roles=controller\nnode.id=9\n"


def test_a_controller_takes_no_records(tmp_path: Path) -> None:
    found = read(tmp_path, {"broker": BROKER, "controller": CONTROLLER}, elr="off")
    assert of(found) == {**SAFE, "elr": "off"}
    assert found.remarks == ()
    other = read(tmp_path, {"broker": BROKER, "controller": CONTROLLER + "min.insync.replicas=1\n"}, release="4.0")
    assert of(other)["min_insync_replicas"] == 2


@pytest.mark.parametrize(
    ("controller", "more", "fewest"),
    [
        (CONTROLLER, "", 1),
        (CONTROLLER + "min.insync.replicas=2\n", "", 2),
        (CONTROLLER + "min.insync.replicas=1\n", "", 1),
        (CONTROLLER.replace("controller", "broker,controller") + "min.insync.replicas=1\n", "", 1),
        (CONTROLLER, DEFAULTS + "  min.insync.replicas=2 sensitive=false\n", 2),
    ],
    ids=["unset", "same", "fewer", "combined", "set for the cluster"],
)
def test_with_eligible_leader_replicas_the_controllers_decide_the_fewest_in_sync_replicas(
    tmp_path: Path, controller: str, more: str, fewest: int
) -> None:
    files = {"broker": BROKER, "controller": controller, **({"dynamic": more} if more else {})}
    found = read(tmp_path, files, elr="on")
    assert of(found)["min_insync_replicas"] == fewest
    told = [f"{tmp_path / 'broker'}, line 4: min.insync.replicas of a broker does not count"]
    assert [one[: len(told[0])] for one in found.remarks] == ([] if more else told)


def test_that_controllers_say_the_same_as_a_broker_is_assumed(tmp_path: Path) -> None:
    (remark,) = read(tmp_path, {"broker": BROKER}, elr="on").remarks
    assert "decides unclean.leader.election.enable and min.insync.replicas (with eligible leader replicas)" in remark
    assert remark.endswith(f"the answer assumes that it says the same as {tmp_path / 'broker'}.")
    (remark,) = read(tmp_path, {"broker": BROKER}, elr="off").remarks
    assert "min.insync.replicas" not in remark


def test_controllers_that_decide_nothing_are_not_missed(tmp_path: Path) -> None:
    assert read(tmp_path, {"broker": BROKER}, release="3.6").remarks == ()
    image = "image: apache/kafka:3.6.2\n"
    assert read(tmp_path, {"broker": BROKER, "values.yaml": image}).remarks == ()


def test_what_a_broker_does_not_say_has_no_line(tmp_path: Path) -> None:
    second = "process.roles=broker\nnode.id=2\n"
    found = read(tmp_path, {"broker": BROKER, "second": second, "controller": CONTROLLER}, elr="off")
    assert of(found)["min_insync_replicas"] == 1
    (one,) = found.combinations
    assert one.origins["min_insync_replicas"] == f"Kafka's default in {tmp_path / 'second'}"


@pytest.mark.parametrize(
    ("broker", "controller", "unclean"),
    [
        ("unclean.leader.election.enable=true\n", "unclean.leader.election.enable=false\n", "off"),
        ("unclean.leader.election.enable=false\n", "unclean.leader.election.enable=true\n", "on"),
        ("unclean.leader.election.enable=true\n", "", "off"),
        ("", "unclean.leader.election.enable=true\n", "on"),
    ],
)
def test_controllers_decide_who_is_elected_uncleanly(
    tmp_path: Path, broker: str, controller: str, unclean: str
) -> None:
    found = read(tmp_path, {"broker": BROKER + broker, "controller": CONTROLLER + controller}, elr="off")
    assert (of(found)["unclean_leader_election"], found.remarks) == (unclean, ())


def test_that_the_file_of_the_controllers_decides_is_said_where_it_is_not_given(tmp_path: Path) -> None:
    unclean = "unclean.leader.election.enable=true\n"
    found = read(tmp_path, {"broker": BROKER + unclean})
    assert of(found)["unclean_leader_election"] == "on"
    (remark,) = found.remarks
    assert remark.startswith("The controllers' file (process.roles=controller), which decides unclean.leader.election")
    assert read(tmp_path, {"both": BROKER.replace("=broker", "=broker,controller") + unclean}).remarks == ()
    dynamic = {"broker": BROKER, "dynamic": DEFAULTS + "  unclean.leader.election.enable=true sensitive=false\n"}
    assert read(tmp_path, dynamic, elr="off").remarks == ()
    assert read_configs([tmp_path / "broker"], {"unclean_leader_election": "off", "elr": "off"}).remarks == ()
    assert read_configs([tmp_path / "broker"], {"release": "3.6"}).remarks == (), "no file decides there"
    assert len(read_configs([tmp_path / "broker"], {"release": "3.9"}).remarks) == 1


@pytest.mark.parametrize(("release", "unclean"), [("0.10.2", "on"), ("0.11", "off"), ("3.9", "off")])
def test_the_default_of_unclean_elections_is_that_of_the_release(tmp_path: Path, release: str, unclean: str) -> None:
    assert of(read(tmp_path, {"a": STATIC.split("unclean")[0]}, release=release))["unclean_leader_election"] == unclean
    assert of(read(tmp_path, {"a": STATIC}, release=release))["unclean_leader_election"] == "off"


def test_what_is_set_on_a_broker_alone_decides_no_unclean_election_in_kraft(tmp_path: Path) -> None:
    text = "Dynamic configs for broker {} are:\n  unclean.leader.election.enable=true sensitive=false synonyms={{}}\n"
    files = {"broker": BROKER, "controller": CONTROLLER}
    found = read(tmp_path, {**files, "dynamic": text.format(1)}, elr="off")
    assert of(found)["unclean_leader_election"] == "off"
    said = "line 2: unclean.leader.election.enable of broker 1, which is no controller, has no effect in KRaft."
    assert [one for one in found.remarks if one.endswith(said)]
    found = read(tmp_path, {**files, "dynamic": text.format(9)}, elr="off")
    assert (of(found)["unclean_leader_election"], found.remarks) == ("on", ())
