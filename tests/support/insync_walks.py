"""Random walks by the evaluator, in plain Python: what `simulate` must do, written a second time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from insync.machine.walker import Strategy
from insync.model import Model
from insync.model.abstraction import Abstraction
from insync.model.evaluator import Codes, Evaluator, evaluate, evaluate_each
from insync.model.expressions.graph import Node
from insync.runtime.errors import DomainError

__all__ = ["ByHand", "WalkByHand", "by_hand", "growth_of", "until_saturated", "walk_by_hand"]

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15
WEIGHTS = (1, 2, 4, 8)


def mixed(number: int) -> int:
    """The finalizer of SplitMix64."""
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % WORD
    number = (number ^ number >> 27) * 0x94D049BB133111EB % WORD
    return number ^ number >> 31


class Generator:
    """The random numbers of a walk."""

    def __init__(self, seed: int, walk: int) -> None:
        self.first = self.state = mixed(mixed(walk + 1) ^ seed)

    def below(self, count: int) -> int:
        self.state = (self.state + GOLDEN) % WORD
        return mixed(self.state) * count >> 64


@dataclass(frozen=True, slots=True)
class WalkByHand:
    """A walk: its actions (a refused one is the last), its states, and the condition that the last of them breaks."""

    start: int
    actions: tuple[int, ...]
    states: tuple[Codes, ...]
    stuck: bool = False
    failed: int | None = None


@dataclass(slots=True)
class ByHand:
    """What came of walks up to the share with the first failure, and the first walk that saw each abstract state."""

    steps: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    stuck: int = 0
    failed: int | None = None
    failed_states: int | None = None
    first_seen: dict[tuple[int, ...], int] = field(default_factory=dict)


def walk_by_hand(
    model: Model, evaluator: Evaluator, conditions: Sequence[Node], seed: int, walk: int, depth: int, strategy: Strategy
) -> WalkByHand:
    """Take a walk."""
    actions, starts, generator = model.program.actions, len(model.program.initials), Generator(seed, walk)
    tasted = strategy is Strategy.TASTES or (strategy is Strategy.MIXED and walk % 2 == 1)
    taste = mixed(generator.first ^ 0x5851F42D4C957F2D) | 1 if tasted else 0
    start = generator.below(starts) if starts > 1 else 0
    groups = list(range(1, len(actions) + 1))
    if strategy is not Strategy.UNIFORM:
        runs = [len(list(run)) for _, run in groupby(action.name for action in actions)]
        groups = [number for number, size in enumerate(runs, 1) for _ in range(size)]

    def weight(group: int) -> int:
        return WEIGHTS[mixed((taste + group * GOLDEN) % WORD) % len(WEIGHTS)] if taste else 1

    taken: list[int] = []
    states = [model.program.initials[start]]
    while len(taken) < depth:
        enabled = evaluator.enabled(states[-1])
        if not enabled:
            return WalkByHand(start, tuple(taken), tuple(states), stuck=True)
        present = sorted({groups[number] for number in enabled})
        over = generator.below(sum(map(weight, present)))
        for group in present:
            if over < weight(group):
                break
            over -= weight(group)
        members = [number for number in enabled if groups[number] == group]
        taken.append(members[generator.below(len(members)) if len(members) > 1 else 0])
        try:
            states.append(evaluator.step(taken[-1], states[-1]))
        except DomainError:
            return WalkByHand(start, tuple(taken), tuple(states), failed=len(conditions))
        broken = [number for number, holds in enumerate(evaluate_each(conditions, states[-1])) if not holds]
        if broken:
            return WalkByHand(start, tuple(taken), tuple(states), failed=broken[0])
    return WalkByHand(start, tuple(taken), tuple(states))


def by_hand(
    model: Model,
    conditions: Sequence[Node],
    abstraction: Abstraction,
    seed: int,
    walks: range,
    depth: int,
    strategy: Strategy,
    share: int,
) -> ByHand:
    """Take walks, up to the share with the first that fails; where an initial state fails, it is a walk by itself."""
    evaluator, found, actions = Evaluator(model.program), ByHand(), model.program.actions
    for codes in model.program.initials:
        if not all(evaluate_each(conditions, codes)):
            seen = tuple(evaluate(node, codes) for node in abstraction.codes)
            return ByHand(lengths=Counter([0]), failed=0, failed_states=1, first_seen={seen: 0})
    for walk in walks:
        if found.failed is not None and walk % share == 0:
            break
        one = walk_by_hand(model, evaluator, conditions, seed, walk, depth, strategy)
        done = len(one.states) - 1
        found.steps.update(actions[number].name for number in one.actions[:done])
        found.lengths[done] += 1
        found.stuck += one.stuck
        if one.failed is not None and found.failed is None:
            found.failed, found.failed_states = walk, len(one.states)
        for codes in one.states:
            seen = tuple(evaluate(node, codes) for node in abstraction.codes)
            found.first_seen.setdefault(seen, walk)
    return found


def growth_of(first_seen: dict[tuple[int, ...], int], walks: int) -> tuple[tuple[int, int], ...]:
    """How many abstract states there were after 1, 10, 100 walks, and so on, and after the last."""
    marks = [10**power for power in range(len(str(walks))) if 10**power < walks]
    return tuple((mark, sum(walk < mark for walk in first_seen.values())) for mark in [*marks, walks])


def until_saturated(first_seen: dict[tuple[int, ...], int], patience: int, walks: int) -> int | None:
    """After how many walks there was no new abstract state for so many; None if that does not come about."""
    new = set(first_seen.values())
    idle = 0
    for walk in range(walks):
        idle = 0 if walk in new else idle + 1
        if idle == patience:
            return walk + 1
    return None
