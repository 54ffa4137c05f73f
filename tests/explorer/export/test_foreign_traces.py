"""What other checkers found in an exported module becomes a trace that the evaluator executes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import insync_steps
from insync.explorer import replay
from insync.explorer.export import export
from insync.explorer.export.foreign_traces import foreign_trace, is_foreign
from insync.explorer.traces.trace import EXPLORED
from insync.model.errors import UserError

GOLDEN = Path(__file__).parent / "golden"
BOUNDS: dict[str, int | str] = {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 2}


def module_at(folder: Path, reference: str, bounds: dict[str, int | str]) -> Path:
    file = folder / "M.tla"
    file.write_text(export(reference, bounds=bounds, name="M")["M.tla"])
    return file


@pytest.fixture
def kip101(tmp_path: Path) -> Path:
    return module_at(tmp_path, "kip101", BOUNDS)


def test_a_counterexample_that_tlc_has_written_is_executed(kip101: Path) -> None:
    file = GOLDEN / "kip101.tlc.json"  # TLC's own, of -dumpTrace json, without its list of actions
    assert is_foreign(file)
    trace = replay(foreign_trace(file, kip101))
    assert (trace.property, trace.length, trace.bounds) == ("weak_isr", 12, BOUNDS)
    assert trace.steps[-1].label == "b2 becomes follower of b1 @2"


def test_a_state_that_no_step_leads_to_is_refused(kip101: Path, tmp_path: Path) -> None:
    found = json.loads((GOLDEN / "kip101.tlc.json").read_text())
    del found["counterexample"]["state"][4]
    (tmp_path / "cut.json").write_text(json.dumps(found))
    with pytest.raises(UserError, match="state 5: no step of kip101 leads here"):
        foreign_trace(tmp_path / "cut.json", kip101)


def test_a_value_outside_its_field_is_refused(kip101: Path, tmp_path: Path) -> None:
    found = json.loads((GOLDEN / "kip101.tlc.json").read_text())
    found["counterexample"]["state"][2][1]["quorum"]["leader"] = 7
    (tmp_path / "far.json").write_text(json.dumps(found))
    with pytest.raises(UserError, match="state 3: quorum: leader has 7"):
        foreign_trace(tmp_path / "far.json", kip101)


def itf(states: list[dict[str, Any]]) -> str:
    return json.dumps({"#meta": {"format": "ITF"}, "vars": ["holder", "doing"], "states": states})


def lock_state(holder: int, *doing: int) -> dict[str, Any]:
    pairs = [[{"#bigint": str(worker)}, {"#bigint": str(what)}] for worker, what in enumerate(doing)]
    return {"#meta": {}, "holder": {"#bigint": str(holder)}, "doing": {"#map": pairs}}


def test_a_trace_in_itf_is_executed_with_the_module_beside_it(tmp_path: Path) -> None:
    module_at(tmp_path, "examples/lock.py:Lock", {"workers": 2})
    states = [
        lock_state(-1, 0, 0),
        lock_state(-1, 1, 0),
        lock_state(-1, 1, 1),
        lock_state(0, 2, 1),
        lock_state(1, 2, 2),
    ]
    (tmp_path / "t.itf.json").write_text(itf(states))
    assert replay(foreign_trace(tmp_path / "t.itf.json")).property == "one_inside"
    (tmp_path / "t.itf.json").write_text(itf(states[:3]))
    assert foreign_trace(tmp_path / "t.itf.json").property == EXPLORED


def term_state(term: int) -> dict[str, Any]:
    return {"#meta": {}, "term": {"#map": [[{"#bigint": "0"}, {"#bigint": str(term)}]]}}


def test_a_step_is_judged_from_the_state_before_to_the_state_after(tmp_path: Path) -> None:
    file = tmp_path / "t.itf.json"
    module_at(tmp_path, f"{insync_steps.__file__}:Votes", {"voters": 1})
    for terms in ((0, 1), (0, 1, 2), (0, 1, 2, 0)):
        file.write_text(itf([term_state(term) for term in terms]))
        assert (foreign_trace(file).property == "terms_grow") is (terms[-1] < terms[-2])


def test_without_a_module_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "t.itf.json").write_text(itf([lock_state(-1, 0, 0)]))
    with pytest.raises(UserError, match="--module"):
        foreign_trace(tmp_path / "t.itf.json")


def test_insyncs_own_traces_are_none_of_these(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text('{"format": "insync-trace/1", "steps": []}')
    (tmp_path / "no.json").write_text("nothing")
    assert not is_foreign(tmp_path / "own.json")
    assert not is_foreign(tmp_path / "no.json")
