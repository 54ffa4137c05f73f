"""The evaluator: the definition of a step, in plain Python.

The machine code, z3 and every other engine are tested against it. It replays every trace before the trace is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from insync.model.expressions.graph import Node, Op
from insync.model.expressions.semantics import MEANING
from insync.model.tracing.program import BoundAction, Check, Program
from insync.runtime.errors import DomainError, GuardError

__all__ = ["Codes", "Evaluator", "evaluate", "evaluate_each"]

Codes = tuple[int, ...]
"""A state: the code of each cell."""


def evaluate(node: Node, codes: Sequence[int]) -> int:
    """Return the value of a node in the state with these codes (a bool for a condition)."""
    return _Memo(codes).value(node)


def evaluate_each(nodes: Iterable[Node], codes: Sequence[int]) -> Iterator[int]:
    """Yield the values of nodes in one state; nodes that they share are computed once."""
    memo = _Memo(codes)
    return (memo.value(node) for node in nodes)


class _Memo:
    """The values of nodes in one state, each computed at most once."""

    __slots__ = ("codes", "values")

    def __init__(self, codes: Sequence[int]) -> None:
        self.codes = codes
        self.values: dict[int, int] = {}

    def value(self, node: Node) -> int:
        values = self.values
        if node.index not in values:
            for needed in self._missing(node):
                if needed.op is Op.CELL:
                    values[needed.index] = self.codes[needed.arg]  # type: ignore[call-overload]
                elif needed.op is Op.CONST:
                    values[needed.index] = needed.arg  # type: ignore[assignment]
                else:
                    values[needed.index] = MEANING[needed.op](*[values[a.index] for a in needed.args])
        return values[node.index]

    def _missing(self, root: Node) -> list[Node]:
        values = self.values
        found = {root.index: root}
        stack = [root]
        while stack:
            for arg in stack.pop().args:
                if arg.index not in values and arg.index not in found:
                    found[arg.index] = arg
                    stack.append(arg)
        return [found[index] for index in sorted(found)]


class Evaluator:
    """Steps of a program in plain Python; states are tuples of codes, actions are numbers in `program.actions`."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._memo = _Memo(())

    def enabled(self, codes: Sequence[int]) -> list[int]:
        """Return the numbers of the actions whose guard holds, in order."""
        memo = self._of(codes)
        return [n for n, action in enumerate(self.program.actions) if _holds(memo, action)]

    def step(self, number: int, codes: Sequence[int]) -> Codes:
        """Return the state after an action.

        Raises:
            GuardError: the action is not enabled.
            DomainError: the step would assign a value that its field cannot hold; `check` is the check that fails.
        """
        action, memo = self.program.actions[number], self._of(codes)
        if not _holds(memo, action):
            message = f"{action} is not enabled in this state."
            raise GuardError(message)
        return _next(memo, action)

    def leads(self, before: Sequence[int], number: int, after: Sequence[int]) -> bool:
        """Return whether an action has a step from one state to another."""
        try:
            return self.step(number, before) == tuple(after)
        except (GuardError, DomainError):
            return False

    def failing_check(self, number: int, codes: Sequence[int]) -> Check | None:
        """Return the first check of an enabled action that fails; None if all hold."""
        memo = self._of(codes)
        return next((c for c in self.program.actions[number].checks if not memo.value(c.node)), None)

    def _of(self, codes: Sequence[int]) -> _Memo:
        """Return the memo of a state. That of the last state is kept, as the actions share their nodes."""
        memo = self._memo
        if memo.codes != (state := tuple(codes)):
            memo = self._memo = _Memo(state)
        return memo


def _holds(memo: _Memo, action: BoundAction) -> bool:
    return all(memo.value(conjunct) for conjunct in action.guard)


def _next(memo: _Memo, action: BoundAction) -> Codes:
    for check in action.checks:
        if not memo.value(check.node):
            raise DomainError(check.message, check)
    codes = list(memo.codes)
    for cell, node in action.updates:
        codes[cell] = int(memo.value(node))
    return tuple(codes)
