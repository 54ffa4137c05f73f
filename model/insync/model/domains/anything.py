"""`ANY`: what an initial method assigns to a field that may begin with any value of its domain."""

from __future__ import annotations

from typing import ClassVar, NoReturn

from insync.model.domains.symbolic import Symbolic
from insync.model.errors import ModelError, user_frame

__all__ = ["ANY", "Anything"]


class Anything(Symbolic):
    """The type of `ANY`. It is assigned and nothing else: only the field that it was assigned to has a value."""

    __slots__ = ()
    __hash__ = Symbolic.__hash__
    compares_last: ClassVar[bool] = True

    def __repr__(self) -> str:
        return "ANY"

    def _no_value(self, *_: object) -> NoReturn:
        message = (
            f"{user_frame()}: ANY has no value of its own. Assign it to a field (s.field = ANY), then read the field "
            f"and say in require(...) which of its values are meant."
        )
        raise ModelError(message)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _no_value
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _no_value
    __or__ = __ror__ = __and__ = __rand__ = __invert__ = __bool__ = __index__ = _no_value


ANY = Anything()
"""Any value of the field that it is assigned to; for methods that are marked with `@initial`."""
