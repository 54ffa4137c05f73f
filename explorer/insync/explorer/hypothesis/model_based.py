"""Model-based tests: Hypothesis drives a model and a system side by side, and compares their states and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NoReturn

from hypothesis.stateful import RuleBasedStateMachine

from insync.explorer.hypothesis.state_machines import ModelMachine, build_machine, is_final
from insync.explorer.named_model import Naming, opened_kind
from insync.explorer.stepping.stepper import ParameterValue, PropertyLike, Stepper, Walk
from insync.explorer.systems.adapter import Adapter, Output, SideBySide, check_adapter
from insync.explorer.task import ModelLike, model_of
from insync.explorer.testing import trace_directory
from insync.explorer.testing_systems import Disagreement, parted_text
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

    Raises:
        UserError: an adapter that lacks an action or has nothing to compare, and all that `state_machine` raises.
    """
    built, given = confined(model_of(model, bounds), within), dict(outputs or {})
    check_adapter(built, adapter, given)
    return build_machine(SystemMachine, built, properties, {"new_driver": staticmethod(adapter), "outputs": given})


class SystemMachine(ModelMachine):
    """A state machine of a model with a system beside it."""

    new_driver: ClassVar[staticmethod[[], object]]
    outputs: ClassVar[Mapping[str, Output]]

    def __init__(self) -> None:
        super().__init__()
        self.pair = SideBySide(self.new_driver, self.outputs)
        if len(self.stepper.model.program.initials) == 1:
            _compare_first(self.walk, self.pair)

    def begin_in(self, codes: Codes) -> None:
        """Begin the walk of the model, and the system, in an initial state."""
        __tracebackhide__ = True
        super().begin_in(codes)
        _compare_first(self.walk, self.pair)

    def take(self, action: str, parameters: Mapping[str, ParameterValue]) -> None:
        """Take a step of the model, then of the system."""
        __tracebackhide__ = True
        before = self.walk.codes
        super().take(action, parameters)
        _step_system(self.pair, self.walk, before, action, parameters)

    def teardown(self) -> None:
        """End the run."""
        self.pair.close()


def replay_against(
    file: str | Path,
    adapter: Adapter,
    *,
    outputs: Mapping[str, Output] | None = None,
    model: ModelLike | None = None,
) -> None:
    """Take the steps of a trace file on a system, beside the model, and compare as `model_based_test` does.

    Args:
        file: a trace file, of a disagreement or of a property that fails.
        adapter: as in `model_based_test`.
        outputs: as in `model_based_test`.
        model: the model; None is the one that the file names, if it comes with insync or its class has been imported.

    Raises:
        Disagreement: the system differs from the model.
        UnnamedModel: the file names a Python file, and `model` is None; nothing was imported.
        UserError: the file is not a trace, or its steps are disabled in the model.
    """
    trace = read_trace(Path(file))
    if model is None:
        model = opened_kind(Naming(trace.model, "trace", str(file), Path(file)))
    built = model_of(model, trace.bounds)
    check_adapter(built, adapter, outputs or {})
    stepper = Stepper(built)
    start = first_codes(built, trace)
    if start is None:
        message = f"{file}: the first state is not an initial one; give the model of the trace."
        raise UserError(message)
    walk, pair = Walk(stepper, start), SideBySide(adapter, outputs or {})
    try:
        _compare_first(walk, pair)
        for step in trace.steps[1:]:
            number = built.program.action_number(step.action or "", dict(step.parameters))
            if number is None or number not in walk.enabled.get(step.action or "", ()):
                message = f"{file}: the step {step.label} is not enabled; give the model of the trace."
                raise UserError(message)
            before = walk.codes
            walk.step(number)
            _step_system(pair, walk, before, step.action or "", stepper.values(number))
    finally:
        pair.close()


def _compare_first(walk: Walk, pair: SideBySide) -> None:
    __tracebackhide__ = True
    model = walk.stepper.model
    found = pair.begin(model.decode(walk.codes), several=len(model.program.initials) > 1)
    if found is not None:
        _disagree(walk, found, pair)


def _step_system(
    pair: SideBySide, walk: Walk, before: tuple[int, ...], action: str, parameters: Mapping[str, ParameterValue]
) -> None:
    __tracebackhide__ = True
    model = walk.stepper.model
    try:
        found = pair.step(action, parameters, model.decode(before), model.decode(walk.codes))
    except UserError:
        raise
    except Exception as error:
        if is_final():
            reason = f"{pair.called} raised {type(error).__name__} in the last step."
            trace = trace_of(model, AGREEMENT, walk.moves, reason)
            error.add_note(render_grid(trace, model.grid))
        raise
    if found is not None:
        _disagree(walk, found, pair)


def _disagree(walk: Walk, found: str, pair: SideBySide) -> NoReturn:
    """Raise Disagreement. Only the one that Hypothesis shows last is saved, and has the grid."""
    __tracebackhide__ = True
    number = walk.moves[-1][0]
    when = "In the initial state" if number is None else f"After `{walk.stepper.actions[number].label}`"
    model = walk.stepper.model
    trace = trace_of(model, AGREEMENT, walk.moves, f"{when} system and model disagree: {found}")
    if not is_final():
        raise Disagreement(trace.reason, trace)
    file = trace_directory() / f"{model.name}-{AGREEMENT}.json"
    write_trace(file, trace)
    message = f"{pair.name} and {model.name} disagree\n\n{parted_text(model, pair.name, pair.outputs, trace, file)}"
    raise Disagreement(message, trace, file)
