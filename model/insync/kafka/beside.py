"""The others: how a rule about one member of a sort says what happens to those beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from insync.model import Condition, Index

__all__ = ["beside"]

Anyone = TypeVar("Anyone", bound=Index)


def beside(every: Iterable[Anyone], one: Anyone | None) -> list[tuple[Anyone, Condition]]:
    """Return all members but one, or all; each with the condition that it is another, for one that stands for any.

    In this way an action is exported as one operator, with the member as its parameter.
    """
    conditions = [(other, other != one) for other in every]
    return [(other, is_other) for other, is_other in conditions if is_other is not False]
