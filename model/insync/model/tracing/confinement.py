"""A model that is confined to states in which some conditions hold: steps from other states are not taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.model.expressions.graph import Node

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = ["Confinement"]


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a model is confined to.

    Attributes:
        whole: the same model without it.
        names: what must hold in a state for its steps to be taken; none where somebody decided against all.
        conditions: traces these in the graph of the whole model, which is traced by then.
    """

    whole: Model
    names: tuple[str, ...]
    conditions: Callable[[], Sequence[Node]]
