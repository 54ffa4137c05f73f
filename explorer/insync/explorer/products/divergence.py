"""Where two models part: a shortest trace that one allows and the other does not."""

from __future__ import annotations

from collections.abc import Sequence

from insync.explorer.exploring.steps import why_not
from insync.explorer.limits import StopReason, Watch
from insync.explorer.products.differences import OnlyOne
from insync.explorer.products.product import Joined, JoinedModel
from insync.explorer.progress import Reporter, while_compiling
from insync.explorer.search.breadth_first import BreadthFirstSearch
from insync.explorer.search.trace_back import path_to
from insync.explorer.search.workers import Team
from insync.explorer.stepping.stepper import Move, Refused, Stepper, confirmed
from insync.explorer.traces.counterexample import trace_of
from insync.explorer.traces.trace import DIFFERENCE
from insync.machine.interruptible import GivenUp
from insync.machine.kernels import compile_kernels
from insync.machine.packed import PackedRows
from insync.model.errors import InternalError
from insync.model.evaluator import Codes
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply
from insync.properties.condition_text import field_value, plain

__all__ = ["parting_traces"]

_MOST_FIELDS = 5


def parting_traces(
    joined: Joined, watch: Watch, threads: int, reporter: Reporter | None = None
) -> tuple[tuple[OnlyOne | None, OnlyOne | None], StopReason | None]:
    """Return a shortest trace that only the first model allows, and one that only the second allows.

    Beside them comes the limit that ended the search before both were found or there was nothing left to search.
    """
    found: list[OnlyOne | None] = [_of_initial(joined, side) for side in (0, 1)]
    stopped: StopReason | None = None
    wanted = [side for side in (0, 1) if found[side] is None and joined.only[side] is not joined.program.graph.false]
    while wanted and stopped is None and len(joined.program.initials):
        moves, stopped = _search(joined, wanted, watch, threads, reporter)
        for side, steps in moves.items():
            found[side] = _of_moves(joined, side, steps)
        if not moves:
            break
        wanted = [side for side in wanted if found[side] is None]
    return (found[0], found[1]), stopped


def _search(
    joined: Joined, sides: Sequence[int], watch: Watch, threads: int, reporter: Reporter | None
) -> tuple[dict[int, Sequence[Move]], StopReason | None]:
    """Return the joined moves to the nearest state in which some model takes a step alone, by the side of the model."""
    model, program = JoinedModel(joined.program), joined.program
    conditions: list[Node] = [apply(Op.NOT, joined.only[side]) for side in sides]
    try:
        with watch.telling(while_compiling(reporter, watch)):
            kernels = compile_kernels(program, conditions, stopped=watch.interrupted)
    except GivenUp as ended:
        return {}, StopReason.of(ended)
    initials = PackedRows.of(program.initials.rows, program.schema.words)
    with Team(threads) as team:
        search = BreadthFirstSearch(kernels, watch, team, threads, initials, reporter=reporter, schema=program.schema)
        try:
            space = search.run()
            moves: dict[int, Sequence[Move]] = {
                sides[number]: path_to(model, search, hit.least, hit.level)
                for number, hit in sorted(space.violations.items())
            }
        except GivenUp as ended:
            return {}, StopReason.of(ended)
        finally:
            search.close()
    return moves, space.stopped_by


def _of_initial(joined: Joined, side: int) -> OnlyOne | None:
    if not joined.alone[side]:
        return None
    reason = f"This initial state is none of {joined.title(1 - side)}."
    return OnlyOne(trace_of(joined.models(side)[0], DIFFERENCE, [(None, min(joined.alone[side]))], reason), reason)


def _of_moves(joined: Joined, side: int, moves: Sequence[Move]) -> OnlyOne:
    """Return the trace of joined moves and the step that one model takes alone from there."""
    model, other = joined.models(side)
    own: list[Move] = [
        (None if number is None else joined.numbers[number][side], joined.part(side, codes)) for number, codes in moves
    ]
    confirmed(model, own)
    confirmed(other, [(n if n is None else joined.numbers[n][1 - side], joined.part(1 - side, c)) for n, c in moves])
    here, there = own[-1][1], joined.part(1 - side, moves[-1][1])
    stepper, their_stepper = Stepper(model), Stepper(other)
    for number, after in stepper.outcomes(here):
        if isinstance(after, Refused):
            continue
        theirs = joined.counterparts[side][number]
        outcome = None if theirs is None else their_stepper.attempt(there, theirs)
        if isinstance(outcome, tuple) and not (apart := _apart(joined, side, after, outcome)):
            continue
        title = joined.title(1 - side)
        if theirs is None:
            name = model.program.actions[number].name
            known = name in other.program.action_names
            reason = f"{title} has no such step{': its bounds and settings rule it out' if known else ''}."
        elif outcome is None:
            reason = f"{title} does not take this step. {why_not(other, there, theirs).reason}"
        elif isinstance(outcome, Refused):
            reason = f"{title} refuses this step: {outcome}"
        else:
            told = _told(joined, side, after, outcome, apart)
            reason = f"{title} takes this step too, and it leads elsewhere: {told}"
        return OnlyOne(trace_of(model, DIFFERENCE, [*own, (number, after)], reason), reason)
    message = f"The machine code finds a step that only {model.name} takes from {here}; the evaluator finds none."
    raise InternalError(message)


def _apart(joined: Joined, side: int, mine: Codes, theirs: Codes) -> list[int]:
    """Return the common cells in which two states, one of each model, differ."""
    first, second = (mine, theirs) if side == 0 else (theirs, mine)
    at = {place: cell for cell, place in enumerate(joined.places)}
    return [place for place in joined.common if first[place] != second[at[place]]]


def _told(joined: Joined, side: int, mine: Codes, theirs: Codes, apart: Sequence[int]) -> str:
    model, other = joined.models(side)
    here, there = model.decode(mine), other.decode(theirs)
    cells = joined.first.program.schema.cells
    told = []
    for place in apart[:_MOST_FIELDS]:
        path = cells[place].path
        told.append(f"{path} is {plain(field_value(here, path))} here and {plain(field_value(there, path))} there")
    more = f", and {len(apart) - _MOST_FIELDS} more parts of the state" if len(apart) > _MOST_FIELDS else ""
    return f"{'; '.join(told)}{more}."
