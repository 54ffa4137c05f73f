"""Adapters: the steps of a model taken on a user's system as well, and the comparison after each."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Protocol

from insync.explorer.stepping.stepper import ParameterValue
from insync.model import Model, ReadableState
from insync.model.domains import composite as d
from insync.runtime.errors import UserError, closest, shown

__all__ = [
    "CLOSE",
    "NOTHING_COMPARED",
    "OBSERVE",
    "Adapter",
    "Call",
    "Output",
    "SideBySide",
    "adapter_name",
    "check_adapter",
    "check_driver",
    "check_maker",
    "outputs_of",
]


Adapter = Callable[[], object]
"""Makes the driver of a fresh system, with a method for each action: a class, or a function without arguments."""

Output = Callable[..., object]
"""Returns the expected output of a step, from the readable states before and after, and the parameters."""

OBSERVE = "observe"
CLOSE = "close"
BEGIN = "begin"


NOTHING_COMPARED = (
    "Nothing of the state was compared: {name}.observe never showed a field. Return the fields that the system has."
)
"""What is said if `observe` returns empty dictionaries alone."""


class Call(Protocol):
    """Calls a user's system: `method` is `adapter()` or a method of the driver, and `name` its name in messages."""

    def __call__(self, name: str, method: Callable[..., object], /, *given: object, **parameters: object) -> object:
        """Return what the method returns."""


def _call(name: str, method: Callable[..., object], /, *given: object, **parameters: object) -> object:
    return method(*given, **parameters)


def outputs_of(given: Mapping[str, Output] | None) -> dict[str, Output]:
    """Return the expected outputs that a caller gives; raise UserError unless they are a dictionary."""
    if given is not None and not isinstance(given, Mapping):
        message = (
            f"outputs={shown(given)} is not a dictionary; give a function for each action whose method returns "
            f"something: {{'write': lambda before, after: ...}}."
        )
        raise UserError(message)
    return dict(given or {})


class SideBySide:
    """One system beside one walk through the model.

    Args:
        adapter: makes the driver of the system.
        outputs: the expected output of each action whose method returns something.
        call: calls the system; by default a plain call.
        state: the domain of the model's state; None if it is not known which fields are sequences.

    Attributes:
        compared: how often a field of the state was compared.
        name: the name of the adapter.
        called: the method that was called last, such as `LogAdapter.append`.
    """

    def __init__(
        self, adapter: Adapter, outputs: Mapping[str, Output], call: Call = _call, state: d.State | None = None
    ) -> None:
        self.outputs, self.name, self._call, self._state = outputs, adapter_name(adapter), call, state
        self.compared = 0
        self.called = f"{self.name}()"
        self.driver: Any = call(self.called, adapter)

    def begin(self, state: ReadableState, *, several: bool) -> str | None:
        """Pass the initial state to the system, if there are several, and compare as `difference` does."""
        if several:
            self.begin_in(state)
        return self.difference(state)

    def begin_in(self, state: ReadableState) -> None:
        """Pass the initial state to the system."""
        self._method(BEGIN, state)

    def difference(self, state: ReadableState) -> str | None:
        """Return how the system differs from the model's state, as a sentence; None if it does not.

        Raises:
            UserError: `observe` returns something else than fields of the state.
        """
        if not hasattr(self.driver, OBSERVE):
            return None
        observed = self._method(OBSERVE)
        if not isinstance(observed, Mapping):
            message = (
                f"{self.name}.{OBSERVE} returned {shown(observed)}; return a dictionary of fields of the model's "
                f"state: {', '.join(state)}, or some of them."
            )
            raise UserError(message)
        if self._state is not None:
            self._require_no_set(self._state, observed, "")
        self.compared += len(observed)
        return self._difference(observed, state, "")

    def step(
        self, action: str, parameters: Mapping[str, ParameterValue], before: ReadableState, after: ReadableState
    ) -> str | None:
        """Take a step on the system that the model has taken, and return how the two differ; None if they do not."""
        return self.output(action, parameters, before, after) or self.difference(after)

    def output(
        self, action: str, parameters: Mapping[str, ParameterValue], before: ReadableState, after: ReadableState
    ) -> str | None:
        """Take a step on the system, and return how its output differs from the model's; None if it does not.

        Raises:
            UserError: the method returns something, and `outputs` has no function for it; or that function raises.
        """
        returned = self._method(action, **parameters)
        if action in self.outputs:
            expected = self._expected(action, parameters, before, after)
            if not _same(returned, expected):
                return f"{action} returned {returned!r} in the system, and {expected!r} is right by the model."
        elif returned is not None:
            names = ", ".join(["before", "after", *parameters])
            message = (
                f"{self.name}.{action} returned {returned!r}, and nothing says what is right by the model. Give "
                f"outputs={{{action!r}: lambda {names}: ...}}, or return nothing."
            )
            raise UserError(message)
        return None

    def close(self) -> None:
        """Call the adapter's `close`, if it has one."""
        if hasattr(self.driver, CLOSE):
            self._method(CLOSE)

    def _method(self, name: str, /, *given: object, **parameters: object) -> object:
        self.called = f"{self.name}.{name}"
        return self._call(self.called, getattr(self.driver, name), *given, **parameters)

    def _expected(
        self, action: str, parameters: Mapping[str, ParameterValue], before: ReadableState, after: ReadableState
    ) -> object:
        """Return the expected output of a step."""
        try:
            return self.outputs[action](before, after, **parameters)
        except Exception as error:
            names = ", ".join(["before", "after", *parameters])
            message = (
                f"outputs[{action!r}] raised {type(error).__name__}: {error}. It is called as `({names})`, and returns "
                f"what the method of the adapter must return."
            )
            raise UserError(message) from error

    def _require_no_set(self, domain: d.Domain, shown: object, path: str) -> None:
        """Raise UserError if a set is shown for a sequence or a bag, whose order or doubled elements it would hide."""
        match domain:
            case d.Seq() | d.Bag():
                if isinstance(shown, Set):
                    what = "sequence" if isinstance(domain, d.Seq) else "bag"
                    message = (
                        f"{self.name}.{OBSERVE} shows a set for {path}, which is a {what} in the model. A set hides "
                        f"doubled elements and their order; return a list or a tuple."
                    )
                    raise UserError(message)
                for number, one in enumerate(shown if isinstance(shown, list | tuple) else ()):
                    self._require_no_set(domain.of, one, f"{path}[{number}]")
            case d.Record():
                for name, one in shown.items() if isinstance(shown, Mapping) else ():
                    if name in domain.fields:
                        self._require_no_set(domain.fields[name], one, f"{path}.{name}" if path else str(name))
            case d.Array():
                named = shown.items() if isinstance(shown, Mapping) else ()
                for name, one in named or enumerate(shown if isinstance(shown, list | tuple) else ()):
                    self._require_no_set(domain.of, one, f"{path}.{name}")
            case d.Option():
                self._require_no_set(domain.of, shown, path)
            case _:
                pass

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
        order = " Only the order differs: for a field that is a set, return a set." if _reordered(shown, right) else ""
        return f"{path or 'the state'} is {shown!r} in the system and {right!r} in the model.{order}"


def _reordered(shown: object, right: object) -> bool:
    """Return whether two lists without doubled elements have the same ones."""
    if not isinstance(shown, list | tuple) or not isinstance(right, list) or len(shown) != len(right):
        return False
    return all(sum(_same(one, other) for other in right) == 1 for one in shown)


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


# Whether an adapter fits a model.


def check_adapter(model: Model, adapter: Adapter, outputs: Mapping[str, Output]) -> None:
    """Raise UserError unless an adapter has a method for every action, with its parameters, and can be compared.

    A class is looked at; of a function one driver is made, and closed.
    """
    check_maker(adapter)
    if isinstance(adapter, type):
        check_driver(model, adapter, adapter_name(adapter), outputs)
        return
    pair = SideBySide(adapter, outputs)
    check_driver(model, pair.driver, pair.name, outputs)
    pair.close()


def check_maker(adapter: Adapter) -> None:
    """Raise UserError unless an adapter is a class, or a function, that can be called without arguments."""
    if not callable(adapter):
        message = f"{adapter!r} is not an adapter; give a class, or a function without arguments that makes one."
        raise UserError(message)
    try:
        inspect.signature(adapter).bind()
    except TypeError:
        name = adapter_name(adapter)
        message = (
            f"{name} is called without arguments for each new system, and needs some. Give a function that makes "
            f"one: adapter=lambda: {name}(...)."
        )
        raise UserError(message) from None
    except ValueError:  # a builtin without a signature
        pass


def check_driver(model: Model, driver: object, name: str, outputs: Mapping[str, Output]) -> None:
    """Raise UserError unless a driver, or a class of drivers, fits a model.

    Args:
        model: the model.
        driver: the driver, or its class.
        name: the name of the adapter.
        outputs: the expected output of each action whose method returns something.
    """
    actions = {action.name: [p for p, _ in action.parameters] for action in model.program.actions}
    several = len(model.program.initials)
    for own in (OBSERVE, CLOSE, *([BEGIN] if several > 1 else [])):
        if own in actions:
            message = f"{model.name} has an action {own!r}, which every adapter has for itself. Rename the action."
            raise UserError(message)
    wrong = [text for action, names in actions.items() if (text := _wrong_action(driver, action, names))]
    if wrong:
        message = f"{name} does not cover {model.name}: {'; '.join(wrong)}."
        raise UserError(message)
    if several > 1 and not callable(getattr(driver, BEGIN, None)):
        message = (
            f"{name} cannot begin in each of the {several} initial states of {model.name}; write "
            f"`def {BEGIN}(self, state)`, which receives the readable state."
        )
        raise UserError(message)
    for action, output in outputs.items():
        if action not in actions:
            message = f"outputs: {model.name} has no action {action!r}. {closest(action, actions)}"
            raise UserError(message)
        if not callable(output):
            names = ", ".join(["before", "after", *actions[action]])
            message = f"outputs[{action!r}] is {shown(output)}; give a function: lambda {names}: ..."
            raise UserError(message)
    if hasattr(driver, OBSERVE):
        return
    alike = difflib.get_close_matches(OBSERVE, [one for one in dir(driver) if one not in actions], 1)
    if alike:
        message = (
            f"{name} has a method {alike[0]!r} and no {OBSERVE!r}, so nothing of the state is compared. Rename it."
        )
        raise UserError(message)
    if not outputs:
        message = (
            f"{name} shows nothing that could be compared; write `def {OBSERVE}(self)`, which returns the fields of "
            f"{model.name} that the system has, or give outputs."
        )
        raise UserError(message)


def _wrong_action(driver: object, action: str, parameters: Sequence[str]) -> str | None:
    method = getattr(driver, action, None)
    wanted = f"def {action}({', '.join(['self', *parameters])})"
    if not callable(method):
        return f"it has no method for the action {action!r}, write `{wanted}`"
    if inspect.iscoroutinefunction(method):
        return f"its method for the action {action!r} is a coroutine, write `{wanted}` and run the coroutine in it"
    bound = not isinstance(driver, type) or isinstance(
        inspect.getattr_static(driver, action), staticmethod | classmethod
    )
    try:
        inspect.signature(method).bind(*([] if bound else [None]), **dict.fromkeys(parameters))
    except TypeError:
        return f"its method for the action {action!r} takes other parameters, write `{wanted}`"
    except ValueError:  # a builtin without a signature
        return None
    return None


def adapter_name(adapter: Adapter) -> str:
    """Return the name of an adapter in messages."""
    return getattr(adapter, "__name__", None) or repr(adapter)
