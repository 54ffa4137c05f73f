"""Mining: candidates for lemmas made of a model's own conditions, and those of them that prove its properties.

Nothing that is found here is believed: whoever asks for it proves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from insync.explorer.mining.clauses import (
    Candidate,
    Saying,
    TruthTable,
    reached_from,
    sayings_of,
    text_of,
    true_candidates,
)
from insync.explorer.mining.refining import MOST_CANDIDATES, Refined, refine
from insync.explorer.stepping.machine_stepper import MachineStepper
from insync.machine.interruptible import GivenUp
from insync.model import Model
from insync.model.evaluator import Codes
from insync.proofs.results import Query, QueryReporter
from insync.proofs.watch import ProofWatch, Stopped
from insync.properties.invariants import Invariant

__all__ = ["Mined", "mine_lemmas"]

MOST_STATES = 3000
"""How many reachable states of the small instance candidates are tried on."""

MOST_LITERALS = 3


@dataclass(frozen=True, slots=True)
class Mined:
    """What mining came to.

    Attributes:
        lemmas: the texts of the candidates that were chosen; they prove the properties if `enough`.
        enough: whether every step keeps the properties and the lemmas, as far as mining has found out.
        candidates: how many candidates are true of all states that they were tried on.
        fallen: how many candidates were refuted by a step, of these and of weaker ones that took their place.
        states: how many states they were tried on, all of them reachable in the small instance.
        all_states: whether these are all that are reachable there.
        bounds: the bounds and settings of the small instance.
        questions: how many questions z3 was asked about steps.
        open: what refutes the induction from a state in which all candidates hold that are left.
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
    watch: ProofWatch,
    report: QueryReporter,
) -> Mined:
    """Return what was found to prove properties with; if it is stopped, what was found by then.

    Args:
        model: the model.
        small: the same at bounds at which candidates are tried first; it may be the same instance.
        properties: what is to be proved.
        helping: lemmas that are proved with it.
        watch: says when to stop.
        report: is told of each question when it is answered.
    """
    mining = _Mining(model, small, [*properties, *helping], watch, report)
    try:
        mining.run()
    except (Stopped, GivenUp):
        pass
    finally:
        mining.close()
    return mining.found


class _Mining:
    def __init__(
        self, model: Model, small: Model, wanted: Sequence[Invariant], watch: ProofWatch, report: QueryReporter
    ) -> None:
        self.model, self.small, self.wanted, self.watch, self.report = model, small, wanted, watch, report
        self.steppers = {id(one): MachineStepper(one, lambda: watch.stopped) for one in (small, model)}
        self.found = Mined(bounds=dict(small.identity))

    def close(self) -> None:
        """Give all memory back."""
        for stepper in self.steppers.values():
            stepper.close()

    def run(self) -> None:
        """Try candidates of two conditions, and of three where those are not enough."""
        if not self.small.program.initials.enumerated:
            return
        go_on = self.watch.go_on
        sayings = sayings_of(self.model, self.small, go_on)
        states = self._states()
        failing = TruthTable(self.small, sayings, go_on).failing(states)
        pool: list[Candidate] = []
        for size in range(1, MOST_LITERALS + 1):
            more = true_candidates(sayings, failing, size, go_on)
            pool += islice(more, MOST_CANDIDATES - len(pool))
            if size > 1:
                self._try(sayings, pool, size)
            if self.found.enough:
                return

    def _states(self) -> list[Codes]:
        stepper = self.steppers[id(self.small)]
        states, every = reached_from(stepper, self.small.program.initials, MOST_STATES, self.watch.go_on)
        self.found = replace(self.found, states=len(states), all_states=every)
        return states

    def _try(self, sayings: Sequence[Saying], pool: Sequence[Candidate], size: int) -> None:
        """Refine the candidates where z3 is quick, and then at the bounds that are asked about."""
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
