"""A tour over all steps of a small space of the model, taken on Kafka's classes as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from insync.conformance.comparing.coverage import Coverage
from insync.conformance.comparing.walks import Divergence
from insync.conformance.correspondence.facts import Difference
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.correspondence.side_by_side import SideBySide
from insync.explorer.runs.state_graph import StateGraph
from insync.explorer.runs.transition_tour import ActionShare, Tour, Went
from insync.model.tracing.program import BoundAction
from insync.runtime.watch import Stopped, StopReason

__all__ = ["KafkaTour", "Space", "asked_at_once"]

_ASKED = "Kafka's leader asks for a larger ISR within the fetch, and is never in the state before that"
_GOES_ON = "Kafka goes on by itself at once, and is never in the state before that"
_BEYOND = "only what is not schedulable leads to that state"
_NOT_AGAIN = "Kafka was in that state, and the same steps do not always lead there"


@dataclass(frozen=True, slots=True)
class Space:
    """How much of a space a tour has seen.

    Attributes:
        states: of the space.
        transitions: of the space.
        visited: the states that Kafka was in.
        taken: the transitions that Kafka took.
        open: those that are neither taken nor known not to be schedulable.
        whole: whether the space is all that the model has.
    """

    states: int
    transitions: int
    visited: int
    taken: int
    open: int
    whole: bool

    def __add__(self, other: Space) -> Space:
        """Both together, each counted by itself."""
        return Space(
            self.states + other.states,
            self.transitions + other.transitions,
            self.visited + other.visited,
            self.taken + other.taken,
            self.open + other.open,
            self.whole and other.whole,
        )


def asked_at_once(actions: tuple[BoundAction, ...]) -> dict[int, int]:
    """Return for each fetch the request for a larger ISR that Kafka's leader makes within it, where it can."""
    named = {(action.name, *sorted(action.shown_parameters.items())): n for n, action in enumerate(actions)}
    asks = {number: named.get(("expand_isr", *given)) for (name, *given), number in named.items() if name == "fetch"}
    return {fetch: asked for fetch, asked in asks.items() if asked is not None}


class KafkaTour:
    """A tour of the model and Kafka, side by side.

    Args:
        graph: the space.
        new_pair: makes what walks.
        coverage: counts what is compared.
    """

    def __init__(self, graph: StateGraph, new_pair: Callable[[], SideBySide[Any]], coverage: Coverage) -> None:
        self.graph, self.coverage, self._new_pair = graph, coverage, new_pair
        self.tour = Tour((), (), (), len(graph))
        self._kinds: dict[int, str] = {}
        self._chosen: list[int] = []
        self._passed_over: dict[int, str] = {}
        self._state: int | None = 0
        self._pair: SideBySide[Any]

    def run(self, stopped: Callable[[], StopReason | None]) -> Divergence | None:
        """Walk until each step was taken or is known not to be schedulable, or until a difference.

        Args:
            stopped: asked before each step whether to give up.

        Raises:
            Stopped: `stopped` gave a reason.
        """
        columns = (self.graph.source.tolist(), self.graph.action.tolist(), self.graph.target.tolist())
        self.tour = Tour(*columns, len(self.graph), asked_at_once(tuple(self.graph.actions)), stopped)
        found = self._begin()
        while not found:
            plan = [] if self._pair.spoilt or self._state is None else self.tour.plan(self._state)
            if not plan:
                plan = self.tour.plan_anew()
                if not plan:
                    self.tour.give_up()
                    return None
                found = self._begin()
            found = found or self._follow(plan, stopped)
        return Divergence.of(self._chosen, self._pair, found)

    @property
    def space(self) -> Space:
        """How much was seen so far."""
        tour, graph = self.tour, self.graph
        taken, settled = tour.went.count(Went.TAKEN), len(tour.went) - tour.left
        whole = graph.stopped_by is None
        return Space(len(graph), len(graph.action), sum(tour.visited), taken, len(graph.action) - settled, whole)

    @property
    def bound_actions(self) -> Mapping[str, ActionShare]:
        """The transitions of the space and those taken, by bound action."""
        counts: dict[str, ActionShare] = {}
        for number, went in zip(self.tour.action, self.tour.went, strict=True):
            label = self.graph.actions[number].label
            counts[label] = counts.get(label, ActionShare()) + ActionShare(1, int(went == Went.TAKEN))
        return counts

    @property
    def gaps(self) -> Mapping[tuple[str, str], int]:
        """The steps that are not taken, for each action and reason; in a tour that is at its end these are all."""
        tour = self.tour
        counts: Counter[tuple[str, str]] = Counter()
        for step, went in enumerate(tour.went):
            if went == Went.GIVEN_UP:
                state = tour.source[step]
                why = _NOT_AGAIN if tour.visited[state] else self._passed_over.get(state, _BEYOND)
                counts[self._name(step), why] += 1
            elif went == Went.REFUSED:
                counts[self._name(step), self._kinds[step]] += 1
        return dict(sorted(counts.items()))

    def _name(self, step: int) -> str:
        return self.graph.actions[self.tour.action[step]].name

    def _begin(self) -> list[Difference]:
        self.coverage.opened += 1
        self._pair, self._state, self._chosen = self._new_pair(), 0, []
        found = self._pair.open()
        for taken, _ in self._pair.moves[1:]:
            assert taken is not None
            self._go(taken)
        return found

    def _follow(self, plan: list[int], stopped: Callable[[], StopReason | None]) -> list[Difference]:
        """Take the steps of a plan, as far as they lead where they should."""
        for step, following in zip_longest(plan, plan[1:]):
            if reason := stopped():
                raise Stopped(reason)
            found = self._try_again()
            if found is not None or self._pair.spoilt:
                return found or []
            found = self._take(step)
            if found is None:
                if following is not None:
                    self.tour.missed()
                return []
            if found or self._state is None:
                return found
            self.tour.led(step, self._state)
            if following is not None and self.tour.source[following] != self._state:
                self.tour.missed()
                return []
        return []

    def _try_again(self) -> list[Difference] | None:
        """Try what could not be taken in this state before; None where it still cannot, else the plan is at its end."""
        for step in self.tour.refused_before(self._state) if self._state is not None else ():
            found = self._take(step)
            if found is not None or self._pair.spoilt:
                return found
        return None

    def _take(self, step: int) -> list[Difference] | None:
        """Take a step on both, and count it; None where it is not schedulable."""
        pair, number = self._pair, self.tour.action[step]
        before, length, own = pair.walk.codes, len(pair.moves), len(pair.own)
        try:
            found = pair.take(number)
        except NotSchedulable as fault:
            self._kinds[step] = fault.kind
            self.coverage.note(number, fault)
            self.tour.refused(step)
            return None
        self._chosen.append(number)
        self.coverage.add_step(before, pair.moves[length:], own=len(pair.own) - own, fields=pair.compared)
        for place, (taken, _) in enumerate(pair.moves[length:]):
            assert taken is not None
            if place and self._state is not None:
                asks = self.graph.actions[taken].name == "expand_isr"
                self._passed_over[self._state] = _ASKED if asks else _GOES_ON
            self._go(taken)
        return found

    def _go(self, action: int) -> None:
        """Note that a step was taken, unless it leads out of the explored part of the space."""
        step = None if self._state is None else self.tour.step_of(self._state, action)
        if step is not None:
            self.tour.took(step)
        self._state = None if step is None else self.tour.target[step]
