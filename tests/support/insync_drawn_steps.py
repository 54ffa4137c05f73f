"""What drawn models do, in plain Python: their first states, and their steps, one statement after the other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from insync_drawn_data import Described, Parameters, State, Statement
from insync_drawn_terms import Env, Term, assigning, meaning
from insync_drawn_types import Type, Value, every, first, fits, key, shown

__all__ = ["Step", "Steps", "aliased", "bindings", "holds_for_all"]

Executed = Callable[[Env], bool]
"""Executes a statement in an environment, and returns whether all that was assigned fits."""


def executed(statement: Statement) -> Executed:
    """Return what a statement does."""
    terms = [meaning(term) for term in statement.terms]
    if statement.kind in ("when", "each"):
        body, name = [executed(one) for one in statement.body], statement.name
        members = every(statement.over) if statement.over is not None else ()
        if statement.kind == "when":
            return lambda env: not terms[0](env) or _all_fit(body, env)

        def each(env: Env) -> bool:
            sound = True
            for member in members:
                env[name] = member
                sound = _all_fit(body, env) and sound
            return sound

        return each
    if statement.kind == "alias":
        indexes = [
            (f"{statement.name}[{place}]", meaning(one)) for place, one in enumerate(indexes_of(statement.terms[0]))
        ]
        return lambda env: not env.update({name: index(env) for name, index in indexes})
    if statement.kind == "let":
        return lambda env: not env.update({statement.name: terms[0](env)})
    assert statement.path is not None
    path, of = statement.path, statement.path.type
    held, store = meaning(path), assigning(path)

    def change(env: Env) -> bool:
        sound, new, taken = _changed(statement.kind, of, held(env), [term(env) for term in terms])
        if statement.name:
            env[statement.name] = taken
        return store(env, new) and sound and fits(of, new)

    return change


def _all_fit(body: Sequence[Executed], env: Env) -> bool:
    """Execute statements, all of them, and return whether all that they assign fits."""
    return not [one for one in body if not one(env)]


def indexes_of(path: Term) -> list[Term]:
    """Return the indexes in a path, the last one first."""
    if path.op == "var":
        return []
    return [*path.args[1:], *indexes_of(path.args[0])]


def aliased(name: str, path: Term) -> Term:
    """Return the variable that stands for a part of the state, whose indexes are what they were when it was bound."""

    def fixed(part: Term, place: int) -> Term:
        if part.op == "var":
            return part
        if part.op == "index":
            index = Term("var", part.args[1].type, name=f"{name}[{place}]")
            return replace(part, args=(fixed(part.args[0], place + 1), index))
        return replace(part, args=(fixed(part.args[0], place),))

    return Term("alias", path.type, (fixed(path, 0),), name=name)


def _changed(kind: str, of: Type, held: Value, given: list[Value]) -> tuple[bool, Value, Value]:
    """Return what a method makes of a value, with whether it may be called then, and what it returns."""
    match kind:
        case "assign":
            return True, given[0], None
        case "clear":
            return True, first(of), None
        case "clear_from":
            kept = max(given[0] - of.lowest, 0)
            return True, held[:kept] + (first(of.inner),) * (len(held) - len(held[:kept])), None
        case "append":
            return True, (*held, given[0]), None
        case "add" if of.kind == "Bag":
            return True, tuple(sorted((*held, given[0]), key=lambda one: key(of.inner, one))), None
        case "add":
            return True, held | {given[0]}, None
        case "remove" if of.kind == "Bag":
            at = held.index(given[0]) if given[0] in held else len(held)
            return True, held[:at] + held[at + 1 :], None
        case "remove":
            return True, held - {given[0]}, None
        case "put":
            at, new = given
            return 0 <= at < len(held), (*held[:at], new, *held[at + 1 :]) if 0 <= at < len(held) else held, None
    at = given[0] if kind == "take" else 0
    if not 0 <= at < len(held):
        return False, held, first(of.inner)
    return True, held[:at] + held[at + 1 :], held[at]


@dataclass(frozen=True, slots=True)
class Step:
    """An enabled action with its parameters, and the state after it; None where a value does not fit its field."""

    action: str
    parameters: tuple[tuple[str, Value], ...]
    after: State | None


class Steps:
    """The steps and the first states of a model."""

    def __init__(self, model: Described) -> None:
        self.model = model
        self._actions = [(one, _Compiled((*one.choices, *one.requires), one.late, one.body)) for one in model.actions]

    def of(self, state: State) -> Iterator[Step]:
        """Yield all steps of a state, in the order of the actions."""
        for action, compiled in self._actions:
            for values in bindings(action.parameters):
                env: Env = {"s": state, **values}
                sound = compiled.run(env)
                if sound is not None:
                    yield Step(action.name, tuple(values.items()), env["s"] if sound else None)

    @cached_property
    def first(self) -> list[State]:
        """The states to begin in, each once."""
        model = self.model
        given = dict(model.plain)
        start = tuple(given.get(name, first(of)) for name, of in model.state.fields)
        if not model.begins:
            return [start]
        found: dict[State, None] = {}
        for begin in model.begins:
            compiled = _Compiled((), None, begin.body, begin.requires)
            choices = [every(model.state.field(name)[1]) for name in begin.anything]
            for values, chosen in itertools.product(bindings(begin.parameters), itertools.product(*choices)):
                of = dict(zip(begin.anything, chosen, strict=True))
                fields = zip(model.state.fields, start, strict=True)
                env: Env = {"s": tuple(of.get(name, value) for (name, _), value in fields), **values}
                if compiled.run(env) is not None:
                    found[env["s"]] = None
        return list(found)

    def shown(self, state: State) -> object:
        """Return a state as insync writes it into traces."""
        return shown(self.model.state, state)


class _Compiled:
    """An action for any state."""

    def __init__(
        self,
        requires: Sequence[Term],
        late: Term | None,
        body: Sequence[Statement],
        last: Sequence[Term] = (),
    ) -> None:
        self.guards = [meaning(one) for one in requires]
        self.late = None if late is None else meaning(late)
        self.body = [executed(one) for one in body]
        self.last = [meaning(one) for one in last]

    def run(self, env: Env) -> bool | None:
        """Change the state in an environment; return whether all fits, None where the action is not enabled."""
        if not all(guard(env) for guard in self.guards):
            return None
        sound = True
        for place, one in enumerate(self.body):
            sound = one(env) and sound
            if place == 0 and self.late is not None and not self.late(env):
                return None
        return sound if all(guard(env) for guard in self.last) else None


def bindings(parameters: Parameters) -> list[Mapping[str, Value]]:
    """Return all values of some parameters."""
    names = [name for name, _ in parameters]
    ranges = [every(of) for _, of in parameters]
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*ranges)]


def holds_for_all(condition: Term, parameters: Parameters) -> Callable[[Env], bool]:
    """Return a function of the states that says whether a condition holds for all values of its parameters."""
    body, bound = meaning(condition), bindings(parameters)
    return lambda env: all(body({**env, **values}) for values in bound)
