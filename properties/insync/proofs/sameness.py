"""Whether two expressions on a state have the same value wherever some conditions hold, asked of z3."""

from __future__ import annotations

from collections.abc import Sequence

from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply, as_number
from insync.model.tracing.program import Program
from insync.proofs.smt import Answer, Solver, SymbolicProgram
from insync.proofs.watch import Deadline

__all__ = ["same_value"]


def same_value(program: Program, left: Node, right: Node, where: Sequence[Node], seconds: float) -> bool | None:
    """Return whether two nodes have the same value in all states in which some conditions hold.

    Args:
        program: whose states these are; any code that a cell has is possible.
        left: a condition, or a number.
        right: another.
        where: the conditions.
        seconds: for the answer; after them it is None, not known.

    Raises:
        UserError: z3 is not installed.
    """
    graph = program.graph
    equal = apply(Op.EQ, as_number(left), as_number(right))
    if equal is graph.true:
        return True
    symbolic, solver = SymbolicProgram(program), Solver(one_shot=True)
    state = symbolic.fresh("s")
    solver.add([*symbolic.typed(state), *state.all_hold([*where, apply(Op.NOT, equal)])])
    answer = solver.check(Deadline(seconds))
    return None if answer is Answer.UNKNOWN else answer is Answer.IMPOSSIBLE
