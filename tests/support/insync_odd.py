"""A model whose names and texts would move a terminal's cursor, set its title, and command a build server."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from insync.model import (
    Array,
    Bound,
    Bounds,
    Demand,
    Enum,
    Hardness,
    Index,
    Int,
    Model,
    State,
    StateView,
    action,
    require,
)
from insync.model.language.presentation import Taken
from insync.properties import eventually, invariant

__all__ = ["NAME", "NASTY", "Odd"]

NASTY = (
    "\x1b[31m\x1b]0;title\x07\b\r\x9b1m\u202e\u2066\x7f\u2028\n::error file=a::said\n  ::stop-commands::x\n"
    "##[error]said ##vso[task.complete]"
)

NAME = "\x1bc\x9b31m\x07\b\r\u202e\u2066\x7f\u2028\n::error file=a::said"
"""The same without brackets and dots, which paths to parts of a state are made of."""

Light: Any = enum.Enum("Light", [(f"OFF{NAME}", 1), (f"ON{NAME}", 2)])  # type: ignore[misc]  # mypy wants literals
_, ON = Light
LAMP = f"lamp{NAME}"


class Switch(Index):
    size = 2
    label = f"s{NAME}"


class Odd(Model):
    __doc__ = f"Lamps. {NASTY}"
    name = f"odd{NASTY}"
    bounds = Bounds(most=Bound(2, 1, 3, f"lamps that may be lit {NASTY}"))

    def declare(self, b: Any) -> State:
        return State(**{LAMP: Array(Switch, Enum(Light)), "count": Int(0, 2)})

    @action(label=f"{{switch}} is pressed {NASTY}")
    def press(self, s: StateView, switch: Switch) -> None:
        lamp = getattr(s, LAMP)
        require(lamp[switch] != ON, s.count < self.b.most)
        lamp[switch] = ON
        s.count += 1

    def demands(self, steps: Sequence[Taken]) -> list[Demand]:
        return [Demand(number, Hardness.OPERATION, f"somebody {NASTY}") for number in range(1, len(steps))]


def dark(model: Odd, s: StateView) -> Any:
    return s.count < 2


def all_lit(model: Odd, s: StateView) -> Any:
    return s.count == 3


dark.__name__, dark.__doc__ = f"dark{NASTY}", f"It is dark. {NASTY}"
all_lit.__doc__ = f"All are off again. {NASTY}"
invariant(Odd, because=lambda failure: f"Two are lit. {NASTY}")(dark)
eventually(Odd, weak=["press"])(all_lit)
