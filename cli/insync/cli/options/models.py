"""Models as the command line speaks of them: made from their bounds, and described with bounds and properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from insync.cli.options.choices import choices, default_of, option_name, range_of
from insync.model.catalogue import BUILT_IN, find_model
from insync.model.errors import UserError
from insync.properties.registry import select, sentences_of

if TYPE_CHECKING:
    import click

    from insync.model import Model

__all__ = [
    "build_model",
    "built_in_models",
    "describe_all",
    "describe_properties",
    "select_properties",
]

NONE = "none"


def build_model(kind: type[Model], bounds: Mapping[str, int | str]) -> Model:
    """Return the model under its bounds, traced, so that a mistake in it is found here.

    Raises UserError for it, with the file and line.
    """
    model = kind(**bounds)
    model.grid(model.decode(model.program.initial))
    return model


def built_in_models() -> list[type[Model]]:
    """Return the models that come with insync, in the order in which they are listed."""
    return [find_model(name) for name in BUILT_IN]


def select_properties(model: Model, names: Sequence[str]) -> list[str]:
    """Return the names of the properties to check: the model's headline ones, or those named, or none.

    Raises UserError for a name that is none of the model's, and for `none` beside other names.
    """
    if NONE in names:
        others = [name for name in names if name != NONE]
        if others:
            message = (
                f"--property none checks nothing, and --property {others[0]} is there as well. Leave one of them out."
            )
            raise UserError(message)
        return []
    return list(select(model, names or None))


def model_properties(kind: type[Model]) -> list[tuple[str, str, bool]]:
    """Return name and sentence of each property of a model, and whether it is checked by default."""
    model = kind()
    return [(name, sentence, name in model.headline) for name, sentence in sentences_of(model).items()]


def describe_properties(kind: type[Model], formatter: click.HelpFormatter) -> None:
    """Write a model's properties, those checked by default with a star."""
    formatter.write_dl(
        [(f"{name}{' *' if default else ''}", sentence) for name, sentence, default in model_properties(kind)]
    )


def describe_all(formatter: click.HelpFormatter) -> None:
    """Write the bounds of every model that comes with insync."""
    rows = []
    for kind in built_in_models():
        bounds = (f"{option_name(n, set())} ({default_of(c)}, {range_of(c)})" for n, c in choices(kind).items())
        rows.append((kind.name, ", ".join(bounds)))
    formatter.write_dl(rows)
