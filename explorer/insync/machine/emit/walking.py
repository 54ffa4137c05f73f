"""The kernel `walk`: takes a batch of random walks side by side, each with its own random numbers.

A walk is a function of the seed and its number alone. When a walk ends, its place in the batch takes the walk with the
next number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from insync.machine.emit.builder import GOLDEN_RATIO, I8, I32, I64, I128, PTR, VOID, Function, Module, Value
from insync.machine.emit.hash_table import see_function
from insync.machine.emit.lowering import LANES, Lowering, Shape
from insync.machine.emit.masks import columns_function, masks_functions, states_of
from insync.machine.emit.memory import Elements, Fields, Rows, read_row, span_of, with_spans, write_row
from insync.machine.emit.transitions import Steps
from insync.machine.packed import BATCH, MASK_BYTES
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
from insync.model.domains.layout import Schema
from insync.model.expressions.graph import Node
from insync.model.tracing.program import Program

__all__ = [
    "walk_module",
]


_TASTE = 0x5851F42D4C957F2D  # makes the weights of a walk independent of its first draw


def walk_module(program: Program, violated: Sequence[Node], abstraction: Abstraction | None = None) -> str:
    """Return the IR module that defines `walk`.

    `walk(context) -> busy` takes the walks NEXT .. END-1, at most ROUNDS steps per place; called again, it continues
    until no place is busy. A walk ends after DEPTH steps, in a state without a step, at a step whose checks fail, or in
    a state that violates a condition. The failing walk with the smallest number is recorded with the index of its
    condition in `violated`. For a failing check that index is the number of conditions, and its action ends the path.

    If there are several initial states, each walk draws one before its first step. Initial states are not checked. With
    an abstraction the abstract state of each state is recorded, and `walk` returns early when there is no room.

    Args:
        program: the actions.
        violated: the negation of each condition.
        abstraction: the abstract states to record; None records none.
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
    """Define `finish(context, place)`: record the length of the walk at a place, and free the place."""
    b = m.function("finish", VOID, (PTR, I64))
    context = Fields(b, b.arguments[0])
    place = Places(b, context)[b.arguments[1]]
    context.array(WalkField.LENGTHS)[place[PlaceField.NUMBER] - context[WalkField.FIRST]] = place[PlaceField.TAKEN]
    place[PlaceField.NUMBER] = NO_WALK
    return b


def _fail_function(m: Module, finish: Function, refused: int) -> Function:
    """Define `fail(context, place, condition)`: end the walk at a place, and record it if its number is the smallest.

    If the condition is `refused`, the last step was not taken: it ends the recorded path, but is not counted.
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
    """Define `begin(context) -> busy`: start the next walks in the idle places; return how many places are busy."""
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
    """Define `steps(context)`: take the chosen steps; a refused step fails its walk."""
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
    """Define `judge(context)`: fail walks by the first condition that they violate, and end walks of full depth."""
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


# ------------------------------------------------------------------------------------------------------------- the draw

# Each walk draws a group of enabled actions, then an action of the group. A group is all actions that differ in
# parameters only, or one action. Its weight is 1, or depends on the walk. This takes three passes over the masks of the
# guards: the first sums the weights, the second finds the drawn group and counts its enabled actions, and the third
# finds the drawn action.


_WEIGHTS = (1, 2, 4, 8)
"""The weights of groups in a walk with weights of its own."""
_FAR = 1 << 62
"""The weight left to pass over once a group is drawn: so large that no other group is drawn."""


class Places:
    """The places of the batch, each a record of `PlaceField`."""

    def __init__(self, b: Function, context: Fields) -> None:
        self._b, self._address = b, context.pointer(WalkField.PLACES)

    def __getitem__(self, number: Value) -> Fields:
        return Fields(self._b, self._b.element(I8, self._address, number * (8 * len(PlaceField))))


def mixed(number: Value) -> Value:
    """Return a number mixed by the finalizer of SplitMix64 (Steele, Lea, Flood 2014)."""
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9
    number = (number ^ number >> 27) * 0x94D049BB133111EB
    return number ^ number >> 31


def drawn(b: Function, place: Fields, below: Value) -> Value:
    """Return the next random number of a place, scaled to less than `below`: the generator is SplitMix64."""
    state = place[PlaceField.RANDOM] + GOLDEN_RATIO
    place[PlaceField.RANDOM] = state
    scaled = b.convert("zext", mixed(state), I128) * b.convert("zext", below, I128)
    return b.convert("trunc", scaled >> 64, I64)


class _Enabled:
    """The masks of the guards, and the groups of the actions.

    Args:
        b: the function that reads them.
        context: of the walks.
        begins: the address of a byte per action: whether its name differs from that of the action before.
        actions: how many actions there are.
    """

    def __init__(self, b: Function, context: Fields, begins: Value, actions: int) -> None:
        self._b, self._begins, self._actions = b, Elements(b, begins, I8), actions
        self._masks, self._by_name = context.array(WalkField.MASKS), context[WalkField.BY_NAME]

    @contextmanager
    def each(self) -> Iterator[tuple[Value, Value, Value]]:
        """Build a loop over the enabled actions of all places that gives action, group (from 1), and place."""
        b, group = self._b, self._b.variable(0)
        with b.loop(self._actions) as action:
            begins = b.convert("zext", self._begins[action], I64)
            here = group.value + b.select(self._by_name.equals(0), 1, begins)
            group.set(here)
            with states_of(b, self._masks, action) as number:
                yield action, here, number


def _weigh_function(m: Module) -> Function:
    """Define `weigh(taste, group) -> weight`: the weight of a group in a walk; 1 if the walk has no weights."""
    b = m.function("weigh", I64, (I64, I64))
    taste, group = b.arguments
    weights = sum(weight << 8 * place for place, weight in enumerate(_WEIGHTS))
    which = mixed(taste + group * GOLDEN_RATIO) & (len(_WEIGHTS) - 1)
    weight = (b.typed(I64, weights) >> which * 8) & 0xFF
    b.give(b.select(taste.equals(0), 1, weight))
    return b


def _draw_weights_function(m: Module, finish: Function) -> Function:
    """Define `draw_weights(context)`: draw from the weights at each place; end a walk without an enabled action."""
    b = m.function("draw_weights", VOID, (PTR,))
    context = Fields(b, b.arguments[0])
    places = Places(b, context)
    with b.loop(BATCH) as number:
        place = places[number]
        place[PlaceField.LAST] = place[PlaceField.GROUP] = place[PlaceField.ENABLED] = 0
        with b.when(place[PlaceField.NUMBER].equals(NO_WALK)):
            b.again()
        with b.when(place[PlaceField.WEIGHT].equals(0)):
            stuck = context.array(WalkField.STUCK)
            stuck[0] = stuck[0] + 1
            b.call(finish, context.address, number)
            b.again()
        place[PlaceField.WEIGHT] = drawn(b, place, place[PlaceField.WEIGHT])
    return b


def choose_function(m: Module, names: Sequence[str], finish: Function) -> Function:
    """Define `choose(context)`: for every place with a walk draw an enabled action, and set its bit in CHOSEN.

    A walk without an enabled action ends.

    Args:
        m: where to define it.
        names: the name of each action; actions that differ in parameters only are adjacent.
        finish: the function that ends the walk at a place.
    """
    begins = m.bytes("begins", [1, *(before != after for before, after in pairwise(names))])
    weigh, draw_weights = _weigh_function(m), _draw_weights_function(m, finish)
    b = m.function("choose", VOID, (PTR,))
    context = Fields(b, b.arguments[0])
    enabled = _Enabled(b, context, b.address(begins), len(names))
    places = Places(b, context)
    with b.loop(BATCH) as number:
        place = places[number]
        place[PlaceField.LAST] = place[PlaceField.WEIGHT] = 0
    with enabled.each() as (_, group, number):
        place = places[number]
        with b.when(place[PlaceField.LAST].differs(group)):
            place[PlaceField.LAST] = group
            place[PlaceField.WEIGHT] = place[PlaceField.WEIGHT] + b.call(weigh, place[PlaceField.TASTE], group)
    b.call(draw_weights, context.address)
    with enabled.each() as (_, group, number):
        place = places[number]
        with b.when(place[PlaceField.LAST].differs(group)):
            place[PlaceField.LAST] = group
            weight, over = b.call(weigh, place[PlaceField.TASTE], group), place[PlaceField.WEIGHT]
            place[PlaceField.WEIGHT] = over - weight
            with b.when(over < weight):
                place[PlaceField.GROUP] = group
                place[PlaceField.WEIGHT] = _FAR
        with b.when(place[PlaceField.GROUP].equals(group)):
            place[PlaceField.ENABLED] = place[PlaceField.ENABLED] + 1
    with b.loop(BATCH) as number:
        place = places[number]
        with b.when(place[PlaceField.ENABLED] > 1):
            place[PlaceField.ENABLED] = drawn(b, place, place[PlaceField.ENABLED]) + 1
    chosen, depth = context.array(WalkField.CHOSEN, I8), context[WalkField.DEPTH]
    paths = context.array(WalkField.PATHS, I32)
    b.clear(chosen.address, len(names) * MASK_BYTES)
    with enabled.each() as (action, group, number):
        place = places[number]
        with b.when(place[PlaceField.NUMBER].differs(NO_WALK) & place[PlaceField.GROUP].equals(group)):
            left, taken = place[PlaceField.ENABLED] - 1, place[PlaceField.TAKEN]
            place[PlaceField.ENABLED] = left  # wraps below 0, so no other action is chosen
            with b.when(left.equals(0)):
                byte = action * MASK_BYTES + (number >> 3)
                chosen[byte] = chosen[byte] | b.convert("trunc", b.typed(I64, 1) << (number & 7), I8)
                paths[number * depth + taken] = b.convert("trunc", action, I32)
                place[PlaceField.TAKEN] = taken + 1
    return b


# ------------------------------------------------------------------------------------------------------ abstract states


def note_function(m: Module, schema: Schema, abstraction: Abstraction) -> Function:
    """Define `note(context, begins)`: record the abstract state at each place with a walk.

    If `begins` is not 0, only walks that have taken no step are recorded.
    """
    see, abstract = see_function(m, abstraction.schema.words), _abstract_function(m, schema, abstraction)
    b = m.function("note", VOID, (PTR, I64))
    context, begins = Fields(b, b.arguments[0]), b.arguments[1]
    places, rows = Places(b, context), Rows(b, context.pointer(WalkField.ROWS), schema.words)
    sightings, made = context.pointer(WalkField.SIGHTINGS), b.space(I64, abstraction.schema.words, 8)
    with b.loop(BATCH) as number:
        place = places[number]
        asked = begins.equals(0) | place[PlaceField.TAKEN].equals(0)
        with b.when(place[PlaceField.NUMBER].differs(NO_WALK) & asked):
            b.call(abstract, rows.at(number), made)
            b.call(see, sightings, made, place[PlaceField.NUMBER])
    return b


def _abstract_function(m: Module, schema: Schema, abstraction: Abstraction) -> Function:
    """Define `abstract(row, to)`: write the abstract state of a state."""
    b = m.function("abstract", VOID, (PTR, PTR))
    row = read_row(b, b.arguments[0], schema.words)
    lowering = Lowering(schema, [word.operand for word in row], Shape(1), b)
    codes = {
        span_of(abstraction.schema, number): Value(b, I64, lowering.operand(node))
        for number, node in enumerate(abstraction.codes)
    }
    write_row(b, b.arguments[1], with_spans([b.typed(I64, 0)] * abstraction.schema.words, codes))
    return b
