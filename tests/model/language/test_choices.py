"""`any_of`: a parameter of an action, made where it is needed."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import pytest

from insync.explorer import check, liveness, replay
from insync.explorer.export.promela import promela_text
from insync.explorer.export.tla.module import tla_files
from insync.model import (
    Array,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    If,
    Index,
    Int,
    Model,
    ModelError,
    Not,
    Range,
    Seq,
    Set,
    Setting,
    Settings,
    State,
    StateView,
    Switch,
    action,
    any_of,
    bound,
    exists,
    initial,
    invariant,
    leads_to,
    require,
    when,
)
from insync.model.tracing.program import specs_of


class Node(Index, symmetric=True):
    """Whoever asks."""

    size = bound("nodes")


class Color(enum.Enum):
    """What is asked."""

    RED = 0
    BLUE = 1


class Asking(Model):
    """A node asks any other one, which is a choice."""

    bounds = Bounds(nodes=Bound(3, 0, 4, "nodes"))

    def declare(self, b: BoundValues) -> State:
        return State(present=Set(Node), asked=Array(Node, Set(Node)), color=Color)

    @action(label="{node} comes")
    def come(self, s: StateView, node: Node) -> None:
        require(Not(s.present.contains(node)))
        s.present |= {node}

    @action(label="{node} asks {other} for {color}")
    def ask(self, s: StateView, node: Node) -> None:
        require(s.present.contains(node))
        other = any_of(s.present, "other")
        require(other != node, Not(s.asked[node].contains(other)))
        s.asked[node] |= {other}
        s.color = any_of(Color)

    @invariant
    def never_oneself(self, s: StateView, node: Node) -> Condition:
        return Not(s.asked[node].contains(node))

    @leads_to(weak=("ask(node, other)", "come(node)"))
    def all_ask(self, s: StateView, node: Node, other: Node) -> tuple[Condition, Condition]:
        return s.present.contains(node), s.asked[node].contains(other) if node != other else s.present.contains(node)


class Spelled(Asking):
    """The same with parameters."""

    @action(label="{node} asks {other} for {color}")
    def ask(self, s: StateView, node: Node, other: Node, color: Color) -> None:  # type: ignore[override]
        require(s.present.contains(node), s.present.contains(other))
        require(other != node, Not(s.asked[node].contains(other)))
        s.asked[node] |= {other}
        s.color = color


def test_a_choice_is_a_parameter_of_the_bound_actions() -> None:
    chosen, spelled = Asking(nodes=2).program, Spelled(nodes=2).program
    assert [(one.label, one.parameters) for one in chosen.actions] == [
        (one.label, one.parameters) for one in spelled.actions
    ]
    assert [one.label for one in chosen.actions][2:] == [
        "node1 asks node2 for RED",
        "node1 asks node2 for BLUE",
        "node2 asks node1 for RED",
        "node2 asks node1 for BLUE",
    ]
    assert list(specs_of(_traced(Asking(nodes=2)))["ask"].parameters) == ["node", "other", "color"]


@pytest.mark.parametrize("nodes", [0, 1, 3])
def test_every_verb_says_what_it_says_of_parameters(nodes: int) -> None:
    one, other = (check(kind, bounds={"nodes": nodes}) for kind in (Asking, Spelled))
    assert one.verdict == other.verdict == "holds"
    counts = [(r.distinct_states, r.transitions, r.levels, r.representatives) for r in (one, other)]
    assert counts[0] == counts[1]


def test_a_trace_has_it_and_is_replayed() -> None:
    class Blue(Asking):
        @invariant
        def never_blue(self, s: StateView) -> Condition:
            return Not(s.color == Color.BLUE)

    model = Blue(nodes=2)
    (violation,) = check(model, properties=["never_blue"], symmetry=False).violations
    step = violation.trace.steps[-1]
    assert (step.action, dict(step.parameters)) == ("ask", {"node": "node1", "other": "node2", "color": "BLUE"})
    assert replay(violation.trace, model=model).property == "never_blue"


def test_fairness_names_a_choice() -> None:
    results = [liveness(kind, bounds={"nodes": 2}) for kind in (Asking, Spelled)]
    assert [[str(one.verdict) for one in result.properties] for result in results] == [["holds"], ["holds"]]


def test_exports_have_it_as_a_parameter() -> None:
    text = "".join(tla_files(Asking(), ["never_oneself"], "Asking").values())
    assert "Ask(node, other, color)" in text or "Ask_RED(node, other)" in text
    assert "node1 asks node2 for RED" in promela_text(Asking(nodes=2), {})


def test_an_action_called_by_another_one_has_its_choices() -> None:
    class Above(Asking):
        @action
        def ask(self, s: StateView, node: Node) -> None:
            require(s.color == Color.RED)
            super().ask(s, node)

    assert check(Above, bounds={"nodes": 2}).verdict == "holds"
    assert dict(Above(nodes=2).program.actions[2].shown_parameters) == {
        "node": "node1",
        "other": "node2",
        "color": "RED",
    }


def test_a_choice_may_depend_on_a_setting() -> None:
    class Either(Asking):
        settings = Settings(loud=Setting(Switch.OFF, "whether somebody is named"))

        @action
        def ask(self, s: StateView, node: Node) -> None:
            if self.b.settings.loud:
                require(any_of(Node, "other") != node)
            s.color = Color.BLUE

    names = [list(specs_of(_traced(Either(nodes=2, loud=loud)))["ask"].parameters) for loud in ("on", "off")]
    assert names == [["node", "other"], ["node"]]


def _traced(model: Model) -> Model:
    assert model.program is not None
    return model


class Place(Range):
    """A place."""

    lo, hi = 0, 1


class Under(Model):
    """An action under test."""

    def __init__(self, body: Callable[..., object]) -> None:
        super().__init__(nodes=2)
        self.body = body

    bounds = Asking.bounds

    def declare(self, b: BoundValues) -> State:
        return State(present=Set(Node), line=Seq(Node, 2), n=Int(0, 3))

    @action
    def run(self, s: Any, node: Node, place: Place) -> None:
        self.body(s, node, place)


def under(s: Any, place: Any) -> None:
    """Choose under a condition."""
    with when(s.n == 0):
        any_of(Node, "other")


def sometimes(s: Any, place: Any) -> None:
    """Choose for some parameters."""
    if place == 0:
        any_of(Node, "other")


def twice() -> None:
    """Choose twice under one name."""
    any_of(Node, "other")
    any_of(Node, "other")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            lambda s, node, place: under(s, place),
            r"any_of\(\) inside `with when\(\.\.\.\)` .* Call it before the block",
        ),
        (
            lambda s, node, place: sometimes(s, place),
            r"any_of\(Node, 'other'\) is reached for some values of the action's parameters and not for others",
        ),
        (lambda s, node, place: any_of(Node), r"a parameter of this action is named 'node' already; give this choice"),
        (lambda s, node, place: twice(), r"another choice of this action is named 'other' already"),
        (lambda s, node, place: any_of(Node, "no name"), r"'no name' is no name of a parameter; write any_of\(Node"),
        (
            lambda s, node, place: any_of(s.line),
            r"any_of\(\) chooses a member of .* and line is none of these\. For numbers declare a Range",
        ),
        (lambda s, node, place: any_of(3), r"any_of\(\) chooses a member of .*, and 3 is none of these"),
        (
            lambda s, node, place: require(exists(Node, lambda one: any_of(Node, "other") == one)),
            r"any_of\(\) inside a quantifier would choose anew for each member",
        ),
    ],
)
def test_a_choice_that_might_not_be_one_is_refused(body: Callable[..., object], message: str) -> None:
    with pytest.raises(ModelError, match=r"test_choices\.py:\d+: " + message):
        Under(body).program  # noqa: B018  (traces it)


def test_a_choice_between_values_of_an_if_is_made_always() -> None:
    model = Under(lambda s, node, place: setattr(s, "n", If(s.n == 0, any_of(Place, "first"), any_of(Place, "second"))))
    assert len(model.program.actions) == 2 * 2 * 2 * 2


def test_a_choice_among_some_members() -> None:
    def body(s: Any, node: Any, place: Any) -> None:
        other = any_of([one for one in Under.all(model, Node) if one != node], "other")
        s.present |= {other}

    model = Under(body)
    pairs = {(one.parameters[0][1], one.parameters[2][1]) for one in model.program.actions}
    assert pairs == {(0, 1), (1, 0)}


def test_a_choice_belongs_to_an_action() -> None:
    class Begun(Asking):
        @initial
        def begin(self, s: StateView) -> None:
            s.present = {any_of(Node)}

    class Said(Asking):
        @invariant
        def said(self, s: StateView) -> Condition:
            return any_of(Node) == 0

    for kind in (Begun, Said):
        with pytest.raises(ModelError, match=r"any_of\(\) is a choice of a step; use it in an action"):
            check(kind)
