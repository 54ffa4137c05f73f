"""How a command answers: the report or JSON, colours, progress, and the file of the trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from insync.cli.options.overwritten import refuse_overwriting
from insync.cli.options.task import Decorator, OutputPath, gathered, option
from insync.cli.show.pages import write_page
from insync.cli.show.trace_files import beside, check_trace_path, say_not_written, traces_written
from insync.cli.terminal import emit, emit_data, grid_width, painter
from insync.explorer.traces.grid import Paint
from insync.explorer.traces.trace import Trace
from insync.model import Model

if TYPE_CHECKING:
    from insync.explorer.pictures.picture import Picture

__all__ = ["Output", "output_options"]


@dataclass(frozen=True, slots=True)
class Output:
    """What the user wants to see.

    Attributes:
        json: whether one JSON object takes the place of the report.
        color: auto, always or never.
        quiet: whether there is no progress on standard error.
        trace: where the trace of a violation goes.
        html: where the page with the traces goes.
    """

    json: bool = False
    color: str = "auto"
    quiet: bool = False
    trace: Path | None = None
    html: Path | None = None

    @property
    def paint(self) -> Paint:
        """What colours a report."""
        return painter(self.color)

    @property
    def width(self) -> int:
        """How many characters wide a report may be."""
        return grid_width()

    def show(self, text: Callable[[], str], as_json: Callable[[], str]) -> None:
        """Print the report, or with --json the object."""
        if self.json:
            emit_data(as_json())
        else:
            emit(text())

    def check_trace_path(self) -> None:
        """Raise UserError unless trace and page can be written where they are wanted; done before the search."""
        if (ctx := click.get_current_context(silent=True)) is not None:
            refuse_overwriting(ctx)
        for path in (self.trace, self.html):
            if path is not None:
                check_trace_path(path)

    def beside(self, name: str) -> Output:
        """Return the same with other files: out.json becomes out.NAME.json."""
        trace, html = (None if path is None else beside(path, name) for path in (self.trace, self.html))
        return replace(self, trace=trace, html=html)

    @contextmanager
    def traces_written(
        self, traces: Sequence[Trace], model: Model, *, others: Sequence[Picture] = ()
    ) -> Iterator[list[Path | None]]:
        """Write the traces and the page of them where they are wanted, and yield the file of each trace.

        See `trace_files.traces_written`; the page is written last, with `others` on it, and said to be there.
        """
        if self.trace is not None and not traces:
            say_not_written(self.trace, "there is no trace")
        with traces_written(self.trace, traces, model) as files:
            yield files
            self.write_page([(trace, model, file) for trace, file in zip(traces, files, strict=True)], others=others)

    def write_page(
        self, shown: Sequence[tuple[Trace, Model, Path | None]], *, others: Sequence[Picture] = (), say: bool = True
    ) -> None:
        """Write the page of some traces where it is wanted, and say that it is there, or that there is no trace.

        Args:
            shown: each trace with its model and the file that it is in, if any.
            others: pictures that are no traces.
            say: whether that it is there may be said; with `--json` it never is.
        """
        if self.html is None:
            return
        if not shown and not others:
            say_not_written(self.html, "there is no trace to show")
            return
        write_page(self.html, shown, others=others)
        if say and not self.json:
            emit(f"Page: {self.html}")


_JSON = option("--json", is_flag=True, help="Print one JSON object for scripts in place of the report.")
_COLOR = option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour the report; auto: on a terminal.",
)
_HTML = option(
    "--html",
    type=OutputPath(),
    metavar="FILE",
    help="Write a page to FILE that shows the traces as pictures, to step through, print and send.",
)
_QUIET = option("--quiet", is_flag=True, help="No progress on standard error.")
_TRACE = option(
    "--trace",
    type=OutputPath(),
    metavar="FILE",
    help="Write the trace of a violation to FILE: insync's JSON, or ITF when FILE ends in .itf.json. "
    "With several violations the others go beside it, with the property in the name.",
)


def output_options(
    *, trace: bool = False, html: bool | None = None, json: bool = True, color: bool = True, quiet: bool = True
) -> Decorator:
    """Return a decorator that gives a command `--json` and its like, which it gets as `output`.

    Args:
        trace: whether it finds traces.
        html: whether it can write a page of traces; None is whether it finds some.
        json: whether its report can be an object.
        color: whether its report has colours.
        quiet: whether it works long enough to show progress.
    """
    pages = trace if html is None else html
    wanted = {"trace": trace, "html": pages, "json": json, "color": color, "quiet": quiet}
    known = {"trace": _TRACE, "html": _HTML, "json": _JSON, "color": _COLOR, "quiet": _QUIET}
    return gathered("output", Output, **{name: known[name] for name, taken in wanted.items() if taken})
