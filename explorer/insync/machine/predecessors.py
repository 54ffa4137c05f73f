"""Which state leads to another one: the states of a level are expanded again, and nothing is kept for it."""

from __future__ import annotations

from collections.abc import Iterable

from insync.machine.expander import Expander
from insync.machine.kernels import Kernels
from insync.machine.packed import PackedRows, Words, words_at

__all__ = ["CHUNK", "least_predecessor"]

CHUNK = 512
"""How many states are expanded together."""

_BUFFER_BYTES = 1 << 16


def least_predecessor(kernels: Kernels, ranges: Iterable[tuple[int, int]], target: Words) -> Words | None:
    """Return the least of some states that has a step to the target; None if there is none.

    States are expanded many at a time, and one by one where the target is among what comes out. An expander leaves out
    the states that it has found recently, and starts with one state that it takes for found; see `_not_wanted`.

    Args:
        kernels: the compiled program.
        ranges: where the states lie: addresses and counts; with symmetry the target is not the first of them.
        target: the state to look for.
    """
    row_bytes, words, row = kernels.sizes.row_bytes, kernels.sizes.words, PackedRows([target])
    expander: Expander | None = None
    found: list[Words] = []

    def leads_to_target(expander: Expander, rows: int, count: int) -> tuple[int, bool]:
        expander.clear()
        expander.forget()
        done = expander.expand(rows, count)
        return done, kernels.find(*expander.candidates(0), row) is not None

    try:
        for rows, count in ranges:
            if expander is None:
                expander = kernels.expander(1, _BUFFER_BYTES, _not_wanted(kernels, rows, target))
            end = rows + count * row_bytes
            while rows < end:
                done, hit = leads_to_target(expander, rows, min(CHUNK, (end - rows) // row_bytes))
                after = rows + done * row_bytes
                if hit:
                    each = range(rows, after, row_bytes)
                    found += [words_at(state, words) for state in each if leads_to_target(expander, state, 1)[1]]
                rows = after
    finally:
        if expander is not None:
            expander.close()
    return min(found, default=None)


def _not_wanted(kernels: Kernels, rows: int, target: Words) -> Words:
    """Return a state that may be left out: not the target, nor, with symmetry, a state that the target stands for.

    One bit flipped makes another state of the target; it could be one that differs in who is who only. Of two
    representatives none is.
    """
    return words_at(rows, len(target)) if kernels.sizes.symmetric else (target[0] ^ 1, *target[1:])
