"""The results of searches: verdicts, violations, and `CheckResult`, that of an exhaustive search by any engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from insync.explorer.tables import Shown, TableColumns
from insync.explorer.traces.trace import Trace
from insync.model.catalogue import model_reference
from insync.model.language.declarations import action_specs
from insync.model.lints import suspicions
from insync.properties.invariants import names_within
from insync.runtime.memory import HugePages, peak_memory
from insync.runtime.text import plural
from insync.runtime.watch import StopReason

if TYPE_CHECKING:
    from insync.explorer.search.explored import Explored
    from insync.explorer.task import Prepared

__all__ = [
    "CheckResult",
    "ModelResult",
    "PropertyResult",
    "Result",
    "Verdict",
    "Violation",
    "check_result",
    "nothing_searched",
    "properties_table",
    "together",
]


class Verdict(StrEnum):
    """The verdict on a property, or on all properties of a result."""

    HOLDS = "holds"
    VIOLATED = "violated"
    INCOMPLETE = "incomplete"


def together(verdicts: Sequence[str]) -> Verdict:
    """Return the verdict of several together: violated if one is, else incomplete if one is, else holds."""
    return next((verdict for verdict in (Verdict.VIOLATED, Verdict.INCOMPLETE) if verdict in verdicts), Verdict.HOLDS)


@dataclass(frozen=True, slots=True)
class PropertyResult:
    """The verdict on one property; incomplete if the searched levels have no violation, and others may have one."""

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


class Result(Shown):
    """The result of a verb: it has tables, a `repr` of one line, HTML for notebooks, and these attributes.

    Attributes:
        stopped_by: the limit that ended the work; None if it ended by itself.
        warnings: what is suspicious in the models or their settings; a sentence each.
    """

    __slots__ = ()
    if TYPE_CHECKING:  # subclasses have them as fields or properties

        @property
        def stopped_by(self) -> StopReason | None: ...
        @property
        def warnings(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True, repr=False)
class ModelResult(Result):
    """The result of a verb on one model, which it names.

    Attributes:
        model: the name by which the model is found again.
        bounds: the bounds and settings of the model.
        within: the names of the invariants that the work was confined to. Counts and verdicts are then about the states
            that are reached through states in which these hold.
        stopped_by: the limit that ended the work; None if it ended by itself.
        warnings: what is suspicious in the model or its settings; a sentence each.
    """

    model: str
    bounds: Mapping[str, int | str]
    within: tuple[str, ...] = field(default=(), kw_only=True)
    stopped_by: StopReason | None = field(default=None, kw_only=True)
    warnings: tuple[str, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True, repr=False)
class CheckResult(ModelResult):
    """The result of an exhaustive search: a function of model, bounds and properties, except for times and memory.

    Attributes:
        engine: the name of the engine.
        storage: "exact", as visited states are compared as a whole and no hash stands for a state.
        verdict: violated if any property is, else holds if the space is complete.
        distinct_states: the states of all complete levels.
        representatives: the number of visited states, if symmetry was used and one stands for all its permutations;
            None if every state was visited.
        transitions: the steps from all states of the levels that were expanded as a whole.
        depth: the number of levels; the level of the initial states is 1.
        levels: the number of states of each level.
        frontier: the states of the last level, if it was not expanded as a whole; else 0.
        properties: the verdict on each property that the caller gave, and on type_ok if it fails.
        violations: a shortest trace for each property that fails.
        actions: the steps of each action, by its name.
        never_enabled: in a complete search, the actions that are enabled in no state; else empty.
        not_enabled_yet: in an incomplete search, the actions without a step in the expanded levels. If steps were
            refused, neither list has an action that can be refused.
        impossible: the actions of these two lists that bounds and settings rule out in every state.
        deadlocks: the number of expanded states that have no step.
        outside: the number of states found in which an invariant of `within` fails. They were checked and not expanded,
            and no other figure counts them.
        seconds: spent to compile, to search, and to find the traces.
        peak_memory_bytes: the largest resident set of the process so far.
        kept: how the visited states were kept: "states", each whole; "codes", as exact and smaller; or "files" on
            disk, when memory was full.
        huge_pages: of the memory of a search in this process; None if the system does not report them, or the states
            take less than 8 MiB. Comparisons of results ignore it.
    """

    engine: str
    storage: str
    verdict: Verdict
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
    outside: int
    seconds: Mapping[str, float]
    peak_memory_bytes: int
    representatives: int | None = None
    impossible: tuple[str, ...] = ()
    kept: str = "states"
    huge_pages: HugePages | None = field(default=None, compare=False)

    @property
    def complete_depth(self) -> int:
        """The number of complete levels, which is `depth`."""
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


def check_result(
    prepared: Prepared,
    engine: str,
    explored: Explored,
    violations: tuple[Violation, ...] = (),
    untraced: Mapping[str, str] = MappingProxyType({}),
) -> CheckResult:
    """Return the result of an exhaustive search.

    Args:
        prepared: the task, with the time of each part.
        engine: the name of the engine.
        explored: what the search counted, and what ended it.
        violations: a trace for each property that fails.
        untraced: a sentence for each property that fails and whose trace was not found before a limit.
    """
    model, symmetry = prepared.model, prepared.symmetry
    notes = () if symmetry is None else symmetry.notes
    taken = dict.fromkeys(action_specs(type(model)), 0)  # all that is known if the model was not traced
    for action, steps in zip(model.program.actions if any(explored.steps) else (), explored.steps, strict=False):
        taken[action.name] += steps
    levels = [states - outside for states, outside in zip(explored.levels, explored.outside, strict=True)]
    levels = levels[:-1] if levels and not levels[-1] else levels  # all states of the last level are outside
    violated = [*(violation.property for violation in violations), *untraced]
    otherwise = Verdict.HOLDS if explored.is_complete else Verdict.INCOMPLETE
    # The action is known of the first refused step only; any action with checks may have been refused as well.
    refusals = any(violation.trace.refused is not None for violation in violations)
    refused = {action.name for action in model.program.actions if action.checks} if refusals else set()
    without = tuple(name for name, steps in taken.items() if not steps and name not in refused)
    return CheckResult(
        model=model_reference(model),
        bounds=model.identity,
        engine=engine,
        storage="exact",
        verdict=Verdict.VIOLATED if violated else otherwise,
        stopped_by=explored.stopped_by,
        distinct_states=sum(levels),
        transitions=sum(taken.values()),
        depth=len(levels),
        levels=tuple(levels),
        frontier=0 if explored.expanded == len(explored.levels) else explored.levels[-1] - explored.outside[-1],
        properties=tuple(
            PropertyResult(name, Verdict.VIOLATED if name in violated else otherwise)
            for name in dict.fromkeys([*prepared.names, *violated])
        ),
        violations=violations,
        actions=taken,
        never_enabled=without if explored.is_complete else (),
        not_enabled_yet=() if explored.is_complete else without,
        deadlocks=sum(explored.stepless),
        within=names_within(model),
        outside=sum(explored.outside),
        warnings=(*suspicions(model, prepared.conditions), *notes, *untraced.values()),
        seconds=prepared.clock.seconds,
        peak_memory_bytes=peak_memory(),
        representatives=None if symmetry is None or symmetry.symmetry is None else sum(explored.visited),
        impossible=model.program.impossible if explored.expanded else (),  # else it may not have been traced
        kept=explored.kept,
    )


def nothing_searched(prepared: Prepared, engine: str, explored: Explored) -> CheckResult:
    """Return the result of a search that was stopped before it began; `explored` has the reason."""
    prepared.clock.lap("compile")
    prepared.clock.seconds, prepared.symmetry = {"compile": prepared.clock.seconds["compile"], "search": 0.0}, None
    return check_result(prepared, engine, explored)


def properties_table(properties: Sequence[PropertyResult], lengths: Mapping[str, int]) -> TableColumns:
    """Return the columns of a table of properties; `lengths` has the lengths of the traces, by property."""
    return {
        "property": [found.name for found in properties],
        "verdict": [found.verdict.value for found in properties],
        "trace_length": [lengths.get(found.name) for found in properties],
    }
