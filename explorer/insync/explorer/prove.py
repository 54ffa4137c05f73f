"""`prove`: proofs by k-induction with z3 and lemmas; `bounded_check`: bounded model checking.

Lemmas are inferred as the largest inductive subset of candidates (Houdini: Flanagan & Leino 2001). Before z3 decides on
the model itself, candidates are refuted where that is cheap: in the initial states, in the reachable states of a small
instance, and by the steps of that instance.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from insync.explorer.mining.clauses import StatedLemma, lemmas_in, refuted_candidates, small_instance, stated
from insync.explorer.mining.synthesis import mine_lemmas
from insync.explorer.proof_results import BoundedResult, ProofResult
from insync.explorer.results import Verdict
from insync.explorer.stepping.stepper import Move, Refused
from insync.explorer.task import ModelLike, Needs, Prepared, Task
from insync.explorer.traces.trace import Trace, refusal_trace, trace_of, violation_trace
from insync.model import Model
from insync.model.given_names import given_names
from insync.proofs.bounded import check_bounded
from insync.proofs.houdini import Dropped, Inferred, infer, refuted_at_first
from insync.proofs.k_induction import INITIATION, check_induction
from insync.proofs.proof_file import Proof, read_proof
from insync.proofs.results import (
    Bounded,
    BoundedVerdict,
    CounterexampleToInduction,
    Induction,
    ProofVerdict,
    Query,
    StateSequence,
)
from insync.properties.invariants import TYPE_OK, Invariant
from insync.properties.registry import invariants_of, lemmas_of, select_lemmas
from insync.runtime.errors import UserError
from insync.runtime.text import plural
from insync.runtime.watch import Limits, StopReason, Watch, limits_of

__all__ = [
    "bounded_check",
    "induction_trace",
    "prove",
]

_SEARCHING = 60.0
"""The most seconds of the search that tries candidates on a small instance."""

QueryReporter = Callable[[Query], None]
"""Called with each query to z3 when it is answered."""


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
        model: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; those left out have their defaults, with a proof file too.
        properties: names of properties; None is those of the proof file, or the model's headline.
        lemmas: names of conditions that are proved together with the properties; "all" is every lemma declared for the
            model.
        infer: whether to find the lemmas that are inductive together, and omit the others; without `lemmas` and
            `proof` all are candidates. If the library has none for the model, and there is no proof, lemmas are mined.
        mine: whether to do the same without the library's lemmas, and mine lemmas from the model's own conditions.
        automatic: whether to try an induction with the lemmas given, or with all of the library, and then, if that is
            no proof, to infer lemmas; `tried` of the result lists these ways.
        unbounded: whether to prove the properties for all values of the bounds that the model's class names
            `unbounded`, whatever `bounds` has. Without `lemmas` and `proof`, with all lemmas of the library that hold
            in a small instance. A property that is not proved is then unknown, never refuted.
        proof: a file that `ProofResult.save` wrote; its lemmas are used too.
        k: how many good states in a row are assumed before a step; None is that of the proof file, or 1.
        within: names of invariants; the proof is then about states that are reached through states in which they hold.
            None is those of the proof file, or the confinement of the model's class.
        limits: `seconds` for all of the work, and `query_seconds`; a proof has no other limit.
        query_seconds: in place of that of `limits`, for each query to z3; one that takes longer is unknown, and the
            next one follows.
        threads: how many queries z3 answers at a time; None is one per core.
        reporter: called with each query when it is answered.
        stop: ends the work when it is set.

    Raises:
        UserError: an unknown model, bound, property or lemma, another limit than those of time, or z3 is not installed.
    """
    saved = read_proof(Path(proof)) if proof is not None else None
    if unbounded and saved is not None and saved.conditions:
        message = f"{proof} has mined lemmas, which are about its bounds. Leave it out, or the bounds as they are."
        raise UserError(message)
    task = _task(model, bounds, properties, within, saved, _limits(limits, query_seconds), threads, stop)

    def work(prepared: Prepared) -> ProofResult:
        conditions = _conditions(prepared, lemmas, infer or automatic or unbounded, saved, k)
        proving = _Work(prepared, reporter)
        if unbounded:
            return proving.proved_for_all_bounds(conditions, chosen=bool(lemmas) or saved is not None)
        if automatic:
            return proving.tried(conditions)
        if infer or mine:
            return proving.inferred(conditions, mining=mine or not lemmas_of(prepared.model))
        return proving.proved(conditions)

    def stopped(prepared: Prepared, reason: StopReason) -> ProofResult:
        none = Induction(ProofVerdict.UNKNOWN, k or 1, prepared.names, (), (INITIATION,), reason)
        left_open = type(prepared.model).unbounded if unbounded else ()
        return ProofResult(prepared.model, _properties(prepared), (), none, (), unbounded=left_open)

    # A proof for all bounds traces the model with these left open, and not at any values.
    return task.run(work, stopped, Needs.MODEL if unbounded else Needs.PROPERTIES)


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
    """Find the shortest trace to a violation with z3, in the states of `depth` levels and the steps from them.

    A trace to a step that breaks a step invariant ends with the state after it, so it may have `depth` + 1 states.

    Args:
        model: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        depth: the number of levels; the level of the initial states is 1.
        bounds: bounds and settings of a class or a name; those left out have their defaults, with a proof file too.
        properties: names of properties; None is those of the proof file, or the model's headline.
        lemmas: names of conditions that are proved first and then assumed, which excludes unreachable states.
        infer: whether to find the lemmas that can be proved; without `lemmas` and `proof` all are candidates.
        proof: a file that `ProofResult.save` wrote; its lemmas are used too.
        within: names of invariants; no step leads from a state in which one fails. See `prove`.
        limits: `seconds` for all of the work, and `query_seconds`.
        query_seconds: in place of that of `limits`, for each query to z3.
        reporter: called with each query when it is answered.
        stop: ends the work when it is set.

    Raises:
        UserError: lemmas that are not inductive, or an error that `prove` raises.
    """
    saved = read_proof(Path(proof)) if proof is not None else None
    task = _task(model, bounds, properties, within, saved, _limits(limits, query_seconds), None, stop)

    def work(prepared: Prepared) -> BoundedResult:
        return _Work(prepared, reporter).bounded(_conditions(prepared, lemmas, infer, saved, None), depth, infer)

    def stopped(prepared: Prepared, reason: StopReason) -> BoundedResult:
        none = Bounded(BoundedVerdict.UNKNOWN, 0, (), (), (), reason)
        return BoundedResult(prepared.model, _properties(prepared), (), none, ())

    return task.run(work, stopped, Needs.PROPERTIES)


def _limits(limits: Limits | None, query_seconds: float | None) -> Limits | None:
    if query_seconds is None or not isinstance(limits, Limits | None):
        return limits  # what is no Limits is refused when the task runs
    return replace(limits or Limits(), query_seconds=query_seconds)


def _task(
    model: ModelLike,
    bounds: Mapping[str, int | str] | None,
    properties: Sequence[str] | None,
    within: Sequence[str] | None,
    saved: Proof | None,
    limits: Limits | None,
    threads: int | None,
    stop: threading.Event | None,
) -> Task:
    """Return the task of a proof; what the caller leaves out is as in the saved proof."""
    asked = () if properties is None else given_names("properties", properties)
    if saved is not None:
        asked, within = asked or saved.properties, saved.within if within is None else within
    limited = partial(limits_of, what="a proof", known=("seconds", "query_seconds"))
    return Task(
        model=model,
        bounds=bounds,
        properties=asked or None,
        within=within,
        limits=limits,
        threads=threads,
        stop=stop,
        limited=limited,
    )


@dataclass(frozen=True, slots=True)
class _Conditions:
    """The properties and lemmas of a proof; `k` is how many good states in a row are assumed."""

    properties: list[Invariant]
    lemmas: list[Invariant]
    k: int

    @property
    def all(self) -> list[Invariant]:
        """Properties and lemmas, each once."""
        return list({c.name: c for c in (*self.properties, *self.lemmas)}.values())


def _properties(prepared: Prepared) -> list[Invariant]:
    """Return the properties of a task, traced or not; a refinement that is traced is about initial states too."""
    if prepared.known is not None:
        return list(prepared.judged.invariants)
    known = {**lemmas_of(prepared.model), **invariants_of(prepared.model)}
    return [known[name] for name in prepared.names if name in known]


def _conditions(
    prepared: Prepared, lemmas: Sequence[str], infer: bool, saved: Proof | None, k: int | None
) -> _Conditions:
    model = prepared.model
    if infer and not lemmas and saved is None:
        helping: list[Invariant] = list(lemmas_of(model).values())
    else:
        given = [*(saved.lemmas if saved is not None else ()), *given_names("lemmas", lemmas)]
        helping = select_lemmas(model, [n for name in given for n in (lemmas_of(model) if name == "all" else [name])])
    if saved is not None:
        helping += lemmas_in(saved, model)
    return _Conditions(_properties(prepared), helping, k or (saved.k if saved is not None else 1))


class _Work:
    """The ways to prove, with one limit on time for all of them."""

    def __init__(self, prepared: Prepared, reporter: QueryReporter | None) -> None:
        self.model, self.reporter, self.stop = prepared.model, reporter, prepared.task.stop
        self.watch = Watch(prepared.watch.within(None).limits, self.stop, prepared.threads)

    def bounded(self, conditions: _Conditions, depth: int, infer: bool) -> BoundedResult:
        """Find a violation within a depth, with lemmas that are proved first."""
        model, asked = self.model, conditions.properties
        lemmas = self._proved_lemmas(conditions.lemmas, infer)
        result = check_bounded(model, asked, depth, lemmas=lemmas, reporter=self.reporter, watch=self.watch)
        return BoundedResult(model, asked, lemmas, result, _traces(model, asked, result))

    def _proved_lemmas(self, lemmas: list[Invariant], infer: bool) -> list[Invariant]:
        """Return the lemmas that are proved, as a bounded check may assume no others; without `infer`, all must be."""
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
        """Prove the given conditions by induction."""
        return self._result(conditions, self._induction(conditions.all, conditions.k))

    def proved_for_all_bounds(self, conditions: _Conditions, *, chosen: bool) -> ProofResult:
        """Prove conditions for all values of open bounds; lemmas that were not chosen must hold in a small instance."""
        from insync.proofs.unbounded import check_all_bounds

        lemmas = [] if chosen else conditions.lemmas
        dropped = refuted_candidates(self.model, lemmas, seconds=self.watch.within(_SEARCHING).left, stop=self.stop)
        self.watch.check()
        kept = replace(conditions, lemmas=_without(conditions.lemmas, dropped))
        small = small_instance(self.model)
        result = check_all_bounds(
            self.model,
            kept.all,
            rehearsal=None if small.identity == self.model.identity else small,
            reporter=self.reporter,
            watch=self.watch,
        )
        return replace(self._result(kept, result, dropped), unbounded=type(self.model).unbounded)

    def tried(self, conditions: _Conditions) -> ProofResult:
        """Prove the given conditions, or else find the largest inductive subset of them."""
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
        """Find the largest inductive subset; if it lacks properties and `mining` is set, mine lemmas."""
        refuted = self._refuted(conditions.all)
        found = self._largest_inductive(conditions, refuted)
        asked, fallen = {p.name for p in conditions.properties}, {d.name for d in refuted}
        if not mining or found.verdict is not Verdict.INCOMPLETE or found.result.stopped_by or asked & fallen:
            return found
        return self._mined(conditions.properties, found)

    def _refuted(self, asked: Sequence[Invariant]) -> list[Dropped]:
        """Return the conditions that fail in an initial state, or in a reachable state of the small instance."""
        dropped = refuted_at_first(self.model, asked, self.watch)
        rest = _named(_without(asked, dropped))
        return dropped + refuted_candidates(
            self.model, rest, seconds=self.watch.within(_SEARCHING).left, stop=self.stop
        )

    def _largest_inductive(self, conditions: _Conditions, refuted: Sequence[Dropped]) -> ProofResult:
        """Find the largest inductive subset of the conditions that no state refutes."""
        asked, model, dropped = conditions.all, self.model, list(refuted)
        small = small_instance(model)
        if small.identity != model.identity:  # there a breaking step is found in seconds, at large bounds in minutes
            where = ", ".join(f"{name} {value}" for name, value in small.identity.items())
            fallen = self._infer(small, _named(_without(asked, dropped))).dropped
            dropped += [replace(d, by=f"{d.by} ({where})") for d in fallen]
        found = self._infer(model, _without(asked, dropped))
        dropped += found.dropped
        kept = _Conditions(_without(conditions.properties, dropped), _without(conditions.lemmas, dropped), 1)
        lost = [p.name for p in conditions.properties if p not in kept.properties]
        return self._result(kept, found.induction, dropped, lost)

    def _mined(self, properties: Sequence[Invariant], found: ProofResult) -> ProofResult:
        """Mine lemmas for the properties, in addition to lemmas that are proved."""
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
        return check_induction(self.model, conditions, k=k, reporter=self.reporter, watch=self.watch)

    def _infer(self, model: Model, candidates: Sequence[Invariant]) -> Inferred:
        return infer(model, candidates, reporter=self.reporter, watch=self.watch)

    def _result(
        self, conditions: _Conditions, result: Induction, dropped: Sequence[Dropped] = (), lost: Sequence[str] = ()
    ) -> ProofResult:
        traces = _traces(self.model, conditions.all, result.violation) if result.violation is not None else []
        names = {p.name for p in conditions.properties}
        lemmas = [c for c in conditions.lemmas if c.name not in names]
        return ProofResult(self.model, conditions.properties, lemmas, result, traces, dropped, lost)


def _named(conditions: Sequence[Invariant]) -> list[Invariant]:
    """Return the conditions of the registry, without those stated as texts, which are about some bounds only."""
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
    """Return a counterexample to induction as a trace, which does not begin in an initial state."""
    refused = None if found.refused is None else Refused(found.refused, found.reason)
    trace = trace_of(model, found.failing[0], _moves(found.states), found.failure or found.reason, refused)
    first, *rest = trace.steps
    return replace(trace, steps=(replace(first, label="a good state"), *rest), demands=())


def _moves(states: StateSequence) -> list[Move]:
    return list(zip((None, *states.actions), states.codes, strict=True))
