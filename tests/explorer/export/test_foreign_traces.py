"""What other checkers found in an exported module becomes a trace that the evaluator executes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import insync_steps
from insync.explorer import replay
from insync.explorer.export import export
from insync.explorer.export.tla.foreign_traces import foreign_trace, is_foreign
from insync.explorer.traces.trace import EXPLORED
from insync.runtime.errors import UserError

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


KIP320: dict[str, int | str] = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 2}


def test_a_run_of_tlc_that_stays_for_ever_is_executed(tmp_path: Path) -> None:
    module = module_at(tmp_path, "kip320", KIP320)
    claim = foreign_trace(GOLDEN / "kip320.lasso.tlc.json", module)  # TLC's own, against partition_gets_a_leader
    trace = replay(claim)
    assert (trace.property, trace.length, trace.loop) == ("partition_gets_a_leader", 3, 2)
    assert trace.fairness is not None
    assert "the run stays as it is for ever" in trace.reason


LAMP = """
from insync.model import Bool, Model, State, StateView, action, require
from insync.properties import eventually

class Lamp(Model):
    \"\"\"A lamp that is switched, and may burn out while it is on.\"\"\"

    def declare(self, b):
        return State(on=Bool, burnt=Bool)

    @action()
    def switch(self, s: StateView) -> None:
        require(~s.burnt)
        s.on = ~s.on

    @action()
    def burn_out(self, s: StateView) -> None:
        require(s.on, ~s.burnt)
        s.burnt = True
        s.on = False

@eventually(Lamp, weak=["switch"])
def burns_out(model: Lamp, s: StateView):
    \"\"\"The lamp burns out some time.\"\"\"
    return s.burnt
"""


def lamp_trace(folder: Path, states: list[tuple[bool, bool]], loop: object) -> Path:
    (folder / "lamp.py").write_text(LAMP.replace('\\"', '"'))
    module_at(folder, f"{folder}/lamp.py:Lamp", {})
    named = [{"on": on, "burnt": burnt} for on, burnt in states]
    (folder / "t.itf.json").write_text(json.dumps({"vars": ["on", "burnt"], "states": named, "loop": loop}))
    return folder / "t.itf.json"


def test_a_loop_is_closed_by_the_step_back(tmp_path: Path) -> None:
    trace = replay(foreign_trace(lamp_trace(tmp_path, [(False, False), (True, False)], 0)))
    assert (trace.property, trace.loop) == ("burns_out", 0)
    assert [step.action for step in trace.steps] == [None, "switch", "switch"]


@pytest.mark.parametrize(
    ("states", "loop", "said"),
    [
        ([(False, False)], 0, "it neglects switch"),
        ([(False, False), (True, False), (False, True)], 2, "burns_out holds in this run"),
        ([(False, False), (True, False), (False, True)], 0, "state 4: no step of lamp leads here"),
        ([(False, False)], 1, "the loop goes back to the place 1 of 1; it must be a state"),
        ([(False, False)], "first", "the loop goes back to the place 'first' of 1; it must be a state"),
    ],
)
def test_a_loop_that_shows_nothing_is_refused(
    tmp_path: Path, states: list[tuple[bool, bool]], loop: object, said: str
) -> None:
    with pytest.raises(UserError, match=said):
        foreign_trace(lamp_trace(tmp_path, states, loop))


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"vars": [], "states": []}', "there is no state in it"),
        ('{"vars": [], "states": 3}', "not written as"),
        ('{"vars": [], "states": [3]}', "not written as"),
        ('{"vars": [], "states": [{"holder": {"#bigint": "many"}}]}', "not written as"),
        ('{"counterexample": 3}', "not written as"),
        ('{"state": [[1]]}', "not written as"),
        ('{"state": [[1, 3]]}', "state 1"),
        ('{"vars": [], "states": [{"holder": "x", "doing": {}, "told": 1}]}', "state 1"),
    ],
)
def test_a_damaged_trace_is_told(text: str, said: str, tmp_path: Path) -> None:
    module_at(tmp_path, "examples/lock.py:Lock", {"workers": 2})
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(UserError, match=said):
        foreign_trace(tmp_path / "t.json")


def test_insyncs_own_traces_are_none_of_these(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text('{"format": "insync-trace/1", "steps": []}')
    (tmp_path / "no.json").write_text("nothing")
    assert not is_foreign(tmp_path / "own.json")
    assert not is_foreign(tmp_path / "no.json")
