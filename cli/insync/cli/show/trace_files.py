"""Files of traces: names, formats, and messages about files that were not written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from insync.cli.terminal import emit_error
from insync.explorer.traces.trace import Trace
from insync.explorer.traces.trace_file import ITF, is_itf, write_trace
from insync.properties.invariants import TYPE_OK
from insync.properties.registry import invariants_of, lemmas_of, run_properties_of
from insync.runtime.errors import UserError
from insync.runtime.files import check_writable, is_special

if TYPE_CHECKING:
    from insync.model import Model

__all__ = [
    "beside",
    "check_trace_path",
    "is_beside",
    "say_not_written",
    "say_older",
    "trace_written",
    "traces_written",
]


def check_trace_path(path: Path) -> None:
    """Raise UserError unless a trace can be written to `path`; called before the search."""
    check_writable(path)


def say_not_written(path: Path, reason: str) -> None:
    """Report on standard error that a file was not written; warn if one from an earlier run exists."""
    older = " The file that is there is of an earlier run." if path.is_file() else ""
    emit_error(f"{path} was not written: {reason}.{older}")


def say_older(path: Path, written: Sequence[Path | None] = ()) -> None:
    """Warn about a file from an earlier run, if it exists and is not among those that this run has written."""
    if path not in written and not is_special(path) and path.is_file():
        say_not_written(path, "this run has no trace to put there")


@contextmanager
def traces_written(path: Path | None, traces: Sequence[Trace], model: Model) -> Iterator[list[Path | None]]:
    """Write the first trace to `path` and the others beside it; yield the file of each, None for no file.

    If a file cannot be written, the block runs all the same, so that the result of a long search is shown; the
    UserError is raised after it. Files beside `path` that are left over from earlier runs are reported.
    """
    files: list[Path | None] = [None] * len(traces)
    failure: UserError | None = None
    try:
        for number, trace in enumerate(traces):
            if path is not None:
                files[number] = trace_written(path if number == 0 else beside(path, trace.property), trace, model)
    except UserError as error:
        failure = error
    if path is not None:
        for name in sorted({TYPE_OK, *invariants_of(model), *lemmas_of(model), *run_properties_of(model)}):
            say_older(beside(path, name), files)
    yield files
    if failure is not None:
        raise failure


def trace_written(file: Path, trace: Trace, model: Model) -> Path:
    """Write one trace, in ITF if the file's name ends in .itf.json, and return the file.

    Raises:
        UserError: the file cannot be written.
    """
    if is_itf(file):
        from insync.explorer.traces.itf import write_itf

        write_itf(file, trace, model.state)
    else:
        write_trace(file, trace)
    return file


def beside(path: Path, name: str) -> Path:
    """Return the file for another trace: out.json becomes out.NAME.json; a device or a pipe stays the same."""
    if is_special(path):
        return path
    head, suffix = _parts(path)
    return path.with_name(f"{head}.{name}{suffix}")


def is_beside(path: Path, file: Path) -> bool:
    """Return whether a file has a name that `beside` may give to another trace."""
    head, suffix = _parts(path)
    try:
        same = suffix and os.path.realpath(path.parent) == os.path.realpath(file.parent)
    except (OSError, ValueError):  # an invalid name
        return False
    between = len(file.name) - len(head) - len(suffix)
    return bool(same) and between > 1 and file.name.startswith(f"{head}.") and file.name.endswith(suffix)


def _parts(path: Path) -> tuple[str, str]:
    suffix = ITF if is_itf(path) else path.suffix
    return path.name.removesuffix(suffix), suffix
