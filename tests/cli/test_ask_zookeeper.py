"""What `insync ask --config` says of a cluster whose controller is ZooKeeper's."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.cli.commands.ask import command
from insync.kafka_questions.configs.reading import read_configs

CALM = ("--quiet", "--against", "broker")
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


@pytest.mark.parametrize("release", ["3.2", "3.9", "4.1"])
def test_of_a_cluster_with_zookeeper_it_is_said_that_the_answer_is_for_kraft(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, release: str
) -> None:
    given = [*CALM, "--config", str(written(tmp_path, ZOOKEEPER)), "--release", release]
    command.main(given, "insync ask", standalone_mode=False)
    text = " ".join(capsys.readouterr().out.split())
    assert ("warning: zookeeper.connect is set" in text) == (release != "3.2")
    assert (f"KRaft's, as Kafka {release} has it" in text) == (release != "3.2")
