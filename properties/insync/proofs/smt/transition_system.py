"""The transition system of a program in z3: symbolic states, guards and checks of actions, and the states after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from insync.model.expressions.graph import Node, Op
from insync.model.tracing.initial_states import Beginning
from insync.model.tracing.program import BoundAction, Program
from insync.proofs.smt.terms import Terms, all_of, any_of, width_of
from insync.proofs.smt.z3_module import z3
from insync.runtime.watch import Watch

__all__ = ["SymbolicProgram", "SymbolicState"]


class SymbolicState:
    """A state whose codes are terms.

    Args:
        terms: the terms of its cells and of expressions on them.

    Attributes:
        cells: the term of each cell's code.
    """

    def __init__(self, terms: Terms) -> None:
        self.cells = tuple(terms.cells)
        self.terms = terms

    def holds(self, node: Node) -> z3.BoolRef:
        """Return the term of a condition in this state."""
        return self.terms.bool(node)

    def all_hold(self, nodes: Iterable[Node]) -> list[z3.BoolRef]:
        """Return the terms of conditions in this state."""
        return [self.terms.bool(node) for node in nodes]

    def codes(self, found: z3.ModelRef) -> tuple[int, ...]:
        """Return the codes of this state in a model of z3."""
        return tuple(_number(found.eval(cell, model_completion=True)) for cell in self.cells)


def _number(term: z3.ExprRef) -> int:
    assert isinstance(term, z3.BitVecNumRef)
    return term.as_long()


class SymbolicProgram:
    """Translates the states and actions of a program into terms.

    Args:
        program: the program.
        watch: the limits of the proof; None is no limit.
    """

    def __init__(self, program: Program, watch: Watch | None = None) -> None:
        self.program = program
        self.watch = watch if watch is not None else Watch()
        self.sizes = [cell.size for cell in program.schema.cells]
        self._reads: list[int] = []

    def fresh(self, name: str) -> SymbolicState:
        """Return an arbitrary state; its cells are variables named `name.path`."""
        cells = self.program.schema.cells
        variables = [z3.BitVec(f"{name}.{c.path}", width_of(0, c.size - 1)) for c in cells]
        return SymbolicState(Terms(variables, self.watch))

    def constant(self, codes: Sequence[int]) -> SymbolicState:
        """Return the state with these codes."""
        sized = zip(codes, self.sizes, strict=True)
        values = [z3.BitVecVal(code, width_of(0, size - 1)) for code, size in sized]
        return SymbolicState(Terms(values, self.watch))

    def initial(self) -> tuple[SymbolicState, list[z3.BoolRef]]:
        """Return the first state of a trace, and the conditions that it is an initial state."""
        initials = self.program.initials
        if initials.enumerated and len(initials) == 1:
            return self.constant(initials[0]), []
        state = self.fresh("s0")
        allowed = []
        for number, beginning in enumerate(initials.beginnings):
            terms, conditions = self._begun(number, beginning)
            fits = [terms.bool(node) for node, _ in beginning.expected]
            parts = zip(state.cells, beginning.cells, self.sizes, strict=True)
            equal = [cell == terms.code(node, size) for cell, node, size in parts]
            allowed.append(all_of([*conditions, *fits, *equal]))
        return state, [*self.typed(state), any_of(allowed)]

    def misfits(self) -> Iterator[tuple[str, list[z3.BoolRef]]]:
        """Yield message and conditions for each way in which an initial method assigns a value outside a domain."""
        for number, beginning in enumerate(self.program.initials.beginnings):
            terms, conditions = self._begun(number, beginning)
            for node, message in beginning.expected:
                yield message, [*conditions, z3.Not(terms.bool(node))]

    def _begun(self, number: int, beginning: Beginning) -> tuple[Terms, list[z3.BoolRef]]:
        """Return the terms of an initial method, and the conditions on its variables."""
        self.watch.check()
        sizes = beginning.graph.cell_sizes
        variables = [z3.BitVec(f"v{number}.{place}", width_of(0, size - 1)) for place, size in enumerate(sizes)]
        terms = Terms(variables, self.watch)
        sized = zip(variables, sizes, strict=True)
        typed = [z3.ULE(variable, size - 1) for variable, size in sized if size != 1 << width_of(0, size - 1)]
        return terms, [*typed, *(terms.bool(condition) for condition in beginning.conditions)]

    def typed(self, state: SymbolicState) -> list[z3.BoolRef]:
        """Return the conditions that the code of each cell of a fresh state is in range."""
        sized = zip(state.cells, self.sizes, strict=True)
        return [z3.ULE(cell, size - 1) for cell, size in sized if size != 1 << width_of(0, size - 1)]

    def enabled(self, state: SymbolicState, action: BoundAction) -> list[z3.BoolRef]:
        """Return the conditions under which an action is enabled."""
        return state.all_hold(action.guard)

    def fits(self, state: SymbolicState, action: BoundAction) -> list[z3.BoolRef]:
        """Return the checks of an action: where one fails, the step leaves the domain of a field."""
        return [state.holds(check.node) for check in action.checks]

    def updates(self, state: SymbolicState, action: BoundAction) -> dict[int, z3.BitVecRef]:
        """Return the new code of each cell that an action changes, where it is enabled and fits."""
        return {cell: state.terms.code(node, self.sizes[cell]) for cell, node in action.updates}

    def after(self, state: SymbolicState, action: BoundAction) -> SymbolicState:
        """Return the state after an action, where it is enabled and fits; unchanged terms are shared."""
        changed = self.updates(state, action)
        cells = [changed.get(number, old) for number, old in enumerate(state.cells)]
        touched = sum(1 << cell for cell in changed)
        terms = Terms(cells, self.watch, state.terms, lambda node: bool(self.reads(node) & touched))
        return SymbolicState(terms)

    def reads(self, node: Node) -> int:
        """Return the cells that a node depends on, as a bit mask."""
        return self._nodes_read()[node.index]

    def _nodes_read(self) -> list[int]:
        # The graph grows when a property is traced, so the list is extended.
        for node in self.program.graph.nodes[len(self._reads) :]:
            own = 1 << node.cell if node.op is Op.CELL else 0
            for argument in node.args:
                own |= self._reads[argument.index]
            self._reads.append(own)
        return self._reads
