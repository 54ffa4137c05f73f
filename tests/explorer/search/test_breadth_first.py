from __future__ import annotations

import itertools
import threading
from dataclasses import replace

import pytest

from insync.explorer import CheckResult, Limits, Progress, check
from insync.explorer.check import check_further
from insync.explorer.replay import replay
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.machine.stores.hash_table import Store
from insync.model import Bool, BoundValues, Model, Not, State, StateView, action, require
from insync.model.catalogue import find_model
from insync.properties.registry import invariants_of, sentences_of
from insync.runtime.memory import Permission
from insync_toys import TOYS, DieHard, Overflow, TokenRing

KAFKA = [
    find_model("kip320")(replicas=2, log_size=2, max_records=1, max_leader_epoch=1),
    find_model("kip101")(replicas=2, log_size=1, max_records=2, max_leader_epoch=1),
    find_model("truncate_to_high_watermark")(replicas=2, log_size=2, max_records=2, max_leader_epoch=1),
    find_model("async_isr")(replicas=3, max_offset=1, max_version=1),
]
MODELS = [*TOYS, *KAFKA]
MANY = Limits(states=5_000)
"""Where the evaluator has seen enough: `grid` has seven times as many."""


def name_of(model: Model) -> str:
    return f"{model.name}-{'-'.join(map(str, dict(model.b).values()))}"


def facts(result: CheckResult) -> CheckResult:
    """All of a result that must not depend on time, memory or engine."""
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")


@pytest.mark.slow_for(
    "grid-2", "kip320-2-2-1-1", "kip101-2-1-2-1", "truncate_to_high_watermark-2-2-2-1", "async_isr-3-1-1"
)
@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_the_result_is_that_of_the_evaluator(model: Model) -> None:
    names = list(invariants_of(model))
    expected = check_by_evaluator(model, properties=names, limits=MANY)
    assert facts(check(model, properties=names, symmetry=False, limits=MANY)) == facts(expected)
    if expected.violations:
        expected = check_by_evaluator(model, properties=names, keep_going=True, limits=MANY)
    assert facts(check(model, properties=names, keep_going=True, symmetry=False, limits=MANY)) == facts(expected)


@pytest.mark.slow_for(
    "token_ring-3-1", "die_hard-", "grid-2", "kip320-2-2-1-1", "kip101-2-1-2-1", "truncate_to_high_watermark-2-2-2-1"
)
@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_the_result_is_the_same_for_any_threads_and_partitions(model: Model) -> None:
    names = list(sentences_of(model))
    first = facts(check(model, properties=names, threads=1, partitions=1))
    for threads, partitions in [(1, 2), (1, 7), (2, 2), (2, 3), (3, 7), (4, 1)]:
        assert facts(check(model, properties=names, threads=threads, partitions=partitions)) == first


@pytest.mark.slow
def test_a_large_space_is_the_same_for_any_threads_and_partitions() -> None:
    model = find_model("kip101")(replicas=3, log_size=2, max_records=2, max_leader_epoch=2)
    first = facts(check(model, properties=["strong_isr"], threads=1, partitions=1))
    assert first.verdict == "violated"
    assert first.violations[0].trace_length == 11
    for threads, partitions in [(2, 2), (2, 7), (1, 3)]:
        assert facts(check(model, properties=["strong_isr"], threads=threads, partitions=partitions)) == first


@pytest.mark.slow_for("truncate_to_high_watermark-2-2-2-1")
@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_every_trace_can_be_replayed(model: Model) -> None:
    for violation in check(model, properties=list(sentences_of(model)), keep_going=True).violations:
        trace = violation.trace
        assert replay(trace, model=model, place="here") == trace
        assert trace.length == violation.trace_length


def test_a_violation_in_the_initial_state_is_a_trace_of_one_state() -> None:
    model = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    result = check(model, properties=["leader_in_isr"])
    (violation,) = result.violations
    assert (violation.trace_length, result.distinct_states, result.depth, result.transitions) == (1, 1, 1, 0)
    assert (result.levels, result.frontier) == ((1,), 1)
    (step,) = violation.trace.steps
    assert step.action is None


def test_the_search_ends_with_the_level_of_the_first_violation_unless_it_is_to_go_on() -> None:
    ended, whole = check(DieHard()), check(DieHard(), keep_going=True)
    assert ended.verdict == whole.verdict == "violated"
    assert ended.violations == whole.violations
    assert ended.depth == ended.violations[0].trace_length == 7
    assert whole.levels[: ended.depth] == ended.levels
    assert (whole.distinct_states, whole.frontier) == (16, 0)


def test_a_property_that_is_not_violated_is_unknown_when_another_one_ends_the_search() -> None:
    model = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    ended = check(model, properties=["weak_isr", "leader_in_isr"])
    assert [(p.name, p.verdict) for p in ended.properties] == [
        ("weak_isr", "incomplete"),
        ("leader_in_isr", "violated"),
    ]
    whole = check(model, properties=["weak_isr", "leader_in_isr"], keep_going=True)
    assert [(p.name, p.verdict) for p in whole.properties] == [("weak_isr", "holds"), ("leader_in_isr", "violated")]


def test_a_step_out_of_a_domain_is_a_violation_of_type_ok_whatever_is_checked() -> None:
    result = check(Overflow(last=3), properties=[])
    (violation,) = result.violations
    assert violation.property == "type_ok"
    assert violation.trace.refused is not None
    # After two steps the list is full; the counter overflows only after three.
    assert (violation.trace_length, violation.trace.refused.action) == (3, "append")
    assert result.depth == 3
    assert [(p.name, p.verdict) for p in result.properties] == [("type_ok", "violated")]
    assert result.never_enabled == ()


def test_nothing_to_check_counts_the_space() -> None:
    result = check(TokenRing(), properties=[])
    assert (result.verdict, result.properties, result.violations) == ("holds", (), ())
    assert sum(result.levels) == result.distinct_states
    assert sum(result.actions.values()) == result.transitions
    assert result.never_enabled == result.impossible == ("forge",)


@pytest.mark.slow
def test_very_many_partitions_are_possible() -> None:
    model = KAFKA[2]
    assert facts(check(model, threads=2, partitions=4096)) == facts(check(model))


class Still(Model):
    """Nothing ever happens."""

    def declare(self, b: BoundValues) -> State:
        return State(light=Bool)

    @action
    def never(self, s: StateView) -> None:
        require(s.light, Not(s.light))


def test_a_model_in_which_nothing_happens_has_one_state() -> None:
    result = check(Still())
    assert (result.verdict, result.levels, result.transitions) == ("holds", (1,), 0)
    assert (result.never_enabled, result.impossible) == (("never",), ())


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_a_limit_on_the_depth_ends_it_there(depth: int) -> None:
    model = KAFKA[0]
    whole = check(model)
    result = check(model, limits=Limits(depth=depth))
    assert (result.verdict, result.stopped_by, result.depth) == ("incomplete", "depth", depth)
    assert result.levels == whole.levels[:depth]
    assert result.frontier == whole.levels[depth - 1]
    assert {p.verdict for p in result.properties} == {"incomplete"}


def test_a_limit_on_the_states_ends_it_with_their_level() -> None:
    result = check(KAFKA[0], limits=Limits(states=100))
    assert (result.verdict, result.stopped_by) == ("incomplete", "states")
    assert sum(result.levels[:-1]) < 100 <= result.distinct_states


@pytest.mark.parametrize("states", [1, 4, 12, 15, 16, 99])
@pytest.mark.parametrize("further", [13, 16, 99])
def test_a_search_goes_further_where_a_property_holds_within_its_limit(states: int, further: int) -> None:
    """Jugs have 16 states, and the first with 4 litres is among the last ones."""
    first = check(DieHard(), keep_going=True, limits=Limits(states=states))
    expected = first if first.violations else check(DieHard(), keep_going=True, limits=Limits(states=further))
    limits = Limits(states=states)
    found = check_further(DieHard(), held="never_four", states=further, properties=["never_four"], limits=limits)
    assert facts(found) == facts(expected if further > states or first.violations else first)
    unchecked = check_further(DieHard(), held="never_four", states=99, properties=[], limits=limits)
    assert unchecked.distinct_states == 16


def test_a_limit_on_the_time_ends_it_with_the_levels_that_are_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is up after the third level."""
    whole = check(KAFKA[0])
    monkeypatch.setattr("insync.explorer.progress.Pulse.due", lambda _: True)
    clock = [0.0]
    monkeypatch.setattr("insync.runtime.watch.Watch.seconds", property(lambda _: clock[0]))

    def reporter(progress: Progress) -> None:
        if progress.level == 3:
            clock[0] = 9.0

    result = check(KAFKA[0], limits=Limits(seconds=5), reporter=reporter)
    assert (result.verdict, result.stopped_by, result.levels) == ("incomplete", "time", whole.levels[:3])


def test_a_limit_on_the_time_may_leave_no_level() -> None:
    result = check(KAFKA[0], limits=Limits(seconds=0))
    assert (result.verdict, result.stopped_by, result.levels, result.depth) == ("incomplete", "time", (), 0)


def test_a_violation_before_the_limit_is_a_violation() -> None:
    result = check(DieHard(), limits=Limits(depth=7))
    assert (result.verdict, result.stopped_by) == ("violated", None)
    on = check(DieHard(), limits=Limits(depth=8), keep_going=True)
    assert (on.verdict, on.stopped_by) == ("violated", "depth")


def test_stops_when_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()
    stop.set()
    result = check(KAFKA[0], stop=stop)
    assert (result.verdict, result.stopped_by, result.distinct_states) == ("incomplete", "interrupt", 0)
    stop.clear()

    def reporter(progress: Progress) -> None:
        if progress.level == 3:
            stop.set()

    monkeypatch.setattr("insync.explorer.progress.Pulse.due", lambda _: True)
    result = check(KAFKA[0], stop=stop, reporter=reporter)
    assert (result.verdict, result.stopped_by, result.depth) == ("incomplete", "interrupt", 3)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("call", [1, 2, 3, 10])
def test_a_store_without_room_for_all_states_ends_it(call: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be it for the initial states or for those of a later level: some are missing then, and nothing is proved."""
    calls, insert = itertools.count(1), Store.insert

    def full(store: Store, candidates: int, count: int, may_use: Permission) -> bool:
        return next(calls) != call and insert(store, candidates, count, may_use)

    monkeypatch.setattr(Store, "insert", full)
    result = check(KAFKA[0], threads=threads, partitions=threads, keep_going=True)
    assert (result.verdict, result.stopped_by) == ("incomplete", "memory")
    assert next(calls) > call
    monkeypatch.undo()
    assert result.depth < check(KAFKA[0], keep_going=True).depth


def test_reports_progress_about_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.explorer.progress.Pulse.due", lambda _: True)
    reports: list[Progress] = []
    result = check(KAFKA[0], threads=2, reporter=reports.append)
    assert [r.level for r in reports] == sorted(r.level for r in reports)
    assert reports[0].level == reports[0].frontier == reports[0].distinct_states == 1
    assert reports[-1].level == result.depth
    assert all(r.memory_bytes > 0 and r.seconds >= 0 and r.states_per_second >= 0 for r in reports)


def test_reports_say_where_the_search_is_likely_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.explorer.progress.Pulse.due", lambda _: True)
    reports: list[Progress] = []
    bounds = {"replicas": 2, "log_size": 3, "max_records": 3}
    result = check("kip320", bounds=bounds, properties=[], symmetry=False, reporter=reports.append)
    for report in reports:
        before, level = (0, *result.levels)[report.level - 1 : report.level + 1]
        assert report.growth == (level / before if before else 0.0)
        assert report.memory_bytes <= report.memory_at_end < report.memory_limit
        assert report.end is None or report.level >= 8
        if report.distinct_states > result.distinct_states * 0.6:
            assert report.end is not None
            assert abs(report.end.levels - result.depth) <= 3
            assert 0.7 < report.end.states / result.distinct_states < 1.4
    reports.clear()
    limits = Limits(depth=result.depth - 5)
    check("kip320", bounds=bounds, properties=[], symmetry=False, reporter=reports.append, limits=limits)
    assert reports[-1].level == result.depth - 6
    assert not [report for report in reports if report.end], "the limit ends it before"


def test_an_error_in_a_reporter_ends_the_search_cleanly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.explorer.progress.Pulse.due", lambda _: True)

    def broken(_: Progress) -> None:
        raise ZeroDivisionError

    before = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        check(KAFKA[0], threads=3, reporter=broken)
    assert threading.active_count() == before
