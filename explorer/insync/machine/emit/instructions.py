"""LLVM IR as text, built an instruction at a time: registers get their names here, and types are checked at once.

Numbers are unsigned, unless an instruction's name says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from insync.model.errors import InternalError

__all__ = ["I1", "I8", "I16", "I32", "I64", "I128", "PTR", "VOID", "Instructions", "Value", "Variable"]

I1: Final = "i1"
I8: Final = "i8"
I16: Final = "i16"
I32: Final = "i32"
I64: Final = "i64"
I128: Final = "i128"
PTR: Final = "ptr"
VOID: Final = "void"

_ALIGN = {I8: 1, I16: 2, I32: 4}
"""The alignment of values in memory; of all others it is 8."""


class Value:
    """The result of an instruction, or a constant.

    An operator appends an instruction; an int at its right is a constant of the same type.

    Attributes:
        type: in IR.
        operand: how instructions name it.
    """

    __slots__ = ("_b", "operand", "type")

    def __init__(self, b: Instructions, kind: str, operand: str) -> None:
        self._b, self.type, self.operand = b, kind, operand

    def __add__(self, other: Value | int) -> Value:
        return self._b.binary("add", self, other)

    def __sub__(self, other: Value | int) -> Value:
        return self._b.binary("sub", self, other)

    def __mul__(self, other: Value | int) -> Value:
        return self._b.binary("mul", self, other)

    def __floordiv__(self, other: Value | int) -> Value:
        return self._b.binary("udiv", self, other)

    def __and__(self, other: Value | int) -> Value:
        return self._b.binary("and", self, other)

    def __or__(self, other: Value | int) -> Value:
        return self._b.binary("or", self, other)

    def __xor__(self, other: Value | int) -> Value:
        return self._b.binary("xor", self, other)

    def __lshift__(self, other: Value | int) -> Value:
        return self._b.binary("shl", self, other)

    def __rshift__(self, other: Value | int) -> Value:
        return self._b.binary("lshr", self, other)

    def __invert__(self) -> Value:
        return self ^ -1

    def __lt__(self, other: Value | int) -> Value:
        return self._b.compare("ult", self, other)

    def __gt__(self, other: Value | int) -> Value:
        return self._b.compare("ugt", self, other)

    def __ge__(self, other: Value | int) -> Value:
        return self._b.compare("uge", self, other)

    def equals(self, other: Value | int) -> Value:
        """Return whether both are the same; `==` would compare the Python objects."""
        return self._b.compare("eq", self, other)

    def differs(self, other: Value | int) -> Value:
        """Return whether both are not the same."""
        return self._b.compare("ne", self, other)


class Variable:
    """A place for a value that changes: on the stack, until LLVM makes it a register. So nobody writes a phi."""

    __slots__ = ("_b", "_place", "_type")

    def __init__(self, b: Instructions, place: Value, kind: str) -> None:
        self._b, self._place, self._type = b, place, kind

    @property
    def value(self) -> Value:
        """What it is at this point of the function."""
        return self._b.load(self._type, self._place)

    def set(self, value: Value | int) -> None:
        """Give it another value."""
        self._b.store(self._b.typed(self._type, value), self._place)

    def __iadd__(self, amount: Value | int) -> Variable:
        self.set(self.value + amount)
        return self


class Instructions:
    """The instructions of a function, in the order in which they are appended.

    Attributes:
        name: of the function.
        declared: the declarations of those of LLVM's own functions that are called.
    """

    def __init__(self, name: str, declared: dict[str, None]) -> None:
        self.name, self.declared = name, declared
        self._places: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._open = True  # whether what is appended can be reached

    def let(self, instruction: str) -> str:
        """Append an instruction and return the operand that names its result."""
        self._count += 1
        name = f"%v{self._count}"
        self._lines.append(f"  {name} = {instruction}\n")
        if not self._open:
            raise self._unreachable(instruction)
        return name

    def do(self, instruction: str) -> None:
        """Append an instruction without a result."""
        self._lines.append(f"  {instruction}\n")
        if not self._open:
            raise self._unreachable(instruction)

    def _unreachable(self, instruction: str) -> InternalError:
        return InternalError(f"An instruction of {self.name} can never be reached: {instruction}")

    def typed(self, kind: str, value: Value | int) -> Value:
        """Return a constant of a type, or check that a value has this type."""
        operand = self.operand(kind, value)
        return value if isinstance(value, Value) else Value(self, kind, operand)

    def operand(self, kind: str, value: Value | int) -> str:
        """Return how instructions name a constant of a type, or a value that must have this type."""
        if isinstance(value, int):
            return _constant(kind, value)
        if value.type != kind:
            message = f"{self.name} has {value.type} {value.operand} where {kind} is needed."
            raise InternalError(message)
        return value.operand

    # ----------------------------------------------------------------------------------------------------- arithmetic

    def binary(self, operation: str, left: Value, right: Value | int) -> Value:
        """Return the result of an operation on two numbers of one type."""
        kind = left.type
        return Value(self, kind, self.let(f"{operation} {kind} {left.operand}, {self.operand(kind, right)}"))

    def compare(self, how: str, left: Value, right: Value | int) -> Value:
        """Return whether a comparison holds."""
        kind = left.type
        truth = kind.replace(_element(kind), I1)
        return Value(self, truth, self.let(f"icmp {how} {kind} {left.operand}, {self.operand(kind, right)}"))

    def select(self, condition: Value, yes: Value | int, no: Value | int) -> Value:
        """Return one of two numbers, without a branch; they have 64 bits if both are constants."""
        kind = next((value.type for value in (yes, no) if isinstance(value, Value)), I64)
        truth, first, second = self.operand(I1, condition), self.operand(kind, yes), self.operand(kind, no)
        return Value(self, kind, self.let(f"select i1 {truth}, {kind} {first}, {kind} {second}"))

    def convert(self, how: str, value: Value, kind: str) -> Value:
        """Return a value as another type, by the instruction `how`."""
        return Value(self, kind, self.let(f"{how} {value.type} {value.operand} to {kind}"))

    def splat(self, value: Value, kind: str) -> Value:
        """Return a vector of a type, all of whose elements are the same."""
        lanes = kind.strip("<").split(" ")[0]
        first = self.let(f"insertelement {kind} poison, {_element(kind)} {self.operand(_element(kind), value)}, i32 0")
        spread = f"shufflevector {kind} {first}, {kind} poison, <{lanes} x i32> zeroinitializer"
        return Value(self, kind, self.let(spread))

    def least(self, number: Value, other: int) -> Value:
        """Return the lesser of two numbers."""
        return self.intrinsic("llvm.umin.i64", I64, number, self.typed(I64, other))

    def ones(self, word: Value) -> Value:
        """Return how many bits of a word are set."""
        return self.intrinsic("llvm.ctpop.i64", I64, word)

    def lowest_bit(self, word: Value) -> Value:
        """Return the number of the lowest bit that is set; there must be one."""
        return self.intrinsic("llvm.cttz.i64", I64, word, self.typed(I1, 1))

    # --------------------------------------------------------------------------------------------------------- memory

    def load(self, kind: str, address: Value, align: int = 0) -> Value:
        """Return what is at an address."""
        place = self.operand(PTR, address)
        return Value(self, kind, self.let(f"load {kind}, ptr {place}, align {align or _ALIGN.get(kind, 8)}"))

    def store(self, value: Value, address: Value, align: int = 0) -> None:
        """Write a value to an address."""
        place = self.operand(PTR, address)
        self.do(f"store {value.type} {value.operand}, ptr {place}, align {align or _ALIGN.get(value.type, 8)}")

    def element(self, kind: str, address: Value, index: Value | int) -> Value:
        """Return the address of an element of an array; of an array of I8 it is so many bytes on."""
        start, place = self.operand(PTR, address), self.operand(I64, index)
        return Value(self, PTR, self.let(f"getelementptr {kind}, ptr {start}, i64 {place}"))

    def variable(self, value: Value | int) -> Variable:
        """Return a variable with a first value."""
        kind = value.type if isinstance(value, Value) else I64
        made = Variable(self, self.space(kind, 1, 8), kind)
        made.set(value)
        return made

    def space(self, kind: str, count: int, align: int) -> Value:
        """Return the address of memory for so many values, which is there until the function ends."""
        name = f"%s{len(self._places)}"
        self._places.append(f"  {name} = alloca {kind}, i64 {count}, align {align}\n")
        return Value(self, PTR, name)

    def prefetch(self, address: Value, write: bool) -> None:
        """Have the cache line of an address fetched, to be read or to be written."""
        how = [self.typed(I32, number) for number in (int(write), 3, 1)]
        self.intrinsic("llvm.prefetch.p0", VOID, address, *how)

    def copy(self, to: Value, source: Value, size: Value) -> None:
        """Copy so many bytes between places that do not overlap."""
        self.intrinsic("llvm.memcpy.p0.p0.i64", VOID, to, source, size, self.typed(I1, 0))

    def clear(self, address: Value, size: int) -> None:
        """Set so many bytes to 0."""
        zero, bytes_ = self.typed(I8, 0), self.typed(I64, size)
        self.intrinsic("llvm.memset.p0.i64", VOID, address, zero, bytes_, self.typed(I1, 0))

    # ---------------------------------------------------------------------------------------------------------- calls

    def intrinsic(self, name: str, result: str, *arguments: Value) -> Value:
        """Return what one of LLVM's own functions gives."""
        self.declared[f"declare {result} @{name}({', '.join(value.type for value in arguments)})"] = None
        return self.called(f"@{name}", result, arguments)

    def called(self, callee: str, result: str, arguments: Sequence[Value]) -> Value:
        """Return what a function gives; of one without a result it means nothing."""
        call = f"call {result} {callee}({', '.join(f'{value.type} {value.operand}' for value in arguments)})"
        if result != VOID:
            return Value(self, result, self.let(call))
        self.do(call)
        return Value(self, VOID, "")


def _element(kind: str) -> str:
    """The type of the elements of a vector type; of another type itself."""
    return kind.strip("<>").split(" ")[-1]


def _constant(kind: str, value: int) -> str:
    """A constant as LLVM writes it: a number of 64 bits with a sign, a vector by its one element."""
    if kind.startswith("<"):
        element = _element(kind)
        return f"splat ({element} {_constant(element, value)})"
    if kind == I1:
        return "true" if value else "false"
    return str(value if value < 2**63 else value - 2**64)
