"""What `insync prove` does once its options are read: choose the conditions, ask, print, write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from insync.cli.exit_codes import exit_code_for
from insync.cli.output import emit, emit_error, grid_width, painter
from insync.cli.show.figures import seconds as show_seconds
from insync.cli.show.proof_json import attempt_json, search_json
from insync.cli.show.proof_report import Attempt, Search, answer_of, describe_attempt, describe_search, traces_of
from insync.cli.traces import traces_written
from insync.explorer.candidates import refuted_candidates, small_instance
from insync.explorer.traces.files import check_writable, write_whole
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.errors import UserError
from insync.proofs.bounded import check_bounded
from insync.proofs.houdini import Dropped, infer, refuted_at_first
from insync.proofs.induction import check_induction
from insync.proofs.outcome import Induction, Query, Verdict
from insync.proofs.proof_file import Proof, proof_text, read_proof, results_of
from insync.proofs.smt import z3_version
from insync.properties.invariants import Invariant
from insync.properties.registry import judge, lemmas_of, select_lemmas

__all__ = ["Wish", "prove"]


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
    if wish.bmc is not None:
        return _bounded(model, wish, conditions, wish.bmc)
    if "--infer" in wish.ways:
        return _inferred(model, wish, conditions)
    result = check_induction(model, conditions.all, conditions.k, wish.timeout, _reporter(wish))
    return _conclude(model, wish, conditions, result)


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


def _bounded(model: Model, wish: Wish, conditions: Conditions, depth: int) -> int:
    lemmas = _proved_lemmas(model, wish, conditions.lemmas)
    result = check_bounded(model, conditions.properties, depth, wish.timeout, _reporter(wish), lemmas)
    traces = traces_of(model, conditions.properties, result)
    search = Search(model, conditions.properties, lemmas, result, traces)
    with traces_written(wish.trace, traces, model) as files:
        if wish.json:
            emit(search_json(search, files))
        else:
            emit(describe_search(search, files, painter(wish.color), grid_width()))
    return exit_code_for("violated" if traces else "incomplete")


def _proved_lemmas(model: Model, wish: Wish, lemmas: list[Invariant]) -> list[Invariant]:
    """Return the lemmas if they are proved of this model, or those that are: a bounded check may assume no others."""
    if "--infer" in wish.ways:
        found = infer(model, lemmas, wish.timeout, _reporter(wish))
        return [lemma for lemma in lemmas if lemma.name in found.proved]
    if lemmas:
        result = check_induction(model, lemmas, 1, wish.timeout, _reporter(wish))
        if result.verdict is not Verdict.PROVED:
            failing = next(q.name for q in result.queries if q.verdict is not Verdict.PROVED)
            message = (
                f"{model.name}: the lemmas are not inductive at these bounds ({failing} is not proved), so --bmc must "
                f"not use them. Leave them out, or let --infer beside --bmc choose."
            )
            raise UserError(message)
    return lemmas


def _inferred(model: Model, wish: Wish, conditions: Conditions) -> int:
    asked = conditions.all
    dropped = refuted_at_first(model, asked)
    dropped += refuted_candidates(model, _without(asked, dropped))
    small = small_instance(model)
    if small.identity != model.identity:  # what a step breaks there is found in seconds, and at large bounds in minutes
        where = ", ".join(f"{name} {value}" for name, value in small.identity.items())
        fallen = infer(small, _without(asked, dropped), wish.timeout, _reporter(wish)).dropped
        dropped += [replace(d, by=f"{d.by} ({where})") for d in fallen]
    found = infer(model, _without(asked, dropped), wish.timeout, _reporter(wish))
    dropped += found.dropped
    kept = Conditions(_without(conditions.properties, dropped), _without(conditions.lemmas, dropped), 1)
    lost = [p.name for p in conditions.properties if p not in kept.properties]
    return _conclude(model, wish, kept, found.induction, dropped, lost)


def _without(conditions: Sequence[Invariant], dropped: Sequence[Dropped]) -> list[Invariant]:
    names = {d.name for d in dropped}
    return [condition for condition in conditions if condition.name not in names]


def _conclude(
    model: Model,
    wish: Wish,
    conditions: Conditions,
    result: Induction,
    dropped: Sequence[Dropped] = (),
    lost: Sequence[str] = (),
) -> int:
    """Print an induction and write the proof and the traces that were wished for; return the exit code."""
    traces = traces_of(model, conditions.all, result.violation) if result.violation is not None else []
    names = {p.name for p in conditions.properties}
    lemmas = [c for c in conditions.lemmas if c.name not in names]
    attempt = Attempt(model, conditions.properties, lemmas, result, traces, dropped, lost)
    if wish.save is not None and attempt.proved:
        write_whole(wish.save, proof_text(_proof(attempt)))
        attempt = replace(attempt, saved=wish.save)
    elif wish.save is not None:
        emit_error(f"{wish.save} was not written: there is no proof.")
    with traces_written(wish.trace, traces, model) as files:
        if wish.json:
            emit(attempt_json(attempt, files))
        else:
            emit(describe_attempt(attempt, files, painter(wish.color), grid_width()))
    return exit_code_for("holds" if attempt.proved else "violated" if traces else "incomplete")


def _proof(attempt: Attempt) -> Proof:
    properties, lemmas = (tuple(c.name for c in some) for some in (attempt.properties, attempt.lemmas))
    model, result = attempt.model, attempt.result
    solver = f"z3 {z3_version()}"
    return Proof(model_reference(model), model.identity, properties, lemmas, result.k, solver, results_of(result))


def _reporter(wish: Wish) -> Callable[[Query], None] | None:
    if wish.quiet:
        return None
    return lambda query: emit_error(f"Progress: {query.name}: {answer_of(query)} in {show_seconds(query.seconds)}.")
