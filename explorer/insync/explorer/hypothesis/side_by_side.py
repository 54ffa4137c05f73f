"""A model and a system step by step: the adapter that drives the system, and where the two disagree."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence, Set

from insync.explorer.stepping.stepper import ParameterValue
from insync.model import Model, ReadableState
from insync.model.errors import UserError, closest

__all__ = ["Adapter", "Output", "SideBySide", "check_adapter"]

Adapter = Callable[[], object]
"""Makes what drives a fresh system, with a method per action of the model: a class, or a function without arguments."""

Output = Callable[..., object]
"""What a step must give back by the model: called with the readable states before and after, and the parameters."""

OBSERVE = "observe"
CLOSE = "close"
BEGIN = "begin"


class SideBySide:
    """One system beside one walk through the model.

    Args:
        adapter: makes what drives the system.
        outputs: for each action whose method returns something, what it must return.
    """

    def __init__(self, adapter: Adapter, outputs: Mapping[str, Output]) -> None:
        self.driver = adapter()
        self.outputs = outputs
        self.name = _name_of(adapter)

    def begin(self, state: ReadableState, *, several: bool) -> str | None:
        """Tell the system in which of several initial states it begins, and say where it shows something else."""
        if several:
            getattr(self.driver, BEGIN)(state)
        return self.difference(state)

    def difference(self, state: ReadableState) -> str | None:
        """Say where the system shows something else than the model's state; None where it shows the same."""
        observe = getattr(self.driver, OBSERVE, None)
        return None if observe is None else self._difference(observe(), state, "")

    def step(
        self, action: str, parameters: Mapping[str, ParameterValue], before: ReadableState, after: ReadableState
    ) -> str | None:
        """Take a step of the system that the model has taken, and say where the two disagree.

        Raises:
            UserError: the method returns something, and nothing says what the model's output is.
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
        """Let the adapter put the system away, if it has a method for it."""
        close = getattr(self.driver, CLOSE, None)
        if close is not None:
            close()

    def _difference(self, shown: object, right: object, path: str) -> str | None:
        """Compare what the system shows, which may be a part, with the model's value."""
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
    """Whether two values are equal; a set may stand for a list of members, a tuple for a list."""
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
    """Raise UserError unless an adapter has a method for every action, with its parameters, and shows something."""
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
    except ValueError:  # a builtin, which does not say what it takes
        return None
    return None


def _name_of(adapter: Adapter) -> str:
    return getattr(adapter, "__name__", None) or repr(adapter)
