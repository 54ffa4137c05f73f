"""What is suspicious in a model is said, and a model that means what it says is left alone."""

from __future__ import annotations

import enum
import random
from pathlib import Path
from typing import Any

import pytest

from insync.model import (
    NONE,
    Array,
    Bool,
    BoundValues,
    Condition,
    If,
    Index,
    Int,
    Model,
    Option,
    Or,
    Record,
    State,
    StateView,
    action,
    initial,
    invariant,
    require,
    step_invariant,
)
from insync.model.catalogue import BUILT_IN, find_model
from insync.model.lints import suspicions
from insync.properties.registry import judge
from insync_toys import TOYS


class Worker(Index):
    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 2


class Base(Model):
    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 9), on=Bool, last=Option(Worker))


def said(model: Model, **conditions: Any) -> list[str]:
    assert model.program is not None
    return list(suspicions(model, {name: model.trace_predicate(one) for name, one in conditions.items()}))


def test_a_model_without_actions() -> None:
    (sentence,) = said(Base())
    assert sentence == "base has no action, so nothing ever happens after the initial state."


def test_of_a_model_that_is_not_traced_nothing_is_said() -> None:
    model = Base()
    assert suspicions(model, {}) == ()
    assert model._program is None


class Alone(Index):
    size = 1


class OfOne(Base):
    @action
    def count(self, s: StateView, worker: Alone) -> None:
        require(s.n < 9)
        s.n += 1

    @invariant
    def apart(self, s: StateView, one: Alone, other: Alone) -> Condition:
        return Or(s.n == 3, one == other)


def test_what_two_members_do_is_not_asked_of_a_sort_with_one() -> None:
    model = OfOne()
    node = judge(model, ["apart"]).nodes[0]
    assert node is node.graph.true
    assert suspicions(model, {"apart": node}) == ()


class OfOneAndTwo(OfOne):
    @action
    def claim(self, s: StateView, worker: Worker) -> None:
        s.last = worker


class OfNobody(Base):
    @action
    def count(self, s: StateView) -> None:
        require(s.n < 9)
        s.n += 1


def test_one_sort_with_one_member_is_enough_and_without_sorts_there_is_none() -> None:
    assert said(OfOneAndTwo(), fine=lambda s: True) == []
    (sentence,) = said(OfNobody(), fine=lambda s: True)
    assert sentence.startswith("The property 'fine' does not depend on the state")


class Perhaps(Base):
    @action
    def count(self, s: StateView, really: bool) -> None:
        require(s.n < 9)
        if really:
            s.n += 1


def test_an_action_that_changes_something_in_one_binding_is_not_in_vain() -> None:
    assert said(Perhaps()) == []


class Claims(Base):
    @action
    def claim(self, s: StateView, worker: Worker) -> None:
        if s.last is None:
            s.last = worker

    @action
    def count(self, s: StateView) -> None:
        require(s.n < 9)
        s.n += 1

    @invariant
    def nobody(self, s: StateView) -> Condition:
        last = s.last
        return True if last is not NONE else s.n == 0


def test_a_test_for_none_by_python_and_what_it_leads_to() -> None:
    never, is_none, is_some = said(Claims())
    assert "test_lints.py:" in never
    assert "the action 'claim' never changes the state, so its steps lead nowhere." in never
    assert (
        "Python decides `s.last is None` while the model is traced, and it never holds; write s.last.is_none()."
        in is_none
    )
    assert (
        "Python decides `last is not NONE` while the model is traced, and it always holds; write last.is_some()"
        in is_some
    )
    lines = Path(__file__).read_text().splitlines()
    line = next(number for number, text in enumerate(lines, start=1) if "if s.last is None:" in text)
    assert f"test_lints.py:{line}: " in is_none


class Phase(enum.Enum):
    READY = 0
    DONE = 1


class InVain(Base):
    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 9), phase=Phase)

    @action
    def count(self, s: StateView) -> None:
        s.n == 0  # noqa: B015 -- which is the mistake
        Or(s.n < 3, s.phase == Phase.READY)
        require(s.n < 9)
        s.n += 1

    @invariant
    def ready(self, s: StateView) -> Condition:
        phase = s.phase
        return s.n < 3 if phase is Phase.READY else Phase.DONE is not s.phase

    @step_invariant
    def forward(self, before: StateView, after: StateView) -> Condition:
        return after.n > before.n if after.phase is before.phase else True


def test_what_python_decides_and_drops() -> None:
    sentences = [sentence.split(": ", 1)[1] for sentence in said(InVain())]
    while_traced = "while the model is traced, and it"
    assert sentences == [
        "`s.n == 0` is worked out and then dropped; write require(s.n == 0).",
        (
            "`Or(s.n < 3, s.phase == Phase.READY)` is worked out and then dropped; write "
            "require(Or(s.n < 3, s.phase == Phase.READY))."
        ),
        f"Python decides `phase is Phase.READY` {while_traced} never holds; write phase == Phase.READY.",
        f"Python decides `Phase.DONE is not s.phase` {while_traced} always holds; write s.phase != Phase.DONE.",
        f"Python decides `after.phase is before.phase` {while_traced} never holds; write after.phase == before.phase.",
    ]


def test_a_condition_that_reads_nothing() -> None:
    model = Claims()
    _, always, never, *_ = said(model, fine=lambda s: s.n < 3, yes=lambda s: True, no=lambda s: s.n > 99)
    assert always == "The property 'yes' does not depend on the state: it is true whatever the fields hold."
    assert never == "The property 'no' does not depend on the state: it is false whatever the fields hold."


class Dice(Base):
    @action
    def steady(self, s: StateView) -> None:
        s.on = If(s.n == 2, True, s.on)

    @action
    def throw(self, s: StateView) -> None:
        s.n = random.getrandbits(40) % 10


def test_an_action_of_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    faces = iter(range(10))
    monkeypatch.setattr(random, "getrandbits", lambda _: next(faces))
    (sentence,) = said(Dice())
    assert "the action 'throw' means something else when it is traced again" in sentence


@pytest.mark.slow_for("kraft")
@pytest.mark.parametrize("name", BUILT_IN)
def test_nothing_is_suspicious_in_the_models_that_come_with_insync(name: str) -> None:
    model = find_model(name)()
    judged = judge(model)
    assert (
        suspicions(model, {found.name: node for found, node in zip(judged.invariants, judged.nodes, strict=True)}) == ()
    )


@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.name)
def test_nothing_is_suspicious_in_the_toys(toy: Model) -> None:
    assert suspicions(toy, {}) == ()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"release": "3.9", "elr": "on"}, "Kafka 3.9 has no eligible leader replicas, which can be used from 4.0 on"),
        ({"min_insync_replicas": 4}, "min.insync.replicas 4 is more than the 3 replicas: Kafka 4.1 takes the lesser"),
        (
            {"min_insync_replicas": 4, "release": "3.5"},
            "4 is more than the 3 replicas: Kafka 3.5 refuses every write with acks=all",
        ),
        (
            {"min_insync_replicas": 3, "acks": "1"},
            "min.insync.replicas says nothing about records written with acks=1.",
        ),
        ({"reassignments": 1, "release": "2.1"}, "Reassignments are modelled from 2.7 on; with 2.1 none happens."),
    ],
)
def test_the_cluster_says_which_settings_mean_less_than_they_say(settings: dict[str, Any], sentence: str) -> None:
    (said,) = find_model("cluster")(**settings).remarks()
    assert sentence in said
    assert find_model("cluster")().remarks() == []


def test_placement_says_so_too() -> None:
    (said,) = find_model("placement")(min_insync_replicas=4).remarks()
    assert said == "min.insync.replicas 4 is more than the 3 replicas, so it counts as 3."


def test_a_test_for_none_where_the_model_begins() -> None:
    class Begun(Base):
        @initial
        def begin(self, s: StateView) -> None:
            if s.last is None:
                s.n = 1

    assert any("Python decides `s.last is None`" in text for text in said(Begun()))


class Deep(Model):
    """Numbers below 0, of which `initial` assigns some."""

    def declare(self, b: BoundValues) -> State:
        return State(
            low=Int(-12, 3),
            kept=Int(-12, 3),
            none_yet=Int(-1, 3),
            below=Int(-5, -3),
            each=Array(Worker, Record(a=Int(0, 1), n=Int(-2, 2))),
            perhaps=Option(Int(-3, 3)),
        )

    def initial(self, s: StateView) -> None:
        s.kept = -12

    @action
    def go(self, s: StateView) -> None:
        require(s.low < 3)
        s.low += 1


def test_a_number_that_begins_far_below_0_by_default() -> None:
    assert [sentence.partition(": ")[2] for sentence in said(Deep())] == [
        f"the field {name!r} begins with {least}, the least number that it can hold, as nothing assigns it in "
        f"`initial`; write there with what it begins."
        for name, least in (("low", -12), ("each", -2))
    ]
    assert "test_lints.py:" in said(Deep())[0]


def test_of_a_model_with_initial_methods_it_is_not_said() -> None:
    class Begun(Deep):
        @initial
        def begin(self, s: StateView) -> None:
            s.low = 0

    assert said(Begun()) == []
