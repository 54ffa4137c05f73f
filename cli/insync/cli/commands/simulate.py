"""`insync simulate`: random walks."""

from __future__ import annotations

from collections.abc import Sequence

from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.annotations import Build, build_options
from insync.cli.options.model import ChosenModel, model_command, property_option, within_option
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import Engine, engine_options, limit_options
from insync.cli.options.walks import walk_options
from insync.cli.progress import walk_progress
from insync.cli.terminal import exit_code_for
from insync.explorer import Limits, SimulationResult, simulate
from insync.explorer.documents.simulate import SimulationDocument
from insync.explorer.search.walks import Walks
from insync.model import Model

__all__ = ["command"]


@model_command("simulate", "Take random walks through a model, and shorten the one that fails.")
@walk_options(10_000, 100, 1_000_000, strategies=True)
@property_option("Check this property; may be repeated; `none` checks type_ok alone [default: those marked *].")
@within_option()
@limit_options(seconds="Stop after S seconds, compilation included.")
@engine_options(partitions="Spark: tasks at a time [default: one a core].", keeps_states=False)
@output_options(trace=True)
@build_options
def command(
    chosen: ChosenModel,
    walks: Walks,
    properties: tuple[str, ...],
    within: tuple[str, ...],
    limits: Limits,
    engine: Engine,
    output: Output,
    build: Build,
) -> int:
    """Take random walks through MODEL, and check properties on the way.

    For spaces that are too large to search: walks find violations and prove nothing, so without one the verdict is
    incomplete, with exit code 3. The first walk that fails is shortened, by leaving out the steps that it does not
    need, and shown. The result depends on model, bounds, properties, --depth, --seed and --strategy alone, never on
    --threads; walk number n of a seed is the same whatever the number of walks.

    --abstract-states counts how many states the walks have seen that differ in what matters (of a Kafka model leader,
    ISR, lags), and --until-saturated N ends them when N walks in a row have seen nothing new.

    A walk draws an action first, and then its parameters; every other walk likes some actions more than others.
    --strategy names and tastes are the one and the other alone, uniform draws actions with their parameters at once.
    """
    engine.require_own_options()
    model = chosen.build(within)
    names = chosen.select(model, properties)
    output.check_trace_path()
    build.check(output)
    result = _walk(model, names, walks, limits, engine, output)
    traces = [result.violation.trace] if result.violation is not None else []
    with output.traces_written(traces, model) as files:
        file = files[0] if files else None
        output.show_document(SimulationDocument(result, model.grid, file))
    build.tell(model, traces, names, verdict=result.verdict, stopped_by=result.stopped_by, warnings=result.warnings)
    return exit_code_for(result.verdict)


def _walk(
    model: Model, names: Sequence[str], walks: Walks, limits: Limits, engine: Engine, output: Output
) -> SimulationResult:
    with stop_on_interrupt() as stop, walk_progress(output.quiet, engine.beginning) as reporter:
        if engine.on_spark:
            from insync import spark_explore

            return spark_explore.simulate(
                model,
                properties=names,
                walks=walks.count,
                depth=walks.depth,
                seed=walks.seed,
                strategy=walks.strategy,
                abstract_states=walks.abstract_states,
                until_saturated=walks.until_saturated,
                limits=limits,
                options=engine.spark_options(),
                reporter=reporter,
                stop=stop,
            )
        return simulate(
            model,
            properties=names,
            walks=walks.count,
            depth=walks.depth,
            seed=walks.seed,
            strategy=walks.strategy,
            abstract_states=walks.abstract_states,
            until_saturated=walks.until_saturated,
            limits=limits,
            threads=engine.threads,
            reporter=reporter,
            stop=stop,
        )
