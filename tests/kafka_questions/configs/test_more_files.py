"""Files in spellings of their own: what each says, and what it leaves open."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.kafka_questions.configs.reading import read_configs
from insync.runtime.errors import UserError
from insync_config_files import of, read

DUAL = """
    # a pool of nodes with both roles, the cluster, and a topic
    apiVersion: kafka.strimzi.io/v1beta2
    kind: KafkaNodePool
    metadata:
      name: dual-role
      labels:
        strimzi.io/cluster: events
    spec:
      replicas: 3
      roles:
        - controller
        - broker
    ---
    apiVersion: kafka.strimzi.io/v1beta2
    kind: Kafka
    metadata:
      name: events
      annotations:
        strimzi.io/node-pools: enabled
        strimzi.io/kraft: enabled
    spec:
      kafka:
        version: 3.9.0
        metadataVersion: 3.9-IV0
        config:
          offsets.topic.replication.factor: 3
          default.replication.factor: 3
          min.insync.replicas: 2
    ---
    apiVersion: kafka.strimzi.io/v1beta2
    kind: KafkaTopic
    metadata:
      name: payments
    spec:
      partitions: 10
      replicas: 3
      config:
        min.insync.replicas: "1"
"""


def test_a_pool_says_how_many_brokers_there_are(tmp_path: Path) -> None:
    found = read(tmp_path, {"kafka.yaml": DUAL})
    assert of(found) == {"replicas": 3, "min_insync_replicas": 2, "unclean_leader_election": "off", "release": "3.9"}
    assert of(found, "payments")["min_insync_replicas"] == 1
    assert (found.in_kraft, found.remarks) == (True, ())
    (remark,) = read(
        tmp_path, {"kafka.yaml": DUAL.replace("replicas: 3\n      roles", "replicas: 1\n      roles")}
    ).remarks
    assert remark.startswith("A replication factor of 3 (")
    assert "needs as many brokers, and the files have 1 (" in remark
    assert remark.endswith("so Kafka refuses to create such topics.")


LISTED = """
    {"kind": "List", "items": [
      {"kind": "KafkaTopic", "metadata": {"name": "a"},
       "spec": {"replicas": 3, "config": {"min.insync.replicas": 2}}, "status": {"topicId": "x"}},
      {"kind": "KafkaTopic", "metadata": {"name": "b"}, "spec": {"partitions": 1, "replicas": 2}}]}
"""


def test_a_list_as_kubectl_prints_it(tmp_path: Path) -> None:
    found = read(tmp_path, {"topics.json": LISTED})
    assert [
        (one.topics, one.settings["replicas"], one.settings["min_insync_replicas"]) for one in found.combinations
    ] == [
        (("a",), 3, 2),
        (("b",), 2, 1),
    ]


MERGED = """
    x-kafka-env: &kafka-env
      KAFKA_PROCESS_ROLES: 'broker,controller'
      KAFKA_MIN_INSYNC_REPLICAS: 2
      KAFKA_DEFAULT_REPLICATION_FACTOR: 2
    services:
      kafka1:
        image: apache/kafka:3.9.1
        environment:
          <<: *kafka-env
          KAFKA_NODE_ID: 1
      kafka2:
        image: apache/kafka:3.9.1
        environment:
          <<: *kafka-env
          KAFKA_NODE_ID: 2
          KAFKA_UNCLEAN_LEADER_ELECTION_ENABLE: "true"
"""


def test_variables_that_services_share_and_one_that_differs(tmp_path: Path) -> None:
    found = read(tmp_path, {"compose.yaml": MERGED})
    assert of(found) == {"replicas": 2, "min_insync_replicas": 2, "unclean_leader_election": "on", "release": "3.9.1"}
    (remark,) = found.remarks
    assert remark.startswith("unclean.leader.election.enable differs: true (")
    default = f"false (Kafka's default in {tmp_path / 'compose.yaml'}"
    assert f", {default}); the answer is for the one that promises least." in remark
    third = "      kafka3: {image: 'apache/kafka:3.9.1', environment: {<<: *kafka-env, KAFKA_NODE_ID: 3}}\n"
    (remark,) = read(tmp_path, {"compose.yaml": MERGED + third}).remarks
    assert f", {default} for 2 brokers); the answer" in remark


ENV = "# broker\nKAFKA_NODE_ID=1\nKAFKA_DEFAULT_REPLICATION_FACTOR=3\nKAFKA_MIN_INSYNC_REPLICAS=2\n"


@pytest.mark.parametrize(
    "named", ["./kafka.env", "\n      - ./kafka.env", "\n      - path: kafka.env\n        required: true"]
)
def test_a_file_of_variables_that_a_compose_file_names_is_missed_until_it_is_given(tmp_path: Path, named: str) -> None:
    compose = f"services:\n  kafka:\n    image: apache/kafka:4.0.0\n    env_file: {named}\n"
    alone = read(tmp_path, {"compose.yaml": compose}, replicas=3)
    (remark,) = alone.remarks
    assert "kafka.env says; give it with --config as well." in remark
    assert "min_insync_replicas" not in alone.combinations[0].origins, "its default is assumed"
    both = read(tmp_path, {"compose.yaml": compose, "kafka.env": ENV})
    assert of(both) == {"replicas": 3, "min_insync_replicas": 2, "unclean_leader_election": "off", "release": "4.0"}
    assert both.remarks == ()


OLD_CHART = """
    image: {repository: bitnami/kafka, tag: 3.4.0-debian-11-r28}
    replicaCount: 3
    defaultReplicationFactor: 3
    offsetsTopicReplicationFactor: 1
    minInsyncReplicas: 2
    config: |-
      unclean.leader.election.enable=true
    zookeeper:
      enabled: true
    kraft:
      enabled: false
"""
CONTROLLERS = """
    image: {registry: docker.io, repository: bitnami/kafka, tag: 4.0.0-debian-12-r0}
    overrideConfiguration:
      default.replication.factor: 3
      min.insync.replicas: 2
    controller:
      replicaCount: 3
      overrideConfiguration: {}
    broker:
      replicaCount: 0
"""


ONE_LINE = (
    "extraConfig: |-\n  min.insync.replicas=1\n",
    "extraConfig: >\n  min.insync.replicas=1\n",
    "data:\n  server.properties: min.insync.replicas=1\n",
    'server_properties: "min.insync.replicas = 1"\n',
)


@pytest.mark.parametrize("text", ONE_LINE)
def test_a_text_of_one_property_is_read_as_one_of_several_is(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, {"values.yaml": text}, replicas=3)
    assert found.combinations[0].origins["min_insync_replicas"].startswith(str(tmp_path / "values.yaml"))


def test_charts_old_and_new(tmp_path: Path) -> None:
    old = read(tmp_path, {"values.yaml": OLD_CHART})
    assert of(old) == {"replicas": 3, "min_insync_replicas": 2, "unclean_leader_election": "on", "release": "3.4"}
    assert old.in_zookeeper
    new = read(tmp_path, {"values.yaml": CONTROLLERS})
    assert of(new) == {"replicas": 3, "min_insync_replicas": 2, "unclean_leader_election": "off", "release": "4.0"}


GROUP = """
    ---
    kafka_version: 2.8.1
    kafka_scala_version: 2.13
    kafka_default_replication_factor: 3
    kafka_min_insync_replicas: 2
    kafka_zookeeper_connect: "{{ groups['zookeeper'] | join(',') }}"
"""
PLATFORM = """
    all:
      vars:
        confluent_package_version: 7.6.0
        kafka_broker_custom_properties:
          default.replication.factor: 3
          min.insync.replicas: 2
"""


@pytest.mark.parametrize(("text", "release", "zookeeper"), [(GROUP, "2.8.1", True), (PLATFORM, "3.6", False)])
def test_variables_of_ansible_name_the_release(tmp_path: Path, text: str, release: str, zookeeper: bool) -> None:
    found = read(tmp_path, {"kafka.yml": text})
    assert of(found) == {"replicas": 3, "min_insync_replicas": 2, "unclean_leader_election": "off", "release": release}
    assert bool(found.in_zookeeper) == zookeeper


CLUSTER = """
    resource "aws_msk_cluster" "main" {
      kafka_version          = "3.7.x.kraft"
      number_of_broker_nodes = 3
      storage_mode           = "TIERED"
    }
    resource "aws_msk_configuration" "main" {
      server_properties = <<-PROPERTIES
        default.replication.factor=3
        min.insync.replicas=2
      PROPERTIES
    }
"""


def test_amazon_msk_with_tiered_storage_and_its_number_of_brokers(tmp_path: Path) -> None:
    found = read(tmp_path, {"msk.tf": CLUSTER})
    assert of(found) == {"replicas": 3, "min_insync_replicas": 2, "unclean_leader_election": "off", "release": "3.7"}
    assert found.remarks == ()
    (remark,) = read(tmp_path, {"msk.tf": CLUSTER.replace("nodes = 3", "nodes = 2")}).remarks
    assert "needs as many brokers, and the files have 2 (" in remark
    ignoring = CLUSTER.replace('"TIERED"', '"LOCAL"')
    assert read(tmp_path, {"msk.tf": ignoring}).remarks == (), "3.7 ignores unclean elections"
    local = read(tmp_path, {"msk.tf": ignoring.replace("3.7.x", "3.9.x")})
    assert (of(local)["unclean_leader_election"], len(local.remarks)) == ("on", 1)
    computed = CLUSTER.replace("factor=3", "factor=${var.replicas}")
    with pytest.raises(UserError, match=r"is the template \$\{var.replicas\}, which is not filled in; give --replicas"):
        read(tmp_path, {"msk.tf": computed})


DYNAMIC = (
    "Dynamic configs for topic orders are:\n  min.insync.replicas=2 sensitive=false synonyms="
    "{DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2, STATIC_BROKER_CONFIG:min.insync.replicas=1}\n"
    "  unclean.leader.election.enable=true sensitive=false synonyms="
    "{DYNAMIC_TOPIC_CONFIG:unclean.leader.election.enable=true}\n"
)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Configs for topic 'orders' are min.insync.replicas=2,cleanup.policy=delete\n", {"min_insync_replicas": 2}),
        (DYNAMIC, {"min_insync_replicas": 2, "unclean_leader_election": "on"}),
        (
            "All configs for topic orders are:\n  min.insync.replicas=3 sensitive=false synonyms={}\n",
            {"min_insync_replicas": 3},
        ),
    ],
    ids=["2.4", "3.x", "all"],
)
def test_kafka_configs_of_several_releases(tmp_path: Path, text: str, own: dict[str, int | str]) -> None:
    with pytest.raises(UserError, match="No file says how many replicas topic orders has"):
        read(tmp_path, {"configs.txt": text})
    found = read(tmp_path, {"configs.txt": text}, replicas=3)
    assert of(found, "orders") == {"replicas": 3, "min_insync_replicas": 1, "unclean_leader_election": "off", **own}


TOPIC = (
    "Topic: orders\tTopicId: q\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: min.insync.replicas=2\n"
    "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\tElr: {0}\tLastKnownElr: {1}\n"
    "\tTopic: orders\tPartition: 1\tLeader: 1\tReplicas: 2,3,1\tIsr: 1,2,3\tElr: {0}\tLastKnownElr: {1}\n"
)


@pytest.mark.parametrize(
    ("elr", "last", "kept"), [("3", "", "on"), ("N/A", "N/A", "off"), ("", "", None)], ids=["kept", "older", "empty"]
)
def test_the_elr_that_is_shown_says_whether_there_is_one(tmp_path: Path, elr: str, last: str, kept: str | None) -> None:
    found = read(tmp_path, {"topics.txt": TOPIC.format(elr, last)})
    assert of(found, "orders").get("elr") == kept
    assert found.remarks == ()
    level = "Feature: eligible.leader.replicas.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1\t"
    features = f"{level}FinalizedVersionLevel: 0\tEpoch: 9\n"
    both = read(tmp_path, {"topics.txt": TOPIC.format(elr, last), "features.txt": features})
    assert of(both, "orders")["elr"] == "off", "what the feature says is stronger"


SPRING = """
    spring:
      kafka:
        bootstrap-servers: localhost:9092
        producer:
          acks: 1
          properties:
            enable.idempotence: false
            min.insync.replicas: 2
    ---
    spring:
      config: {activate: {on-profile: prod}}
      kafka:
        producer:
          acks: all
"""


@pytest.mark.parametrize(
    ("name", "text", "acks"),
    [
        ("application.yaml", SPRING, "1"),
        ("application.properties", "spring.kafka.producer.acks=all\nserver.port=8080\n", "all"),
        ("app.env", "SPRING_KAFKA_PRODUCER_ACKS=1\n", "1"),
    ],
)
def test_acks_of_a_program_with_spring(tmp_path: Path, name: str, text: str, acks: str) -> None:
    found = read(tmp_path, {name: text}, replicas=3)
    assert of(found) == {"replicas": 3, "min_insync_replicas": 1, "unclean_leader_election": "off", "acks": acks}
    assert "min_insync_replicas" not in found.combinations[0].origins, "it is assumed"


def test_what_a_client_says_of_brokers_decides_nothing(tmp_path: Path) -> None:
    text = "bootstrap.servers=a:9092\nacks=all\nmin.insync.replicas=2\n"
    found = read(tmp_path, {"producer.properties": text}, replicas=3)
    assert of(found)["min_insync_replicas"] == 1
    (remark,) = found.remarks
    assert remark.startswith(f"{tmp_path / 'producer.properties'}, line 3: min.insync.replicas is a setting of brokers")
    one = read(tmp_path, {"all.properties": f"default.replication.factor=3\n{text}"})
    assert (of(one)["min_insync_replicas"], one.remarks) == (2, ()), "a file of both is believed"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "is empty; give server.properties"),
        (b"\n \n", "is empty; give server.properties"),
        (b"\x7fELF\x00\x01\x02", "cannot be read: it is not text in UTF-8 or UTF-16; give server.properties"),
        (b"\xff\xfe\x00\xd8", "cannot be read: it is not text in UTF-8 or UTF-16"),
        (b"min.insync.replicas=2\x00\n", "cannot be read: it is not text"),
    ],
)
def test_what_is_no_text_is_refused_by_its_name(tmp_path: Path, text: bytes, said: str) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, {"a.properties": text})
    assert f"{tmp_path / 'a.properties'} {said}" in str(caught.value)


def test_a_folder_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is a folder; give its files one by one\.$"):
        read_configs([tmp_path], {})
    for name in ("d.env", "b.yml", "a.properties", "c.txt"):
        (tmp_path / name).write_text("x=1\n")
    with pytest.raises(UserError) as caught:
        read_configs([tmp_path], {})
    three = " ".join(f"--config {tmp_path / name}" for name in ("a.properties", "b.yml", "c.txt"))
    assert str(caught.value) == f"{tmp_path} is a folder; give its files one by one: {three} and so on."
    with pytest.raises(UserError, match=r"gone: there is no such file; name one that is there"):
        read_configs([tmp_path / "gone"], {})
