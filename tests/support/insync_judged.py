"""What other checkers have said of exported models, beside what insync says, and what they were not asked.

The comparisons are tests/parity/exported.csv; unjudged.csv beside it has those that cannot be made, with the reason.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from insync.explorer.agree import Opinion
from insync.explorer.liveness import LivenessResult
from insync.explorer.results import CheckResult, Verdict
from insync.kafka.cluster.former_names import FORMER_FIELDS, FORMER_NAMES, FORMER_STEPS
from insync.properties.temporal import RunKind
from insync_comparisons import Comparison, Comparisons

__all__ = ["JUDGED", "NOT_ASKED", "UNJUDGED", "Figures", "Judged", "Unjudged", "module_hash"]


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
class Judged(Comparison):
    """One comparison that was made.

    Attributes:
        verdict, states, depth, steps, failing: what the checker says; see `Figures`.
        agrees: yes if insync says the same.
        module: the hash of what the checker was given.
        seconds: of work of the checker, without its start and without compilation where these are apart.
        insync_seconds: of insync's search of the same, compilation included, in wall-clock time.
    """

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
    def figures(self) -> Figures:
        """What the checker says."""
        return Figures(self.verdict, self.states, self.depth, self.steps, self.failing)


@dataclass(frozen=True, slots=True)
class Unjudged(Comparison):
    """One comparison that was not made.

    Attributes:
        reason: why not.
        module: the hash of what the checker would have been given.
    """

    reason: str
    module: str


NOT_ASKED = "not asked yet"
"""The reason of a comparison that `make judge` has not come to."""

_PARITY = Path(__file__).parents[1] / "parity"
JUDGED = Comparisons(_PARITY / "exported.csv", Judged)
UNJUDGED = Comparisons(_PARITY / "unjudged.csv", Unjudged)

_OF_CLUSTER = "\\* Exported by insync from cluster with"
_COMMENTS = re.compile(r"/\*.*?\*/|\(\*.*?\*\)|\\\*[^\n]*", re.DOTALL)


# What is lost with directories is counted still, though it has no budget of its own any more.
_NAMES = {now: former for former, now in {**FORMER_NAMES, **FORMER_STEPS}.items() if now} | {
    **FORMER_FIELDS,
    "log_dir_losses": "directory_losses",
}
_FORMER = re.compile(rf"(?<![a-zA-Z])(?:{'|'.join(sorted(_NAMES, key=len, reverse=True))})(?![a-zA-Z])")


def module_hash(files: Mapping[str, str]) -> str:
    """Return the hash of exported files, without the comments of C and TLA+ and without blanks at the ends of lines.

    Names that were changed since checkers judged the cluster count by their former ones: what a name says is no matter
    of a checker. Nor are its options, which are in the comment at the head: in its modules no empty line counts.
    """
    texts = {name: _FORMER.sub(_by_former_name, _COMMENTS.sub("", text)) for name, text in files.items()}
    texts = {name: re.sub(r"(known_\w+_)leo\b", r"\1end", text) for name, text in texts.items()}
    lines = r"\s*\n" if any(_OF_CLUSTER in text for text in files.values()) else r"[ \t]+\n"
    texts = {name: re.sub(lines, "\n", text) for name, text in texts.items()}
    content = "\0".join(f"{name}\0{text}" for name, text in texts.items())
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _by_former_name(found: re.Match[str]) -> str:
    return _NAMES[found[0]]


def _depth(said: Opinion) -> str:
    return _text(None if said.states is None else said.depth)


def _text(number: int | None) -> str:
    return "" if number is None else str(number)
