"""What a model traced with open bounds means in one state under one value of each bound, in plain Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from insync.model import Model
from insync.model.domains.bounds import is_open
from insync.model.expressions.graph import Binder, Node, Op, Variable
from insync.model.expressions.lifted import Action
from insync.model.expressions.semantics import MEANING
from insync.proofs.unbounded.open_model import OpenModel

__all__ = ["Meaning"]


@dataclass(frozen=True)
class Meaning:
    """An open model in a state of the model under bounds.

    Attributes:
        opened: the open model.
        model: the same under bounds.
        codes: the state.
        parameters: the value of each open parameter.
        action: whose expressions are meant.
    """

    opened: OpenModel
    model: Model
    codes: Sequence[int]
    parameters: Mapping[Variable, int]
    action: Action | None = None

    def cell(self, number: int, places: Sequence[int]) -> int:
        """Return the number of the model's cell that a cell at some places is."""
        cell = self.opened.cells[number]
        inner = [one.path for one in self.opened.cells].index(cell.path)  # of a record, its presence comes first
        path = cell.path
        for place in places:
            path = path.replace("...", str(place), 1)
        same = [one.number for one in self.model.program.schema.cells if one.path == path]
        return same[number - inner]

    def size(self, size: int) -> int:
        """Return what a size is under the bounds."""
        if not is_open(size):
            return size
        name, more = self.opened.graph.bound_of(size)
        return self.model.b[name] + more

    def value(self, node: Node, variables: Mapping[Variable, int] | None = None) -> int:
        """Return the value of a node."""
        bound = {} if variables is None else variables
        if node.op is Op.CONST:
            return int(str(node.arg)) if not node.is_bool else bool(node.arg)
        if node.op is Op.CELL:
            return self._read(int(str(node.arg)))
        if node.op is Op.READ:
            places = [self.value(place, bound) for place in node.args]
            return self.at(node.location.base, places, node.location.version)
        if isinstance(node.arg, Variable):
            return bound[node.arg] if node.arg in bound else self.parameters[node.arg]
        if isinstance(node.arg, Binder):
            return self._quantified(node.arg, node.args[0], bound)
        return MEANING[node.op](*[self.value(arg, bound) for arg in node.args])

    def _read(self, cell: int) -> int:
        opened = self.opened
        if cell < len(opened.cells):
            return self.codes[self.cell(cell, ())]
        return next(self.model.b[name] for name, own in opened.graph.bound_cells.items() if own == cell)

    def _quantified(self, binder: Binder, body: Node, bound: Mapping[Variable, int]) -> int:
        variable = binder.variable
        values = [self.value(body, {**bound, variable: member}) for member in range(self.size(variable.size))]
        extremes = {"max_of": max, "min_of": min}
        if binder.word in extremes:
            return extremes[binder.word](values)
        return int(all(values) if binder.word == "for_all" else any(values))

    def at(self, cell: int, places: Sequence[int], writes: int) -> int:
        """Return the code at some places after the first assignments of the action; 0 outside."""
        lengths = [self.size(length) for length in self.opened.cells[cell].lengths]
        if not all(0 <= place < length for place, length in zip(places, lengths, strict=True)):
            return 0
        found = self.codes[self.cell(cell, places)]
        for write in self.action.assigns[:writes] if self.action is not None else ():
            at = [self.value(place) for place in write.indexes]
            met = at == list(places) or (write.onwards and at[:-1] == list(places[:-1]) and at[-1] <= places[-1])
            if write.base == cell and write.indexes and met and all(map(self.value, write.where)):
                found = self.value(write.codes[0])
        return found

    def after(self) -> tuple[int, ...]:
        """Return the state after the action."""
        assert self.action is not None
        updates = {one.base: one.codes[0] for one in self.action.assigns if not one.indexes}
        codes = list(self.codes)
        for number, cell in enumerate(self.opened.cells):
            if not cell.lengths:
                codes[self.cell(number, ())] = (
                    self.value(updates[number]) if number in updates else codes[self.cell(number, ())]
                )
            else:
                (length,) = map(self.size, cell.lengths)
                for place in range(length):
                    codes[self.cell(number, [place])] = self.at(number, [place], len(self.action.assigns))
        return tuple(codes)
