from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

LOCK = "examples/lock.py:FixedLock"


def test_the_module_goes_to_standard_output(insync: Any) -> None:
    code, out, _ = insync("export", LOCK, "--to", "tla")
    assert code == 0
    assert out.startswith("-------------------- MODULE fixed_lock ")
    assert "\none_inside ==" in out


def test_the_module_is_called_as_its_file_and_its_cfg_stands_beside_it(insync: Any, tmp_path: Path) -> None:
    code, out, _ = insync("export", LOCK, "--to", "tla", "-o", tmp_path / "Lock.tla")
    assert code == 0
    assert " MODULE Lock " in (tmp_path / "Lock.tla").read_text()
    assert "INVARIANT one_inside" in (tmp_path / "Lock.cfg").read_text()
    assert str(tmp_path / "Lock.cfg") in out


def test_without_properties_none_is_asked_for(insync: Any) -> None:
    _, out, _ = insync("export", LOCK, "--property", "none", "--json")
    files = json.loads(out)["files"]
    assert "INVARIANT" not in files["fixed_lock.cfg"]


def test_a_small_space_is_exported_as_dot(insync: Any) -> None:
    code, out, _ = insync("export", LOCK, "--to", "dot")
    assert code == 0
    assert out.startswith("digraph")


@pytest.mark.parametrize("form", ["tlaplus", ""])
def test_an_unknown_format_is_refused(insync: Any, form: str) -> None:
    code, _, err = insync("export", LOCK, "--to", form)
    assert code == 2
    assert "--to" in err
