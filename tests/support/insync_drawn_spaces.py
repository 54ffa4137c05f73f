"""The oracle: the space of a drawn model in plain Python, level by level, and what must be said of it.

Orbits are found by all permutations, fairness by strongly connected components; nothing of insync is used.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from insync_drawn_data import Described, Run, State
from insync_drawn_steps import Step, Steps, bindings, holds_for_all
from insync_drawn_terms import Env
from insync_drawn_types import Value, moved

__all__ = ["TYPE_OK", "Edge", "Lasso", "Space", "orbits", "within_reach"]

TYPE_OK, DEADLOCK_FREE = "type_ok", "deadlock_free"

Bound = tuple[str, tuple[tuple[str, Value], ...]]
"""An action with the values of its parameters."""

Holds = Callable[[Env], bool]


@dataclass(frozen=True, slots=True)
class Edge:
    """A step to another state."""

    bound: Bound
    after: State


@dataclass
class Space:
    """The states of a model as far as they were looked for.

    Attributes:
        levels: the states that are first reached at each depth.
        steps: the steps of each state that was expanded.
        whole: whether there are no others.
        confined: whether no step is taken from states outside.
    """

    model: Described
    confined: bool = True
    levels: list[list[State]] = field(default_factory=list)
    steps: dict[State, list[Step]] = field(default_factory=dict)
    whole: bool = False
    _outside: dict[State, bool] = field(default_factory=dict)

    def search(self, most: int, depth: int = 1_000) -> Space:
        """Find the states of all levels that are complete before there are more than so many."""
        steps, seen = Steps(self.model), set[State]()
        level = steps.first
        while level and len(self.levels) < depth and len(seen) + len(level) <= most:
            seen |= set(level)
            self.levels.append(level)
            fresh: dict[State, None] = {}
            for state in level:
                if not self.outside(state):
                    self.steps[state] = list(steps.of(state))
                    fresh |= dict.fromkeys(
                        one.after for one in self.steps[state] if one.after is not None and one.after not in seen
                    )
            level = list(fresh)
        self.whole = not level
        return self

    def outside(self, state: State) -> bool:
        """Return whether no step is taken from a state."""
        if state not in self._outside:
            conditions = self._within if self.confined else []
            self._outside[state] = not all(holds({"s": state}) for holds in conditions)
        return self._outside[state]

    @cached_property
    def _within(self) -> list[Holds]:
        named = {one.name: one for one in self.model.properties}
        return [holds_for_all(named[name].condition, named[name].parameters) for name in self.model.within]

    @cached_property
    def failing(self) -> dict[str, int]:
        """The properties that fail, each with the first level (from 1) of a state in which, or from which, it does."""
        found: dict[str, int] = {}
        checked = [(one, holds_for_all(one.condition, one.parameters)) for one in self.model.properties]
        for depth, level in enumerate(self.levels, start=1):
            for one, holds in checked:
                if one.name not in found and any(not kept for kept in self._kept(one.of_steps, holds, level)):
                    found[one.name] = depth
            for state in level:
                if any(step.after is None for step in self.steps.get(state, ())):
                    found.setdefault(TYPE_OK, depth)
                if not self.steps.get(state, self.outside(state)):
                    found.setdefault(DEADLOCK_FREE, depth)
        return found

    def _kept(self, of_steps: bool, holds: Holds, level: Iterable[State]) -> Iterator[bool]:
        for state in level:
            if not of_steps:
                yield holds({"s": state})
                continue
            for step in self.steps.get(state, ()):
                if step.after is not None and step.after != state:
                    yield holds({"before": state, "after": step.after})


def outside_of(space: Space, levels: int) -> int:
    """Return how many states of the first levels are outside."""
    return sum(space.outside(state) for level in space.levels[:levels] for state in level)


def within_reach(space: Space, levels: int) -> list[int]:
    """Return how many states within each of the first levels has; a last one without any is none."""
    sizes = [sum(not space.outside(state) for state in level) for level in space.levels[:levels]]
    return sizes[:-1] if sizes and not sizes[-1] else sizes


def taken(space: Space, levels: int) -> dict[str, int]:
    """Return the steps of each action from the states of the first levels."""
    found = dict.fromkeys((one.name for one in space.model.actions), 0)
    for state in itertools.chain(*space.levels[:levels]):
        for step in space.steps.get(state, ()):
            found[step.action] += step.after is not None
    return found


def stuck(space: Space, levels: int) -> int:
    """Return how many states of the first levels have no step, of those within."""
    found = itertools.chain(*space.levels[:levels])
    return sum(not space.steps[state] for state in found if not space.outside(state))


# ----------------------------------------------------------------------------------------------------------- symmetry


def orbits(space: Space, levels: int) -> int:
    """Return how many sets of states there are in the first levels that differ only in who is who."""
    return len({frozenset(images(space.model, state)) for state in itertools.chain(*space.levels[:levels])})


def images(model: Described, state: State) -> Iterator[State]:
    """Yield a state under every renaming of the members of the symmetric sorts."""
    for swap in swaps(model):
        yield moved(model.state, state, swap)


def swaps(model: Described) -> Iterator[Mapping[str, Sequence[int]]]:
    """Yield every renaming of the members of the symmetric sorts."""
    sorts = [one for one in model.classes if one.name in model.symmetric]
    for orders in itertools.product(*(itertools.permutations(range(one.hi + 1)) for one in sorts)):
        yield {one.name: order for one, order in zip(sorts, orders, strict=True)}


def begins_alike(space: Space) -> bool:
    """Return whether the initial states are the same with others renamed."""
    begun = set(space.levels[0])
    return all(image in begun for state in begun for image in images(space.model, state))


def alike(space: Space) -> bool:
    """Return whether the states that were found, their steps and what holds there are the same with others renamed."""
    model = space.model
    checked = [(one, holds_for_all(one.condition, one.parameters)) for one in model.properties]
    for level in space.levels:
        found = set(level)
        for state, swap in itertools.product(level, swaps(model)):
            image = moved(model.state, state, swap)
            if image not in found:
                return False
            if any(holds({"s": state}) != holds({"s": image}) for one, holds in checked if not one.of_steps):
                return False
            after, theirs = (
                Counter(_renamed(model, step.after, how) for step in space.steps.get(one, ()))
                for one, how in ((state, swap), (image, {}))
            )
            if after != theirs:
                return False
    return True


def _renamed(model: Described, after: State | None, swap: Mapping[str, Sequence[int]]) -> State | None:
    return None if after is None else moved(model.state, after, swap)


# --------------------------------------------------------------------------------------------------------------- runs


@dataclass(frozen=True, slots=True)
class Lasso:
    """A run: its states and the steps between them; from the last one it goes on as from the state of `loop`."""

    states: tuple[State, ...]
    bounds: tuple[Bound, ...]
    loop: int


class Runs:
    """The runs of a space that is whole and in which every step fits; they stay in the states that are not outside."""

    def __init__(self, space: Space) -> None:
        self.space, self.model = space, space.model
        self.edges = {
            state: [Edge((step.action, step.parameters), step.after) for step in steps if step.after is not None]
            for state, steps in space.steps.items()
        }
        self.loops = self.edges  # the steps that may be taken for ever

    def view(self, state: State) -> State:
        """Return the state that properties are about."""
        return state

    def holds(self, run: Run) -> bool:
        """Return whether a property of runs holds, for each binding of its parameters."""
        return all(self._holds(run, values) for values in bindings(run.parameters))

    def breaks(self, run: Run, lasso: Lasso) -> bool:
        """Return whether a lasso is a fair run that breaks a property, for some binding of its parameters."""
        steps = list(zip(lasso.states, lasso.bounds, lasso.states[1:], strict=False))
        if any(Edge(bound, after) not in self.edges.get(before, ()) for before, bound, after in steps):
            return False
        if any(map(self.space.outside, lasso.states)):
            return False
        if lasso.states[-1] != lasso.states[lasso.loop] or lasso.states[0] not in self.space.levels[0]:
            return False
        around = lasso.states[lasso.loop :]
        inside = {bound for before, bound, after in steps[lasso.loop :] if before != after}
        if not all(self._kept(set(around), inside, fair, strong) for fair, strong in self.fair_sets(run)):
            return False
        return any(self._broken(run, values, lasso) for values in bindings(run.parameters))

    def fair_sets(self, run: Run) -> list[tuple[frozenset[Bound], bool]]:
        """Return the fair sets of a property, each with whether it is strong."""
        return [
            (own, strong)
            for sets, strong in ((run.weak, False), (run.strong, True))
            for names, apart in sets
            for own in self._sets(names, apart)
        ]

    def _sets(self, names: tuple[str, ...], apart: tuple[str, ...]) -> list[frozenset[Bound]]:
        found: dict[tuple[Value, ...], set[Bound]] = {}
        for action in self.model.actions:
            if action.name in names:
                for values in bindings(action.parameters):
                    told = list(values) if apart == ("*",) else apart
                    own = found.setdefault(tuple(values[name] for name in told), set())
                    own.add((action.name, tuple(values.items())))
        return [frozenset(own) for own in found.values()]

    def _broken(self, run: Run, values: Mapping[str, Value], lasso: Lasso) -> bool:
        then = holds_for_all(run.then, ())
        met = [then({"s": self.view(state), **values}) for state in lasso.states]
        around = met[lasso.loop :]
        due = [place == 0 if run.when is None else self._is(run, one, values) for place, one in enumerate(lasso.states)]
        match run.due:
            case "once":
                return any(one and not any([*met[place:], *around]) for place, one in enumerate(due))
            case "always_eventually":
                return any(due) and not any(around)
            case "eventually_always":
                return any(due) and not all(around)
        return due[0] and not all(met)

    def _is(self, run: Run, state: State, values: Mapping[str, Value]) -> bool:
        assert run.when is not None
        return holds_for_all(run.when, ())({"s": self.view(state), **values})

    def _holds(self, run: Run, values: Mapping[str, Value]) -> bool:
        then = holds_for_all(run.then, ())
        if run.kind == "sometimes":
            return any(then({"s": state, **values}) for level in self.space.levels for state in level)
        avoided = {state for state in self.edges if not then({"s": self.view(state), **values})}
        first = run.when is None or run.due == "always"
        begun = {state for state in self.space.levels[0] if state in self.edges} if first else set(self.edges)
        begun = {state for state in begun if run.when is None or self._is(run, state, values)}
        fair = self.fair_sets(run)
        match run.due:
            case "once":
                return not self._fair_part(self._reach(begun & avoided, avoided), fair)
            case "always_eventually":
                return not self._fair_part(self._reach(begun, set(self.edges)) & avoided, fair)
            case "eventually_always":
                return not self._fair_part(self._reach(begun, set(self.edges)), fair, avoided)
        return not self._reach(begun, set(self.edges)) & avoided

    def _reach(self, begun: set[State], among: set[State]) -> set[State]:
        reach, todo = set(begun), list(begun)
        while todo:
            for edge in self.edges[todo.pop()]:
                if edge.after in among and edge.after not in reach:
                    reach.add(edge.after)
                    todo.append(edge.after)
        return reach

    def reachable(self) -> set[State]:
        """Return the states that a run may be in."""
        return self._reach({state for state in self.space.levels[0] if state in self.edges}, set(self.edges))

    def some_fair(
        self, states: set[State], fair: list[tuple[frozenset[Bound], bool]], visited: set[State] | None = None
    ) -> bool:
        """Return whether some run within these states is fair, and in some of `visited` again and again."""
        return self._fair_part(states, fair, visited)

    def _fair_part(
        self, states: set[State], fair: list[tuple[frozenset[Bound], bool]], visited: set[State] | None = None
    ) -> bool:
        """Return whether some run within these states is fair; a run may stay where it is.

        Args:
            states: where the run may be.
            fair: the fair sets.
            visited: of these states the run must be in some again and again; None if it need not.
        """
        for part in components(states, lambda state: [edge.after for edge in self.loops[state]]):
            if visited is not None and not part & visited:
                continue
            taken = {e.bound for state in part for e in self.loops[state] if e.after in part and e.after != state}
            broken = [(own, strong) for own, strong in fair if not self._kept(part, taken, own, strong)]
            if not broken:
                return True
            if all(strong for _, strong in broken):
                rest = {state for state in part if not any(self._enabled(state, own) for own, _ in broken)}
                if rest and self._fair_part(rest, fair, visited):
                    return True
        return False

    def _kept(self, around: set[State], taken: set[Bound], own: frozenset[Bound], strong: bool) -> bool:
        """Return whether a run that goes round these states for ever, with these steps, is fair to a set."""
        if own & taken:
            return True
        enabled = [self._enabled(state, own) for state in around]
        return not any(enabled) if strong else not all(enabled)

    def _enabled(self, state: State, own: frozenset[Bound]) -> bool:
        return any(edge.bound in own and edge.after != state for edge in self.edges[state])


def components(states: set[State], following: Callable[[State], Iterable[State]]) -> list[set[State]]:
    """Return the strongly connected components of some states, by what each of them reaches and is reached by."""
    forward = {state: {one for one in following(state) if one in states} for state in states}
    backward: dict[State, set[State]] = {state: set() for state in states}
    for state, after in forward.items():
        for one in after:
            backward[one].add(state)
    found, left = [], set(states)
    while left:
        start = next(iter(left))
        part = _reached(start, forward, left) & _reached(start, backward, left)
        found.append(part)
        left -= part
    return found


def _reached(start: State, following: Mapping[State, set[State]], among: set[State]) -> set[State]:
    reach, todo = {start}, [start]
    while todo:
        for one in following[todo.pop()]:
            if one in among and one not in reach:
                reach.add(one)
                todo.append(one)
    return reach
