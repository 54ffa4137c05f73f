"""`insync kafka conform`: a comparison of the model with Kafka's own classes over many steps."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from insync.cli.options.kafka import KafkaChoice, QuorumChoice, kafka_options, quorum_options
from insync.cli.options.model import command_about, each_choice
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import limit_options, walk_options
from insync.cli.options.values import Whole
from insync.cli.progress import stop_on_interrupt, walk_progress
from insync.cli.terminal import ExitCode
from insync.explorer.progress import WalkReporter
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import release_of
from insync.runtime.watch import Limits
from insync.runtime.workers import available_cores

if TYPE_CHECKING:
    from insync.conformance.classes.harness import Harness
    from insync.conformance.comparing.conform import Conformance
    from insync.conformance.comparing.walking_process import WalkingProcess
    from insync.conformance.jars.jar_set import JarSet
    from insync.explorer.search.walks import Walks

__all__ = ["conform_command"]

PARTS = ("tour", "walks", "forbidden")


@click.command(
    "conform", cls=command_about(Cluster), short_help="Walk the model and Kafka's classes side by side, and compare."
)
@kafka_options()
@click.option(
    "--part",
    "parts",
    type=click.Choice(PARTS),
    multiple=True,
    help="Do this part alone; may be repeated. [default: all three, in this order; with --quorum the walks]",
)
@click.option(
    "--at-once",
    type=Whole(1, 9),
    metavar="N",
    help="In place of one space tour each space in which N of the budgets are spent and the others are not.",
)
@click.option(
    "--everything",
    is_flag=True,
    help="Walk with everything that the harness can bring about; no tour is taken.",
)
@walk_options(100, 60, 10_000)
@click.option(
    "--processes",
    type=Whole(1, 64),
    metavar="N",
    help="Take the walks in N processes, with a Kafka each; only the time depends on it. [default: one a core]",
)
@limit_options(
    seconds="End each part after S seconds, with the results so far.",
    states="End the exploration of the space of the tour after the level that reaches N states.",
)
@quorum_options()
@each_choice(Cluster)
@output_options(trace=True)
def conform_command(
    choice: KafkaChoice,
    parts: tuple[str, ...],
    at_once: int | None,
    everything: bool,
    walks: Walks,
    processes: int | None,
    limits: Limits,
    quorum: QuorumChoice,
    given: dict[str, int | str],
    output: Output,
) -> int:
    """Take many steps of the model `cluster` on Kafka's own classes, and compare both after each.

    \b
      tour       every step of a small space that can be brought about, in as few walks as can be
      walks      random walks of a large space, with all that can go wrong, once each
      forbidden  such walks, with commands between the steps that the model forbids and Kafka must refuse

    With --everything the walks also have fetch sessions, a consumer, and a producer that sends again. Responses are
    lost, checkpoints are old, directories fail or are taken out, and logs move between directories.

    With --quorum the walks are of the model `kraft`, on Kafka's own Raft client, of releases from 3.9 on that were
    fetched with --quorum. They have pre-votes (KIP-996) since 4.0. With --additions or --removals voters come and go
    (KIP-853). --part tour takes every step of 2 servers, 1 value and 2 elections, unless you give other bounds.

    With --at-once 2 there is a tour for each pair of budgets: two things may go wrong, once each, with 2 replicas and 1
    record. The rules are those of the release, and bounds that are given hold in all parts. The first difference ends
    the command, and is shown in as few steps as show it. The tour needs the extra `graph`. See docs/guide/kafka.md, and
    docs/guide/quorum.md for the quorum.

    \b
    Exit codes:
      0  agrees: everything was compared, and nothing differs; steps that cannot be brought about for a reason in
         docs/guide/known-differences.md are listed
      1  diverges: after some step a field differs
      2  a mistake in the command, or something is missing: one sentence says which
      3  incomplete: a limit or Ctrl-C ended it before anything differed; or a step cannot be brought about for another
         reason, as this Kafka lacks what the harness calls
    """  # noqa: D301 -- the control character makes click keep these lines as they are
    from insync.conformance.documents.conform import conformances_json, describe_conformances, worst_of
    from insync.explorer.runs.state_graph import require_graph_libraries

    output.check_trace_path()
    bounds = quorum.bounds(
        given,
        part_forbidden="forbidden" in parts or None,
        at_once=at_once,
        everything=everything or None,
        processes=processes,
    )
    wanted = _wanted(parts or (("walks",) if quorum.asked else ()), everything=everything)
    if at_once is not None and "tour" not in wanted:
        left_out = "--everything leaves out" if everything else "--part leaves out"
        message = f"--at-once is about the tour, which {left_out}. Leave one of them out."
        raise click.UsageError(message)
    if "tour" in wanted:
        require_graph_libraries()
    jars = quorum.jars(choice) if quorum.asked else choice.jars()
    with stop_on_interrupt() as stop, walk_progress(output.quiet, f"starting Kafka {jars.version}") as reporter:
        asked = _Asked(jars, at_once, everything, bounds, walks, processes or available_cores(), limits, reporter, stop)
        results = asked.quorum(wanted) if quorum.asked else asked.compared(wanted)
    last = results[-1]
    traces = [] if last.difference is None else [last.difference.trace]
    with output.traces_written(traces, last.model) as files:
        file = files[0] if files else None
        output.show(
            lambda: describe_conformances(results, file, output.paint, output.width),
            lambda: conformances_json(results, file),
        )
    return _EXIT_CODES[worst_of(results).value]


def _wanted(parts: tuple[str, ...], *, everything: bool) -> list[str]:
    """Return the chosen parts, in order.

    Raises:
        click.UsageError: a tour with --everything, whose space is too large.
    """
    if everything and "tour" in parts:
        message = "--everything is about walks: its space is too large for a tour. Leave one of them out."
        raise click.UsageError(message)
    every = PARTS[1:] if everything else PARTS
    return [part for part in every if part in parts or not parts]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The arguments of the comparison."""

    jars: JarSet
    at_once: int | None
    everything: bool
    given: dict[str, int | str]
    walks: Walks
    processes: int
    limits: Limits
    reporter: WalkReporter | None
    stop: threading.Event

    def compared(self, parts: list[str]) -> list[Conformance]:
        """Return the results of the parts, up to the first that differs or is interrupted."""
        from insync.conformance.classes.harness import Harness
        from insync.conformance.comparing.conform import Conforming
        from insync.conformance.comparing.walking_process import WalkingProcess

        results: list[Conformance] = []
        with ExitStack() as running:
            harness = running.enter_context(Harness(self.jars, stop=self.stop))
            beside: list[WalkingProcess] = []
            for part in parts:
                if part == "tour":
                    results.append(self._tour(harness))
                else:
                    for _ in range(self.processes - 1)[len(beside) :]:
                        beside.append(running.enter_context(WalkingProcess(self.jars)))
                    results.append(self._walks(part, harness, beside))
                if results[-1].verdict is Conforming.DIVERGES or self.stop.is_set():
                    break
        return results

    def quorum(self, parts: list[str]) -> list[Conformance]:
        """Return the results of the parts on the quorum, up to the first that differs or is interrupted."""
        from insync.conformance.comparing.conform import Conforming
        from insync.conformance.quorum.beside_kafka import quorum_model
        from insync.conformance.quorum.conform_quorum import conform_quorum, tour_quorum
        from insync.conformance.quorum.quorum_harness import QuorumHarness

        results: list[Conformance] = []
        limits, reporter, stop, walks = self.limits, self.reporter, self.stop, self.walks
        with QuorumHarness(self.jars, stop=stop) as harness:
            for part in parts:
                model = quorum_model(self.jars.version, self.given, tour=part == "tour")
                if part == "tour":
                    found = tour_quorum(model, harness, limits=limits, reporter=reporter, stop=stop)
                else:
                    found = conform_quorum(
                        model,
                        harness,
                        walks=walks.count,
                        seed=walks.seed,
                        depth=walks.depth,
                        limits=limits,
                        reporter=reporter,
                        stop=stop,
                    )
                results.append(found)
                if found.verdict is Conforming.DIVERGES or stop.is_set():
                    break
        return results

    def _tour(self, harness: Harness) -> Conformance:
        from insync.conformance.comparing.budget_tours import EACH_ONCE, conform_budgets
        from insync.conformance.comparing.conform import TOUR, conform_tour

        limits, reporter, stop = self.limits, self.reporter, self.stop
        if self.at_once is None:
            return conform_tour(self._model(TOUR), harness, limits=limits, reporter=reporter, stop=stop)
        each = self._model(EACH_ONCE)
        return conform_budgets(each, harness, at_once=self.at_once, limits=limits, reporter=reporter, stop=stop)

    def _walks(self, part: str, harness: Harness, beside: list[WalkingProcess]) -> Conformance:
        from insync.conformance.comparing.conform import EVERYTHING, WALKS, conform_walks

        return conform_walks(
            self._model(EVERYTHING if self.everything else WALKS),
            harness,
            walks=self.walks.count,
            beside=beside,
            seed=self.walks.seed,
            depth=self.walks.depth,
            forbidden=part == "forbidden",
            limits=self.limits,
            reporter=self.reporter,
            stop=self.stop,
        )

    def _model(self, bounds: Mapping[str, int | str]) -> Cluster:
        return Cluster(**{"release": release_of(self.jars.version).value, **bounds, **self.given})


_EXIT_CODES = {"agrees": ExitCode.HOLDS, "diverges": ExitCode.VIOLATED, "incomplete": ExitCode.INCOMPLETE}
