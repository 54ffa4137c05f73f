"""Systems to be driven beside a model: the model itself, right or with a planted fault, and the example's log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from insync.explorer.stepping.stepper import Refused, Stepper
from insync.model import Model, ReadableState
from insync.model.catalogue import find_model
from insync.model.evaluator import Codes

__all__ = ["CopiesTwice", "ReplicatedLog", "Transition", "example", "system_of", "transitions_of"]

Transition = tuple[Codes, int]
"""A state, and the number of an action that is enabled there."""

EXAMPLE = Path(__file__).parents[2] / "examples" / "replicated_log.py"
ReplicatedLog = find_model(f"{EXAMPLE}:ReplicatedLog")
example = sys.modules[ReplicatedLog.__module__]


class CopiesTwice(example.FixedAdapter):  # type: ignore[name-defined,misc]
    """Gives b3 its second record twice if b2 has none: a difference after four steps with two records."""

    def copy(self, follower: str) -> None:
        logs = self.log.logs
        super().copy(follower)
        if follower == "b3" and len(logs["b3"]) == 2 and not logs["b2"]:
            logs["b3"].append(logs["b3"][-1])

    def observe(self) -> dict[str, object]:
        logs = {broker: [*log, *[None] * (2 - len(log))] for broker, log in self.log.logs.items()}
        return {"leader": self.log.leader, "log": logs, "committed": self.log.committed}


def transitions_of(model: Model) -> dict[Transition, Codes]:
    """Return every transition of a small model with the state that it leads to, by the evaluator."""
    stepper, found, waiting = Stepper(model), {}, list(model.program.initials)
    seen = set(waiting)
    while waiting:
        codes = waiting.pop()
        for number, after in stepper.outcomes(codes):
            assert not isinstance(after, Refused)
            found[codes, number] = after
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return found


def system_of(
    model: Model,
    altered: Mapping[Transition, Codes] | None = None,
    then: Callable[[Transition], None] = lambda transition: None,
) -> type:
    """Return an adapter whose system is the model itself.

    Args:
        model: the model.
        altered: transitions that lead elsewhere.
        then: called in each transition, before the system takes it.
    """
    stepper, elsewhere = Stepper(model), altered or {}
    numbers = {
        (action.name, tuple(stepper.values(number).items())): number
        for number, action in enumerate(model.program.actions)
    }

    class System:
        def __init__(self) -> None:
            self.codes = model.program.initials[0]

        def begin(self, state: ReadableState) -> None:
            self.codes = model.encode(state)

        def observe(self) -> ReadableState:
            return model.decode(self.codes)

        def note(self, transition: Transition) -> None:
            then(transition)

    def method(name: str) -> Callable[..., None]:
        names = next(
            tuple(key for key, _ in action.parameters) for action in model.program.actions if action.name == name
        )

        def take(self: Any, **given: Any) -> None:
            number = numbers[name, tuple((key, given[key]) for key in names)]
            transition = self.codes, number
            self.note(transition)
            self.codes = elsewhere.get(transition) or stepper.step(self.codes, number)

        return take

    for name in {action.name for action in model.program.actions}:
        setattr(System, name, method(name))
    return System
