"""Lints: warnings about a model for what is allowed and is probably a mistake, one sentence each."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from insync.model.define import Model
from insync.model.domains.composite import Array, Domain, Int, Record
from insync.model.domains.sorts import number_of_members, under
from insync.model.expressions.graph import Graph, Node, Op, reachable
from insync.model.expressions.store import AssignedCells
from insync.model.language.declarations import (
    ROLE,
    action_specs,
    initial_specs,
    invariant_names,
    invariant_specs,
    marked_specs,
    place_of_function,
)
from insync.model.tracing.lifting import run_method
from insync.model.tracing.predicates import StepInvariantSpec
from insync.model.tracing.program import specs_of
from insync.model.tracing.tracer import action_traced_otherwise
from insync.runtime.errors import ModelError

__all__ = ["remarks_of", "suspicions"]

_CONDITIONS = {"And", "Implies", "Not", "Or", "exists", "for_all"}
"""The functions of the language that return a condition and do nothing else."""


def suspicions(model: Model, conditions: Mapping[str, Node]) -> tuple[str, ...]:
    """Return the remarks of a model and the warnings about it.

    Args:
        model: the model; if it is not traced, only its remarks are returned.
        conditions: the conditions that are checked in its states, by name.
    """
    if model._program is None:
        return remarks_of(model)
    found = [*remarks_of(model), *_actions(model)]
    if not _of_one(model):
        found += _conditions(conditions)
    if not type(model).__module__.startswith("insync."):
        found += _of_source(model)
    return tuple(found)


def remarks_of(model: Model) -> tuple[str, ...]:
    """Return the sentences of a model's method `remarks` about the chosen bounds and settings.

    Raises:
        ModelError: it returns anything but a list of sentences.
    """
    given: Any = model.remarks()
    if not isinstance(given, list | tuple) or not all(isinstance(text, str) for text in given):
        message = f"{place_of_function(model.remarks)}: remarks returns {given!r}; it must return a list of sentences."
        raise ModelError(message)
    return tuple(given)


def _of_source(model: Model) -> tuple[str, ...]:
    """Return the warnings about a model's source, found once for a model: its mutants are copies of the same source."""
    if model._source_suspicions is None:
        model._source_suspicions = (*_said_in_vain(type(model)), *_tracings(model), *_beginnings(model))
    return model._source_suspicions


def _actions(model: Model) -> Iterator[str]:
    specs = action_specs(type(model))
    if not specs:
        yield f"{model.name} has no action, so nothing ever happens after the initial state."
    for name, spec in specs.items():
        bound = [action for action in model.program.actions if action.name == name]
        if bound and not any(action.updates for action in bound):
            yield f"{spec.place}: the action {name!r} never changes the state, so its steps lead nowhere."


def _of_one(model: Model) -> bool:
    """Return whether some parameter has a single member: then conditions on two members are rightly constant."""
    parameters = [spec.parameters for spec in specs_of(model).values()]
    parameters += [spec.parameters for spec in invariant_specs(type(model)).values()]
    kinds = {kind for each in parameters for kind in each.values()}
    return any(number_of_members(kind, model.b) == 1 for kind in kinds)


def _conditions(conditions: Mapping[str, Node]) -> Iterator[str]:
    for name, node in conditions.items():
        if not any(one.op is Op.CELL for one in reachable([node])):
            always = "true" if node is node.graph.true else "false"
            yield f"The property {name!r} does not depend on the state: it is {always} whatever the fields hold."


def _tracings(model: Model) -> Iterator[str]:
    found = action_traced_otherwise(model)
    if found is not None:
        spec = action_specs(type(model))[found]
        yield (
            f"{spec.place}: the action {found!r} means something else when it is traced again, so it depends on more "
            f"than the state, such as chance, time or a global; what was checked is one of its meanings."
        )


def _beginnings(model: Model) -> Iterator[str]:
    """Yield the numbers that begin far below 0 because nothing assigns them; -1 often stands for `none yet`."""
    if initial_specs(type(model)):
        return
    state, store = model.state, AssignedCells(Graph(()), model.state.width)
    with under(model.b):
        run_method(model, store, model.initial, (), place_of_function(model.initial))
    for name, domain in state.present.items():
        for cell, number in _numbers(domain, state.offsets[name]):
            if number.lo < -1 and number.hi >= 0 and cell not in store.assigned:
                yield (
                    f"{number.place}: the field {name!r} begins with {number.lo}, the least number that it can hold, "
                    f"as nothing assigns it in `initial`; write there with what it begins."
                )
                break


def _numbers(domain: Domain, cell: int) -> Iterator[tuple[int, Int]]:
    """Yield the cells of the numbers that are always there, and their domains."""
    if isinstance(domain, Int):
        yield cell, domain
    elif isinstance(domain, (Record, Array)):
        for part in domain.parts():
            assert part.domain is not None, "records and arrays have no cells of their own"
            yield from _numbers(part.domain, cell + part.offset)


# ------------------------------------------------------------------------------------------------ source without effect


@cache
def _said_in_vain(kind: type[Model]) -> tuple[str, ...]:
    return tuple(_in_vain(kind))


def _in_vain(kind: type[Model]) -> Iterator[str]:
    """Yield the tests and conditions that Python decides or drops during tracing, though they are about the state."""
    for name in [
        *initial_specs(kind),
        *action_specs(kind),
        *invariant_names(kind),
        *marked_specs(kind, StepInvariantSpec),
    ]:
        method = getattr(kind, name)
        try:
            lines, first = inspect.getsourcelines(method)
        except (OSError, TypeError):  # made at run time, without a file
            continue
        tree = ast.parse(textwrap.dedent("".join(lines)))
        place = f"{inspect.getsourcefile(method)}:"
        for line, sentence in [*_tests_of_identity(tree, method), *_dropped(tree)]:
            yield f"{place}{first + line - 1}: {sentence}"


def _tests_of_identity(tree: ast.AST, method: Callable[..., Any]) -> Iterator[tuple[int, str]]:
    """Yield the comparisons of a part of the state by `is` or `is not`, whose result is fixed."""
    states = 2 if isinstance(getattr(method, ROLE, None), StepInvariantSpec) else 1
    of_state = set(method.__code__.co_varnames[1 : 1 + states])
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _root(node.value) in of_state:
            of_state.update(target.id for target in node.targets if isinstance(target, ast.Name))
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            continue
        sides = [node.left, node.comparators[0]]
        left, right = sides if _root(node.left) in of_state else reversed(sides)
        if _root(left) in of_state:
            yield node.lineno, _decided(node, isinstance(node.ops[0], ast.Is), left, right)


def _decided(test: ast.AST, same: bool, left: ast.AST, right: ast.AST) -> str:
    """Return the warning about a test by `is`, with the comparison to write instead."""
    if (isinstance(right, ast.Constant) and right.value is None) or _root(right) == "NONE":
        meant = f"{_said(left)}.{'is_none' if same else 'is_some'}()"
    else:
        meant = f"{_said(left)} {'==' if same else '!='} {_said(right)}"
    holds = "never" if same else "always"
    return f"Python decides `{_said(test)}` while the model is traced, and it {holds} holds; write {meant}."


def _dropped(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the conditions that stand alone as a statement, so that their value is not used."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and (isinstance(node.value, ast.Compare) or _is_condition(node.value)):
            sentence = f"`{_said(node)}` is worked out and then dropped; write require({_said(node)})."
            yield node.lineno, sentence


def _is_condition(node: ast.AST) -> bool:
    """Return whether a node calls a function of the language that returns a condition."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CONDITIONS


def _said(node: ast.AST) -> str:
    return ast.unparse(node)


def _root(node: ast.AST) -> str | None:
    """Return the name at the root of a chain of fields and indexes."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
