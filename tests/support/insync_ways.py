"""The ways in which checkers are given an exported model, and what each is asked of a subject.

`spin` and `tlc` get what `insync export` writes. `spin-unsimplified` gets a model that was traced without any rule of
simplification, `tlc-unrolled` the program of the engines with an operator for each bound action: so simplification and
tracing are judged too. `tlc-runs` is asked for properties of runs, with their fairness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from insync.explorer.export.promela import promela_files
from insync.explorer.export.tla.module import tla_files, unrolled_tla_files
from insync.explorer.results import Verdict
from insync.model import Model
from insync.model.expressions import simplify
from insync.properties.invariants import TYPE_OK
from insync.properties.registry import run_properties_of
from insync_comparisons import Key
from insync_judged import JUDGED, UNJUDGED
from insync_subjects import NAMED, NONE, Subject, subjects

__all__ = ["WAYS", "Way", "asked", "exported", "missing"]

Exported = Callable[[Model, Sequence[str], str], dict[str, str]]


@dataclass(frozen=True, slots=True)
class Way:
    """How a checker is given a model.

    Attributes:
        checker: spin or tlc.
        files: the files that it gets, of a model, the names of properties and a name.
        traced: what the model is traced in.
        most_states: of larger spaces the checker is not asked, as they do not end within a minute.
        asked: what it is asked of a subject: `named`, `none`, or the names of properties of runs.
    """

    checker: str
    files: Exported
    most_states: int
    asked: Callable[[Subject], Sequence[str]]
    traced: Callable[[], AbstractContextManager[None]] = nullcontext


@contextmanager
def unsimplified() -> Iterator[None]:
    """Let the nodes of a graph be made as they are written; constants are still calculated."""
    rules = dict(simplify._RULES)
    simplify._RULES.clear()
    try:
        yield
    finally:
        simplify._RULES.update(rules)


def _states(subject: Subject) -> Sequence[str]:
    return NAMED, NONE


def _once(subject: Subject) -> Sequence[str]:
    """The same, and of the catalogue of defects for one entry of each family."""
    return (NAMED, NONE) if subject.stands_for_its_family else ()


def _runs(subject: Subject) -> Sequence[str]:
    return list(run_properties_of(subject.made())) if subject.judges_runs else ()


def _with_types(files: Exported) -> Exported:
    return lambda model, properties, name: files(model, [*properties, TYPE_OK], name)


_MANY, _SOME = 3_000_000, 30_000

WAYS: Mapping[str, Way] = {
    "spin": Way("spin", promela_files, _MANY, _states),
    "spin-unsimplified": Way("spin", promela_files, _MANY, _once, unsimplified),
    "tlc": Way("tlc", _with_types(tla_files), _SOME, _states),
    "tlc-unrolled": Way("tlc", _with_types(unrolled_tla_files), _SOME, _once),
    "tlc-runs": Way("tlc", tla_files, _SOME, _runs),
}
"""Every way by the name that it has in the record."""


def exported(way: Way, model: Model, properties: Sequence[str]) -> dict[str, str]:
    """Return what a checker gets of a model that was made in the same way."""
    with way.traced():
        return way.files(model, properties, "Judged")


def asked() -> set[Key]:
    """Return the keys of all comparisons that there can be."""
    return {
        (subject.model, subject.name, what, name)
        for subject in subjects()
        for name, way in WAYS.items()
        for what in way.asked(subject)
    }


def missing(keys: Set[Key]) -> list[Key]:
    """Return which of what `asked` gives are on no record.

    The whole space is asked for only where a violation ends the search before.
    """
    judged = JUDGED.read()
    violated = {key for key, row in judged.items() if row.verdict == Verdict.VIOLATED}
    wanted = {key for key in keys if key[2] != NONE or (*key[:2], NAMED, key[3]) in violated}
    return sorted(wanted - judged.keys() - UNJUDGED.read().keys())
