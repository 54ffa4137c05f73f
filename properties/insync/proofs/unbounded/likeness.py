"""Replicas are alike, also where bounds are open: what is proved of an action with some of them holds with others.

Two members of a symmetric sort are swapped in a state. If the conditions hold in the swapped state wherever they hold,
and an action with the swapped parameters does in the swapped state what it did, only swapped, then it need not be asked
about. Both are proved by z3, for neighbours, of whose swaps every permutation is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from insync.model import domains as d
from insync.model.open_tracing import OpenAction
from insync.model.sorts import Index, Subset
from insync.proofs.smt.z3_module import z3
from insync.proofs.unbounded.questions import Conclusion
from insync.proofs.unbounded.terms import OpenState, Symbols, Value
from insync.proofs.unbounded.transition_system import fits_of, taken
from insync.properties.every_model import TYPE_OK

__all__ = ["Swap", "alike_by", "likeness_of", "swaps_of"]


@dataclass(frozen=True, slots=True)
class Swap:
    """Two neighbours among the members of a sort that change places."""

    sort: type[Index]
    first: int

    def member(self, number: int) -> int:
        """Return which member stands where this one did."""
        return {self.first: self.first + 1, self.first + 1: self.first}.get(number, number)

    def parameters(self, action: OpenAction) -> tuple[object, ...]:
        """Return the bound parameters of an action, swapped, after its name."""
        swapped = [self.member(value) if isinstance(value, self.sort) else value for value in action.bound_parameters]
        return (action.name, *swapped)

    def value(self, domain: d.Scalar | None, code: Value) -> Value:
        """Return what a code becomes."""
        inner, lowest = (domain.of, 1) if isinstance(domain, d.OptionalScalar) else (domain, 0)
        if isinstance(inner, d.Set) and isinstance(code, list):
            return [code[self.member(place)] for place in range(len(code))] if inner.of.sort is self.sort else code
        if isinstance(code, list) or not isinstance(inner, d.Member) or inner.sort is not self.sort:
            return code
        first, second = self.first + lowest, self.first + 1 + lowest
        return z3.If(code == first, z3.IntVal(second), z3.If(code == second, z3.IntVal(first), code))

    def state(self, symbols: Symbols, before: OpenState) -> OpenState:
        """Return a state with the two swapped."""
        cells = symbols.model.cells
        by_place = {(cell.kind, cell.domain is None, cell.members): number for number, cell in enumerate(cells)}
        source = {}
        for number, cell in enumerate(cells):
            members = tuple((over, self.member(at) if over is self.sort else at) for over, at in cell.members)
            source[number] = by_place[cell.kind, cell.domain is None, members]
        codes = {number: self.value(cells[number].domain, before.codes[source[number]]) for number in before.codes}

        def at(cell: int, places: Sequence[z3.ArithRef]) -> Value:
            return self.value(cells[cell].domain, before.at(source[cell], places))

        return OpenState(codes, at)


def swaps_of(symbols: Symbols, actions: Sequence[OpenAction]) -> list[Swap]:
    """Return the swaps of neighbours in the symmetric sorts of the parameters; none where sets of sets name members."""
    values = [value for action in actions for value in action.bound_parameters]
    sorts = dict.fromkeys(type(value) for value in values if isinstance(value, Index) and value.symmetric)
    subsets = any(isinstance(value, Subset) for value in values) or any(
        isinstance(inner, d.Member) and issubclass(inner.sort, Subset)
        for cell in symbols.model.cells
        for inner in (cell.domain, getattr(cell.domain, "of", None))
    )
    if subsets:
        return []
    sizes = {sort: sort.size(symbols.model.model.b) for sort in sorts}
    return [Swap(sort, first) for sort in sorts for first in range(sizes[sort] - 1)]


def alike_by(swaps: Sequence[Swap], actions: Sequence[OpenAction]) -> Iterator[tuple[OpenAction, OpenAction, Swap]]:
    """Yield for each action but the first of those that swaps lead to from it: itself, one nearer to it, the swap."""
    by_parameters: dict[tuple[object, ...], OpenAction] = {
        (action.name, *action.bound_parameters): action for action in actions
    }
    seen: set[int] = set()
    for first in actions:
        front = [] if id(first) in seen else [first]
        seen.add(id(first))
        while front:
            nearer = front.pop(0)
            for swap in swaps:
                further = by_parameters.get(swap.parameters(nearer))
                if further is not None and id(further) not in seen:
                    seen.add(id(further))
                    front.append(further)
                    yield further, nearer, swap


def likeness_of(
    symbols: Symbols, before: OpenState, further: OpenAction, nearer: OpenAction, swap: Swap
) -> tuple[list[z3.BoolRef], list[Conclusion]]:
    """Return what to assume of a step by an action, and what follows if the nearer one does the same, swapped."""
    one = taken(symbols, before, further)
    swapped = Symbols(symbols.model, symbols.bounds, symbols.mentioned, symbols.width, dict(symbols.variables))
    for mine, its in zip(sorted(further.open_parameters), sorted(nearer.open_parameters), strict=True):
        swapped.variables[its] = symbols.variable(mine)  # of one action, so in the same order
    other = taken(swapped, swap.state(symbols, before), nearer)
    same = [Conclusion("the guard", z3.And(*other.enabled))]
    after = swap.state(symbols, one.after)
    for number, cell in enumerate(symbols.model.cells):
        places = [z3.Int(f"any place {i}") for i in range(len(cell.lengths))]
        both = [s.at(number, places) if places else s.codes[number] for s in (after, other.after)]
        listed = [code if isinstance(code, list) else [code] for code in both]
        different = [a == b for a, b in zip(*listed, strict=True) if not a.eq(b)]
        if different:
            same.append(Conclusion(cell.path, z3.And(*different)))
    fits = z3.And(*fits_of(swapped, other, nearer)), z3.And(*fits_of(symbols, one, further))
    same.append(Conclusion(TYPE_OK, z3.Implies(*fits)))
    return [*one.enabled, *one.terms.facts, *other.terms.facts, *one.hints, *other.hints], same
