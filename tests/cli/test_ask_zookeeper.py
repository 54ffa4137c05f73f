"""What `insync ask --config` says of a cluster whose controller is ZooKeeper's."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.cli.commands.ask import ask_command as command
from insync.kafka_questions import ask
from insync.kafka_questions.configs.reading import read_configs
from insync.runtime.errors import UserError

CALM = ("--quiet", "--against", "broker")
ZOOKEEPER = "zookeeper.connect=zk:2181\ndefault.replication.factor=1\n"
STRIMZI = """kind: Kafka
metadata:
  name: a
spec:
  kafka:
    version: 3.6.0
    config:
      default.replication.factor: 3
  zookeeper:
    replicas: 3
"""
UNCLEAN = "default.replication.factor=2\nmin.insync.replicas=1\nunclean.leader.election.enable=true\n"


def written(folder: Path, text: str) -> Path:
    file = folder / "server.properties"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "zookeeper"),
    [
        (ZOOKEEPER, True),
        (ZOOKEEPER + "process.roles=\n", True),
        (ZOOKEEPER.replace("zk:2181", ""), False),
        ("All configs for broker 1 are:\n  zookeeper.connect=null sensitive=false synonyms={}\n", False),
        ("min.insync.replicas=1\n", False),
        ("KAFKA_ZOOKEEPER_CONNECT=zk:2181\n", True),
        ("inter.broker.protocol.version=3.6\n", True),
        ("inter.broker.protocol.version=3.6\ncontroller.quorum.voters=1@a:9093\n", False),
        (STRIMZI, True),
        (STRIMZI.split("  zookeeper:")[0], False),
        (STRIMZI.replace("spec:", "  annotations:\n    strimzi.io/kraft: enabled\nspec:", 1), False),
        ('resource "aws_msk_cluster" "a" {\n  kafka_version = "3.6.0"\n}\n', True),
        ('resource "aws_msk_cluster" "a" {\n  kafka_version = "3.7.x.kraft"\n}\n', False),
        ('resource "aws_msk_configuration" "a" {\n  kafka_versions = ["3.6.0", "3.7.x.kraft"]\n}\n', True),
    ],
)
def test_a_cluster_whose_controller_is_zookeepers(tmp_path: Path, text: str, zookeeper: bool) -> None:
    assert bool(read_configs([written(tmp_path, text)], {"replicas": 3}).in_zookeeper) == zookeeper


def test_versions_of_amazon_msk_without_kraft_are_named(tmp_path: Path) -> None:
    text = 'resource "aws_msk_configuration" "a" {\n  kafka_versions = ["3.6.0", "3.7.x.kraft"]\n}\n'
    said = read_configs([written(tmp_path, text)], {"replicas": 3}).in_zookeeper
    assert said == "kafka_versions has 3.6.0 without .kraft, so the controller may be ZooKeeper's"


def test_a_migration_from_zookeeper_is_of_a_release_that_has_one(tmp_path: Path) -> None:
    files = [written(tmp_path, ZOOKEEPER + "process.roles=broker\n")]
    with pytest.raises(
        UserError, match=r"as in a migration from ZooKeeper, and no file says the release; give --release"
    ):
        read_configs(files, {"replicas": 3})
    with pytest.raises(
        UserError, match=r"as in a migration from ZooKeeper, and Kafka 4.1 has none; give --release up to"
    ):
        read_configs(files, {"replicas": 3, "release": "4.1"})
    found = read_configs(files, {"replicas": 3, "release": "3.9"})
    assert (found.in_zookeeper, found.in_kraft) == ("", True)


@pytest.mark.parametrize("release", ["3.2", "3.9"])
def test_of_a_cluster_with_zookeeper_it_is_said_that_the_answer_is_for_kraft(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, release: str
) -> None:
    given = [*CALM, "--config", str(written(tmp_path, ZOOKEEPER)), "--release", release]
    command.main(given, "insync ask", standalone_mode=False, help_option_names=["-h", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert ("warning: zookeeper.connect is set" in text) == (release != "3.2")
    assert (f"KRaft's controller, which the model has for Kafka {release}" in text) == (release != "3.2")
    assert ("The model has ZooKeeper's controller up to 3.2." in text) == (release != "3.2")


@pytest.mark.parametrize("release", ["4.0", "4.1.0"])
def test_a_release_without_zookeeper_is_no_answer_for_a_cluster_with_it(tmp_path: Path, release: str) -> None:
    given = [*CALM, "--config", str(written(tmp_path, ZOOKEEPER)), "--release", release]
    with pytest.raises(
        UserError, match=r"the controller is ZooKeeper's, and Kafka 4\.\d has none; give --release up to"
    ):
        command.main(given, "insync ask", standalone_mode=False)


def test_what_may_be_of_zookeeper_is_of_kraft_where_there_is_no_other(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "default.replication.factor=2\ninter.broker.protocol.version=3.6\n"
    given = [*CALM, "--config", str(written(tmp_path, text)), "--release", "4.1"]
    assert command.main(given, "insync ask", standalone_mode=False) == 0
    assert "ZooKeeper" not in capsys.readouterr().out


@pytest.mark.parametrize(("release", "unclean"), [("0.10.2", "on"), ("0.11", "off")])
def test_unclean_elections_are_assumed_where_they_were_the_default(
    capsys: pytest.CaptureFixture[str], release: str, unclean: str
) -> None:
    command.main([*CALM, "--replicas", "2", "--release", release], "insync ask", standalone_mode=False)
    out = capsys.readouterr().out
    assert f"unclean election {unclean}" in out.splitlines()[0]
    assert "before 3.0, KIP-679), unclean election" in " ".join(out.split())


@pytest.mark.parametrize("said", ["zookeeper.connect=zk:2181\n", "inter.broker.protocol.version=3.6\n"])
def test_unclean_elections_are_zookeepers_where_krafts_controller_would_ignore_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, said: str
) -> None:
    given = ["--quiet", "--against", "broker+slow", "--release", "3.6", "--elr", "off"]
    code = command.main(
        [*given, "--config", str(written(tmp_path, said + UNCLEAN))],
        "insync ask",
        standalone_mode=False,
        help_option_names=["-h", "--help"],
    )
    text = " ".join(capsys.readouterr().out.split())
    assert code == 1
    assert "AT RISK" in text
    assert "C-6" in text
    assert "For unclean elections the answer is that of ZooKeeper's controller" in text
    assert "which the model has for Kafka 3.6, but for unclean elections." in text
    assert "so no unclean election takes place" not in text


UNSAID = [
    "--quiet",
    "--against",
    "broker+slow",
    "--replicas",
    "2",
    "--min-insync-replicas",
    "1",
    "--unclean-leader-election",
    "on",
]


@pytest.mark.parametrize("release", ["3.3", "3.6", "3.8"])
def test_where_nothing_says_whose_the_controller_is_the_answer_is_that_which_promises_less(
    capsys: pytest.CaptureFixture[str], release: str
) -> None:
    code = command.main([*UNSAID, "--release", release], "insync ask", standalone_mode=False)
    text = " ".join(capsys.readouterr().out.split())
    assert (code, "AT RISK" in text, "C-6" in text) == (1, True, True)
    assert (
        "No file says whether the controller is KRaft's. For unclean elections the answer is that of ZooKeeper's"
        in text
    )
    assert (
        f"KRaft's of Kafka {release} ignores it (KAFKA-12670, 3.9); for that give --unclean-leader-election off."
        in text
    )
    assert "min.insync.replicas, acks, KRaft" not in text
    (cause, *_) = ask(
        {"replicas": 2, "min_insync_replicas": 1, "unclean_leader_election": "on", "release": release},
        against=["broker+slow"],
    ).causes
    assert cause.name == "C-6", "from Python too"


@pytest.mark.parametrize("said", ["process.roles=broker\n", "controller.quorum.voters=1@a:9093\n"])
def test_where_a_file_says_kraft_the_setting_is_ignored_as_kraft_did(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, said: str
) -> None:
    given = [
        "--quiet",
        "--against",
        "broker+slow",
        "--release",
        "3.6",
        "--config",
        str(written(tmp_path, said + UNCLEAN)),
    ]
    command.main(given, "insync ask", standalone_mode=False)
    text = " ".join(capsys.readouterr().out.split())
    assert "C-6" not in text
    assert "Kafka 3.6 ignores unclean.leader.election.enable in KRaft" in text


@pytest.mark.parametrize(("release", "assumed"), [("3.2", False), ("3.3", True), ("3.9.2", True), ("4.0", False)])
def test_that_krafts_controller_is_assumed_is_said_where_there_are_both(
    capsys: pytest.CaptureFixture[str], release: str, assumed: bool
) -> None:
    command.main([*CALM, "--replicas", "2", "--release", release], "insync ask", standalone_mode=False)
    head = capsys.readouterr().out.splitlines()[1]
    assert ("KRaft" in head) == assumed


def test_a_cluster_with_zookeeper_needs_a_release(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no file says the release; give --release"):
        command.main(
            [*CALM, "--config", str(written(tmp_path, ZOOKEEPER))],
            "insync ask",
            standalone_mode=False,
            help_option_names=["-h", "--help"],
        )
