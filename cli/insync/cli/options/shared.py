"""Options that several commands share, so that each has one name and one sentence everywhere."""

from __future__ import annotations

import click

from insync.cli.options.values import OutputPath, Whole

__all__ = [
    "color_option",
    "json_option",
    "model_argument",
    "property_option",
    "quiet_option",
    "threads_option",
    "trace_option",
]

model_argument = click.argument("model", metavar="MODEL")

property_option = click.option(
    "--property",
    "properties",
    multiple=True,
    metavar="NAME",
    help="Check this property; may be repeated; `none` checks nothing and counts the space [default: those marked *].",
)

trace_option = click.option(
    "--trace",
    type=OutputPath(),
    metavar="FILE",
    help="Write the trace of a violation to FILE: insync's JSON, or ITF when FILE ends in .itf.json. "
    "With several violations the others go beside it, with the property in the name.",
)

threads_option = click.option(
    "--threads", type=Whole(1, 256), metavar="N", help="Worker threads [default: one for each core]."
)

json_option = click.option(
    "--json", "json_", is_flag=True, help="Print one JSON object for scripts in place of the report."
)

color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour the report; auto: on a terminal.",
)

quiet_option = click.option("--quiet", is_flag=True, help="No progress on standard error.")
