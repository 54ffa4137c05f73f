"""`prove`: properties of every reachable state by induction, with lemmas; `bounded_check`: short violations, with z3.

To infer lemmas, candidates are first tried where they fall soonest: in the initial state, on every reachable state of
a small instance, and by the steps of that instance. z3 is asked about the instance itself for those that are left.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from insync.explorer.given_model import ModelLike, model_of
from insync.explorer.limits import Limits, require_seconds_alone
from insync.explorer.mining.clauses import StatedLemma, lemmas_in, refuted_candidates, small_instance, stated
from insync.explorer.mining.synthesis import mine_lemmas
from insync.explorer.proof_results import BoundedResult, ProofResult
from insync.explorer.results import Verdict
from insync.explorer.search.workers import available_cores
from insync.explorer.stepping.stepper import Move, Refused
from insync.explorer.tables import plural
from insync.explorer.traces.counterexample import refusal_trace, trace_of, violation_trace
from insync.explorer.traces.trace import Trace
from insync.model import Model
from insync.model.errors import UserError
from insync.model.given_names import given_names
from insync.proofs.bounded import check_bounded
from insync.proofs.houdini import Dropped, Inferred, infer, refuted_at_first
from insync.proofs.k_induction import check_induction
from insync.proofs.proof_file import Proof, read_proof
from insync.proofs.results import Bounded, CounterexampleToInduction, Induction, ProofVerdict, Query, StateSequence
from insync.proofs.watch import ProofLimits, ProofWatch
from insync.properties.invariants import TYPE_OK, Invariant
from insync.properties.registry import confined, judge, lemmas_of, select_lemmas

__all__ = [
    "bounded_check",
    "induction_trace",
    "prove",
]

_SEARCHING = 60.0
"""The most seconds of the search that tries candidates on a small instance."""

QueryReporter = Callable[[Query], None]
"""Called with each question to z3 when it is answered."""


def prove(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    lemmas: Sequence[str] = (),
    infer: bool = False,
    mine: bool = False,
    automatic: bool = False,
    unbounded: bool = False,
    proof: str | Path | None = None,
    k: int | None = None,
    within: Sequence[str] | None = None,
    limits: Limits | None = None,
    query_seconds: float | None = None,
    threads: int | None = None,
    reporter: QueryReporter | None = None,
    stop: threading.Event | None = None,
) -> ProofResult:
    """Prove that properties hold in every reachable state, by induction.

    Args:
        model: the model: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; those left out have their defaults, also beside a proof.
        properties: names of properties; None is those of the proof file, or the model's headline.
        lemmas: names of what helps and is proved as well; "all" is every lemma declared for the model.
        infer: whether to find out which of the lemmas help, and leave the others out; without `lemmas` and `proof`
            all are tried. If the library has none for the model, and the rest is no proof, lemmas are mined.
        mine: whether to do the same without the library's lemmas, and mine lemmas from the model's own conditions.
        automatic: whether to try an induction with the lemmas given, or all of the library, and if that is no proof to
            infer lemmas; `tried` of the result says what was done.
        unbounded: whether to prove it for all values of the bounds that the model's class names `unbounded`, whatever
            they are in `bounds`; without `lemmas` and `proof` with all lemmas of the library that are true of a small
            instance. What is not proved is then unknown, never refuted.
        proof: a file that `ProofResult.save` wrote: its lemmas are taken too.
        k: how many good states in a row are assumed before a step; None is that of the proof file, or 1.
        within: names of invariants; what is proved is then about the states that are reached through states in which
            they hold. None is those of the proof file, or what the model's class says.
        limits: `seconds` for all of it; a proof has no other limit.
        query_seconds: for each question to z3; one that takes longer is unknown, and the next one is asked.
        threads: how many questions z3 is asked at a time; None is one for each core.
        reporter: is told of each question when it is answered.
        stop: ends it when it is set.

    Raises:
        UserError: an unknown model, bound, property or lemma, another limit than seconds, or z3 is not installed.
    """
    saved = read_proof(Path(proof)) if proof is not None else None
    if unbounded and saved is not None and saved.conditions:
        message = f"{proof} has mined lemmas, which are about its bounds. Leave it out, or the bounds as they are."
        raise UserError(message)
    built = _confined(model_of(model, bounds), saved, within)
    conditions = _conditions(built, properties, lemmas, infer or automatic or unbounded, saved, k)
    work = _Work(built, limits, query_seconds, reporter, stop, threads)
    if unbounded:
        return work.proved_for_all_bounds(conditions, chosen=bool(lemmas) or saved is not None)
    if automatic:
        return work.tried(conditions)
    if infer or mine:
        return work.inferred(conditions, mining=mine or not lemmas_of(built))
    return work.proved(conditions)


def bounded_check(
    model: ModelLike,
    *,
    depth: int,
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    lemmas: Sequence[str] = (),
    infer: bool = False,
    proof: str | Path | None = None,
    within: Sequence[str] | None = None,
    limits: Limits | None = None,
    query_seconds: float | None = None,
    reporter: QueryReporter | None = None,
    stop: threading.Event | None = None,
) -> BoundedResult:
    """Look with z3 for the shortest trace to a violation, in the states of `depth` levels and the steps from them.

    A trace to a step that breaks a step invariant ends with the state after it, so it may have `depth` + 1 states.

    Args:
        model: the model: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        depth: how many levels of states are looked at; the initial states are the first.
        bounds: bounds and settings of a class or a name; those left out have their defaults, also beside a proof.
        properties: names of properties; None is those of the proof file, or the model's headline.
        lemmas: names of what is proved first and then assumed, which spares z3 states that cannot be reached.
        infer: whether to find out which of the lemmas can be proved; without `lemmas` and `proof` all are tried.
        proof: a file that `ProofResult.save` wrote: its lemmas are taken too.
        within: names of invariants, from states in which one fails no step is taken; see `prove`.
        limits: `seconds` for all of it.
        query_seconds: for each question to z3.
        reporter: is told of each question when it is answered.
        stop: ends it when it is set.

    Raises:
        UserError: lemmas that are not inductive, or whatever `prove` raises.
    """
    saved = read_proof(Path(proof)) if proof is not None else None
    built = _confined(model_of(model, bounds), saved, within)
    conditions = _conditions(built, properties, lemmas, infer, saved, None)
    return _Work(built, limits, query_seconds, reporter, stop).bounded(conditions, depth, infer)


@dataclass(frozen=True, slots=True)
class _Conditions:
    """What is proved, and what helps; `k` is how many good states are assumed."""

    properties: list[Invariant]
    lemmas: list[Invariant]
    k: int

    @property
    def all(self) -> list[Invariant]:
        """Properties and lemmas, each once."""
        return list({c.name: c for c in (*self.properties, *self.lemmas)}.values())


def _confined(model: Model, saved: Proof | None, within: Sequence[str] | None) -> Model:
    """Return the model as it is confined by the caller, or else as a saved proof says, or else its class."""
    return confined(model, saved.within if within is None and saved is not None else within)


def _conditions(
    model: Model,
    properties: Sequence[str] | None,
    lemmas: Sequence[str],
    infer: bool,
    saved: Proof | None,
    k: int | None,
) -> _Conditions:
    asked = () if properties is None else given_names("properties", properties)
    names = asked or (saved.properties if saved is not None else None)
    if infer and not lemmas and saved is None:
        helping: list[Invariant] = list(lemmas_of(model).values())
    else:
        given = [*(saved.lemmas if saved is not None else ()), *given_names("lemmas", lemmas)]
        helping = select_lemmas(model, [n for name in given for n in (lemmas_of(model) if name == "all" else [name])])
    if saved is not None:
        helping += lemmas_in(saved, model)
    judged = list(judge(model, names or None).invariants)
    return _Conditions(judged, helping, k or (saved.k if saved is not None else 1))


class _Work:
    """The ways to prove, within one time for all that they do and until somebody stops them."""

    def __init__(
        self,
        model: Model,
        limits: Limits | None,
        query_seconds: float | None,
        reporter: QueryReporter | None,
        stop: threading.Event | None,
        threads: int | None = None,
    ) -> None:
        given = require_seconds_alone(limits, "a proof")
        self.model, self.reporter, self.stop = model, reporter, stop
        self.watch = ProofWatch(ProofLimits(given.seconds, query_seconds, threads or available_cores()), stop)

    def bounded(self, conditions: _Conditions, depth: int, infer: bool) -> BoundedResult:
        """Look for a violation within a depth, with the lemmas that are proved first."""
        model, asked = self.model, conditions.properties
        lemmas = self._proved_lemmas(conditions.lemmas, infer)
        result = check_bounded(
            model, asked, depth, lemmas=lemmas, limits=self.watch.left, reporter=self.reporter, stop=self.stop
        )
        return BoundedResult(model, asked, lemmas, result, _traces(model, asked, result))

    def _proved_lemmas(self, lemmas: list[Invariant], infer: bool) -> list[Invariant]:
        """Return the lemmas if they are proved, or those that are: a bounded check may assume no others."""
        if infer:
            found = self._infer(self.model, lemmas)
            return [lemma for lemma in lemmas if lemma.name in found.proved]
        if not lemmas:
            return []
        result = self._induction(lemmas, 1)
        if result.verdict is ProofVerdict.PROVED:
            return lemmas
        if result.stopped_by is not None:
            return []
        failing = next(q.name for q in result.queries if q.verdict is not ProofVerdict.PROVED)
        message = (
            f"{self.model.name}: the lemmas are not inductive at these bounds ({failing} is not proved), so a bounded "
            f"check must not use them. Leave them out, or infer which can be proved (--infer beside --bmc)."
        )
        raise UserError(message)

    def proved(self, conditions: _Conditions) -> ProofResult:
        """Prove the conditions by induction as they are."""
        return self._result(conditions, self._induction(conditions.all, conditions.k))

    def proved_for_all_bounds(self, conditions: _Conditions, *, chosen: bool) -> ProofResult:
        """Prove conditions for all values of some bounds; lemmas nobody chose must hold in a small instance."""
        from insync.proofs.unbounded import check_all_bounds

        left = self.watch.left.seconds
        seconds = _SEARCHING if left is None else min(_SEARCHING, left)
        lemmas = [] if chosen else conditions.lemmas
        dropped = refuted_candidates(self.model, lemmas, seconds=seconds, stop=self.stop)
        kept = replace(conditions, lemmas=_without(conditions.lemmas, dropped))
        limits = self.watch.left
        small = small_instance(self.model)
        result = check_all_bounds(
            self.model,
            kept.all,
            limits=limits,
            rehearsal=None if small.identity == self.model.identity else small,
            reporter=self.reporter,
            stop=self.stop,
        )
        return replace(self._result(kept, result, dropped), unbounded=type(self.model).unbounded)

    def tried(self, conditions: _Conditions) -> ProofResult:
        """Prove the conditions as they are, or else find out which of them are inductive together."""
        first = self.proved(conditions)
        used = f"induction with {plural(len(first.lemmas), 'lemma')}" if first.lemmas else "induction without a lemma"
        if first.verdict is not Verdict.INCOMPLETE or first.result.stopped_by is not None:
            return replace(first, tried=(f"{used}: {first.result.verdict.value}",))
        failing = ", ".join(q.name for q in first.result.queries if q.verdict is not ProofVerdict.PROVED)
        second = self.inferred(conditions, mining=not lemmas_of(self.model))
        ways = [f"{used}: {failing} not proved"]
        answer = second.result.verdict.value if not second.lost else "not proved"
        if first.lemmas:
            dropped = f"the same without {plural(len(second.dropped), 'lemma')}, dropped until the rest was inductive"
            ways.append(f"{dropped}: {'not proved' if second.mined is not None else answer}")
        if second.mined is not None:
            ways.append(f"lemmas mined from the model's own conditions: {answer}")
        elif not first.lemmas and second.lost and second.result.stopped_by is None:
            ways.append("no lemmas were mined, as a property fails in a reachable state")
        return replace(second, tried=tuple(ways))

    def inferred(self, conditions: _Conditions, *, mining: bool) -> ProofResult:
        """Find out which of the conditions are inductive together; if the properties are not, mine lemmas perhaps."""
        refuted = self._refuted(conditions.all)
        found = self._largest_inductive(conditions, refuted)
        asked, fallen = {p.name for p in conditions.properties}, {d.name for d in refuted}
        if not mining or found.verdict is not Verdict.INCOMPLETE or found.result.stopped_by or asked & fallen:
            return found
        return self._mined(conditions.properties, found)

    def _refuted(self, asked: Sequence[Invariant]) -> list[Dropped]:
        """Return what fails in an initial state, or in a reachable state of the small instance."""
        dropped = refuted_at_first(self.model, asked, self.stop)
        left = self.watch.left.seconds
        seconds = _SEARCHING if left is None else min(_SEARCHING, left)
        rest = _named(_without(asked, dropped))
        return dropped + refuted_candidates(self.model, rest, seconds=seconds, stop=self.stop)

    def _largest_inductive(self, conditions: _Conditions, refuted: Sequence[Dropped]) -> ProofResult:
        """Find out which of the conditions that no state refutes are inductive together."""
        asked, model, dropped = conditions.all, self.model, list(refuted)
        small = small_instance(model)
        if small.identity != model.identity:  # what a step breaks there is found in seconds, at large bounds in minutes
            where = ", ".join(f"{name} {value}" for name, value in small.identity.items())
            fallen = self._infer(small, _named(_without(asked, dropped))).dropped
            dropped += [replace(d, by=f"{d.by} ({where})") for d in fallen]
        found = self._infer(model, _without(asked, dropped))
        dropped += found.dropped
        kept = _Conditions(_without(conditions.properties, dropped), _without(conditions.lemmas, dropped), 1)
        lost = [p.name for p in conditions.properties if p not in kept.properties]
        return self._result(kept, found.induction, dropped, lost)

    def _mined(self, properties: Sequence[Invariant], found: ProofResult) -> ProofResult:
        """Mine lemmas to prove properties, beside those that are proved."""
        small = small_instance(self.model)
        if small.identity == self.model.identity:
            small = self.model
        helping = list(found.lemmas) if found.result.verdict is ProofVerdict.PROVED else []
        mined = mine_lemmas(self.model, small, properties, helping, self.watch, self.reporter or (lambda query: None))
        candidates = [*properties, *helping, *stated(mined.lemmas)]
        kept = self._infer(self.model, candidates)
        left = _without(candidates, kept.dropped)
        conditions = _Conditions([p for p in properties if p in left], [c for c in left if c not in properties], 1)
        lost = [p.name for p in properties if p not in left]
        proved = {p.name for p in conditions.properties}
        dropped = [one for one in found.dropped if one.name not in proved]
        return replace(self._result(conditions, kept.induction, dropped, lost), mined=mined)

    def _induction(self, conditions: Sequence[Invariant], k: int) -> Induction:
        left = self.watch.left
        return check_induction(self.model, conditions, k=k, limits=left, reporter=self.reporter, stop=self.stop)

    def _infer(self, model: Model, candidates: Sequence[Invariant]) -> Inferred:
        return infer(model, candidates, limits=self.watch.left, reporter=self.reporter, stop=self.stop)

    def _result(
        self, conditions: _Conditions, result: Induction, dropped: Sequence[Dropped] = (), lost: Sequence[str] = ()
    ) -> ProofResult:
        traces = _traces(self.model, conditions.all, result.violation) if result.violation is not None else []
        names = {p.name for p in conditions.properties}
        lemmas = [c for c in conditions.lemmas if c.name not in names]
        return ProofResult(self.model, conditions.properties, lemmas, result, traces, dropped, lost)


def _named(conditions: Sequence[Invariant]) -> list[Invariant]:
    """Return the conditions that the registry has, and not those that are stated as texts, at some bounds."""
    return [condition for condition in conditions if not isinstance(condition, StatedLemma)]


def _without(conditions: Sequence[Invariant], dropped: Sequence[Dropped]) -> list[Invariant]:
    names = {d.name for d in dropped}
    return [condition for condition in conditions if condition.name not in names]


def _traces(model: Model, properties: Sequence[Invariant], found: Bounded) -> list[Trace]:
    """The trace of each violation that a bounded check found."""
    known = {p.name: p for p in properties}
    traces = []
    for name, states in zip(found.violated, found.sequences, strict=True):
        moves = _moves(states)
        refused = name == TYPE_OK and name not in known
        traces.append(refusal_trace(model, moves) if refused else violation_trace(model, known[name], moves))
    return traces


def induction_trace(model: Model, found: CounterexampleToInduction) -> Trace:
    """Return a counterexample to induction as a trace; it does not begin with the initial state."""
    refused = None if found.refused is None else Refused(found.refused, found.reason)
    trace = trace_of(model, found.failing[0], _moves(found.states), found.reason, refused)
    first, *rest = trace.steps
    return replace(trace, steps=(replace(first, label="a good state"), *rest), demands=())


def _moves(states: StateSequence) -> list[Move]:
    return list(zip((None, *states.actions), states.codes, strict=True))
