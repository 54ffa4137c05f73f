"""Translation of expressions with open bounds to z3 terms: integers and uninterpreted functions.

A number becomes an integer, a set a Bool for each possible member, and an array of open length a function of its place.
A quantifier over an open sort stays a quantifier, restricted to *mentioned* members: each open bound has a predicate
that is the trigger at which z3 instantiates the quantifiers. z3 only assumes that the predicate holds at some terms. A
formula that is unsatisfiable for every such predicate is so for the predicate that is always true. With that one the
formula is the condition as it was written, so the restriction is sound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from insync.model.domains import composite as d
from insync.model.domains.bounds import is_open
from insync.model.expressions.graph import Binder, Node, Op, Variable
from insync.model.expressions.lifted import Action
from insync.proofs.smt.z3_module import z3
from insync.proofs.unbounded.open_model import OpenModel
from insync.runtime.errors import UserError

__all__ = ["OpenState", "OpenTerms", "Symbols", "Value"]

Value = z3.ArithRef | list[z3.BoolRef]
"""The term of a number; or of a set, a Bool for each possible member."""

_MASKS = frozenset({Op.BIT, Op.BITAND, Op.BITDIFF, Op.BITOR})


@dataclass(frozen=True, slots=True)
class OpenState:
    """A symbolic state.

    Attributes:
        codes: the codes of the cells that are not functions, by their numbers.
        at: returns the code of a cell that is a function, at some places.
    """

    codes: Mapping[int, Value]
    at: Callable[[int, Sequence[z3.ArithRef]], Value]


@dataclass(slots=True)
class Symbols:
    """The symbols of a model in z3 that do not belong to one state.

    Attributes:
        model: the model.
        bounds: the variable of each open bound.
        mentioned: the predicate of each open bound.
        width: the largest number of members of a set.
        variables: the terms of quantified variables and open parameters.
    """

    model: OpenModel
    bounds: dict[str, z3.ArithRef]
    mentioned: dict[str, z3.FuncDeclRef]
    width: int
    variables: dict[Variable, z3.ArithRef] = field(default_factory=dict)

    def size(self, size: int) -> z3.ArithRef:
        """Return the term of a size, open or not."""
        if not is_open(size):
            return z3.IntVal(size)
        name, more = self.model.graph.bound_of(size)
        return self.bounds[name] + more

    def variable(self, variable: Variable) -> z3.ArithRef:
        """Return the term of a variable."""
        if variable not in self.variables:
            self.variables[variable] = z3.Int(f"{variable.name}.{variable.number}")
        return self.variables[variable]

    def mention(self, size: int, term: z3.ArithRef) -> z3.BoolRef:
        """Return the condition that mentions a term as a member of the open sort with this size."""
        found: z3.BoolRef = self.mentioned[self.model.graph.bound_of(size)[0]](term)
        return found

    def is_set(self, cell: int) -> bool:
        """Return whether a cell of the state holds a set."""
        return isinstance(self.model.cells[cell].domain, d.Set)


class OpenTerms:
    """The z3 terms of expressions in one state, each made at most once.

    Args:
        symbols: the symbols of the model.
        state: the state; for an action the state before it.
        action: the action of the expressions; None for conditions on the state.

    Attributes:
        facts: the axioms of the variables that stand for the extreme of a number.
    """

    def __init__(self, symbols: Symbols, state: OpenState, action: Action | None = None) -> None:
        self.symbols, self.state, self.action = symbols, state, action
        self.facts: list[z3.BoolRef] = []
        self._known: dict[int, z3.ExprRef] = {}
        self._sets: dict[int, list[z3.BoolRef]] = {}

    def condition(self, node: Node) -> z3.BoolRef:
        """Return the term of a condition."""
        found = self._term(node)
        assert isinstance(found, z3.BoolRef)
        return found

    def number(self, node: Node) -> z3.ArithRef:
        """Return the term of a number."""
        found = self._term(node)
        assert isinstance(found, z3.ArithRef)
        return found

    def value(self, cell: int, node: Node) -> Value:
        """Return the term of a code of a cell."""
        return self.members(node) if self.symbols.is_set(cell) else self.number(node)

    def _term(self, node: Node) -> z3.ExprRef:
        if node.index not in self._known:
            self._known[node.index] = _RULES[node.op](self, node)
        return self._known[node.index]

    def members(self, node: Node) -> list[z3.BoolRef]:
        """Return the term of a set: for each possible member whether it is in the set."""
        if node.index not in self._sets:
            self._sets[node.index] = self._set(node)
        return self._sets[node.index]

    def _set(self, node: Node) -> list[z3.BoolRef]:
        everybody = range(self.symbols.width)
        match node.op:
            case Op.CONST:
                return [z3.BoolVal(bool(node.lo >> member & 1)) for member in everybody]
            case Op.CELL | Op.READ:
                found = self._read(node)
                assert isinstance(found, list)
                return found
            case Op.BIT:
                place = self.number(node.args[0])
                return [place == member for member in everybody]
            case Op.ITE:
                test = self.condition(node.args[0])
                return [
                    z3.If(test, a, b)
                    for a, b in zip(self.members(node.args[1]), self.members(node.args[2]), strict=True)
                ]
        join = {
            Op.BITAND: lambda a, b: z3.And(a, b),
            Op.BITOR: lambda a, b: z3.Or(a, b),
            Op.BITDIFF: lambda a, b: z3.And(a, z3.Not(b)),
        }.get(node.op)
        if join is None:
            self.refuse(f"{node.op.value} of sets")
        return [join(a, b) for a, b in zip(*map(self.members, node.args), strict=True)]

    def holds_set(self, node: Node) -> bool:
        """Return whether a node is a set, as far as its operation shows."""
        if node.op is Op.ITE:
            return any(map(self.holds_set, node.args[1:]))
        if node.op not in (Op.CELL, Op.READ):
            return node.op in _MASKS
        cell = node.location.base if node.op is Op.READ else node.cell
        return cell < len(self.symbols.model.cells) and self.symbols.is_set(cell)

    def quantifier(self, node: Node) -> z3.BoolRef:
        """Return the term of a quantifier; directly nested quantifiers of the same kind are joined into one."""
        variables, mentioned, inside = [], [], []
        word = _binder(node).word
        while node.op is Op.BIND and _binder(node).word == word:
            own = self._bound(node)
            variable = self.symbols.variable(own)
            variables.append(variable)
            mentioned.append(self.symbols.mention(own.size, variable))
            inside += [variable >= 0, variable < self.symbols.size(own.size)]
            node = node.args[0]
        body = self.condition(node)
        pattern = [z3.MultiPattern(*mentioned) if len(mentioned) > 1 else mentioned[0]]
        if word == "for_all":
            return z3.ForAll(variables, z3.Implies(z3.And(*inside, *mentioned), body), patterns=pattern)
        return z3.Exists(variables, z3.And(*inside, *mentioned, body), patterns=pattern)

    def _bound(self, node: Node) -> Variable:
        """Return the variable of a quantifier."""
        if len(node.args) > 1:
            self.refuse("a quantifier over a set of an open sort")
        return _binder(node).variable

    def _read(self, node: Node) -> Value:
        """Return the term of a cell of the state, of a place in an array, or of an open bound."""
        if node.op is Op.READ:
            return self._at(node)
        model = self.symbols.model
        if node.cell < len(model.cells):
            return self.state.codes[node.cell]
        return next(self.symbols.bounds[name] for name, own in model.graph.bound_cells.items() if own == node.cell)

    def _at(self, read: Node) -> Value:
        places = [self.number(place) for place in read.args]
        found = self.written(read.location.base, places, read.location.version)
        inside = [
            z3.And(term >= 0, term < self.symbols.size(length))
            for node, term, (_, length) in zip(read.args, places, read.location.dims, strict=True)
            if node.op is not Op.VAR  # as an index it is never outside
        ]
        if not inside:
            return found
        if isinstance(found, list):
            return [z3.And(*inside, member) for member in found]
        return z3.If(z3.And(*inside), found, z3.IntVal(0))

    def written(self, cell: int, places: Sequence[z3.ArithRef], count: int | None = None) -> Value:
        """Return the code of a cell at some places after the first `count` assignments of the action, or after all."""
        found = self.state.at(cell, places)
        for write in self.action.assigns[:count] if self.action is not None else ():
            if write.base == cell and write.indexes:
                *outer, last = zip(places, map(self.number, write.indexes), strict=True)
                met = [a == b for a, b in outer] + [last[0] >= last[1] if write.onwards else last[0] == last[1]]
                here = z3.And(*map(self.condition, write.where), *met)
                found = chosen(here, self.value(cell, write.codes[0]), found)
        return found

    def extreme(self, node: Node) -> z3.ArithRef:
        """Return the greatest or least value of a number as a new variable, and add its axioms."""
        own, word = self._bound(node), _binder(node).word
        variable = self.symbols.variable(own)
        if word == "count":
            self.refuse("count over an open sort")
        if self.action is None or self.symbols.model.graph.free(node) - {*self.action.variables}:
            self.refuse("an extreme in a property or in a quantifier")
        extreme, value = z3.FreshInt(word), self.number(node.args[0])
        mention = self.symbols.mention(own.size, variable)
        inside = z3.And(variable >= 0, variable < self.symbols.size(own.size), mention)
        beyond = value <= extreme if word == "max_of" else value >= extreme
        self.facts.append(z3.ForAll([variable], z3.Implies(inside, beyond), patterns=[mention]))
        self.facts.append(z3.Exists([variable], z3.And(inside, value == extreme), patterns=[mention]))
        return extreme

    def refuse(self, what: str) -> NoReturn:
        """Raise UserError about an expression that is not translated."""
        message = f"{self.symbols.model.model.name}: {what} is not in a proof for all bounds yet; prove it at bounds."
        raise UserError(message)


def chosen(test: z3.BoolRef, first: Value, other: Value) -> Value:
    """Return one of two codes of a cell."""
    if isinstance(first, list) and isinstance(other, list):
        return [z3.If(test, a, b) for a, b in zip(first, other, strict=True)]
    assert not isinstance(first, list)
    assert not isinstance(other, list)
    return z3.If(test, first, other)


def _number_read(terms: OpenTerms, node: Node) -> z3.ExprRef:
    found = terms._read(node)
    assert not isinstance(found, list)
    return found


def _binder(node: Node) -> Binder:
    assert isinstance(node.arg, Binder)
    return node.arg


def _variable(terms: OpenTerms, node: Node) -> z3.ExprRef:
    assert isinstance(node.arg, Variable)
    return terms.symbols.variable(node.arg)


def _equal(terms: OpenTerms, node: Node) -> z3.BoolRef:
    if any(map(terms.holds_set, node.args)):
        return z3.And(*[a == b for a, b in zip(*map(terms.members, node.args), strict=True)])
    first, other = map(terms.number, node.args)
    return first == other


def _test(terms: OpenTerms, node: Node) -> z3.BoolRef:
    members, index = terms.members(node.args[0]), node.args[1]
    if index.op is Op.CONST:
        return members[index.lo] if 0 <= index.lo < len(members) else z3.BoolVal(False)
    place = terms.number(index)
    return z3.Or(*[z3.And(place == number, member) for number, member in enumerate(members)])


def _extreme_of_two(least: bool) -> Callable[[OpenTerms, Node], z3.ExprRef]:
    def rule(terms: OpenTerms, node: Node) -> z3.ExprRef:
        a, b = map(terms.number, node.args)
        return z3.If(a <= b, a, b) if least else z3.If(a <= b, b, a)

    return rule


def _select(terms: OpenTerms, node: Node) -> z3.ExprRef:
    index, *elements = map(terms.number, node.args)
    found: z3.ArithRef = z3.IntVal(0)
    for place, element in enumerate(elements):
        found = z3.If(index == place, element, found)
    return found


def _numbers(join: Callable[..., z3.ExprRef]) -> Callable[[OpenTerms, Node], z3.ExprRef]:
    return lambda terms, node: join(*map(terms.number, node.args))


def _set_refused(terms: OpenTerms, node: Node) -> z3.ExprRef:
    terms.refuse("a set that is taken for a number")


_RULES: dict[Op, Callable[[OpenTerms, Node], z3.ExprRef]] = {
    Op.CONST: lambda terms, node: z3.BoolVal(bool(node.arg)) if node.is_bool else z3.IntVal(node.lo),
    Op.CELL: _number_read,
    Op.READ: _number_read,
    Op.ADD: _numbers(lambda a, b: a + b),
    Op.SUB: _numbers(lambda a, b: a - b),
    Op.MUL: _numbers(lambda a, b: a * b),
    Op.DIV: _numbers(lambda a, b: a / b),  # z3 rounds down where the divisor is positive, as it is
    Op.MOD: _numbers(lambda a, b: a % b),
    Op.MIN: _extreme_of_two(least=True),
    Op.MAX: _extreme_of_two(least=False),
    Op.EQ: _equal,
    Op.LT: _numbers(lambda a, b: a < b),
    Op.LE: _numbers(lambda a, b: a <= b),
    Op.AND: lambda terms, node: z3.And(*map(terms.condition, node.args)),
    Op.OR: lambda terms, node: z3.Or(*map(terms.condition, node.args)),
    Op.NOT: lambda terms, node: z3.Not(terms.condition(node.args[0])),
    Op.ITE: lambda terms, node: z3.If(
        terms.condition(node.args[0]), terms.number(node.args[1]), terms.number(node.args[2])
    ),
    Op.SELECT: _select,
    Op.TEST: _test,
    Op.COUNT: lambda terms, node: z3.Sum(
        *[z3.If(one, z3.IntVal(1), z3.IntVal(0)) for one in terms.members(node.args[0])]
    ),
    Op.VAR: _variable,
    Op.BIND: lambda terms, node: terms.quantifier(node) if node.is_bool else terms.extreme(node),
    **dict.fromkeys(_MASKS, _set_refused),
}
"""For every operation the term of a node."""

assert set(_RULES) == set(Op)
