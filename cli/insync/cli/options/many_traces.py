"""Traces of several clusters: each in a file beside the one that was asked for, and all on one page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from insync.cli.options.output import Output
from insync.cli.show.trace_files import beside, say_not_written, say_older, trace_written
from insync.explorer.traces.trace import Trace
from insync.model import Model
from insync.model.errors import UserError

__all__ = ["ManyTraces", "many_traces"]


@dataclass(slots=True)
class ManyTraces:
    """Files of traces, one for each name: out.json becomes out.NAME.json.

    It is not frozen, as it gathers what was written.

    Attributes:
        output: where traces and page go.
        shown: each trace with its model and its file, for the page.
        failure: why the first of the files that could not be written was not.
    """

    output: Output
    shown: list[tuple[Trace, Model, Path | None]] = field(default_factory=list)
    failure: UserError | None = None

    def keep(self, name: str, trace: Trace, model: Model) -> Path | None:
        """Write a trace where it is wanted, and return its file; None where there is none."""
        file: Path | None = None
        if self.output.trace is not None:
            try:
                file = trace_written(beside(self.output.trace, name), trace, model)
            except UserError as error:
                self.failure = self.failure or error
        self.shown.append((trace, model, file))
        return file

    def older(self, name: str) -> None:
        """Say of the file with a name that it is of an earlier run, if it is there: this one has no such trace."""
        if self.output.trace is not None:
            say_older(beside(self.output.trace, name))


@contextmanager
def many_traces(output: Output) -> Iterator[ManyTraces]:
    """Yield what writes the traces of several clusters; the page of all is written at the end.

    A file that cannot be written does not end the work; the UserError follows it.
    """
    written = ManyTraces(output)
    yield written
    if output.trace is not None and not written.shown:
        say_not_written(output.trace, "there is no trace")
    output.write_page(written.shown)
    if written.failure is not None:
        raise written.failure
