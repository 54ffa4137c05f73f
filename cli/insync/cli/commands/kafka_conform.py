"""`insync kafka conform`: the model beside Kafka's own classes, over many steps."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.exit_codes import ExitCode
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.choice_options import each_choice
from insync.cli.options.limits import limit_options
from insync.cli.options.output import Output, output_options
from insync.cli.options.values import Whole
from insync.cli.show.progress import walk_progress
from insync.explorer.limits import Limits
from insync.kafka.cluster.model import Cluster

__all__ = ["command"]


@click.command("conform", short_help="Walk the model and Kafka's classes side by side, and compare.")
@click.option("--kafka", "version", metavar="VERSION", help="The release, which must be fetched.")
@click.option(
    "--libs",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Take the jars in DIR, the folder libs of a Kafka distribution, as they are; in place of --kafka.",
)
@click.option("--walks", type=Whole(1), default=100, show_default=True, metavar="N", help="How many walks to take.")
@click.option(
    "--depth", type=Whole(1, 10_000), default=60, show_default=True, metavar="N", help="Most steps of a walk."
)
@click.option(
    "--seed",
    type=Whole(0, (1 << 64) - 1),
    default=0,
    show_default=True,
    metavar="N",
    help="Of the random numbers: same seed, same walks.",
)
@limit_options(seconds="Stop after S seconds, with what is known by then.")
@each_choice(Cluster)
@output_options(trace=True)
def command(
    version: str | None,
    libs: Path | None,
    walks: int,
    depth: int,
    seed: int,
    limits: Limits,
    given: dict[str, int | str],
    output: Output,
) -> int:
    """Take random walks of the model `cluster` on Kafka's own classes, and compare both after each step.

    The rules are those of the release, and the bounds allow a crash, an expired session, an election, a reassignment
    and whatever else the harness can bring about, once each; options change that. The first walk at whose end a field
    differs is shortened, by leaving out the steps that the difference does not need, and shown. See
    docs/guide/kafka.md.

    \b
    Exit codes:
      0  agrees: all that was asked for was compared, and nothing differs
      1  diverges: after some step a field differs
      2  a mistake in the command, or something is missing: one sentence says which
      3  incomplete: a limit or Ctrl-C ended it before anything differed
    """  # noqa: D301 -- click wants the control character that keeps these lines as they are
    if (version is None) == (libs is None):
        message = "Give --kafka VERSION, a release of `insync kafka versions`, or --libs DIR of a distribution."
        raise click.UsageError(message)
    from insync.cli.show.kafka_conform_report import conformance_json, describe_conformance
    from insync.conformance.classes.harness import Harness
    from insync.conformance.conform import WALKS, conform_walks, release_of
    from insync.conformance.jars.distribution import distribution_jars
    from insync.conformance.jars.pinned import pinned
    from insync.conformance.jars.store import stored_jars

    output.check_trace_path()
    jars = stored_jars(pinned(version)) if version is not None else distribution_jars(libs or Path())
    model = Cluster(**{"release": release_of(jars.version), **WALKS, **given})
    with (
        Harness(jars) as harness,
        stop_on_interrupt() as stop,
        walk_progress(output.quiet, f"starting Kafka {jars.version}") as reporter,
    ):
        result = conform_walks(
            model, harness, walks=walks, seed=seed, depth=depth, limits=limits, reporter=reporter, stop=stop
        )
    traces = [] if result.difference is None else [result.difference.trace]
    with output.traces_written(traces, model) as files:
        file = files[0] if files else None
        output.show(
            lambda: describe_conformance(result, file, output.paint, output.width),
            lambda: conformance_json(result, file),
        )
    return _EXIT_CODES[result.verdict.value]


_EXIT_CODES = {"agrees": ExitCode.HOLDS, "diverges": ExitCode.VIOLATED, "incomplete": ExitCode.INCOMPLETE}
