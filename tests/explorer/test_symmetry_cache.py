"""That members are alike is shown once for each program, and again for any other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from insync.explorer.symmetry import examination_key, keep_shown, symmetry_for, was_shown
from insync.model import Model
from insync.model.tracing.program import Program
from insync.properties.registry import judge
from insync.runtime.errors import UserError
from insync_symmetric import Gossip, Partial


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_what_was_shown_is_not_shown_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Gossip(nodes=3)
    assert symmetry_for(model, {}).symmetry is model.program.symmetry
    monkeypatch.setattr("insync.explorer.symmetry._Examination.run", lambda *_: pytest.fail("it was shown before"))
    again = Gossip(nodes=3)
    assert symmetry_for(again, {}).symmetry is again.program.symmetry


def test_another_property_is_examined() -> None:
    model = Partial(nodes=3)
    assert symmetry_for(model, {}).symmetry is not None
    with pytest.raises(UserError, match="the property first_first is not the same"):
        symmetry_for(model, judge(model, ["first_first"]).conditions)


@pytest.mark.parametrize("way", [1, 2, 4])
def test_another_program_is_examined(way: int) -> None:
    assert symmetry_for(Partial(nodes=3), {}).symmetry is not None
    for _ in range(2):
        with pytest.raises(UserError, match="is declared symmetric, but"):
            symmetry_for(Partial(nodes=3, way=way), {})


def test_a_key_tells_which_action_stands_for_which_member() -> None:
    """Two programs that differ in the parameters of their actions alone."""
    model = Partial(nodes=3)
    first, second, *rest = model.program.actions
    swapped = (
        replace(first, parameters=second.parameters),
        replace(second, parameters=first.parameters),
        *rest,
    )
    keys = {key(model.program), key(replace(model.program, actions=swapped))}
    assert len(keys) == 2


def key(program: Program) -> str:
    assert program.symmetry is not None
    return examination_key(cast(Model, SimpleNamespace(program=program)), program.symmetry, {})


def test_what_is_damaged_or_cannot_be_written_was_not_shown(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_shown("alike-one")
    assert was_shown("alike-one")
    assert not was_shown("alike-another")
    (file,) = cache.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert not was_shown("alike-one")
    file.write_text("")
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(file / "below"))
    keep_shown("alike-one")
    assert not was_shown("alike-one")
