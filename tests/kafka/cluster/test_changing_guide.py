"""The guide to changing the cluster is right: its experiment runs, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from insync.cli.main import run
from insync.kafka.cluster.model import Cluster
from insync.model.language.parts import HeldPart

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


def test_the_rules_and_parts_that_it_names_are_there() -> None:
    cluster = Cluster()
    rules = [kind for kind in vars(type(cluster)).values() if isinstance(kind, HeldPart)]
    methods = {name for held in rules for kind in held.kinds for name in dir(kind)}
    called = set(re.findall(r"\b(?:image|quorum|builder|metadata_log|log)\.([a-z_]+)\(", GUIDE))
    assert len(called) >= 8
    assert called | {"build_change", "write_change", "go_down", "_outcome"} <= methods
