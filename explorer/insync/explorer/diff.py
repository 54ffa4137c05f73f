"""`diff`: the differences of two models in properties, states and steps, and the shortest trace of only one of them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from insync.explorer.check import check
from insync.explorer.products.divergence import (
    DiffResult,
    OnlyOne,
    PropertyChange,
    StatesCompared,
    TraceDifference,
    compare_states,
    compare_traces,
    parting_traces,
)
from insync.explorer.products.product import Joined, join
from insync.explorer.progress import Reporter, while_compiling
from insync.explorer.results import CheckResult, Verdict
from insync.explorer.task import ModelLike, Needs, Prepared, Task
from insync.explorer.traces.trace import Trace
from insync.model import Model
from insync.model.given_names import given_names
from insync.model.tracing.tracer import traced
from insync.properties.invariants import TYPE_OK
from insync.properties.registry import default_names, invariants_of, lemmas_of, unknown_property
from insync.runtime.errors import UserError
from insync.runtime.watch import Limits, Stopped, StopReason, Watch

__all__ = ["diff", "diff_traces"]


def diff(
    first: ModelLike,
    second: ModelLike,
    *,
    first_bounds: Mapping[str, int | str] | None = None,
    second_bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    limits: Limits | None = None,
    threads: int | None = None,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> DiffResult:
    """Search two models, or one under two settings, and return how they differ.

    Actions are the same if their names and parameters are, and cells of the state if their paths and values are. A
    cell that only one model has is not compared.

    Args:
        first: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        second: another model, or the same under other settings.
        first_bounds: bounds and settings of the first; those left out have their defaults.
        second_bounds: those of the second.
        properties: names of properties of either; None is the headline of each.
        limits: of each search; the seconds are for all searches together.
        threads: the number of threads; None is one per core.
        reporter: called about once a second with the progress of a search.
        stop: ends the work when it is set.

    Raises:
        UserError: an unknown model, bound or property, or a model that cannot be traced.
    """
    one, other = (
        Task(model=model, bounds=chosen, limits=limits, threads=threads, reporter=reporter, stop=stop)
        for model, chosen in ((first, first_bounds), (second, second_bounds))
    )

    def with_other(prepared: Prepared, _: object = None) -> DiffResult:
        def compared(beside: Prepared, _: object = None) -> DiffResult:
            return _compared(prepared, beside.model, properties)

        return other.run(compared, compared, Needs.MODEL)

    return one.run(with_other, with_other, Needs.MODEL)  # each search has the result of one that was stopped


def _compared(one: Prepared, second: Model, properties: Sequence[str] | None) -> DiffResult:
    """Return how the model of a task differs from a second one, within the limits of the task."""
    watch, threads, reporter, stop = one.watch, one.threads, one.task.reporter, one.task.stop

    def searched(model: Model, names: Sequence[str]) -> CheckResult:
        left = watch.within(None).limits
        return check(
            model, properties=names, limits=left, threads=threads, keep_going=True, reporter=reporter, stop=stop
        )

    models = one.model, second
    asked = _asked(models, properties)
    results = [searched(model, names) for model, names in zip(models, asked, strict=True)]
    stopped = next((result.stopped_by for result in results if result.stopped_by is not None), None)
    only: tuple[OnlyOne | None, OnlyOne | None] = (None, None)
    states: StatesCompared | None = None
    fields: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    joined, ended = _joined(*models, watch.within(None), reporter)
    if joined is not None:
        only, ended = parting_traces(joined, watch.within(None), threads, reporter)
        fields = joined.own_fields
        if joined.comparable and stopped is None:
            compared = compare_states(*models, watch.within(None), threads, reporter)
            states, ended = (None, ended or compared) if isinstance(compared, StopReason) else (compared, ended)
    return DiffResult(
        first=results[0],
        second=results[1],
        settings=_settings(*models),
        properties=_changes(results[0], results[1], asked),
        own_fields=fields,
        states=states,
        only=only,
        stopped_by=stopped or ended,
        seconds=watch.seconds,
    )


def diff_traces(first: Trace, second: Trace) -> TraceDifference:
    """Return the first step in which two traces differ, and what differs: the step, and cells of the state after it."""
    return compare_traces(first, second)


def _joined(
    first: Model, second: Model, watch: Watch, reporter: Reporter | None
) -> tuple[Joined | None, StopReason | None]:
    """Return two models as one program, or the limit that ended its tracing."""
    try:
        with watch.telling(while_compiling(reporter, watch)):
            for model in (first, second):
                traced(model, watch.check)
            return join(first, second), None
    except Stopped as ended:
        return None, ended.reason


def _asked(models: Sequence[Model], names: Sequence[str] | None) -> list[list[str]]:
    """Return for each model the names of the properties to check.

    Raises:
        UserError: neither model has a property of a given name.
    """
    if names is None:
        return [list(default_names(model)) for model in models]
    names = given_names("properties", names)
    known = [{**lemmas_of(model), **invariants_of(model), TYPE_OK: None} for model in models]
    for name in names:
        if not any(name in each for each in known):
            raise UserError(unknown_property(models, name, {**known[0], **known[1]}))
    return [[name for name in names if name in each] for each in known]


def _settings(first: Model, second: Model) -> dict[str, tuple[int | str | None, int | str | None]]:
    names = dict.fromkeys([*first.identity, *second.identity])
    pairs = {name: (first.identity.get(name), second.identity.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _changes(first: CheckResult, second: CheckResult, asked: Sequence[Sequence[str]]) -> tuple[PropertyChange, ...]:
    verdicts = [{one.name: one.verdict for one in result.properties} for result in (first, second)]
    if any(TYPE_OK in each for each in verdicts):  # always checked, and listed in a result if it fails or was given
        for result, each in zip((first, second), verdicts, strict=True):
            each.setdefault(TYPE_OK, Verdict.HOLDS if result.stopped_by is None else Verdict.INCOMPLETE)
    lengths = [{one.property: one.trace_length for one in result.violations} for result in (first, second)]
    names = dict.fromkeys([*asked[0], *asked[1], *verdicts[0], *verdicts[1]])
    return tuple(
        PropertyChange(name, verdicts[0].get(name), verdicts[1].get(name), (lengths[0].get(name), lengths[1].get(name)))
        for name in names
    )
