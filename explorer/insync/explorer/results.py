"""What a search concludes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from insync.explorer.limits import StopReason
from insync.explorer.tables import Shown, TableColumns, Tabular, plural
from insync.explorer.traces.trace import Trace
from insync.machine.memory import HugePages

__all__ = ["CheckResult", "PropertyResult", "Verdict", "Violation", "properties_table", "together"]


class Verdict(StrEnum):
    """What is known about a property, or about all of them."""

    HOLDS = "holds"
    VIOLATED = "violated"
    INCOMPLETE = "incomplete"


def together(verdicts: Sequence[str]) -> Verdict:
    """Return what several verdicts come to: violated if one is, else incomplete if one is."""
    return next((verdict for verdict in (Verdict.VIOLATED, Verdict.INCOMPLETE) if verdict in verdicts), Verdict.HOLDS)


@dataclass(frozen=True, slots=True)
class PropertyResult:
    """What is known about one property; incomplete: no violation in the levels that were searched."""

    name: str
    verdict: Verdict


@dataclass(frozen=True, slots=True, repr=False)
class Violation(Shown):
    """A property that fails, and a shortest trace to a state where it does."""

    property: str
    trace_length: int
    trace: Trace

    def summary(self) -> str:
        return self.trace.summary()


@dataclass(frozen=True, slots=True, repr=False)
class CheckResult(Tabular):
    """The result of an exhaustive search: all but times and memory depends on model, bounds and properties alone.

    Attributes:
        model: the name by which the model is found again.
        bounds: the bounds of the model.
        engine: which engine searched.
        storage: how visited states were kept: "exact", so that no two of them can be taken for one.
        verdict: violated if any property is, else holds if the space is complete.
        stopped_by: the bound that ended the search, or that for the traces; None if both ended by themselves.
        distinct_states: the states of all complete levels.
        representatives: how many of them were visited, where one stands for all that differ in who is who only; None
            where every state was visited.
        transitions: the steps taken, from all states of the levels that were expanded as a whole.
        depth: the number of levels, the initial state being level 1.
        levels: the number of states in each.
        frontier: the states of the last level, if it was not expanded as a whole; else 0.
        properties: what is known about each property that was asked for, and type_ok if it fails.
        violations: a shortest trace for each property that fails.
        actions: the steps taken of each action, by its name.
        never_enabled: the actions that are enabled in no state, which a complete search knows; else empty.
        not_enabled_yet: the actions without a step in the levels that were expanded, of a search that is not complete.
            Where steps were refused, neither names an action that can be refused.
        impossible: those among these two that the bounds and settings alone rule out, whatever the state.
        deadlocks: how many of the states that were expanded have no step.
        within: the names of the invariants that the search was confined to: what is counted here and what `holds` says
            is about the states that can be reached through states in which they hold.
        outside: how many states were found in which one of these fails, and which are counted nowhere else: they were
            checked, and not expanded.
        warnings: what is suspicious in the model, or in its settings; a sentence for each.
        seconds: spent to compile, to search, and to find the traces.
        peak_memory_bytes: the largest resident set of the process so far.
        kept: as what the visited states were kept: "states", each whole, "codes", which are as exact and smaller, or
            "files" on disk, when there was no memory left.
        huge_pages: of the memory of a search in this process; None where the system does not tell, or where the states
            take less than 8 MiB. Results are compared without it.
    """

    model: str
    bounds: Mapping[str, int | str]
    engine: str
    storage: str
    verdict: Verdict
    stopped_by: StopReason | None
    distinct_states: int
    transitions: int
    depth: int
    levels: tuple[int, ...]
    frontier: int
    properties: tuple[PropertyResult, ...]
    violations: tuple[Violation, ...]
    actions: Mapping[str, int]
    never_enabled: tuple[str, ...]
    not_enabled_yet: tuple[str, ...]
    deadlocks: int
    within: tuple[str, ...]
    outside: int
    warnings: tuple[str, ...]
    seconds: Mapping[str, float]
    peak_memory_bytes: int
    representatives: int | None = None
    impossible: tuple[str, ...] = ()
    kept: str = "states"
    huge_pages: HugePages | None = field(default=None, compare=False)

    @property
    def complete_depth(self) -> int:
        """How many levels are complete: all that are counted."""
        return self.depth

    def summary(self) -> str:
        return f"{self.model}: {self.verdict}, {plural(self.distinct_states, 'state')}, depth {self.depth}"

    def _tables(self) -> Mapping[str, Callable[[], TableColumns]]:
        """Return the tables `levels`, `actions` and `properties`."""
        return {"levels": self._levels, "actions": self._actions, "properties": self._properties}

    def _levels(self) -> TableColumns:
        return {"depth": list(range(1, len(self.levels) + 1)), "states": list(self.levels)}

    def _actions(self) -> TableColumns:
        return {"action": list(self.actions), "steps": list(self.actions.values())}

    def _properties(self) -> TableColumns:
        lengths = {violation.property: violation.trace_length for violation in self.violations}
        return properties_table(self.properties, lengths)


def properties_table(properties: Sequence[PropertyResult], lengths: Mapping[str, int]) -> TableColumns:
    """Return the columns of a table of properties; `lengths` are the states of the traces that there are."""
    return {
        "property": [found.name for found in properties],
        "verdict": [found.verdict.value for found in properties],
        "trace_length": [lengths.get(found.name) for found in properties],
    }
