"""Runs that go on for ever, as a stem and a loop: verified with the evaluator, explained in words, made into traces.

A lasso is a sequence of moves and the place that its last state goes back to: the last state is that of this place
again, or the place is the last state itself, where the run then stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from insync.explorer.stepping.stepper import Move, Stepper
from insync.explorer.traces.counterexample import trace_of
from insync.explorer.traces.trace import Trace
from insync.model import Model
from insync.model.evaluator import Codes, evaluate
from insync.properties.temporal import Fairness, FairSet, Instance, RunProperty, fair_sets

__all__ = ["Lasso", "Verified", "lasso_trace", "verify", "witness_reason"]

_MOST_EXCUSES = 6


@dataclass(frozen=True, slots=True)
class Lasso:
    """A run that ends in a loop.

    Attributes:
        moves: the number of each action and the codes after it; the first is (None, initial state).
        loop: the place of the state that the last state is again.
    """

    moves: Sequence[Move]
    loop: int

    @property
    def stays(self) -> bool:
        """Whether the run stays in its last state."""
        return self.loop == len(self.moves) - 1

    @property
    def repeated(self) -> list[Codes]:
        """The states that occur again and again."""
        return [codes for _, codes in self.moves[self.loop :]]

    @property
    def taken(self) -> set[int]:
        """The actions that are taken again and again; a step that changes nothing is none."""
        pairs = zip(self.moves[self.loop :], self.moves[self.loop + 1 :], strict=False)
        return {number for (_, before), (number, after) in pairs if number is not None and before != after}


@dataclass(frozen=True, slots=True)
class Verified:
    """What the evaluator says of a lasso.

    Attributes:
        fault: why it is not a counterexample; None if it is one.
        reason: why it is one.
    """

    fault: str | None
    reason: str = ""


def verify(model: Model, found: RunProperty, fairness: Fairness, lasso: Lasso) -> Verified:
    """Say whether a lasso whose steps are real is a fair run that breaks a property.

    Args:
        model: the model.
        found: an `eventually` or `leads_to` property.
        fairness: what is taken for granted.
        lasso: the run.
    """
    if lasso.moves[lasso.loop][1] != lasso.moves[-1][1]:
        return Verified(f"the last state is not that of step {lasso.loop}, so the loop does not close.")
    stepper, excuses = Stepper(model), []
    for obligation in fair_sets(model, fairness):
        excuse = _excuse(stepper, obligation, lasso)
        if excuse is None:
            strength = "strong" if obligation.strong else "weak"
            return Verified(f"the loop is not fair: it neglects {obligation.name}, whose fairness is {strength}.")
        excuses.append(excuse)
    for instance in found.instances(model):
        due = _due(instance, lasso)
        if due is not None:
            return Verified(None, _reason(found, instance, due, lasso, [text for text in excuses if text]))
    return Verified(f"{found.name} holds in this run.")


def _excuse(stepper: Stepper, obligation: FairSet, lasso: Lasso) -> str | None:
    """Say how the loop meets an obligation of fairness; empty where there is nothing to say, None where it does not."""
    if obligation.numbers & lasso.taken:
        return ""
    idle = [not _enabled(stepper, obligation, codes) for codes in lasso.repeated]
    if all(idle):
        return ""
    if obligation.strong or not any(idle):
        return None
    return f"{obligation.name} is not enabled after step {lasso.loop + idle.index(True)}"


def _enabled(stepper: Stepper, obligation: FairSet, codes: Codes) -> bool:
    """Whether an action of the obligation is enabled and changes something."""
    return any(stepper.attempt(codes, number) not in (codes, None) for number in obligation.numbers)


def _due(instance: Instance, lasso: Lasso) -> int | None:
    """Return the place from which on what must come is due and never comes; None if there is none."""
    if any(evaluate(instance.then, codes) for codes in lasso.repeated):
        return None
    states = [codes for _, codes in lasso.moves]
    done = [place for place, codes in enumerate(states) if evaluate(instance.then, codes)]
    after = done[-1] + 1 if done else 0
    if instance.when is None:
        return 0 if not done else None
    return next((at for at in range(after, len(states)) if evaluate(instance.when, states[at])), None)


def _reason(found: RunProperty, instance: Instance, due: int, lasso: Lasso, excuses: Sequence[str]) -> str:
    where = f" for {instance}" if instance.bindings else ""
    start = "from the start" if due == 0 else f"after step {due}"
    if lasso.stays:
        after = "the start" if lasso.loop == 0 else f"step {lasso.loop}"
        rest = f"but after {after} the run stays as it is for ever; no action that is fair is enabled there."
    else:
        first, last = lasso.loop + 1, len(lasso.moves) - 1
        joined = "and" if last == first + 1 else "to"
        steps = f"step {first} repeats" if first == last else f"the steps {first} {joined} {last} repeat"
        rest = f"but {steps} for ever without it."
    text = f"{found.name}{where} is due {start}, {rest}"
    if excuses and not lasso.stays:
        shown = "; ".join(excuses[:_MOST_EXCUSES])
        text += f" The loop is fair: {shown}{'; ...' if len(excuses) > _MOST_EXCUSES else ''}."
    return text


def witness_reason(model: Model, found: RunProperty, codes: Codes) -> str | None:
    """Say that a state is one that a `sometimes` property asks for; None if it is not."""
    instance = next((one for one in found.instances(model) if evaluate(one.then, codes)), None)
    if instance is None:
        return None
    where = f" for {instance}" if instance.bindings else ""
    return f"{found.name} is reached{where}: {found.sentence}"


def lasso_trace(model: Model, found: RunProperty, fairness: Fairness, lasso: Lasso, reason: str) -> Trace:
    """Return a lasso as the trace of a property that it breaks."""
    return replace(trace_of(model, found.name, lasso.moves, reason), loop=lasso.loop, fairness=fairness)
