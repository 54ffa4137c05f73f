"""What is suspicious in a model is said, and a model that means what it says is left alone."""

from __future__ import annotations

import enum
import inspect
import random
from pathlib import Path
from typing import Any, ClassVar

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
    Not,
    Option,
    Or,
    Record,
    Seq,
    State,
    StateView,
    action,
    initial,
    invariant,
    maximum,
    part,
    require,
    step_invariant,
    when,
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
    assert sentence.startswith("The property 'fine' can never fail, as it says no more than the domains")


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


class AtTheMargin(Base):
    @action
    def count(self, s: StateView) -> None:
        lines = """A text
that goes on at the margin."""
        require(s.n < len(lines.split()))
        s.n += 1
        s.n == 1  # noqa: B015


def test_a_method_with_a_line_at_the_margin() -> None:
    (sentence,) = said(AtTheMargin())
    lines = Path(__file__).read_text().splitlines()
    line = next(number for number, text in enumerate(lines, start=1) if text.strip().startswith("s.n == 1  #"))
    assert f"test_lints.py:{line}: `s.n == 1` is worked out and then dropped" in sentence


class Phase(enum.Enum):
    READY = 0
    DONE = 1


class InVain(Base):
    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 9), phase=Phase, on=Bool, last=Option(Worker), line=Seq(Worker, 2))

    @action
    def count(self, s: StateView) -> None:
        line = s.line
        s.n == 0  # noqa: B015 -- which is the mistake
        Or(s.n < 3, s.phase == Phase.READY)
        s.last.is_none()
        line.contains(0)
        s.on  # noqa: B018
        If(s.on, s.n, 0)
        maximum(s.n, 1)
        require(s.n < 9)
        s.n += 1

    @invariant
    def ready(self, s: StateView) -> Condition:
        phase = s.phase
        s.line.is_empty()
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
        "`s.last.is_none()` is worked out and then dropped; write require(s.last.is_none()).",
        "`line.contains(0)` is worked out and then dropped; write require(line.contains(0)).",
        "`s.on` is worked out and then dropped; write require(s.on) if it is a condition, or leave it out.",
        (
            "`If(s.on, s.n, 0)` is worked out and then dropped; assign it to a field, or write `with when(...):` and "
            "assignments below it."
        ),
        "`maximum(s.n, 1)` is worked out and then dropped; use it, or leave it out.",
        f"Python decides `phase is Phase.READY` {while_traced} never holds; write phase == Phase.READY.",
        f"Python decides `Phase.DONE is not s.phase` {while_traced} always holds; write s.phase != Phase.DONE.",
        "`s.line.is_empty()` is worked out and then dropped; write return s.line.is_empty().",
        f"Python decides `after.phase is before.phase` {while_traced} never holds; write after.phase == before.phase.",
    ]


class Unmarked(Base):
    """Two of its methods are forgotten, and the others are not."""

    def inital(self, s: StateView) -> None:
        s.n = 1

    def grow(self, s: StateView) -> None:
        s.n += 1

    def is_small(self, s: StateView) -> Condition:
        return s.n < 9

    def abstraction(self, s: StateView) -> dict[str, object]:
        return {"n": s.n}

    def label_of(self, number: int) -> str:
        return str(number)

    @action
    def shrink(self, s: StateView) -> None:
        require(s.n > 0, self.is_small(s))
        s.n -= 1


def test_a_method_that_no_decorator_marks_and_nothing_calls() -> None:
    hook, step = said(Unmarked())
    line = inspect.getsourcelines(Unmarked)[1] + 3
    assert hook.endswith(
        f"test_lints.py:{line}: no decorator marks 'inital', and nothing calls it. Did you mean 'initial'?"
    )
    assert step.endswith(
        ": no decorator marks 'grow', and nothing calls it. Write @action or @invariant above it, or remove it."
    )


class Undone(Base):
    """Its only action lacks its decorator."""

    def go(self, s: StateView) -> None:
        s.n += 1


class UndoneWithAnInvariant(Base):
    def go(self, state: StateView) -> None:
        state.n += 1

    @invariant
    def small(self, state: StateView) -> Condition:
        return state.n < 5


@pytest.mark.parametrize("kind", [Undone, UndoneWithAnInvariant])
def test_the_only_action_that_no_decorator_marks(kind: type[Model]) -> None:
    none, step = said(kind())
    assert none.endswith("has no action, so nothing ever happens after the initial state.")
    assert ": no decorator marks 'go', and nothing calls it. Write @action or @invariant above it" in step


class Alternatives(Base):
    """The first four actions have two blocks that look like alternatives and are none."""

    def declare(self, b: BoundValues) -> State:
        return State(
            n=Int(0, 3), on=Bool, last=Option(Worker), phase=Array(Worker, Phase), seen=Array(Worker, Int(0, 1))
        )

    @action
    def negated(self, s: StateView) -> None:
        with when(s.n == 0):
            s.n = 1
        with when(Not(s.n == 0)):
            s.n = 0

    @action
    def opposite(self, s: StateView, worker: Worker) -> None:
        with when(s.last.is_none()):
            s.last = worker
        with when(s.last.is_some()):
            s.on = True

    @action
    def compared(self, s: StateView) -> None:
        with when(s.n < 2):
            s.n += 1
        with when(s.n >= 2):
            s.n = 0

    @action
    def next_phase(self, s: StateView, worker: Worker) -> None:
        with when(s.phase[worker] == Phase.READY):
            s.phase[worker] = Phase.DONE
        with when(s.phase[worker] == Phase.DONE):
            s.phase[worker] = Phase.READY

    @action
    def read_before(self, s: StateView) -> None:
        zero = s.n == 0
        with when(zero):
            s.n = 1
        with when(Not(zero)):
            s.n = 0

    @action
    def other_field(self, s: StateView) -> None:
        with when(s.n == 0):
            s.on = True
        with when(s.n != 0):
            s.on = False

    @action
    def each(self, s: StateView) -> None:
        for worker in self.all(Worker):
            with when(s.seen[worker] == 0):
                s.on = True
            with when(Not(s.seen[worker] == 0)):
                s.on = False

    @action
    def one_of_three(self, s: StateView, worker: Worker) -> None:
        with when(s.n == 0):
            s.n = 2
        with when(s.n == 1):
            s.n = 0
        with when(s.phase[worker] == Phase.READY):
            s.phase[worker] = Phase.READY
        with when(s.phase[worker] == Phase.DONE):
            s.phase[worker] = Phase.READY


def test_two_blocks_that_look_like_alternatives() -> None:
    found = said(Alternatives())
    kinds = [Alternatives.negated, Alternatives.opposite, Alternatives.compared, Alternatives.next_phase]
    first = [kind.__code__.co_firstlineno + 2 for kind in kinds]
    tests = ["Not(s.n == 0)", "s.last.is_some()", "s.n >= 2", "s.phase[worker] == Phase.DONE"]
    assert [sentence.split("test_lints.py:", 1)[1] for sentence in found] == [
        f"{line + 2}: this block and the one at line {line} may both happen in one step, as that one changes what "
        f"`{test}` reads. Read both conditions into variables before line {line}."
        for line, test in zip(first, tests, strict=True)
    ]


def test_a_condition_that_reads_nothing() -> None:
    model = Claims()
    _, always, within, never, *_ = said(
        model, fine=lambda s: s.n < 3, yes=lambda s: True, ten=lambda s: s.n <= 9, no=lambda s: s.n > 99
    )
    for name, sentence in (("yes", always), ("ten", within)):
        assert sentence == f"The property '{name}' can never fail, as it says no more than the domains of the fields."
    assert never == "The property 'no' is false whatever the fields hold within their domains."


class Dice(Base):
    @action
    def steady(self, s: StateView) -> None:
        s.on = If(s.n == 2, True, s.on)

    @action
    def throw(self, s: StateView) -> None:
        s.n = random.getrandbits(40) % 10


seen: list[int] = []


class Globally(Base):
    @action
    def count(self, s: StateView) -> None:
        require(len(seen) < 1)
        seen.append(1)
        s.n = 1


def test_an_action_that_differs_only_from_the_first_time_on() -> None:
    seen.clear()
    assert "the action 'count' means something else when it is traced again" in said(Globally())[0]


class Tally:
    def __init__(self) -> None:
        self.calls = 0


class Clerk:
    def __init__(self, model: Model) -> None:
        self.calls, self.known = 0, dict[str, int]()

    @action
    def file(self, s: StateView) -> None:
        self.calls += 1
        require(self.calls < 100)
        s.n = self.known.setdefault("n", 1)


total = 0


@pytest.mark.parametrize("where", ["self.clerk.calls", "self.tally", "self.counts", "total", ""])
def test_what_an_action_changes_beside_the_state(where: str) -> None:
    """It means the same when it is traced again, as Python counts far on; what is found once and kept is no mistake."""

    class Office(Base):
        counts: ClassVar[dict[str, int]] = {}
        if where == "self.clerk.calls":
            clerk = part(Clerk)

        def __init__(self) -> None:
            super().__init__()
            self.tally = Tally()

        @action
        def work(self, s: StateView) -> None:
            global total
            if where == "self.tally":
                self.tally.calls += 1
            if where == "self.counts":
                self.counts["work"] = self.counts.get("work", 0) + 1
            if where == "total":
                total += 1
            if where == "":
                self.counts.setdefault("work", 7)
            s.n = 1

    found = said(Office())
    assert len(found) == bool(where)
    for sentence in found:
        assert sentence.startswith(f"{__file__}:")
        assert f": an action changes {where} while it is traced, which happens once and not in each step." in sentence


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
