"""How large things are: a batch of states, and what the kernels of one program must be given memory for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BATCH", "BLOCKS", "COLUMN_BYTES", "MASK_BYTES", "Sizes"]

BATCH = 256
"""How many states are expanded or checked together: enough to keep a loop busy, few enough for the nearest cache."""

COLUMN_BYTES = 8 * BATCH
"""One word of every state of a batch."""

MASK_BYTES = BATCH // 8
"""One bit for every state of a batch."""

BLOCKS = BATCH // 64
"""The 64-bit words of that."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a program and the conditions that it is compiled with.

    Attributes:
        words: 64-bit words per packed state.
        actions: how many bound actions there are; their numbers are those of the program.
        conditions: how many conditions are evaluated.
        symmetric: whether a state stands for all that differ in who is who only: successors are representatives, and
            steps are counted for each state that a representative stands for.
        abstract_words: 64-bit words per abstract state; 0 where walks note none.
        confined: whether no step is taken from some states.
    """

    words: int
    actions: int = 0
    conditions: int = 0
    symmetric: bool = False
    abstract_words: int = 0
    confined: bool = False

    @property
    def row_bytes(self) -> int:
        """The bytes of a packed state."""
        return 8 * self.words
