"""The option `--model`: the user's permission to run the Python file that a trace or a run names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from insync import explorer
from insync.cli.completion import complete_models
from insync.cli.options.values import Decorator
from insync.cli.terminal import emit_error
from insync.explorer.named_model import Naming, kinds_of, same_name
from insync.model import Model
from insync.model.catalogue import class_reference

if TYPE_CHECKING:
    from insync.explorer.traces.trace import Trace

__all__ = ["kind_of_file", "kinds_of_files", "model_option", "naming_of"]


def model_option(file: str, *, several: bool = False) -> Decorator:
    """Return a decorator that adds `--model`, which the command receives as `reference`, or `references` if several.

    Args:
        file: the phrase of the help text for the file that names a model.
        several: whether the command takes several files.
    """
    again = "; may be repeated, for files of several models" if several else ""
    option: Decorator = click.option(
        "--model",
        "references" if several else "reference",
        metavar="MODEL",
        multiple=several,
        shell_complete=complete_models,
        help=f"Take this model. A model of your own, path/to/file.py:ModelName, runs only if you name it here: {file} "
        f"alone runs nothing{again}.",
    )
    return option


def naming_of(claim: Trace, file: Path) -> Naming:
    """Return the reference to the model in a trace, for messages with the file."""
    return Naming(claim.model, "trace", str(file), file)


def kinds_of_files(namings: Sequence[Naming], given: Sequence[str]) -> list[type[Model]]:
    """Return the class of the model of each file; report on standard error a class with another name than in the file.

    Args:
        namings: the references in the files.
        given: the models that the command line names.

    Raises:
        UnnamedModel: files name Python files that the command line does not; nothing was imported.
        UserError: there is no such model.
    """
    kinds = kinds_of(namings, given)
    for naming, kind in zip(namings, kinds, strict=True):
        if not same_name(taken := class_reference(kind), naming.model):
            says = f"{naming.place} is a {naming.what} of {naming.model}"
            emit_error(f"{says}; its steps are taken by {taken}, which --model names.")
    return kinds


def kind_of_file(file: Path, reference: str | None) -> type[Model] | None:
    """Return the class of the model of a trace file; None if the file does not exist. See `kinds_of_files`."""
    if not file.exists():
        return None
    return kinds_of_files([naming_of(explorer.read_trace(file), file)], [] if reference is None else [reference])[0]
