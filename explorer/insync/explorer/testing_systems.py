"""Failures of tests of a user's system beside a model, and the pytest fixture `insync_tour`.

The plugin is `_insync_pytestplugin`, which imports this module when a test uses the fixture.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from insync.explorer.systems.adapter import Adapter, Output
from insync.explorer.systems.attended_calls import STEP_SECONDS
from insync.explorer.systems.failures import FailureKind
from insync.explorer.task import ModelLike, model_of
from insync.explorer.testing import (
    FailedTest,
    Settings,
    SuspiciousModel,
    UnexpectedVerdict,
    require_bounds_of_search,
    save,
)
from insync.explorer.traces.grid import describe_bounds, describe_chosen, render_grid
from insync.explorer.traces.trace import Trace
from insync.model import Model
from insync.model.catalogue import is_in_file
from insync.runtime.errors import UserError
from insync.runtime.text import visible
from insync.runtime.watch import Limits, limits_of

if TYPE_CHECKING:
    from insync.explorer.tour import TourReporter, TourResult

__all__ = [
    "FAILURES",
    "Disagreement",
    "FailedSystem",
    "InsyncTour",
    "SystemHung",
    "SystemRaised",
    "SystemUnstable",
    "parted_text",
]


class FailedSystem(FailedTest):
    """The base of failures of a system beside its model.

    Attributes:
        trace: the steps, with the states of the model.
        file: the trace file; None if the trace was not saved.
    """

    def __init__(self, message: str, trace: Trace | None = None, file: Path | None = None) -> None:
        super().__init__(message)
        self.trace, self.file = trace, file


class Disagreement(FailedSystem):
    """A system differs from its model after the same steps."""


class SystemRaised(FailedSystem):
    """A method of an adapter raised an exception, which is the `__cause__`."""


class SystemHung(FailedSystem):
    """A method of an adapter did not return within the limit."""


class SystemUnstable(FailedSystem):
    """A system contradicts itself: after the same steps it shows first one thing and then another."""


FAILURES: Mapping[FailureKind, tuple[type[FailedSystem], str]] = {
    FailureKind.DIFFERENCE: (Disagreement, "{adapter} and {model} disagree"),
    FailureKind.RAISED: (SystemRaised, "{adapter} raises an exception beside {model}"),
    FailureKind.HUNG: (SystemHung, "{adapter} hangs beside {model}"),
    FailureKind.UNSTABLE: (SystemUnstable, "{adapter} contradicts itself beside {model}"),
}
"""The exception for each kind of failure, and the first line of its message."""
assert set(FAILURES) == set(FailureKind), "each kind of failure has an exception of its own"


def parted_text(
    model: Model, adapter: str, outputs: Collection[str], trace: Trace, file: Path, step_seconds: float | None
) -> str:
    """Return the grid of the steps after which system and model part, and how to take them again.

    Args:
        model: the model.
        adapter: the name of the adapter.
        outputs: the actions with an expected output.
        trace: the steps.
        file: the file of the trace.
        step_seconds: the limit of each call.
    """
    given = [repr(str(file)), adapter]
    given += [f"model={type(model).__name__}"] if is_in_file(trace.model) else []
    given += [f"outputs={{{', '.join(f'{name!r}: ...' for name in outputs)}}}"] if outputs else []
    given += [f"step_seconds={step_seconds}"] if step_seconds != STEP_SECONDS else []
    again = f"from insync.explorer.hypothesis import replay_against; replay_against({', '.join(given)})"
    return f"{render_grid(trace, model.grid)}\nTrace: {file}\nAgain: {again}"


class InsyncTour:
    """The fixture `insync_tour`: call it to take every transition of a model on a system.

    Attributes:
        result: the result of the last call; None before the first.
        traces: the trace files of all failures so far.
    """

    def __init__(
        self, settings: Settings, directory: Callable[[], Path], note: Callable[[str, str], None] | None = None
    ) -> None:
        self._settings, self._directory, self._note = settings, directory, note
        self.result: TourResult | None = None
        self.traces: list[Path] = []

    def __call__(
        self,
        model: ModelLike,
        adapter: Adapter,
        *,
        bounds: Mapping[str, int | str] | None = None,
        outputs: Mapping[str, Output] | None = None,
        within: Sequence[str] | None = None,
        limits: Limits | None = None,
        step_seconds: float | None = STEP_SECONDS,
        reporter: TourReporter | None = None,
        stopped_by: str | Collection[str] = (),
    ) -> TourResult:
        """Take every transition of a model on a system; the test fails unless all were taken without a failure.

        The model's warnings become `SuspiciousModel` warnings of a test that passes.

        Args:
            model: a model class or instance, or a name such as "path/to/file.py:ModelName".
            adapter: a class, or a function without arguments; see `insync.explorer.hypothesis.model_based_test`.
            bounds: its bounds; those left out have their defaults.
            outputs: for actions whose method returns something, the expected value.
            within: names of invariants; no step leads from a state in which one fails. None is the default of the
                model's class.
            limits: of exploration and tour. The default of seconds is --insync-max-seconds.
            step_seconds: the limit of each call of the adapter. None is no limit; the adapter is then called in the
                thread of the test.
            reporter: called about once a second with the progress.
            stopped_by: the limit, or limits, that may stop the tour so that it is incomplete: "depth", "states", "time"
                or "memory".

        Raises:
            Disagreement: the system differs from the model.
            SystemRaised: a method of the adapter raised an exception.
            SystemHung: a method of the adapter did not return within the limit.
            SystemUnstable: the system contradicts itself.
            UnexpectedVerdict: the tour is incomplete.
            TourInterrupted: Ctrl-C.
            UserError: as for `insync.explorer.tour`.
        """
        __tracebackhide__ = True
        from insync.explorer.tour import tour  # loads numpy

        try:
            meant, given = require_bounds_of_search(stopped_by), limits_of(limits)
            given = replace(given, seconds=self._settings.seconds if given.seconds is None else given.seconds)
            built = model_of(model, bounds)
            self.result = result = tour(
                built,
                adapter,
                outputs=outputs,
                within=within,
                limits=given,
                step_seconds=step_seconds,
                reporter=reporter,
            )
        except UserError as error:
            raise error.with_traceback(None) from None  # a mistake in the test: frames of insync do not help
        if self._note is not None:
            within = f" ({describe_bounds(built.identity)})" if built.identity else ""
            self._note("insync", f"{built.name}{within}: {result.verdict}, {result.extent()}")
        failure = result.failure
        if failure is not None:
            file = save(built, failure.trace, self._directory())
            self.traces.append(file)
            if self._note is not None:
                self._note("insync_trace", str(file))
            kind, head = FAILURES[failure.kind]
            first = head.format(adapter=result.adapter, model=built.name)
            parted = parted_text(built, result.adapter, outputs or {}, failure.trace, file, step_seconds)
            message = f"{first}\n\n{parted}\nTour: {result.extent()}"
            raise kind(message, failure.trace, file) from failure.error
        if result.stopped_by is not None and result.stopped_by not in meant:
            chosen = describe_chosen(built.identity, built)
            message = (
                f"{built.name}   {chosen}: the tour is incomplete, stopped by {result.stopped_by} after "
                f"{result.extent()}. No difference so far. Raise that limit, or write "
                f"stopped_by={str(result.stopped_by)!r} if that is intended."
            )
            raise UnexpectedVerdict(message)
        for text in result.warnings:
            warnings.warn(visible(text), SuspiciousModel, stacklevel=2)
        return result
