"""Properties of runs that ask for a state: with parameters they need one for each of their values."""

from __future__ import annotations

from insync.explorer import Verdict, liveness
from insync.explorer.export import export
from insync.explorer.liveness import RunResult
from insync.explorer.replay import replay
from insync.model import And, Condition, Model, StateView, exists
from insync.properties import sometimes
from insync_runs import Crossing, Person


class Queue(Crossing):
    """The crossing, with questions about each person."""


@sometimes(Queue)
def waits(model: Queue, s: StateView, who: Person) -> Condition:
    """Each person waits some time, with all before."""
    return And(*(s.waiting.contains(one) for one in model.all(Person) if one <= who))


@sometimes(Queue)
def first_waits(model: Queue, s: StateView, who: Person) -> Condition:
    """The first person waits, and is this one."""
    return And(s.waiting.contains(Person(0)), who == 0)


@sometimes(Queue)
def one_waits(model: Queue, s: StateView) -> Condition:
    """Somebody waits who is the first."""
    return exists(Person, lambda who: first_waits(model, s, who))


def decided(model: Model, name: str) -> RunResult:
    (found,) = liveness(model, properties=[name]).properties
    return found


def test_each_value_needs_a_witness_and_the_last_is_shown() -> None:
    found = decided(Queue(), "waits")
    assert (found.verdict, found.instances, found.unreached) == (Verdict.HOLDS, 2, ())
    assert found.trace is not None
    assert [step.label for step in found.trace.steps] == ["start", "p1 asks", "p2 asks"]
    assert found.trace.witness
    assert replay(found.trace, model=Queue(), place="t.json") == found.trace


def test_a_value_without_a_witness_is_named() -> None:
    some = decided(Queue(), "first_waits")
    assert (some.verdict, some.trace, some.unreached) == (Verdict.VIOLATED, None, ("who = p2",))
    none = decided(Queue(), "somebody_waits_twice")
    assert (none.verdict, none.unreached) == (Verdict.VIOLATED, ())


def test_exists_in_the_property_asks_for_one_value_alone() -> None:
    assert decided(Queue(), "one_waits").verdict is Verdict.HOLDS


def test_tlc_is_asked_for_a_witness_for_each_value() -> None:
    files = export(Queue(), properties=["waits"])
    asked = [line for line in files["queue.waits.cfg"].splitlines() if line.startswith("INVARIANT")]
    assert asked == ["INVARIANT waits_never_p1", "INVARIANT waits_never_p2"]
    for line in asked:
        assert f"\n{line.removeprefix('INVARIANT ')} ==\n  /\\ ~" in files["queue.tla"]
