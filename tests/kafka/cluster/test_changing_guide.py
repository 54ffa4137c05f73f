"""The guide to changing the cluster is right: its experiment runs, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from insync.cli.main import run
from insync.kafka.cluster.model import Cluster

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "guide" / "changing-cluster.md").read_text()
(EXPERIMENT,) = re.findall(r"^```python\n# strict\.py\n((?:.*\n)*?)```$", GUIDE, re.MULTILINE)
((COMMAND, SHOWN),) = re.findall(r"^```console\n\$ insync (.+)\n(.+)\n```$", GUIDE, re.MULTILINE)


def test_the_experiment_prints_what_the_guide_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "strict.py").write_text(EXPERIMENT)
    monkeypatch.chdir(tmp_path)
    assert run(COMMAND.split()) == 0
    assert SHOWN in capsys.readouterr().out.splitlines()


def test_the_files_of_the_table_are_there() -> None:
    folder = ROOT / "model" / "insync" / "kafka"
    named = re.findall(r"`((?:cluster/|releases/)?[a-z_]+\.py)`", GUIDE.split("## First try it")[0])
    assert len(named) >= 30
    assert [name for name in named if not (folder / name).is_file() and not (folder / "cluster" / name).is_file()] == []


def test_the_rules_and_fields_that_it_names_are_there() -> None:
    cluster = Cluster()
    called = set(re.findall(r"self\.([a-z_]+)", GUIDE)) | {"build_change", "write_change", "go_down", "_outcome"}
    assert [name for name in sorted(called) if not hasattr(cluster, name)] == []
