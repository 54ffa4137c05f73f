"""Random walks of the model beside Kafka's classes, and the part of one that still shows a difference.

Each walk has its own random numbers, which seed and number decide, and its own taste: a weight for each action, drawn
at its start, so that some walks are full of elections and others of crashes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from insync.conformance.coverage import Coverage
from insync.conformance.likeness import Difference
from insync.conformance.pair import Pair
from insync.conformance.schedule import NotSchedulable
from insync.explorer.evaluator.stepping import Stepper
from insync.machine.interruptible import GivenUp

__all__ = ["Disagreement", "KafkaWalks"]

_WEIGHTS = (0.0, 0.3, 1.0, 3.0)
"""What an action may weigh in a walk, before its parameters: never, seldom, as any, often."""
_ALWAYS = ("fetch", "receive", "write", "apply_metadata", "accept_isr", "register")
"""Actions without which little happens; they weigh as much in each walk."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A walk at whose end the model and Kafka differ.

    Attributes:
        actions: the numbers of the actions that were chosen.
        pair: both, as they are there.
        differences: the facts that differ.
    """

    actions: list[int]
    pair: Pair
    differences: tuple[Difference, ...]


class KafkaWalks:
    """Walks from the first state of a model, beside Kafka's classes.

    Args:
        stepper: of the model.
        new_pair: makes what walks: the model in its first state, and Kafka.
        coverage: counts what is compared.
        depth: most steps of a walk.
    """

    def __init__(self, stepper: Stepper, new_pair: Callable[[], Pair], coverage: Coverage, depth: int) -> None:
        self.stepper, self.coverage, self.depth = stepper, coverage, depth
        self._new_pair = new_pair

    def random(self, seed: int, number: int, stopped: Callable[[], object]) -> Disagreement | None:
        """Take a random walk; it ends at a difference, which is returned, or where no step can be taken.

        Args:
            seed: of all walks.
            number: of this walk.
            stopped: asked before each step whether to give up.

        Raises:
            GivenUp: `stopped` gave a reason.
        """
        choice = Random(f"{seed}:{number}")
        names = sorted({action.name for action in self.stepper.actions})
        weights = {name: 1.0 if name in _ALWAYS else choice.choice(_WEIGHTS) for name in names}
        pair, chosen = self._opened(), list[int]()
        tried: set[int] = set()
        found = pair.differences()
        while not found and len(chosen) < self.depth:
            if reason := stopped():
                raise GivenUp(reason)
            number_ = self._drawn(choice, pair, weights, tried)
            if number_ is None:
                break
            step = self._step(pair, number_)
            if step is None:
                if pair.spoilt:
                    break
                tried.add(number_)
                continue
            tried.clear()
            chosen.append(number_)
            found = step
        return Disagreement(chosen, pair, tuple(found)) if found else None

    def failing(self, actions: Sequence[int], stopped: Callable[[], object] = lambda: None) -> Disagreement | None:
        """Take a list of actions, and return the part up to a difference; None if there is none.

        An action that is not enabled when its turn comes, or not schedulable, is passed over.

        Raises:
            GivenUp: `stopped` gave a reason.
        """
        pair, taken = self._opened(), list[int]()
        found = pair.differences()
        for number in actions:
            if found:
                break
            if reason := stopped():
                raise GivenUp(reason)
            if self.stepper.attempt(pair.walk.codes, number) is None:
                continue
            step = self._step(pair, number)
            if step is None:
                if pair.spoilt:
                    return None
                continue
            taken.append(number)
            found = step
        return Disagreement(taken, pair, tuple(found)) if found else None

    def _opened(self) -> Pair:
        self.coverage.opened += 1
        pair = self._new_pair()
        pair.open()
        return pair

    def _drawn(self, choice: Random, pair: Pair, weights: dict[str, float], tried: set[int]) -> int | None:
        """Draw an enabled action that was not tried here: first its name by the weights, then its parameters."""
        possible = {
            name: left for name, all_ in pair.walk.enabled.items() if (left := [n for n in all_ if n not in tried])
        }
        favoured = {name: left for name, left in possible.items() if weights[name]} or possible
        if not favoured:
            return None
        (name,) = choice.choices(list(favoured), [weights[name] or 1.0 for name in favoured])
        return choice.choice(favoured[name])

    def _step(self, pair: Pair, number: int) -> list[Difference] | None:
        """Take a step on both, and count it; None where it is not schedulable."""
        before, length, own = pair.walk.codes, len(pair.moves), len(pair.own)
        try:
            found = pair.take(number)
        except NotSchedulable as fault:
            self.coverage.add_gap(before, number, fault.kind)
            return None
        self.coverage.add_moves((None, before), pair.moves[length:])
        self.coverage.own_steps += len(pair.own) - own
        self.coverage.fields += pair.compared
        return found
