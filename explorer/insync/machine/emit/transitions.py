"""Code that takes steps: a function per bound action, the loop over the steps of a batch, and the kernel `edges`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from insync.machine.emit.builder import I1, I8, I64, I128, PTR, VOID, Function, Module, Value
from insync.machine.emit.lowering import Lowering, Shape
from insync.machine.emit.masks import batch_function, mask_words
from insync.machine.emit.memory import (
    Elements,
    Fields,
    Row,
    Rows,
    keep_least_function,
    read_row,
    span_of,
    with_spans,
    write_row,
)
from insync.machine.expander import ACTION_BITS, EdgeField
from insync.model.expressions.graph import Node, Op
from insync.model.tracing.program import BoundAction, Program

__all__ = [
    "Steps",
    "edges_module",
]


@dataclass(frozen=True, slots=True)
class Step:
    """An enabled step.

    Attributes:
        state: the index of the state in the batch.
        action: the number of the action.
    """

    state: Value
    action: Value
    _function: Value

    def take(self, b: Function, row: Value, to: Value, context: Value) -> Value:
        """Write the next state to an address, which may be that of the state, and return the address after it.

        If the step is refused because its checks fail, nothing is written, and the address is returned unchanged.
        """
        return b.call_at(self._function, PTR, row, to, context)


class Steps:
    """The steps of a program.

    Args:
        m: the module in which the functions are defined.
        program: the program.
        counters: the field of the context with the address of one counter of steps per action.
        refused: builds the code for a refused step, given the context and the address of its state.
        orbit: builds the size of the orbit of the state at an address; a step counts once per state of the orbit, in
            counters of 128 bits. None counts 1.
    """

    def __init__(
        self,
        m: Module,
        program: Program,
        counters: int,
        refused: Callable[[Function, Value, Value], object],
        orbit: Callable[[Function, Value], Value] | None = None,
    ) -> None:
        self._counters, self._orbit = counters, orbit
        refuse = self._refuse_function(m, refused)
        functions = [_step_function(m, n, action, program, refuse) for n, action in enumerate(program.actions)]
        self._count, self._table = len(functions), m.table("step.table", functions)

    def _refuse_function(self, m: Module, refused: Callable[[Function, Value, Value], object]) -> Function:
        b = m.function("refuse", VOID, (PTR, PTR, I64), inline=False)
        context, row, action = b.arguments
        counters = self._array(b, context)
        taken = b.typed(I64, 1) if self._orbit is None else self._orbit(b, row)
        counters[action] = counters[action] - self._wide(b, taken)
        refused(b, context, row)
        return b

    def _array(self, b: Function, context: Value) -> Elements:
        return Fields(b, context).array(self._counters, I64 if self._orbit is None else I128)

    def _wide(self, b: Function, number: Value) -> Value:
        return number if self._orbit is None else b.convert("zext", number, I128)

    @contextmanager
    def each(self, b: Function, masks: Value, context: Value, weights: Elements | None = None) -> Iterator[Step]:
        """Build a loop over the steps of a batch, action by action; all are counted, and refused ones subtracted again.

        Args:
            b: the function.
            masks: the address of the masks of the guards.
            context: the address of the context.
            weights: the size of the orbit of each state of the batch; None is 1.
        """
        counters, functions = self._array(b, context), Elements(b, b.address(self._table), PTR)
        with b.loop(self._count) as action:
            function = functions[action]
            with mask_words(b, Elements(b, masks), action) as (word, first):
                if weights is None:
                    counters[action] = counters[action] + b.ones(word)
                with b.bits(word) as bit:
                    if weights is not None:
                        counters[action] = counters[action] + self._wide(b, weights[first + bit])
                    yield Step(first + bit, action, function)


def _step_function(m: Module, number: int, action: BoundAction, program: Program, refuse: Function) -> Function:
    """Define `step<number>(row, to, context) -> end`; see `Step.take`."""
    words = program.schema.words
    b = m.function(f"step{number}", PTR, (PTR, PTR, PTR))
    row, to, context = b.arguments
    old = read_row(b, row, words)
    lowering = Lowering(program.schema, [word.operand for word in old], Shape(1), b)
    if action.checks:
        sound = Value(b, I1, lowering.conjunction(check.node for check in action.checks))
        with b.when(~sound):
            b.call(refuse, context, row, number)
            b.give(to)
    write_row(b, to, _next_words(b, action, lowering, old))
    b.give(b.element(I8, to, 8 * words))
    return b


def _next_words(b: Function, action: BoundAction, lowering: Lowering, old: Row) -> Row:
    changes = {number: node for number, node in action.updates if not _unchanged(number, node)}
    spans = {span_of(lowering.schema, number): node for number, node in changes.items()}
    return with_spans(old, {span: Value(b, I64, lowering.operand(node)) for span, node in spans.items() if span.bits})


def _unchanged(number: int, node: Node) -> bool:
    return node.op is Op.CELL and node.cell == number


def edges_module(program: Program) -> str:
    """Return the IR module that defines `edges`.

    `edges(context) -> steps` appends a row for each step of a batch of states: the words of the next state, and one
    word with the index of the state in the batch above the number of the action (`ACTION_BITS`). The rows are in the
    order of actions, and for one action in the order of states. Steps whose checks fail are recorded, not appended.

    `expand` leaves states and actions out, and is faster for it.
    """
    m = Module()
    words = program.schema.words
    batch = batch_function(m, program.schema, [action.guard for action in program.actions])
    keep_least = keep_least_function(m, words)
    steps = Steps(
        m,
        program,
        EdgeField.STEPS,
        refused=lambda b, context, row: b.call(keep_least, Fields(b, context).pointer(EdgeField.REFUSED), row),
    )
    b = m.function("edges", I64, (PTR,), exported=True)
    context = Fields(b, b.arguments[0])
    rows, count = Rows(b, context.pointer(EdgeField.ROWS), words), context[EdgeField.COUNT]
    masks = context.pointer(EdgeField.MASKS)
    found = b.call(batch, rows.address, count, context.pointer(EdgeField.COLUMNS), masks)
    cursor = b.variable(context.pointer(EdgeField.CURSOR))
    with steps.each(b, masks, context.address) as step:
        here = cursor.value
        behind = step.take(b, rows.at(step.state), here, context.address)
        # The row of a refused step is overwritten by the next.
        Elements(b, here)[words] = step.state << ACTION_BITS | step.action
        taken = b.convert("ptrtoint", behind, I64).differs(b.convert("ptrtoint", here, I64))
        cursor.set(b.element(I8, here, b.select(taken, 8 * words + 8, 0)))
    context.set_pointer(EdgeField.CURSOR, cursor.value)
    b.give(found)
    return m.text
