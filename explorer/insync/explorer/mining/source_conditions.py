"""The atomic conditions in the source of a model's actions and invariants.

The text of a method is parsed and never run. A local name is replaced by the expression assigned to it, and a call of a
helper by the expression that the helper returns. The names of state and model are omitted: after `me = s.server[i]`,
`me.role == Role.LEADER` becomes `server[i].role == Role.LEADER`.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from insync.model import Model
from insync.model.domains.sorts import is_kind
from insync.model.expressions.source import syntax_of
from insync.model.language.declarations import action_specs, invariant_specs
from insync.model.language.parts import PartMethod
from insync.properties.invariants import kept_for

__all__ = ["WrittenCondition", "written_conditions"]

_ASKING = frozenset({"contains", "is_empty", "is_none", "is_some", "is_subset"})
_QUANTIFIERS = frozenset({"for_all", "exists"})
_DEEPEST = 4
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class WrittenCondition:
    """A condition from the source.

    Attributes:
        tree: the condition, in the language of typed conditions.
        parameters: the range of each name in it that is a parameter, or the variable of a quantifier around it.
    """

    tree: ast.expr
    parameters: Mapping[str, type]

    def said_of(self, names: Mapping[str, str]) -> str:
        """Return the condition with other names for its parameters."""
        renamed = {old: ast.Name(new, ast.Load()) for old, new in names.items()}
        return ast.unparse(_Replacing(renamed).visit(_own(self.tree)))


def written_conditions(model: Model) -> list[WrittenCondition]:
    """Return the atomic conditions of a model's actions and invariants, with repetitions.

    A method whose source cannot be read has none.
    """
    return kept_for(model, WrittenCondition, lambda: list(_written(type(model))))


def _written(kind: type[Model]) -> Iterator[WrittenCondition]:
    parameters = {name: spec.parameters for name, spec in invariant_specs(kind).items()}
    parameters |= {name: spec.parameters for name, spec in action_specs(kind).items()}
    for name, mine in parameters.items():
        for owner in kind.__mro__:
            member = vars(owner).get(name)
            holder = member.kind if isinstance(member, PartMethod) else kind
            method = None if member is None else member.__get__(None, owner)
            if callable(method):
                reading = _MethodText(holder, method, mine, 0)
                reading.run()
                yield from reading.found


class _MethodText:
    """Reads the text of a method and collects its conditions."""

    def __init__(self, kind: type, function: Callable[..., Any], parameters: Mapping[str, type], depth: int) -> None:
        self.kind, self.parameters, self.depth = kind, parameters, depth
        self.globals: Mapping[str, Any] = getattr(inspect.unwrap(function), "__globals__", {})
        self.tree = syntax_of(function)
        self.local: dict[str, ast.expr] = {}
        self.returned: ast.expr | None = None
        self.found: list[WrittenCondition] = []
        names = [one.arg for one in self.tree.args.args] if self.tree is not None else []
        self.me, self.state = (*names, "", "")[:2]

    def run(self, given: Mapping[str, ast.expr] | None = None) -> None:
        """Read the method, with the expressions `given` for its parameters."""
        self.local |= given or {}
        for statement in self.tree.body if self.tree is not None else ():
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        for inner in ast.iter_child_nodes(statement):
            if isinstance(inner, ast.expr):
                self._conditions(self._placed(inner), self.parameters)
            elif isinstance(inner, ast.withitem):
                self._conditions(self._placed(inner.context_expr), self.parameters)
        if isinstance(statement, ast.With):
            for one in statement.body:
                self._statement(one)
        if isinstance(statement, ast.Return) and statement.value is not None:
            self.returned = self._placed(statement.value)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            self._assigned(statement.targets[0], statement.value)

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.local[target.id] = self._placed(value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, its_value in zip(target.elts, [self._placed(v) for v in value.elts], strict=True):
                if isinstance(one, ast.Name):
                    self.local[one.id] = its_value

    def _placed(self, tree: ast.expr) -> ast.expr:
        return _Unqualified(self).visit(_Replacing(self.local).visit(_own(tree)))  # type: ignore[no-any-return]

    def _conditions(self, tree: ast.AST, parameters: Mapping[str, type]) -> None:
        """Collect the conditions in an expression and in its parts."""
        if isinstance(tree, ast.Lambda):
            return
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in _QUANTIFIERS:
            self._note(tree, parameters)
            *members, body = tree.args or [tree]
            kinds = [kind for kind in map(self._kind, members) if kind is not None]
            if isinstance(body, ast.Lambda) and len(kinds) == len(members):
                names = [argument.arg for argument in body.args.args]
                self._conditions(body.body, {**parameters, **dict(zip(names, kinds, strict=False))})
            return
        asking = isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and tree.func.attr in _ASKING
        if asking or isinstance(tree, ast.Compare):
            assert isinstance(tree, ast.expr)
            self._note(tree, parameters)
        for inner in ast.iter_child_nodes(tree):
            self._conditions(inner, parameters)

    def _kind(self, tree: ast.expr) -> type | None:
        """Return the kind that a quantifier ranges over, if it is one."""
        found = self.globals.get(tree.id) if isinstance(tree, ast.Name) else None
        return found if isinstance(found, type) and is_kind(found) else None

    def _note(self, tree: ast.expr, parameters: Mapping[str, type]) -> None:
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        if len(ast.unparse(tree)) <= _LONGEST:
            mine = {name: kind for name, kind in parameters.items() if name in used}
            self.found.append(WrittenCondition(_positive(tree), mine))

    def helper(self, call: ast.Call) -> ast.expr | None:
        """Return the expression that a call of a helper returns; None if unknown."""
        function, given = self._called(call)
        if not inspect.isfunction(function) or function.__module__.startswith("insync.model"):
            return None
        inner = _MethodText(self.kind, function, {}, self.depth + 1)
        names = [one.arg for one in inner.tree.args.args] if inner.tree is not None else []
        whole = not call.keywords and not any(isinstance(one, ast.Starred) for one in call.args)
        if inner.depth > _DEEPEST or not names or len(names) != len(given) or not whole:
            return None
        if isinstance(call.func, ast.Name):
            inner.me = inner.state = ""
        inner.run({name: one for name, one in zip(names, given, strict=True) if name not in (inner.me, inner.state)})
        return inner.returned

    def _called(self, call: ast.Call) -> tuple[object, list[ast.expr]]:
        """Return the called function of the module or the model, and all of its arguments."""
        if isinstance(call.func, ast.Name):
            return self.globals.get(call.func.id), call.args
        whose = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(call.func, ast.Attribute) and isinstance(whose, ast.Name) and whose.id == self.me:
            return getattr(self.kind, call.func.attr, None), [whose, *call.args]
        return None, []


class _Replacing(ast.NodeTransformer):
    """Replaces names by expressions."""

    def __init__(self, known: Mapping[str, ast.expr]) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self.known.get(node.id)
        return node if found is None else _own(found)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        names = {argument.arg for argument in node.args.args}
        known = {name: value for name, value in self.known.items() if name not in names}
        node.body = _Replacing(known).visit(node.body)
        return node


class _Unqualified(ast.NodeTransformer):
    """Omits the names of state and model, and replaces calls of helpers by the expressions that these return."""

    def __init__(self, reading: _MethodText) -> None:
        self.reading = reading

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        whole = node.value
        if isinstance(whole, ast.Name) and whole.id == self.reading.state:
            return ast.Name(node.attr, ast.Load())
        if isinstance(whole, ast.Attribute) and whole.attr == "b" and isinstance(whole.value, ast.Name):
            return ast.Name(node.attr, ast.Load())
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        every = isinstance(node.func, ast.Attribute) and node.func.attr == "all" and len(node.args) == 1
        returned = self.reading.helper(node)
        self.generic_visit(node)
        return node.args[0] if every else returned or node


def _positive(tree: ast.expr) -> ast.expr:
    """Return `a == b` for `a != b`, as a candidate may have either literal of one atom."""
    if isinstance(tree, ast.Compare) and [type(sign) for sign in tree.ops] == [ast.NotEq]:
        return ast.Compare(tree.left, [ast.Eq()], tree.comparators)
    return tree


def _own(tree: ast.expr) -> ast.expr:
    return copy.deepcopy(tree)
