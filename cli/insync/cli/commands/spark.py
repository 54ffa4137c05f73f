"""`insync spark`: the states that a search on Spark left in its run directory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from insync.cli.options.named_models import model_option
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import Engine, session_options
from insync.cli.options.values import RunPlace
from insync.cli.terminal import ExitCode
from insync.runtime.errors import UserError
from insync.runtime.text import plural

if TYPE_CHECKING:
    from insync.explorer.documents.json_types.models import SparkTablesObject

__all__ = ["spark_command"]


@click.group("spark", short_help="Use the states that a search on Spark left in its run directory.")
def spark_command() -> None:
    """Use the states that a search on Spark left in its run directory."""


@spark_command.command("prepare", hidden=True)
def prepare_machine() -> int:
    """Refuse this command, which is not needed any more."""
    message = "Spark needs no preparation any more: a search starts an ordinary SparkSession. Leave this command out."
    raise UserError(message)


@spark_command.command("export", short_help="Write the state graph of a run as Parquet tables.")
@click.argument("run_dir", type=RunPlace(), metavar="RUN_DIR")
@click.argument("out", type=RunPlace(), metavar="OUT")
@model_option("RUN_DIR")
@session_options
@output_options(color=False, quiet=False)
def export_run(run_dir: str, out: str, reference: str | None, engine: Engine, output: Output) -> int:
    """Write the state graph of the run in RUN_DIR as Parquet tables below OUT, for Spark SQL and notebooks.

    OUT/states has a row per state, with its depth and the fields of the model; OUT/transitions has a row per step, with
    its action. RUN_DIR is what `insync check --engine spark --run-dir` wrote; OUT must not exist.
    """
    from insync.explorer.search.manifest import read_manifest
    from insync.spark_explore import export
    from insync.spark_explore.wire.run_folder import run_folder

    states, transitions = export(run_dir, out, options=engine.spark_options(), model=reference)
    searched = read_manifest(run_folder(run_dir)).identity
    tables: SparkTablesObject = {
        "model": searched.model,
        "bounds": dict(searched.bounds),
        "states": {"table": f"{out}/states", "rows": states},
        "transitions": {"table": f"{out}/transitions", "rows": transitions},
    }
    output.show(
        lambda: f"{plural(states, 'state')} in {out}/states, {plural(transitions, 'step')} in {out}/transitions",
        lambda: json.dumps(tables, ensure_ascii=False),
    )
    return ExitCode.HOLDS
