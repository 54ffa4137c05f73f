"""A model beside a stand-in for Kafka that takes a step by itself, before or after the one that it is given."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import pytest

from insync.conformance.correspondence.correspondence import Named
from insync.conformance.correspondence.facts import Difference, Fact, Facts, differing
from insync.conformance.correspondence.known_differences import (
    Compared,
    Direction,
    KnownDifference,
    NotSchedulable,
    Step,
)
from insync.conformance.correspondence.side_by_side import SideBySide
from insync.explorer.stepping.stepper import Stepper
from insync.model import ReadableState
from insync_lamp import Lamp

FIRST, SECOND = "s1", "s2"


class Wall:
    """A lamp whose second switch is pressed by itself whenever the first one is.

    Args:
        last: the switch that is said to be the last one.
        own_may_come_first: whether the second one may have been pressed before the first one.
        differences: the known differences.
    """

    always: Collection[str] = ()

    def __init__(
        self, last: str, *, own_may_come_first: bool, differences: Sequence[KnownDifference[Compared]] = ()
    ) -> None:
        self.facts: Facts = {"last": last, "pressed": [FIRST, SECOND]}
        self.own_may_come_first, self.differences = own_may_come_first, differences
        self.given = 0

    def open(self) -> None: ...

    def take(self, step: Step) -> None:
        self.given = 1

    def own_steps(self, state: ReadableState) -> Iterator[Named]:
        if self.given and SECOND not in state["pressed"]:
            yield "press", {"switch": SECOND}

    def compare(self, state: ReadableState) -> tuple[int, list[Difference]]:
        facts: dict[str, Fact] = {"last": state["last"], "pressed": list(state["pressed"])}
        return len(facts), differing(facts, self.facts) if self.given else []

    def compared(self, step: Step, state: ReadableState, found: Sequence[Difference]) -> Compared:
        return Compared(step, state, found)

    def unlike_after(self, step: Step, state: ReadableState, possible: Callable[[Named], bool]) -> list[Difference]:
        return []

    def kafka_state(self, state: ReadableState) -> ReadableState:
        return state


def pressed(wall: Wall) -> tuple[SideBySide[Wall], list[Difference]]:
    """Press the first switch, and return the pair with what differs afterwards."""
    pair = SideBySide(Stepper(Lamp()), wall)
    assert pair.open() == []
    return pair, pair.take(pair.walk.number_of("press", {"switch": FIRST}))


def order_of(pair: SideBySide[Wall]) -> list[object]:
    return [step.parameters["switch"] for step in pair.taken[1:]]


@pytest.mark.parametrize(
    ("last", "order", "own"),
    [
        (SECOND, [FIRST, SECOND], [2]),
        (FIRST, [SECOND, FIRST], [1]),
    ],
    ids=["after", "before"],
)
def test_a_step_of_its_own_is_taken_in_the_order_that_agrees(last: str, order: list[str], own: list[int]) -> None:
    pair, found = pressed(Wall(last, own_may_come_first=True))
    assert (found, order_of(pair), pair.own) == ([], order, own)
    assert pair.ahead == [("press", {"switch": SECOND})]
    assert pair.compared == 2


@pytest.mark.parametrize("own_may_come_first", [True, False])
def test_where_no_order_agrees_the_differences_of_the_first_order_are_shown(own_may_come_first: bool) -> None:
    pair, found = pressed(Wall("neither", own_may_come_first=own_may_come_first))
    assert found == [Difference("last", SECOND, "neither")]
    assert order_of(pair) == [FIRST, SECOND]
    assert (pair.own, pair.ahead) == ([2], [("press", {"switch": SECOND})])


def test_a_step_of_its_own_does_not_come_first_where_that_cannot_be() -> None:
    _, found = pressed(Wall(FIRST, own_may_come_first=False))
    assert found == [Difference("last", SECOND, FIRST)]


def test_a_known_difference_is_looked_for_in_the_first_order_and_takes_the_step_back() -> None:
    def applies(compared: Compared) -> str | None:
        return "both are pressed" if compared.state["last"] == SECOND else None

    known = KnownDifference("both", "", "", "", Direction.NEITHER, frozenset({"press"}), frozenset({"last"}), applies)
    wall = Wall("neither", own_may_come_first=True, differences=[known])
    pair = SideBySide(Stepper(Lamp()), wall)
    pair.open()
    with pytest.raises(NotSchedulable, match="both are pressed") as caught:
        pair.take(pair.walk.number_of("press", {"switch": FIRST}))
    assert (caught.value.kind, pair.spoilt) == ("both", True)
    assert (order_of(pair), pair.own, pair.ahead) == ([], [], [])
    assert pair.walk.codes == pair.moves[0][1]
