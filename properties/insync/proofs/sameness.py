"""Equivalence of two expressions on a state wherever some conditions hold, decided by z3."""

from __future__ import annotations

from collections.abc import Sequence

from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply, as_number
from insync.model.tracing.program import Program
from insync.proofs.smt import Answer, Solver, SymbolicProgram
from insync.runtime.watch import Limits, Watch

__all__ = ["same_value"]


def same_value(program: Program, left: Node, right: Node, where: Sequence[Node], seconds: float) -> bool | None:
    """Return whether two nodes have the same value in all states in which some conditions hold.

    Args:
        program: the program of the states; cells may have any of their codes.
        left: a condition or a number.
        right: another one.
        where: the conditions.
        seconds: the time for the answer, after which it is None.

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
    answer = solver.check(Watch(Limits(seconds=seconds)))
    return None if answer is Answer.UNKNOWN else answer is Answer.IMPOSSIBLE
