"""What the TLA+ that insync exports means: a second opinion where no TLC is at hand."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from insync_tla_reader import TlaReader, Tree

__all__ = ["Module", "Values"]

Env = dict[str, Any]


class Values(dict[Any, Any]):
    """A function or a record, which can be a member of a set."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


@dataclass
class _Later:
    """What a LET defines: it has a value when it is asked for."""

    tree: Tree
    env: Env


class Module:
    """The definitions of an exported module that are expressions of states and actions."""

    def __init__(self, text: str) -> None:
        self.definitions: dict[str, tuple[list[str], Tree]] = {}
        body = re.sub(r"(?m)^(----.*|====.*|EXTENDS.*|CONSTANTS?.*)$", "", text)
        self.constants = [one for line in re.findall(r"CONSTANTS ([^\n]*)", text) for one in re.findall(r"\w+", line)]
        self.variables = re.findall(r"\w+", re.search(r"VARIABLES ([^\n]*)", body)[1])  # type: ignore[index]
        body = re.sub(r"(?m)^(VARIABLES.*|vars ==.*)$", "", body)
        for part in re.split(r"\n(?=\w+(?:\([\w, ]*\))? ==)", "\n" + body):
            found = re.match(r"(\w+)(?:\(([\w, ]*)\))? ==", part)
            if found and not re.search(r"\[\]\[|~>|(?<!<)<>|ENABLED|INSTANCE|!Spec", part):
                blank = " " * len(found[0])
                reader = TlaReader(blank + part[len(found[0]) :])
                tree = reader.expression()
                assert reader.at == len(reader.tokens), f"{found[1]}: {reader.tokens[reader.at : reader.at + 5]}"
                self.definitions[found[1]] = ([p.strip() for p in (found[2] or "").split(",") if p.strip()], tree)

    def value(self, text: str) -> Any:
        """Return the value of an expression without variables."""
        return self._value(TlaReader(text).expression(), {})

    def holds(self, name: str, state: Mapping[str, Any]) -> Any:
        """Return the value of a definition in a state."""
        return self._value(self.definitions[name][1], dict(state))

    def initial(self) -> list[Env]:
        """Return the states that Init allows."""
        return list(self._steps(self.definitions["Init"][1], {}, {}, prime=""))

    def successors(self, state: Mapping[str, Any]) -> list[Env]:
        """Return the states that Next leads to, one for each way in which TLC would find it."""
        found = list(self._steps(self.definitions["Next"][1], dict(state), {}, prime="'"))
        assert all(len(one) == len(self.variables) for one in found), "a variable is not said"
        return found

    def _steps(self, tree: Tree, env: Env, done: Env, prime: str) -> Iterator[Env]:
        """Yield the assignments that a formula allows, as TLC reads it: a disjunction is a choice."""
        kind = tree[0]
        if kind == "/\\":
            for first in self._steps(tree[1], env, done, prime):
                yield from self._steps(tree[2], env, first, prime)
        elif kind == "\\/":
            yield from self._steps(tree[1], env, done, prime)
            yield from self._steps(tree[2], env, done, prime)
        elif kind == "some":
            for member in self._value(tree[2], env):
                yield from self._steps(tree[3], {**env, tree[1]: member}, done, prime)
        elif kind == "let":
            yield from self._steps(tree[2], self._opened(tree[1], env), done, prime)
        elif kind in ("name", "call") and tree[1] in self.definitions and tree[1] != "Holds":
            names, body = self.definitions[tree[1]]
            arguments = [self._value(arg, env) for arg in (tree[2] if kind == "call" else [])]
            outer = {name: value for name, value in env.items() if name in self.variables}
            yield from self._steps(body, {**outer, **dict(zip(names, arguments, strict=True))}, done, prime)
        elif kind == "unchanged":
            yield {**done, **{name: env[name] for name in tree[1]}}
        elif kind == "=" and tree[1][0] == "name" and self._assigned(tree[1][1], prime):
            name = tree[1][1].rstrip("'")
            value = self._value(tree[2], env)
            if name not in done:
                yield {**done, name: value}
            elif done[name] == value:
                yield done
        elif self._value(tree, {**env, **done} if not prime else env) is True:
            yield done

    def _assigned(self, name: str, prime: str) -> bool:
        return name in [variable + prime for variable in self.variables]

    def _opened(self, defined: Sequence[tuple[str, Tree]], env: Env) -> Env:
        inner = dict(env)
        for name, tree in defined:
            assert name not in env, f"{name} means two things"
            inner[name] = _Later(tree, inner)
        return inner

    def _value(self, tree: Tree, env: Env) -> Any:
        return _MEANING[tree[0]](self, tree, env)

    def _name(self, tree: Tree, env: Env) -> Any:
        name = tree[1]
        found = env.get(name)
        if name in self.constants:
            return name
        if isinstance(found, _Later):
            return self._value(found.tree, found.env)
        if name in env:
            return found
        if name in self.definitions:
            return self._value(self.definitions[name][1], {v: env[v] for v in self.variables if v in env})
        return {"TRUE": True, "FALSE": False, "BOOLEAN": frozenset({False, True})}[name]

    def _call(self, tree: Tree, env: Env) -> Any:
        arguments = [self._value(arg, env) for arg in tree[2]]
        if tree[1] == "Cardinality":
            return len(arguments[0])
        names, body = self.definitions[tree[1]]
        outer = {variable: env[variable] for variable in self.variables if variable in env}
        return self._value(body, {**outer, **dict(zip(names, arguments, strict=True))})

    def _each(self, tree: Tree, env: Env) -> Iterator[tuple[Any, Any]]:
        assert tree[1] not in env, f"{tree[1]} is bound twice"
        return ((one, self._value(tree[3], {**env, tree[1]: one})) for one in self._value(tree[2], env))

    def _except(self, tree: Tree, env: Env) -> Any:
        found = self._value(tree[1], env)
        for path, value in tree[2]:
            keys = [step[1] if step[0] == "text" else self._value(step, env) for step in path]
            found = _changed(found, keys, self._value(value, env))
        return found

    def _functions(self, tree: Tree, env: Env) -> Any:
        keys, values = list(self._value(tree[1], env)), list(self._value(tree[2], env))
        every = itertools.product(values, repeat=len(keys))
        return frozenset(Values(zip(keys, chosen, strict=True)) for chosen in every)

    def _two(self, tree: Tree, env: Env) -> tuple[Any, Any]:
        return self._value(tree[1], env), self._value(tree[2], env)


def _changed(whole: Values, keys: Sequence[Any], value: Any) -> Values:
    first, *rest = keys
    if first not in whole:
        return whole
    return Values({**whole, first: _changed(whole[first], rest, value) if rest else value})


def _infix(meaning: Callable[[Any, Any], Any]) -> Callable[[Module, Tree, Env], Any]:
    return lambda m, t, e: meaning(*m._two(t, e))


def _same(a: Any, b: Any) -> bool:
    named = isinstance(a, str) or isinstance(b, str)  # a model value is like nothing else
    assert named or type(a) is type(b), f"TLC does not compare {a!r} with {b!r}"
    return bool(a == b)


_MEANING: Mapping[str, Callable[[Module, Tree, Env], Any]] = {
    "number": lambda m, t, e: t[1],
    "name": Module._name,
    "call": Module._call,
    "field": lambda m, t, e: m._value(t[1], e)[t[2]],
    "index": lambda m, t, e: m._value(t[1], e)[m._value(t[2], e)],
    "set": lambda m, t, e: frozenset(m._value(one, e) for one in t[1]),
    "filter": lambda m, t, e: frozenset(one for one, holds in m._each(t, e) if holds),
    "map": lambda m, t, e: frozenset(value for _, value in m._each(t, e)),
    "function": lambda m, t, e: Values(m._each(t, e)),
    "functions": Module._functions,
    "record": lambda m, t, e: Values({name: m._value(one, e) for name, one in t[1]}),
    "except": Module._except,
    "if": lambda m, t, e: m._value(t[2] if m._value(t[1], e) else t[3], e),
    "let": lambda m, t, e: m._value(t[2], m._opened(t[1], e)),
    "all": lambda m, t, e: all(holds for _, holds in m._each(t, e)),
    "some": lambda m, t, e: any(holds for _, holds in m._each(t, e)),
    "not": lambda m, t, e: not m._value(t[1], e),
    "subsets": lambda m, t, e: _subsets(m._value(t[1], e)),
    "union": lambda m, t, e: frozenset().union(*m._value(t[1], e)),
    "/\\": lambda m, t, e: m._value(t[1], e) and m._value(t[2], e),
    "\\/": lambda m, t, e: m._value(t[1], e) or m._value(t[2], e),
    "=>": lambda m, t, e: not m._value(t[1], e) or m._value(t[2], e),
    "<=>": _infix(lambda a, b: a is b),
    "=": _infix(_same),
    "#": _infix(lambda a, b: not _same(a, b)),
    "<": _infix(lambda a, b: a < b),
    ">": _infix(lambda a, b: a > b),
    "<=": _infix(lambda a, b: a <= b),
    "\\in": _infix(lambda a, b: a in b),
    "\\notin": _infix(lambda a, b: a not in b),
    "\\subseteq": _infix(lambda a, b: a <= b),
    "\\cup": _infix(lambda a, b: a | b),
    "\\cap": _infix(lambda a, b: a & b),
    "\\": _infix(lambda a, b: a - b),
    "..": _infix(lambda a, b: frozenset(range(a, b + 1))),
    "+": _infix(lambda a, b: a + b),
    "-": _infix(lambda a, b: a - b),
    "*": _infix(lambda a, b: a * b),
    "%": _infix(lambda a, b: a % b),
    "\\div": _infix(lambda a, b: a // b),
}


def _subsets(whole: frozenset[Any]) -> frozenset[frozenset[Any]]:
    sizes = range(len(whole) + 1)
    return frozenset(frozenset(chosen) for size in sizes for chosen in itertools.combinations(whole, size))
