"""Lassos: runs that never end, as a stem and a loop (Vardi & Wolper 1986). Search, verification, and traces of them.

A lasso is a sequence of moves and a place in it, whose state the last state equals. If the place is the last one, the
run stays in the last state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from insync.explorer.runs.fair_cycles import Adjacency, Obligation
from insync.explorer.stepping.stepper import Move, Stepper
from insync.explorer.traces.trace import Trace, trace_of
from insync.model import Model
from insync.model.evaluator import Codes, evaluate
from insync.model.expressions.graph import Node
from insync.properties.invariants import pointed
from insync.properties.temporal import Due, Fairness, FairSet, Instance, RunProperty, fair_sets
from insync.runtime.errors import InternalError
from insync.runtime.watch import Watch

if TYPE_CHECKING:
    from insync.explorer.runs.state_graph import Bits, Numbers

__all__ = [
    "Lasso",
    "Path",
    "Verified",
    "find_lasso",
    "lasso_trace",
    "verify",
    "witness_reason",
]


_MOST_EXCUSES = 6


@dataclass(frozen=True, slots=True)
class Lasso:
    """A run that ends in a loop.

    Attributes:
        moves: the number of each action and the codes after it; the first is (None, initial state).
        loop: the place of the state that the last state equals.
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
        """The actions that are taken again and again; steps that change nothing do not count."""
        pairs = zip(self.moves[self.loop :], self.moves[self.loop + 1 :], strict=False)
        return {number for (_, before), (number, after) in pairs if number is not None and before != after}


@dataclass(frozen=True, slots=True)
class Verified:
    """The evaluator's verdict on a lasso.

    Attributes:
        fault: why the lasso is no counterexample; None if it is one.
        reason: why it is one.
    """

    fault: str | None
    reason: str = ""


def verify(model: Model, found: RunProperty, fairness: Fairness, lasso: Lasso) -> Verified:
    """Decide whether a lasso whose steps are real is a fair run that breaks a property.

    Args:
        model: the model.
        found: a property of runs that is not a `sometimes` property.
        fairness: the assumed fairness.
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
    """Return how the loop meets an obligation of fairness; empty if that is obvious, None if it does not."""
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
    """Return the least place from which on the property's condition is due and is not met; None if there is none."""
    states = [codes for _, codes in lasso.moves]
    met = [bool(evaluate(instance.then, codes)) for codes in states]
    around = met[lasso.loop :]
    last = len(states) if instance.when is not None and instance.due is not Due.ALWAYS else 1
    after = 0
    match instance.due:
        case Due.ONCE:  # due in a state after the last one that meets the condition
            after = len(states) - met[::-1].index(True) if any(met) else 0
            missed = not any(around)
        case Due.RECURRENT:
            missed = not any(around)
        case Due.PERSISTENT:
            missed = not all(around)
        case Due.ALWAYS:
            missed = not all(met)
        case _:
            assert_never(instance.due)
    if not missed or (instance.taken is not None and _taken(instance.taken, lasso)):
        return None
    places = range(after, last)
    return next((at for at in places if instance.when is None or evaluate(instance.when, states[at])), None)


def _taken(conditions: Sequence[Node], lasso: Lasso) -> bool:
    """Return whether the loop takes a step that meets a property by itself."""
    pairs = zip(lasso.moves[lasso.loop :], lasso.moves[lasso.loop + 1 :], strict=False)
    return any(number is not None and bool(evaluate(conditions[number], before)) for (_, before), (number, _) in pairs)


def _reason(found: RunProperty, instance: Instance, due: int, lasso: Lasso, excuses: Sequence[str]) -> str:
    where = f" for {instance}" if instance.bindings else ""
    start = "from the start" if due == 0 else f"after step {due}"
    if instance.due is Due.ALWAYS:
        bad = next(at for at, (_, codes) in enumerate(lasso.moves) if not evaluate(instance.then, codes))
        when = f"after step {bad}" if bad else "there"
        return f"{found.name}{where} is due from the start, and {when} it fails."
    if instance.taken is not None:
        return _unfair(found, instance, lasso)
    often = "" if instance.due is Due.ONCE else f" {instance.due.value}"
    if lasso.stays:
        after = "the start" if lasso.loop == 0 else f"step {lasso.loop}"
        without = "" if instance.due is Due.ONCE else " without it"
        rest = f"but after {after} the run stays as it is for ever{without}; no action that is fair is enabled there."
    else:
        first, last = lasso.loop + 1, len(lasso.moves) - 1
        joined = "and" if last == first + 1 else "to"
        steps = f"step {first} repeats" if first == last else f"the steps {first} {joined} {last} repeat"
        without = "without it"
        if instance.due is Due.PERSISTENT:
            bad = next(at for at in range(first, last + 1) if not evaluate(instance.then, lasso.moves[at][1]))
            without = f"and it fails after step {bad}"
        rest = f"but {steps} for ever {without}."
    text = f"{found.name}{where} is due{often} {start}, {rest}"
    if excuses and not lasso.stays:
        shown = "; ".join(excuses[:_MOST_EXCUSES])
        text += f" The loop is fair: {shown}{'; ...' if len(excuses) > _MOST_EXCUSES else ''}."
    return pointed(text, instance.bindings.values())


def _unfair(found: RunProperty, instance: Instance, lasso: Lasso) -> str:
    """Return the reason why a run maps to one that is not fair for the other model."""
    ((strength, name),) = instance.bindings.items()
    able = next(at for at in range(lasso.loop, len(lasso.moves)) if not evaluate(instance.then, lasso.moves[at][1]))
    how = "again and again" if instance.due is Due.PERSISTENT else "for ever"
    since = f"after step {able}" if able else "from the start on"
    return (
        f"{found.name} fails: the other model assumes {strength} fairness of {name}. In the states that the loop maps "
        f"to it is enabled {how} {since}, and it is never taken."
    )


def witness_reason(model: Model, found: RunProperty, codes: Codes) -> str | None:
    """Return the reason why a state is a witness of a `sometimes` property; None if it is not."""
    instance = next((one for one in found.instances(model) if evaluate(one.then, codes)), None)
    if instance is None:
        return None
    where = f" for {instance}" if instance.bindings else ""
    return pointed(f"{found.name} is reached{where}: {found.sentence}", instance.bindings.values())


def lasso_trace(model: Model, found: RunProperty, fairness: Fairness, lasso: Lasso, reason: str) -> Trace:
    """Return a lasso as the trace of a property that it breaks."""
    return replace(trace_of(model, found.name, lasso.moves, reason), loop=lasso.loop, fairness=fairness)


# ------------------------------------------------------------------------------------------------------------- search
#
# The stem is a shortest path from an initial state to a fair component, by way of a state in which the property becomes
# due; from that state on it stays inside a set of states. The loop goes to the nearest step or state that meets a
# further obligation of fairness, until all are met, and back. It need not be a shortest one.


_OFTEN = 256  # states between two checks of the limits

Path = list[tuple[int | None, int]]
"""The bound action that leads to each state, None for the first, and the number of the state."""


def find_lasso(
    adjacency: Adjacency,
    start: Bits,
    inside: Bits,
    fair: Numbers,
    obligations: Sequence[Obligation],
    watch: Watch,
    loops: Adjacency | None = None,
) -> tuple[Path, int] | None:
    """Return a path and the place in it to which its end goes back; None if no fair loop can be reached.

    Args:
        adjacency: the steps.
        start: the states in which the property becomes due.
        inside: the states that the run may be in from there on.
        fair: the fair component of each state, or -1.
        obligations: the fairness, on the steps of the loop.
        watch: the limits.
        loops: the steps that the loop may take; None for all.

    Raises:
        Stopped: a limit is reached.
    """
    stem = _StemSearch(adjacency, start & inside, inside, watch).to(fair >= 0)
    if stem is None:
        return None
    entry = stem[-1][1]
    loop = _LoopSearch(loops or adjacency, fair == fair[entry], obligations, watch).around(entry)
    return stem + loop, len(stem) - 1


@dataclass(slots=True)
class _StemSearch:
    """Breadth-first search at once through the states before and after the property becomes due."""

    adjacency: Adjacency
    start: Bits
    inside: Bits
    watch: Watch

    def to(self, goal: Bits) -> Path | None:
        import numpy as np

        graph = self.adjacency.graph
        seen = np.zeros(len(graph), dtype=np.bool_)
        layers: list[Numbers] = []
        frontier = np.zeros(0, dtype=np.int64)
        starts = np.flatnonzero(self.start)
        levels = np.searchsorted(np.array(graph.starts), starts, side="right")
        for level in range(1, len(graph) + len(graph.starts) + 1):
            self.watch.check()
            frontier = np.union1d(frontier, starts[levels == level])
            frontier = frontier[~seen[frontier]]
            seen[frontier] = True
            layers.append(frontier)
            hits = frontier[goal[frontier]]
            if len(hits):
                return self._back(layers, int(hits[0]))
            if not len(frontier) and level >= len(graph.starts):
                return None
            frontier = self._after(frontier)
        return None

    def _after(self, states: Numbers) -> Numbers:
        import numpy as np

        parts = [self.adjacency.target[self.adjacency.first[s] : self.adjacency.first[s + 1]] for s in states.tolist()]
        after = np.unique(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.int64)
        return after[self.inside[after]]

    def _back(self, layers: Sequence[Numbers], state: int) -> Path:
        """Walk back to an initial state: first through states in which the property is due, then level by level."""
        import numpy as np

        path: Path = []
        level = len(layers)
        while not (self.start[state] and self.adjacency.graph.level_of(state) == level):
            level -= 1
            state, step = self._before(state, np.isin(self.adjacency.source, layers[level - 1]))
            path.insert(0, step)
        while level > 1:
            level -= 1
            first, last = self.adjacency.graph.starts[level - 1 : level + 1]
            state, step = self._before(state, (self.adjacency.source >= first) & (self.adjacency.source < last))
            path.insert(0, step)
        return [(None, state), *path]

    def _before(self, state: int, among: Bits) -> tuple[int, tuple[int, int]]:
        """Return the least predecessor among some steps, and the move from it."""
        import numpy as np

        self.watch.check()
        steps = np.flatnonzero((self.adjacency.target == state) & among)
        if not len(steps):
            message = f"State {state} of the graph has no predecessor in the level before."
            raise InternalError(message)
        return int(self.adjacency.source[steps[0]]), (int(self.adjacency.action[steps[0]]), state)


@dataclass(slots=True)
class _LoopSearch:
    """Search for a closed walk within one fair component."""

    adjacency: Adjacency
    inside: Bits
    obligations: Sequence[Obligation]
    watch: Watch

    def around(self, entry: int) -> Path:
        """Return the moves of a closed walk from `entry` that meets all obligations; empty if staying there does."""
        if not any(obligation.enabled[entry] for obligation in self.obligations):
            return []
        open_ = [obligation for obligation in self.obligations if self._matters(obligation)]
        walk: Path = []
        state = entry
        while True:
            open_ = [
                obligation for obligation in open_ if not self._met(obligation, [entry, *(s for _, s in walk)], walk)
            ]
            if not open_:
                break
            part = self._nearest(state, open_)
            walk += part
            state = walk[-1][1]
        return walk + self._path(state, lambda _, target: target == entry) if state != entry or not walk else walk

    def _matters(self, obligation: Obligation) -> bool:
        return bool((obligation.enabled & self.inside).any())

    def _met(self, obligation: Obligation, states: Sequence[int], walk: Path) -> bool:
        if any(action in obligation.fair.numbers for action, _ in walk):
            return True
        return not obligation.fair.strong and any(not obligation.enabled[state] for state in states)

    def _nearest(self, state: int, open_: Sequence[Obligation]) -> Path:
        def meets(action: int, target: int) -> bool:
            return any(
                action in obligation.fair.numbers or not (obligation.fair.strong or obligation.enabled[target])
                for obligation in open_
            )

        return self._path(state, meets)

    def _path(self, state: int, ends: Callable[[int, int], bool]) -> Path:
        """Return the moves to the nearest step that `ends`, within the component."""
        parents: dict[int, tuple[int, int]] = {}
        queue, seen = deque([state]), {state}
        while queue:
            if len(seen) % _OFTEN == 0:
                self.watch.check()
            current = queue.popleft()
            for action, target in self.adjacency.steps(current):
                if not self.inside[target]:
                    continue
                if ends(action, target):
                    path: Path = [(action, target)]
                    while current != state:
                        before, step = parents[current]
                        path.insert(0, (step, current))
                        current = before
                    return path
                if target not in seen:
                    seen.add(target)
                    parents[target] = (current, action)
                    queue.append(target)
        message = "A fair component does not meet the obligations that it was chosen for."
        raise InternalError(message)
