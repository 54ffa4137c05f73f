"""What all symbolic values share: what Python cannot do with a value that it does not know is said in a sentence."""

from __future__ import annotations

import opcode
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, NoReturn

from insync.model.domains.cures import instead_of
from insync.model.errors import ModelError, shown, user_frame

if TYPE_CHECKING:
    from insync.model.domains.sorts import Subset
    from insync.model.domains.values import Bool

__all__ = ["Symbolic", "mistyped"]

_LOOKING_FOR = {"CONTAINS_OP", "BINARY_SUBSCR"}
"""The instructions of `x in found` and `found[x]`; a set is made by others."""


class Symbolic:
    """A value that is known only when the model runs: no Python `if`, `and`, `not`, `in` or `range` can use it."""

    __slots__ = ()
    compares_last: ClassVar[bool] = False
    """Whether this operand decides comparisons, because it knows the domain (an option, a choice)."""

    def __bool__(self) -> NoReturn:
        message = (
            f"{user_frame()}: Python decides `if`, `and`, `or`, `not` and chains such as `a < b < c` while the model "
            f"is traced, before {self!r} has a value. Use If(condition, then, otherwise), And(...), Or(...), Not(...) "
            f"or require(...)."
        )
        raise ModelError(message)

    def __hash__(self) -> int:
        """Let sets be made of values, as in `s.isr | {s.leader}`, and refuse to be looked for in one, or in a dict.

        Python asks for a hash in both cases, and which one it is shows only in the instruction that its caller is at.

        Raises:
            ModelError: it is looked for: nothing is equal to what has no value yet, so it would never be found.
        """
        caller = sys._getframe(1)
        if opcode.opname[caller.f_code.co_code[caller.f_lasti]] not in _LOOKING_FOR:
            return object.__hash__(self)
        message = (
            f"{user_frame()}: Python looks into its sets and dicts while the model is traced, before {self!r} has a "
            f"value. Compare it with each member, as in Or(x == a, x == b); an array of the state is for looking up."
        )
        raise ModelError(message)

    def __index__(self) -> NoReturn:
        message = (
            f"{user_frame()}: {self!r} has no value while the model is traced, so it cannot be an index of a Python "
            f"list or an end of range(). Index an array of the state with it, or quantify over all members and compare."
        )
        raise ModelError(message)

    def _refuse(self, word: str) -> NoReturn:
        """Refuse an operator or a method that this value has not."""
        cure = instead_of(type(self), word)
        known = f" {cure}" if cure else " It is known only when the model runs."
        what = f"attribute {word[1:]!r}" if word.startswith(".") else f"`{word}`"
        said = f"no part of {self!r} can be deleted" if word == "del" else f"{self!r} has no {what}"
        message = f"{user_frame()}: {said}.{known}"
        raise ModelError(message)

    def __copy__(self) -> NoReturn:
        message = (
            f"{user_frame()}: {self!r} cannot be copied, and need not be: what was read from a field stays what it was "
            f"when the field is assigned anew. Read the fields that you need before you assign them."
        )
        raise ModelError(message)

    def __deepcopy__(self, _: object) -> NoReturn:
        self.__copy__()

    def in_subset(self, subset: Subset) -> Bool:
        """Return whether it is in a set that is known while the model is traced; see `Subset.contains`."""
        mistyped("A member of a sort", self, "Where it may be none, write .or_else(default) or .value.")


_OPERATORS = {
    "+": ("add", "radd"), "-": ("sub", "rsub", "neg"), "*": ("mul", "rmul"), "/": ("truediv", "rtruediv"),
    "//": ("floordiv", "rfloordiv"), "%": ("mod", "rmod"), "**": ("pow", "rpow"), "@": ("matmul", "rmatmul"),
    "&": ("and", "rand"), "|": ("or", "ror"), "^": ("xor", "rxor"), "<<": ("lshift", "rlshift"),
    ">>": ("rshift", "rrshift"), "~": ("invert",), "abs()": ("abs",), "round()": ("round",), "len()": ("len",),
    "<": ("lt",), "<=": ("le",), ">": ("gt",), ">=": ("ge",), "[...]": ("getitem", "setitem"),
    "del": ("delitem", "delattr"),
}  # fmt: skip
"""What Python calls each operator; a kind of value that has one defines it anew."""


def _refusing(word: str) -> Callable[..., NoReturn]:
    return lambda self, *_: self._refuse(word)


for _word, _names in _OPERATORS.items():
    for _name in _names:
        setattr(Symbolic, f"__{_name}__", _refusing(_word))


def mistyped(wanted: str, found: object, fix: str) -> NoReturn:
    """Raise ModelError for a value of the wrong type."""
    kind, cure = type(found), getattr(type(found), "cure", fix)
    message = f"{user_frame()}: {wanted} is needed here, but {shown(found)} is of type {kind.__name__}. {cure}"
    raise ModelError(message)
