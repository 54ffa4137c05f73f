"""What `insync prove` does once its options are read: choose the conditions, ask, print, write."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from insync.cli.exit_codes import exit_code_for
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.show.figures import seconds as show_seconds
from insync.cli.show.proof_json import attempt_json, search_json
from insync.cli.show.proof_report import Attempt, Search, answer_of, describe_attempt, describe_search, traces_of
from insync.cli.show.terminal import emit, emit_error, grid_width, painter
from insync.cli.show.trace_files import traces_written
from insync.explorer.candidates import refuted_candidates, small_instance
from insync.explorer.traces.files import check_writable, write_whole
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.errors import UserError
from insync.proofs.bounded import check_bounded
from insync.proofs.induction import check_induction
from insync.proofs.inference import Dropped, Inferred, infer, refuted_at_first
from insync.proofs.outcome import Induction, ProofVerdict, Query
from insync.proofs.proof_file import Proof, proof_text, read_proof, results_of
from insync.proofs.smt import z3_version
from insync.proofs.watch import ProofLimits, ProofWatch
from insync.properties.invariants import Invariant
from insync.properties.registry import judge, lemmas_of, select_lemmas

__all__ = ["Wish", "prove"]

_SEARCHING = 60.0
"""The most seconds of the search that tries the candidates of --infer on a small instance."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The options of the command."""

    ways: Sequence[str]
    bmc: int | None
    k: int | None
    properties: tuple[str, ...]
    lemmas: tuple[str, ...]
    proof: Path | None
    save: Path | None
    max_seconds: float | None
    timeout: float | None
    trace: Path | None
    json: bool
    color: str
    quiet: bool


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is proved, and what helps; `k` is how many good states are assumed."""

    properties: list[Invariant]
    lemmas: list[Invariant]
    k: int

    @property
    def all(self) -> list[Invariant]:
        """Properties and lemmas, each once."""
        return list({c.name: c for c in (*self.properties, *self.lemmas)}.values())


def prove(model: Model, wish: Wish) -> int:
    """Do what was wished, print the outcome, and return the exit code."""
    for path in (wish.save, wish.trace):
        if path is not None:
            check_writable(path)
    conditions = _conditions(model, wish)
    with stop_on_interrupt() as stop:
        work = _Work(model, wish, stop)
        if wish.bmc is not None:
            search = work.bounded(conditions, wish.bmc)
        else:
            attempt = work.inferred(conditions) if "--infer" in wish.ways else work.proved(conditions)
    return _told(attempt, wish) if wish.bmc is None else _told_bounded(search, wish)


def _conditions(model: Model, wish: Wish) -> Conditions:
    saved = read_proof(wish.proof) if wish.proof is not None else None
    names = wish.properties or (saved.properties if saved is not None else ())
    if "--infer" in wish.ways and not wish.lemmas and saved is None:
        lemmas: list[Invariant] = list(lemmas_of(model).values())
    else:
        given = [*(saved.lemmas if saved is not None else ()), *wish.lemmas]
        wanted = [n for name in given for n in (lemmas_of(model) if name == "all" else [name])]
        lemmas = select_lemmas(model, wanted)
    properties = list(judge(model, names or None).invariants)
    return Conditions(properties, lemmas, wish.k or (saved.k if saved is not None else 1))


class _Work:
    """The ways to prove, within one time for all that they do and until somebody stops them."""

    def __init__(self, model: Model, wish: Wish, stop: threading.Event) -> None:
        self.model, self.wish, self.stop = model, wish, stop
        self.watch = ProofWatch(ProofLimits(wish.max_seconds, wish.timeout), stop)
        self.report = _reporter(wish)

    def bounded(self, conditions: Conditions, depth: int) -> Search:
        """Look for a violation within a depth, with the lemmas that are proved first."""
        lemmas = self._proved_lemmas(conditions.lemmas)
        result = check_bounded(
            self.model,
            conditions.properties,
            depth,
            lemmas=lemmas,
            limits=self.watch.left,
            reporter=self.report,
            stop=self.stop,
        )
        traces = traces_of(self.model, conditions.properties, result)
        return Search(self.model, conditions.properties, lemmas, result, traces)

    def _proved_lemmas(self, lemmas: list[Invariant]) -> list[Invariant]:
        """Return the lemmas if they are proved, or those that are: a bounded check may assume no others."""
        if "--infer" in self.wish.ways:
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
            f"{self.model.name}: the lemmas are not inductive at these bounds ({failing} is not proved), so --bmc must "
            f"not use them. Leave them out, or let --infer beside --bmc choose."
        )
        raise UserError(message)

    def proved(self, conditions: Conditions) -> Attempt:
        """Prove the conditions by induction as they are."""
        return self._attempt(conditions, self._induction(conditions.all, conditions.k))

    def inferred(self, conditions: Conditions) -> Attempt:
        """Find out which of the conditions are inductive together."""
        asked, model = conditions.all, self.model
        dropped = refuted_at_first(model, asked, self.stop)
        rest, left = _without(asked, dropped), self.watch.left.seconds
        seconds = _SEARCHING if left is None else min(_SEARCHING, left)
        dropped += refuted_candidates(model, rest, seconds=seconds, stop=self.stop)
        small = small_instance(model)
        if (
            small.identity != model.identity
        ):  # what a step breaks there is found in seconds, and at large bounds in minutes
            where = ", ".join(f"{name} {value}" for name, value in small.identity.items())
            fallen = self._infer(small, _without(asked, dropped)).dropped
            dropped += [replace(d, by=f"{d.by} ({where})") for d in fallen]
        found = self._infer(model, _without(asked, dropped))
        dropped += found.dropped
        kept = Conditions(_without(conditions.properties, dropped), _without(conditions.lemmas, dropped), 1)
        lost = [p.name for p in conditions.properties if p not in kept.properties]
        return self._attempt(kept, found.induction, dropped, lost)

    def _induction(self, conditions: Sequence[Invariant], k: int) -> Induction:
        return check_induction(
            self.model, conditions, k=k, limits=self.watch.left, reporter=self.report, stop=self.stop
        )

    def _infer(self, model: Model, candidates: Sequence[Invariant]) -> Inferred:
        return infer(model, candidates, limits=self.watch.left, reporter=self.report, stop=self.stop)

    def _attempt(
        self, conditions: Conditions, result: Induction, dropped: Sequence[Dropped] = (), lost: Sequence[str] = ()
    ) -> Attempt:
        traces = traces_of(self.model, conditions.all, result.violation) if result.violation is not None else []
        names = {p.name for p in conditions.properties}
        lemmas = [c for c in conditions.lemmas if c.name not in names]
        return Attempt(self.model, conditions.properties, lemmas, result, traces, dropped, lost)


def _without(conditions: Sequence[Invariant], dropped: Sequence[Dropped]) -> list[Invariant]:
    names = {d.name for d in dropped}
    return [condition for condition in conditions if condition.name not in names]


def _told_bounded(search: Search, wish: Wish) -> int:
    """Print a bounded check and write the traces that were wished for; return the exit code."""
    with traces_written(wish.trace, search.traces, search.model) as files:
        if wish.json:
            emit(search_json(search, files))
        else:
            emit(describe_search(search, files, painter(wish.color), grid_width()))
    return exit_code_for("violated" if search.traces else "incomplete")


def _told(attempt: Attempt, wish: Wish) -> int:
    """Print an induction and write the proof and the traces that were wished for; return the exit code.

    When the proof cannot be written the induction is printed all the same; the UserError follows it.
    """
    failure: UserError | None = None
    if wish.save is not None and attempt.proved:
        try:
            write_whole(wish.save, proof_text(_proof(attempt)))
            attempt = replace(attempt, saved=wish.save)
        except UserError as error:
            failure = error
    elif wish.save is not None:
        emit_error(f"{wish.save} was not written: there is no proof.")
    with traces_written(wish.trace, attempt.traces, attempt.model) as files:
        if wish.json:
            emit(attempt_json(attempt, files))
        else:
            emit(describe_attempt(attempt, files, painter(wish.color), grid_width()))
    if failure is not None:
        raise failure
    return exit_code_for("holds" if attempt.proved else "violated" if attempt.traces else "incomplete")


def _proof(attempt: Attempt) -> Proof:
    properties, lemmas = (tuple(c.name for c in some) for some in (attempt.properties, attempt.lemmas))
    model, result = attempt.model, attempt.result
    solver = f"z3 {z3_version()}"
    return Proof(model_reference(model), model.identity, properties, lemmas, result.k, solver, results_of(result))


def _reporter(wish: Wish) -> Callable[[Query], None] | None:
    if wish.quiet:
        return None
    return lambda query: emit_error(f"Progress: {query.name}: {answer_of(query)} in {show_seconds(query.seconds)}.")
