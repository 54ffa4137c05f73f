"""Model-based tests: Hypothesis drives a model and a system side by side, and compares their states and outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from hypothesis.stateful import RuleBasedStateMachine

from insync.explorer.hypothesis.state_machines import ModelMachine, build_machine, is_final
from insync.explorer.named_model import Naming, opened_kind
from insync.explorer.stepping.stepper import Move, ParameterValue, PropertyLike, Stepper, Walk
from insync.explorer.systems.adapter import (
    NOTHING_COMPARED,
    Adapter,
    Output,
    SideBySide,
    adapter_name,
    check_adapter,
    outputs_of,
)
from insync.explorer.systems.attended_calls import STEP_SECONDS, CallHung, CallRaised, CallThread, require_seconds
from insync.explorer.systems.failures import FailureKind
from insync.explorer.task import ModelLike, model_of
from insync.explorer.testing import trace_directory
from insync.explorer.testing_systems import (
    FAILURES,
    Disagreement,
    FailedSystem,
    SystemHung,
    SystemRaised,
    parted_text,
)
from insync.explorer.traces.grid import render_grid
from insync.explorer.traces.trace import AGREEMENT, first_codes, trace_of
from insync.explorer.traces.trace_file import read_trace, write_trace
from insync.model.evaluator import Codes
from insync.properties.registry import confined
from insync.runtime.errors import UserError

__all__ = ["Disagreement", "model_based_test", "replay_against"]


def model_based_test(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    adapter: Adapter,
    outputs: Mapping[str, Output] | None = None,
    properties: Sequence[PropertyLike] = (),
    within: Sequence[str] | None = None,
    step_seconds: float | None = STEP_SECONDS,
) -> type[RuleBasedStateMachine]:
    """Return a Hypothesis state machine that runs a system beside a model; its `TestCase` is a test.

    Each run makes a new adapter and takes each step of the model on it as well. The adapter has these methods:

    * One for each action, with the action's parameters as keywords: a member's label such as "b1", the name of a
      member of an enumeration, or a bool.
    * `observe` returns some or all fields of the model's readable state as the system has them. They are compared in
      the initial state and after each step.
    * `begin`, if the model has several initial states, receives the readable initial state before all else.
    * `close`, if it exists, ends a run.

    Args:
        model: a model class or instance, or a model's name.
        bounds: its bounds; those left out have their defaults.
        adapter: a class, or a function without arguments.
        outputs: for actions whose method returns something, the expected value: a function of the readable states
            before and after the step, and of the parameters as keywords.
        properties: properties of the model to check besides.
        within: names of invariants; a run ends in a state in which one fails, which is still compared. None is the
            default of the model's class.
        step_seconds: the limit of each call of the adapter, which is made in a thread of the run. None is no limit: the
            adapter is then called in the thread of the test.

    Raises:
        UserError: an adapter that lacks an action or has nothing to compare, and all that `state_machine` raises.
    """
    built, given = confined(model_of(model, bounds), within), outputs_of(outputs)
    require_seconds(step_seconds)
    check_adapter(built, adapter, given)
    members = {"new_driver": staticmethod(adapter), "outputs": given, "step_seconds": step_seconds, "hung": {}}
    return build_machine(SystemMachine, built, properties, members)


class SystemMachine(ModelMachine):
    """A state machine of a model with a system beside it."""

    new_driver: ClassVar[staticmethod[[], object]]
    outputs: ClassVar[Mapping[str, Output]]
    step_seconds: ClassVar[float | None]
    hung: ClassVar[dict[tuple[Move, ...], SystemHung]]

    def __init__(self) -> None:
        __tracebackhide__ = True
        super().__init__()
        self.pair = _Pair(self.walk, self.new_driver, self.outputs, self.step_seconds)
        self._alone = len(self.hung) >= _MOST_HANGS and not is_final()
        if len(self.stepper.model.program.initials) == 1:
            self._with_system(self.pair.compare_first)

    def begin_in(self, codes: Codes) -> None:
        """Begin the walk of the model, and the system, in an initial state."""
        __tracebackhide__ = True
        super().begin_in(codes)
        self.pair.walk = self.walk
        self._with_system(self.pair.compare_first)

    def take(self, action: str, parameters: Mapping[str, ParameterValue]) -> None:
        """Take a step of the model, then of the system."""
        __tracebackhide__ = True
        before = self.walk.codes
        super().take(action, parameters)
        self._with_system(partial(self.pair.step, before, action, parameters))

    def _with_system(self, work: Callable[[], None]) -> None:
        """Do work that calls the system; an exception of the system keeps its class, and has the steps as a note.

        Hypothesis may try steps after which a call hangs many times. Each costs the whole limit of time, so a hang is
        remembered, and after a few of them runs that are new are taken by the model alone.
        """
        __tracebackhide__ = True
        hung = self.hung.get(tuple(self.walk.moves)) if self.hung and not is_final() else None
        if hung is None and not self._alone:
            try:
                work()
            except SystemHung as error:
                hung = self.hung[tuple(self.walk.moves)] = error
            except SystemRaised as raised:
                own = raised.__cause__ or raised
                if is_final() and raised.trace is not None:
                    own.add_note(render_grid(raised.trace, self.stepper.model.grid))
                raise own from None
        if hung is not None:
            raise hung.with_traceback(None) from None

    def teardown(self) -> None:
        """End the run."""
        self._with_system(self.pair.close)
        if not self._alone and self.pair.is_blind and len(self.walk.moves) > 1:
            raise UserError(NOTHING_COMPARED.format(name=self.pair.name))


_MOST_HANGS = 3
"""After this number of runs that hang, new runs leave the system out, except for the last one of Hypothesis."""


def replay_against(
    file: str | Path,
    adapter: Adapter,
    *,
    outputs: Mapping[str, Output] | None = None,
    model: ModelLike | None = None,
    step_seconds: float | None = STEP_SECONDS,
) -> None:
    """Take the steps of a trace file on a system, beside the model, and compare as `model_based_test` does.

    Args:
        file: a trace file, of a disagreement or of a property that fails.
        adapter: as in `model_based_test`.
        outputs: as in `model_based_test`.
        model: the model; None is the one that the file names, if it comes with insync or its class has been imported.
        step_seconds: as in `model_based_test`.

    Raises:
        Disagreement: the system differs from the model.
        SystemRaised: a method of the adapter raised an exception, which is the `__cause__`.
        SystemHung: a method of the adapter did not return within the limit.
        UnnamedModel: the file names a Python file, and `model` is None; nothing was imported.
        UserError: the file is not a trace, or its steps are disabled in the model.
    """
    require_seconds(step_seconds)
    trace = read_trace(Path(file))
    if model is None:
        model = opened_kind(Naming(trace.model, "trace", str(file), Path(file)))
    built = model_of(model, trace.bounds)
    given = outputs_of(outputs)
    check_adapter(built, adapter, given)
    stepper = Stepper(built)
    start = first_codes(built, trace)
    if start is None:
        message = f"{file}: the first state is not an initial one; give the model of the trace."
        raise UserError(message)
    walk = Walk(stepper, start)
    pair = _Pair(walk, adapter, given, step_seconds)
    try:
        pair.compare_first()
        for step in trace.steps[1:]:
            number = built.program.action_number(step.action or "", dict(step.parameters))
            if number is None or number not in walk.enabled.get(step.action or "", ()):
                message = f"{file}: the step {step.label} is not enabled; give the model of the trace."
                raise UserError(message)
            before = walk.codes
            walk.step(number)
            pair.step(before, step.action or "", stepper.values(number))
    finally:
        pair.close()


class _Pair:
    """A system beside a walk through its model, made with its first call.

    Args:
        walk: the walk.
        adapter: makes the driver of the system.
        outputs: the expected output of each action whose method returns something.
        seconds: the limit of each call.

    Attributes:
        name: the name of the adapter.
    """

    def __init__(self, walk: Walk, adapter: Adapter, outputs: Mapping[str, Output], seconds: float | None) -> None:
        self.walk, self.name = walk, adapter_name(adapter)
        self._adapter, self._outputs, self._calls = adapter, outputs, CallThread(seconds)
        self._system: SideBySide | None = None

    @property
    def is_blind(self) -> bool:
        """Whether neither a field of the state nor an output could be compared so far."""
        return self._system is not None and not self._system.compared and not self._outputs

    def compare_first(self) -> None:
        """Make the system, and compare the initial state."""
        __tracebackhide__ = True
        model = self.walk.stepper.model
        several = len(model.program.initials) > 1

        def began() -> str | None:
            self._system = SideBySide(self._adapter, self._outputs, self._calls, model.state)
            return self._system.begin(model.decode(self.walk.codes), several=several)

        self._compared(began, " before the first step")

    def step(self, before: Codes, action: str, parameters: Mapping[str, ParameterValue]) -> None:
        """Take a step on the system that the model has taken, and compare."""
        __tracebackhide__ = True
        system, decode = self._system, self.walk.stepper.model.decode
        assert system is not None
        after = self.walk.codes
        self._compared(lambda: system.step(action, parameters, decode(before), decode(after)), " in the last step")

    def close(self) -> None:
        """End the run, unless a call hangs."""
        __tracebackhide__ = True
        try:
            if self._system is not None and not self._calls.left:
                self._compared(self._system.close, " at the end of the run")
        finally:
            self._calls.end()

    def _compared(self, work: Callable[[], str | None], when: str) -> None:
        """Raise an exception with the steps if the system differs, raises or hangs."""
        __tracebackhide__ = True
        try:
            found = work()
        except CallRaised as raised:
            said = str(raised.error).strip().partition("\n")[0].removesuffix(".")
            reason = f"{raised.name} raised {type(raised.error).__name__}{when}{said and ': '}{said}."
            raise self._failure(FailureKind.RAISED, reason) from raised.error
        except CallHung as hung:
            reason = f"{hung.name} did not return within {hung.seconds:g} seconds{when}."
            raise self._failure(FailureKind.HUNG, reason) from None
        if found is not None:
            number = self.walk.moves[-1][0]
            after = "In the initial state" if number is None else f"After `{self.walk.stepper.actions[number].label}`"
            raise self._failure(FailureKind.DIFFERENCE, f"{after} system and model disagree: {found}")

    def _failure(self, kind: FailureKind, reason: str) -> FailedSystem:
        """Return the exception of a failure. Only the one that Hypothesis shows last is saved, and has the grid."""
        model = self.walk.stepper.model
        trace = trace_of(model, AGREEMENT, self.walk.moves, reason)
        error, head = FAILURES[kind]
        if not is_final():
            return error(reason, trace)
        file = trace_directory() / f"{model.name}-{AGREEMENT}.json"
        write_trace(file, trace)
        first = head.format(adapter=self.name, model=model.name)
        return error(
            f"{first}\n\n{parted_text(model, self.name, self._outputs, trace, file, self._calls.seconds)}", trace, file
        )
