"""`insync list`: the models that come with insync."""

from __future__ import annotations

import json

import click

from insync.cli.completion import complete_models
from insync.cli.options.output import Output, output_options
from insync.cli.options.values import ENGINES
from insync.cli.terminal import EPILOG, ExitCode
from insync.explorer.documents.models import describe_model, describe_models, model_entry, models_json
from insync.model.catalogue import find_model

__all__ = ["list_command"]


@click.command("list", epilog=EPILOG, short_help="Show the models, their bounds and their properties.")
@click.argument("model", metavar="[MODEL]", required=False, shell_complete=complete_models)
@output_options(color=False, quiet=False)
def list_command(model: str | None, output: Output) -> int:
    """Show every model that comes with insync: what it is, its bounds, its properties, and the engines.

    With MODEL, a name or path/to/file.py:Class, show that model with the sentence of each setting, bound, action and
    property.
    """
    if model is None:
        output.show(lambda: describe_models(ENGINES), lambda: models_json(ENGINES))
    else:
        kind = find_model(model)
        output.show(lambda: describe_model(kind), lambda: json.dumps(model_entry(kind), ensure_ascii=False))
    return ExitCode.HOLDS
