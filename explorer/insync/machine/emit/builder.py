"""Functions of LLVM IR with structured control flow: a loop or a condition is a block of Python.

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

from insync.machine.emit.instructions import I1, I8, I16, I32, I64, I128, PTR, VOID, Instructions, Value, Variable
from insync.model.errors import InternalError

__all__ = [
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
    "Loop",
    "Module",
    "Value",
    "Variable",
]

NOALIAS: Final = "ptr noalias"
"""As the type of an argument: the address of memory that the function reaches by no other address."""


class Loop:
    """A loop that is being built."""

    __slots__ = ("_b", "_behind", "_next")

    def __init__(self, b: Function, following: str, behind: str) -> None:
        self._b, self._next, self._behind = b, following, behind

    def again(self) -> None:
        """Go on with the next round."""
        self._b.jump(self._next)

    def leave(self) -> None:
        """Go on behind the loop."""
        self._b.jump(self._behind)


class Function(Instructions):
    """A function that is being built.

    Attributes:
        result, types: of the function and its arguments.
        arguments: what it is given.
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
        """Return what a function gives; of one without a result it means nothing."""
        given = zip(callee.types, arguments, strict=True)
        return self.called(f"@{callee.name}", callee.result, [self.typed(kind, value) for kind, value in given])

    def call_at(self, address: Value, result: str, *arguments: Value) -> Value:
        """Return what the function at an address gives."""
        return self.called(self.operand(PTR, address), result, arguments)

    def address(self, name: str) -> Value:
        """Return the address of something of the module that is not a function."""
        return Value(self, PTR, name)

    # --------------------------------------------------------------------------------------------------------- blocks

    def give(self, value: Value | int | None = None) -> None:
        """End the function with its result, if it has one."""
        self._end("ret void" if value is None else f"ret {self.result} {self.operand(self.result, value)}")

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """Build what is done only if a condition holds."""
        then, behind = self._labels("then", "end")
        self._branch(condition, then, behind)
        yield
        self._begin(behind)

    @contextmanager
    def forever(self) -> Iterator[Loop]:
        """Build a loop that ends when something in it leaves it."""
        again, behind = self._labels("again", "end")
        self._begin(again)
        with self._rounds(again, behind) as loop:
            yield loop

    @contextmanager
    def loop(self, end: Value | int, step: int = 1) -> Iterator[Value]:
        """Build a loop over the numbers from 0 to before `end`."""
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
        """Go on with the next round of the innermost loop."""
        self._loops[-1].again()

    def jump(self, label: str) -> None:
        """Go on at a label; nothing can be appended to this block any more."""
        self._end(f"br label %{label}")

    @contextmanager
    def _rounds(self, again: str, behind: str) -> Iterator[Loop]:
        """Build the body of a loop, and begin the block behind it."""
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
        """Go on at one of two labels, and begin the block of the first."""
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
    """A module that is being built."""

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
            inline: whether LLVM may put its code where it is called.
        """
        kind = ("{}" if exported else "internal {}") + ("" if inline else " noinline")
        made = Function(name, result, types, self._declared, kind)
        self._functions.append(made)
        return made

    def table(self, name: str, functions: Sequence[Function]) -> str:
        """Make a constant table of the addresses of functions, and return the operand that names it."""
        addresses = ", ".join(f"ptr @{function.name}" for function in functions)
        self._tables.append(f"\n@{name} = internal constant [{len(functions)} x ptr] [{addresses}]\n")
        return f"@{name}"

    def bytes(self, name: str, numbers: Sequence[int]) -> str:
        """Make a constant table of small numbers, and return the operand that names it."""
        written = "".join(f"\\{number:02x}" for number in numbers)
        self._tables.append(f'\n@{name} = internal constant [{len(numbers)} x i8] c"{written}"\n')
        return f"@{name}"

    def words(self, name: str, numbers: Sequence[int]) -> str:
        """Make a constant table of 64-bit numbers, and return the operand that names it."""
        written = ", ".join(f"i64 {number if number < 2**63 else number - 2**64}" for number in numbers)
        self._tables.append(f"\n@{name} = internal constant [{len(numbers)} x i64] [{written}]\n")
        return f"@{name}"

    @property
    def text(self) -> str:
        """The IR."""
        functions = [function.text for function in self._functions]
        return "\n".join([*self._declared, ""]) + "".join([*self._tables, *functions])
