"""A member of one sort is not taken for a member of another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from insync.model import (
    Array,
    BoundValues,
    If,
    Index,
    Int,
    Model,
    ModelError,
    Option,
    Set,
    State,
    StateView,
    Subset,
    action,
    maximum,
    require,
)


class Replica(Index):
    label = "b"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 3


class Epoch(Index):
    label = "e"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 3


class Isr(Subset, of=Replica): ...


class Epochs(Subset, of=Epoch): ...


FIELDS = State(
    log=Array(Replica, Int(0, 5)),
    leader=Replica,
    epoch=Epoch,
    last=Option(Replica),
    isr=Set(Replica),
    past=Set(Epoch),
    quorum=Isr,
    n=Int(0, 9),
)


def traced(body: Callable[..., object]) -> Model:
    class One(Model):
        def declare(self, b: BoundValues) -> State:
            return FIELDS

        @action
        def act(self, s: StateView, replica: Replica, epoch: Epoch) -> None:
            body(s, replica, epoch)

    model = One()
    _ = model.program
    return model


def write(place: Any, index: object, value: object) -> None:
    place[index] = value


CURE = "If its number is meant, write `\\+ 0` after it"
SETS = "a set of members of Replica is needed here, but"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda s, r, e: s.log[s.epoch], rf"a member of Replica .* but this Epoch is a member of Epoch\. {CURE}"),
        (lambda s, r, e: s.log[e], rf"a member of Replica .* but Epoch\(0\) is a member of Epoch\. {CURE}"),
        (lambda s, r, e: write(s.log, s.epoch, 1), "a member of Replica is needed here, but this Epoch"),
        (lambda s, r, e: setattr(s, "leader", s.epoch), "a member of Replica is needed for leader, but this Epoch"),
        (lambda s, r, e: setattr(s, "leader", e), r"a member of Replica is needed for leader, but Epoch\(0\)"),
        (lambda s, r, e: setattr(s, "last", e), r"a member of Replica is needed for last, but Epoch\(0\)"),
        (lambda s, r, e: require(s.leader == s.epoch), "a member of Epoch is needed here, but this Replica"),
        (lambda s, r, e: require(s.leader < e), r"a member of Epoch is needed here, but this Replica"),
        (lambda s, r, e: require(s.last == e), r"a member of Replica is needed here, but Epoch\(0\)"),
        (lambda s, r, e: require(s.last.value == e), "a member of Epoch is needed here, but this Replica"),
        (lambda s, r, e: require(s.isr.contains(e)), r"a member of Replica is needed here, but Epoch\(0\)"),
        (lambda s, r, e: setattr(s, "isr", s.isr | {e}), r"a member of Replica is needed here, but Epoch\(0\)"),
        (lambda s, r, e: setattr(s, "isr", {s.epoch}), "a member of Replica is needed here, but this Epoch"),
        (lambda s, r, e: setattr(s, "isr", s.past), f"{SETS} this set holds members of Epoch"),
        (lambda s, r, e: require(s.isr == s.past), f"{SETS} this set holds members of Epoch"),
        (lambda s, r, e: setattr(s, "quorum", s.past), f"{SETS} this set holds members of Epoch"),
        (lambda s, r, e: setattr(s, "isr", s.isr & Epochs(1)), f"{SETS} Epochs"),
        (lambda s, r, e: require(Isr(1).contains(s.epoch)), "a member of Replica is needed here, but this Epoch"),
        (lambda s, r, e: If(s.n == 1, s.leader, e), r"a member of Epoch is needed here, but this Replica"),
    ],
)  # fmt: skip
def test_a_member_of_another_sort_is_refused_at_its_line(body: Callable[..., object], message: str) -> None:
    with pytest.raises(ModelError, match=rf"test_members\.py:\d+: {message}"):
        traced(body)


def test_members_of_the_sort_numbers_and_what_is_calculated_are_accepted() -> None:
    def body(s: Any, replica: Replica, epoch: Epoch) -> None:
        require(
            s.log[s.leader] == s.log[replica], s.leader == replica, s.epoch < epoch, s.leader == 1, s.last == replica
        )
        require(s.isr.contains(s.leader), s.isr.contains(2), Isr(3).contains(s.leader), s.isr == Isr(3), s.quorum == 5)
        require(s.log[s.epoch + 0] == 1, s.leader == int(epoch), s.n == s.epoch, s.last.or_else(-1) == replica)
        s.leader = If(s.n == 1, s.leader, replica)
        s.leader = s.last.or_else(replica)
        s.epoch = maximum(s.epoch, epoch)
        s.epoch = s.epoch - 1
        s.isr = s.isr | {replica, s.leader}
        s.quorum = s.isr
        s.n = s.leader

    traced(body)


def test_what_is_chosen_among_members_is_a_member() -> None:
    for body in (
        lambda s, r, e: s.log[If(s.n == 1, s.epoch, e)],
        lambda s, r, e: s.log[maximum(s.epoch, e)],
    ):
        with pytest.raises(ModelError, match="a member of Replica is needed here, but this Epoch"):
            traced(body)
