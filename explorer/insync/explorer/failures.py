"""What a failing test shows: the grid of the trace, the file that it was saved in, and the command that replays it."""

from __future__ import annotations

import itertools
import sys
import tempfile
from pathlib import Path

from insync.explorer.pictures.page import write_page
from insync.explorer.traces.grid import render_grid
from insync.explorer.traces.trace import Trace
from insync.explorer.traces.trace_file import replay_command, write_trace
from insync.model import Model
from insync.model.catalogue import BUILT_IN
from insync.model.errors import UserError
from insync.model.visible_text import visible
from insync.properties.registry import select

__all__ = [
    "FailedTest",
    "PropertyViolated",
    "SuspiciousModel",
    "UnexpectedVerdict",
    "describe",
    "save",
    "trace_directory",
]

_PLUGIN = "_insync_pytestplugin"


class FailedTest(AssertionError):
    """What fails a test. Names and texts of the model move no cursor where pytest shows it."""

    def __str__(self) -> str:
        return visible(super().__str__())


class PropertyViolated(FailedTest):
    """A property fails in a reachable state.

    Attributes:
        trace: the steps to that state.
        file: where the trace was saved; None where it was not.
    """

    def __init__(self, message: str, trace: Trace | None = None, file: Path | None = None) -> None:
        super().__init__(message)
        self.trace, self.file = trace, file


class SuspiciousModel(UserWarning):
    """What is suspicious in a model, or in its settings, though the test passes."""


class UnexpectedVerdict(FailedTest):
    """A search that is incomplete, or finds no violation where one is expected: no reason for a test to pass."""


def trace_directory() -> Path:
    """Return where a failing test leaves its traces: pytest's temporary directory, or a new one outside pytest."""
    plugin = sys.modules.get(_PLUGIN)
    directory: Path | None = plugin.trace_directory() if plugin is not None else None
    return directory or Path(tempfile.mkdtemp(prefix="insync-"))


def save(model: Model, trace: Trace, directory: Path) -> Path:
    """Write a trace to a directory, in a new file that is named after model and property, and return its path."""
    names = (f"{model.name}-{trace.property}{f'-{n}' if n > 1 else ''}.json" for n in itertools.count(1))
    file = next(path for name in names if not (path := directory / name).exists())
    write_trace(file, trace)
    return file


def describe(model: Model, trace: Trace, file: Path) -> str:
    """Return the grid of a trace with its reason, the page that shows it, and how it is replayed from the file."""
    return f"{render_grid(trace, model.grid)}\n{_page_line(model, trace, file)}\n{_replay_line(model, trace, file)}"


def _page_line(model: Model, trace: Trace, file: Path) -> str:
    """Write the page of a trace beside its file, and return the line that says where it is."""
    page = file.with_suffix(".html")
    try:
        write_page(page, [(trace, model, file)])
    except Exception as error:  # noqa: BLE001 -- a drawing of the model's own that fails must not hide the violation
        return f"No page: {error}"
    return f"Page: {page}"


def _replay_line(model: Model, trace: Trace, file: Path) -> str:
    kind = type(model)
    try:
        select(model, [trace.property])
    except UserError:
        return f"Trace: {file}\n`insync replay` does not know {trace.property}, a function of this test: run the test."
    if "<locals>" in kind.__qualname__ and kind.name not in BUILT_IN:
        return (
            f"Trace: {file}\nTo replay it, move {kind.__name__} out of the function that it is defined in: "
            f"`insync replay` finds a model by its file and its name there."
        )
    return f"Replay: {replay_command(trace, file)}"
