"""Digests of programs: a number for each part of a model, which changes with the structure of its expressions.

The number of an expression does not depend on the order in which the nodes of its graph were made: nodes are compared
by what they consist of, and the arguments of a commutative operation have no order. The numbers of `insync_meanings`
are about values in sampled states; these are about each guard, check, update and property whole. They need no states,
so they are quick for large models too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b
from types import MappingProxyType

from insync.model import Model
from insync.model.expressions.graph import Node, Op, reachable
from insync.model.tracing.initial_states import Initials
from insync.model.tracing.program import BoundAction
from insync.properties.invariants import StepInvariant
from insync.properties.registry import invariants_of, lemmas_of, run_properties_of
from insync.properties.temporal import Due

__all__ = ["digests_of", "named", "program_digest"]

_COMMUTATIVE = {Op.ADD, Op.MUL, Op.MIN, Op.MAX, Op.EQ, Op.AND, Op.OR, Op.BITAND, Op.BITOR}
_FEW = 64  # values of a cell, of which each has its text looked at


def program_digest(
    model: Model, only: Collection[str] | None = None, former: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """Return a number for each part of a model, by the name of the part.

    The parts are its cells with the texts of their values, its symmetry, its initial states, what it is confined to,
    its bound actions, each action (labels, guards, checks, updates), and each property and lemma. Beside them stands
    how many nodes the actions have, and how many conditions are checked at run time.

    Args:
        model: the model.
        only: the parts that count; None for all, properties that test files declare included.
        former: names of fields and actions that were changed, with those by which they count.
    """
    program, digests = model.program, _Digests(former)
    checks = sum(len(action.checks) for action in program.actions)
    found = {
        "(cells)": _number(_cells(model, digests)),
        "(symmetry)": _number(program.symmetry and (program.symmetry.sizes, program.symmetry.families)),
        "(initial states)": _number(_initial_states(program.initials, digests)),
        "(within)": _number(digests.of(program.within)),
        "(bound actions)": _number([digests.named(str(action)) for action in program.actions]),
        "(nodes)": str(len(reachable(node for action in program.actions for node in _nodes(action)))),
        "(checks at run time)": str(checks),
    }
    for name in program.action_names:
        bound = [_action(action, digests) for action in program.actions if action.name == name]
        found[f"action {digests.named(name)}"] = _number(bound)
    return {**found, **_properties(model, digests, only)}


def named(text: str, former: Mapping[str, str]) -> str:
    """Return a text with names that were changed as they were.

    Args:
        text: the text.
        former: what names were, by what they are; one with a dot is a field of a field: `remote_replicas.leo`.
    """
    for path in (one for one in former if "." in one):
        of, name = path.split(".")
        text = re.sub(rf"\b({of}(?:\[\w+\])?)\.{name}\b", rf"\1.{former[path]}", text)
    return re.sub(r"\w+", lambda name: former.get(name[0], name[0]), text)


def digests_of(nodes: Iterable[Node]) -> list[str]:
    """Return the digests of some expressions, which may be of several graphs."""
    return [_Digests().of([node])[0] for node in nodes]


def _cells(model: Model, digests: _Digests) -> list[object]:
    cells, scalars = model.program.schema.cells, [leaf.domain for leaf in model.state.leaves()]
    return [
        (digests.named(cell.path), cell.size, cell.word, cell.shift)
        + (() if scalar is None else tuple(repr(scalar.readable(code)) for code in range(min(cell.size, _FEW))))
        for cell, scalar in zip(cells, scalars, strict=True)
    ]


def _initial_states(initials: Initials, digests: _Digests) -> list[object]:
    return [
        (one.name, one.label, digests.of(one.conditions), digests.of(one.cells), _checked(one.expected, digests))
        for one in initials.beginnings
    ]


def _nodes(action: BoundAction) -> list[Node]:
    return [*action.guard, *(node for _, node in action.updates), *(check.node for check in action.checks)]


def _action(action: BoundAction, digests: _Digests) -> object:
    updates = sorted((cell, *digests.of([node])) for cell, node in action.updates)
    checks = _checked([(check.node, check.message) for check in action.checks], digests)
    return digests.named(str(action)), action.label, digests.of(action.guard), updates, checks


def _checked(expected: Iterable[tuple[Node, str]], digests: _Digests) -> object:
    """Return what is checked at run time; a message counts without the file and line of the author."""
    return [(*digests.of([node]), digests.named(re.sub(r"\S+\.py:\d+", "", message))) for node, message in expected]


def _properties(model: Model, digests: _Digests, only: Collection[str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for kind, every in (("invariant", invariants_of(model)), ("lemma", lemmas_of(model))):
        for name, one in every.items():
            if only is None or f"{kind} {name}" in only:
                nodes = one.by_action(model) if isinstance(one, StepInvariant) else (one.node(model),)
                found[f"{kind} {name}"] = _number(digests.of(nodes))
    for name, run in run_properties_of(model).items():
        if only is None or f"run {name}" in only:
            parts = [
                (
                    dict(one.bindings),
                    [None if node is None else digests.of([node]) for node in (one.when, one.then)],
                    *([one.due.value] if one.due is not Due.ONCE else []),
                )
                for one in run.instances(model)
            ]
            found[f"run {name}"] = _number((run.kind.value, parts))
    return found


def _number(content: object) -> str:
    return blake2b(repr(content).encode(), digest_size=4).hexdigest()


class _Digests:
    """The digests of nodes, each made once; `insync.model.expressions.graph.meanings` keeps the order of arguments."""

    def __init__(self, former: Mapping[str, str] = MappingProxyType({})) -> None:
        self._former = former
        self._known: dict[Node, bytes] = {}

    def named(self, text: str) -> str:
        """Return a text with names that were changed as they were."""
        return named(text, self._former)

    def of(self, roots: Iterable[Node]) -> list[str]:
        wanted = list(roots)
        for node in self._unknown(wanted):
            parts = [self._known[arg] for arg in node.args]
            # A quantifier's labels belong to its arguments in their order.
            if node.op in _COMMUTATIVE and node.arg is None:
                parts.sort()
            content = b"".join([repr((node.op.value, node.arg, node.is_bool)).encode(), *parts])
            self._known[node] = blake2b(content, digest_size=16).digest()
        return [self._known[root].hex() for root in wanted]

    def _unknown(self, roots: Iterable[Node]) -> Iterable[Node]:
        """Return the nodes below some roots that have no digest yet, arguments before users."""
        found, stack = dict[Node, None](), list(roots)
        while stack:
            node = stack.pop()
            if node not in found and node not in self._known:
                found[node] = None
                stack.extend(node.args)
        return sorted(found, key=lambda node: node.index)
