"""A builder of LLVM IR with typed registers and structured control flow: a loop or a condition is a block of Python.

Example:
    b = m.function("sum", I64, (PTR, I64), exported=True)
    numbers, total = Elements(b, b.arguments[0]), b.variable(0)
    with b.loop(b.arguments[1]) as i:
        total += numbers[i]
    b.give(total.value)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from insync.runtime.errors import InternalError

__all__ = [
    "GOLDEN_RATIO",
    "I1",
    "I8",
    "I16",
    "I32",
    "I64",
    "I128",
    "NOALIAS",
    "PTR",
    "VOID",
    "Function",
    "Instructions",
    "Module",
    "Value",
    "Variable",
]


# --------------------------------------------------------------------------------------------------------- instructions

# Registers are named and types are checked when an instruction is appended. Numbers are unsigned, unless the name of an
# instruction says otherwise.


I1: Final = "i1"
I8: Final = "i8"
I16: Final = "i16"
I32: Final = "i32"
I64: Final = "i64"
I128: Final = "i128"
PTR: Final = "ptr"
VOID: Final = "void"

GOLDEN_RATIO: Final = 0x9E3779B97F4A7C15
"""2^64 over the golden ratio: the high bits of a product with it depend on all bits of a number (Knuth, vol. 3)."""

_ALIGN = {I8: 1, I16: 2, I32: 4}
"""The alignment of types in memory; that of all others is 8."""


class Value:
    """The result of an instruction, or a constant.

    An operator appends an instruction; an int as its right operand is a constant of the same type.

    Attributes:
        type: in IR.
        operand: its name in instructions.
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
        """Return whether both are equal; `==` would compare the Python objects."""
        return self._b.compare("eq", self, other)

    def differs(self, other: Value | int) -> Value:
        """Return whether both differ."""
        return self._b.compare("ne", self, other)


class Variable:
    """A variable on the stack, which LLVM turns into a register. So no phi instructions are needed."""

    __slots__ = ("_b", "_place", "_type")

    def __init__(self, b: Instructions, place: Value, kind: str) -> None:
        self._b, self._place, self._type = b, place, kind

    @property
    def value(self) -> Value:
        """The value at this point of the function."""
        return self._b.load(self._type, self._place)

    def set(self, value: Value | int) -> None:
        """Assign a value."""
        self._b.store(self._b.typed(self._type, value), self._place)

    def __iadd__(self, amount: Value | int) -> Variable:
        self.set(self.value + amount)
        return self


class Instructions:
    """The instructions of a function, in the order in which they are appended.

    Attributes:
        name: of the function.
        declared: the declarations of the LLVM intrinsics that are called.
    """

    def __init__(self, name: str, declared: dict[str, None]) -> None:
        self.name, self.declared = name, declared
        self._places: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._open = True  # whether an appended instruction can be reached

    def let(self, instruction: str) -> str:
        """Append an instruction, and return the operand of its result."""
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
        """Return the operand of a constant of a type, or of a value that must have this type."""
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
        """Return a value converted to another type by the instruction `how`."""
        return Value(self, kind, self.let(f"{how} {value.type} {value.operand} to {kind}"))

    def splat(self, value: Value, kind: str) -> Value:
        """Return a vector of type `kind` with all elements equal to a value."""
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
        """Return the value at an address."""
        place = self.operand(PTR, address)
        return Value(self, kind, self.let(f"load {kind}, ptr {place}, align {align or _ALIGN.get(kind, 8)}"))

    def store(self, value: Value, address: Value, align: int = 0) -> None:
        """Write a value to an address."""
        place = self.operand(PTR, address)
        self.do(f"store {value.type} {value.operand}, ptr {place}, align {align or _ALIGN.get(value.type, 8)}")

    def element(self, kind: str, address: Value, index: Value | int) -> Value:
        """Return the address of an element of an array; with type I8 the index counts bytes."""
        start, place = self.operand(PTR, address), self.operand(I64, index)
        return Value(self, PTR, self.let(f"getelementptr {kind}, ptr {start}, i64 {place}"))

    def variable(self, value: Value | int) -> Variable:
        """Return a variable with a first value."""
        kind = value.type if isinstance(value, Value) else I64
        made = Variable(self, self.space(kind, 1, 8), kind)
        made.set(value)
        return made

    def space(self, kind: str, count: int, align: int) -> Value:
        """Return the address of memory for `count` values on the stack of the function."""
        name = f"%s{len(self._places)}"
        self._places.append(f"  {name} = alloca {kind}, i64 {count}, align {align}\n")
        return Value(self, PTR, name)

    def prefetch(self, address: Value, write: bool) -> None:
        """Prefetch the cache line of an address, for reading or writing."""
        how = [self.typed(I32, number) for number in (int(write), 3, 1)]
        self.intrinsic("llvm.prefetch.p0", VOID, address, *how)

    def copy(self, to: Value, source: Value, size: Value) -> None:
        """Copy `size` bytes between places that do not overlap."""
        self.intrinsic("llvm.memcpy.p0.p0.i64", VOID, to, source, size, self.typed(I1, 0))

    def clear(self, address: Value, size: int) -> None:
        """Set `size` bytes to 0."""
        zero, bytes_ = self.typed(I8, 0), self.typed(I64, size)
        self.intrinsic("llvm.memset.p0.i64", VOID, address, zero, bytes_, self.typed(I1, 0))

    # ---------------------------------------------------------------------------------------------------------- calls

    def intrinsic(self, name: str, result: str, *arguments: Value) -> Value:
        """Return the result of an LLVM intrinsic."""
        self.declared[f"declare {result} @{name}({', '.join(value.type for value in arguments)})"] = None
        return self.called(f"@{name}", result, arguments)

    def called(self, callee: str, result: str, arguments: Sequence[Value]) -> Value:
        """Return the result of a function; without a result the value is void."""
        call = f"call {result} {callee}({', '.join(f'{value.type} {value.operand}' for value in arguments)})"
        if result != VOID:
            return Value(self, result, self.let(call))
        self.do(call)
        return Value(self, VOID, "")


def _element(kind: str) -> str:
    """The element type of a vector type; another type itself."""
    return kind.strip("<>").split(" ")[-1]


def _constant(kind: str, value: int) -> str:
    """A constant in LLVM's notation: numbers are signed, a vector is a splat of its one element."""
    if kind.startswith("<"):
        element = _element(kind)
        return f"splat ({element} {_constant(element, value)})"
    if kind == I1:
        return "true" if value else "false"
    return str(value if value < 2**63 else value - 2**64)


# ------------------------------------------------------------------------------------------------- functions and blocks

NOALIAS: Final = "ptr noalias"
"""The type of an argument that is the only address by which the function reaches that memory."""


class Loop:
    """A loop under construction."""

    __slots__ = ("_b", "_behind", "_next")

    def __init__(self, b: Function, following: str, behind: str) -> None:
        self._b, self._next, self._behind = b, following, behind

    def again(self) -> None:
        """Continue with the next round."""
        self._b.jump(self._next)

    def leave(self) -> None:
        """Continue after the loop."""
        self._b.jump(self._behind)


class Function(Instructions):
    """A function under construction.

    Attributes:
        result, types: the types of the result and the arguments.
        arguments: the arguments.
    """

    def __init__(self, name: str, result: str, types: Sequence[str], declared: dict[str, None], kind: str) -> None:
        super().__init__(name, declared)
        self.result = result
        self.types = [each.split(" ")[0] for each in types]
        self.arguments = [Value(self, each, f"%a{number}") for number, each in enumerate(self.types)]
        given = ", ".join(f"{each} {value.operand}" for each, value in zip(types, self.arguments, strict=True))
        self._head = f"\ndefine {kind.format(f'{result} @{name}({given})')} nounwind {{\nentry:\n"
        self._loops: list[Loop] = []

    @property
    def text(self) -> str:
        """The definition."""
        if self._open and self.result == VOID:
            self.give()
        if self._open:
            message = f"{self.name} ends without a result."
            raise InternalError(message)
        return self._head + "".join(self._places) + "".join(self._lines) + "}\n"

    def call(self, callee: Function, *arguments: Value | int) -> Value:
        """Return the result of a function; without a result the value is void."""
        given = zip(callee.types, arguments, strict=True)
        return self.called(f"@{callee.name}", callee.result, [self.typed(kind, value) for kind, value in given])

    def call_at(self, address: Value, result: str, *arguments: Value) -> Value:
        """Return the result of the function at an address."""
        return self.called(self.operand(PTR, address), result, arguments)

    def address(self, name: str) -> Value:
        """Return the address of a constant table of the module."""
        return Value(self, PTR, name)

    # --------------------------------------------------------------------------------------------------------- blocks

    def give(self, value: Value | int | None = None) -> None:
        """Return from the function, with its result if it has one."""
        self._end("ret void" if value is None else f"ret {self.result} {self.operand(self.result, value)}")

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """Build code that runs only if a condition holds."""
        then, behind = self._labels("then", "end")
        self._branch(condition, then, behind)
        yield
        self._begin(behind)

    @contextmanager
    def forever(self) -> Iterator[Loop]:
        """Build a loop that ends by `Loop.leave` only."""
        again, behind = self._labels("again", "end")
        self._begin(again)
        with self._rounds(again, behind) as loop:
            yield loop

    @contextmanager
    def loop(self, end: Value | int, step: int = 1) -> Iterator[Value]:
        """Build a loop over the numbers from 0 to before `end`, in steps."""
        number = self.variable(0)
        again, body, behind = self._labels("again", "body", "end")
        self._begin(again)
        here = number.value
        self._branch(here < end, body, behind)
        number.set(here + step)
        with self._rounds(again, behind):
            yield here

    @contextmanager
    def bits(self, word: Value) -> Iterator[Value]:
        """Build a loop over the numbers of the bits that are set in a word, the lowest first."""
        left = self.variable(word)
        again, body, behind = self._labels("again", "body", "end")
        self._begin(again)
        here = left.value
        self._branch(here.differs(0), body, behind)
        left.set(here & here - 1)
        with self._rounds(again, behind):
            yield self.lowest_bit(here)

    def again(self) -> None:
        """Continue with the next round of the innermost loop."""
        self._loops[-1].again()

    def jump(self, label: str) -> None:
        """Jump to a label, which ends the current block."""
        self._end(f"br label %{label}")

    @contextmanager
    def _rounds(self, again: str, behind: str) -> Iterator[Loop]:
        """Build the body of a loop, and begin the block after it."""
        self._loops.append(Loop(self, again, behind))
        yield self._loops[-1]
        self._loops.pop()
        if self._open:
            self.jump(again)
        self._begin(behind)

    def _labels(self, *names: str) -> list[str]:
        self._count += 1
        return [f"{name}{self._count}" for name in names]

    def _branch(self, condition: Value, then: str, otherwise: str) -> None:
        """Jump to one of two labels, and begin the block of the first."""
        self._end(f"br i1 {self.operand(I1, condition)}, label %{then}, label %{otherwise}")
        self._begin(then)

    def _begin(self, label: str) -> None:
        if self._open:
            self.jump(label)
        self._lines.append(f"{label}:\n")
        self._open = True

    def _end(self, instruction: str) -> None:
        self.do(instruction)
        self._open = False


class Module:
    """A module under construction."""

    def __init__(self) -> None:
        self._declared: dict[str, None] = {}
        self._functions: list[Function] = []
        self._tables: list[str] = []

    def function(
        self, name: str, result: str, types: Sequence[str], exported: bool = False, inline: bool = True
    ) -> Function:
        """Begin a function.

        Args:
            name: of the function.
            result: the type of its result, or VOID.
            types: of its arguments.
            exported: whether Python calls it.
            inline: whether LLVM may inline it.
        """
        kind = ("{}" if exported else "internal {}") + ("" if inline else " noinline")
        made = Function(name, result, types, self._declared, kind)
        self._functions.append(made)
        return made

    def table(self, name: str, functions: Sequence[Function]) -> str:
        """Define a constant table of the addresses of functions, and return its operand."""
        addresses = ", ".join(f"ptr @{function.name}" for function in functions)
        self._tables.append(f"\n@{name} = internal constant [{len(functions)} x ptr] [{addresses}]\n")
        return f"@{name}"

    def bytes(self, name: str, numbers: Sequence[int]) -> str:
        """Define a constant table of bytes, and return its operand."""
        written = "".join(f"\\{number:02x}" for number in numbers)
        self._tables.append(f'\n@{name} = internal constant [{len(numbers)} x i8] c"{written}"\n')
        return f"@{name}"

    def words(self, name: str, numbers: Sequence[int]) -> str:
        """Define a constant table of 64-bit numbers, and return its operand."""
        written = ", ".join(f"i64 {number if number < 2**63 else number - 2**64}" for number in numbers)
        self._tables.append(f"\n@{name} = internal constant [{len(numbers)} x i64] [{written}]\n")
        return f"@{name}"

    @property
    def text(self) -> str:
        """The IR."""
        functions = [function.text for function in self._functions]
        return "\n".join([*self._declared, ""]) + "".join([*self._tables, *functions])
