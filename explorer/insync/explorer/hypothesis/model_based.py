"""Model-based tests: Hypothesis drives a model and a system side by side, and compares their states and outputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import ClassVar, NoReturn

from hypothesis.stateful import RuleBasedStateMachine

from insync.explorer.hypothesis.state_machines import ModelMachine, build_machine, is_final
from insync.explorer.named_model import Naming, is_in_file, opened_kind
from insync.explorer.stepping.stepper import ParameterValue, PropertyLike, Stepper, Walk
from insync.explorer.task import ModelLike, model_of
from insync.explorer.testing import FailedTest, trace_directory
from insync.explorer.traces.counterexample import first_codes, trace_of
from insync.explorer.traces.grid import render_grid
from insync.explorer.traces.trace import AGREEMENT, Trace
from insync.explorer.traces.trace_file import read_trace, write_trace
from insync.model import Model, ReadableState
from insync.model.evaluator import Codes
from insync.properties.registry import confined
from insync.runtime.errors import UserError, closest

__all__ = [
    "Adapter",
    "Disagreement",
    "Output",
    "SideBySide",
    "check_adapter",
    "model_based_test",
    "replay_against",
]


class Disagreement(FailedTest):
    """A system differs from its model after the same steps.

    Attributes:
        trace: the steps, with the states of the model.
        file: the trace file; None if the trace was not saved.
    """

    def __init__(self, message: str, trace: Trace | None = None, file: Path | None = None) -> None:
        super().__init__(message)
        self.trace, self.file = trace, file


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
        message = f"{file}: the first state is not an initial one; the model is not the one of the trace."
        raise UserError(message)
    walk, pair = Walk(stepper, start), SideBySide(adapter, outputs or {})
    try:
        _compare_first(walk, pair)
        for step in trace.steps[1:]:
            number = built.program.action_number(step.action or "", dict(step.parameters))
            if number is None or number not in walk.enabled.get(step.action or "", ()):
                message = f"{file}: the step {step.label} is not enabled; the model is not the one of the trace."
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
        _disagree(walk, found, pair.name)


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
            reason = f"{pair.name}.{action} raised {type(error).__name__} in the last step."
            trace = trace_of(model, AGREEMENT, walk.moves, reason)
            error.add_note(render_grid(trace, model.grid))
        raise
    if found is not None:
        _disagree(walk, found, pair.name)


def _disagree(walk: Walk, found: str, adapter: str) -> NoReturn:
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
    named = "" if not is_in_file(trace.model) else f", model={type(model).__name__}"
    again = f"Trace: {file}\nAgain: replay_against({str(file)!r}, {adapter}{named})"
    message = f"{adapter} and {model.name} disagree\n\n{render_grid(trace, model.grid)}\n{again}"
    raise Disagreement(message, trace, file)


# The adapter, and its comparison with the model step by step.


Adapter = Callable[[], object]
"""Makes the driver of a fresh system, with a method for each action: a class, or a function without arguments."""

Output = Callable[..., object]
"""Returns the expected output of a step, from the readable states before and after, and the parameters."""

OBSERVE = "observe"
CLOSE = "close"
BEGIN = "begin"


class SideBySide:
    """One system beside one walk through the model.

    Args:
        adapter: makes the driver of the system.
        outputs: the expected output of each action whose method returns something.
    """

    def __init__(self, adapter: Adapter, outputs: Mapping[str, Output]) -> None:
        self.driver = adapter()
        self.outputs = outputs
        self.name = _name_of(adapter)

    def begin(self, state: ReadableState, *, several: bool) -> str | None:
        """Pass the initial state to the system, if there are several, and compare as `difference` does."""
        if several:
            getattr(self.driver, BEGIN)(state)
        return self.difference(state)

    def difference(self, state: ReadableState) -> str | None:
        """Return how the system differs from the model's state, as a sentence; None if it does not."""
        observe = getattr(self.driver, OBSERVE, None)
        return None if observe is None else self._difference(observe(), state, "")

    def step(
        self, action: str, parameters: Mapping[str, ParameterValue], before: ReadableState, after: ReadableState
    ) -> str | None:
        """Take a step on the system that the model has taken, and return how the two differ; None if they do not.

        Raises:
            UserError: the method returns something, and `outputs` has no function for it.
        """
        returned = getattr(self.driver, action)(**parameters)
        output = self.outputs.get(action)
        if output is not None:
            expected = output(before, after, **parameters)
            if not _same(returned, expected):
                return f"{action} returned {returned!r} in the system, and {expected!r} is right by the model."
        elif returned is not None:
            names = ", ".join(["before", "after", *parameters])
            message = (
                f"{self.name}.{action} returned {returned!r}, and nothing says what is right by the model. Give "
                f"outputs={{{action!r}: lambda {names}: ...}}, or return nothing."
            )
            raise UserError(message)
        return self.difference(after)

    def close(self) -> None:
        """Call the adapter's `close`, if it has one."""
        close = getattr(self.driver, CLOSE, None)
        if close is not None:
            close()

    def _difference(self, shown: object, right: object, path: str) -> str | None:
        """Compare an observed value, which may have a part of the fields, with the model's."""
        if isinstance(shown, Mapping) and isinstance(right, Mapping):
            for name, value in shown.items():
                if name not in right:
                    where = f"the field {path}" if path else "the model's state"
                    hint = closest(str(name), map(str, right))
                    message = f"{self.name}.{OBSERVE} shows {name!r}, which {where} does not have. {hint}"
                    raise UserError(message)
                found = self._difference(value, right[name], f"{path}.{name}" if path else str(name))
                if found is not None:
                    return found
            return None
        if _same(shown, right):
            return None
        return f"{path or 'the state'} is {shown!r} in the system and {right!r} in the model."


def _same(shown: object, right: object) -> bool:
    """Return whether two values are equal; a set equals a list of its members, and a tuple a list."""
    if isinstance(shown, Set) and isinstance(right, list):
        return len(shown) == len(right) and all(member in shown for member in right)
    if isinstance(shown, list | tuple) and isinstance(right, list | tuple):
        return len(shown) == len(right) and all(map(_same, shown, right))
    if isinstance(shown, Mapping) and isinstance(right, Mapping):
        return shown.keys() == right.keys() and all(_same(value, right[name]) for name, value in shown.items())
    if isinstance(shown, bool) != isinstance(right, bool):
        return False
    return bool(shown == right)


def check_adapter(model: Model, adapter: Adapter, outputs: Mapping[str, Output]) -> None:
    """Raise UserError unless an adapter has a method for every action, with its parameters, and can be compared."""
    name = _name_of(adapter)
    if not callable(adapter):
        message = f"{adapter!r} is not an adapter; give a class, or a function without arguments that makes one."
        raise UserError(message)
    driver = adapter if isinstance(adapter, type) else adapter()
    actions = {action.name: [p for p, _ in action.parameters] for action in model.program.actions}
    wrong = [text for action, names in actions.items() if (text := _wrong_method(driver, action, names))]
    if wrong:
        message = f"{name} does not cover {model.name}: {'; '.join(wrong)}."
        raise UserError(message)
    several = len(model.program.initials)
    if several > 1 and not callable(getattr(driver, BEGIN, None)):
        message = (
            f"{name} cannot begin in each of the {several} initial states of {model.name}; write "
            f"`def {BEGIN}(self, state)`, which is told the readable state."
        )
        raise UserError(message)
    for action in outputs:
        if action not in actions:
            message = f"outputs: {model.name} has no action {action!r}. {closest(action, actions)}"
            raise UserError(message)
    if not outputs and not hasattr(driver, OBSERVE):
        message = (
            f"{name} shows nothing that could be compared; write `def {OBSERVE}(self)`, which returns the fields of "
            f"{model.name} that the system knows, or give outputs."
        )
        raise UserError(message)
    if not isinstance(adapter, type):
        getattr(driver, CLOSE, lambda: None)()


def _wrong_method(driver: object, action: str, parameters: Sequence[str]) -> str | None:
    method = getattr(driver, action, None)
    wanted = f"def {action}({', '.join(['self', *parameters])})"
    if not callable(method):
        return f"it has no method for the action {action!r}, write `{wanted}`"
    given = dict.fromkeys(parameters)
    try:
        signature = inspect.signature(method)
        signature.bind(*([None] if isinstance(driver, type) else []), **given)
    except TypeError:
        return f"its method for the action {action!r} takes other parameters, write `{wanted}`"
    except ValueError:  # a builtin without a signature
        return None
    return None


def _name_of(adapter: Adapter) -> str:
    return getattr(adapter, "__name__", None) or repr(adapter)
