"""The transition system of a model with open bounds in z3: symbolic states, and the steps between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from insync.model.domains import composite as d
from insync.model.domains.bounds import is_open
from insync.model.expressions.graph import Node, Op, reachable
from insync.model.expressions.lifted import Action, Assign
from insync.proofs.smt.z3_module import z3
from insync.proofs.unbounded.open_model import OpenModel
from insync.proofs.unbounded.terms import OpenState, OpenTerms, Symbols, Value

__all__ = ["SymbolicStart", "SymbolicTaken", "begun", "fits_of", "symbols_of", "taken"]


@dataclass(frozen=True, slots=True)
class SymbolicStart:
    """An arbitrary state.

    Attributes:
        state: the state.
        typed: the conditions that codes are in range, and that each open bound is at least its least value.
        hints: the mentioned terms of the state, such as epochs, at which quantifiers are instantiated.
    """

    state: OpenState
    typed: tuple[z3.BoolRef, ...]
    hints: tuple[z3.BoolRef, ...]


@dataclass(frozen=True, slots=True)
class SymbolicTaken:
    """A step by an action.

    Attributes:
        terms: the terms of the action's expressions in the state before.
        enabled: the guard, and the conditions that open parameters are in range.
        after: the state after the step.
        hints: the mentioned terms of the step, such as indexes, at which quantifiers are instantiated.
    """

    terms: OpenTerms
    enabled: tuple[z3.BoolRef, ...]
    after: OpenState
    hints: tuple[z3.BoolRef, ...]


def symbols_of(model: OpenModel) -> Symbols:
    """Return the symbols of a model."""
    sets = [cell.domain.of.size for cell in model.cells if isinstance(cell.domain, d.Set)]
    bounds = {name: z3.Int(name) for name in model.lowest}
    mentioned = {name: z3.Function(f"mentioned.{name}", z3.IntSort(), z3.BoolSort()) for name in model.lowest}
    return Symbols(model, bounds, mentioned, max(sets, default=0))


def begun(symbols: Symbols) -> SymbolicStart:
    """Return an arbitrary state, with a variable or function for each cell."""
    codes: dict[int, Value] = {}
    functions: dict[int, list[z3.FuncDeclRef]] = {}
    typed = [symbols.bounds[name] >= least for name, least in symbols.model.lowest.items()]
    hints: list[z3.BoolRef] = []
    for number, cell in enumerate(symbols.model.cells):
        names = [f"{cell.path}.{i}" for i in range(symbols.width)] if symbols.is_set(number) else [cell.path]
        sort = z3.BoolSort() if symbols.is_set(number) else z3.IntSort()
        # Paths of cells may repeat: an optional record and its presence have the same path.
        names = [f"{number} {name}" for name in names]
        if cell.lengths:
            ints = [z3.IntSort()] * len(cell.lengths)
            functions[number] = [z3.Function(name, *ints, sort) for name in names]
            if not symbols.is_set(number):
                places = [z3.Int(f"place {i}") for i in range(len(ints))]
                code = functions[number][0](*places)
                inside = z3.And(code >= 0, code < symbols.size(cell.size))
                typed.append(z3.ForAll(places, inside, patterns=[code]))
        elif symbols.is_set(number):
            codes[number] = [z3.Bool(name) for name in names]
        else:
            code = z3.Int(names[0])
            codes[number] = code
            typed += [code >= 0, code < symbols.size(cell.size)]
            hints += _hints_of(symbols, number, code)

    def at(cell: int, places: Sequence[z3.ArithRef]) -> Value:
        found = [function(*places) for function in functions[cell]]
        return found if symbols.is_set(cell) else found[0]

    return SymbolicStart(OpenState(codes, at), tuple(typed), tuple(hints))


def _hints_of(symbols: Symbols, number: int, code: z3.ArithRef) -> Iterator[z3.BoolRef]:
    """Mention the member of an open sort that a cell names, or the last of the members that a cell counts."""
    domain = symbols.model.cells[number].domain
    if (size := _open_sort(domain)) is not None:
        yield symbols.mention(size, code - 1 if isinstance(domain, d.OptionalScalar) else code)
    elif isinstance(domain, d.Int) and domain.size - 1 in {_open_sort(cell.domain) for cell in symbols.model.cells}:
        yield symbols.mention(domain.size - 1, code - 1)


def _open_sort(domain: d.Scalar | None) -> int | None:
    """Return the size of the open sort that a cell names members of, or None."""
    inner = domain.of if isinstance(domain, d.OptionalScalar) else domain
    return inner.size if isinstance(inner, d.Member) and is_open(inner.size) else None


def taken(symbols: Symbols, before: OpenState, action: Action) -> SymbolicTaken:
    """Return the step that an action takes from a state."""
    terms = OpenTerms(symbols, before, action)
    enabled = [terms.condition(node) for node in action.guard]
    codes = {**before.codes, **{one.base: terms.value(one.base, one.codes[0]) for one in _updates(action)}}
    hints = []
    for variable in action.variables:
        parameter, size = symbols.variable(variable), variable.size
        enabled += [parameter >= 0, parameter < symbols.size(size)]
        hints.append(symbols.mention(size, parameter))
    for place, size in _places_of(symbols, action):
        index = terms.number(place)
        hints += [symbols.mention(size, index), symbols.mention(size, index - 1)]
    for write in _writes(action):
        terms.value(write.base, write.codes[0])  # made now, as `terms.facts` must be complete
    written = {write.base for write in _writes(action)}

    def at(cell: int, places: Sequence[z3.ArithRef]) -> Value:
        return terms.written(cell, places) if cell in written else before.at(cell, places)

    return SymbolicTaken(terms, tuple(enabled), OpenState(codes, at), tuple(hints))


def _writes(action: Action) -> list[Assign]:
    """Return the assignments to arrays of open length."""
    return [one for one in action.assigns if one.indexes]


def _updates(action: Action) -> list[Assign]:
    """Return the assignments to cells that are not functions of places."""
    return [one for one in action.assigns if not one.indexes]


def _places_of(symbols: Symbols, action: Action) -> list[tuple[Node, int]]:
    """Return the indexes without bound variables at which an action reads or assigns, with the sizes of the arrays."""
    nodes = reachable([*action.guard, *(node for one in action.assigns for node in one.nodes)])
    reads = [(node.args, node.location.dims) for node in nodes if node.op is Op.READ]
    found = {}
    for indexes, dims in [*reads, *((one.indexes, one.dims) for one in action.assigns)]:
        found.update(dict.fromkeys((index, length) for index, (_, length) in zip(indexes, dims, strict=True)))
    return [(place, size) for place, size in found if symbols.model.graph.free(place) <= {*action.variables}]


def fits_of(symbols: Symbols, step: SymbolicTaken, action: Action) -> list[z3.BoolRef]:
    """Return the conditions under which a step leaves no domain."""
    terms = step.terms
    found = [terms.condition(check.node) for check in action.expects]
    for one in _updates(action):
        found += _inside(symbols, one.base, terms.value(one.base, one.codes[0]))
    for write in _writes(action):
        happens = [*map(terms.condition, write.where)]
        for place, (_, length) in zip(map(terms.number, write.indexes), write.dims, strict=True):
            happens += [place >= 0, place < symbols.size(length)]
        code = _inside(symbols, write.base, terms.value(write.base, write.codes[0]))
        found += [z3.Implies(z3.And(*happens), one) for one in code]
    return found


def _inside(symbols: Symbols, cell: int, code: Value) -> list[z3.BoolRef]:
    if isinstance(code, list):
        return []  # the representation of a set has room for members only
    return [code >= 0, code < symbols.size(symbols.model.cells[cell].size)]
