"""A reader of the TLA+ that insync exports, and what it means: a second opinion where no TLC is at hand.

It knows exactly the exported subset, and reads columns as TLA+ does: what stands right of a bullet belongs to it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Module", "Values"]

Tree = tuple[Any, ...]
Env = dict[str, Any]

_TOKEN = re.compile(
    r"\\\*[^\n]*|[A-Za-z_]\w*'?|\d+|<=>|=>|<=|==|\|->|->|\.\.|/\\|\\/|\\(?:AA|[AE]|in|notin|subseteq|cup|cap|div)\b"
    r"|<<|>>|[][{}(),:!.+*%=<>#~\\-]"
)
_STRENGTH = {
    "=>": 1, "<=>": 2, "\\/": 3, "/\\": 3, "=": 5, "#": 5, "<": 5, ">": 5, "<=": 5, "\\in": 5, "\\notin": 5,
    "\\subseteq": 5, "\\cup": 8, "\\cap": 8, "\\": 8, "..": 9, "+": 10, "%": 10, "-": 11, "*": 13, "\\div": 13,
}  # fmt: skip


class Values(dict[Any, Any]):
    """A function or a record, which can be a member of a set."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


@dataclass
class _Token:
    text: str
    line: int
    column: int


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens: list[_Token] = []
        for number, line in enumerate(text.splitlines()):
            for match in _TOKEN.finditer(line):
                if match[0].startswith("\\*"):
                    break
                self.tokens.append(_Token(match[0], number, match.start()))
        self.at, self.limit = 0, -1

    @property
    def next(self) -> str:
        if self.at >= len(self.tokens) or self.tokens[self.at].column <= self.limit:
            return ""
        return self.tokens[self.at].text

    def take(self, wanted: str | None = None) -> str:
        found = self.next
        assert found, f"something is missing before {self.tokens[self.at : self.at + 3]}"
        assert wanted in (None, found), f"{wanted} is expected, not {self.tokens[self.at : self.at + 4]}"
        self.at += 1
        return found

    def maybe(self, wanted: str) -> bool:
        if self.next != wanted:
            return False
        self.at += 1
        return True

    def expression(self, strength: int = 0) -> Tree:
        left = self.prefix()
        while (operator := self.next) in _STRENGTH and _STRENGTH[operator] > strength:
            self.take()
            right = self.expression(_STRENGTH[operator])
            left = (operator, left, right)
        return left

    def prefix(self) -> Tree:
        word = self.next
        if word in ("/\\", "\\/"):
            return self.bullets(word)
        rule = _PREFIX.get(word)
        if rule is not None:
            self.take()
            return rule(self)
        return self.postfix(self.atom())

    def bullets(self, bullet: str) -> Tree:
        column, before, items = self.tokens[self.at].column, self.limit, []
        while self.next == bullet and self.tokens[self.at].column == column:
            self.take()
            self.limit = column
            items.append(self.expression())
            self.limit = before
        found = items[0]
        for item in items[1:]:
            found = (bullet, found, item)
        return found

    def atom(self) -> Tree:
        word = self.take()
        if word.isdigit():
            return ("number", int(word))
        if word == "(":
            found = self.expression()
            self.take(")")
            return found
        if word == "{":
            return self.braces()
        if word == "[":
            return self.brackets()
        assert re.match(r"[A-Za-z_]", word), f"{word} at {self.tokens[self.at - 1]}"
        return ("call", word, self.listed(")")) if self.maybe("(") else ("name", word)

    def postfix(self, found: Tree) -> Tree:
        while True:
            if self.maybe("."):
                found = ("field", found, self.take())
            elif self.next == "[":
                self.take()
                found = ("index", found, self.expression())
                self.take("]")
            else:
                return found

    def listed(self, closing: str) -> list[Tree]:
        found: list[Tree] = []
        while not self.maybe(closing):
            found.append(self.expression())
            self.maybe(",")
        return found

    def braces(self) -> Tree:
        if self.maybe("}"):
            return ("set", [])
        begin = self.at
        if re.match(r"[A-Za-z_]", self.take()) and self.maybe("\\in"):
            name, over = self.tokens[begin].text, self.expression(5)
            if self.maybe(":"):
                found = ("filter", name, over, self.expression())
                self.take("}")
                return found
        self.at = begin
        first = self.expression()
        if self.maybe(":"):
            name = self.take()
            self.take("\\in")
            found = ("map", name, self.expression(), first)
            self.take("}")
            return found
        self.maybe(",")
        return ("set", [first, *self.listed("}")])

    def brackets(self) -> Tree:
        begin = self.at
        name = self.take()
        if self.next in ("|->", ":"):
            self.at = begin
            return self.fields()
        if self.maybe("\\in"):
            over = self.expression()
            self.take("|->")
            found: Tree = ("function", name, over, self.expression())
            self.take("]")
            return found
        self.at = begin
        first = self.expression()
        if self.maybe("->"):
            found = ("functions", first, self.expression())
            self.take("]")
            return found
        self.take("EXCEPT")
        changes = []
        while not self.maybe("]"):
            changes.append(self.change())
            self.maybe(",")
        return ("except", first, changes)

    def fields(self) -> Tree:
        found: list[tuple[str, Tree]] = []
        kind = ""
        while not self.maybe("]"):
            name = self.take()
            kind = self.take()
            found.append((name, self.expression()))
            self.maybe(",")
        return ("record" if kind == "|->" else "records", found)

    def change(self) -> tuple[list[Tree], Tree]:
        self.take("!")
        path: list[Tree] = []
        while not self.maybe("="):
            if self.maybe("."):
                path.append(("text", self.take()))
            else:
                self.take("[")
                path.append(self.expression())
                self.take("]")
        return path, self.expression()

    def choice(self) -> Tree:
        condition = self.expression()
        self.take("THEN")
        then = self.expression()
        self.take("ELSE")
        return ("if", condition, then, self.expression())

    def let(self) -> Tree:
        defined = []
        while not self.maybe("IN"):
            name = self.take()
            self.take("==")
            defined.append((name, self.expression()))
        return ("let", defined, self.expression())

    def quantifier(self, form: str) -> Tree:
        bound: list[tuple[str, Tree]] = []
        while True:
            names = [self.take()]
            while self.maybe(","):
                names.append(self.take())
            self.take("\\in")
            over = self.expression(5)
            bound += [(name, over) for name in names]
            if not self.maybe(","):
                break
        self.take(":")
        found = self.expression()
        for name, over in reversed(bound):
            found = (form, name, over, found)
        return found

    def unchanged(self) -> Tree:
        self.take("<<")
        return ("unchanged", [name[1] for name in self.listed(">>")])


_PREFIX: Mapping[str, Callable[[_Reader], Tree]] = {
    "IF": _Reader.choice,
    "LET": _Reader.let,
    "\\A": lambda reader: reader.quantifier("all"),
    "\\E": lambda reader: reader.quantifier("some"),
    "~": lambda reader: ("not", reader.expression(4)),
    "-": lambda reader: ("number", -int(reader.take())),
    "SUBSET": lambda reader: ("subsets", reader.expression(8)),
    "UNION": lambda reader: ("union", reader.expression(8)),
    "UNCHANGED": _Reader.unchanged,
}


# -------------------------------------------------------------------------------------------------------- meaning


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
        constants = re.search(r"CONSTANTS ([^\n]*)", text)
        self.constants = [] if constants is None else re.findall(r"\w+", constants[1])
        self.variables = re.findall(r"\w+", re.search(r"VARIABLES ([^\n]*)", body)[1])  # type: ignore[index]
        body = re.sub(r"(?m)^(VARIABLES.*|vars ==.*)$", "", body)
        for part in re.split(r"\n(?=\w+(?:\([\w, ]*\))? ==)", "\n" + body):
            found = re.match(r"(\w+)(?:\(([\w, ]*)\))? ==", part)
            if found and not re.search(r"\[\]\[|~>|<>|ENABLED", part):
                blank = " " * len(found[0])
                reader = _Reader(blank + part[len(found[0]) :])
                tree = reader.expression()
                assert reader.at == len(reader.tokens), f"{found[1]}: {reader.tokens[reader.at : reader.at + 5]}"
                self.definitions[found[1]] = ([p.strip() for p in (found[2] or "").split(",") if p.strip()], tree)

    def value(self, text: str) -> Any:
        """Return the value of an expression without variables."""
        return self._value(_Reader(text).expression(), {})

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
