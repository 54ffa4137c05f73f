"""`check`: the exhaustive search of a model by machine code, and the verdict of an exhaustive search by any engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from insync.explorer.given_model import ModelLike, model_of
from insync.explorer.progress import Reporter, while_compiling
from insync.explorer.results import CheckResult, PropertyResult, Verdict, Violation
from insync.explorer.run_identity import identity_of
from insync.explorer.search.breadth_first import BreadthFirstSearch
from insync.explorer.search.explored import Space
from insync.explorer.search.trace_back import path_to
from insync.explorer.stepping.stepper import Move
from insync.explorer.symmetry import UNUSED, Alike, symmetry_for
from insync.explorer.traces.counterexample import refusal_trace, violation_trace
from insync.machine.identity import conditions_key, program_key
from insync.machine.kernels import compile_kernels
from insync.machine.packed import PackedRows, Words
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.expressions.graph import Node
from insync.model.language.declarations import action_specs
from insync.model.lints import suspicions
from insync.model.tracing.tracer import traced
from insync.properties.invariants import TYPE_OK, Invariant, names_within
from insync.properties.registry import Judged, confined, judge, select
from insync.runtime.errors import UserError
from insync.runtime.memory import HUGE_PAGE, HugePages, huge_pages, peak_memory
from insync.runtime.watch import Limits, Stopped, StopReason, Watch, limits_of
from insync.runtime.workers import Team, available_cores

if TYPE_CHECKING:
    from insync.explorer.search.run_directory import RunLevels

__all__ = ["MANY_PAGES", "Extent", "PathTo", "check", "concluded", "result_of", "stopped_before", "violations_in"]

MANY_PAGES = 4
"""The huge pages that states must fill before their memory is examined for huge pages."""

PathTo = Callable[[Words, int], Sequence[Move]]
"""Returns the moves from an initial state to a state of a level."""


def check(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    limits: Limits | None = None,
    threads: int | None = None,
    partitions: int | None = None,
    keep_going: bool = False,
    symmetry: bool = True,
    within: Sequence[str] | None = None,
    run_dir: Path | str | None = None,
    resume: bool = False,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> CheckResult:
    """Search every state of a model, breadth first, and check properties in each.

    Args:
        model: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        properties: names of properties; None is the model's headline. type_ok is always checked.
        limits: of tracing, compilation and search; a result that is stopped before the search has no states.
        threads: the number of threads; None is one per core.
        partitions: the number of parts that the states are kept in; None is one per thread. The result does not
            depend on it.
        keep_going: whether to continue to the end of the space after a violation.
        symmetry: whether one representative is visited for all states that differ only in a permutation of the
            members of a symmetric sort. The counts are the same: those of all states.
        within: names of invariants; states in which one fails are checked and not expanded. None is the confinement of
            the model's class.
        run_dir: a folder to which each complete level is written; see `resume`. When memory is full, the search
            continues there.
        resume: whether to resume the run in `run_dir` after its last complete level. Model, bounds and properties must
            be the same; the number of partitions stays as it was.
        reporter: called about once a second with the progress of the search.
        stop: ends tracing, compilation or search when it is set.

    Raises:
        UserError: an unknown model, bound or property; a model that cannot be traced; members that are declared
            symmetric and not treated alike; a limit on memory that leaves no room for the first states; or a run
            directory that cannot be written, is in use, or is of another search.
        InternalError: the evaluator does not confirm a trace of the machine code.
    """
    watch = Watch(limits_of(limits), stop)
    model = confined(model_of(model, bounds), within)
    names = select(model, properties)
    started = time.perf_counter()
    try:
        with watch.telling(while_compiling(reporter, watch)):
            program = traced(model, watch.check)
            with program.graph.asking(watch.check):
                judged = judge(model, names)
    except Stopped as ended:
        return _untraced(model, names, ended, time.perf_counter() - started)
    initials = PackedRows.of(program.initials.rows, program.schema.words)
    try:
        alike = symmetry_for(model, judged.conditions, watch) if symmetry else UNUSED
        with watch.telling(while_compiling(reporter, watch)):
            kernels = compile_kernels(program, judged.nodes, watch=watch, symmetry=alike.symmetry)
    except Stopped as ended:
        return stopped_before(model, judged, ended, time.perf_counter() - started)
    size = threads or available_cores()
    untraced: dict[str, str] = {}
    stopped: StopReason | None = None
    pages: HugePages | None = None
    with _run_levels(model, judged, alike, run_dir, resume) as kept, Team(size) as team:
        compiled = searched = time.perf_counter()
        given = (kernels, watch, team, partitions or size, initials, keep_going, reporter, program.schema)
        if kept is None:
            search = BreadthFirstSearch(*given)
        else:
            from insync.explorer.search.beyond_memory import DiskSearch  # most searches do without it

            search = DiskSearch(*given, kept)
        try:
            space = search.run()
            searched, pages = time.perf_counter(), _pages_of(space)
            violations = violations_in(
                model, judged.invariants, space, lambda state, level: path_to(model, search, state, level)
            )
        except Stopped as ended:
            space = search.space
            violations, untraced = (), _untraced_violations(judged.invariants, space, ended)
            stopped = ended.reason
        finally:
            search.close()
    seconds = {"compile": compiled - started, "search": searched - compiled}
    if violations:
        seconds["trace"] = time.perf_counter() - searched
    result = result_of(model, judged, space, violations, seconds, alike, untraced)
    warnings = result.warnings if kept is None or kept.warning is None else (*result.warnings, kept.warning)
    return replace(result, huge_pages=pages, stopped_by=result.stopped_by or stopped, warnings=warnings)


@contextmanager
def _run_levels(
    model: Model, judged: Judged, alike: Alike, run_dir: Path | str | None, resume: bool
) -> Iterator[RunLevels | None]:
    """Yield the run directory, locked within the block; None if the levels are not kept."""
    if run_dir is None:
        if resume:
            message = "resume=True goes on with a run; name its folder: run_dir=..."
            raise UserError(message)
        yield None
        return
    from insync.explorer.search.explored import SpaceShape
    from insync.explorer.search.run_directory import RunLevels

    program, symmetry = model.program, alike.symmetry
    code = f"{program_key('run', program, symmetry)} {conditions_key('run', program.schema, judged.nodes)}"
    names = [found.name for found in judged.invariants]
    identity = identity_of(model, names, code, symmetry is not None, metadata.version("insync"))
    shape = SpaceShape(len(program.actions), len(judged.nodes), program.schema.words)
    with closing(RunLevels(Path(run_dir), identity, shape, resume)) as kept:
        yield kept


def _pages_of(space: Space) -> HugePages | None:
    """Return how the system backs the memory of a large space; None for a small one, as reading that is slow."""
    used = sum(partition.used_bytes for partition in space.partitions)
    return huge_pages() if used >= MANY_PAGES * HUGE_PAGE else None


def _untraced_violations(checked: Sequence[Invariant], space: Space, ended: Stopped) -> dict[str, str]:
    """Return a sentence for each violation when the search for its trace was ended."""
    hits = {checked[number].name: hit for number, hit in sorted(space.violations.items())}
    if space.refused is not None:
        hits[TYPE_OK] = space.refused
    return {
        name: f"The search for a trace of {name}, which fails in level {hit.level}, was ended ({ended.reason}): "
        "the states of that level are known, and the way to them is not."
        for name, hit in hits.items()
    }


def _untraced(model: Model, names: Sequence[str], ended: Stopped, seconds: float) -> CheckResult:
    """Return the result of a search that ended while its model was traced."""
    extent = Extent((), 0, ended.reason, dict.fromkeys(action_specs(type(model)), 0), (), ())
    return concluded(model, "local", names, extent, (), {"compile": seconds, "search": 0.0}, {})


def stopped_before(model: Model, judged: Judged, ended: Stopped, seconds: float) -> CheckResult:
    """Return the result, without states, of a search that ended while it was compiled, after `seconds` seconds."""
    nothing = Space([], [0] * len(model.program.actions), stopped_by=ended.reason)
    return result_of(model, judged, nothing, (), {"compile": seconds, "search": 0.0})


def violations_in(model: Model, checked: Sequence[Invariant], space: Space, path_to: PathTo) -> tuple[Violation, ...]:
    """Return the traces of all violations, the shortest first, then in the order of the properties.

    Args:
        model: the searched model.
        checked: the properties that were checked, in the order in which `space` numbers them.
        space: the searched space.
        path_to: returns the moves to a state.

    Raises:
        InternalError: the evaluator does not confirm a violation.
    """
    found: list[Violation] = []
    for number, hit in sorted(space.violations.items()):
        trace = violation_trace(model, checked[number], path_to(hit.least, hit.level))
        found.append(Violation(checked[number].name, trace.length, trace))
    if space.refused is not None:
        trace = refusal_trace(model, path_to(space.refused.least, space.refused.level))
        found.append(Violation(TYPE_OK, trace.length, trace))
    return tuple(sorted(found, key=lambda violation: violation.trace_length))


def result_of(
    model: Model,
    judged: Judged,
    space: Space,
    violations: tuple[Violation, ...],
    seconds: dict[str, float],
    alike: Alike = UNUSED,
    untraced: Mapping[str, str] = MappingProxyType({}),
) -> CheckResult:
    """Return the result of an exhaustive search.

    Args:
        model: the searched model.
        judged: the properties.
        space: the searched space.
        violations: a trace for each property that fails.
        seconds: the time of each part.
        alike: the symmetry that was used.
        untraced: a sentence for each property that fails and whose trace was not found before a limit.
    """
    taken = dict.fromkeys(model.program.action_names, 0)
    for action, steps in zip(model.program.actions, space.steps, strict=True):
        taken[action.name] += steps
    visited = None if alike.symmetry is None else sum(space.visited)
    extent = Extent(
        tuple(space.levels),
        space.expanded,
        space.stopped_by,
        taken,
        tuple(space.stepless),
        tuple(space.outside),
        visited,
        (*alike.notes, *untraced.values()),
        tuple(untraced),
        space.kept,
    )
    return concluded(model, "local", judged.names, extent, violations, seconds, judged.written(model))


@dataclass(frozen=True, slots=True)
class Extent:
    """What an exhaustive search by any engine counted, and what ended it.

    Attributes:
        levels: the number of states of each complete level.
        expanded: the number of levels that were expanded as a whole.
        stopped_by: the limit that ended the search.
        taken: the steps of each action.
        stepless: for each expanded level, the states that have no step and are inside the confinement.
        outside: for each complete level, the states outside the confinement.
        representatives: the number of visited states, if symmetry was used.
        notes: why symmetry was not used, and why some violation has no trace; a sentence each.
        untraced: the properties that fail and have no trace.
        kept: how the states were kept; see `CheckResult`.
    """

    levels: tuple[int, ...]
    expanded: int
    stopped_by: StopReason | None
    taken: Mapping[str, int]
    stepless: tuple[int, ...]
    outside: tuple[int, ...]
    representatives: int | None = None
    notes: tuple[str, ...] = ()
    untraced: tuple[str, ...] = ()
    kept: str = "states"


def concluded(
    model: Model,
    engine: str,
    asked: Sequence[str],
    extent: Extent,
    violations: tuple[Violation, ...],
    seconds: Mapping[str, float],
    conditions: Mapping[str, Node],
) -> CheckResult:
    """Return the result of an exhaustive search by any engine.

    Args:
        model: the searched model.
        engine: the name of the engine.
        asked: the names of the properties that the caller gave.
        extent: what the search counted, and what ended it.
        violations: a trace for each property that fails.
        seconds: the time of each part.
        conditions: the conditions that were checked in each state, by name.
    """
    taken = extent.taken
    complete = extent.stopped_by is None and extent.expanded == len(extent.levels)
    levels = _within(extent)
    violated = [*(violation.property for violation in violations), *extent.untraced]
    otherwise = Verdict.HOLDS if complete else Verdict.INCOMPLETE
    names = dict.fromkeys([*asked, *violated])
    # The action is known of the first refused step only; any action with checks may have been refused as well.
    refusals = any(violation.trace.refused is not None for violation in violations)
    refused = {action.name for action in model.program.actions if action.checks} if refusals else set()
    without = tuple(name for name, steps in taken.items() if not steps and name not in refused)
    return CheckResult(
        model=model_reference(model),
        bounds=model.identity,
        engine=engine,
        storage="exact",
        verdict=Verdict.VIOLATED if violated else otherwise,
        stopped_by=extent.stopped_by,
        distinct_states=sum(levels),
        transitions=sum(taken.values()),
        depth=len(levels),
        levels=levels,
        frontier=extent.levels[-1] - extent.outside[-1] if extent.expanded < len(extent.levels) else 0,
        properties=tuple(PropertyResult(n, Verdict.VIOLATED if n in violated else otherwise) for n in names),
        violations=violations,
        actions=taken,
        never_enabled=without if complete else (),
        not_enabled_yet=() if complete else without,
        deadlocks=sum(extent.stepless),
        within=names_within(model),
        outside=sum(extent.outside),
        warnings=(*suspicions(model, conditions), *extent.notes),
        seconds=seconds,
        peak_memory_bytes=peak_memory(),
        representatives=extent.representatives,
        impossible=model.program.impossible if extent.expanded else (),  # else it may not have been traced
        kept=extent.kept,
    )


def _within(extent: Extent) -> tuple[int, ...]:
    """Return the states of each level inside the confinement; a last level without any is left out."""
    levels = [states - outside for states, outside in zip(extent.levels, extent.outside, strict=True)]
    return tuple(levels[:-1] if levels and not levels[-1] else levels)
