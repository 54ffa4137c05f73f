"""From a state back to the initial one: expand each earlier level again and take the least predecessor.

Nothing is kept for it during the search, and the result is the same for any number of workers and partitions.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

from insync.explorer.breadth_first.search import Space
from insync.explorer.breadth_first.workers import Team
from insync.machine.expander import Expander
from insync.machine.kernels import Kernels
from insync.machine.packed import Rows, Words, words_at
from insync.model.errors import DomainError, InternalError
from insync.model.evaluator import Evaluator
from insync.model.program import Program

__all__ = ["Move", "path_to", "replayed"]

Move = tuple[int | None, tuple[int, ...]]
"""The number of an action (None for the start) and the codes of the state after it."""

_CHUNK = 512
_BUFFER_BYTES = 1 << 16


def path_to(program: Program, kernels: Kernels, space: Space, team: Team, target: Words, level: int) -> list[Move]:
    """Return a shortest sequence of moves from the initial state to a state.

    Of all predecessors the least packed state is taken, and of several actions that lead on the one with the smallest
    number. The moves are those of the evaluator.

    Args:
        program: the program that was searched.
        kernels: the same, compiled.
        space: the searched space.
        team: the threads that work.
        target: the state.
        level: the level it is in, the initial state's being 1.

    Raises:
        InternalError: the evaluator does not confirm a step of the machine code.
    """
    states = [target]
    for earlier in range(level - 1, 0, -1):
        states.append(_Predecessors(kernels, space, states[-1], earlier).least(team))
    states.reverse()
    return replayed(program, states)


def replayed(program: Program, states: list[Words]) -> list[Move]:
    """Return the moves of the evaluator through packed states, the initial one first; see `path_to`."""
    evaluator = Evaluator(program)
    codes = program.schema.unpack(states[0])
    if codes != tuple(program.initial):
        message = f"The search traced a violation back to {states[0]}, which is not the initial state."
        raise InternalError(message)
    moves: list[Move] = [(None, codes)]
    for state in states[1:]:
        target = program.schema.unpack(state)
        action = next((n for n in evaluator.enabled(codes) if _leads(evaluator, n, codes, target)), None)
        if action is None:
            message = f"The machine code steps from {codes} to {target}; the evaluator knows no such step."
            raise InternalError(message)
        codes = target
        moves.append((action, codes))
    return moves


def _leads(evaluator: Evaluator, action: int, codes: tuple[int, ...], target: tuple[int, ...]) -> bool:
    try:
        return evaluator.step(action, codes) == target
    except DomainError:
        return False


class _Predecessors:
    """The states of a level that have a step to the target."""

    def __init__(self, kernels: Kernels, space: Space, target: Words, level: int) -> None:
        self.kernels, self.space, self.target = kernels, space, target
        self._row = Rows([target])
        self._owner = kernels.owner(target, len(space.partitions))
        self._initial = words_at(_first_row(space), len(target))
        self._chunks = self._ranges(level)
        self._lock = threading.Lock()
        self._found: list[Words] = []

    def least(self, team: Team) -> Words:
        """Return the least of them."""
        team.run(self._work)
        if not self._found:
            message = f"No state of the level before leads to {self.target}."
            raise InternalError(message)
        return min(self._found)

    def _ranges(self, level: int) -> Iterator[tuple[int, int]]:
        """Addresses and counts that cover the level."""
        for partition in self.space.partitions:
            start, end = partition.starts[level - 1], partition.starts[level]
            for place in range(start, end, _CHUNK):
                yield partition.store.address(place), min(_CHUNK, end - place)

    def _next_chunk(self) -> tuple[int, int] | None:
        with self._lock:
            return next(self._chunks, None)

    def _work(self, _: int) -> None:
        expander = self.kernels.expander(len(self.space.partitions), _BUFFER_BYTES, self._initial)
        try:
            while (chunk := self._next_chunk()) is not None:
                rows, count = chunk
                while count:
                    done = expander.expand(rows, count)
                    if self._hit(expander):
                        self._search_states(expander, rows, done)
                    expander.clear()
                    expander.forget()
                    rows, count = rows + done * self.kernels.sizes.row_bytes, count - done
        finally:
            expander.close()

    def _search_states(self, expander: Expander, rows: int, count: int) -> None:
        for number in range(count):
            row = rows + number * self.kernels.sizes.row_bytes
            expander.clear()
            expander.forget()
            expander.expand(row, 1)
            if self._hit(expander):
                self._found.append(words_at(row, len(self.target)))

    def _hit(self, expander: Expander) -> bool:
        address, count = expander.candidates(self._owner)
        return self.kernels.find(address, count, self._row) is not None


def _first_row(space: Space) -> int:
    return next(part.store.address(0) for part in space.partitions if part.starts[1])
