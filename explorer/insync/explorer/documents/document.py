"""Documents: a result as text, as JSON, and as HTML for a notebook.

Each verb has a module with all three: a class derived from `Document`, and a function `html` for the results that it
shows. A new field of a result is shown there. If it is in the JSON, `json_types` has its type, from which the JSON
Schemas are made.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from insync.explorer.tables import Shown
from insync.explorer.traces.grid import Paint, plain

__all__ = ["Document", "Style", "notebook"]


@dataclass(frozen=True, slots=True)
class Style:
    """How a text is shown.

    Attributes:
        paint: colours parts of the text.
        width: the greatest length of a line.
        encoding: that of the output; where it lacks the characters of a bar chart, others take their place.
    """

    paint: Paint = plain
    width: int = 120
    encoding: str | None = "utf-8"


class Document(ABC):
    """A result as a command prints it."""

    __slots__ = ()

    @abstractmethod
    def text(self, style: Style) -> str:
        """Return the report."""

    @abstractmethod
    def data(self) -> Mapping[str, Any]:
        """Return the object that `--json` prints. Scripts rely on its keys, so no key changes its name."""


_HTML = {
    "CheckResult": "check",
    "SimulationResult": "simulate",
    "TourResult": "tour",
    "LivenessResult": "liveness",
    "RunResult": "liveness",
    "ProofResult": "prove",
    "BoundedResult": "prove",
    "Agreement": "agree",
    "MutationResult": "mutate",
    "WhyResult": "why",
    "DiffResult": "diff",
    "StateGraph": "traces",
    "Violation": "traces",
    "Trace": "traces",
}
"""The module that shows each kind of result in a notebook; others are a line."""


def notebook(result: Shown) -> str:
    """Return a result as self-contained HTML; all text of models is escaped."""
    from insync.explorer.documents.html import page, paragraph

    module = _HTML.get(type(result).__name__)
    if module is None:
        return page([paragraph(result.summary())])
    return page(importlib.import_module(f"insync.explorer.documents.{module}").html(result))
