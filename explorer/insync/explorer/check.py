"""`check`: the exhaustive search of a model by machine code."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from insync.explorer.progress import Reporter
from insync.explorer.results import CheckResult, Violation, check_result, nothing_searched
from insync.explorer.search.breadth_first import BreadthFirstSearch, Further
from insync.explorer.search.explored import Explored
from insync.explorer.task import ModelLike, Prepared, Task
from insync.machine.packed import PackedRows
from insync.model import Model
from insync.properties.invariants import TYPE_OK, Invariant
from insync.runtime.errors import UserError
from insync.runtime.memory import HUGE_PAGE, HugePages, huge_pages
from insync.runtime.watch import Limits, Stopped, StopReason
from insync.runtime.workers import Team

if TYPE_CHECKING:
    from insync.explorer.search.run_directory import RunDirectory

__all__ = ["MANY_PAGES", "check", "check_further"]

MANY_PAGES = 4
"""The huge pages that states must fill before their memory is examined for huge pages."""


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
    task = Task(
        model=model,
        bounds=bounds,
        properties=properties,
        within=within,
        limits=limits,
        threads=threads,
        symmetry=symmetry,
        reporter=reporter,
        stop=stop,
    )

    def searched(prepared: Prepared) -> CheckResult:
        return _searched(prepared, partitions or prepared.threads, keep_going, run_dir, resume)

    return task.run(
        searched, lambda prepared, reason: nothing_searched(prepared, "local", Explored([], stopped_by=reason))
    )


def check_further(
    model: Model,
    *,
    held: str,
    states: int,
    properties: Sequence[str],
    limits: Limits,
    threads: int | None = None,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> CheckResult:
    """Search as `check` does to the end of the space, and beyond the limit on states where a property holds so far.

    Every state is kept whole: that is faster than codes up to some twenty million states, and a trace needs no second
    search.

    Args:
        model: the model.
        held: the property; if it is not among `properties`, the search goes beyond the limit in any case.
        states: the limit on states that then takes the place of that of `limits`.
        properties: names of properties.
        limits: as for `check`.
        threads: as for `check`.
        reporter: as for `check`.
        stop: as for `check`.
    """
    task = Task(
        model=model,
        properties=properties,
        limits=limits,
        threads=threads,
        symmetry=True,
        reporter=reporter,
        stop=stop,
    )
    further = Further(properties.index(held) if held in properties else None, states)
    return task.run(
        lambda prepared: _searched(prepared, prepared.threads, keep_going=True, further=further),
        lambda prepared, reason: nothing_searched(prepared, "local", Explored([], stopped_by=reason)),
    )


def _searched(
    prepared: Prepared,
    partitions: int,
    keep_going: bool,
    run_dir: Path | str | None = None,
    resume: bool = False,
    further: Further | None = None,
) -> CheckResult:
    model, judged, clock = prepared.model, prepared.judged, prepared.clock
    program = model.program
    initials = PackedRows.of(program.initials.rows, program.schema.words)
    violations: tuple[Violation, ...] = ()
    untraced: dict[str, str] = {}
    stopped: StopReason | None = None
    pages: HugePages | None = None
    with _run_directory(prepared, run_dir, resume) as kept, Team(prepared.threads) as team:
        clock.lap("compile")
        reporter = prepared.task.reporter
        given = (prepared.kernels, prepared.watch, team, partitions, initials, keep_going, reporter)
        if kept is None:
            schema = program.schema if further is None else None
            search = BreadthFirstSearch(*given, schema, further=further)
        else:
            from insync.explorer.search.beyond_memory import DiskSearch  # most searches do without it

            search = DiskSearch(*given, program.schema, kept)
        try:
            space = search.run()
            clock.lap("search")
            pages = _pages_of(space)
            if space.violations or space.refused is not None:
                violations = _traced(model, search, space, judged.invariants)
        except Stopped as ended:
            space, stopped = search.space, ended.reason
            untraced = _untraced_violations(judged.invariants, space, stopped)
        finally:
            search.close()
    if violations:
        clock.lap("trace")
    clock.seconds.setdefault("search", 0.0)
    result = check_result(prepared, "local", space, violations, untraced)
    warnings = result.warnings if kept is None or kept.warning is None else (*result.warnings, kept.warning)
    return replace(result, huge_pages=pages, stopped_by=result.stopped_by or stopped, warnings=warnings)


def _traced(
    model: Model, search: BreadthFirstSearch, space: Explored, invariants: Sequence[Invariant]
) -> tuple[Violation, ...]:
    """Return a trace for each violation."""
    from insync.explorer.search.trace_back import path_to, violations_in  # most searches find none
    from insync.explorer.traces.trace import violation_trace

    return violations_in(
        model,
        space,
        lambda state, level: path_to(model, search, state, level),
        lambda number, moves: violation_trace(model, invariants[number], moves),
    )


@contextmanager
def _run_directory(prepared: Prepared, run_dir: Path | str | None, resume: bool) -> Iterator[RunDirectory | None]:
    """Yield the run directory, locked within the block; None if the levels are not kept."""
    if run_dir is None:
        if resume:
            message = "resume=True goes on with a run; name its folder: run_dir=..."
            raise UserError(message)
        yield None
        return
    from importlib.metadata import version

    from insync.explorer.run_identity import code_of, identity_of
    from insync.explorer.search.run_directory import RunDirectory
    from insync.explorer.search.run_levels import SpaceShape

    model, judged, program = prepared.model, prepared.judged, prepared.model.program
    symmetry = None if prepared.symmetry is None else prepared.symmetry.symmetry
    code = code_of(program, judged.nodes, symmetry)
    names = [found.name for found in judged.invariants]
    identity = identity_of(model, names, code, symmetry is not None, version("insync"))
    shape = SpaceShape(len(program.actions), len(judged.nodes), program.schema.words)
    with closing(RunDirectory(Path(run_dir), identity, shape, resume)) as kept:
        yield kept


def _pages_of(space: Explored) -> HugePages | None:
    """Return how the system backs the memory of a large space; None for a small one, as reading that is slow."""
    used = sum(partition.used_bytes for partition in space.partitions)
    return huge_pages() if used >= MANY_PAGES * HUGE_PAGE else None


def _untraced_violations(checked: Sequence[Invariant], space: Explored, reason: StopReason) -> dict[str, str]:
    """Return a sentence for each violation when the search for its trace was ended."""
    hits = {checked[number].name: hit for number, hit in sorted(space.violations.items())}
    if space.refused is not None:
        hits[TYPE_OK] = space.refused
    return {
        name: f"The search for a trace of {name}, which fails in level {hit.level}, was stopped ({reason}): "
        "the states of that level are known, and the way to them is not."
        for name, hit in hits.items()
    }
