"""What `insync ask --config` says of a cluster whose controller is ZooKeeper's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from insync.cli.commands.ask import command
from insync.kafka_questions.configs.reading import read_configs

CALM = ("--quiet", "--elections", "0", "--reassignments", "0", "--lossy-crashes", "0", "--fencings", "0")
ZOOKEEPER = "zookeeper.connect=zk:2181\ndefault.replication.factor=1\n"


def written(folder: Path, text: str) -> Path:
    file = folder / "server.properties"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "zookeeper"),
    [
        (ZOOKEEPER, True),
        (ZOOKEEPER + "process.roles=\n", True),
        (ZOOKEEPER + "process.roles=broker\n", False),
        (ZOOKEEPER.replace("zk:2181", ""), False),
        ("All configs for broker 1 are:\n  zookeeper.connect=null sensitive=false synonyms={}\n", False),
        ("min.insync.replicas=1\n", False),
    ],
)
def test_a_cluster_whose_controller_is_zookeepers(tmp_path: Path, text: str, zookeeper: bool) -> None:
    assert read_configs([written(tmp_path, text)], {"replicas": 3}).in_zookeeper == zookeeper


@pytest.mark.parametrize(
    ("release", "said"),
    [
        ("3.2", ""),
        (
            "3.3",
            "the answer for Kafka 3.3 is for KRaft's. With ZooKeeper's, for one, unclean.leader.e",
        ),
        ("3.9", "the answer for Kafka 3.9 is for KRaft's"),
        ("4.1", "Kafka 4.1 has no ZooKeeper, so the answer is for KRaft's"),
    ],
)
def test_of_a_cluster_with_zookeeper_it_is_said_that_the_answer_is_for_kraft(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, release: str, said: str
) -> None:
    given = [*CALM, "--config", str(written(tmp_path, ZOOKEEPER)), "--release", release]
    command.main(given, "insync ask", standalone_mode=False)
    text = " ".join(capsys.readouterr().out.split())
    assert ("warning: zookeeper.connect is set" in text) == bool(said)
    assert said in text
    command.main([*given, "--json"], "insync ask", standalone_mode=False)
    answer = json.loads(capsys.readouterr().out)
    assert [said in warning for warning in answer["warnings"]] == [True] * bool(said)
    assert list(answer["not_asked_about"]) == ["zookeeper.connect"]
