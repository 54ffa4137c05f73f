"""What a step says of itself: its label, what must be done, fail, be late or race for it, and how it is drawn.

`step` is `action` of the modelling language with these words beside the label. They are read off the trace afterwards,
so they cost nothing while a model is traced or searched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from insync.kafka.cluster.features import Features, When, always
from insync.model import Arrow, Demand, Drawn, Hardness, Mark, MarkKind, Taken, action

__all__ = [
    "CLIENTS",
    "CONTROLLER",
    "Coded",
    "Drawing",
    "Moment",
    "Needs",
    "Never",
    "StepWords",
    "Takes",
    "accepts_isr",
    "arrow",
    "asks_for_isr",
    "delay",
    "exchange",
    "failure",
    "isr_in_words",
    "mark",
    "nothing",
    "of_controller",
    "operation",
    "race",
    "reply",
    "step",
    "steps_off",
    "upto_place",
    "what_came",
    "words_of",
]

CONTROLLER, CLIENTS = "controller", "clients"
"""Lifelines and columns."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Moment:
    """A step that was taken, as it is explained and drawn.

    Attributes:
        steps: all steps up to it, the initial state first.
    """

    steps: Sequence[Taken]

    @property
    def given(self) -> Mapping[str, str]:
        """The values of the step's parameters, by name."""
        return self.steps[-1].parameters

    @property
    def before(self) -> dict[str, Any]:
        """The state before the step."""
        return self.steps[-2].state

    @property
    def after(self) -> dict[str, Any]:
        """The state after it."""
        return self.steps[-1].state

    @property
    def number(self) -> int:
        """The number of the step."""
        return len(self.steps) - 1

    def was(self, parameter: str) -> dict[str, Any]:
        """Return the broker that a parameter names, as it was before the step."""
        found: dict[str, Any] = self.before["broker"][self.given[parameter]]
        return found

    def now(self, parameter: str) -> dict[str, Any]:
        """Return the broker that a parameter names, as it is after the step."""
        found: dict[str, Any] = self.after["broker"][self.given[parameter]]
        return found


Needs = Callable[[Moment], Demand | None]
"""Returns what a step takes to happen; None where asynchronous messages bring it about by themselves."""

Drawing = Callable[[Moment], Sequence[Drawn]]
"""Returns the arrows and marks of a step."""


@dataclass(frozen=True, slots=True)
class Never:
    """Why a step cannot be brought about on Kafka.

    Attributes:
        reason: why, as a clause without a full stop; empty if nobody has written down how it could.
    """

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Coded:
    """A step that is brought about on Kafka, by code of that name in `insync.conformance`.

    Attributes:
        how: what is done to Kafka, with its methods in backticks; a clause without a full stop.
    """

    how: str


@dataclass(frozen=True, slots=True)
class StepWords:
    """What a step says of itself.

    Attributes:
        needs: what it takes.
        drawn: how it is drawn; None for its label as a mark at whom the step names first.
        classes: how Kafka's own classes are made to take it, or why they are not.
        brokers: how running brokers are made to take it, or why they are not.
        on: what it depends on.
        by_view: whether a broker takes it by what it believes of the partition.
    """

    needs: Needs | None = None
    drawn: Drawing | None = None
    classes: Coded | Never = Never()  # nobody has written down how
    brokers: Coded | Never = Never()
    on: When = always
    by_view: bool = False


_WORDS = "__insync_step_words__"
_UNKNOWN = Never()


def step(
    label: str,
    *,
    needs: Needs | None = None,
    drawn: Drawing | None = None,
    classes: Coded | Never = _UNKNOWN,
    brokers: Coded | Never = _UNKNOWN,
    never: Never | None = None,
    on: When = always,
    by_view: bool = False,
) -> Callable[[F], F]:
    """Mark a method of a part as a step.

    Args:
        label: the step in protocol words, with its parameters in braces.
        needs: what it takes to happen.
        drawn: how it is drawn.
        classes: how Kafka's own classes are made to take it, or why they are not.
        brokers: how running brokers are made to take it, or why they are not.
        never: why no release takes it any more whose classes or brokers can be run.
        on: what it depends on; a cluster in which that is not in force has no such step.
        by_view: whether a broker takes it by what it believes of the partition, which may be late.
    """

    def mark_step(function: F) -> F:
        setattr(function, _WORDS, StepWords(needs, drawn, never or classes, never or brokers, on, by_view))
        return action(label=label)(function)

    return mark_step


class _UpToPlace(str):
    """The label of a step whose parameter `place` says how many registrations are newer than what it is about."""

    newest: str
    __slots__ = ("newest",)

    def format(self, *args: object, **given: object) -> str:
        return str.format(self.newest if given.get("place") == "0" else self, *args, **given)


def upto_place(label: str, older: str = " but the last {place}") -> str:
    """Return a label that has more words where the parameter `place` is not 0, the newest registration.

    Args:
        label: the step as it is about the newest registration.
        older: the words that are added where others are newer.
    """
    words = _UpToPlace(label + older)
    words.newest = label
    return words


@cache
def _steps_of(part: type) -> tuple[tuple[str, When], ...]:
    """The steps of a part, each with what it depends on."""
    every = {name: one for kind in reversed(part.__mro__) for name, one in vars(kind).items()}
    return tuple((name, getattr(one, _WORDS).on) for name, one in every.items() if hasattr(one, _WORDS))


def steps_off(part: type, features: Features) -> list[str]:
    """Return the steps of a part that a cluster does not have, as what they depend on is not in force."""
    return [name for name, on in _steps_of(part) if not on(features)]


def words_of(model: type, name: str) -> StepWords:
    """Return what a step of a model says of itself; nothing of one that is marked by `action` alone."""
    found: StepWords = getattr(getattr(model, name, None), _WORDS, StepWords())
    return found


@dataclass(frozen=True, slots=True)
class Takes:
    """What a step always takes, in the same words.

    Attributes:
        hardness: how hard it is to bring about.
        text: the event, with parameters in braces.
    """

    hardness: Hardness
    text: str

    def __call__(self, moment: Moment) -> Demand:
        return Demand(moment.number, self.hardness, self.text.format(**moment.given))


def operation(text: str) -> Needs:
    """Say what operators do; the text may name parameters in braces."""
    return Takes(Hardness.OPERATION, text)


def failure(text: str) -> Needs:
    """Say what fails."""
    return Takes(Hardness.FAILURE, text)


def delay(text: str) -> Needs:
    """Say what is late."""
    return Takes(Hardness.DELAY, text)


def race(text: str) -> Needs:
    """Say what races inside one method of Kafka."""
    return Takes(Hardness.RACE, text)


def mark(parameter: str, text: str, kind: MarkKind = MarkKind.NOTE) -> Drawing:
    """Draw a mark at the broker that a parameter names; the text may name parameters in braces."""
    return lambda moment: [Mark(moment.given[parameter], text.format(**moment.given), kind)]


def of_controller(text: str, kind: MarkKind = MarkKind.NOTE) -> Drawing:
    """Draw a mark at the controller."""
    return lambda _: [Mark(CONTROLLER, text, kind)]


def arrow(sender: str, receiver: str, text: str) -> Drawing:
    """Draw an arrow; sender, receiver and text may name parameters in braces."""

    def drawing(moment: Moment) -> Sequence[Drawn]:
        from_, to, said = (one.format(**moment.given) for one in (sender, receiver, text))
        return [Arrow(from_, to, said)]

    return drawing


def reply(sender: str, receiver: str, said: Callable[[Moment], str]) -> Drawing:
    """Draw a response between two brokers, by the parameters that name them."""
    return lambda moment: [Arrow(moment.given[sender], moment.given[receiver], said(moment), reply=True)]


def exchange(asker: str, asked: str, question: str, said: Callable[[Moment], str]) -> Drawing:
    """Draw a question and the response to it, by the parameters that name the brokers."""

    def drawing(moment: Moment) -> Sequence[Drawn]:
        one, other = moment.given[asker], moment.given[asked]
        return [Arrow(one, other, question), Arrow(other, one, said(moment), reply=True)]

    return drawing


def nothing(moment: Moment) -> Sequence[Drawn]:
    """Draw nothing: what the controller has decided says it."""
    return []


def what_came(moment: Moment) -> str:
    """Return what a response has changed at the follower: records, where its log was cut, its high watermark."""
    old, new = moment.was("follower"), moment.now("follower")
    if new["leo"] < old["leo"]:
        return f"cut to {new['leo']}"
    records = [f"{record}@{moment.after['epoch_of'][record]}" for record in new["log"][old["leo"] : new["leo"]]]
    if records:
        return " ".join(records)
    return f"HW {new['hw']}" if new["hw"] != old["hw"] else "nothing new"


def asks_for_isr(moment: Moment) -> Sequence[Drawn]:
    """Draw the request for the ISR that a leader has proposed."""
    return [Arrow(moment.given["leader"], CONTROLLER, isr_in_words(moment.now("leader")["pending_isr"]))]


def accepts_isr(moment: Moment) -> Sequence[Drawn]:
    """Draw that the controller has accepted an ISR."""
    return [Mark(CONTROLLER, f"accepts {isr_in_words(moment.after['registrations'][0]['isr'])}")]


def isr_in_words(members: Sequence[str]) -> str:
    """Return an ISR as drawings have it."""
    return f"ISR {' '.join(members) or 'empty'}"
