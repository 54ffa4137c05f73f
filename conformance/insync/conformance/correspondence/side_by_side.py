"""A model and Kafka side by side: each step is taken on both, and both are compared after it."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from typing import Generic, TypeVar

from insync.conformance.correspondence.correspondence import Correspondence, Named
from insync.conformance.correspondence.facts import Difference
from insync.conformance.correspondence.known_differences import NotSchedulable, Step, Thrown, Unlike
from insync.explorer.stepping.stepper import Move, Stepper, Walk
from insync.explorer.traces.trace import TraceStep, trace_step
from insync.model import ReadableState
from insync.model.evaluator import Codes
from insync.runtime.errors import GuardError

__all__ = ["SideBySide"]

CorrespondenceT_co = TypeVar("CorrespondenceT_co", bound=Correspondence, covariant=True)


class SideBySide(Generic[CorrespondenceT_co]):
    """A model and Kafka, which are in the same state until they differ.

    Args:
        stepper: of the model.
        correspondence: how it corresponds to Kafka.
        start: the initial state; None is the first.

    Attributes:
        correspondence: how the model corresponds to Kafka.
        walk: of the model.
        taken: the steps so far, with the model's states; the first is the start.
        own: the numbers of the steps that Kafka took by itself.
        ahead: what Kafka has taken by itself, as actions with their parameters.
        compared: how many facts were compared after the last step.
        spoilt: whether Kafka has got commands of a step that turned out not to be schedulable.
    """

    def __init__(self, stepper: Stepper, correspondence: CorrespondenceT_co, start: Codes | None = None) -> None:
        self.correspondence: CorrespondenceT_co = correspondence
        self.walk = Walk(stepper, start)
        self.taken: list[TraceStep] = [trace_step(stepper.model, self.walk.moves[-1])]
        self.own: list[int] = []
        self.ahead: list[Named] = []
        self.compared, self.spoilt = 0, False
        self._last: tuple[Codes, ReadableState] | None = None

    @property
    def always(self) -> Collection[str]:
        """The actions without which little happens."""
        return self.correspondence.always

    @property
    def moves(self) -> list[Move]:
        """The moves of the model so far."""
        return self.walk.moves

    def open(self) -> list[Difference]:
        """Start Kafka, and return on what both differ at the start."""
        self.correspondence.open()
        self._follow()
        return self.differences()

    def take(self, number: int) -> list[Difference]:
        """Take an enabled action on both, and return on what they differ after it.

        Raises:
            NotSchedulable: it cannot be brought about on Kafka, and the model has not taken it either; or Kafka throws
                after it, and the model has an illegal state.
        """
        action = self.walk.stepper.actions[number]
        after = self._readable(self.walk.stepper.step(self.walk.codes, number))
        step = Step(action.name, action.shown_parameters, self.taken[-1].state, after)
        try:
            self.correspondence.take(step)
        except Unlike as unlike:
            self._step(number)
            return [Difference(unlike.what, unlike.model, unlike.kafka)]
        except Thrown:
            self._step(number)
            self.spoilt = True
            raise
        except NotSchedulable:
            self.spoilt = self.correspondence.given > 0
            raise
        return self._beside(number, step)

    def kafka_state(self) -> ReadableState:
        """Return the state as Kafka has it."""
        return self.correspondence.kafka_state(self.taken[-1].state)

    def differences(self) -> list[Difference]:
        """Return the facts that differ."""
        self.compared, found = self.correspondence.compare(self.taken[-1].state)
        return found

    def _beside(self, number: int, step: Step) -> list[Difference]:
        """Take a step on the model that Kafka has taken, with what Kafka has done by itself.

        A step of Kafka's own may have to come first: its leader asks for a larger ISR within a fetch, before it moves
        the high watermark. Where no order agrees, the first one is what is shown.
        """
        place = len(self.taken), len(self.own), len(self.ahead)
        found: list[Difference] = []
        for own_first in (False, True, False) if self.correspondence.own_may_come_first else (False,):
            self._go_back(*place)
            if own_first:
                self._follow()
            if number not in chain.from_iterable(self.walk.enabled.values()):
                continue
            self._step(number)
            self._follow()
            found = self.differences()
            if not found:
                return self.correspondence.unlike_after(step, self.taken[-1].state, self._is_possible)
        compared = self.correspondence.compared(step, self.taken[-1].state, found)
        for known in self.correspondence.differences:
            if (said := known.met(compared)) is not None:
                self.spoilt = True
                self._go_back(*place)
                raise NotSchedulable(said, known)
        return found

    def _is_possible(self, named: Named) -> bool:
        try:
            self.walk.number_of(*named)
        except GuardError:
            return False
        return True

    def _go_back(self, taken: int, own: int, ahead: int) -> None:
        """Keep this many steps of each kind, and forget those after them."""
        del self.walk.moves[taken:], self.taken[taken:], self.own[own:], self.ahead[ahead:]
        self.walk.codes = self.walk.moves[-1][1]

    def _step(self, number: int) -> None:
        self.walk.step(number)
        self.taken.append(trace_step(self.walk.stepper.model, self.walk.moves[-1], self._readable(self.walk.codes)))

    def _readable(self, codes: Codes) -> ReadableState:
        """Return a state in plain Python; what is as in the last one is not decoded again."""
        model = self.walk.stepper.model
        if self._last is None:
            self._last = codes, model.decode(codes)
        elif self._last[0] != codes:
            self._last = codes, model.decode_after(codes, *self._last)
        return self._last[1]

    def _follow(self) -> None:
        """Let the model take the steps that Kafka has taken by itself; where it cannot, the states will differ."""
        while any(self._follow_in(*named) for named in self.correspondence.own_steps(self.taken[-1].state)):
            continue

    def _follow_in(self, action: str, given: dict[str, str]) -> bool:
        """Let the model take a step that Kafka has taken by itself; return whether it can."""
        try:
            number = self.walk.number_of(action, given)
        except GuardError:
            return False
        self.ahead.append((action, given))
        self.own.append(len(self.taken))
        self._step(number)
        return True
