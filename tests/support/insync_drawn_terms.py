"""Expressions of drawn models: how each is written in a model, and what it means in plain Python.

The two stand side by side in one table for all operations; nothing of insync is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from insync_drawn_types import Type, Value, every, first, fits, key, literal

__all__ = ["BINDERS", "OPERATIONS", "Env", "Term", "assigning", "const", "meaning", "subterms", "term_text", "var"]

Env = dict[str, Any]
"""The states that are spoken of, such as `s`, and the values of variables."""


@dataclass(frozen=True, slots=True)
class Term:
    """An operation on terms.

    Attributes:
        op: its name in one of the tables below.
        type: of its value; calculated numbers have the type `NUM`.
        args: what it is applied to; of a binder the members, if they are no class, and then the body.
        name: of a field, a variable or the fields of a record.
        value: of a constant.
        over: the class that a binder ranges over.
    """

    op: str
    type: Type
    args: tuple[Term, ...] = ()
    name: str = ""
    value: Value = None
    over: Type | None = None


def const(of: Type, value: Value) -> Term:
    """Return a constant."""
    return Term("const", of, value=value)


def var(name: str, of: Type) -> Term:
    """Return a variable: a parameter, the member that a quantifier is about, or a state."""
    return Term("var", of, name=name)


def _place(of: Type, container: Value, index: Value) -> Value:
    at = index - of.lowest if of.kind == "Array" else index
    return container[at] if 0 <= at < len(container) else first(of.inner)


def _ordered(of: Type, value: Value) -> list[Value]:
    return list(value) if of.kind == "Seq" else sorted(value, key=lambda one: key(of.inner, one))


def _at(term: Term, container: Value, index: Value) -> Value:
    of = term.args[0].type
    return _place(of, container if of.kind == "Array" else _ordered(of, container), index)


def _same(term: Term, one: Value, other: Value) -> bool:
    """Compare; what does not fit where it is compared with a record, an array or a collection is another value."""
    of = term.args[0].type
    whole = of.kind in ("Record", "Array", "Seq", "Bag", "SetOf") or (of.kind == "Option" and of.inner.kind == "Record")
    return bool(one == other) and (not whole or fits(of, other))


OPERATIONS: dict[str, tuple[str, Callable[..., Value]]] = {
    "index": ("{0}[{1}]", _at),
    "place": ("{0}[{1}]", _at),
    "first": ("{0}.first", lambda t, a: _place(t.args[0].type, a, 0)),
    "last": ("{0}.last", lambda t, a: _place(t.args[0].type, a, len(a) - 1)),
    "value": ("{0}.value", lambda t, a: first(t.type) if a is None else a),
    "given": ("{0}", lambda t, a: a),
    "number": ("({0} + 0)", lambda t, a: a),
    "lt": ("({0} < {1})", lambda t, a, b: a < b),
    "le": ("({0} <= {1})", lambda t, a, b: a <= b),
    "gt": ("({0} > {1})", lambda t, a, b: a > b),
    "eq": ("({0} == {1})", _same),
    "ne": ("({0} != {1})", lambda t, a, b: not _same(t, a, b)),
    "not": ("Not({0})", lambda t, a: not a),
    "and": ("And({0}, {1})", lambda t, a, b: a and b),
    "or": ("Or({0}, {1})", lambda t, a, b: a or b),
    "implies": ("Implies({0}, {1})", lambda t, a, b: not a or b),
    "if": ("If({0}, {1}, {2})", lambda t, c, a, b: a if c else b),
    "none": ("{0}.is_none()", lambda t, a: a is None),
    "some": ("{0}.is_some()", lambda t, a: a is not None),
    "in": ("{0}.contains({1})", lambda t, a, b: b in a),
    "empty": ("{0}.is_empty()", lambda t, a: not a),
    "subset": ("{0}.is_subset({1})", lambda t, a, b: a <= b),
    "one_of": ("one_of({0}, {1}, {2})", lambda t, a, b, c: a in (b, c)),
    "add": ("({0} + {1})", lambda t, a, b: a + b),
    "sub": ("({0} - {1})", lambda t, a, b: a - b),
    "mul": ("({0} * {1})", lambda t, a, b: a * b),
    "neg": ("(-{0})", lambda t, a: -a),
    "abs": ("abs({0})", lambda t, a: abs(a)),
    "div": ("({0} // {1})", lambda t, a, b: a // b),
    "mod": ("({0} % {1})", lambda t, a, b: a % b),
    "min": ("minimum({0}, {1})", lambda t, a, b: min(a, b)),
    "max": ("maximum({0}, {1})", lambda t, a, b: max(a, b)),
    "length": ("{0}.length", lambda t, a: len(a)),
    "size": ("{0}.count()", lambda t, a: len(a)),
    "times": ("{0}.count({1})", lambda t, a, b: a.count(b)),
    "or_else": ("{0}.or_else({1})", lambda t, a, b: b if a is None else a),
    "union": ("({0} | {1})", lambda t, a, b: a | b),
    "meet": ("({0} & {1})", lambda t, a, b: a & b),
    "minus": ("({0} - {1})", lambda t, a, b: a - b),
}
"""For each operation how it is written, and its value from the term and the values of its arguments."""


BINDERS: dict[str, Callable[[list[Value], Value], Value]] = {
    "for_all": lambda found, _: all(found),
    "exists": lambda found, _: any(found),
    "count": lambda found, _: sum(map(bool, found)),
    "sum_of": lambda found, _: sum(found),
    "max_of": lambda found, default: max(found, default=default),
    "min_of": lambda found, default: min(found, default=default),
}
"""For each quantifier its value from those of its body for all members, and the default; `each` is apart."""


CHOOSING = ("the", "choose", "filtered")
"""What gives members for which a condition holds."""


def term_text(term: Term) -> str:
    """Return how a term is written in a model."""
    args = [term_text(arg) for arg in term.args]
    match term.op:
        case "const":
            return literal(term.type, term.value)
        case "var":
            return term.name
        case "alias":
            return term.name
        case "field":
            return f"{args[0]}.{term.name}"
        case "record":
            parts = zip(term.type.fields, args, strict=True)
            return f"record({', '.join(f'{name}={part}' for (name, _), part in parts)})"
        case "list":
            return f"[{', '.join(args)}]"
        case "set":
            return f"set_of([{', '.join(args)}])"
        case "each":
            assert term.over is not None
            return f"{{{term.name}: {args[0]} for {term.name} in self.all({term.over.name})}}"
        case op if op in BINDERS or op in CHOOSING:
            members, names, body = _ranged_text(term)
            default = [f"default={args[-1]}"] if len(args) > (term.over is None) + 1 else []
            return f"{op}({', '.join([*members, f'lambda {names}: {body}', *default])})"
    return OPERATIONS[term.op][0].format(*args)


def _ranged_text(term: Term) -> tuple[list[str], str, str]:
    """Return what a quantifier ranges over, its variables and its body; there are several ways to write one."""
    body, over = term.args[term.over is None], term.over
    members, another = [term_text(term.args[0]) if over is None else over.name], len(term_text(body)) % 2
    if over is not None and another:
        numbers = over.kind == "Range" and term.op not in CHOOSING
        members = [f"range({over.lo}, {over.hi + 1})" if numbers else f"self.all({over.name})"]
    mentioned = {inner.name for inner in subterms(body.args[0])} if body.args and body.over is None else set()
    if term.op in ("for_all", "exists") and body.op == term.op and term.name not in mentioned and not another:
        more, names, inner = _ranged_text(body)
        return [*members, *more], f"{term.name}, {names}", inner
    return members, term.name, term_text(body)


def meaning(term: Term) -> Callable[[Env], Value]:
    """Return a function of the environment that has the value of a term."""
    args, name, value, of = [meaning(arg) for arg in term.args], term.name, term.value, term.type
    match term.op:
        case "const":
            return lambda env: value
        case "var":
            return lambda env: env[name]
        case "alias":
            return args[0]
        case "field":
            (record,), (place, _) = args, term.args[0].type.field(name)
            return lambda env: record(env)[place]
        case "record":
            return lambda env: tuple([arg(env) for arg in args])
        case "list" if of.kind == "Bag":
            return lambda env: tuple(sorted((arg(env) for arg in args), key=lambda one: key(of.inner, one)))
        case "list" if of.kind != "SetOf":
            return lambda env: tuple([arg(env) for arg in args])
        case "list" | "set":
            return lambda env: frozenset([arg(env) for arg in args])
        case "each":
            assert term.over is not None
            (body,), members = args, every(term.over)
            return lambda env: tuple([body({**env, name: one}) for one in members])
        case op if op in BINDERS or op in CHOOSING:
            return _bound(term, args)
    function = OPERATIONS[term.op][1]
    if len(args) == 1:
        (only,) = args
        return lambda env: function(term, only(env))
    if len(args) == 2:
        one, other = args
        return lambda env: function(term, one(env), other(env))
    return lambda env: function(term, *[arg(env) for arg in args])


def _bound(term: Term, args: list[Callable[[Env], Value]]) -> Callable[[Env], Value]:
    """Return what a quantifier means."""
    members, default = _members(term, args), (args[-1] if len(term.args) > (term.over is None) + 1 else None)
    body, name = args[term.over is None], term.name
    if term.op == "the":
        return lambda env: _chosen(term, members(env), body, env)
    if term.op == "choose":
        return lambda env: next((one for one in members(env) if body({**env, name: one})), None)
    if term.op == "filtered":
        return lambda env: tuple([one for one in members(env) if body({**env, name: one})])
    joined = BINDERS[term.op]

    def value(env: Env) -> Value:
        found = [body({**env, name: one}) for one in members(env)]
        return joined(found, None if default is None else default(env))

    return value


def _members(term: Term, args: list[Callable[[Env], Value]]) -> Callable[[Env], list[Value]]:
    if term.over is not None:
        listed = list(every(term.over))
        return lambda env: listed
    members, of = args[0], term.args[0].type
    if of.kind in ("Array", "Seq"):
        return lambda env: list(members(env))
    return lambda env: _ordered(of, members(env))


def _chosen(term: Term, members: list[Value], body: Callable[[Env], Value], env: Env) -> Value:
    """Return the first member for which the body holds, the first that there could be where it holds for none."""
    for one in members:
        if body({**env, term.name: one}):
            return one
    by_value = term.over is None and (term.args[0].type.kind == "Set" or term.args[0].type.kind == "SetOf")
    if not members or (by_value and not term.args[0].type.most):
        return first(term.type)
    return members[0]


def assigning(path: Term) -> Callable[[Env, Value], bool]:
    """Return a function that assigns to a part of the state, and returns whether there is such a part.

    The state is changed in the environment that it is given.
    """
    if path.op == "var":
        return lambda env, new: not env.update({path.name: new})
    if path.op == "alias":
        return assigning(path.args[0])
    container, store = meaning(path.args[0]), assigning(path.args[0])
    if path.op == "value":

        def inside(env: Env, new: Value) -> bool:
            there = container(env) is not None
            return store(env, new) and there

        return inside
    place = path.args[0].type.field(path.name)[0] if path.op == "field" else 0
    index = meaning(path.args[1]) if path.op in ("index", "place") else None
    lowest = path.args[0].type.lowest

    def element(env: Env, new: Value) -> bool:
        held, at = container(env), place if index is None else index(env) - lowest
        at = len(held) - 1 if path.op == "last" else at
        return 0 <= at < len(held) and store(env, (*held[:at], new, *held[at + 1 :]))

    return element


def subterms(term: Term) -> Iterator[Term]:
    """Yield a term and all that it is made of."""
    yield term
    for arg in term.args:
        yield from subterms(arg)
