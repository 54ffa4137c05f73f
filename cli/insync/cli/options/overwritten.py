"""Files that a command would write over: what it reads itself, and what it writes by another option."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from insync.cli.completion import MODEL_KEY
from insync.cli.options.task import OutputPath
from insync.cli.show.trace_files import is_beside
from insync.explorer.traces.files import is_special

__all__ = ["file_of_reference", "outputs_of", "refuse_overwriting", "refuse_same", "sources_of"]

_DERIVING = ("--trace", "--html")
"""The options whose files get others beside them, where several traces are found."""


def refuse_overwriting(ctx: click.Context, inputs: Iterable[tuple[str, Path]] = ()) -> None:
    """Raise UsageError for an output that is the same file as another one, or as an input of the command.

    Args:
        ctx: of the command; its outputs, its files and its model are known from there.
        inputs: what else it reads: what that is, and the file.
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
    """Raise UsageError for an output that is an input or another output; each has its option or what it is."""
    seen: list[tuple[str, Path]] = []
    read = list(inputs)
    for option, path in outputs:
        if is_special(path):  # written to and not replaced
            continue
        for what, file in read:
            if _same(path, file):
                message = f"{option} names {path}, which is {what} and would be replaced. Name another file."
                raise click.UsageError(message, ctx)
        for other, file in seen:
            if _same(path, file):
                message = f"{other} and {option} both name {file}. Give each a file of its own."
                raise click.UsageError(message, ctx)
        _refuse_derived(option, path, [*read, *seen], ctx)
        for other, earlier in seen:
            _refuse_derived(other, earlier, [(option, path)], ctx)
        seen.append((option, path))


def _refuse_derived(option: str, path: Path, others: Iterable[tuple[str, Path]], ctx: click.Context | None) -> None:
    """Raise UsageError where a file has a name that a further trace or page of an output would get."""
    if option not in _DERIVING:
        return
    for what, file in others:
        if is_beside(path, file):
            message = (
                f"{option} names {path}, and what else is found goes beside it, with a name between {path.stem!r} and "
                f"the ending; that might replace {file}, which is {what}. Name another file."
            )
            raise click.UsageError(message, ctx)


def outputs_of(command: click.Command, values: Mapping[str, object]) -> list[tuple[str, Path]]:
    """Return the files that a command writes, each with its option; `values` are those of its parameters."""
    return [
        (param.opts[-1], path)
        for param in command.params
        if isinstance(param.type, OutputPath)
        for path in _paths(values.get(str(param.name)))
    ]


def sources_of(kind: type) -> list[tuple[str, Path]]:
    """Return the files that a model's class and its bases are in."""
    files = [getattr(sys.modules.get(each.__module__), "__file__", None) for each in kind.__mro__]
    return [("the file of the model", Path(file)) for file in dict.fromkeys(files) if file]


def file_of_reference(reference: str) -> list[tuple[str, Path]]:
    """Return the file in a reference to a model, none for a name."""
    path, _, _ = reference.rpartition(":")
    return [("the file of the model", Path(path))] if path.endswith(".py") else []


def _paths(value: object) -> list[Path]:
    if isinstance(value, (str, Path)):
        return [Path(value)]
    return [Path(each) for each in value] if isinstance(value, (tuple, list)) else []


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.realpath(one) == os.path.realpath(other) or os.path.samefile(one, other)
    except (OSError, ValueError):  # one is not there, or has a name that no file can have
        return False
