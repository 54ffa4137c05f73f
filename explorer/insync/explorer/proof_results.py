"""The results of `prove` and `bounded_check`: the answers of z3, traces of violations, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from insync.explorer.mining.clauses import texts_of
from insync.explorer.mining.synthesis import Mined
from insync.explorer.results import Result, Verdict
from insync.explorer.tables import TableColumns
from insync.explorer.traces.trace import Trace
from insync.explorer.traces.trace_file import portable_reference
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.lints import suspicions
from insync.proofs.houdini import Dropped
from insync.proofs.proof_file import Proof, proof_text, results_of
from insync.proofs.results import Bounded, Induction, ProofVerdict, Query
from insync.proofs.smt import z3_version
from insync.properties.invariants import Invariant, names_within
from insync.runtime.errors import UserError
from insync.runtime.files import write_whole
from insync.runtime.text import plural
from insync.runtime.watch import StopReason

__all__ = ["BoundedResult", "ProofResult"]


@dataclass(frozen=True, slots=True, repr=False)
class SolverResult(Result):
    """The result of a verb that works with a solver; unlike that of a search it has the model itself.

    Attributes:
        model: the model.
        properties: the properties that were asked for, beside type_ok.
        lemmas: the lemmas that were proved with them, or before.
        result: the answers of z3.
        traces: a trace for each violation.
    """

    model: Model
    properties: Sequence[Invariant]
    lemmas: Sequence[Invariant]
    result: Bounded | Induction
    traces: Sequence[Trace]

    @property
    def bounds(self) -> dict[str, int | str]:
        """The bounds and settings of the model, but for those that are left open."""
        return self.model.identity

    @property
    def within(self) -> tuple[str, ...]:
        """The names of the invariants that the model is confined to."""
        return names_within(self.model)

    @property
    def stopped_by(self) -> StopReason | None:
        """The limit that ended the work; None if it ended by itself."""
        return self.result.stopped_by

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is suspicious in the model, its settings or the properties; a sentence each.

        If the work ended before the first query, the properties are not read: one of them may be what did not end.
        """
        read = self.properties if self.result.queries or self.stopped_by is None else ()
        return suspicions(self.model, {found.name: found.as_written(self.model) for found in read})

    def _tables(self) -> Mapping[str, Callable[[], TableColumns]]:
        """Return the table `queries`, with a row for each query to z3."""
        return {"queries": lambda: _queries_table(self.result.queries)}


@dataclass(frozen=True, slots=True, repr=False)
class BoundedResult(SolverResult):
    """The result of a bounded check.

    Attributes:
        model: the model.
        properties: the properties that were checked, beside type_ok.
        lemmas: the lemmas that were proved and then assumed.
        result: the answers of z3.
        traces: a trace for each violation.
    """

    result: Bounded

    @property
    def verdict(self) -> Verdict:
        """Violated, or incomplete, as longer traces were not examined."""
        return Verdict.VIOLATED if self.traces else Verdict.INCOMPLETE

    def summary(self) -> str:
        return f"{model_reference(self.model)}: {self.verdict}, searched with z3 to depth {self.result.depth}"


@dataclass(frozen=True, slots=True, repr=False)
class ProofResult(SolverResult):
    """The result of a proof by induction, and of the inference of its lemmas.

    Attributes:
        model: the model.
        properties: the properties of the induction.
        lemmas: the lemmas that it uses.
        result: the answers of z3.
        traces: the violations that initiation found.
        dropped: candidates that the inference dropped.
        lost: properties that the caller gave and the inference dropped.
        tried: a sentence for each way that `prove(automatic=True)` tried.
        unbounded: the bounds that were left open; the proof is for all their values, not for those of `model`.
        mined: the result of mining; None if no lemma was mined.
    """

    result: Induction
    dropped: Sequence[Dropped] = ()
    lost: Sequence[str] = ()
    tried: Sequence[str] = ()
    unbounded: tuple[str, ...] = ()
    mined: Mined | None = None

    @property
    def verdict(self) -> Verdict:
        """Holds if all properties are proved for every reachable state; else violated or incomplete."""
        if self.result.verdict is ProofVerdict.PROVED and not self.lost:
            return Verdict.HOLDS
        return Verdict.VIOLATED if self.traces else Verdict.INCOMPLETE

    @property
    def identity(self) -> dict[str, int | str]:
        """The bounds and settings of the proof: all but those that were left open."""
        return {name: value for name, value in self.model.identity.items() if name not in self.unbounded}

    @property
    def bounds(self) -> dict[str, int | str]:
        return self.identity

    def summary(self) -> str:
        return f"{model_reference(self.model)}: {self.verdict}, {plural(len(self.result.queries), 'question')} to z3"

    @property
    def is_unfinished(self) -> bool:
        """Whether there is no proof yet, nothing was refuted, and some queries were answered."""
        return self.result.verdict is ProofVerdict.UNKNOWN and not self.lost and bool(self.result.proved)

    def save(self, path: str | Path) -> None:
        """Write the proof, or the finished part of one, to a file from which it can be checked again.

        Raises:
            UserError: there is no proof and no part of one, bounds are open, or the file cannot be written.
        """
        if self.unbounded:
            message = f"{path} was not written: a proof file has a value for each bound. Prove it with no bound open."
            raise UserError(message)
        if self.verdict is not Verdict.HOLDS and not self.is_unfinished:
            message = f"{path} was not written: there is no proof. Try other lemmas."
            raise UserError(message)
        texts = texts_of(self.lemmas)
        properties = tuple(found.name for found in self.properties)
        lemmas = tuple(lemma.name for lemma in self.lemmas if lemma.name not in texts)
        reference, solver = portable_reference(model_reference(self.model)), f"z3 {z3_version()}"
        identity, result = self.model.identity, self.result
        within = names_within(self.model)
        opened = tuple(result.open)
        proof = Proof(
            model=reference,
            bounds=identity,
            properties=properties,
            lemmas=lemmas,
            k=result.k,
            solver=solver,
            results=results_of(result),
            within=within,
            open=opened,
            conditions=tuple(texts.values()),
        )
        write_whole(Path(path), proof_text(proof))


def _queries_table(queries: Sequence[Query]) -> TableColumns:
    """Return the columns of a table of queries to z3."""
    return {
        "question": [query.name for query in queries],
        "answer": [query.verdict.value for query in queries],
        "cases": [query.cases for query in queries],
        "seconds": [query.seconds for query in queries],
        "reason": [query.reason for query in queries],
    }
