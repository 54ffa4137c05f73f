"""`insync kafka conform`: the model beside Kafka's own classes, over many steps."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from insync.cli.exit_codes import ExitCode
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.choice_options import each_choice
from insync.cli.options.kafka_choice import KafkaChoice, kafka_options
from insync.cli.options.limits import limit_options
from insync.cli.options.output import Output, output_options
from insync.cli.options.values import Whole
from insync.cli.options.walks import walk_options
from insync.cli.show.progress import walk_progress
from insync.explorer.limits import Limits
from insync.explorer.progress import WalkReporter
from insync.explorer.walk_threads import Walks
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import release_of

if TYPE_CHECKING:
    from insync.conformance.comparing.conform import Conformance
    from insync.conformance.jars.jar_set import JarSet

__all__ = ["command"]

PARTS = ("tour", "walks", "forbidden")


@click.command("conform", short_help="Walk the model and Kafka's classes side by side, and compare.")
@kafka_options()
@click.option(
    "--part",
    "parts",
    type=click.Choice(PARTS),
    multiple=True,
    help="Do this part alone; may be repeated. [default: all three, in this order]",
)
@click.option(
    "--at-once",
    type=Whole(1, 9),
    metavar="N",
    help="Tour each space in which N of the budgets are spent, the others not, in place of one space.",
)
@walk_options(100, 60, 10_000)
@limit_options(
    seconds="End each part after S seconds, with what is known by then.",
    states="End the exploration of the space of the tour after the level that reaches N states.",
)
@each_choice(Cluster)
@output_options(trace=True)
def command(
    choice: KafkaChoice,
    parts: tuple[str, ...],
    at_once: int | None,
    walks: Walks,
    limits: Limits,
    given: dict[str, int | str],
    output: Output,
) -> int:
    """Take many steps of the model `cluster` on Kafka's own classes, and compare both after each.

    \b
      tour       every step of a small space that can be brought about, in as few walks as can be
      walks      random walks of a large space, with all that can go wrong, once each
      forbidden  such walks, with commands between the steps that the model forbids and Kafka must refuse

    With --at-once 2 the tour is of each pair of budgets: what may go wrong, once each, with 2 replicas and 1 record.
    The rules are those of the release. Bounds that are given hold in all parts. The first difference ends it; the steps
    that it does not need are left out, and the rest is shown. The tour needs the extra `graph`. See
    docs/guide/kafka.md.

    \b
    Exit codes:
      0  agrees: all that was asked for was compared, and nothing differs
      1  diverges: after some step a field differs
      2  a mistake in the command, or something is missing: one sentence says which
      3  incomplete: a limit or Ctrl-C ended it before anything differed
    """  # noqa: D301 -- click wants the control character that keeps these lines as they are
    from insync.cli.show.kafka_conform_report import conformances_json, describe_conformances, worst_of
    from insync.explorer.runs.state_graph import require_graph_libraries

    output.check_trace_path()
    wanted = [part for part in PARTS if part in parts or not parts]
    if at_once is not None and "tour" not in wanted:
        message = "--at-once is about the tour, which --part leaves out."
        raise click.UsageError(message)
    if "tour" in wanted:
        require_graph_libraries()
    jars = choice.jars()
    with stop_on_interrupt() as stop, walk_progress(output.quiet, f"starting Kafka {jars.version}") as reporter:
        results = _compared(jars, wanted, at_once, given, walks, limits, reporter, stop)
    last = results[-1]
    traces = [] if last.difference is None else [last.difference.trace]
    with output.traces_written(traces, last.model) as files:
        file = files[0] if files else None
        output.show(
            lambda: describe_conformances(results, file, output.paint, output.width),
            lambda: conformances_json(results, file),
        )
    return _EXIT_CODES[worst_of(results).value]


def _compared(
    jars: JarSet,
    parts: list[str],
    at_once: int | None,
    given: dict[str, int | str],
    walks: Walks,
    limits: Limits,
    reporter: WalkReporter | None,
    stop: threading.Event,
) -> list[Conformance]:
    """The results of the parts, up to the first that differs or is interrupted."""
    from insync.conformance.classes.harness import Harness
    from insync.conformance.comparing.budget_tours import EACH_ONCE, conform_budgets
    from insync.conformance.comparing.conform import TOUR, WALKS, Conforming, conform_tour, conform_walks

    def model(bounds: Mapping[str, int | str]) -> Cluster:
        return Cluster(**{"release": release_of(jars.version).value, **bounds, **given})

    results: list[Conformance] = []
    with Harness(jars, stop=stop) as harness:
        for part in parts:
            if part == "tour" and at_once is not None:
                each = model(EACH_ONCE)
                results.append(
                    conform_budgets(each, harness, at_once=at_once, limits=limits, reporter=reporter, stop=stop)
                )
            elif part == "tour":
                results.append(conform_tour(model(TOUR), harness, limits=limits, reporter=reporter, stop=stop))
            else:
                results.append(
                    conform_walks(
                        model(WALKS),
                        harness,
                        walks=walks.count,
                        seed=walks.seed,
                        depth=walks.depth,
                        forbidden=part == "forbidden",
                        limits=limits,
                        reporter=reporter,
                        stop=stop,
                    )
                )
            if results[-1].verdict is Conforming.DIVERGES or stop.is_set():
                break
    return results


_EXIT_CODES = {"agrees": ExitCode.HOLDS, "diverges": ExitCode.VIOLATED, "incomplete": ExitCode.INCOMPLETE}
