"""Hypothesis state machines of models: a rule for each action, an invariant for each property, failures as traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.control import currently_in_test_context
from hypothesis.errors import InvalidArgument
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from insync.explorer.hypothesis.coverage import Guide
from insync.explorer.hypothesis.strategies import initial_states
from insync.explorer.stepping.stepper import (
    Claim,
    ParameterValue,
    PropertyLike,
    Refused,
    Stepper,
    Walk,
    claims_of,
    require_steps,
)
from insync.explorer.task import ModelLike, model_of
from insync.explorer.testing import PropertyViolated, describe, save, trace_directory
from insync.explorer.traces.trace import Trace, trace_of
from insync.model import Model
from insync.model.evaluator import Codes
from insync.properties.explain import explain_step
from insync.properties.invariants import TYPE_OK, Failure, StepInvariant
from insync.properties.registry import confined

__all__ = ["ModelMachine", "build_machine", "is_final", "state_machine"]

NOTHING_LEFT = "nothing_is_enabled"
"""The rule for states without enabled actions: Hypothesis rejects a machine with no rule that it can run."""

BEGINNING = "begin"
"""The rule that chooses among several initial states."""

_HYPOTHESIS_TAKES = frozenset({"self", "target", "targets"})
"""Names that Hypothesis forbids for parameters of rules."""

M = TypeVar("M", bound="ModelMachine")


def state_machine(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[PropertyLike] | None = None,
    within: Sequence[str] | None = None,
) -> type[RuleBasedStateMachine]:
    """Return a Hypothesis state machine of a model; its `TestCase` is a test for pytest or unittest.

    It has one rule for each action, which runs only where the action is enabled, with parameters that enable it, and
    one invariant for each property. Each run draws one of the initial states. Hypothesis shrinks a failing run; the
    result is shown as a trace grid and saved as a trace file.

    Args:
        model: a model class or instance, or a model's name.
        bounds: its bounds; those left out have their defaults.
        properties: names of properties, and functions of the readable state; None is the model's default. type_ok is
            always checked.
        within: names of invariants; a run ends in a state in which one fails, which is still checked. None is the
            default of the model's class.

    Raises:
        UserError: an unknown model, bound or property, or no action is enabled in an initial state.
    """
    built = confined(model_of(model, bounds), within)
    return build_machine(ModelMachine, built, properties, {})


def build_machine(
    base: type[M], model: Model, properties: Sequence[PropertyLike] | None, members: Mapping[str, object]
) -> type[M]:
    """Return a subclass of `base` for a model, with further members."""
    stepper, claims = Stepper(model), claims_of(model, properties)
    initials = model.program.initials
    require_steps(model, any(stepper.enabled(codes) for codes in initials))
    names = dict.fromkeys(action.name for action in model.program.actions)
    errors = {name: _error(name) for name in (*(claim.name for claim in claims), TYPE_OK)}
    parts: dict[str, object] = {"stepper": stepper, "errors": errors, "guide": Guide(stepper), **members}
    if len(initials) > 1:
        parts[_free(BEGINNING, base, parts)] = _beginning(model)
    for name in names:
        parts[_free(name, base, parts)] = _rule(name, _values(stepper, name))
    parts[_free(NOTHING_LEFT, base, parts)] = _nothing_left()
    for claim in claims:
        parts[_free(claim.name, base, parts)] = _invariant(claim)
    machine = cast("type[M]", type(f"{type(model).__name__}Machine", (base,), parts))
    # No explanation phase: it looks for lines of Python that only failing runs execute, and these are insync's own.
    phases = [phase for phase in settings().phases if phase is not Phase.explain]
    machine.TestCase.settings = settings(machine.TestCase.settings, phases=phases)
    return machine


class ModelMachine(RuleBasedStateMachine):
    """The base of the state machines of models: a walk, and the checks of properties."""

    stepper: ClassVar[Stepper]
    errors: ClassVar[Mapping[str, type[PropertyViolated]]]
    guide: ClassVar[Guide]

    def __init__(self) -> None:
        super().__init__()
        self.walk = Walk(self.stepper)
        self._chosen: dict[str, ParameterValue] = {}
        self._proved: set[str] = set()
        # Hypothesis's own strategy disables random rules for a whole run, and drops the run when no other rule is
        # enabled: half of all runs of a protocol, whose actions wait for one another.
        self._rules_strategy: Any = _enabled_rule(self, _rules(self))

    def begin_in(self, codes: Codes) -> None:
        """Begin the walk in an initial state."""
        __tracebackhide__ = True
        self.walk = Walk(self.stepper, codes)

    def options(self, action: str, parameter: str) -> list[ParameterValue]:
        """Return the values of a parameter that enable an action, given the parameters drawn before."""
        bindings = (self.stepper.values(number) for number in self.walk.enabled[action])
        return list(dict.fromkeys(b[parameter] for b in bindings if {**b, **self._chosen} == b))

    def choose(self, parameter: str, value: ParameterValue) -> ParameterValue:
        """Record the drawn value of a parameter, and return it."""
        self._chosen[parameter] = value
        return value

    def take(self, action: str, parameters: Mapping[str, ParameterValue]) -> None:
        """Take a step of the model."""
        __tracebackhide__ = True
        self._chosen, self._proved = {}, set()
        number = self.walk.number_of(action, parameters)
        before = self.walk.codes
        try:
            self.walk.step(number)
        except Refused as refused:
            raise self.violated(self._trace(TYPE_OK, refused.message, refused)) from None
        self.guide.coverage.add(before, number, self.walk.codes)

    def require(self, claim: Claim) -> None:
        """Raise PropertyViolated unless a claim holds in the current state of the walk."""
        __tracebackhide__ = True
        if claim.name in self._proved:
            return
        if claim.of_steps is not None:
            self._require_of_last_step(claim.name, claim.of_steps)
        elif not self.stepper.holds(claim, self.walk.codes):
            raise self.violated(self._trace(claim.name, claim.reason(self.walk.codes)))
        self._proved.add(claim.name)

    def _require_of_last_step(self, name: str, found: StepInvariant) -> None:
        """Raise PropertyViolated if the last step of the walk breaks an invariant of steps."""
        __tracebackhide__ = True
        if len(self.walk.moves) > 1:
            (_, before), (_, after) = self.walk.moves[-2:]
            failure = explain_step(self.stepper.model, found, before, after)
            if failure is not None:
                raise self.violated(self._trace(name, failure))

    def _trace(self, failing: str, reason: str | Failure, refused: Refused | None = None) -> Trace:
        return trace_of(self.stepper.model, failing, self.walk.moves, reason, refused)

    def violated(self, trace: Trace) -> PropertyViolated:
        """Return the error for a trace. Only the one that Hypothesis shows last is saved, and has the grid."""
        error = self.errors[trace.property]
        if not is_final():
            return error(f"{trace.property} fails.", trace)
        file = save(self.stepper.model, trace, trace_directory())
        model = self.stepper.model
        return error(f"{model.name}: {trace.property} violated\n\n{describe(model, trace, file)}", trace, file)


def _rules(machine: RuleBasedStateMachine) -> list[Any]:
    """Return the rules of a machine, those with fewer parameters first."""
    given: Any = machine.rules
    found = given() if callable(given) else given  # a method in the oldest supported Hypothesis
    return sorted(found, key=lambda one: (len(one.arguments), one.function.__name__))


@st.composite
def _enabled_rule(draw: st.DrawFn, machine: ModelMachine, rules: list[Any]) -> tuple[Any, dict[str, ParameterValue]]:
    """Draw a rule whose action is enabled, and its parameters."""

    def enabled(candidate: Any) -> bool:
        return all(holds(machine) for holds in candidate.preconditions)

    number = machine.guide.suggest(machine.walk.codes)
    if number is not None:
        names = [candidate.function.__name__ if enabled(candidate) else None for candidate in rules]
        machine.guide.choose(names.index(machine.stepper.actions[number].name))
    # A filter, not a list of the enabled rules: Hypothesis shrinks by leaving out earlier steps, and the drawn value
    # keeps its meaning then.
    chosen = draw(st.sampled_from(rules).filter(enabled))
    parameters = {name: draw(values) for name, values in chosen.arguments_strategies.items()}
    machine.guide.end_step()
    return chosen, parameters


def is_final() -> bool:
    """Return whether people see this run: Hypothesis's last one of a failure, or one outside Hypothesis."""
    if not currently_in_test_context():
        return True
    from hypothesis.control import current_build_context  # undocumented, so imported as late as possible

    try:
        return bool(current_build_context().is_final)
    except (InvalidArgument, AttributeError):
        return True


def _error(name: str) -> type[PropertyViolated]:
    """Return an error class for one property, as Hypothesis takes all failures of one class for the same failure."""
    members = {"__module__": PropertyViolated.__module__, "__doc__": f"{name} fails in a reachable state."}
    return type(PropertyViolated.__name__, (PropertyViolated,), members)


def _values(stepper: Stepper, action: str) -> dict[str, list[ParameterValue]]:
    """Return every value of each parameter of an action."""
    values: dict[str, dict[ParameterValue, None]] = {}
    for number, bound in enumerate(stepper.actions):
        if bound.name == action:
            for name, value in stepper.values(number).items():
                values.setdefault(name, {})[value] = None
    return {name: list(known) for name, known in values.items()}


def _free(name: str, base: type, taken: Iterable[str]) -> str:
    """Return an unused attribute name for a rule or an invariant."""
    own = {*dir(base), *vars(RuleBasedStateMachine).get("__annotations__", {}), "walk", "pair", *taken}
    while name in own:
        name += "_"
    return name


def _rule(action: str, values: Mapping[str, Sequence[ParameterValue]]) -> Callable[..., None]:
    names = {f"{name}_" if name in _HYPOTHESIS_TAKES else name: name for name in values}

    def step(self: ModelMachine, **given: ParameterValue) -> None:
        __tracebackhide__ = True
        self.take(action, {names.get(name, name): value for name, value in given.items()})

    step.__name__ = step.__qualname__ = action
    strategies: Any = {given: _drawn(action, name, values[name]) for given, name in names.items()}
    drawn: Callable[..., None] = rule(**strategies)(step)  # type: ignore[no-untyped-call]
    return precondition(lambda self: action in self.walk.enabled)(drawn)


def _drawn(action: str, parameter: str, values: Sequence[ParameterValue]) -> st.SearchStrategy[Any]:
    def enabling(machine: ModelMachine) -> st.SearchStrategy[ParameterValue]:
        options = machine.options(action, parameter)

        # Named functions, as Hypothesis prints filters and maps, and printing a partial takes longer than all else.
        def enables(value: ParameterValue) -> bool:
            return value in options

        def chosen(value: ParameterValue) -> ParameterValue:
            return machine.choose(parameter, value)

        machine.guide.choose_parameter(parameter, values)
        return st.sampled_from(values).filter(enables).map(chosen)

    return st.runner().flatmap(enabling)


def _beginning(model: Model) -> Callable[..., None]:
    def begin(self: ModelMachine, state: Codes) -> None:
        __tracebackhide__ = True
        self.begin_in(state)

    drawn: Callable[..., None] = initialize(state=initial_states(model))(begin)
    return drawn


def _nothing_left() -> Callable[..., None]:
    def nothing_is_enabled(self: ModelMachine) -> None:
        pass

    return precondition(lambda self: not self.walk.enabled)(rule()(nothing_is_enabled))


def _invariant(claim: Claim) -> Callable[..., None]:
    def holds(self: ModelMachine) -> None:
        __tracebackhide__ = True
        self.require(claim)

    holds.__name__ = holds.__qualname__ = claim.name
    return invariant()(holds)
