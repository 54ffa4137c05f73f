"""Values that one file leaves to a variable: what another file sets, its default with a warning, or a template."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.runtime.errors import UserError
from insync_config_files import FACTOR, FEWEST, SAFE, of, read

# Ansible.


@pytest.mark.parametrize(
    "template",
    [
        "{{ min_isr | default(2) }}",
        "{{ min_isr|default('2') }}",
        '{{- min_isr | d("2", true) | int -}}',
        "{{ min_isr | default( 2 ) | string | trim }}",
    ],
)
def test_the_default_of_a_template_of_ansible_counts_with_a_warning(tmp_path: Path, template: str) -> None:
    found = read(tmp_path, {"server.properties.j2": f"node.id={{{{ id }}}}\n{FACTOR}=3\n{FEWEST}={template}\n"})
    assert of(found) == SAFE
    (remark,) = found.remarks
    assert remark == (f"{tmp_path / 'server.properties.j2'}, line 3: no file sets min_isr, so its default counts: 2.")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("group_vars/kafka.yml", "---\nmin_isr: 2  # of the brokers\n"),
        ("hosts.yml", "all:\n  vars: {min_isr: '2', id: 1}\n"),
        ("kafka.env", "min_isr=2\n"),
    ],
)
@pytest.mark.parametrize("template", ["{{ min_isr | default(1) }}", "{{ min_isr }}"])
def test_a_variable_of_ansible_has_the_value_that_another_file_sets(
    tmp_path: Path, name: str, text: str, template: str
) -> None:
    found = read(tmp_path, {"server.properties.j2": f"{FACTOR}=3\n{FEWEST}={template}\n", name: text})
    assert (of(found), found.remarks) == (SAFE, ())
    (one,) = found.combinations
    assert one.origins["min_insync_replicas"] == f"{tmp_path / 'server.properties.j2'}, line 2"


def test_a_variable_in_a_file_of_its_own(tmp_path: Path) -> None:
    text = f"rf: 3\ncfg:\n  {FACTOR}: '{{{{ rf }}}}'\n  {FEWEST}: {{{{ min_isr | default(2) }}}}\n"
    assert of(read(tmp_path, {"main.yml": text})) == SAFE


@pytest.mark.parametrize(
    ("template", "more"),
    [
        ("{{ min_isr | default(1) }}", {"a.yml": "min_isr: 2\n", "b.yml": "min_isr: 3\n"}),
        ("{{ min_isr | default(1) }}", {"a.yml": "min_isr: '{{ rf - 1 }}'\n"}),
        ("{{ min_isr | default(rf) }}", {}),
        ("{{ min_isr | default(2) + 1 }}", {}),
        ("{{ rf - 1 }}", {"a.yml": "rf: 3\n"}),
        ("{{ .Values.min | default 2 }}", {}),
        ("{{ min_isr }}", {}),
    ],
    ids=["two values", "computed elsewhere", "of another", "a sum", "a difference", "Helm", "unset"],
)
def test_what_is_computed_or_set_twice_stays_a_template(tmp_path: Path, template: str, more: dict[str, str]) -> None:
    with pytest.raises(UserError, match=rf"line 2: {FEWEST} is the template .* give --min-insync-replicas"):
        read(tmp_path, {"server.properties.j2": f"{FACTOR}=3\n{FEWEST}={template}\n", **more})


def test_a_comment_sets_no_variable(tmp_path: Path) -> None:
    files = {"s.j2": f"{FACTOR}=3\n{FEWEST}={{{{ min_isr | default(2) }}}}\n", "a.yml": f"# min_isr: 1\n{FACTOR}: 3\n"}
    assert of(read(tmp_path, files)) == SAFE


# Terraform.

VARIABLES = """
    variable "kafka_version" {
      type    = string
      default = "3.9.x.kraft"
    }
    variable "min_isr" {
      description = "how many brokers have a record"
      type        = number
      default     = 2
      validation {
        condition     = var.min_isr > 0
        error_message = "at least 1"
      }
    }
    variable "rf" {}
"""
BUS = """
    locals {
      properties = <<-EOT
        default.replication.factor=${var.rf}
        min.insync.replicas = ${ var.min_isr }
        unclean.leader.election.enable=false
      EOT
    }
    resource "aws_msk_configuration" "bus" {
      kafka_versions    = [var.kafka_version]
      server_properties = local.properties
    }
    resource "aws_msk_cluster" "bus" {
      kafka_version          = var.kafka_version
      number_of_broker_nodes = 3
    }
    resource "kafka_topic" "a" {
      name               = "a"
      replication_factor = var.rf
      config             = { "min.insync.replicas" = var.min_isr }
    }
"""


def test_variables_of_terraform_are_those_of_its_files_and_else_their_defaults(tmp_path: Path) -> None:
    files = {"variables.tf": VARIABLES, "main.tf": BUS}
    with pytest.raises(UserError, match=r"default.replication.factor is the template \$\{var.rf\}.* give --replicas"):
        read(tmp_path, files)
    found = read(tmp_path, {**files, "prod.tfvars": "rf = 3\n"})
    assert of(found) == of(found, "a") == {**SAFE, "release": "3.9"}
    assert (found.in_kraft, bool(found.in_zookeeper)) == (True, False)
    assert [one.partition(": ")[2] for one in found.remarks] == ["no file sets min_isr, so its default counts: 2."] * 2
    both = read(tmp_path, {**files, "prod.tfvars": 'rf = 3\nmin_isr = 1 # for now\nkafka_version = "3.6.0"\n'})
    assert of(both) == {**SAFE, "min_insync_replicas": 1, "release": "3.6"}
    assert bool(both.in_zookeeper)
    assert not [one for one in both.remarks if "default counts" in one]


@pytest.mark.parametrize(
    ("blocks", "replicas"),
    [
        ('variable "rf" { default = 3 }\nvariable "other" {\n  default = 1\n}\n', 3),
        ('variable "rf" { type = number }\nvariable "other" {\n  default = 1\n}\n', None),
        ('variable "rf" {\n  default = null\n}\n', None),
        ('variable "rf" {\n  type = object({\n    a = string\n  })\n  default = "3" # three\n}\n', 3),
    ],
    ids=["one line", "none", "null", "after an object"],
)
def test_the_default_in_a_block_of_terraform(tmp_path: Path, blocks: str, replicas: int | None) -> None:
    text = f'{blocks}resource "kafka_topic" "a" {{\n  name = "a"\n  replication_factor = var.rf\n}}\n'
    if replicas is None:
        with pytest.raises(UserError, match=r"ReplicationFactor is the template var\.rf"):
            read(tmp_path, {"main.tf": text})
    else:
        assert of(read(tmp_path, {"main.tf": text}), "a")["replicas"] == replicas


def test_a_release_that_no_file_says_is_named(tmp_path: Path) -> None:
    found = read(tmp_path, {"main.tf": BUS.replace("${var.rf}", "3").replace("var.rf", "3")}, min_insync_replicas=2)
    (remark,) = [one for one in found.remarks if "release" in one]
    assert remark == (
        f"{tmp_path / 'main.tf'}, line 14: kafka_version is var.kafka_version, which no file says; give --release."
    )


# Spring, and what a shell fills in.


@pytest.mark.parametrize(("template", "acks"), [("${KAFKA_ACKS:1}", "1"), ("${kafka.acks:all}", "all")])
def test_the_default_of_a_placeholder_of_spring(tmp_path: Path, template: str, acks: str) -> None:
    text = f"spring:\n  kafka:\n    producer:\n      acks: {template}\n"
    found = read(tmp_path, {"application.yml": text}, replicas=3)
    assert of(found)["acks"] == acks
    assert found.remarks[0].endswith(f", so its default counts: {acks}.")


def test_a_default_that_shells_and_spring_read_differently_stays_a_template(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"acks is the template \$\{KAFKA_ACKS:-1\}"):
        read(tmp_path, {"a.yml": "spring:\n  kafka:\n    producer:\n      acks: ${KAFKA_ACKS:-1}\n"}, replicas=3)


def test_the_default_of_a_variable_of_a_shell(tmp_path: Path) -> None:
    text = f"node.id=1\n{FACTOR}=${{RF:-3}}\n{FEWEST}=${{MIN:-1}}\n"
    found = read(tmp_path, {"server.properties": text, ".env": "MIN=2\n"})
    assert of(found) == SAFE
    assert [one.partition(": ")[2] for one in found.remarks] == ["no file sets RF, so its default counts: 3."]


# Files of variables of a service.

SHARED = """
    x-kafka: &kafka
      image: apache/kafka:3.9.0
      env_file: [./env/common.env]
    services:
      one:
        <<: *kafka
        environment: [KAFKA_NODE_ID=1, KAFKA_MIN_INSYNC_REPLICAS=2]
      two:
        <<: *kafka
        environment:
          KAFKA_NODE_ID: 2
"""
COMMON = """
    KAFKA_PROCESS_ROLES=broker,controller
    KAFKA_DEFAULT_REPLICATION_FACTOR=3
    KAFKA_MIN_INSYNC_REPLICAS={}
"""


def test_the_variables_of_a_service_overrule_those_of_its_file(tmp_path: Path) -> None:
    both = SHARED + "          KAFKA_MIN_INSYNC_REPLICAS: 2\n"
    found = read(tmp_path, {"compose.yaml": both, "env/common.env": COMMON.format(1)})
    assert (of(found), found.in_kraft) == ({**SAFE, "release": "3.9"}, True)
    assert not [one for one in found.remarks if "differs" in one]
    (one,) = found.combinations
    assert one.origins["replicas"] == f"{tmp_path / 'env/common.env'}, line 3"


def test_a_service_without_a_variable_has_that_of_its_file(tmp_path: Path) -> None:
    found = read(tmp_path, {"env/common.env": COMMON.format(2), "compose.yaml": SHARED})
    assert of(found) == {**SAFE, "release": "3.9"}, "not Kafka's default"
    found = read(tmp_path, {"compose.yaml": SHARED, "env/common.env": COMMON.format(1)})
    assert of(found)["min_insync_replicas"] == 1
    assert any("min.insync.replicas differs: 2 (" in one for one in found.remarks)


def test_services_with_files_of_their_own_that_have_the_same_name(tmp_path: Path) -> None:
    text = """
        services:
          one: {image: "apache/kafka:3.9.0", env_file: a/kafka.env}
          two: {image: "apache/kafka:3.9.0", env_file: b/kafka.env}
    """
    own = {f"{name}/kafka.env": COMMON.format(fewest) + f"KAFKA_NODE_ID={fewest}\n" for name, fewest in ("a2", "b1")}
    found = read(tmp_path, {"compose.yaml": text, **own})
    assert of(found)["min_insync_replicas"] == 1
    assert not [one for one in found.remarks if "the answer lacks" in one]


def test_a_file_of_variables_that_is_missing_is_named_where_the_number_of_replicas_is_missing_too(
    tmp_path: Path,
) -> None:
    with pytest.raises(
        UserError, match=r"give --replicas .*line 4: the answer lacks what ./env/common.env says; give it"
    ):
        read(tmp_path, {"compose.yaml": SHARED})


@pytest.mark.parametrize("named", ["extends: {file: common.yml, service: kafka}", "extends:\n      file: ./common.yml"])
def test_a_compose_file_that_another_one_extends_is_missed_until_it_is_given(tmp_path: Path, named: str) -> None:
    text = f"services:\n  one:\n    {named}\n    environment: {{KAFKA_NODE_ID: 1}}\n"
    with pytest.raises(
        UserError, match=r"the answer lacks what (?:\./)?common.yml says; give it with --config as well"
    ):
        read(tmp_path, {"compose.yml": text})
    common = (
        "services:\n  kafka:\n    image: apache/kafka:4.0.0\n    environment: {KAFKA_DEFAULT_REPLICATION_FACTOR: 3}\n"
    )
    found = read(tmp_path, {"compose.yml": text, "common.yml": common}, min_insync_replicas=2)
    assert (of(found), found.remarks) == ({**SAFE, "release": "4.0"}, ())
    included = "include: [other.yaml]\nservices: {}\n"
    with pytest.raises(UserError, match=r"lacks what other\.yaml says"):
        read(tmp_path, {"compose.yml": included})
