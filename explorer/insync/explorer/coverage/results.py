"""What `why` found: counts over the states of a model, by the places of its source that they are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from insync.explorer.limits import StopReason
from insync.explorer.tables import TableColumns, Tabular, plural
from insync.model.expressions.source import Spot

__all__ = [
    "ActionCoverage",
    "AssignmentCoverage",
    "BranchCoverage",
    "GuardCoverage",
    "PremiseCoverage",
    "PropertyCoverage",
    "WhyResult",
]


@dataclass(frozen=True, slots=True)
class GuardCoverage:
    """A condition of an action's `require`, over all chances: a state and values of the parameters each.

    Attributes:
        spot: the call of `require`.
        place: of the condition among its arguments.
        text: the condition as it is written.
        false: in how many chances it did not hold.
        alone: in how many of these all other conditions of the action held: it alone decided.
        ruled_out: for how many values of the parameters the bounds and settings make it false, whatever the state;
            these are no chances.
        decided: whether they decide it in all chances as well.
    """

    spot: Spot
    place: int
    text: str
    false: int
    alone: int
    ruled_out: int
    decided: bool


@dataclass(frozen=True, slots=True)
class BranchCoverage:
    """A condition of an `If` or `when` in an action, over the action's steps.

    Attributes:
        spot: the `If`, or the `when`.
        word: which of them.
        text: the condition as it is written.
        true, false: in how many steps it held, and did not; a step that comes to it several times may count in both,
            and one that does not reach the block it stands in in neither.
        decided: whether the bounds and settings decide it, whatever the state.
    """

    spot: Spot
    word: str
    text: str
    true: int
    false: int
    decided: bool


@dataclass(frozen=True, slots=True)
class AssignmentCoverage:
    """An assignment in an action: in how many steps it happened, whether or not it changed the field."""

    spot: Spot
    steps: int


@dataclass(frozen=True, slots=True)
class ActionCoverage:
    """An action over all states.

    Attributes:
        name: the action.
        file, line: where it stands.
        bindings: for how many values of its parameters there are chances: it is not ruled out by the bounds alone.
        states: in how many states it was enabled, for some values of its parameters.
        chances: how many pairs of a state and values of the parameters there are.
        steps: in how many of them it was taken.
        refused: in how many it was enabled, and would have assigned what its field cannot hold: no step.
        guards, branches, assignments: the parts of it, in the order in which it comes to them.
        changed: for each field that it assigns, in how many steps the field got another value.
    """

    name: str
    file: str
    line: int
    bindings: int
    states: int
    chances: int
    steps: int
    refused: int
    guards: tuple[GuardCoverage, ...]
    branches: tuple[BranchCoverage, ...]
    assignments: tuple[AssignmentCoverage, ...]
    changed: Mapping[str, int]

    @property
    def never_false(self) -> tuple[GuardCoverage, ...]:
        """The guards that held in every chance, although that is up to the state: here they ask for nothing."""
        return tuple(guard for guard in self.guards if self.chances and not guard.false and not guard.decided)

    @property
    def never_true(self) -> tuple[GuardCoverage, ...]:
        """The guards that held in no chance: they alone keep the action from ever being enabled."""
        return tuple(guard for guard in self.guards if self.chances and guard.false == self.chances)

    @property
    def never_alone(self) -> tuple[GuardCoverage, ...]:
        """The guards that failed at times, and never without another: here they follow from the others."""
        return tuple(guard for guard in self.guards if 0 < guard.false < self.chances and not guard.alone)

    @property
    def one_way(self) -> tuple[BranchCoverage, ...]:
        """The branches of which one side was never taken, in an action that was, and which the state decides."""
        asked = (branch for branch in self.branches if self.steps and not branch.decided)
        return tuple(branch for branch in asked if not (branch.true and branch.false))


@dataclass(frozen=True, slots=True)
class PremiseCoverage:
    """A premise in a property: the first condition of an `Implies`, or that there is a member to ask `for_all` of.

    Attributes:
        spot: the call.
        word: "Implies" or "for_all".
        text: the condition as it is written; of `for_all` the call.
        true: in how many states it was true, for somebody it is asked of; of a property of steps, in how many a step
            begins of which it is true.
    """

    spot: Spot
    word: str
    text: str
    true: int


@dataclass(frozen=True, slots=True)
class PropertyCoverage:
    """How much a property was put to the test.

    Attributes:
        name: the property.
        fails: in how many states it fails.
        near: in how many states it holds, and would fail if one of its comparisons came out the other way; None for a
            property of steps.
        premises: of its implications.
        comparisons: how many comparisons it is made of.
        settled: those that came out the same in every state, as text; `...` where it would be too long.
    """

    name: str
    fails: int
    near: int | None
    premises: tuple[PremiseCoverage, ...]
    comparisons: int
    settled: tuple[str, ...]

    @property
    def never_true(self) -> tuple[PremiseCoverage, ...]:
        """The premises that were true in no state: what they imply was never asked."""
        return tuple(premise for premise in self.premises if not premise.true)


@dataclass(frozen=True, slots=True, repr=False)
class WhyResult(Tabular):
    """What the search of a model exercised, and what it did not.

    Attributes:
        model: the name by which the model is found again.
        bounds: its bounds.
        states: how many states were counted over: all of the complete levels, within what it is confined to.
        depth: the number of levels.
        stopped_by: the limit that ended the search; then all counts are those of the levels before.
        actions: those that were asked for.
        unchanged: the fields that no step of any action changes; empty where some actions were left out.
        properties: those that were asked for.
        within: the names of the invariants that it was confined to.
        warnings: what is suspicious in the model, or in its settings; a sentence for each.
        seconds: how long it took.
    """

    model: str
    bounds: Mapping[str, int | str]
    states: int
    depth: int
    stopped_by: StopReason | None
    actions: tuple[ActionCoverage, ...]
    unchanged: tuple[str, ...]
    properties: tuple[PropertyCoverage, ...]
    within: tuple[str, ...]
    warnings: tuple[str, ...]
    seconds: float

    def summary(self) -> str:
        guards = sum(len(one.never_false) + len(one.never_alone) for one in self.actions)
        branches = sum(len(one.one_way) for one in self.actions)
        one_way = f"{branches} one-way branch{'' if branches == 1 else 'es'}"
        return f"{self.model}: {plural(self.states, 'state')}, {plural(guards, 'guard')} never decisive, {one_way}"

    def _tables(self) -> Mapping[str, Callable[[], TableColumns]]:
        """Return the tables `actions`, `guards`, `branches` and `properties`."""
        return {
            "actions": self._of_actions,
            "guards": self._of_guards,
            "branches": self._of_branches,
            "properties": self._of_properties,
        }

    def _of_actions(self) -> TableColumns:
        return {
            "action": [one.name for one in self.actions],
            "bindings": [one.bindings for one in self.actions],
            "states": [one.states for one in self.actions],
            "steps": [one.steps for one in self.actions],
        }

    def _of_guards(self) -> TableColumns:
        rows = [(action, guard) for action in self.actions for guard in action.guards]
        return {
            "action": [action.name for action, _ in rows],
            "guard": [guard.text for _, guard in rows],
            "file": [guard.spot.file for _, guard in rows],
            "line": [guard.spot.line for _, guard in rows],
            "chances": [action.chances for action, _ in rows],
            "false": [guard.false for _, guard in rows],
            "alone": [guard.alone for _, guard in rows],
        }

    def _of_branches(self) -> TableColumns:
        rows = [(action, branch) for action in self.actions for branch in action.branches]
        return {
            "action": [action.name for action, _ in rows],
            "branch": [f"{branch.word} {branch.text}" for _, branch in rows],
            "file": [branch.spot.file for _, branch in rows],
            "line": [branch.spot.line for _, branch in rows],
            "true": [branch.true for _, branch in rows],
            "false": [branch.false for _, branch in rows],
        }

    def _of_properties(self) -> TableColumns:
        return {
            "property": [one.name for one in self.properties],
            "fails": [one.fails for one in self.properties],
            "near": [one.near for one in self.properties],
        }
