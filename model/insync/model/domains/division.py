"""Dividing numbers of a model: by positive constants only, so that no expression has a case without a value."""

from __future__ import annotations

from typing import Any, NoReturn

from insync.model.errors import ModelError, user_frame
from insync.model.expressions.graph import Op

__all__ = ["Divided"]


class Divided:
    """A number that `//` and `%` divide as Python does, by a whole number from 1 that is known while it is traced."""

    __slots__ = ()

    def _num(self, op: Op, a: object, b: object) -> Any:
        raise NotImplementedError

    def __floordiv__(self, other: int) -> Any:
        return self._num(Op.DIV, self, _divisor(other))

    def __mod__(self, other: int) -> Any:
        return self._num(Op.MOD, self, _divisor(other))

    def __divmod__(self, other: int) -> tuple[Any, Any]:
        return self // other, self % other

    def __rfloordiv__(self, other: object) -> Any:
        """Raise ModelError: the divisor is a number of the model."""
        return _divisor(self)

    __rmod__ = __rdivmod__ = __rfloordiv__

    def __truediv__(self, other: object) -> NoReturn:
        """Raise ModelError: there are whole numbers only."""
        message = f"{user_frame()}: numbers of a model are whole; write // for the quotient rounded down, not /."
        raise ModelError(message)

    __rtruediv__ = __truediv__


def _divisor(other: object) -> Any:
    if isinstance(other, int) and not isinstance(other, bool) and other > 0:
        return other
    message = (
        f"{user_frame()}: numbers of a model are divided (// and %) by whole numbers from 1 that are known while it is "
        f"traced, not by {other!r}. Where x goes round below a number n of the state, write If(x == n - 1, 0, x + 1)."
    )
    raise ModelError(message)
