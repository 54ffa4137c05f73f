"""`walk`: random walks, a batch of them side by side, each with random numbers of its own.

A walk is a function of the seed and its number alone. A place in the batch whose walk has ended takes the next number.
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.machine.emit.builder import I32, I64, PTR, VOID, Function, Module, Value
from insync.machine.emit.choosing import Places, choose_function, drawn, mixed
from insync.machine.emit.lowering import LANES
from insync.machine.emit.masks import columns_function, masks_functions, states_of
from insync.machine.emit.memory import Fields, Rows
from insync.machine.emit.noting import note_function
from insync.machine.emit.transitions import Steps
from insync.machine.packed import BATCH
from insync.machine.walker import (
    NO_WALK,
    SEEN_IN_A_ROUND,
    TASTE_OF_ALL,
    TASTE_OF_HALF,
    PlaceField,
    SightField,
    WalkField,
)
from insync.model.abstraction import Abstraction
from insync.model.graph import Node
from insync.model.program import Program

__all__ = ["walk_module"]

_TASTE = 0x5851F42D4C957F2D  # tells what a walk likes from what it draws first


def walk_module(program: Program, violated: Sequence[Node], abstraction: Abstraction | None = None) -> str:
    """Return the IR module that defines `walk`.

    `walk(context) -> busy` takes the walks NEXT .. END-1, at most ROUNDS steps of each place; called again it goes on,
    until no place is busy. A walk ends after DEPTH steps, in a state without a step, at a step whose checks fail, or in
    a state that violates a condition. Of those that fail the one with the smallest number is recorded: the condition is
    its place in `violated`, or their number for a failing check, whose action ends the path. The initial states are not
    checked. Of several each walk draws one, before its first step. With an abstraction it also notes, for each state
    and by which walk, which abstract state it is, and returns early where there is no room for more of these.

    Args:
        program: the actions.
        violated: for each condition the node that says that it is violated.
        abstraction: what to note of the states; None is nothing.
    """
    m = Module()
    schema, actions = program.schema, program.actions
    columns_of = columns_function(m, schema.words)
    guards = masks_functions(m, "guards", schema, [action.guard for action in actions])
    checks = masks_functions(m, "violated", schema, [(node,) for node in violated])
    finish = _finish_function(m)
    fail = _fail_function(m, finish, len(violated))
    note = None if abstraction is None else note_function(m, schema, abstraction)
    begin, choose = _begin_function(m, schema.words), choose_function(m, [action.name for action in actions], finish)
    steps, judge = _steps_function(m, program, fail, len(violated)), _judge_function(m, len(violated), fail, finish)
    b = m.function("walk", I64, (PTR,), exported=True)
    context = Fields(b, b.arguments[0])
    rows, columns = context.pointer(WalkField.ROWS), context.pointer(WalkField.COLUMNS)
    busy, left = b.variable(0), b.variable(context[WalkField.ROUNDS])

    def evaluate(functions: Sequence[Function], masks: WalkField) -> None:
        b.call(columns_of, rows, BATCH, columns)
        for function in functions:
            b.call(function, columns, context.pointer(masks), BATCH // LANES)

    with b.forever() as rounds:
        busy.set(b.call(begin, context.address))
        with b.when(busy.value.equals(0) | left.value.equals(0)):
            rounds.leave()
        left.set(left.value - 1)
        if note is not None:
            sightings = Fields(b, context.pointer(WalkField.SIGHTINGS))
            with b.when(sightings[SightField.COUNT] + SEEN_IN_A_ROUND > sightings[SightField.LIMIT]):
                rounds.leave()
            b.call(note, context.address, 1)
        evaluate(guards, WalkField.MASKS)
        b.call(choose, context.address)
        b.call(steps, context.address)
        if note is not None:
            b.call(note, context.address, 0)
        evaluate(checks, WalkField.VIOLATED)
        b.call(judge, context.address)
    b.give(busy.value)
    return m.text


def _finish_function(m: Module) -> Function:
    """Define `finish(context, place)`: the walk at a place has ended."""
    b = m.function("finish", VOID, (PTR, I64))
    context = Fields(b, b.arguments[0])
    place = Places(b, context)[b.arguments[1]]
    context.array(WalkField.LENGTHS)[place[PlaceField.NUMBER] - context[WalkField.FIRST]] = place[PlaceField.TAKEN]
    place[PlaceField.NUMBER] = NO_WALK
    return b


def _fail_function(m: Module, finish: Function, refused: int) -> Function:
    """Define `fail(context, place, condition)`: the walk at a place fails; record it if it has the smallest number.

    Where the condition is `refused` its last step was not taken: it ends the path that is recorded, and is not counted.
    """
    b = m.function("fail", VOID, (PTR, I64, I64), inline=False)
    context, number, condition = Fields(b, b.arguments[0]), b.arguments[1], b.arguments[2]
    place, failed = Places(b, context)[number], context.array(WalkField.FAILED)
    walk, taken = place[PlaceField.NUMBER], place[PlaceField.TAKEN]
    with b.when(walk < failed[0]):
        failed[0], failed[1], failed[2], failed[3] = walk, condition, taken, place[PlaceField.START]
        path = context.array(WalkField.PATHS, I32).at(number * context[WalkField.DEPTH])
        b.copy(failed.at(4), path, taken * 4)
    place[PlaceField.TAKEN] = taken - b.select(condition.equals(refused), 1, 0)
    b.call(finish, context.address, number)
    return b


def _begin_function(m: Module, words: int) -> Function:
    """Define `begin(context) -> busy`: put the next walks into the idle places; return how many places are busy."""
    b = m.function("begin", I64, (PTR,))
    context = Fields(b, b.arguments[0])
    rows = Rows(b, context.pointer(WalkField.ROWS), words)
    initials, starts = Rows(b, context.pointer(WalkField.INITIALS), words), context[WalkField.STARTS]
    seed, end, tastes = context[WalkField.SEED], context[WalkField.END], context[WalkField.TASTES]
    places, following, busy = Places(b, context), b.variable(context[WalkField.NEXT]), b.variable(0)
    with b.loop(BATCH) as number:
        place, walk = places[number], following.value
        with b.when(place[PlaceField.NUMBER].equals(NO_WALK) & (walk < end)):
            following += 1
            place[PlaceField.NUMBER] = walk
            place[PlaceField.RANDOM] = mixed(mixed(walk + 1) ^ seed)
            place[PlaceField.TAKEN] = 0
            place[PlaceField.START] = 0
            place[PlaceField.TASTE] = 0
            with b.when(tastes.equals(TASTE_OF_ALL) | (tastes.equals(TASTE_OF_HALF) & (walk & 1).equals(1))):
                place[PlaceField.TASTE] = mixed(place[PlaceField.RANDOM] ^ _TASTE) | 1
            with b.when(starts > 1):
                place[PlaceField.START] = drawn(b, place, starts)
            rows[number] = initials[place[PlaceField.START]]
        busy += b.select(place[PlaceField.NUMBER].equals(NO_WALK), 0, 1)
    context[WalkField.NEXT] = following.value
    b.give(busy.value)
    return b


def _steps_function(m: Module, program: Program, fail: Function, conditions: int) -> Function:
    """Define `steps(context)`: take the chosen steps; a walk whose step is refused fails."""
    row_bytes = 8 * program.schema.words

    def refused(b: Function, context: Value, row: Value) -> None:
        start = Fields(b, context)[WalkField.ROWS]
        b.call(fail, context, (b.convert("ptrtoint", row, I64) - start) // row_bytes, conditions)

    steps = Steps(m, program, WalkField.STEPS, refused)
    b = m.function("steps", VOID, (PTR,))
    context = Fields(b, b.arguments[0])
    rows = Rows(b, context.pointer(WalkField.ROWS), program.schema.words)
    with steps.each(b, context.pointer(WalkField.CHOSEN), context.address) as step:
        row = rows.at(step.state)
        step.take(b, row, row, context.address)
    return b


def _judge_function(m: Module, conditions: int, fail: Function, finish: Function) -> Function:
    """Define `judge(context)`: end the walks that violate a condition, at their first one, and those that are done."""
    b = m.function("judge", VOID, (PTR,))
    context = Fields(b, b.arguments[0])
    places, masks, depth = Places(b, context), context.array(WalkField.VIOLATED), context[WalkField.DEPTH]
    with b.loop(conditions) as condition, states_of(b, masks, condition) as number:
        with b.when(places[number][PlaceField.NUMBER].differs(NO_WALK)):
            b.call(fail, context.address, number, condition)
    with b.loop(BATCH) as number:
        place = places[number]
        with b.when(place[PlaceField.NUMBER].differs(NO_WALK) & (place[PlaceField.TAKEN] >= depth)):
            b.call(finish, context.address, number)
    return b
