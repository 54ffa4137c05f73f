"""Counterexample-guided synthesis of invariants (Garg et al. 2014): the candidates that prove a model's properties.

The result is a suggestion: the caller proves the chosen lemmas.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import combinations, islice

from insync.explorer.mining.clauses import (
    Candidate,
    Saying,
    StatedLemma,
    TruthTable,
    reached_from,
    sayings_of,
    stated,
    text_of,
    true_candidates,
    weakened,
)
from insync.explorer.stepping.machine_stepper import MachineStepper
from insync.explorer.stepping.stepper import Stepper
from insync.model import Model
from insync.model.evaluator import Codes
from insync.proofs.houdini import refuted_at_first
from insync.proofs.obligations import Preservation, enabled_actions
from insync.proofs.results import ProofVerdict, Query, QueryReporter
from insync.properties.invariants import Invariant
from insync.runtime.watch import Stopped, Watch

__all__ = [
    "Mined",
    "mine_lemmas",
]


MOST_STATES = 3000
"""The most reachable states of the small instance that candidates are tried on."""

MOST_LITERALS = 3


@dataclass(frozen=True, slots=True)
class Mined:
    """The result of mining.

    Attributes:
        lemmas: the texts of the chosen candidates, which prove the properties if `enough`.
        enough: whether every step keeps the properties and the lemmas, as far as mining has found.
        candidates: the number of candidates that hold in all states that they were tried on.
        fallen: the number of candidates that steps refuted, among these and the weaker ones that replaced them.
        states: the number of reachable states of the small instance that candidates were tried on.
        all_states: whether these are all of its reachable states.
        bounds: the bounds and settings of the small instance.
        questions: the number of queries to z3 about steps.
        open: a query with a counterexample to induction in whose first state all remaining candidates hold.
    """

    lemmas: tuple[str, ...] = ()
    enough: bool = False
    candidates: int = 0
    fallen: int = 0
    states: int = 0
    all_states: bool = False
    bounds: dict[str, int | str] = field(default_factory=dict)
    questions: int = 0
    open: Query | None = None


def mine_lemmas(
    model: Model,
    small: Model,
    properties: Sequence[Invariant],
    helping: Sequence[Invariant],
    watch: Watch,
    report: QueryReporter,
) -> Mined:
    """Return lemmas that prove properties, or what was found when a limit was reached.

    Args:
        model: the model.
        small: the model at the bounds at which candidates are tried first; it may be the same instance.
        properties: the properties to prove.
        helping: lemmas that are proved together with them.
        watch: the limits.
        report: called with each query when it is answered.
    """
    mining = _Mining(model, small, [*properties, *helping], watch, report)
    try:
        mining.run()
    except Stopped:
        pass
    finally:
        mining.close()
    return mining.found


class _Mining:
    def __init__(
        self, model: Model, small: Model, wanted: Sequence[Invariant], watch: Watch, report: QueryReporter
    ) -> None:
        self.model, self.small, self.wanted, self.watch, self.report = model, small, wanted, watch, report
        self.steppers = {id(one): MachineStepper(one, watch) for one in (small, model)}
        self.found = Mined(bounds=dict(small.identity))

    def close(self) -> None:
        """Release all memory."""
        for stepper in self.steppers.values():
            stepper.close()

    def run(self) -> None:
        """Try candidates of up to two literals, and of three if those are not enough."""
        if not self.small.program.initials.enumerated:
            return
        sayings = sayings_of(self.model, self.small, self.watch)
        states = self._states()
        failing = TruthTable(self.small, sayings, self.watch).failing(states)
        pool: list[Candidate] = []
        for size in range(1, MOST_LITERALS + 1):
            more = true_candidates(sayings, failing, size, self.watch)
            pool += islice(more, MOST_CANDIDATES - len(pool))
            if size > 1:
                self._try(sayings, pool, size)
            if self.found.enough:
                return

    def _states(self) -> list[Codes]:
        stepper = self.steppers[id(self.small)]
        states, every = reached_from(stepper, self.small.program.initials, MOST_STATES, self.watch)
        self.found = replace(self.found, states=len(states), all_states=every)
        return states

    def _try(self, sayings: Sequence[Saying], pool: Sequence[Candidate], size: int) -> None:
        """Refine the candidates at small bounds, where z3 is quick, and then at the bounds of the model."""
        asked, begun = self.found.questions, Refined(list(pool), size)
        for model in dict.fromkeys((self.small, self.model)):
            begun.enough = None
            try:
                refine(model, self.wanted, sayings, begun, self.steppers[id(model)], self.watch, self.report)
            finally:
                self.found = replace(
                    self.found,
                    lemmas=tuple(text_of(sayings[one.saying], one) for one in begun.chosen),
                    enough=bool(begun.enough) and model is self.model,
                    candidates=len(pool),
                    fallen=begun.fallen,
                    questions=asked + begun.questions,
                    open=begun.open,
                )


# --------------------------------------------------------------------------------------------------------- refinement
#
# z3 decides whether every step keeps the properties and the few lemmas chosen so far. A counterexample to induction is
# a step from a good state to a bad one. If some candidates fail in the good state, the simplest of them becomes a
# lemma. If none does, every inductive set of candidates allows this state and all states reachable from it:
#
# - a candidate that fails in one of these states is in no inductive set, so slightly weaker ones replace it, as in
#   DistAI (Yao et al. 2021);
# - if a property fails there, no set of these candidates proves it.
#
# So the properties are proved if and only if the largest inductive set of candidates proves them. This is the set that
# Houdini finds (see `insync.proofs.houdini`), but a query to z3 here has only a few lemmas.


MOST_CANDIDATES = 30_000
"""The most candidates at a time; the simplest are taken."""

_FOLLOWED = 400
"""The most states that are examined of those reachable from a state that all candidates allow."""


@dataclass(slots=True)  # not frozen: a refinement changes it
class Refined:
    """The state and the result of a refinement.

    Attributes:
        pool: the candidates that nothing has refuted.
        most_literals: the most literals of a candidate that replaces a refuted one.
        chosen: the candidates that are lemmas.
        enough: whether every step keeps the properties and the lemmas; None as long as that is open.
        fallen: the number of refuted candidates.
        questions: the number of queries to z3 about steps.
        open: the query whose answer shows that the candidates are not enough.
    """

    pool: list[Candidate]
    most_literals: int
    chosen: list[Candidate] = field(default_factory=list)
    enough: bool | None = None
    fallen: int = 0
    questions: int = 0
    open: Query | None = None


def refine(
    model: Model,
    wanted: Sequence[Invariant],
    sayings: Sequence[Saying],
    begun: Refined,
    stepper: Stepper,
    watch: Watch,
    report: QueryReporter,
) -> None:
    """Choose lemmas from a pool of candidates, until every step keeps them and the properties, or no choice can do so.

    Args:
        model: the model.
        wanted: the properties to prove, and lemmas of other origin.
        sayings: the prefixes with the atoms of the candidates.
        begun: the pool, and lemmas that are chosen already; it is updated, also if the refinement is stopped.
        stepper: takes the model's steps.
        watch: the limits.
        report: called with each query when it is answered.

    Raises:
        Stopped: a limit is reached.
    """
    _Refinement(model, wanted, sayings, begun, stepper, watch, report).run()


class _Refinement:
    def __init__(
        self,
        model: Model,
        wanted: Sequence[Invariant],
        sayings: Sequence[Saying],
        found: Refined,
        stepper: Stepper,
        watch: Watch,
        report: QueryReporter,
    ) -> None:
        self.model, self.wanted, self.sayings, self.found = model, wanted, sayings, found
        self.stepper, self.watch, self.report = stepper, watch, report
        self.truth = TruthTable(model, sayings, watch)
        self.order = enabled_actions(model)

    def run(self) -> None:
        """Refine until it is decided whether the candidates are enough."""
        self.found.open = None
        while self.found.enough is None:
            self.watch.check()
            query = self._broken()
            if query is None:
                self._begin()
            elif query.counterexample is None:
                self.found.enough, self.found.open = False, query
            else:
                self._learn(query)
        if self.found.enough:
            self._leave_out()

    def _broken(self, without: Candidate | None = None) -> Query | None:
        """Return the first query about steps without a proof, or None; later calls begin with that query's action."""
        chosen = [lemma for one, lemma in self._lemmas() if one is not without]
        steps = Preservation(self.model, [*self.wanted, *chosen], watch=self.watch)
        with closing(steps.ask_each(self.order)) as answers:
            for number, query in enumerate(answers):
                self.found.questions += 1
                self.report(query)
                if query.verdict is not ProofVerdict.PROVED:
                    self.order = [*self.order[number:], *self.order[:number]]
                    return query
        return None

    def _lemmas(self) -> list[tuple[Candidate, StatedLemma]]:
        texts = [text_of(self.sayings[one.saying], one) for one in self.found.chosen]
        return list(zip(self.found.chosen, stated(texts), strict=True))

    def _begin(self) -> None:
        """As all steps keep the chosen lemmas, drop those that fail initially; if there are none, they are enough."""
        lemmas = self._lemmas()
        fallen = {one.name for one in refuted_at_first(self.model, [lemma for _, lemma in lemmas], self.watch)}
        if not fallen:
            self.found.enough = True
        self._drop([one for one, lemma in lemmas if lemma.name in fallen])

    def _learn(self, query: Query) -> None:
        """Choose a lemma that excludes the good state of a counterexample, or drop the candidates that it refutes."""
        found = query.counterexample
        assert found is not None
        state = found.states.codes[-1 if found.refused is not None else -2]
        fails = self.truth.failing([state])
        excluding = [one for one in self.found.pool if one.failures(fails)]
        if excluding:
            self.found.chosen.append(min(excluding, key=self._simplicity))
            return
        names = {one.name for one in self.wanted}
        if found.refused is not None or names & set(found.failing):
            self.found.enough, self.found.open = False, query
            return
        states, _ = reached_from(self.stepper, [state], _FOLLOWED, self.watch)
        fails = self.truth.failing(states)
        fallen = [one for one in self.found.pool if one.failures(fails)]
        self._drop(fallen)
        self._weaken(fallen, fails)

    def _simplicity(self, one: Candidate) -> tuple[int, int, int]:
        saying = self.sayings[one.saying]
        return len(one.literals), len(saying.prefix.variables), len(text_of(saying, one))

    def _drop(self, fallen: Sequence[Candidate]) -> None:
        gone = set(fallen)
        self.found.pool = [one for one in self.found.pool if one not in gone]
        self.found.chosen = [one for one in self.found.chosen if one not in gone]
        self.found.fallen += len(gone)

    def _weaken(self, fallen: Sequence[Candidate], fails: Sequence[Sequence[int]]) -> None:
        """Replace refuted candidates by weaker ones that the same states do not refute."""
        known = set(self.found.pool)
        for one in fallen:
            self.watch.check()
            for weaker in weakened(self.sayings[one.saying], one, fails) if self._may_grow(one) else ():
                if weaker not in known and not known & set(_parts(weaker)):
                    known.add(weaker)
                    self.found.pool.append(weaker)

    def _may_grow(self, one: Candidate) -> bool:
        return len(one.literals) < self.found.most_literals and len(self.found.pool) < MOST_CANDIDATES

    def _leave_out(self) -> None:
        """Drop each lemma without which every step keeps the rest, the least simple first."""
        for one in sorted(self.found.chosen, key=self._simplicity, reverse=True):
            with suppress(Stopped):
                self.watch.check()
                if self._broken(without=one) is None:
                    self.found.chosen.remove(one)


def _parts(one: Candidate) -> Iterator[Candidate]:
    """Yield the candidates with some of the literals, which are stronger."""
    for size in range(1, len(one.literals)):
        yield from (Candidate(one.saying, literals) for literals in combinations(one.literals, size))
