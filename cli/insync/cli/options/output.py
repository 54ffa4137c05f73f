"""Options of output: report, JSON or annotations, colours, progress, files of traces, and pages.

No output overwrites an input.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from insync.cli.completion import MODEL_KEY
from insync.cli.options.values import Decorator, OutputPath, gathered, option
from insync.cli.terminal import emit, emit_data, emit_error, exit_code_for, grid_width, output, painter
from insync.model import Model
from insync.runtime.errors import UserError
from insync.runtime.files import check_writable, is_special, write_whole

if TYPE_CHECKING:
    from insync.cli.annotations import Finding
    from insync.explorer import Verdict
    from insync.explorer.documents.document import Document
    from insync.explorer.pictures.page import Caption
    from insync.explorer.pictures.picture import Picture
    from insync.explorer.traces.grid import Paint
    from insync.explorer.traces.trace import Trace

__all__ = [
    "Build",
    "ManyTraces",
    "Output",
    "beside",
    "build_options",
    "file_of_reference",
    "many_traces",
    "output_options",
    "outputs_of",
    "refuse_overwriting",
    "refuse_same",
    "say_not_written",
    "say_older",
    "sources_of",
    "trace_written",
    "traces_written",
]


@dataclass(frozen=True, slots=True)
class Output:
    """The chosen output.

    Attributes:
        json: whether to print one JSON object in place of the report.
        color: auto, always or never.
        quiet: whether to hide progress on standard error.
        trace: the file for the trace of a violation.
        html: the file for the page with the traces.
    """

    json: bool = False
    color: str = "auto"
    quiet: bool = False
    trace: Path | None = None
    html: Path | None = None

    @property
    def paint(self) -> Paint:
        """The function that colours texts of a report."""
        return painter(self.color)

    @property
    def width(self) -> int:
        """The greatest width of a report, in characters."""
        return grid_width()

    def show_document(self, document: Document) -> None:
        """Print the document's report, or its object with --json."""
        from insync.explorer.documents.document import Style

        style = Style(self.paint, self.width, output().encoding)
        self.show(lambda: document.text(style), lambda: json.dumps(document.data(), ensure_ascii=False))

    def show(self, text: Callable[[], str], as_json: Callable[[], str]) -> None:
        """Print the report, or the object with --json."""
        if self.json:
            emit_data(as_json())
        else:
            emit(text())

    def check_trace_path(self) -> None:
        """Raise UserError unless the files of trace and page are writable; called before the search."""
        if (ctx := click.get_current_context(silent=True)) is not None:
            refuse_overwriting(ctx)
        for path in (self.trace, self.html):
            if path is not None:
                check_trace_path(path)

    def beside(self, name: str) -> Output:
        """Return a copy with other files: out.json becomes out.NAME.json."""
        trace, html = (None if path is None else beside(path, name) for path in (self.trace, self.html))
        return replace(self, trace=trace, html=html)

    @contextmanager
    def traces_written(
        self,
        traces: Sequence[Trace],
        model: Model,
        *,
        others: Sequence[Picture] = (),
        captions: Sequence[Caption] = (),
    ) -> Iterator[list[Path | None]]:
        """Write the traces, yield the file of each, and then write the page, with `others` and `captions` on it.

        See the function `traces_written`.
        """
        if self.trace is not None and not traces:
            say_not_written(self.trace, "there is no trace")
        with traces_written(self.trace, traces, model) as files:
            yield files
            shown = [(trace, model, file) for trace, file in zip(traces, files, strict=True)]
            self.write_page(shown, others=others, captions=captions)

    def write_page(
        self,
        shown: Sequence[tuple[Trace, Model, Path | None]],
        *,
        others: Sequence[Picture] = (),
        captions: Sequence[Caption] = (),
        say: bool = True,
    ) -> None:
        """Write the page of traces, if `--html` is given, and print its name, or that there is no trace to show.

        Args:
            shown: each trace with its model and its file, if any.
            others: further pictures.
            captions: what to say above each trace.
            say: whether to print the name of the page; with `--json` it is never printed.
        """
        if self.html is None:
            return
        if not shown and not others:
            say_not_written(self.html, "there is no trace to show")
            return
        from insync.explorer.pictures.page import write_page

        write_page(self.html, shown, others=others, captions=captions)
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
    """Return a decorator that adds options of output, which the command receives as `output`.

    Args:
        trace: whether to add `--trace`.
        html: whether to add `--html`; None is the value of `trace`.
        json: whether to add `--json`.
        color: whether to add `--color`.
        quiet: whether to add `--quiet`.
    """
    pages = trace if html is None else html
    wanted = {"trace": trace, "html": pages, "json": json, "color": color, "quiet": quiet}
    known = {"trace": _TRACE, "html": _HTML, "json": _JSON, "color": _COLOR, "quiet": _QUIET}
    return gathered("output", Output, **{name: known[name] for name, taken in wanted.items() if taken})


# Refusal of outputs that would overwrite an input or another output.


_DERIVING = ("--trace", "--html")
"""Options for which further files are written beside the named one, if there are several traces."""


def refuse_overwriting(ctx: click.Context, inputs: Iterable[tuple[str, Path]] = ()) -> None:
    """Raise UsageError for an output that is the same file as another output or an input of the command.

    Args:
        ctx: the context of the command, with its outputs, its files and its model.
        inputs: further inputs: a description and the file of each.
    """
    values = ctx.params
    given = [
        (param.opts[-1] if isinstance(param, click.Option) else param.human_readable_name, path)
        for param in ctx.command.params
        if isinstance(param.type, click.Path)
        for path in _paths(values.get(str(param.name)))
    ]
    kind = ctx.meta.get(MODEL_KEY)
    sources = [] if kind is None else sources_of(kind)
    refuse_same(outputs_of(ctx.command, values), [*given, *sources, *inputs], ctx)


def refuse_same(
    outputs: Iterable[tuple[str, Path]], inputs: Iterable[tuple[str, Path]], ctx: click.Context | None = None
) -> None:
    """Raise UsageError for an output that is an input or another output; each has its option or a description."""
    seen: list[tuple[str, Path]] = []
    read = list(inputs)
    for named_by, path in outputs:
        if is_special(path):  # such as a pipe, which is not replaced
            continue
        for what, file in read:
            if _same(path, file):
                message = f"{named_by} names {path}, which is {what} and would be replaced. Name another file."
                raise click.UsageError(message, ctx)
        for other, file in seen:
            if _same(path, file):
                message = f"{other} and {named_by} both name {file}. Give each a file of its own."
                raise click.UsageError(message, ctx)
        _refuse_derived(named_by, path, [*read, *seen], ctx)
        for other, earlier in seen:
            _refuse_derived(other, earlier, [(named_by, path)], ctx)
        seen.append((named_by, path))


def _refuse_derived(named_by: str, path: Path, others: Iterable[tuple[str, Path]], ctx: click.Context | None) -> None:
    """Raise UsageError if a file has a name that a further trace or page of an output could get."""
    if named_by not in _DERIVING:
        return
    for what, file in others:
        if is_beside(path, file):
            message = (
                f"{named_by} names {path}. Further traces go beside it, with a name between {path.stem!r} and the "
                f"ending, and one of them might replace {file}, which is {what}. Name another file."
            )
            raise click.UsageError(message, ctx)


def outputs_of(command: click.Command, values: Mapping[str, object]) -> list[tuple[str, Path]]:
    """Return the files that a command writes, each with its option. `values` are the values of its parameters."""
    return [
        (param.opts[-1], path)
        for param in command.params
        if isinstance(param.type, OutputPath)
        for path in _paths(values.get(str(param.name)))
    ]


def sources_of(kind: type) -> list[tuple[str, Path]]:
    """Return the source files of a model's class and its bases."""
    files = [getattr(sys.modules.get(each.__module__), "__file__", None) for each in kind.__mro__]
    return [("the file of the model", Path(file)) for file in dict.fromkeys(files) if file]


def file_of_reference(reference: str) -> list[tuple[str, Path]]:
    """Return the Python file in a reference to a model; empty for a name."""
    path, _, _ = reference.rpartition(":")
    return [("the file of the model", Path(path))] if path.endswith(".py") else []


def _paths(value: object) -> list[Path]:
    if isinstance(value, (str, Path)):
        return [Path(value)]
    return [Path(each) for each in value] if isinstance(value, (tuple, list)) else []


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.realpath(one) == os.path.realpath(other) or os.path.samefile(one, other)
    except (OSError, ValueError):  # a file does not exist, or its name is invalid
        return False


# Traces of several clusters: a file for each, and one page.


@dataclass(slots=True)
class ManyTraces:
    """Writes traces under names: out.json becomes out.NAME.json.

    The class is not frozen, as it collects the traces for the page.

    Attributes:
        output: the chosen output.
        shown: each trace with its model and its file, for the page.
        captions: what the page says above each trace.
        failure: the error of the first file that could not be written.
    """

    output: Output
    shown: list[tuple[Trace, Model, Path | None]] = field(default_factory=list)
    captions: list[Caption] = field(default_factory=list)
    failure: UserError | None = None

    def keep(self, name: str, trace: Trace, model: Model, caption: Caption) -> Path | None:
        """Write a trace, if `--trace` is given, and return its file; None without one."""
        file: Path | None = None
        if self.output.trace is not None:
            try:
                file = trace_written(beside(self.output.trace, name), trace, model)
            except UserError as error:
                self.failure = self.failure or error
        self.shown.append((trace, model, file))
        self.captions.append(caption)
        return file

    def older(self, name: str) -> None:
        """Warn about a file with this name that an earlier run left, as this run has no such trace."""
        if self.output.trace is not None:
            say_older(beside(self.output.trace, name))


@contextmanager
def many_traces(output: Output) -> Iterator[ManyTraces]:
    """Yield the writer of the traces of several clusters, and write the page of all at the end.

    A file that cannot be written does not stop the work; its UserError is raised at the end.
    """
    written = ManyTraces(output)
    yield written
    if output.trace is not None and not written.shown:
        say_not_written(output.trace, "there is no trace")
    output.write_page(written.shown, captions=written.captions)
    if written.failure is not None:
        raise written.failure


# Files of traces: names, formats, and messages about files that were not written.


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
        from insync.properties.invariants import TYPE_OK
        from insync.properties.registry import invariants_of, lemmas_of, run_properties_of

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
    from insync.explorer.traces.trace_file import is_itf, write_trace

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
    from insync.explorer.traces.trace_file import ITF, is_itf

    suffix = ITF if is_itf(path) else path.suffix
    return path.name.removesuffix(suffix), suffix


# --------------------------------------------------------------------------------------------------------- annotations


@dataclass(frozen=True, slots=True)
class Build:
    """Where annotations go.

    Attributes:
        github: whether to print them for GitHub Actions.
        sarif: the SARIF file to write, if any.
    """

    github: bool
    sarif: Path | None

    def check(self, output: Output) -> None:
        """Refuse an unwritable file and `--github` beside `--json`, before the search.

        Raises:
            UserError: the file cannot be written.
            UsageError: `--github` beside `--json`.
        """
        if self.github and output.json:
            message = "--github prints lines below the report, and --json one object alone. Leave one of them out."
            raise click.UsageError(message)
        if self.sarif is not None:
            check_writable(self.sarif)

    def tell(
        self,
        model: Model,
        traces: Sequence[Trace],
        asked: Sequence[str],
        *,
        verdict: Verdict,
        stopped_by: str | None,
        warnings: Sequence[str],
        never: Sequence[str] = (),
        unproved: Mapping[str, str] | None = None,
        findings: Sequence[Finding] = (),
    ) -> None:
        """Print and write the annotations of a result.

        Args:
            model: the model.
            traces: one for each property that fails with a trace.
            asked: the names of the properties that were checked.
            verdict: the verdict.
            stopped_by: the limit that stopped the search, if one did.
            warnings: sentences.
            never: the names of the properties that fail without a trace.
            unproved: the names of properties that were neither proved nor refuted, each with the reason.
            findings: what each trace shows, in other words than its property's.

        Raises:
            UserError: the file cannot be written.
        """
        if not self.github and self.sarif is None:
            return
        from insync.cli.annotations import Outcome, github_lines, sarif_text
        from insync.explorer.documents.text import STOPPED_BY

        stopped = stopped_by if verdict == "incomplete" else None
        words = "" if stopped is None else STOPPED_BY.get(stopped, stopped)
        code = exit_code_for(verdict)
        outcome = Outcome(model, traces, asked, words, warnings, code, never, unproved or {}, findings)
        if self.github and (lines := github_lines(outcome.annotations())):
            emit_data(lines)
        if self.sarif is not None:
            write_whole(self.sarif, sarif_text(outcome))


build_options = gathered(
    "build",
    Build,
    github=option("--github", is_flag=True, help="Print annotations for GitHub Actions below the report."),
    sarif=option("--sarif", type=OutputPath(), metavar="FILE", help="Write the result as SARIF 2.1.0 to FILE."),
)
"""Decorator: adds `--github` and `--sarif`, which the command receives as `build`."""
