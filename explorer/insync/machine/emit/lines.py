"""Lines of slots, for generated code: as many slots of 32, 40, 48 or 64 bits as a cache line of 64 bytes holds.

The low 32 bits of all slots of a line come first, then what they have above, so that a line is compared with a slot in
one or two vector instructions.
"""

from __future__ import annotations

from insync.machine.emit.builder import I8, I16, I32, I64, Function, Value
from insync.machine.emit.memory import Elements
from insync.machine.stores.quotient_table import LINE_BYTES, SLOTS_OF

__all__ = ["Line"]

_HIGH = {40: I8, 48: I16}
"""The type of what a slot has above its low 32 bits."""


class Line:
    """A line, read when it is asked.

    Args:
        b: where instructions are appended.
        address: of the line.
        width: the bits of a slot.
    """

    def __init__(self, b: Function, address: Value, width: int) -> None:
        self._b, self._address, self._width = b, address, width
        self._count = SLOTS_OF[width]
        self._all = (1 << self._count) - 1

    def having(self, slot: Value) -> Value:
        """Return a bit for each slot that is the same; it must not be empty."""
        if self._width == 64:
            return self._same(I64, 0, 0, slot)
        low = self._same(I32, 0, 0, self._b.convert("trunc", slot, I32))
        return low if self._width == 32 else low & self._same_high(slot >> 32)

    @property
    def empty(self) -> Value:
        """A bit for each slot that is empty; one that is not has a bit among its highest, so those tell."""
        nothing = self._b.typed(I64, 0)
        return self._same_high(nothing) if self._width in _HIGH else self.having(nothing)

    def slot(self, number: Value) -> Value:
        """Return a slot."""
        if self._width == 64:
            return Elements(self._b, self._address)[number]
        low = self._b.convert("zext", Elements(self._b, self._address, I32)[number], I64)
        if self._width == 32:
            return low
        return low | self._b.convert("zext", self._highs[number], I64) << 32

    def set(self, number: Value, slot: Value) -> None:
        """Write a slot."""
        if self._width == 64:
            Elements(self._b, self._address)[number] = slot
            return
        Elements(self._b, self._address, I32)[number] = self._b.convert("trunc", slot, I32)
        if self._width in _HIGH:
            self._highs[number] = self._b.convert("trunc", slot >> 32, _HIGH[self._width])

    @property
    def _highs(self) -> Elements:
        start = self._b.element(I8, self._address, 4 * self._count)
        return Elements(self._b, start, _HIGH[self._width])

    def _same_high(self, high: Value) -> Value:
        """Compare the high parts: they are read as the end of an aligned vector, whose first elements do not count."""
        kind = _HIGH[self._width]
        size = int(kind[1:]) // 8
        start = LINE_BYTES - 16 * size
        return self._same(kind, start, (4 * self._count - start) // size, self._b.convert("trunc", high, kind))

    def _same(self, kind: str, start: int, first: int, wanted: Value) -> Value:
        """Return a bit for each slot whose part is the one wanted.

        Args:
            kind: the type of a part.
            start: where in the line the vector of parts begins.
            first: the element of the first slot's.
            wanted: what they are compared with.
        """
        b = self._b
        lanes = min(16, 8 * (LINE_BYTES - start) // int(kind[1:]))
        vector = f"<{lanes} x {kind}>"
        parts = b.load(vector, b.element(I8, self._address, start), align=min(LINE_BYTES, LINE_BYTES - start))
        truths = b.convert("bitcast", parts.equals(b.splat(wanted, vector)), f"i{lanes}")
        return b.convert("zext", truths, I64) >> first & self._all
