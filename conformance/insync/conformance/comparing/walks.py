"""Random walks of the model beside Kafka's classes, and the part of one that still shows a difference.

Each walk has its own random numbers, which seed and number decide, and its own taste: a weight for each action, drawn
at its start, so that some walks are full of elections and others of crashes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, Protocol, TypeVar

from insync.conformance.comparing.coverage import Coverage
from insync.conformance.correspondence.facts import Difference
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.correspondence.side_by_side import SideBySide
from insync.explorer.stepping.stepper import Stepper
from insync.explorer.traces.trace import TraceStep
from insync.model import ReadableState
from insync.runtime.watch import Stopped, StopReason

__all__ = ["AskedThough", "Divergence", "KafkaWalks"]

_WEIGHTS = (0.0, 0.3, 1.0, 3.0)
"""What an action may weigh in a walk, before its parameters: never, seldom, as any, often."""
_FORBIDDEN = 0.5
"""How often something that the model forbids is asked after a step."""

P = TypeVar("P", bound=SideBySide[Any])
P_contra = TypeVar("P_contra", bound=SideBySide[Any], contravariant=True)


class AskedThough(Protocol[P_contra]):
    """Something that may be asked of Kafka where the model forbids it."""

    @property
    def action(self) -> str:
        """The name of the action."""

    @property
    def label(self) -> str:
        """What is done, in words."""

    def is_forbidden(self, pair: P_contra) -> bool:
        """Return whether the model forbids it in the state that both are in."""

    def ask(self, pair: P_contra) -> list[Difference]:
        """Ask it of Kafka, and return what is not as it was, or as the model has it."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """A walk at whose end the model and Kafka differ.

    Attributes:
        actions: what was chosen: the numbers of actions, and those of what the model forbids, counted from -1 down.
        taken: the steps of both, with the model's states.
        own: the numbers of the steps that Kafka took by itself.
        state: the state after the last step as Kafka has it.
        differences: the facts that differ.
        forbidden: what was asked of Kafka though the model forbids it, with the number of the step before.
    """

    actions: list[int]
    taken: tuple[TraceStep, ...]
    own: tuple[int, ...]
    state: ReadableState
    differences: tuple[Difference, ...]
    forbidden: tuple[tuple[int, str], ...] = ()

    @classmethod
    def of(
        cls,
        actions: list[int],
        pair: SideBySide[Any],
        found: Sequence[Difference],
        forbidden: Sequence[tuple[int, str]] = (),
    ) -> Divergence:
        """Return what a pair has come to."""
        state = pair.kafka_state()
        return cls(actions, tuple(pair.taken), tuple(pair.own), state, tuple(found), tuple(forbidden))


class KafkaWalks(Generic[P]):
    """Walks from the first state of a model, beside Kafka's classes.

    Args:
        stepper: of the model.
        new_pair: makes what walks: the model in its first state, and Kafka.
        coverage: counts what is compared.
        depth: most steps of a walk.
        forbidden: requests that the model forbids; now and then Kafka gets one, which it must refuse.
    """

    def __init__(
        self,
        stepper: Stepper,
        new_pair: Callable[[], P],
        coverage: Coverage,
        depth: int,
        forbidden: Sequence[AskedThough[P]] = (),
    ) -> None:
        self.stepper, self.coverage, self.depth, self.forbidden = stepper, coverage, depth, forbidden
        self._new_pair = new_pair

    def random(self, seed: int, number: int, stopped: Callable[[], StopReason | None]) -> Divergence | None:
        """Take a random walk; it ends at a difference, which is returned, or where no step can be taken.

        Args:
            seed: of all walks.
            number: of this walk.
            stopped: asked before each step whether to give up.

        Raises:
            Stopped: `stopped` gave a reason.
        """
        choice = Random(f"{seed}:{number}")
        names = sorted({action.name for action in self.stepper.actions})
        walk = _Taken(self, self._opened())
        always = walk.pair.always
        weights = {name: 1.0 if name in always else choice.choice(_WEIGHTS) for name in names}
        while not walk.found and walk.steps < self.depth:
            if reason := stopped():
                raise Stopped(reason)
            drawn = self._drawn(choice, walk.pair, weights, walk.tried)
            if drawn is None or not walk.step(drawn):
                break
            if self.forbidden and not walk.found and choice.random() < _FORBIDDEN:
                asked = [n for n, one in enumerate(self.forbidden) if one.is_forbidden(walk.pair)]
                if asked:
                    walk.ask(choice.choice(asked))
        return walk.disagreement

    def failing(
        self, actions: Sequence[int], stopped: Callable[[], StopReason | None] = lambda: None
    ) -> Divergence | None:
        """Take a list of actions, and return the part up to a difference; None if there is none.

        An action that is not enabled when its turn comes, or not schedulable, is passed over.

        Raises:
            Stopped: `stopped` gave a reason.
        """
        walk = _Taken(self, self._opened())
        for number in actions:
            if walk.found:
                break
            if reason := stopped():
                raise Stopped(reason)
            if number < 0:
                if self.forbidden[-1 - number].is_forbidden(walk.pair):
                    walk.ask(-1 - number)
            elif self.stepper.attempt(walk.pair.walk.codes, number) is not None and not walk.step(number):
                return None
        return walk.disagreement

    def _opened(self) -> P:
        self.coverage.opened += 1
        return self._new_pair()

    def _drawn(self, choice: Random, pair: P, weights: dict[str, float], tried: set[int]) -> int | None:
        """Draw an enabled action that was not tried here: first its name by the weights, then its parameters."""
        possible = {
            name: left for name, all_ in pair.walk.enabled.items() if (left := [n for n in all_ if n not in tried])
        }
        favoured = {name: left for name, left in possible.items() if weights[name]} or possible
        if not favoured:
            return None
        (name,) = choice.choices(list(favoured), [weights[name] or 1.0 for name in favoured])
        return choice.choice(favoured[name])


class _Taken(Generic[P]):
    """A walk that is being taken.

    Args:
        walks: whose walk it is.
        pair: what walks.
    """

    def __init__(self, walks: KafkaWalks[P], pair: P) -> None:
        self.walks, self.pair = walks, pair
        self.found = pair.open()
        self.chosen: list[int] = []
        self.asked: list[tuple[int, str]] = []
        self.tried: set[int] = set()  # in this state, and not schedulable
        self.steps = 0

    @property
    def disagreement(self) -> Divergence | None:
        """What the walk has come to, if that is a difference."""
        return Divergence.of(self.chosen, self.pair, self.found, self.asked) if self.found else None

    def step(self, number: int) -> bool:
        """Take a step on both, and count it; return whether the walk can go on, be it taken or not schedulable."""
        pair, coverage = self.pair, self.walks.coverage
        before, length, own = pair.walk.codes, len(pair.moves), len(pair.own)
        try:
            self.found = pair.take(number)
        except NotSchedulable as fault:
            coverage.add_gap(before, number, fault)
            self.tried.add(number)
            return not pair.spoilt
        self.tried.clear()
        self.chosen.append(number)
        self.steps += 1
        coverage.add_step(before, pair.moves[length:], own=len(pair.own) - own, fields=pair.compared)
        return True

    def ask(self, number: int) -> None:
        """Ask something of Kafka that the model forbids, by its number."""
        forbidden = self.walks.forbidden[number]
        self.chosen.append(-1 - number)
        self.asked.append((len(self.pair.taken) - 1, forbidden.label))
        self.found = forbidden.ask(self.pair)
        self.walks.coverage.refused[forbidden.action] += 1
        self.walks.coverage.fields += self.pair.compared
