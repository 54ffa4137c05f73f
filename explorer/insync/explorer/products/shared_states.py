"""The states that two models of the same fields reach: how many both, and how many of each level one alone."""

from __future__ import annotations

from insync.explorer.limits import StopReason, Watch
from insync.explorer.products.differences import StatesCompared
from insync.explorer.progress import Reporter, while_compiling
from insync.explorer.search.breadth_first import BreadthFirstSearch
from insync.explorer.search.explored import Space
from insync.explorer.search.workers import Team
from insync.machine.interruptible import GivenUp
from insync.machine.kernels import compile_kernels
from insync.machine.packed import PackedRows
from insync.model import Model

__all__ = ["compare_states"]


def compare_states(
    first: Model, second: Model, watch: Watch, threads: int, reporter: Reporter | None = None
) -> StatesCompared | StopReason:
    """Return what the states of two models have in common, or the limit that ended one of the searches.

    Args:
        first: a model.
        second: another whose states have the very same cells, so that equal states are equal words.
        watch: over both searches.
        threads: how many work at once.
        reporter: is told how far each search is.
    """
    with Team(threads) as team:
        searches: list[BreadthFirstSearch] = []
        try:
            for model in (first, second):
                searches.append(_begun(model, watch, team, reporter))
                if (stopped := searches[-1].run().stopped_by) is not None:
                    return stopped
            one, other = (search.space for search in searches)
            # The second's states come behind those of the first, which stay where they are.
            only_second = _added(one, other, watch)
            only_first = None if only_second is None else _added(other, one, watch)
        except GivenUp as ended:
            return StopReason.of(ended)
        finally:
            for search in searches:
                search.close()
    if only_first is None or only_second is None:
        return StopReason.MEMORY
    return StatesCompared(sum(one.levels) - sum(only_first), only_first, only_second)


def _begun(model: Model, watch: Watch, team: Team, reporter: Reporter | None) -> BreadthFirstSearch:
    program = model.program
    with watch.telling(while_compiling(reporter, watch)):
        kernels = compile_kernels(program, stopped=watch.interrupted)
    initials = PackedRows.of(program.initials.rows, program.schema.words)
    # The partition that a state belongs to depends on the state alone, so it is the same one in both searches.
    return BreadthFirstSearch(kernels, watch, team, team.size, initials, keep_going=True, reporter=reporter)


def _added(into: Space, of: Space, watch: Watch) -> tuple[int, ...] | None:
    """Add the states of one space to the stores of another; return how many of each level are new there.

    None is that there was no memory for all of them.
    """
    new = []
    for level in range(len(of.levels)):
        fresh = 0
        for mine, theirs in zip(into.whole, of.whole, strict=True):
            before, start, end = len(mine.store), theirs.starts[level], theirs.starts[level + 1]
            if end > start and not mine.store.insert(theirs.store.address(start), end - start, watch.may_use):
                return None
            fresh += len(mine.store) - before
        watch.settle()
        new.append(fresh)
    return tuple(new)
