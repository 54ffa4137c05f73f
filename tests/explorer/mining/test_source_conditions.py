"""The conditions that an author wrote, taken out of the text of methods and made independent of it."""

from __future__ import annotations

import ast
from contextlib import suppress

import pytest

from insync.explorer.exploring.conditions import ConditionError, ConditionReader
from insync.explorer.mining.source_conditions import written_conditions
from insync.explorer.task import model_of
from insync.model import (
    And,
    Array,
    Bool,
    Condition,
    Implies,
    Index,
    Int,
    Model,
    State,
    StateView,
    action,
    for_all,
    invariant,
    require,
)


class Clerk(Index):
    """Somebody in the shop."""

    size = 2


class Till(Model):
    """Clerks take coins, by way of names, helpers and quantifiers."""

    def declare(self, b: object) -> State:
        return State(coins=Array(Clerk, Int(0, 3)), shut=Bool)

    def fewest(self, s: StateView, clerk: Clerk) -> Condition:
        """Return what another method asks for by name."""
        mine = s.coins[clerk]
        return for_all(Clerk, lambda other: mine <= s.coins[other])

    @action
    def take(self, s: StateView, clerk: Clerk, taker: Clerk) -> None:
        """Take a coin."""
        mine, limit = s.coins[clerk], 3
        require(mine < limit, self.fewest(s, clerk), taker != clerk)
        s.coins[clerk] = mine + 1

    @invariant
    def balanced(self, s: StateView) -> Condition:
        """Nobody has much more than others."""
        return Implies(s.shut, for_all(Clerk, lambda one: And(s.coins[one] > 0, s.coins[one] < 3)))


def said(model: type[Model]) -> dict[str, dict[str, type]]:
    return {ast.unparse(one.tree): dict(one.parameters) for one in written_conditions(model())}


class Margin(Till):
    @invariant
    def balanced(self, s: StateView) -> Condition:
        lines = """A text
that goes on at the margin."""
        return for_all(Clerk, lambda one: s.coins[one] < len(lines))


def test_a_method_with_a_line_at_the_margin() -> None:
    assert "coins[one] < len('A text\\nthat goes on at the margin.')" in said(Margin)


def test_names_helpers_and_what_the_state_is_called_are_put_in_their_place() -> None:
    found = said(Till)
    assert found["coins[clerk] < 3"] == {"clerk": Clerk}
    assert found["for_all(Clerk, lambda other: coins[clerk] <= coins[other])"] == {"clerk": Clerk}
    assert found["coins[clerk] <= coins[other]"] == {"clerk": Clerk, "other": Clerk}


def test_what_must_differ_is_noted_as_what_is_the_same() -> None:
    assert "taker == clerk" in said(Till)


def test_conditions_are_taken_out_of_quantifiers_and_of_what_joins_them() -> None:
    found = said(Till)
    assert found["coins[one] > 0"] == {"one": Clerk}
    assert not any(text.startswith("Implies") for text in found)


def test_a_condition_is_said_of_other_names() -> None:
    every = written_conditions(Till())
    (least,) = (one for one in every if ast.unparse(one.tree).startswith("for_all(Clerk, lambda other"))
    assert least.said_of({"clerk": "other_clerk"}) == "for_all(Clerk, lambda other: coins[other_clerk] <= coins[other])"


def test_a_helper_that_calls_itself_ends() -> None:
    class Endless(Till):
        def fewest(self, s: StateView, clerk: Clerk) -> Condition:
            return self.fewest(s, clerk)

    assert "coins[clerk] < 3" in said(Endless)


def test_a_method_without_a_source_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(function: object) -> str:
        raise OSError

    model = Till()
    monkeypatch.setattr("inspect.findsource", unknown)
    assert written_conditions(model) == []


def test_what_the_models_of_kafka_say_is_mostly_read_again() -> None:
    """Were it not, mining would fall back on the schema alone, and nobody would notice."""
    model = model_of("kip320", {"replicas": 2})
    reader, every, read = ConditionReader(model), written_conditions(model), 0
    for one in every:
        sorts = {name: kind for name, kind in one.parameters.items() if issubclass(kind, Index)}
        with suppress(ConditionError):
            reader.node(ast.unparse(one.tree), {name: kind.members(model.b)[0] for name, kind in sorts.items()})
            read += 1
    assert read > len(every) // 2
