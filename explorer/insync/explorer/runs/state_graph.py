"""The graph of a small space: every state and every step, in compact arrays, for questions about paths and cycles.

States are numbered in the order of discovery: level by level, and within a level in the order of their first step from
the level before. The steps come from machine code, so a space of 100,000 states takes about a second; it is all kept
in memory. Needs numpy, which comes with the extra `graph`.
"""

from __future__ import annotations

import bisect
import ctypes
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.explorer.limits import Limits, StopReason, Watch
from insync.explorer.progress import Progress, Pulse, Reporter
from insync.machine.emit.checking import CheckField
from insync.machine.emit.edging import ACTION_BITS, EdgeField, compile_conditions, compile_edges
from insync.machine.emit.masks import COLUMN_BYTES, MASK_BYTES
from insync.machine.emit.rows import BATCH
from insync.machine.expander import Records
from insync.machine.memory import Block
from insync.model import Model, ReadableState
from insync.model.errors import UserError
from insync.model.graph import Node
from insync.model.program import BoundAction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bits = NDArray[np.bool_]
    Numbers = NDArray[np.int64]
    Rows = NDArray[np.uint64]

__all__ = ["MOST_STATES", "StateGraph", "build_graph", "require_graph_libraries"]

MOST_STATES = 3_000_000
"""How many states a graph may have unless the limits say otherwise: about 2 GB."""


def require_graph_libraries() -> None:
    """Raise UserError unless the extra `graph` is installed."""
    try:
        import numpy  # noqa: F401
        import scipy.sparse  # noqa: F401
    except ImportError as error:
        message = f"This needs the extra `graph` ({error.name} is missing); install it: pip install 'insync[graph]'."
        raise UserError(message) from error


@dataclass(frozen=True, slots=True)
class StateGraph:
    """States and steps of a model.

    Attributes:
        model: the model.
        rows: the packed states, one row each; the first is the initial state.
        starts: the number of the first state of each level, and after the last level the number of states.
        source, action, target: for each step the state it leaves, the number of its action and the state it leads
            to, in the order of source and action.
        refused: how many steps leave a field's domain; they are not among the steps.
        expanded: the steps of the states below this number are there.
        stopped_by: the bound that ended the exploration; None when the graph is the whole space.
    """

    model: Model
    rows: Rows
    starts: tuple[int, ...]
    source: Numbers
    action: Numbers
    target: Numbers
    refused: int
    expanded: int
    stopped_by: StopReason | None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def actions(self) -> Sequence[BoundAction]:
        """The actions by number."""
        return self.model.program.actions

    def codes(self, state: int) -> tuple[int, ...]:
        """Return the codes of a state."""
        return self.model.program.schema.unpack([int(word) for word in self.rows[state]])

    def readable(self, state: int) -> ReadableState:
        """Return a state in plain Python."""
        return self.model.decode(self.codes(state))

    def level_of(self, state: int) -> int:
        """Return the level of a state; that of the initial state is 1."""
        return bisect.bisect_right(self.starts, state)

    def truth(self, conditions: Sequence[Node]) -> list[Bits]:
        """Return for each condition in which states it holds."""
        import numpy as np

        found = [np.zeros(len(self), dtype=np.bool_) for _ in conditions]
        if conditions:
            for at, masks in _masks(self, conditions):
                bits = np.unpackbits(masks.reshape(len(conditions), MASK_BYTES), axis=1, bitorder="little")
                for values, mask in zip(found, bits, strict=True):
                    size = min(BATCH, len(self) - at)
                    values[at : at + size] = mask[:size]
        return found


def _masks(graph: StateGraph, conditions: Sequence[Node]) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Yield the first state and the masks of each batch."""
    import numpy as np

    kernel = compile_conditions(graph.model.program.schema, conditions)
    records = Records(len(conditions), kernel.words)
    scratch = Block(COLUMN_BYTES * kernel.words + MASK_BYTES * len(conditions))
    context = (ctypes.c_uint64 * len(CheckField))()
    context[CheckField.COLUMNS] = scratch.address
    context[CheckField.MASKS] = scratch.address + COLUMN_BYTES * kernel.words
    context[CheckField.VIOLATIONS] = records.address
    rows = np.ascontiguousarray(graph.rows)
    try:
        for at in range(0, len(graph), BATCH):
            size = min(BATCH, len(graph) - at)
            kernel.check(ctypes.addressof(context), rows.ctypes.data + at * 8 * kernel.words, size)
            masks = ctypes.string_at(context[CheckField.MASKS], MASK_BYTES * len(conditions))
            yield at, np.frombuffer(masks, dtype=np.uint8)
    finally:
        scratch.close()


def build_graph(
    model: Model,
    limits: Limits | None = None,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> StateGraph:
    """Return the graph of a model's states, all of them unless a limit ends the exploration.

    Args:
        model: the model.
        limits: bounds; without one on the states it is `MOST_STATES`.
        reporter: is told about once a second how far it is.
        stop: ends the exploration when it is set.

    Raises:
        UserError: the extra `graph` is not installed.
    """
    require_graph_libraries()
    given = limits or Limits()
    bounded = Limits(given.depth, given.states or MOST_STATES, given.seconds, given.memory_bytes)
    builder = _Builder(model, Watch(bounded, stop), reporter)
    try:
        return builder.run()
    finally:
        builder.close()


class _Builder:
    def __init__(self, model: Model, watch: Watch, reporter: Reporter | None) -> None:
        self.model, self.watch, self.reporter = model, watch, reporter
        self.kernel = compile_edges(model.program)
        words, actions = self.kernel.words, max(self.kernel.actions, 1)
        self.row_bytes = 8 * words
        self._batch = (ctypes.c_uint64 * (BATCH * words))()
        self._steps = (ctypes.c_uint64 * actions)()
        self._refused = Records(1, words)
        self._edges = Block(BATCH * actions * (self.row_bytes + 8))
        self._scratch = Block(COLUMN_BYTES * words + MASK_BYTES * actions)
        self._context = (ctypes.c_uint64 * len(EdgeField))()
        self._context[EdgeField.ROWS] = ctypes.addressof(self._batch)
        self._context[EdgeField.STEPS] = ctypes.addressof(self._steps)
        self._context[EdgeField.REFUSED] = self._refused.address
        self._context[EdgeField.COLUMNS] = self._scratch.address
        self._context[EdgeField.MASKS] = self._scratch.address + COLUMN_BYTES * words
        self.rows = bytearray()
        self.index: dict[bytes, int] = {}
        self.steps: list[tuple[Numbers, Numbers, Numbers]] = []
        self._pulse = Pulse()

    def close(self) -> None:
        """Give all memory back."""
        self._edges.close()
        self._scratch.close()

    def run(self) -> StateGraph:
        """Explore level by level."""
        initial = self.model.program.schema.pack(self.model.program.initial)
        self._number(b"".join(word.to_bytes(8, sys.byteorder) for word in initial))
        starts, done = [0], 0
        stopped: StopReason | None = None
        while done < len(self.index) and stopped is None:
            end = len(self.index)
            starts.append(end)
            stopped = self.watch.after_level(len(starts) - 1, end)
            while done < end and stopped is None:
                size = min(BATCH, end - done)
                self._expand(done, size)
                done += size
                stopped = self.watch.interrupted() or (None if self.watch.may_use(0) else StopReason.MEMORY)
                self._report(len(starts) - 1, end - done)
        if starts[-1] != len(self.index):
            starts.append(len(self.index))
        return self._graph(starts, done, stopped if done < len(self.index) else None)

    def _number(self, row: bytes) -> int:
        found = self.index.setdefault(row, len(self.index))
        if found == len(self.rows) // self.row_bytes:
            self.rows += row
        return found

    def _expand(self, first: int, size: int) -> None:
        """Take all steps of some states, and number the states that they lead to."""
        import numpy as np

        words = self.kernel.words
        start = first * self.row_bytes
        ctypes.memmove(self._batch, bytes(self.rows[start : start + size * self.row_bytes]), size * self.row_bytes)
        self._context[EdgeField.COUNT] = size
        self._context[EdgeField.CURSOR] = self._edges.address
        self.kernel.edges(ctypes.addressof(self._context))
        length = self._context[EdgeField.CURSOR] - self._edges.address
        table = np.frombuffer(self._edges.read(0, length), dtype=np.uint64).reshape(-1, words + 1)
        table = table[np.argsort(table[:, words], kind="stable")]
        origin = table[:, words].astype(np.int64)
        packed = np.ascontiguousarray(table[:, :words]).tobytes()
        number, width = self._number, self.row_bytes
        targets = [number(packed[at : at + width]) for at in range(0, len(packed), width)]
        source = first + (origin >> ACTION_BITS)
        self.steps.append((source, origin & (1 << ACTION_BITS) - 1, np.array(targets, dtype=np.int64)))

    def _graph(self, starts: Sequence[int], done: int, stopped: StopReason | None) -> StateGraph:
        import numpy as np

        rows = np.frombuffer(bytes(self.rows), dtype=np.uint64).reshape(-1, self.kernel.words)
        empty = np.zeros(0, dtype=np.int64)
        columns = [np.concatenate([part[column] for part in self.steps] or [empty]) for column in range(3)]
        refused = self._refused.take()[0].count
        source, action, target = columns
        return StateGraph(self.model, rows, tuple(starts), source, action, target, refused, done, stopped)

    def _report(self, level: int, left: int) -> None:
        if self.reporter is None or not self._pulse.due():
            return
        rate = self._pulse.rate(len(self.index))
        self.reporter(Progress(level, left, len(self.index), rate, self.watch.resident, self.watch.seconds))
