from __future__ import annotations

import threading
import time
from dataclasses import replace
from functools import cache

import pytest

from insync.explorer import Limits, SimulationResult, WalkProgress, simulate
from insync.explorer.replay import replay
from insync.explorer.stepping.shrinking import FailingWalks, shrink
from insync.explorer.stepping.stepper import Stepper
from insync.machine.kernels import Kernels, Part, compile_kernels
from insync.machine.packed import PackedRows
from insync.machine.walker import Strategy, Walker, merged
from insync.model import Model
from insync.model.catalogue import find_model
from insync.model.evaluator import evaluate
from insync.properties.registry import sentences_of
from insync.runtime.errors import InternalError, UserError
from insync.runtime.watch import Watch
from insync_corners import Late
from insync_evaluator import conditions
from insync_toys import TOYS, Clock, DieHard, Overflow, TokenRing

KIP101 = find_model("kip101")(replicas=3, log_size=2, max_records=2, max_leader_epoch=2)


def initials_of(model: Model) -> PackedRows:
    return PackedRows.of(model.program.initials.rows, model.program.schema.words)


def name_of(model: Model) -> str:
    return f"{model.name}-{'-'.join(map(str, dict(model.b).values()))}"


def facts(result: SimulationResult) -> SimulationResult:
    return replace(result, seconds={}, peak_memory_bytes=0)


@pytest.mark.slow_for("kip101-3-2-2-2")
@pytest.mark.parametrize("model", [*TOYS, KIP101], ids=name_of)
def test_the_result_is_the_same_for_any_threads(model: Model) -> None:
    names = list(sentences_of(model))
    first = facts(simulate(model, properties=names, walks=3000, depth=40, seed=3, threads=1))
    for threads in (2, 3):
        assert facts(simulate(model, properties=names, walks=3000, depth=40, seed=3, threads=threads)) == first


@pytest.mark.parametrize("model", [*TOYS, KIP101], ids=name_of)
def test_a_failing_walk_is_a_trace_that_can_be_replayed(model: Model) -> None:
    result = simulate(model, properties=list(sentences_of(model)), walks=2000, depth=30, seed=1)
    if result.violation is not None:
        assert replay(result.violation.trace, model=model, place="here") == result.violation.trace
        assert result.failed_walk_length is not None
        assert result.violation.trace_length <= result.failed_walk_length
        assert result.verdict == "violated"
    else:
        assert (result.verdict, result.walks) == ("incomplete", 2000)


def test_walks_find_the_published_defect_and_shorten_it() -> None:
    result = simulate(KIP101, properties=["strong_isr"], walks=20_000, depth=60, seed=1)
    assert result.violation is not None
    assert result.violation.trace_length >= 11  # the shortest there is
    assert result.failed_walk_length is not None
    assert result.violation.trace_length < result.failed_walk_length


def test_another_seed_gives_other_walks() -> None:
    """Every bit of it counts: the taken steps of 300 walks are the same in no two of these cases."""
    seeds = [0, *(1 << bit for bit in (0, 1, 31, 32, 33, 62, 63)), 2**64 - 1]
    results = [simulate(TokenRing(), walks=300, depth=20, seed=seed) for seed in seeds]
    assert len({tuple(result.actions.values()) for result in results}) == len(seeds)


def test_a_walk_does_not_depend_on_how_many_there_are() -> None:
    model = TokenRing()
    kernels = compile_kernels(model.program, [], (Part.WALK,))
    walker = Walker.of(kernels, initials_of(model), 5, 25)
    whole = walker.walk(0, 900)
    parts = [walker.walk(0, 1), walker.walk(1, 257), walker.walk(257, 900)]
    assert whole.steps == tuple(map(sum, zip(*(part.steps for part in parts), strict=True)))
    assert whole.lengths == merged(parts).lengths
    walker.close()


UNIFORM = {"fill": 2 / 6, "empty": 2 / 6, "pour_into_big": 1 / 6, "pour_into_small": 1 / 6}
NAMES = dict.fromkeys(UNIFORM, 1 / 4)


@pytest.mark.parametrize(
    ("strategy", "shares"), [(Strategy.UNIFORM, UNIFORM), (Strategy.NAMES, NAMES), ("names", NAMES)]
)
def test_steps_are_uniform_over_what_is_drawn_from(strategy: Strategy | str, shares: dict[str, float]) -> None:
    # From any state of the die-hard puzzle all six actions are enabled.
    result = simulate(DieHard(), properties=[], walks=2000, depth=30, seed=9, strategy=strategy)
    steps = sum(result.actions.values())
    assert steps == result.steps == 2000 * 30
    assert result.strategy is Strategy(strategy)
    assert (result.lengths.shortest, result.lengths.longest, result.lengths.stuck) == (30, 30, 0)
    for name, share in shares.items():
        assert abs(result.actions[name] / steps - share) < 0.01


PUZZLE = DieHard()


@cache
def walking() -> Kernels:
    return compile_kernels(PUZZLE.program, [], (Part.WALK,))


def taken(strategy: Strategy, seed: int, walk: int, depth: int) -> dict[str, int]:
    """How often a walk of the die-hard puzzle takes each action."""
    walker = Walker.of(walking(), initials_of(PUZZLE), seed, depth, strategy)
    steps = walker.walk(walk, walk + 1).steps
    walker.close()
    return {action.label: count for action, count in zip(PUZZLE.program.actions, steps, strict=True)}


@pytest.mark.slow_for("tastes", "uniform")
@pytest.mark.parametrize("strategy", list(Strategy))
def test_parameters_are_drawn_uniformly_whatever_the_strategy(strategy: Strategy) -> None:
    """Of the two vessels that can be filled no walk favours one."""
    for walk in range(12):
        one, other = (count for label, count in taken(strategy, 3, walk, 1000).items() if "fill" in label)
        assert abs(one - other) < 5 * (one + other) ** 0.5


def spread(strategy: Strategy, walk: int) -> float:
    """How much more often a walk takes what it takes most than what it takes least, of actions always enabled."""
    counts = dict.fromkeys(NAMES, 0)
    for action, count in zip(PUZZLE.program.actions, taken(strategy, 5, walk, 2000).values(), strict=True):
        counts[action.name] += count
    return max(counts.values()) / min(counts.values())


def test_who_has_a_taste_and_how_strong_it_is() -> None:
    plain = [spread(Strategy.NAMES, walk) for walk in range(8)]
    tasted = [spread(Strategy.TASTES, walk) for walk in range(8)]
    assert max(plain) < 1.3
    assert 5 < max(tasted) < 10
    assert sum(ratio > 1.5 for ratio in tasted) >= 6
    every_other = [tasted[walk] if walk % 2 else plain[walk] for walk in range(8)]
    assert [spread(Strategy.MIXED, walk) for walk in range(8)] == every_other


@pytest.mark.parametrize("strategy", list(Strategy))
def test_a_walk_ends_where_nothing_is_enabled_whatever_the_strategy(strategy: Strategy) -> None:
    model = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    result = simulate(model, properties=[], walks=200, depth=200, seed=0, strategy=strategy)
    assert result.lengths.stuck == result.walks == 200


def test_a_strategy_that_there_is_not_is_refused() -> None:
    with pytest.raises(UserError, match="strategy='greedy' is not known; give one of mixed, names, tastes, uniform"):
        simulate(DieHard(), strategy="greedy")


def test_a_walk_without_a_step_left_is_stuck() -> None:
    model = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    result = simulate(model, properties=[], walks=500, depth=200, seed=0)
    assert result.lengths.stuck == result.walks == 500
    assert result.lengths.longest < 200
    assert result.lengths.mean == result.steps / 500


def test_a_step_out_of_a_domain_ends_a_walk() -> None:
    result = simulate(Overflow(), properties=[], walks=10, depth=30, seed=0)
    assert (
        simulate(Overflow(), properties=["type_ok"], walks=10, depth=30, seed=0).failed_walk_length
        == result.failed_walk_length
    )
    assert result.violation is not None
    assert result.violation.property == "type_ok"
    assert result.violation.trace.refused is not None
    assert result.failed_walk == 0
    assert result.violation.trace_length == 3 + (result.violation.trace.refused.action == "increase")


@pytest.mark.parametrize("depth", [1, 2, 3, 30])
@pytest.mark.parametrize("walks", [1, 10, 700])
def test_a_refused_step_is_not_counted_in_any_length(walks: int, depth: int) -> None:
    result = simulate(Late(), properties=[], walks=walks, depth=depth, seed=4)
    lengths = result.lengths
    assert lengths.shortest <= lengths.mean <= lengths.longest
    assert lengths.mean == result.steps / result.walks
    if walks == 1:
        assert (lengths.shortest, lengths.longest) == (result.steps, result.steps)
        assert result.violation is None or result.failed_walk_length == result.steps + 1


def test_lengths_of_walks_add_up_to_the_steps() -> None:
    model = Late()
    kernels = compile_kernels(model.program, [], (Part.WALK,))
    walker = Walker.of(kernels, initials_of(model), 1, 20)
    walked = walker.walk(0, 500)
    walker.close()
    assert walked.failed is not None
    assert len(walked.failed.actions) >= 3, "two steps at least, and the one that is refused"
    assert sum(number * count for number, count in walked.lengths.items()) == sum(walked.steps)


def test_of_walks_that_somebody_stops_only_those_that_were_begun_have_a_length() -> None:
    """The same walker has taken longer ones before."""
    model = Clock()
    kernels = compile_kernels(model.program, [], (Part.WALK,))
    walker = Walker.of(kernels, initials_of(model), 1, 300)
    whole = walker.walk(0, 5000)
    stopped = walker.walk(0, 5000, stopped=lambda: True)
    walker.close()
    assert sum(whole.lengths.values()) == 5000
    assert 0 < sum(stopped.lengths.values()) < 5000
    assert sum(length * count for length, count in stopped.lengths.items()) == sum(stopped.steps)


def test_a_violation_in_the_initial_state_is_a_walk_of_one_state() -> None:
    model = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    result = simulate(model, properties=["weak_isr", "leader_in_isr"], walks=10)
    assert result.violation is not None
    assert (result.violation.property, result.violation.trace_length) == ("leader_in_isr", 1)
    assert (result.failed_walk, result.failed_walk_length, result.steps) == (0, 1, 0)


def test_stops_in_time_with_the_walks_that_are_done() -> None:
    simulate(Clock(), walks=1, depth=50)  # so that it is compiled
    result = simulate(Clock(), walks=10**9, depth=50, limits=Limits(seconds=0.5))
    assert (result.verdict, result.stopped_by) == ("incomplete", "time")
    assert 0 < result.walks < 10**9
    assert result.lengths.longest == 50, "some walks are done"
    assert result.lengths.mean == result.steps / result.walks, "and those that are not count with their steps"


def test_stops_when_it_is_told_to_with_the_walks_that_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.explorer.progress.Pulse.due", lambda _: True)
    stop = threading.Event()
    result = simulate(Clock(), walks=10**9, depth=50, reporter=lambda _: stop.set(), stop=stop, threads=1)
    assert (result.verdict, result.stopped_by) == ("incomplete", "interrupt")
    assert result.walks > 0


@pytest.mark.slow
def test_long_walks_end_where_they_are_when_the_time_is_up() -> None:
    simulate(Clock(), walks=1, depth=50)  # so that it is compiled
    began = time.perf_counter()
    result = simulate(Clock(), walks=500, depth=10**7, limits=Limits(seconds=0.5), threads=1)  # a minute, else
    assert time.perf_counter() - began < 10
    assert (result.verdict, result.stopped_by) == ("incomplete", "time")
    assert 0 < result.lengths.shortest <= result.lengths.longest < 10**7
    assert result.lengths.mean == result.steps / result.walks


@pytest.mark.slow_for("60.0")
@pytest.mark.parametrize("seconds", [60.0, 0.0])
def test_a_failing_walk_is_confirmed_although_it_is_stopped_if_there_is_time(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.explorer.progress.Pulse.due", lambda _: True)
    monkeypatch.setattr("insync.explorer.stepping.shrinking._GRACE_SECONDS", seconds)
    stop = threading.Event()
    result = simulate(
        DieHard(),
        properties=["never_four"],
        walks=256,
        depth=100_000,
        reporter=lambda _: stop.set(),
        stop=stop,
        threads=1,
    )
    assert result.failed_walk is not None
    assert result.stopped_by == "interrupt"
    if seconds:
        assert result.violation is not None
        assert (result.verdict, result.violation.trace_length) == ("violated", result.failed_walk_length)
    else:
        assert (result.verdict, result.violation) == ("incomplete", None)


@pytest.mark.parametrize(("limits", "reason"), [(None, "interrupt"), (Limits(seconds=0), "time")])
def test_nothing_is_walked_when_it_is_stopped_before(limits: Limits | None, reason: str) -> None:
    stop = threading.Event()
    if limits is None:
        stop.set()
    result = simulate(Clock(), walks=10**9, limits=limits, stop=stop)
    assert (result.verdict, result.stopped_by, result.walks, result.steps) == ("incomplete", reason, 0, 0)


@pytest.mark.parametrize("limits", [Limits(depth=3), Limits(states=3), Limits(memory_bytes=1 << 30)])
def test_a_limit_that_walks_do_not_have_is_refused(limits: Limits) -> None:
    with pytest.raises(UserError, match=r"does not limit random walks; .* how many walks with walks=, and how long"):
        simulate(Clock(), limits=limits)


def test_reports_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.explorer.progress.Pulse.due", lambda _: True)
    reports: list[WalkProgress] = []
    result = simulate(Clock(), walks=30_000, depth=20, threads=1, reporter=reports.append)
    assert reports[-1].walks == result.walks == 30_000
    assert reports[-1].steps == result.steps
    assert [r.steps for r in reports] == sorted(r.steps for r in reports)


def test_shrinking_leaves_no_step_that_is_not_needed() -> None:
    model = DieHard()
    node = conditions(model)["never_four"]
    walks = FailingWalks(Stepper(model), lambda codes: not evaluate(node, codes))
    kernels = compile_kernels(model.program, [node], (Part.WALK,))
    walker = Walker.of(kernels, initials_of(model), 2, 400)
    failed = walker.walk(0, 2000).failed
    walker.close()
    assert failed is not None
    unshortened = shrink(walks, failed.actions, Watch(Limits(seconds=0)))
    assert walks.failing(unshortened.actions) == unshortened
    found = shrink(walks, failed.actions)
    short = found.actions
    assert len(short) < len(unshortened.actions)
    assert walks.failing(short) == found
    with pytest.raises(InternalError, match="by the evaluator it does not"):
        shrink(walks, short[:-1])
    for place in range(len(short)):
        without = walks.failing(short[:place] + short[place + 1 :])
        assert without is None or len(without.actions) >= len(short)
