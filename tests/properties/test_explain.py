"""The reasons that are given for failures: which replica, which offset, which values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from insync.kafka.published import AsyncIsr, Kip101, Kip279, Kip320, TruncateToHighWatermark
from insync.model import (
    And,
    Array,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Implies,
    Index,
    Int,
    Model,
    Not,
    Option,
    Or,
    Record,
    Set,
    State,
    StateView,
    exists,
    for_all,
    invariant,
)
from insync.model.evaluator import Evaluator, evaluate
from insync.properties.explain import explain
from insync.properties.registry import judge
from insync_evaluator import successors
from insync_post import Post


def counterexample(model: Model, name: str) -> tuple[int, ...]:
    """Return the first state in which the property fails, breadth first."""
    (node,), evaluator = judge(model, [name]).nodes, Evaluator(model.program)
    frontier, seen = [model.program.initials[0]], {model.program.initials[0]}
    while frontier:
        for codes in frontier:
            if not evaluate(node, codes):
                return codes
        steps = [after for codes in frontier for _, after in successors(evaluator, codes)]
        frontier = [codes for codes in dict.fromkeys(steps) if codes not in seen]
        seen.update(frontier)
    raise AssertionError(f"{name} holds")


def reason(model: Model, name: str, codes: Sequence[int]) -> str | None:
    (found,) = judge(model, [name]).invariants
    failing = explain(model, found, codes)
    return None if failing is None else failing.sentence


def kafka_state(model: Model, **changes: Any) -> tuple[int, ...]:
    """Return the codes of the initial state with some fields changed, by path: `replica.b1.hw`."""
    state = model.decode(model.program.initials[0])
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = state
        for name in parents:
            place = place[name]
        place[last] = value
    return model.encode(state)


def record(name: str, epoch: str) -> dict[str, str]:
    return {"id": name, "epoch": epoch}


LEADER = {"replica__b1__leader": "b1", "replica__b1__epoch": "2", "replica__b1__isr": ["b1", "b3"]}


def test_truncation_to_the_high_watermark_is_explained() -> None:
    model = TruncateToHighWatermark(replicas=2)
    codes = counterexample(model, "weak_isr")
    assert reason(model, "weak_isr", codes) == (
        "b1 believes it leads (epoch 0) and its high watermark is 1, but b2, in the ISR {b1, b2}, "
        "has no record at offset 0."
    )
    (weak,) = judge(model, ["weak_isr"]).invariants
    failing = explain(model, weak, codes)
    assert failing is not None
    assert failing.bindings == {"leader": "b1", "member": "b2", "offset": "0"}
    assert failing.fields["replica[b2].leo"] == 0


def test_kip101_is_explained() -> None:
    model = Kip101(replicas=2)
    assert reason(model, "strong_isr", counterexample(model, "strong_isr")) == (
        "b1 believes it leads (epoch 0) and its high watermark is 1, but b2, in the controller's ISR {b1, b2}, "
        "has no record at offset 0."
    )


def test_the_replica_and_the_offset_are_those_that_fail() -> None:
    model = Kip279()
    log = [record("r0", "0"), record("r1", "1")]
    other = [record("r0", "0"), None]
    codes = kafka_state(
        model,
        **LEADER,
        replica__b1__log=log,
        replica__b1__leo=2,
        replica__b1__hw=2,
        replica__b3__log=other,
        replica__b3__leo=1,
    )
    assert reason(model, "weak_isr", codes) == (
        "b1 believes it leads (epoch 2) and its high watermark is 2, but b3, in the ISR {b1, b3}, "
        "has no record at offset 1."
    )
    # b2 is in the controller's ISR only, and comes before b3.
    assert reason(model, "strong_isr", codes) == (
        "b1 believes it leads (epoch 2) and its high watermark is 2, but b2, in the controller's ISR {b1, b2, b3}, "
        "has no record at offset 0."
    )


def test_a_different_record_is_named() -> None:
    model = Kip279()
    codes = kafka_state(
        model,
        **LEADER,
        replica__b1__log=[record("r0", "0"), None],
        replica__b1__leo=1,
        replica__b1__hw=1,
        replica__b3__log=[record("r1", "1"), None],
        replica__b3__leo=1,
    )
    assert reason(model, "weak_isr", codes) == (
        "b1 believes it leads (epoch 2) and its high watermark is 1, but b3, in the ISR {b1, b3}, "
        "has r1@1 at offset 0, where b1 has r0@0."
    )


def test_a_leader_that_lacks_its_own_committed_record_is_named() -> None:
    model = Kip279()
    codes = kafka_state(model, **LEADER, replica__b1__hw=1)
    assert reason(model, "weak_isr", codes) == (
        "b1 believes it leads (epoch 2) and its high watermark is 1, but it has itself no record at offset 0."
    )


def test_leader_in_isr_is_explained() -> None:
    model = Kip320()
    initial = model.program.initials[0]
    assert reason(model, "leader_in_isr", initial) == "The partition has no leader; its ISR is {b1, b2, b3}."
    outside = kafka_state(model, quorum__leader="b2", quorum__isr=["b1"])
    assert reason(model, "leader_in_isr", outside) == "The leader b2 is not in the controller's ISR {b1}."


def test_a_log_with_a_hole_is_explained() -> None:
    model = Kip320()
    hole = kafka_state(model, replica__b2__leo=2, replica__b2__log=[record("r0", "0"), None])
    assert reason(model, "well_formed_log", hole) == "b2 has no record at offset 1, and its log ends at 2."
    beyond = kafka_state(model, replica__b3__log=[record("r0", "0"), None])
    assert reason(model, "well_formed_log", beyond) == "b3 has a record at offset 0, and its log ends at 0."


def test_valid_high_watermark_is_explained() -> None:
    model = AsyncIsr()
    codes = kafka_state(model, leader__isr=["b1"], leader__offset={"b1": 2, "b2": 2, "b3": 1})
    assert reason(model, "valid_high_watermark", codes) == (
        "The leader counts with {b1} and its high watermark is 2, but b3, in the controller's ISR {b1, b2, b3}, "
        "has replicated only to offset 1."
    )


def test_the_high_watermark_of_a_leader_is_the_least_end_of_those_that_it_counts() -> None:
    model = AsyncIsr()
    state = model.decode(model.program.initials[0])
    state["leader"] |= {"isr": ["b1"], "pending_isr": ["b2"], "offset": {"b1": 2, "b2": 1, "b3": 0}}
    state["controller"] |= {"isr": ["b1", "b3"]}
    assert reason(model, "valid_high_watermark", model.encode(state)) == (
        "The leader counts with {b1, b2} and its high watermark is 1, but b3, in the controller's ISR {b1, b3}, "
        "has replicated only to offset 0."
    )


@pytest.mark.parametrize("name", ["weak_isr", "strong_isr", "well_formed_log"])
def test_what_holds_has_no_reason(name: str) -> None:
    model = Kip320()
    assert reason(model, name, model.program.initials[0]) is None


class Seat(Index):
    label = "seat"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return bounds.seats


class Cinema(Model):
    """Nothing ever happens here; the invariants are asked about states that are made by hand."""

    bounds = Bounds(seats=Bound(3, 1, 4, "seats in the row"))

    def declare(self, b: BoundValues) -> State:
        guest = Record(age=Int(0, 99), friend=Option(Seat))
        return State(guest=Array(Seat, guest), reserved=Set(Seat), usher=Option(Seat), row=Array(2, Int(0, 9)))

    @invariant
    def grown_up(self, s: StateView) -> Condition:
        """Guests of the reserved seats are of age."""
        return for_all(s.reserved, lambda seat: s.guest[seat].age >= 18)

    @invariant
    def friends_are_mutual(self, s: StateView) -> Condition:
        """A friend's friend is oneself."""
        seats = self.all(Seat)

        def mutual(a: Seat, b: Seat) -> Condition:
            return Implies(s.guest[a].friend == b, s.guest[b].friend == a)

        return for_all(seats, lambda a: for_all(seats, lambda b: mutual(a, b)))

    @invariant
    def somebody_is_old(self, s: StateView) -> Condition:
        """One of the guests is 80 or more."""
        return exists(self.all(Seat), lambda seat: s.guest[seat].age >= 80)

    @invariant
    def usher_stands(self, s: StateView) -> Condition:
        """No seat is the usher's."""
        return Not(exists(self.all(Seat), lambda seat: s.usher == seat))

    @invariant
    def adults_fill_sorted_rows(self, s: StateView) -> Condition:
        """Where every guest is of age, the first number is not above the second."""
        return Implies(for_all(Seat, lambda seat: s.guest[seat].age >= 18), s.row[0] <= s.row[1])

    @invariant
    def young_guests_are_led(self, s: StateView) -> Condition:
        """Where a guest is not of age, the usher sits and a seat is reserved."""
        young = exists(Seat, lambda seat: s.guest[seat].age < 18)
        return Implies(young, And(s.usher.is_some(), Not(s.reserved.is_empty())))

    @invariant
    def rows_are_sorted(self, s: StateView) -> Condition:
        """The first number is not above the second, or there are no reservations."""
        return Or(s.reserved.is_empty(), And(s.row[0] <= s.row[1], s.row[1] < 9))


@pytest.mark.parametrize(
    ("name", "changes", "text"),
    [
        (
            "grown_up",
            {"reserved": ["seat2"]},
            "grown_up fails for seat = seat2: guest[seat2].age >= 18 does not hold, with guest[seat2].age = 0.",
        ),
        (
            "friends_are_mutual",
            {"guest__seat1__friend": "seat3"},
            (
                "friends_are_mutual fails for a = seat1, b = seat3: guest[seat3].friend == seat1 does not hold, "
                "with guest[seat3].friend = none."
            ),
        ),
        (
            "somebody_is_old",
            {},
            (
                "somebody_is_old fails: (some seat: guest[seat].age >= 80) does not hold, "
                "with guest[seat1].age = 0, guest[seat2].age = 0, guest[seat3].age = 0."
            ),
        ),
        (
            "usher_stands",
            {"usher": "seat2"},
            "usher_stands fails for seat = seat2: usher == seat2 must not hold, with usher = seat2.",
        ),
        (
            "adults_fill_sorted_rows",
            {f"guest__seat{n}__age": 20 for n in (1, 2, 3)} | {"row": [3, 2]},
            "adults_fill_sorted_rows fails: row[0] <= row[1] does not hold, with row[0] = 3, row[1] = 2.",
        ),
        (
            "young_guests_are_led",
            {"usher": "seat2"},
            "young_guests_are_led fails: reserved == {} must not hold, with reserved = {}.",
        ),
        (
            "rows_are_sorted",
            {"reserved": ["seat1"], "row": [3, 2]},
            "rows_are_sorted fails: row[0] <= row[1] does not hold, with row[0] = 3, row[1] = 2.",
        ),
    ],
)
def test_a_user_s_invariant_is_explained_in_the_model_s_words(name: str, changes: dict[str, Any], text: str) -> None:
    model = Cinema()
    assert reason(model, name, kafka_state(model, **changes)) == text


class Holding(Model):
    """Somebody holds a number from 3 to 6, or none."""

    def declare(self, b: BoundValues) -> State:
        return State(held=Option(Int(3, 6)))

    @invariant
    def little_is_held(self, s: StateView) -> Condition:
        """What is held is at most 4."""
        return Implies(s.held.is_some(), s.held.value <= 4)


def test_an_optional_number_is_compared_by_its_value_and_not_by_its_code() -> None:
    model = Holding()
    assert reason(model, "little_is_held", model.encode({"held": 6})) == (
        "little_is_held fails: (maximum((held - 3), 0) + 3) <= 4 does not hold, with held = 6."
    )


def test_an_element_is_named_by_its_place_or_by_what_it_is() -> None:
    class Impatient(Post):
        @invariant
        def all_pages(self, s: StateView) -> Condition:
            """Whoever is asked has sent both pages."""
            return for_all(s.heard, lambda letter: Implies(s.asked.length > 0, letter.page == 2))

    model = Impatient()
    letter = {"kind": "ANSWER", "to": "home2", "page": 1}
    state = {"queue": [], "bag": [letter | {"kind": "QUESTION"}], "asked": ["home2"], "heard": [letter]}
    codes = model.encode(state)
    assert reason(model, "answers_were_questions", codes) == (
        "answers_were_questions fails for letter = bag[0]: bag[0].kind == ANSWER does not hold, "
        "with bag[0].kind = QUESTION."
    )
    assert reason(model, "all_pages", codes) == (
        "all_pages fails for letter = (kind=ANSWER, to=home2, page=1): asked.length <= 0 does not hold, "
        "with asked.length = 1."
    )


def test_a_leader_without_an_epoch_is_said_to_have_none() -> None:
    """No state that is reached has one, but an induction may begin with it."""
    model = Kip320(replicas=2)
    alone = {"replica__b1__leader": "b1", "replica__b1__isr": ["b1", "b2"], "replica__b1__epoch": None}
    log = [record("r0", "0"), None]
    codes = kafka_state(model, **alone, replica__b1__log=log, replica__b1__leo=1, replica__b1__hw=1)
    assert reason(model, "strong_isr", codes) == (
        "b1 believes it leads (no epoch) and its high watermark is 1, but b2, in the controller's ISR {b1, b2}, "
        "has no record at offset 0."
    )


@pytest.mark.parametrize(("fields", "rest"), [(1, ""), (7, ""), (8, ""), (9, ", and 1 more"), (11, ", and 3 more")])
def test_of_many_fields_the_first_eight_are_shown_and_the_others_counted(fields: int, rest: str) -> None:
    class Jars(Model):
        """Jars, all of which must not be full."""

        def declare(self, b: BoundValues) -> State:
            return State(jar=Array(fields, Int(0, 3)))

        @invariant
        def little(self, s: StateView) -> Condition:
            """There is nothing in the jars."""
            nothing: Condition = sum((s.jar[place] for place in range(1, fields)), s.jar[0]) < 1
            return nothing

    model = Jars()
    said = reason(model, "little", model.encode({"jar": [2] * fields})) or ""
    shown = ", ".join(f"jar[{place}] = 2" for place in range(min(fields, 8)))
    assert said.endswith(f", with {shown}{rest}.")
