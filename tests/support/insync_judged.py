"""What other checkers have said of exported models, beside what insync says: the record tests/parity/exported.csv."""

from __future__ import annotations

import csv
import fcntl
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from insync.explorer.liveness import LivenessResult
from insync.explorer.opinions import Opinion
from insync.explorer.verdict import CheckResult, Verdict
from insync.properties.runs import RunKind

__all__ = ["RECORD", "Figures", "Judged", "forget", "keep", "module_hash", "read_record"]

RECORD = Path(__file__).parents[1] / "parity" / "exported.csv"


@dataclass(frozen=True, slots=True)
class Figures:
    """What is compared: of a search that a violation has ended, only what every checker knows then.

    Attributes:
        verdict: holds or violated.
        states: how many there are; of an engine that counts levels also where something is violated, up to the end of
            that level. Empty if it does not know.
        depth: the number of levels, likewise.
        steps: how many steps were taken, of a whole space.
        failing: the properties that fail first, each with the length of its trace.
    """

    verdict: str
    states: str
    depth: str
    steps: str
    failing: str

    @classmethod
    def of(cls, said: Opinion) -> Figures:
        """Return what an engine has said."""
        whole = said.verdict is Verdict.HOLDS
        counted = sum(said.levels) if said.levels is not None else None
        states = said.states if whole else counted
        failing = " ".join(f"{name}:{length}" for name, length in sorted(said.failing.items()))
        depth = said.depth if states is not None else None
        return cls(str(said.verdict), _text(states), _text(depth), _text(said.taken if whole else None), failing)

    @classmethod
    def of_check(cls, found: CheckResult) -> Figures:
        """Return what insync says."""
        whole = found.verdict is Verdict.HOLDS
        failing = " ".join(f"{v.property}:{v.trace_length}" for v in sorted(found.violations, key=lambda v: v.property))
        steps = str(found.transitions) if whole else ""
        return cls(found.verdict.value, str(found.distinct_states), str(found.depth), steps, failing)

    @classmethod
    def of_run(cls, said: Opinion, kind: RunKind) -> Figures:
        """Return what TLC has said of a property of runs; of one that some state must meet, against its negation."""
        if kind is RunKind.SOMETIMES:
            witness = " ".join(f"{name.removesuffix('_never')}:{length}" for name, length in said.failing.items())
            verdict = Verdict.HOLDS if witness else Verdict.VIOLATED
            return cls(verdict.value, _text(said.states), _depth(said), _text(said.taken), witness)
        return cls(str(said.verdict), _text(said.states), _depth(said), _text(said.taken), "")

    @classmethod
    def of_liveness(cls, found: LivenessResult) -> Figures:
        """Return what insync says of one property of runs."""
        (one,) = found.properties
        witness = f"{one.name}:{one.trace.length}" if one.trace is not None and one.trace.witness else ""
        counts = str(found.distinct_states), str(found.depth), str(found.transitions)
        return cls(one.verdict.value, *counts, witness)

    @property
    def in_words(self) -> str:
        """The figures that are known."""
        counted = {"states": self.states, "levels": self.depth, "steps": self.steps}
        parts = [f"{number} {word}" for word, number in counted.items() if number]
        return ", ".join([" ".join(filter(None, (self.verdict, self.failing))), *parts])

    def matches(self, own: Figures) -> bool:
        """Return whether a checker says what insync says, as far as it says anything; it may end at one property."""
        numbers = zip((self.states, self.depth, self.steps), (own.states, own.depth, own.steps), strict=True)
        told, known = set(self.failing.split()), set(own.failing.split())
        least = min((int(text.rpartition(":")[2]) for text in known), default=0)
        first = {text for text in known if text.endswith(f":{least}")}
        same = told == known or (not self.states and bool(told) and told <= first)
        return self.verdict == own.verdict and same and all(a in ("", b) for a, b in numbers)


@dataclass(frozen=True, slots=True)
class Judged:
    """One comparison.

    Attributes:
        model: the model.
        bounds: its bounds, those that are not the defaults.
        properties: `named` for what the subject is judged by, `none` where the whole space was counted; or a property
            of runs.
        engine: the checker, and the way in which it was given the model (insync_ways.py).
        verdict, states, depth, steps, failing: what it says; see `Figures`.
        agrees: yes if insync says the same.
        module: the hash of what the checker was given.
        seconds: of work of the checker, without its start and without compilation where these are apart.
        insync_seconds: of insync's search of the same, compilation included, in wall-clock time.
    """

    model: str
    bounds: str
    properties: str
    engine: str
    verdict: str
    states: str
    depth: str
    steps: str
    failing: str
    agrees: str
    module: str
    seconds: str
    insync_seconds: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What was compared."""
        return self.model, self.bounds, self.properties, self.engine

    @property
    def figures(self) -> Figures:
        """What the checker says."""
        return Figures(self.verdict, self.states, self.depth, self.steps, self.failing)


_COMMENTS = re.compile(r"/\*.*?\*/|\(\*.*?\*\)|\\\*[^\n]*", re.DOTALL)


def module_hash(files: Mapping[str, str]) -> str:
    """Return the hash of exported files, without the comments of C and TLA+ and without blanks at the ends of lines."""
    texts = {name: re.sub(r"[ \t]+\n", "\n", _COMMENTS.sub("", text)) for name, text in files.items()}
    content = "\0".join(f"{name}\0{text}" for name, text in texts.items())
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def read_record() -> dict[tuple[str, str, str, str], Judged]:
    """Return the record by what was compared."""
    if not RECORD.exists():
        return {}
    with RECORD.open(encoding="utf-8", newline="") as file:
        return {row.key: row for row in (Judged(**row) for row in csv.DictReader(file))}


def keep(row: Judged) -> None:
    """Put a comparison on record, while others may do so too."""
    with _locked():
        _write({**read_record(), row.key: row})


def forget(keys: Collection[tuple[str, str, str, str]]) -> None:
    """Take comparisons off the record."""
    with _locked():
        _write({key: row for key, row in read_record().items() if key not in keys})


@contextmanager
def _locked() -> Iterator[None]:
    with RECORD.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _write(rows: Mapping[tuple[str, str, str, str], Judged]) -> None:
    """Write the record, whole or not at all."""
    new = RECORD.with_suffix(".new")
    with new.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(Judged)])
        writer.writerows(astuple(rows[key]) for key in sorted(rows))
    new.replace(RECORD)


def _depth(said: Opinion) -> str:
    return _text(None if said.states is None else said.depth)


def _text(number: int | None) -> str:
    return "" if number is None else str(number)
