"""What other checkers are asked to judge: models under bounds that end within a minute, each with a name of its own."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from insync.kafka.defects import all_defects
from insync.kafka.releases import Release
from insync.model import Model
from insync.model.catalogue import find_model
from insync.properties.registry import confined, invariants_of, select

__all__ = ["NAMED", "NONE", "Subject", "subjects"]

NAMED, NONE = "named", "none"
"""What the properties of a comparison are called in the record: those that a subject is judged by, or none of them."""

ROOT = Path(__file__).parents[2]

_PUBLISHED = ("truncate_to_high_watermark", "kip101", "kip279", "kip320_first_try", "kip320")
_SMALL = {"replicas": 2, "records": 1}
_SMALLEST = {"replicas": 2, "records": 1, "metadata_lag": 0, "fencings": 0, "isr_shrinks": 0}
_SETTINGS: tuple[Mapping[str, int | str], ...] = (
    {"acks": "0"},
    {"acks": "1"},
    {"unclean_leader_election": "on"},
    {"elr": "off"},
    {"min_insync_replicas": 1},
    {"late_fetch_responses": "on"},
    {"flush": "always"},
    {"flush": "sometimes"},
    {"controlled_shutdowns": 1},
    {"fetch_failures": 1},
    {"throttles": 1},
    {"retries": 1},
    {"crashes": 1, "stale_checkpoints": "on"},
)
_FIRST_OF_FAMILIES = (
    *("R-22", "R-52", "R-42", "R-26", "R-48"),
    *("N-11", "R-50", "M-12", "M-7", "C-18", "N-10"),
    *("Q-1", "Q-2", "Q-3"),
)
"""The smallest entry of each file of the catalogue of defects, and those of the quorum."""
_RUNS_OF = Release("4.1")
_OTHER_BOUNDS: Mapping[str, Mapping[str, int | str]] = {
    "examples/one_truth.py:HalfOfRaft": {"records": 2, "elections": 2},
    "examples/one_truth.py:TruthOfKip101": {"log_size": 1},
    "examples/one_truth.py:TruthOfKip320": {"replicas": 2},
    "examples/tlaplus/bakery.py:Bakery": {"processes": 1},
    "examples/tlaplus/paxos_commit.py:PaxosCommit": {"managers": 1, "ballots": 1},
    "examples/tlaplus/tcp.py:Tcp": {"segments": 3},
    "examples/tlaplus/token_ring.py:TokenRing": {"nodes": 3, "highest": 2},
}
"""Of examples whose default bounds are too many for a minute, or too few to break what they break."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A model under bounds, and what it is judged by.

    Attributes:
        model: the name of the model; a file's is relative to the repository.
        bounds: those that differ from the defaults.
        broken: the property that fails by the catalogue of defects; its name is judged besides the headline.
        defect: the name of the entry of the catalogue of defects; empty if it is none.
        judges_runs: whether it is small enough for its properties of runs to be judged too.
    """

    model: str
    bounds: Mapping[str, int | str] = field(default_factory=dict)
    broken: str = ""
    defect: str = ""
    judges_runs: bool = False

    @property
    def stands_for_its_family(self) -> bool:
        """Whether it is judged in every way: what is no entry of the catalogue, and one entry of each family."""
        return self.defect in ("", *_FIRST_OF_FAMILIES)

    @property
    def name(self) -> str:
        """The bounds as they are written in the record."""
        return " ".join(f"{name}={value}" for name, value in self.bounds.items())

    def made(self) -> Model:
        """Return the model, confined as its class says."""
        reference = f"{ROOT}/{self.model}" if ".py:" in self.model else self.model
        return confined(find_model(reference)(**self.bounds), None)

    def asked(self, model: Model, what: str) -> tuple[str, ...]:
        """Return the properties that a comparison is about, by what it is called in the record."""
        if what == NAMED:
            return self.properties(model)
        return () if what == NONE else (what,)

    def properties(self, model: Model) -> tuple[str, ...]:
        """Return the names of the properties of states that it is judged by."""
        besides = [self.broken] if self.broken in invariants_of(model) else []
        return tuple(dict.fromkeys([*select(model), *besides]))


@cache
def subjects() -> tuple[Subject, ...]:
    """Return everything that is to be judged, the same thing once."""
    every = [*_published(), *_examples(), *_cluster(), *_defects()]
    return tuple({(subject.model, subject.name): subject for subject in every}.values())


def _published() -> Iterator[Subject]:
    for name in _PUBLISHED:
        for replicas, log_size, records, epoch in (
            (2, 1, 1, 1),
            (2, 1, 1, 2),
            (2, 2, 2, 1),
            (3, 1, 1, 1),
            (2, 2, 2, 2),
        ):
            names = ("replicas", "log_size", "max_records", "max_leader_epoch")
            bounds = dict(zip(names, (replicas, log_size, records, epoch), strict=True))
            yield Subject(name, bounds, judges_runs=replicas == 2 and epoch * records < 4)
    for replicas, offset, version in ((2, 2, 2), (3, 1, 1), (2, 3, 3), (3, 2, 2)):
        yield Subject("async_isr", {"replicas": replicas, "max_offset": offset, "max_version": version})
    yield Subject("kraft_published", {"servers": 2}, judges_runs=True)
    yield Subject("kraft_published", {"servers": 2, "elections": 2}, judges_runs=True)
    yield Subject("kraft_published", {"servers": 3})
    once = {"elections": 1, "restarts": 0}
    yield Subject("kraft", {"servers": 2, **once}, judges_runs=True)
    yield Subject("kraft", {"servers": 2, "elections": 2, "restarts": 0}, judges_runs=True)
    yield Subject("kraft", {"servers": 3, **once, "release": "3.9"})
    yield Subject("kraft", {"servers": 2, "records": 2, **once}, judges_runs=True)
    yield Subject("kraft", {"servers": 2, "elections": 2, "restarts": 0, "release": "3.9"})
    yield Subject("kraft", {"servers": 2, "spare_servers": 1, "additions": 1, **once})
    yield Subject("kraft", {"servers": 2, "records": 0, "removals": 1, **once})
    yield Subject("placement")
    yield Subject("placement", {"brokers": 4, "replicas": 2})
    yield Subject("placement", {"brokers": 5, "replicas": 3, "failures": 2})
    yield Subject("consumer_group")
    yield Subject("consumer_group", {"additions": 1})
    yield Subject("consumer_group", {"commits": "before", "deaths": 1, "resets": 1})
    yield Subject("consumer_group", {"generations_checked": "off"})


def _examples() -> Iterator[Subject]:
    folders = [str(ROOT / "examples"), str(ROOT / "examples" / "tlaplus")]
    sys.path[:0] = folders  # an example may import its neighbour
    for path in sorted([*(ROOT / "examples").glob("*.py"), *(ROOT / "examples" / "tlaplus").glob("*.py")]):
        if path.name.startswith("test_"):
            continue
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, kind in vars(module).items():
            if inspect.isclass(kind) and issubclass(kind, Model) and kind.__module__ == path.stem:
                reference = f"{path.relative_to(ROOT)}:{name}"
                yield Subject(reference, _OTHER_BOUNDS.get(reference, {}), judges_runs=True)
    sys.path[:] = [one for one in sys.path if one not in folders]


def _cluster() -> Iterator[Subject]:
    for release in Release:
        runs = release is _RUNS_OF
        yield Subject("cluster", {"release": release.value, **_SMALLEST}, judges_runs=runs)
        yield Subject("cluster", {"release": release.value, **_SMALL})
    yield Subject("cluster", {"replicas": 3, "records": 1, "metadata_lag": 0, "fencings": 0, "isr_shrinks": 0})
    for changed in _SETTINGS:
        yield Subject("cluster", {**_SMALLEST, **changed})


def _defects() -> Iterator[Subject]:
    for defect in all_defects().values():
        for bounds in (defect.witness, defect.fixed_witness):
            yield Subject(defect.model, bounds, defect.breaks, defect.name)
