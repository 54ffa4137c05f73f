"""`choose`: what each walk of a batch does next, drawn from the enabled actions.

Actions are drawn in groups: all that differ in parameters alone are one, or each is one. A group weighs 1, or what the
walk likes it. Three passes over the bits of the enabled actions do it: one sums the weights up, one finds the group
that was drawn and counts its enabled actions, and one finds the action that was drawn of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from insync.machine.emit.builder import I8, I32, I64, I128, PTR, VOID, Function, Module, Value
from insync.machine.emit.masks import states_of
from insync.machine.emit.memory import Elements, Fields
from insync.machine.packed import BATCH, MASK_BYTES
from insync.machine.walker import NO_WALK, PlaceField, WalkField

__all__ = ["Places", "choose_function", "drawn", "mixed"]

_WEIGHTS = (1, 2, 4, 8)
"""What a group may weigh in a walk that has a taste."""
_FAR = 1 << 62
"""What is left to pass over once a group is drawn: no other one is."""


class Places:
    """The places of the batch: each a record of `PlaceField`."""

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
    """Return a random number below another one: the next of the place's Weyl sequence, mixed, as a fraction of 2^64."""
    state = place[PlaceField.RANDOM] + 0x9E3779B97F4A7C15
    place[PlaceField.RANDOM] = state
    scaled = b.convert("zext", mixed(state), I128) * b.convert("zext", below, I128)
    return b.convert("trunc", scaled >> 64, I64)


class _Enabled:
    """The bits of the enabled actions, and the groups of those.

    Args:
        b: where they are looked at.
        context: of the walks.
        begins: the address of a byte for each action, whether it has another name than the one before.
        actions: how many there are.
    """

    def __init__(self, b: Function, context: Fields, begins: Value, actions: int) -> None:
        self._b, self._begins, self._actions = b, Elements(b, begins, I8), actions
        self._masks, self._by_name = context.array(WalkField.MASKS), context[WalkField.BY_NAME]

    @contextmanager
    def each(self) -> Iterator[tuple[Value, Value, Value]]:
        """Build a loop over them that gives the action, its group, and the number of the place; groups begin at 1."""
        b, group = self._b, self._b.variable(0)
        with b.loop(self._actions) as action:
            begins = b.convert("zext", self._begins[action], I64)
            here = group.value + b.select(self._by_name.equals(0), 1, begins)
            group.set(here)
            with states_of(b, self._masks, action) as number:
                yield action, here, number


def _weigh_function(m: Module) -> Function:
    """Define `weigh(taste, group) -> weight`: what a walk likes a group; without a taste it is 1."""
    b = m.function("weigh", I64, (I64, I64))
    taste, group = b.arguments
    weights = sum(weight << 8 * place for place, weight in enumerate(_WEIGHTS))
    which = mixed(taste + group * 0x9E3779B97F4A7C15) & (len(_WEIGHTS) - 1)
    weight = (b.typed(I64, weights) >> which * 8) & 0xFF
    b.give(b.select(taste.equals(0), 1, weight))
    return b


def _draw_weights_function(m: Module, finish: Function) -> Function:
    """Define `draw_weights(context)`: draw from the weights at each place; end the walk where nothing is enabled."""
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
        names: the name of each action; those that differ in parameters alone follow each other.
        finish: ends the walk at a place.
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
            place[PlaceField.ENABLED] = left  # once it is below 0, no other is chosen
            with b.when(left.equals(0)):
                byte = action * MASK_BYTES + (number >> 3)
                chosen[byte] = chosen[byte] | b.convert("trunc", b.typed(I64, 1) << (number & 7), I8)
                paths[number * depth + taken] = b.convert("trunc", action, I32)
                place[PlaceField.TAKEN] = taken + 1
    return b
