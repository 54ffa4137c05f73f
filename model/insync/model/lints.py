"""Lints: warnings about a model for what is allowed and is probably a mistake, one sentence each."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from insync.model.define import Model
from insync.model.domains.composite import Array, Domain, Int, Record
from insync.model.domains.sorts import number_of_members, under
from insync.model.expressions.graph import Graph, Node, Op, reachable
from insync.model.expressions.intervals import always_holds
from insync.model.expressions.lifted import Action
from insync.model.expressions.simplify import apply
from insync.model.expressions.source import Branch, syntax_of
from insync.model.expressions.store import AssignedCells
from insync.model.language.declarations import (
    ROLE,
    ActionSpec,
    action_specs,
    initial_specs,
    invariant_names,
    invariant_specs,
    marked_specs,
    place_of_function,
)
from insync.model.tracing.lifting import run_method
from insync.model.tracing.predicates import StepInvariantSpec
from insync.model.tracing.program import specs_of, whole_of
from insync.model.tracing.tracer import action_traced_otherwise
from insync.runtime.errors import ModelError, closest, place_of_class

__all__ = ["remarks_of", "suspicions"]

_CONDITIONS = {"And", "Implies", "Not", "Or", "exists", "for_all", "one_of"}
"""The functions of the language that return a condition and do nothing else."""

_VALUES = {"If", "choose", "count", "filtered", "max_of", "maximum", "min_of", "minimum", "snapshot", "sum_of", "the"}
"""The functions that return another value and do nothing else."""

_TESTS = {"contains", "is_empty", "is_none", "is_some", "is_subset"}
"""The methods of parts of a state that return a condition and do nothing else."""


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
        model._source_suspicions = (
            *_said_in_vain(type(model)),
            *_unmarked(type(model)),
            *_no_alternatives(model),
            *_tracings(model),
            *_beginnings(model),
        )
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
            if node is node.graph.true:
                yield f"The property {name!r} can never fail, as it says no more than the domains of the fields."
            else:
                yield f"The property {name!r} is false whatever the fields hold within their domains."


def _tracings(model: Model) -> Iterator[str]:
    """Yield the warning about an action that differs when it is traced again, or about what tracing it changes."""
    before = _beside_the_state(model)
    found = action_traced_otherwise(model)
    after = _beside_the_state(model)
    changed = next((name for name, value in after.items() if before.get(name, value) != value), None)
    if found is None and changed is not None:
        yield (
            f"{place_of_class(type(model))}an action changes {changed} while it is traced, which happens once and not "
            f"in each step. Make it a field of the state."
        )
    if found is not None:
        spec = action_specs(type(model))[found]
        yield (
            f"{spec.place}: the action {found!r} means something else when it is traced again, so it depends on more "
            f"than the state, such as chance, time or a global; what was checked is one of its meanings."
        )


_OWN = {*Model.__init__.__code__.co_names, "_made"}
"""The attributes that every model has."""

_DEEPEST = 5  # objects within objects that are looked at

_NOT_OF_AUTHORS = frozenset({"insync", *sys.stdlib_module_names})
"""Packages whose objects no action of an author changes; of these only lists, sets and dictionaries are looked into."""


def _beside_the_state(model: Model) -> dict[str, object]:
    """Return what the author's Python could change beside the state: attributes of the model and its parts, globals."""
    whole = whole_of(model)
    own = [kind for kind in type(model).__mro__ if issubclass(kind, Model) and not _is_of_insync(kind)]
    named = [(f"self.{name}", value) for kind in own for name, value in vars(kind).items()]
    named += [(f"self.{name}", value) for name, value in vars(whole).items() if name not in _OWN]
    for part, held in whole._parts.items():
        named += [(f"self.{part}.{name}", value) for name, value in getattr(held, "__dict__", {}).items()]
    for kind in own:
        named += vars(sys.modules[kind.__module__]).items() if kind.__module__ in sys.modules else ()
    return {name: _contents(value) for name, value in named if not name.removeprefix("self.").startswith("__")}


_PLAIN = frozenset({bool, int, str, float, type(None)})


def _contents(value: object, depth: int = _DEEPEST) -> object:
    """Return a value that is equal as long as an object holds the same."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, set):
        return {id(part) for part in value}
    parts: Iterable[object] = ()
    if isinstance(value, list | tuple):
        parts = value
    elif isinstance(value, dict):
        parts = [*value, *value.values()]
    elif kind.__module__.partition(".")[0] not in _NOT_OF_AUTHORS:
        parts = () if isinstance(value, type | Model) else getattr(value, "__dict__", {}).values()
    return id(value), [_contents(part, depth - 1) for part in parts] if depth else []


def _is_of_insync(kind: type) -> bool:
    return kind.__module__.startswith("insync.")


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


# ------------------------------------------------------------------------------- blocks that are no alternatives


def _no_alternatives(model: Model) -> Iterator[str]:
    """Yield the `when` blocks that stand like `if` and `else`, and may both happen, as the first changes the test."""
    found: dict[str, None] = {}
    lifted = whole_of(model)._lifted
    for action in () if lifted is None else lifted.actions:
        former: list[Branch] = []
        for branch in action.notes.branches:
            if branch.word != "when":
                continue
            for other in former:
                if _excludes(other, branch) and not _cannot_both_happen(action, other, branch):
                    found.setdefault(_not_else(other, branch))
            former = [one for one in former if one.spot != branch.spot] + [branch]
    yield from found


def _cannot_both_happen(action: Action, one: Branch, other: Branch) -> bool:
    """Return whether a step that enters one block never enters the other one after it."""
    graph = one.test.graph
    return always_holds([*action.guard, *one.where, one.test], apply(Op.NOT, other.test)) or one.test is graph.false


def _not_else(one: Branch, other: Branch) -> str:
    line, test = one.spot.line, _said(_opened(other.spot.source)[0])
    return (
        f"{other.spot.file}:{other.spot.line}: this block and the one at line {line} may both happen in one step, as "
        f"that one changes what `{test}` reads. Read both conditions into variables before line {line}."
    )


def _excludes(one: Branch, other: Branch) -> bool:
    """Return whether the tests of two blocks of one function, as they are written, exclude each other."""
    if one.call.code is not other.call.code or one.where != other.where or one.spot >= other.spot:
        return False
    opened, opened_by_other = _opened(one.spot.source), _opened(other.spot.source)
    tests = [*opened[:1], *opened_by_other[:1]]
    if len(tests) < 2:
        return False
    (left, holds), (right, too) = map(_plain, tests)
    if _said(left) == _said(right):
        return holds != too
    sides = [side for each in (left, right) for side in _equal_to_constant(each)]
    if not holds or not too or len(sides) != 4 or sides[0] != sides[2]:
        return False
    assigned = [node for node in map(_assignment, opened[1:]) if node is not None]
    return all(value == sides[3] for part, value in assigned if part == sides[0])


@lru_cache(maxsize=256)
def _opened(block: str) -> list[ast.AST]:
    """Return the condition of a block `with when(condition):`, then the nodes within it; nothing of another form.

    Args:
        block: the text to which Python assigns the call: the whole block, or `when(condition)` alone.
    """
    try:
        (found,) = ast.parse(block).body
    except (SyntaxError, ValueError):
        return []
    calls: list[ast.AST] = [getattr(found, "value", found)]
    within: list[ast.AST] = []
    if isinstance(found, ast.With):
        calls = [item.context_expr for item in found.items]
        within = [node for statement in found.body for node in ast.walk(statement)]
    call, *others = calls
    return [call.args[0], *within] if isinstance(call, ast.Call) and call.args and not others else []


def _assignment(node: ast.AST) -> tuple[str, str] | None:
    """Return both sides of the assignment of a constant or a member; else None."""
    if not isinstance(node, ast.Assign) or not _is_fixed(node.value):
        return None
    return _said(node.targets[0]), _said(node.value)


_OPPOSITE = {ast.NotEq: ast.Eq, ast.Gt: ast.LtE, ast.GtE: ast.Lt}


def _plain(test: ast.AST) -> tuple[ast.AST, bool]:
    """Return a condition without negation, and whether it must hold."""
    holds = True
    while True:
        if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "Not" and test.args:
            test, holds = test.args[0], not holds
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Invert):
            test, holds = test.operand, not holds
        elif isinstance(test, ast.Compare) and type(test.ops[0]) in _OPPOSITE:
            test, holds = ast.Compare(test.left, [_OPPOSITE[type(test.ops[0])]()], test.comparators), not holds
        elif isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "is_some":
            test, holds = ast.Call(ast.Attribute(test.func.value, "is_none"), [], []), not holds
        else:
            return test, holds


def _equal_to_constant(test: ast.AST) -> list[str]:
    """Return both sides of a comparison with a constant or a member, such as `s.phase == Phase.DONE`; else nothing."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return []
    right = test.comparators[0]
    return [_said(test.left), _said(right)] if _is_fixed(right) else []


def _is_fixed(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) or (_root(node) or "")[:1].isupper()


# ------------------------------------------------------------------------------------------- methods without a mark


@cache
def _unmarked(kind: type[Model]) -> tuple[str, ...]:
    """Return the warnings about methods that take the state, that no decorator marks, and that nothing calls."""
    given_states = [*action_specs(kind), *invariant_specs(kind), "initial"]
    states = {inspect.unwrap(getattr(kind, name)).__code__.co_varnames[1] for name in given_states}
    own = [base for base in kind.__mro__ if issubclass(base, Model) and not base.__module__.startswith("insync.")]
    found = [
        (name, member)
        for base in own
        for name, member in vars(base).items()
        if inspect.isfunction(member) and not hasattr(member, ROLE) and not hasattr(Model, name)
        if not name.startswith("__") and set(member.__code__.co_varnames[1 : member.__code__.co_argcount][:1]) & states
    ]
    used = _names_used(own) if found else None
    warnings = []
    for name, member in found:
        if used is None or name in used:
            continue
        near = closest(name, [each for each in vars(Model) if not each.startswith("_")])
        cure = near if near.startswith("Did") else "Write @action or @invariant above it, or remove it."
        warnings.append(f"{place_of_function(member)}: no decorator marks {name!r}, and nothing calls it. {cure}")
    return tuple(warnings)


def _names_used(kinds: list[type[Model]]) -> set[str] | None:
    """Return the names in the modules that have one of some classes, but for definitions; None without a source."""
    names: set[str] = set()
    for name, module in list(sys.modules.items()):
        members = getattr(module, "__dict__", {})  # the attribute itself might import something
        if not any(name == kind.__module__ or members.get(kind.__name__) is kind for kind in kinds):
            continue
        try:
            tree = ast.parse(inspect.getsource(module))
        except (OSError, TypeError, SyntaxError):
            return None
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                names.add(node.attr)
            elif isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.add(node.value)
    return names


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
        if method.__module__.startswith("insync.") or (tree := syntax_of(method)) is None:
            continue
        nodes = list(ast.walk(tree))
        of_state, requires = _names_of_state(nodes, method), isinstance(getattr(method, ROLE, None), ActionSpec)
        for line, sentence in [*_tests_of_identity(nodes, of_state), *_dropped(nodes, of_state, requires)]:
            yield f"{inspect.getsourcefile(method)}:{line}: {sentence}"


def _tests_of_identity(nodes: Sequence[ast.AST], of_state: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the comparisons of a part of the state by `is` or `is not`, whose result is fixed."""
    for node in nodes:
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


def _names_of_state(nodes: Sequence[ast.AST], method: Callable[..., Any]) -> set[str]:
    """Return the names of a method's states, and of the variables that are assigned a part of them."""
    states = 2 if isinstance(getattr(method, ROLE, None), StepInvariantSpec) else 1
    names = set(method.__code__.co_varnames[1 : 1 + states])
    for node in nodes:
        if isinstance(node, ast.Assign) and _root(node.value) in names:
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return names


def _dropped(nodes: Sequence[ast.AST], of_state: set[str], requires: bool) -> Iterator[tuple[int, str]]:
    """Yield the values that stand alone as a statement, so that they are not used."""
    for node in nodes:
        if not isinstance(node, ast.Expr) or not (cure := _cure(node.value, of_state)):
            continue
        cure = cure.format("require({0})" if requires else "return {0}").format(_said(node))
        yield node.lineno, f"`{_said(node)}` is worked out and then dropped; {cure}."


def _cure(node: ast.AST, of_state: set[str]) -> str:
    """Return what to write in place of a value that stands alone; empty if it is none, or has an effect."""
    called = node.func if isinstance(node, ast.Call) else None
    word = called.id if isinstance(called, ast.Name) else ""
    method = called.attr if isinstance(called, ast.Attribute) and _root(called) in of_state else ""
    if isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp) or word in _CONDITIONS or method in _TESTS:
        return "write {}"
    if word == "If":
        return "assign it to a field, or write `with when(...):` and assignments below it"
    if word in _VALUES or isinstance(node, ast.BinOp):
        return "use it, or leave it out"
    return "write {} if it is a condition, or leave it out" if called is None and _root(node) in of_state else ""


def _said(node: ast.AST) -> str:
    return ast.unparse(node)


def _root(node: ast.AST) -> str | None:
    """Return the name at the root of a chain of fields and indexes."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
