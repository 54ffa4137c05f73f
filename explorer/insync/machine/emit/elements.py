"""What lies in memory, for generated code: elements of one type, and the fields of a context."""

from __future__ import annotations

from insync.machine.emit.builder import I64, PTR, Function, Value

__all__ = ["Elements", "Fields"]


class Elements:
    """Elements of one type, one after the other, the first at an address."""

    __slots__ = ("_b", "address", "type")

    def __init__(self, b: Function, address: Value, kind: str = I64) -> None:
        self._b, self.address, self.type = b, address, kind

    def at(self, index: Value | int) -> Value:
        """Return the address of an element."""
        return self._b.element(self.type, self.address, index)

    def __getitem__(self, index: Value | int) -> Value:
        return self._b.load(self.type, self.at(index))

    def __setitem__(self, index: Value | int, value: Value | int) -> None:
        self._b.store(self._b.typed(self.type, value), self.at(index))


class Fields(Elements):
    """The 64-bit fields of a record, by their numbers: a number each, or an address."""

    __slots__ = ()

    def pointer(self, field: int) -> Value:
        """Return the address that is in a field."""
        return self._b.load(PTR, self.at(field))

    def set_pointer(self, field: int, address: Value) -> None:
        """Write an address to a field."""
        self._b.store(self._b.typed(PTR, address), self.at(field))

    def array(self, field: int, kind: str = I64) -> Elements:
        """Return the array whose address is in a field."""
        return Elements(self._b, self.pointer(field), kind)
