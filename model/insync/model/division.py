"""What numbers of a model cannot do: be divided, so that no expression has a case without a value."""

from __future__ import annotations

from typing import NoReturn

from insync.model.errors import ModelError, user_frame

__all__ = ["NotDivided"]


class NotDivided:
    """A number that refuses `%`, `//` and `/`, and says what to write where a counter goes round."""

    __slots__ = ()

    def __mod__(self, other: object) -> NoReturn:
        """Raise ModelError with the line that divides."""
        message = (
            f"{user_frame()}: numbers of a model are added, subtracted and multiplied, but not divided (%, // or /). "
            f"Where one goes round from n - 1 to 0, write If(x == n - 1, 0, x + 1)."
        )
        raise ModelError(message)

    __rmod__ = __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = __divmod__ = __rdivmod__ = __mod__
