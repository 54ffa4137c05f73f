"""Files whose settings were once read as those of something else, or not at all: what each says."""

from __future__ import annotations

import re
from io import BytesIO, TextIOWrapper
from pathlib import Path
from textwrap import dedent

import pytest

from insync.kafka_questions.configs.precedence import EVERY_OTHER
from insync.kafka_questions.configs.reading import read_configs
from insync.runtime.errors import UserError
from insync_config_files import FACTOR, FEWEST, SAFE, of, read

# Resources of Strimzi.

TEMPLATE = """
    apiVersion: v1
    kind: Template
    objects:
    - kind: Kafka
      metadata: {name: x}
      spec:
        kafka: {version: 3.7.1, config: {default.replication.factor: 3, min.insync.replicas: 1}}
        zookeeper: {replicas: 3}
    - kind: KafkaTopic
      metadata: {name: y}
      spec: {replicas: 2, config: {min.insync.replicas: 2}}
"""
EXTRA = """
    image: {repository: quay.io/strimzi/kafka, tag: 0.45.0-kafka-3.9.0}
    default.replication.factor: 3
    extraDeploy:
      - kind: KafkaTopic
        metadata: {name: y}
        spec: {replicas: 2, config: {min.insync.replicas: 2}}
"""
STATUS = """
    kind: Kafka
    metadata: {name: prod}
    spec: {kafka: {config: {default.replication.factor: 3, min.insync.replicas: 2}}}
    status: {kafkaVersion: 4.1.0, kafkaMetadataVersion: 4.0-IV3}
"""


def test_resources_within_others_are_read_by_their_kind(tmp_path: Path) -> None:
    found = read(tmp_path, {"template.yaml": TEMPLATE})
    assert of(found) == {**SAFE, "min_insync_replicas": 1, "release": "3.7.1"}
    assert of(found, "y") == {**SAFE, "replicas": 2, "release": "3.7.1"}
    assert (bool(found.in_zookeeper), found.remarks) == (True, ())
    values = read(tmp_path, {"values.yaml": EXTRA})
    assert (of(values)["min_insync_replicas"], of(values, "y")["min_insync_replicas"]) == (1, 2)
    assert of(values)["release"] == "3.9"


def test_the_status_of_a_cluster_says_what_runs(tmp_path: Path) -> None:
    found = read(tmp_path, {"kafka.yaml": STATUS})
    assert of(found) == {**SAFE, "release": "4.1"}
    (remark,) = found.remarks
    assert "metadata.version is finalized at that of 4.0" in remark


def test_settings_of_two_clusters_are_not_mixed(tmp_path: Path) -> None:
    second = STATUS.replace("prod", "dev").replace("factor: 3", "factor: 1")
    with pytest.raises(UserError, match=r"have 2 clusters: prod \(.*\), dev \(.*\); give the resources of one of them"):
        read(tmp_path, {"a.yaml": STATUS, "b.yaml": second})
    assert of(read(tmp_path, {"a.yaml": STATUS, "b.yaml": STATUS}))["replicas"] == 3
    spaces = [STATUS.replace("{name: prod", f"{{namespace: {space}, name: prod") for space in ("a", "b")]
    assert of(read(tmp_path, {"a.yaml": STATUS, "b.yaml": spaces[0]}))["replicas"] == 3, "a base and an overlay"
    with pytest.raises(UserError, match=r"have 2 clusters: a/prod"):
        read(tmp_path, {"a.yaml": spaces[0], "b.yaml": spaces[1]})


# Compose files.

COMPOSE = """
    services:
      kafka:
        image: apache/kafka:${V:-${OTHER:-3.9.0}}
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_DEFAULT_REPLICATION_FACTOR: ${RF:-3}
          KAFKA_MIN_INSYNC_REPLICAS: ${MIN-2}
          KAFKA_UNCLEAN_LEADER_ELECTION_ENABLE: $UNCLEAN
"""
OPEN = "KAFKA_UNCLEAN_LEADER_ELECTION_ENABLE: $UNCLEAN"


def test_variables_of_a_compose_file_are_filled_in_as_compose_does(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is the template \$UNCLEAN, which is not filled in"):
        read(tmp_path, {"compose.yaml": COMPOSE})
    found = read(tmp_path, {"compose.yaml": COMPOSE}, unclean_leader_election="off")
    assert of(found) == {**SAFE, "release": "3.9"}
    assert f"{tmp_path / 'compose.yaml'}, line 7: no file sets RF, so its default counts: 3." in str(found.remarks)
    both = read(tmp_path, {"compose.yaml": COMPOSE, ".env": "UNCLEAN=true # now\nRF='2'\nV=\nMIN=1\n"})
    assert of(both) == {"replicas": 2, "min_insync_replicas": 1, "unclean_leader_election": "on", "release": "3.9"}
    assert [one for one in both.remarks if " default counts" in one and not re.search(r"sets (?:V|OTHER),", one)] == []


@pytest.mark.parametrize(
    "circle", ["OPTS=$OPTS -Xmx1g\n", "OPTS=${JVM}\nJVM=${OPTS:-${JVM}}\n", "OPTS=${A:-${OPTS:-1}}\n"]
)
def test_a_variable_that_is_set_to_itself_is_not_filled_in(tmp_path: Path, circle: str) -> None:
    text = COMPOSE.replace(OPEN, "KAFKA_OPTS: ${OPTS}\n          KAFKA_HEAP_OPTS: $OTHERS")
    found = read(tmp_path, {"compose.yaml": text, ".env": f"{circle}OTHERS=$OPTS\nRF=$SIZE\nSIZE=2\n"})
    assert of(found) == {**SAFE, "replicas": 2, "release": "3.9"}


def test_several_templates_are_named_at_once(tmp_path: Path) -> None:
    text = f"{FACTOR}={{{{ rf }}}}\n{FEWEST}={{{{ min }}}}\nnode.id=1\n"
    with pytest.raises(UserError) as caught:
        read(tmp_path, {"server.properties.j2": text})
    file = tmp_path / "server.properties.j2"
    assert str(caught.value) == (
        f"{file}, line 1: {FACTOR} is the template {{{{ rf }}}}; "
        f"{file}, line 2: {FEWEST} is the template {{{{ min }}}}, which are "
        "not filled in; give --replicas and --min-insync-replicas."
    )


ONE = """
    services:
      kafka:
        image: apache/kafka:4.0.0
        environment: {KAFKA_NODE_ID: 1, KAFKA_PROCESS_ROLES: "broker,controller"}
      init:
        image: apache/kafka:4.0.0
        command: sleep 1
"""


def test_one_broker_has_one_replica_of_each_partition(tmp_path: Path) -> None:
    found = read(tmp_path, {"compose.yaml": ONE})
    assert of(found)["replicas"] == 1
    assert found.combinations[0].origins["replicas"] == f"{tmp_path / 'compose.yaml'}, line 2, which has one broker"
    voters = ONE.replace('controller"}', 'controller", KAFKA_CONTROLLER_QUORUM_VOTERS: "1@a:1,2@b:1,3@c:1"}')
    for several in (voters, ONE.replace("command: sleep 1", "environment: {KAFKA_NODE_ID: 2}")):
        with pytest.raises(UserError, match="No file says how many replicas topics have"):
            read(tmp_path, {"compose.yaml": several})
    sized = read(tmp_path, {"compose.yaml": ONE.replace("ID: 1,", "ID: 1, KAFKA_DEFAULT_REPLICATION_FACTOR: 3,")})
    assert (of(sized)["replicas"], sized.remarks) == (3, ()), "other hosts may have files of their own"


CREATED = """
    services:
      kafka:
        image: wurstmeister/kafka:2.13-2.8.1
        environment:
          KAFKA_CREATE_TOPICS: "orders:3:2,logs:1:1:compact"
          KAFKA_MIN_INSYNC_REPLICAS: 1
      init:
        image: wurstmeister/kafka:2.13-2.8.1
        command: >
          bash -c "kafka-topics.sh --create --topic paid --replication-factor 3 --config min.insync.replicas=2;
          kafka-topics --create --topic=free --replication-factor=2;
          for t in a; do kafka-topics --create --topic $$t; done"
      app:
        environment:
          - SPRING_KAFKA_PRODUCER_ACKS=1
"""


def test_topics_that_a_compose_file_creates_and_acks_of_a_program_in_it(tmp_path: Path) -> None:
    found = read(tmp_path, {"compose.yaml": CREATED})
    sizes = {topic: one.settings["replicas"] for one in found.combinations for topic in one.topics}
    assert sizes == {"orders": 2, "logs": 1, "paid": 3, "free": 2, EVERY_OTHER: 1}
    assert of(found, "paid")["min_insync_replicas"] == 2
    assert {one.settings["acks"] for one in found.combinations} == {"1"}
    assert of(found, "paid")["release"] == "2.8.1"


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("debezium/kafka:2.7", None),
        ("quay.io/strimzi/kafka:0.45.0-kafka-3.9.0", "3.9"),
        ("confluentinc/cp-enterprise-kafka:6.2.0", "2.8"),
        ("registry.corp:5000/team/kafka:12.3", None),
        ("bitnamilegacy/kafka:3.6.2-debian-12-r1", "3.6.2"),
    ],
)
def test_the_release_in_the_tag_of_an_image(tmp_path: Path, image: str, release: str | None) -> None:
    text = f"services:\n  k:\n    image: {image}\n    environment: {{KAFKA_MIN_INSYNC_REPLICAS: 2}}\n"
    found = of(read(tmp_path, {"compose.yaml": text}, replicas=3)).get("release")
    assert found == (None if release is None else read_release(release))


def read_release(version: str) -> str:
    from insync.kafka.releases import release_of_series

    found = release_of_series(version)
    assert found is not None
    return found.value


# Values of charts and variables of Ansible.

PROVISIONED = """
    provisioning:
      replicationFactor: 3
      topics:
      - name: a
        partitions: 1
        config: {min.insync.replicas: 2}
      - {name: b, partitions: 1, replicationFactor: 2}
"""
APART = """
    image: {repository: bitnami/kafka, tag: 4.0.0}
    controller:
      replicaCount: 3
      controllerOnly: true
      overrideConfiguration: {min.insync.replicas: 1}
    broker:
      overrideConfiguration: {default.replication.factor: 3, min.insync.replicas: 2}
"""
GROUPS = """
    kafka_broker_custom_properties: {min.insync.replicas: 2, default.replication.factor: 3}
    kafka_controller_custom_properties: {min.insync.replicas: 1}
    confluent_package_version: 8.0.0
"""
ROLE = """
    - hosts: kafka
      roles:
        - role: kafka
          kafka_default_replication_factor: "3"
          kafka_min_insync_replicas: "2"
          kafka_unclean_leader_election_enable: no
"""
PAIRS = """
    params:
      - {option: min.insync.replicas, value: 2}
      - {name: default.replication.factor, value: 3}
"""
TASK = """
    - name: a topic
      kafka_topic:
        name: orders
        partitions: 3
        replica_factor: 3
        options: {min.insync.replicas: 1}
    - default.replication.factor: 3
    - min.insync.replicas: 2
"""


def test_topics_in_a_list_have_their_own_settings_and_the_size_of_the_list(tmp_path: Path) -> None:
    found = read(tmp_path, {"values.yaml": PROVISIONED})
    assert (of(found, "a")["min_insync_replicas"], of(found, "a")["replicas"]) == (2, 3)
    assert (of(found, "b")["min_insync_replicas"], of(found, "b")["replicas"]) == (1, 2)
    bare = read(tmp_path, {"values.yaml": PROVISIONED.replace("replicationFactor: 3", "enabled: true")})
    assert of(bare, "a")["replicas"] == 1, "as the chart has it"


@pytest.mark.parametrize("text", [APART, GROUPS])
def test_what_nodes_have_that_are_only_controllers_is_theirs(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, {"values.yaml": text})
    assert (of(found), found.in_kraft) == ({**SAFE, "release": "4.0"}, True)


def test_a_value_from_elsewhere_is_not_its_default(tmp_path: Path) -> None:
    text = "extraEnvVars:\n  - {name: KAFKA_CFG_MIN_INSYNC_REPLICAS, valueFrom: {configMapKeyRef: {name: x, key: y}}}\n"
    with pytest.raises(UserError, match=r"min.insync.replicas is the template \$\{valueFrom\}"):
        read(tmp_path, {"values.yaml": text}, replicas=3)


@pytest.mark.parametrize("text", [ROLE, PAIRS])
def test_more_spellings_of_settings_of_all_topics(tmp_path: Path, text: str) -> None:
    assert of(read(tmp_path, {"main.yml": text})) == SAFE


def test_a_task_that_creates_a_topic(tmp_path: Path) -> None:
    found = read(tmp_path, {"main.yml": TASK})
    assert (of(found), of(found, "orders")["min_insync_replicas"]) == (SAFE, 1)


# Terraform, and what Amazon MSK prints.

LOCALS = """
    locals {
      cfg = {
        "min.insync.replicas"        = 2, "default.replication.factor" = 3
      }
      topics = {
        orders = { partitions = 3, replication_factor = 3, config = { "min.insync.replicas" = "1" } }
      }
    }
    /*
    resource "kafka_topic" "old" {
      replication_factor = 1
    } */
    resource "aws_msk_configuration" "c" {
      server_properties = join("\\n", [for k, v in local.cfg : "${k} = ${v}"])
    }
    resource "aws_iam_policy" "p" {
      policy = <<EOF
    { "Version": "2012", "Statement": [] }
    EOF
    }
    resource "kafka_topic" "one" {
      name               = "one"
      replication_factor = 3
      config             = { "min.insync.replicas" = "1" }
    }
    resource "kafka_topic" "merged" {
      for_each           = toset(["a"])
      name               = each.value
      replication_factor = 2
      config             = merge(local.base, { "min.insync.replicas" = "1" })
    }
"""


def test_objects_in_one_line_locals_comments_and_other_texts(tmp_path: Path) -> None:
    found = read(tmp_path, {"main.tf": LOCALS}, unclean_leader_election="off")
    assert of(found) == SAFE
    assert of(found, "one") == of(found, "orders") == {**SAFE, "min_insync_replicas": 1}
    assert "old" not in {topic for one in found.combinations for topic in one.topics}
    assert of(found, "merged")["min_insync_replicas"] == 2
    (remark,) = found.remarks
    assert (
        remark
        == f"{tmp_path / 'main.tf'}, line 31: config of topic merged is computed, so the answer lacks what it says."
    )


def test_properties_of_a_module_that_are_computed_are_refused(tmp_path: Path) -> None:
    text = 'module "k" {\n  source = "x/msk"\n  configuration_server_properties = local.elsewhere\n}\n'
    with pytest.raises(UserError, match="line 3: configuration_server_properties is computed"):
        read(tmp_path, {"main.tf": text})


def test_what_aws_prints_of_a_cluster(tmp_path: Path) -> None:
    text = (
        '{"ClusterInfo": {"CurrentBrokerSoftwareInfo": {"KafkaVersion": "3.9.x.kraft"}, "NumberOfBrokerNodes": 3, '
        '"StorageMode": "LOCAL"}}'
    )
    found = read(tmp_path, {"cluster.json": text}, replicas=3)
    assert of(found) == {**SAFE, "min_insync_replicas": 1, "unclean_leader_election": "on", "release": "3.9"}


# Properties, and what Kafka's tools print.


@pytest.mark.parametrize("name", ["eligible.leader.replicas.version=1", "metadata.version=latest"])
def test_a_feature_in_a_file_has_no_effect(tmp_path: Path, name: str) -> None:
    found = read(tmp_path, {"server.properties": f"node.id=1\n{FACTOR}=3\n{FEWEST}=2\n{name}\n"}, release="4.0")
    assert of(found) == SAFE | {"release": "4.0"}
    (remark,) = found.remarks
    assert remark == (
        f"{tmp_path / 'server.properties'}, line 4: {name.split('=')[0]} is a feature, and has no effect in a file; "
        "kafka-features shows and changes it."
    )


@pytest.mark.parametrize("name", ["eligible.leader.replicas.version", "metadata.version"])
def test_a_feature_that_is_set_for_a_topic_or_by_kafka_configs_has_no_effect(tmp_path: Path, name: str) -> None:
    topic = f"kind: KafkaTopic\nmetadata: {{name: y}}\nspec: {{replicas: 3, config: {{{FEWEST}: 2, {name}: 1x}}}}\n"
    told = f"Dynamic configs for brokers in the cluster are:\n  {name}=1x sensitive=false synonyms={{}}\n"
    found = read(tmp_path, {"topic.yaml": topic, "configs.txt": told}, release="4.0")
    assert of(found, "y") == SAFE | {"release": "4.0"}
    assert [remark.partition(": ")[2] for remark in found.remarks] == [
        f"{name} is a feature, and has no effect in a file; kafka-features shows and changes it."
    ] * 2


PRODUCER = "bootstrap.servers=x:9092\n"


@pytest.mark.parametrize("text", ["enable.idempotence=true\nacks=1\n", "acks=0\ntransactional.id=t\n"])
def test_what_a_producer_refuses_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(
        UserError, match=r"a producer refuses to start with both \(ConfigException\), so nothing is writ"
    ):
        read(tmp_path, {"producer.properties": PRODUCER + text}, replicas=3)
    assert of(read(tmp_path, {"p": PRODUCER + text}, replicas=3, acks="all"))["min_insync_replicas"] == 1
    allowed = PRODUCER + text.replace("=true", "=false").replace("transactional.id=t\n", "")
    assert of(read(tmp_path, {"p": allowed}, replicas=3))["acks"] in ("0", "1")
    with pytest.raises(UserError, match="--acks: acks=1 with "):
        read(tmp_path, {"p": PRODUCER + text.replace("acks=1", "").replace("acks=0", "")}, replicas=3, acks="1")


def test_a_producer_that_is_idempotent_waits_for_all(tmp_path: Path) -> None:
    found = read(tmp_path, {"p": f"{PRODUCER}enable.idempotence=true\n"}, replicas=3, release="2.8")
    (one,) = found.combinations
    assert (one.settings["acks"], one.origins["acks"]) == ("all", f"{tmp_path / 'p'}, line 2")
    text = "spring:\n  kafka:\n    producer:\n      acks: 1\n      properties:\n        enable.idempotence: true\n"
    with pytest.raises(UserError, match="a producer refuses to start with both"):
        read(tmp_path, {"application.yaml": text}, replicas=3)


def test_a_protocol_without_a_release_is_a_hint(tmp_path: Path) -> None:
    text = f"process.roles=broker,controller\n{FACTOR}=3\ninter.broker.protocol.version=3.4-IV0\n"
    (remark,) = read(tmp_path, {"server.properties": text}).remarks
    assert remark.endswith(
        "line 3: no file says the release; inter.broker.protocol.version fits 3.4 and each later one before 4.0, and "
        "the answer is for 3.4: give --release."
    )
    assert of(read(tmp_path, {"server.properties": text}))["release"] == "3.4"
    assert read(tmp_path, {"server.properties": text}, release="3.6").remarks == ()


PASTED = """
    $ kubectl exec kafka-0 -- bin/kafka-topics.sh --describe --bootstrap-server :9092
    Defaulted container "kafka" out of: kafka, init (init)
    Topic: a\tTopicId: q\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=2
    $ bin/kafka-features.sh version-mapping
    metadata.version=21 (3.9-IV0)
"""


def test_more_of_a_session_is_skipped(tmp_path: Path) -> None:
    assert of(read(tmp_path, {"session.txt": PASTED}), "a")["min_insync_replicas"] == 2


@pytest.mark.parametrize(
    "heading",
    ["Configs for brokers:<default> are", "Configs for default broker are", "Configs for default brokers are"],
)
def test_older_headings_of_the_cluster(tmp_path: Path, heading: str) -> None:
    found = read(tmp_path, {"c.txt": f"{heading} min.insync.replicas=1\n", "s": f"{FACTOR}=3\n{FEWEST}=2\n"})
    assert of(found)["min_insync_replicas"] == 1


def test_an_older_heading_of_a_topic(tmp_path: Path) -> None:
    text = "Configs for topics:b are min.insync.replicas=1\n"
    found = read(tmp_path, {"c.txt": text, "s": f"{FACTOR}=3\n{FEWEST}=2\n"})
    assert (of(found, "b")["min_insync_replicas"], of(found)["min_insync_replicas"]) == (1, 2)


AIVEN = """
    resource "aiven_kafka" "k" {
      kafka_user_config {
        kafka_version = "3.7"
        kafka {
          default_replication_factor = 3
          min_insync_replicas        = 2
        }
      }
    }
    resource "aiven_kafka_topic" "t" {
      topic_name  = "orders"
      replication = 2
      config {
        min_insync_replicas = 1
      }
    }
"""


def test_blocks_of_another_provider_are_no_cluster_of_amazon_msk(tmp_path: Path) -> None:
    found = read(tmp_path, {"main.tf": AIVEN})
    assert (of(found), found.in_zookeeper) == ({**SAFE, "release": "3.7"}, "")
    assert of(found, "orders") == {**SAFE, "replicas": 2, "min_insync_replicas": 1, "release": "3.7"}


GITOPS = """
    topics:
      pay: {partitions: 6, replication: 3, configs: {min.insync.replicas: 2}}
"""
JULIE = """
    projects:
      - name: p
        topics:
          - name: pay
            config: {replication.factor: "3", num.partitions: "1", min.insync.replicas: "2"}
"""


@pytest.mark.parametrize("text", [GITOPS, JULIE])
def test_topics_as_tools_for_topics_have_them(tmp_path: Path, text: str) -> None:
    assert of(read(tmp_path, {"topics.yaml": text}), "pay") == SAFE


def test_a_broker_that_is_started_with_another_value_has_it(tmp_path: Path) -> None:
    text = (
        "data: {server.properties: 'default.replication.factor=3'}\n"
        "command: [sh, -c, 'exec kafka-server-start.sh a.properties --override min.insync.replicas=2']\n"
    )
    assert of(read(tmp_path, {"pod.yaml": text})) == SAFE


def test_cloudformation_of_amazon_msk_that_joins_its_properties(tmp_path: Path) -> None:
    text = """
        {"Resources": {"C": {"Type": "AWS::MSK::Cluster", "Properties": {"KafkaVersion": "3.8.x"}},
         "Conf": {"Type": "AWS::MSK::Configuration", "Properties": {"ServerProperties":
          {"Fn::Join": ["\\n", ["default.replication.factor=3", "min.insync.replicas=2"]]}}}}}
    """
    assert of(read(tmp_path, {"stack.json": text})) == {**SAFE, "unclean_leader_election": "on", "release": "3.8"}


@pytest.mark.parametrize("spelled", ["\n      KAFKA_MIN_INSYNC_REPLICAS:", "\n      - KAFKA_MIN_INSYNC_REPLICAS"])
def test_a_variable_that_compose_passes_through_is_that_of_a_file(tmp_path: Path, spelled: str) -> None:
    text = f"services:\n  k:\n    image: apache/kafka:4.0.0\n    environment:{spelled}\n"
    with pytest.raises(UserError, match=r"is the template \$\{KAFKA_MIN_INSYNC_REPLICAS\}"):
        read(tmp_path, {"compose.yaml": text}, replicas=3)
    both = read(tmp_path, {"compose.yaml": text, ".env": "KAFKA_MIN_INSYNC_REPLICAS=2\n"}, replicas=3)
    assert of(both)["min_insync_replicas"] == 2


def test_prompts_of_windows_are_skipped(tmp_path: Path) -> None:
    text = (
        ">kafka-topics.bat --describe\nPS C:\\kafka> dir\nC:\\kafka>bin\\windows\\kafka-topics.bat --describe\n"
        "Topic: a\tTopicId: x\tPartitionCount: 3\tReplicationFactor: 3\tConfigs: min.insync.replicas=2\n"
    )
    assert of(read(tmp_path, {"session.txt": text}), "a") == SAFE


SHRUNK = (
    "Topic: a\tTopicId: x\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: min.insync.replicas=2\n"
    "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1\tElr: {}\tLastKnownElr: \n"
    "\tTopic: a\tPartition: 1\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2\tElr: \tLastKnownElr: \n"
)
LEVEL = (
    "Feature: eligible.leader.replicas.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1\t"
    "FinalizedVersionLevel: 0\tEpoch: 9\n"
)


def test_what_is_refused_now_and_a_list_of_eligible_replicas_that_should_have_some(tmp_path: Path) -> None:
    refused, off, fewer = read(tmp_path, {"topics.txt": SHRUNK.format("")}).remarks
    assert (
        "Topic a refuses writes with acks=all now, as the ISR is smaller than min.insync.replicas=2 (partition 0:"
        in refused
    )
    assert "has no eligible leader replica in partition 0, though its ISR is smaller than min.insync.replicas" in off
    assert "fewer failures stop writes (partition 1: 2 of 3 replicas)" in fewer
    assert len(read(tmp_path, {"topics.txt": SHRUNK.format("3")}).remarks) == 2


def test_files_that_contradict_each_other_about_eligible_leader_replicas(tmp_path: Path) -> None:
    said = read(tmp_path, {"topics.txt": SHRUNK.format("3"), "features.txt": LEVEL}).remarks
    assert [one for one in said if "they are of two clusters, or of two times" in one]


def test_a_setting_of_one_broker_that_is_no_controller(tmp_path: Path) -> None:
    text = (
        "All configs for broker 1 are:\n"
        "  default.replication.factor=3 sensitive=false synonyms={STATIC_BROKER_CONFIG:default.replication.factor=3}\n"
        "  unclean.leader.election.enable=true sensitive=false synonyms="
        "{DYNAMIC_BROKER_CONFIG:unclean.leader.election.enable=true}\n"
        "  process.roles=broker sensitive=false synonyms={STATIC_BROKER_CONFIG:process.roles=broker}\n"
    )
    found = read(tmp_path, {"broker.txt": text}, release="3.9")
    assert of(found)["unclean_leader_election"] == "off"
    assert (
        "unclean.leader.election.enable of broker 1, which is no controller, has no effect in KRaft" in found.remarks[0]
    )


def test_properties_are_in_the_encoding_of_java(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_bytes(f"# Gr\u00f6\u00dfe\n{FACTOR}=3\n{FEWEST}=2\n".encode("latin-1"))
    assert of(read_configs([file], {})) == SAFE


CHART = """
    cp-kafka:
      imageTag: 7.3.2
      configurationOverrides: {"default.replication.factor": 3, "min.insync.replicas": 2}
"""
ANCHORED = """
    x-env: &env {KAFKA_DEFAULT_REPLICATION_FACTOR: 3, KAFKA_MIN_INSYNC_REPLICAS: 2}
    services:
      a: {image: "apache/kafka:latest", environment: {<<: *env, KAFKA_NODE_ID: 1}}
      b: {image: "apache/kafka:3.7.0", environment: {<<: *env, KAFKA_NODE_ID: 2}}
      c: {image: "apache/kafka:3.7.0", environment: {<<: *env, KAFKA_NODE_ID: 3}}
"""


def test_the_chart_of_confluent_names_its_release_by_a_tag_alone(tmp_path: Path) -> None:
    found = read(tmp_path, {"values.yaml": CHART})
    assert (of(found), bool(found.in_zookeeper)) == ({**SAFE, "release": "3.3"}, True)


def test_an_image_without_a_version_is_named_and_what_is_there_for_anchors_is_no_broker(tmp_path: Path) -> None:
    found = read(tmp_path, {"compose.yaml": ANCHORED})
    assert of(found) == {**SAFE, "release": "3.7"}
    (remark,) = found.remarks
    said = "the image apache/kafka:latest says no release, and the answer is for Kafka"
    assert remark == f"{tmp_path / 'compose.yaml'}, line 4: {said} 3.7: give --release, such as --release 3.9."
    alone = read(tmp_path, {"compose.yaml": ANCHORED.replace("kafka:3.7", "kafka:latest")})
    assert f"{said} 4.1: give --release" in " ".join(alone.remarks)
    assert read_configs([tmp_path / "compose.yaml"], {"release": "3.9"}).remarks == ()
    both = read(tmp_path, {"compose.yaml": ANCHORED, "s.properties": f"node.id=4\n{FACTOR}=3\n"})
    assert "2 for 3 brokers), 1 (" in " ".join(both.remarks).replace(f"({tmp_path / 'compose.yaml'}, line 2", "2")


EPHEMERAL = """
    kind: KafkaNodePool
    metadata: {name: dual}
    spec: {replicas: 3, roles: [broker], storage: {type: ephemeral}}
    ---
    kind: Kafka
    metadata: {name: c}
    spec: {kafka: {version: 4.1.0, config: {default.replication.factor: 3, min.insync.replicas: 2}}}
"""


def test_storage_that_goes_with_its_pod_is_not_covered(tmp_path: Path) -> None:
    (remark,) = read(tmp_path, {"kafka.yaml": EPHEMERAL}).remarks
    assert "line 4: the storage is ephemeral, so a broker whose pod is replaced" in remark


def test_a_misspelt_replication_factor_is_named_where_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"line 1: Kafka ignores default.replication.factors. Did you mean default.replication.factor"
    ):
        read(tmp_path, {"server.properties": f"{FACTOR}s=3\n{FEWEST}=2\n"})


def test_a_file_may_be_the_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(dedent(STATUS).encode())))
    assert of(read_configs([Path("-")], {})) == {**SAFE, "release": "4.1"}


def test_what_is_no_json_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="line 2, column 1: is not JSON: a quote or a bracket above is not closed"):
        read(tmp_path, {"a.json": '{"a": [\n'})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "a:\n  b:\n    c: 1\n   d: 2\n",
            "line 4, column 4: is not YAML: its indentation does not fit the lines above.",
        ),
        ("a: 'b' c\n", "line 1, column 8: is not YAML: more text follows a value that has ended"),
        ("a: b: c\n", "line 1, column 5: is not YAML: a second `key: value` on one line, or its indentation"),
        ("a: 'b\n", "is not YAML: a quote or a bracket above is not closed."),
        ("a: [1\nb: 2\n", "is not YAML: a comma or a closing bracket is missing before it."),
        ("a: *b\n", "line 1, column 4: is not YAML: no anchor &b stands above the alias *b."),
        ("a: @b\n", "line 1, column 4: is not YAML: a text that begins with @ must be in quotes."),
        ("a: 1\nb\nc: 1\n", "is not YAML: a key without a colon."),
    ],
)
def test_what_is_wrong_in_yaml_is_said_in_plain_words(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, {"a.yaml": text})
    assert said in str(caught.value)


def test_a_misspelt_variable_behind_an_anchor_is_named_once_and_first(tmp_path: Path) -> None:
    brokers = "".join(f"  b{n}:\n    environment: {{<<: *e, KAFKA_NODE_ID: {n}}}\n" for n in (1, 2, 3))
    text = f"x-e: &e\n  KAFKA_DEFAULT_REPLICATION_FACTR: 3\nservices:\n{brokers}"
    with pytest.raises(UserError) as caught:
        read(tmp_path, {"compose.yaml": text})
    cause = "Kafka ignores KAFKA_DEFAULT_REPLICATION_FACTR. Did you mean KAFKA_DEFAULT_REPLICATION_FACTOR? No file says"
    assert str(caught.value).startswith(f"{tmp_path / 'compose.yaml'}, line 2: {cause}")
    assert str(caught.value).count("FACTR") == 1


def test_a_misspelt_key_of_a_producer_is_named(tmp_path: Path) -> None:
    said = f"{tmp_path / 'p.properties'}, line 1: 'ack' is no key of a producer. Did you mean acks?"
    (remark,) = read(tmp_path, {"p.properties": "ack=1\nenable.idempotence=false\n"}, replicas=3).remarks
    assert remark == said
    with pytest.raises(UserError) as caught:
        read(tmp_path, {"p.properties": "ack=1\n"}, replicas=3)
    assert str(caught.value) == said
    named = "line 1: 'enable.idempotance' is no key of a producer. Did you mean enable.idempotence?"
    assert named in read(tmp_path, {"p.properties": "enable.idempotance=true\nlinger.ms=5\n"}, replicas=3).remarks[0]
    assert read(tmp_path, {"p.properties": "linger.ms=5\nacks=1\n"}, replicas=3).remarks == ()


ARGO = """
    kind: Application
    spec:
      source:
        helm:
          values: |
            image: {repository: bitnami/kafka, tag: 3.6.0}
            extraConfig: |
              default.replication.factor=3
              min.insync.replicas=1
            provisioning:
              replicationFactor: 3
              topics:
                - {name: a, config: {min.insync.replicas: 2}}
"""


def test_values_of_a_chart_as_the_text_of_a_resource(tmp_path: Path) -> None:
    found = read(tmp_path, {"app.yaml": ARGO})
    assert of(found) == {**SAFE, "min_insync_replicas": 1, "release": "3.6"}
    assert of(found, "a") == {**SAFE, "release": "3.6"}
    (one,) = [one for one in found.combinations if "a" in one.topics]
    assert one.origins["min_insync_replicas"] == f"{tmp_path / 'app.yaml'}, line 14"


def test_a_line_that_terraform_fills_in_is_named(tmp_path: Path) -> None:
    text = 'resource "aws_msk_configuration" "c" {\n  server_properties = <<EOF\n${local.base}\na.b=1\nEOF\n}\n'
    with pytest.raises(UserError, match=r"line 3: '\$\{local.base\}' is an instruction of a template"):
        read(tmp_path, {"main.tf": text})


@pytest.mark.parametrize(("value", "said"), [("1000", 1), ("9223372036854775807", 0), ("null", 0)])
def test_flushes_by_time_are_not_covered(tmp_path: Path, value: str, said: int) -> None:
    found = read(tmp_path, {"s": f"{FACTOR}=3\n{FEWEST}=2\nlog.flush.interval.ms={value}\n"})
    assert len([one for one in found.remarks if "line 3: log.flush.interval.ms is not covered" in one]) == said


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "a.yaml",
            "a: &a\n  min.insync.replicas: 2\n  b: *a\n",
            "line 1: has an alias of itself within; mend it there",
        ),
        ("a.yaml", "a: &a\n  - [b, *a]\n", "line 1: has an alias of itself within"),
        ("a.yaml", "[" * 5000 + "]" * 5000, "has too many levels within each other; give"),
        ("a.tf", "a = " + "{ a = " * 5000 + "}" * 5000, "has too many levels within each other; give"),
        ("a.tf", "locals {\n  { a = 1 }\n  b = 2\n}\n", "has no settings|No file says"),
        ("a.tf", "locals {\n  b = {\n    server_properties = local.b\n  }\n}\n", "server_properties is computed"),
    ],
)
def test_what_goes_in_circles_and_what_has_no_key_ends_with_a_sentence(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    with pytest.raises(UserError, match=said):
        read(tmp_path, {name: text})


def test_a_local_may_be_used_twice(tmp_path: Path) -> None:
    topics = "".join(
        f'resource "kafka_topic" "{name}" {{\n  replication_factor = 3\n  config = local.base\n}}\n' for name in "ab"
    )
    found = read(tmp_path, {"main.tf": f'locals {{\n  base = {{ "{FEWEST}" = 2 }}\n}}\n{topics}'})
    (one,) = found.combinations
    assert (one.topics, one.settings["min_insync_replicas"], found.remarks) == (("a", "b"), 2, ())


# What an operator's trial found.

INVENTORY = """
    ; brokers
    [kafka]
    k1.example.com broker_id=1
    k2.example.com broker_id=2  kafka_min_insync_replicas=1 # old disk

    [kafka:vars]
    kafka_version = 3.8.0
    kafka_default_replication_factor = "3"
    kafka_min_insync_replicas=2
    ansible_ssh_common_args='-o ProxyCommand="ssh jump'
"""


def test_an_inventory_of_ansible_with_sections(tmp_path: Path) -> None:
    found = read(tmp_path, {"hosts": INVENTORY})
    assert of(found) == {**SAFE, "min_insync_replicas": 1, "release": "3.8"}
    (remark,) = found.remarks
    file = tmp_path / "hosts"
    assert remark.startswith(f"min.insync.replicas differs: 1 ({file}, line 5), 2 ({file}, line 10); the answer")
    same = read(tmp_path, {"hosts.ini": INVENTORY.replace("kafka_min_insync_replicas=1", "rack=a")})
    assert (of(same), same.remarks) == ({**SAFE, "release": "3.8"}, ())


CLIENT = "[default]\nbootstrap.servers=a:9092\n{}\n\n[consumer]\ngroup.id=x\n"


@pytest.mark.parametrize(
    ("name", "text", "acks"),
    [
        ("client.ini", CLIENT.format("acks=1"), "1"),
        ("kcat.conf", "metadata.broker.list=a:9092\nrequest.required.acks=1\n", "1"),
        ("rdkafka.json", '{"bootstrap.servers": "a:9092", "request.required.acks": -1}', "all"),
        ("microprofile.properties", "mp.messaging.outgoing.orders.acks=1\n", "1"),
        ("micronaut.yml", "kafka:\n  producers:\n    default:\n      acks: 0\n", "0"),
        ("micronaut.properties", "kafka.producers.default.acks=0\n", "0"),
        ("quarkus.properties", "%prod.mp.messaging.outgoing.o.acks=1\n%dev.a.b=1\n", "1"),
        ("two.properties", "mp.messaging.outgoing.o.acks=1\nmp.messaging.outgoing.p.acks=all\n", "1"),
        ("settings.json", '{\n  // of .NET\n  "Producer": {"Acks": "Leader", "EnableIdempotence": false}\n}\n', "1"),
        ("settings.yml", "kafka:\n  kafka_acks: None\n", "0"),
    ],
)
def test_acks_as_clients_spell_it(tmp_path: Path, name: str, text: str, acks: str) -> None:
    assert of(read(tmp_path, {name: text}, replicas=3))["acks"] == acks


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.yml",
            "spring:\n  kafka:\n    producer:\n      acks: 1\n      properties: {'[enable.idempotence]': true}\n",
        ),
        ("a.properties", "spring.kafka.producer.acks=1\nspring.kafka.producer.properties.enable.idempotence=true\n"),
        ("a.json", '{"Acks": "Leader", "EnableIdempotence": true}'),
        ("a.conf", "metadata.broker.list=a:9092\nrequest.required.acks=1\nenable.idempotence=true\n"),
    ],
)
def test_what_a_producer_refuses_is_refused_in_other_spellings(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(UserError, match="a producer refuses to start with both"):
        read(tmp_path, {name: text}, replicas=3)


ALL = "All configs for broker 1 are:\n  min.insync.replicas=2 sensitive=false synonyms={}\n"


def test_a_setting_without_a_heading_is_not_that_of_the_broker_above(tmp_path: Path) -> None:
    grepped = "  min.insync.replicas=1 sensitive=false synonyms={}\n"
    for command in (
        "[me@b ~]$ kafka-configs --entity-name 2 --all | grep insync\n",
        "$ bin/kafka-configs.sh \\\n -x\n",
    ):
        with pytest.raises(UserError, match=r"min.insync.replicas=1 has no heading above it that says whose it is"):
            read(tmp_path, {"configs.txt": ALL + command + grepped}, replicas=3)
    again = read(tmp_path, {"configs.txt": f"$ kafka-configs.sh \\\n  --describe \\\n  --all\n{ALL}"}, replicas=3)
    assert of(again)["min_insync_replicas"] == 2


def test_storage_of_several_volumes_of_which_one_goes_with_its_pod(tmp_path: Path) -> None:
    volumes = "{type: jbod, volumes: [{id: 0, type: persistent-claim}, {id: 1, type: ephemeral}]}"
    (remark,) = read(tmp_path, {"kafka.yaml": EPHEMERAL.replace("{type: ephemeral}", volumes)}).remarks
    assert "the storage is ephemeral" in remark


PLATFORM = """
    kind: KRaftController
    metadata: {name: c}
    spec: {configOverrides: {server: [unclean.leader.election.enable=true, min.insync.replicas=1]}}
    ---
    kind: Kafka
    metadata: {name: k}
    spec:
      image: {application: "confluentinc/cp-server:7.9.1"}
      configOverrides: {server: [default.replication.factor=3, min.insync.replicas=2]}
    ---
    kind: KafkaTopic
    metadata: {name: views}
    spec: {replicas: 3, partitionCount: 4, configs: {min.insync.replicas: "1"}}
"""


def test_resources_of_confluent_for_kubernetes(tmp_path: Path) -> None:
    found = read(tmp_path, {"cfk.yaml": PLATFORM})
    assert of(found) == {**SAFE, "unclean_leader_election": "on", "release": "3.9"}
    assert of(found, "views")["min_insync_replicas"] == 1
    assert found.in_kraft


@pytest.mark.parametrize("value", ["each.value.rf", 'lookup(each.value, "rf", 3)', "count.index"])
def test_what_terraform_computes_is_a_template(tmp_path: Path, value: str) -> None:
    text = f'resource "kafka_topic" "t" {{\n  for_each = var.topics\n  replication_factor = {value}\n}}\n'
    with pytest.raises(UserError, match=r"line 3: ReplicationFactor is the template .* give --replicas"):
        read(tmp_path, {"main.tf": text})


def dynamic(*brokers: int, heading: str = "Dynamic configs for broker {} are:", **fewest: int) -> str:
    """What kafka-configs prints of some brokers, of which those that `b1=2` and the like name have a value."""
    shown = (
        f"{heading.format(one)}\n"
        + (f"  {FEWEST}={fewest[f'b{one}']} sensitive=false\n" if f"b{one}" in fewest else "")
        for one in brokers
    )
    return "".join(shown)


LEAST = "Default configs for brokers in the cluster are:\n  min.insync.replicas=1 sensitive=false\n"


@pytest.mark.parametrize(
    ("files", "fewest"),
    [
        ({"c.txt": LEAST + dynamic(2, 3, b3=2)}, 1),
        ({"c.txt": LEAST + dynamic(2, 3, b2=2, b3=2)}, 2),
        ({"c.txt": LEAST + dynamic(3, b3=2)}, 2),
        ({"c.txt": dynamic(2, 3, b3=2)}, 1),
        ({"c.txt": dynamic(1, 2, 3, b3=3), "server.properties": f"{FEWEST}=2\n"}, 2),
        ({"c.txt": dynamic(1, 2), "one": f"node.id=1\n{FEWEST}=2\n", "two": f"node.id=2\n{FEWEST}=2\n"}, 2),
        ({"c.txt": dynamic(2, b2=3), "one": f"node.id=1\n{FEWEST}=2\n", "two": f"node.id=2\n{FEWEST}=1\n"}, 2),
        ({"c.txt": dynamic(1, b1=3), "one": f"node.id=1\n{FEWEST}=2\n", "two": "node.id=2\n"}, 1),
    ],
    ids=["one alone", "each", "seen alone", "default", "file of all", "files", "over its own file", "without a key"],
)
def test_what_is_set_on_a_broker_is_not_that_of_another_one(tmp_path: Path, files: dict[str, str], fewest: int) -> None:
    found = read(tmp_path, files, replicas=3, elr="off", release="3.9")
    assert of(found)["min_insync_replicas"] == fewest


def test_the_source_of_a_value_is_ranked_for_each_broker(tmp_path: Path) -> None:
    """A value in the file of one broker is not stronger than Kafka's default on another one."""
    shown = "All configs for broker {} are:\n  min.insync.replicas={} sensitive=false synonyms={{{}:x=1}}\n"
    text = shown.format(1, 2, "STATIC_BROKER_CONFIG") + shown.format(2, 1, "DEFAULT_CONFIG")
    assert of(read(tmp_path, {"c.txt": text}, replicas=3))["min_insync_replicas"] == 1
