from __future__ import annotations

import sys
import threading

import pytest

from insync.explorer import Limits, StopReason, check
from insync.explorer.runs.state_graph import build_graph
from insync.kafka.published import AsyncIsr, Kip320
from insync.model import Bool, BoundValues, Model, State, UserError
from insync.model.evaluator import Evaluator, evaluate
from insync.properties.registry import invariants_of
from insync.runtime.watch import Watch
from insync_lamp import Lamp
from insync_runs import Crossing
from insync_toys import TOYS

SMALL: list[Model] = [Kip320(replicas=2, log_size=1, max_records=1), Crossing(people=3), *TOYS]


@pytest.mark.parametrize("model", SMALL, ids=lambda model: str(model.name))
def test_states_and_steps_are_the_evaluator_s(model: Model) -> None:
    graph = build_graph(model, limits=Limits(states=1500))
    evaluator = Evaluator(model.program)
    states = [graph.codes(state) for state in range(len(graph))]
    numbers = {codes: number for number, codes in enumerate(states)}
    assert states[0] == model.program.initials[0]
    assert len(numbers) == len(states)
    expected, refused = [], 0
    for source, codes in enumerate(states[: graph.expanded]):
        for number in evaluator.enabled(codes):
            if evaluator.failing_check(number, codes) is None:
                expected.append((source, number, numbers[evaluator.step(number, codes)]))
            else:
                refused += 1
    steps = zip(graph.source.tolist(), graph.action.tolist(), graph.target.tolist(), strict=True)
    assert list(steps) == expected
    assert graph.refused == refused
    found = {target: at for at, (_, _, target) in reversed(list(enumerate(expected)))}
    discovered = [found[state] for state in range(1, len(states)) if state in found]
    assert discovered == sorted(discovered), "states are numbered in the order of their discovery"


def test_levels_are_those_of_the_search() -> None:
    model = Kip320(replicas=2)
    graph = build_graph(model)
    levels = [end - start for start, end in zip(graph.starts, graph.starts[1:], strict=False)]
    result = check(model, properties=[], threads=1)
    assert tuple(levels) == result.levels
    assert len(graph.source) == result.transitions
    assert graph.stopped_by is None
    assert [graph.level_of(state) for state in (0, 1, len(graph) - 1)] == [1, 2, len(levels)]
    assert graph.readable(0) == model.decode(model.program.initials[0])


@pytest.mark.parametrize("model", [Kip320(replicas=2, log_size=1, max_records=1), AsyncIsr(max_version=1)])
def test_conditions_are_as_the_evaluator_has_them(model: Model) -> None:
    graph = build_graph(model, limits=Limits(states=1500))
    nodes = [found.node(model) for found in invariants_of(model).values()]
    truths = graph.truth(nodes)
    for state in range(0, len(graph), 7):
        assert [bool(truth[state]) for truth in truths] == [bool(evaluate(n, graph.codes(state))) for n in nodes]
    assert graph.truth([]) == []


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(depth=3), StopReason.DEPTH),
        (Limits(states=50), StopReason.STATES),
        (Limits(seconds=1e-9), StopReason.TIME),
        (Limits(memory_bytes=1 << 60), StopReason.MEMORY),
    ],
)
def test_a_limit_ends_the_exploration(monkeypatch: pytest.MonkeyPatch, limits: Limits, reason: StopReason) -> None:
    if reason is StopReason.MEMORY:
        monkeypatch.setattr(Watch, "may_use", lambda *_: False)  # as if others had taken it meanwhile
    graph = build_graph(Kip320(), limits=limits)
    assert graph.stopped_by is reason
    assert 0 <= graph.expanded < len(graph)
    assert graph.starts[-1] == len(graph)
    assert not len(graph.source) or int(graph.source.max()) < graph.expanded


def test_whoever_stops_it_gets_what_is_there() -> None:
    stop = threading.Event()
    stop.set()
    assert build_graph(Kip320(), stop=stop).stopped_by is StopReason.INTERRUPT


class Alone(Model):
    """One state, and no step."""

    def declare(self, b: BoundValues) -> State:
        return State(light=Bool)


def test_a_graph_that_is_whole_was_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "may_use", lambda *_: False)
    graph = build_graph(Alone())
    assert (graph.expanded, len(graph), graph.stopped_by) == (1, 1, None)


def test_steps_that_are_refused_are_counted_and_left_out() -> None:
    graph = build_graph(Lamp(switches=1, presses=1), limits=Limits(depth=3))
    assert graph.refused == 1


def test_without_the_extra_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.delitem(sys.modules, "scipy.sparse", raising=False)
    with pytest.raises(
        UserError, match=r"This needs the extra `graph` \(scipy.* is missing\); install it: pip install"
    ):
        build_graph(Kip320())
