"""The picture of a counterexample to induction: good states, and the step from the last that breaks something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from insync.explorer.pictures.picture import Picture, picture
from insync.explorer.tables import plural
from insync.explorer.traces.trace import Trace
from insync.model import Model

__all__ = ["induction_picture"]


def induction_picture(trace: Trace, model: Model, step: str, failing: Sequence[str], command: str) -> Picture:
    """Return the picture of a counterexample to induction.

    Args:
        trace: its states, which do not begin with an initial one.
        model: its model.
        step: the query that it answers, such as the name of the action.
        failing: what the step breaks.
        command: what finds it again, as no replay can.
    """
    good = plural(trace.length - 1 if trace.refused is None else trace.length, "good state")
    names = " and ".join(failing)
    return replace(
        picture(trace, model),
        question=f"Does every step of {model.name} from a good state keep {names}?",
        verdict=f"No: {step} breaks it after {good}. Whether such a state is ever reached is not known.",
        command=command,
        file="",
    )
