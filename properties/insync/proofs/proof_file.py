"""The proof file, format "insync-proof/2": which properties were proved, with which lemmas, at which bounds.

A file is a claim: a check of the file answers every query again. A digest covers the whole text, so that a damaged file
is not taken for another claim. The file of an unfinished proof lists the open queries.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypedDict, TypeVar

from insync.proofs.results import Induction
from insync.runtime.checksums import json_with_digest
from insync.runtime.errors import UserError
from insync.runtime.files import FileKind

__all__ = ["FORMAT", "Proof", "ProofFile", "proof_text", "read_proof", "results_of"]

FORMAT: Final = "insync-proof/2"

T = TypeVar("T")

_AGAIN = "`insync prove MODEL --infer --save FILE` writes such a file."
_PROOF_FILE = FileKind("proof", FORMAT, _AGAIN, _AGAIN)


@dataclass(frozen=True, slots=True)
class Proof:
    """A claim that properties and lemmas are inductive together.

    Attributes:
        model: the reference by which the model is found again.
        bounds: its bounds and settings.
        properties: the names of the proved properties.
        lemmas: the names of the lemmas, which are proved together with the properties.
        k: the number of successive good states that are assumed before a step.
        solver: the solver, such as "z3 4.13".
        results: verdict and seconds of each query when the file was written.
        within: the names of the invariants that the model was confined to.
        open: the names of the queries without an answer.
        conditions: lemmas without a name, in the language of typed conditions.
        file: the file that the proof was read from.
    """

    model: str
    bounds: Mapping[str, int | str]
    properties: tuple[str, ...]
    lemmas: tuple[str, ...]
    k: int
    solver: str
    results: Mapping[str, tuple[str, float]]
    within: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    file: Path | None = None


class ProofAnswer(TypedDict):
    """The answer of a question when the file was written, and its seconds."""

    verdict: str
    seconds: float


class _WhereGiven(TypedDict, total=False):
    conditions: list[str]
    within: list[str]
    open: list[str]


class _Content(_WhereGiven):
    format: Literal["insync-proof/2"]
    model: str
    bounds: dict[str, int | str]
    k: int
    properties: list[str]
    lemmas: list[str]
    solver: str
    results: dict[str, ProofAnswer]


class ProofFile(_Content):
    """The file of a proof.

    Attributes:
        format: of the file.
        model: a name that `insync list` shows, or a path to a Python file and the name of a class.
        bounds: the bounds and settings of the model, by name.
        k: the successive good states that are assumed before a step.
        properties: what was proved.
        lemmas: the names of the lemmas.
        conditions: lemmas without a name, as texts.
        within: the invariants to which the model was confined.
        solver: what answered, with its version.
        results: the answer of each question.
        open: the questions without an answer, of a proof that is not finished.
        digest: of all that stands after it.
    """

    digest: str


def results_of(induction: Induction) -> dict[str, tuple[str, float]]:
    """Return the verdict and the seconds of each query."""
    return {query.name: (query.verdict.value, round(query.seconds, 3)) for query in induction.queries}


def proof_text(proof: Proof) -> str:
    """Return the text of the proof file."""
    conditions: _WhereGiven = {"conditions": list(proof.conditions)} if proof.conditions else {}
    within: _WhereGiven = {"within": list(proof.within)} if proof.within else {}
    unanswered: _WhereGiven = {"open": list(proof.open)} if proof.open else {}
    content: _Content = {
        "format": FORMAT,
        "model": proof.model,
        "bounds": dict(proof.bounds),
        "k": proof.k,
        "properties": list(proof.properties),
        "lemmas": list(proof.lemmas),
        **conditions,
        **within,
        "solver": proof.solver,
        "results": {name: {"verdict": v, "seconds": s} for name, (v, s) in proof.results.items()},
        **unanswered,
    }
    return json_with_digest(_PROOF_FILE.label, content)


def read_proof(path: Path) -> Proof:
    """Read a proof file.

    Raises:
        UserError: it cannot be read, or is not a proof file; the message names the place in it.
    """
    text = _PROOF_FILE.text(path)
    content = _PROOF_FILE.parsed(str(path), text)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        message = f"{path}: this is not a proof file: its 'format' is not {FORMAT!r}. {_AGAIN}"
        raise UserError(message)
    _PROOF_FILE.require_whole(str(path), text)
    return _Reader(path, content).proof()


class _Reader:
    def __init__(self, path: Path, content: dict[str, object]) -> None:
        self.path, self.content = path, content

    def proof(self) -> Proof:
        bounds = self._field("bounds", dict, "the bounds as an object of numbers and names")
        for name, value in bounds.items():
            self._demand(
                _is_whole(value) or isinstance(value, str), f"bounds.{name}", value, "a whole number or a name"
            )
        k = self._field("k", int, "a whole number from 1")
        self._demand(_is_whole(k) and k >= 1, "k", k, "a whole number from 1")
        model = self._field("model", str, "the name of a model")
        return Proof(
            model=model,
            bounds=bounds,
            properties=self._names("properties"),
            lemmas=self._names("lemmas"),
            k=k,
            solver=str(self.content.get("solver", "")),
            results={},  # the verdicts in the file are not used
            within=self._names("within") if "within" in self.content else (),
            conditions=self._conditions(),
            file=self.path,
        )

    def _conditions(self) -> tuple[str, ...]:
        if "conditions" not in self.content:
            return ()
        return self._texts("conditions", "a list of conditions", "a condition, as a text")

    def _names(self, key: str) -> tuple[str, ...]:
        return self._texts(key, "a list of names", "the name of a property or lemma")

    def _texts(self, key: str, several: str, one: str) -> tuple[str, ...]:
        texts = self._field(key, list, several)
        for text in texts:
            self._demand(isinstance(text, str), key, text, one)
        return tuple(texts)

    def _field(self, key: str, kind: type[T], expected: str) -> T:
        value = self.content.get(key)
        self._demand(isinstance(value, kind), key, value, expected)
        return value  # type: ignore[return-value]

    def _demand(self, condition: bool, place: str, value: object, expected: str) -> None:
        if not condition:
            message = f"{self.path}: {place} is {json.dumps(value)}; expected {expected}. {_AGAIN}"
            raise UserError(message)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
