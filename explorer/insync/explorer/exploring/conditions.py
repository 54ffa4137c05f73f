"""Typed conditions: parsed with Python's parser, and translated to the graph of a model without executing any Python.

A condition consists of names, parts of the state, comparisons, arithmetic and words of the modelling language; all else
is refused. Unlike in the text of a model, `and`, `or`, `not`, `in`, `is`, `if` and chained comparisons may be used.
"""

from __future__ import annotations

import ast
import inspect
import operator
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

import insync.model as language
from insync.model import NONE, Model, StateView
from insync.model.domains.domain import Domain
from insync.model.domains.sorts import Parameter, Subset, is_kind, label_of, members_of, number_of_members
from insync.model.domains.symbolic import Symbolic
from insync.model.domains.values import Bool, Condition
from insync.model.expressions.graph import Node, Op
from insync.model.language.views import KNOWN_INDEX, RecordView
from insync.model.tracing.program import specs_of
from insync.properties.invariants import StepInvariant
from insync.properties.registry import invariants_of
from insync.runtime.errors import ModelError, UserError, closest

__all__ = ["WORDS", "ConditionError", "ConditionNames", "ConditionReader", "read_condition"]


_LONGEST = 1000
_MOST_PIECES = 30_000
_PLACE = re.compile(r"^.*?\.py:\d+: ")
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
}  # fmt: skip
_COMPARISON: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.eq, ast.IsNot: operator.ne,
}  # fmt: skip
_PARTS = frozenset(
    {"contains", "count", "first", "is_empty", "is_none", "is_some", "is_subset", "last", "length", "or_else", "value"}
)
"""The attributes of values other than records that may be used: those without side effects."""


class ConditionError(UserError):
    """A condition cannot be read; with the place of the mistake.

    Attributes:
        at: the index of the first wrong character, from 0.
        length: the number of wrong characters.
    """

    def __init__(self, message: str, at: int = 0, length: int = 1) -> None:
        super().__init__(message)
        self.at, self.length = at, length

    def __reduce__(self) -> tuple[type[ConditionError], tuple[str, int, int]]:
        return type(self), (str(self), self.at, self.length)


def read_condition(model: Model, text: str) -> Node:
    """Return a typed condition as a node in the graph of a model.

    Raises:
        ConditionError: the condition cannot be read, or is true or false in all states.
    """
    node = ConditionReader(model).node(text)
    if node.op is Op.CONST:
        value = "true" if node.value else "false"
        message = f"{text.strip()!r} is {value} in every state, so there is nothing to find. Compare a field."
        raise ConditionError(message, 0, len(text))
    return node


class ConditionReader:
    """Reads conditions on the states of one model.

    Args:
        model: the model.
    """

    def __init__(self, model: Model) -> None:
        self.names = ConditionNames(model)

    def node(self, text: str, local: Mapping[str, Parameter] | None = None) -> Node:
        """Return a condition as a node, which may be a constant. `local` has additional names of members.

        Raises:
            ConditionError: the condition cannot be read.
        """
        line = re.sub(r"\s", " ", text)
        tree = _parsed(line)

        def predicate(view: StateView) -> Condition:
            meaning = _Meaning(self.names, view, line)
            found: Condition = meaning.of(tree.body, local or {})
            if not isinstance(found, bool | Bool):
                what = _described(found)
                meaning.refuse(tree.body, f"is {what}, and a condition is needed; compare it with something")
            return found

        try:
            return self.names.model.trace_predicate(predicate)
        except ModelError as error:
            raise ConditionError(_sentence(error), 0, len(line)) from error


def _parsed(line: str) -> ast.Expression:
    if not line.strip():
        message = "The condition is empty; write one, such as the name of a property, or a field == a value."
        raise ConditionError(message)
    if len(line) > _LONGEST:
        message = f"The condition has {len(line)} characters; at most {_LONGEST} are read. Write a shorter one."
        raise ConditionError(message, _LONGEST)
    indent = len(line) - len(line.lstrip())
    try:
        return ast.parse(line[indent:], mode="eval")
    except SyntaxError as error:
        at = min(len(line), indent + error.offset - 1) if error.offset else len(line)
        hint = " Write == to compare." if re.search(r"(?<![=<>!])=(?!=)", line) else ""
        message = f"{_placed(line, at, 12)}: this is no condition ({error.msg}).{hint}"
        raise ConditionError(message, at) from None
    except (ValueError, RecursionError, MemoryError) as error:
        message = f"This is no condition ({type(error).__name__}). Write a comparison, such as a field == a value."
        raise ConditionError(message, 0, len(line)) from None


def _placed(line: str, at: int, length: int) -> str:
    """Return a piece of the text with its place, for a message."""
    piece = line[at : at + length].strip()
    shown = piece if len(piece) <= 40 else piece[:37] + "..."
    return f"{shown!r}, character {at + 1}" if shown else "At the end"


def _sentence(error: Exception) -> str:
    """Return the message of an error of the language without its place in a file."""
    return _PLACE.sub("", str(error), count=1).removesuffix(f" {KNOWN_INDEX}")


def _described(value: object) -> str:
    if isinstance(value, Symbolic):
        return repr(value).replace("this ", "a ", 1)
    return f"{value} ({type(value).__name__})" if isinstance(value, (int, str)) else f"a {type(value).__name__}"


class _Meaning:
    """The translation of each piece of a parsed condition."""

    def __init__(self, names: ConditionNames, view: StateView, line: str) -> None:
        self.names, self.view, self.line = names, view, line
        self._indent = len(line) - len(line.lstrip())
        self._pieces = 0

    def of(self, node: ast.expr, local: Mapping[str, Any]) -> Any:
        """Return the value of a piece; `local` has the parameters of the functions around it."""
        self._pieces += 1
        if self._pieces > _MOST_PIECES:
            self.refuse(node, "ranges over too many combinations of members; name fewer")
        rule = _RULES.get(type(node))
        if rule is None:
            self.refuse(node, "is not a part of conditions; docs/guide/exploring.md says what they can have")
        try:
            return rule(self, node, local)
        except ConditionError:
            raise
        except ModelError as error:
            self.refuse(node, "", _sentence(error))
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError) as error:
            self.refuse(node, f"means nothing here ({error})")

    def refuse(self, node: ast.expr, why: str, sentence: str = "") -> NoReturn:
        """Raise ConditionError for a piece."""
        start = len(self.line[self._indent :].encode()[: node.col_offset].decode()) + self._indent
        end = len(self.line[self._indent :].encode()[: node.end_col_offset].decode()) + self._indent
        said = f": {sentence}" if sentence else f" {why}."
        message = f"{_placed(self.line, start, end - start)}{said}"
        raise ConditionError(message, start, max(1, end - start))

    def name(self, node: ast.Name, local: Mapping[str, Any]) -> Any:
        if node.id in local:
            return local[node.id]
        known, value = self.names.find(node.id, self.view)
        if not known:
            fields = f"The fields are {', '.join(self.names.fields)}."
            nearest = closest(node.id, [*local, *self.names.known()])
            self.refuse(node, "", f"there is no {node.id!r} here. {nearest if nearest[0] == 'D' else fields}")
        return value

    def constant(self, node: ast.Constant, local: Mapping[str, Any]) -> Any:
        if isinstance(node.value, str):
            if node.value not in self.names.members:
                known = self.names.members
                self.refuse(node, "", f"nothing is called {node.value!r} here. {closest(node.value, known)}")
            return self.names.members[node.value]
        if node.value is None:
            return NONE
        if not isinstance(node.value, int):
            self.refuse(node, "is no whole number")
        return node.value

    def attribute(self, node: ast.Attribute, local: Mapping[str, Any]) -> Any:
        whole = self.of(node.value, local)
        if isinstance(whole, type) and is_kind(whole):
            members = members_by_name(self.names.model, whole)
            if node.attr not in members:
                self.refuse(node, "", f"{whole.__name__} has no member {node.attr!r}. {closest(node.attr, members)}")
            return members[node.attr]
        if isinstance(whole, RecordView):
            fields = whole._domain.present
            if node.attr not in fields:
                absent = " under these bounds and settings" if node.attr in whole._domain.fields else ""
                shown = f"there is no field {node.attr!r} in {whole!r}{absent}."
                self.refuse(node, "", f"{shown} {closest(node.attr, fields)}")
            return getattr(whole, node.attr)
        usable = [name for name in sorted(_PARTS) if isinstance(whole, Symbolic | Subset) and _has(whole, name)]
        if node.attr not in usable:
            hint = f"It has {', '.join(usable)}." if usable else "It has no parts."
            self.refuse(node, "", f"{_described(whole)} has no {node.attr!r}. {hint}")
        return getattr(whole, node.attr)

    def subscript(self, node: ast.Subscript, local: Mapping[str, Any]) -> Any:
        whole = self.of(node.value, local)
        if not isinstance(whole, Symbolic) or isinstance(node.slice, ast.Slice):
            self.refuse(node, "is no place in an array")
        place: Any = self.of(node.slice, local)
        return operator.getitem(whole, place)  # type: ignore[call-overload]  # other values raise ModelError

    def compared(self, node: ast.Compare, local: Mapping[str, Any]) -> Any:
        values = [self.of(part, local) for part in (node.left, *node.comparators)]
        found = []
        for sign, left, right in zip(node.ops, values, values[1:], strict=False):
            if isinstance(sign, ast.In | ast.NotIn):
                there = self._within(node, left, right)
                found.append(there if isinstance(sign, ast.In) else WORDS["Not"](there))
            else:
                found.append(_COMPARISON[type(sign)](left, right))
        return found[0] if len(found) == 1 else WORDS["And"](*found)

    def _within(self, node: ast.Compare, member: Any, members: Any) -> Any:
        if isinstance(members, list | tuple | frozenset):
            return WORDS["one_of"](member, *members)
        if not hasattr(type(members), "contains"):
            self.refuse(node, "", f"{_described(members)} has no members, so leave `in` out.")
        return members.contains(member)

    def joined(self, node: ast.BoolOp, local: Mapping[str, Any]) -> Any:
        word = WORDS["And" if isinstance(node.op, ast.And) else "Or"]
        return word(*(self.of(part, local) for part in node.values))

    def unary(self, node: ast.UnaryOp, local: Mapping[str, Any]) -> Any:
        value = self.of(node.operand, local)
        if isinstance(node.op, ast.Not):
            return WORDS["Not"](value)
        return -value if isinstance(node.op, ast.USub) else ~value if isinstance(node.op, ast.Invert) else value

    def binary(self, node: ast.BinOp, local: Mapping[str, Any]) -> Any:
        if type(node.op) not in _BINARY:
            self.refuse(node, "is not an operator of conditions; write one of +, -, *, //, %, | and &")
        return _BINARY[type(node.op)](self.of(node.left, local), self.of(node.right, local))

    def chosen(self, node: ast.IfExp, local: Mapping[str, Any]) -> Any:
        return WORDS["If"](self.of(node.test, local), self.of(node.body, local), self.of(node.orelse, local))

    def listed(self, node: ast.Tuple | ast.List, local: Mapping[str, Any]) -> Any:
        return tuple(self.of(part, local) for part in node.elts)

    def collected(self, node: ast.Set, local: Mapping[str, Any]) -> Any:
        return frozenset(self.of(part, local) for part in node.elts)

    def function(self, node: ast.Lambda, local: Mapping[str, Any]) -> Any:
        given = node.args
        if given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg or given.defaults or not given.args:
            self.refuse(node, "is a function that no word takes; write lambda x: and a condition on x")
        names = [argument.arg for argument in given.args]

        def called(*values: Any) -> Any:
            return self.of(node.body, {**local, **dict(zip(names, values, strict=True))})

        kinds = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        called.__name__ = "<lambda>"
        called.__signature__ = inspect.Signature(kinds)  # type: ignore[attr-defined]  # read by the quantifiers
        return called

    def call(self, node: ast.Call, local: Mapping[str, Any]) -> Any:
        word = node.func.id if isinstance(node.func, ast.Name) else None
        if word is not None and (word in local or word not in WORDS):
            self.refuse(node.func, "", f"{word!r} is no word that can be called. {closest(word, WORDS)}")
        if word is None and not isinstance(node.func, ast.Attribute):
            self.refuse(node.func, "is nothing that can be called")
        what = self.of(node.func, local)
        if not callable(what):
            self.refuse(node.func, "is a value; leave the parentheses out")
        spread = [part for part in node.args if isinstance(part, ast.Starred)]
        if spread or any(keyword.arg is None for keyword in node.keywords):
            self.refuse(node, "must be given its arguments one by one, without *")
        named = {str(keyword.arg): self.of(keyword.value, local) for keyword in node.keywords}
        return what(*(self.of(part, local) for part in node.args), **named)


def _has(value: object, name: str) -> bool:
    """Return whether the class of a value defines an attribute, rather than refuses it in `__getattr__`."""
    return any(name in vars(kind) for kind in type(value).__mro__)


_RULES: Mapping[type[ast.expr], Callable[[_Meaning, Any, Mapping[str, Any]], Any]] = {
    ast.Name: _Meaning.name,
    ast.Constant: _Meaning.constant,
    ast.Attribute: _Meaning.attribute,
    ast.Subscript: _Meaning.subscript,
    ast.Compare: _Meaning.compared,
    ast.BoolOp: _Meaning.joined,
    ast.UnaryOp: _Meaning.unary,
    ast.BinOp: _Meaning.binary,
    ast.IfExp: _Meaning.chosen,
    ast.Tuple: _Meaning.listed,
    ast.List: _Meaning.listed,
    ast.Set: _Meaning.collected,
    ast.Lambda: _Meaning.function,
    ast.Call: _Meaning.call,
}


# Names: fields, words of the language, members, properties and bounds.


STATE_NAMES = ("s", "state")
"""The names of the whole state, as in a model's methods; a field of that name takes precedence."""

_QUANTIFIERS = ("count", "exists", "for_all", "max_of", "min_of", "sum_of", "the")
_JOINING = ("And", "If", "Implies", "Not", "Or", "maximum", "minimum", "one_of", "record", "set_of")

WORDS: Mapping[str, Callable[..., Any]] = {name: getattr(language, name) for name in (*_JOINING, *_QUANTIFIERS)}
"""The words of the language that a condition may call."""

_MOST = 1000
_CONSTANTS = {"NONE": language.NONE, "true": True, "false": False}


class ConditionNames:
    """The names that a condition on the states of a model can use.

    Args:
        model: the model.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.fields = model.state.present
        self.kinds = _kinds_of(model)
        self._used = _kinds_used(model)
        self.members = _members(model, self._used)
        self.invariants = {
            name: found for name, found in invariants_of(model).items() if not isinstance(found, StepInvariant)
        }

    def find(self, name: str, view: StateView) -> tuple[bool, Any]:
        """Look up a name while a condition is traced on a view of the state; return whether it exists, and its value.

        A field comes before the state itself, and a word of the language before a kind, a member or a property.
        """
        if name in self.fields:
            return True, getattr(view, name)
        if name in STATE_NAMES:
            return True, view
        if name in _CONSTANTS:
            return True, _CONSTANTS[name]
        for known in (WORDS, self.kinds, self.members):
            if name in known:
                return True, known[name]
        if name in self.invariants:
            return True, Bool(self.invariants[name].node(self.model))
        bound = self.model.b.get(name)
        return bound is not None, bound

    @property
    def used(self) -> list[str]:
        """The names of the kinds that occur in the state or as parameters of actions."""
        return [name for name, kind in self.kinds.items() if kind in self._used]

    def known(self) -> list[str]:
        """Return every name, for suggestions."""
        return [*self.fields, *WORDS, "NONE", *self.kinds, *self.members, *self.invariants, *self.model.b]


def _kinds_of(model: Model) -> dict[str, type]:
    """Return the kinds that a quantifier can range over, by their names in the modules of the model's classes.

    Sorts of other models in these modules are left out if they have no size under the bounds of this one.
    """
    found: dict[str, type] = {}
    for kind in reversed(type(model).__mro__):
        module = sys.modules.get(kind.__module__)
        for name, value in list(vars(module).items()) if module is not None else ():
            if not name.startswith("_") and is_kind(value) and value not in (bool, Subset) and _is_sized(value, model):
                found[name] = value
    return found


def _is_sized(kind: type, model: Model) -> bool:
    try:
        number_of_members(kind, model.b)
    except (UserError, AttributeError):
        return False
    return True


def _kinds_used(model: Model) -> list[type]:
    """Return the kinds whose members occur in states or as parameters of actions."""
    kinds = dict.fromkeys(_kinds_in(model.state))
    for spec in specs_of(model).values():
        kinds |= dict.fromkeys(spec.parameters.values())
    return [kind for kind in kinds if kind is not bool]


def _members(model: Model, kinds: Iterable[type]) -> dict[str, Parameter]:
    """Return the members of kinds by their labels; ambiguous labels are left out."""
    found: dict[str, set[Parameter]] = {}
    for kind in kinds:
        for label, member in members_by_name(model, kind).items():
            found.setdefault(label, set()).add(member)
    return {label: members.pop() for label, members in found.items() if len(members) == 1}


def _kinds_in(domain: Domain) -> Iterator[type]:
    """Yield the kinds whose members occur in values of a domain or index its arrays."""
    for inner in (*getattr(domain, "fields", {}).values(), getattr(domain, "of", None)):
        if isinstance(inner, Domain):
            yield from _kinds_in(inner)
    for kind in (getattr(domain, "sort", None), getattr(domain, "kind", None), getattr(domain, "over", None)):
        if is_kind(kind):
            assert isinstance(kind, type)
            yield kind


def members_by_name(model: Model, kind: type) -> dict[str, Parameter]:
    """Return the members of a kind whose labels are identifiers; none of a kind with more than 1,000 members."""
    if number_of_members(kind, model.b) > _MOST:
        return {}
    labelled = ((label_of(member), member) for member in members_of(kind, model.b))
    return {label: member for label, member in labelled if label.isidentifier()}
