"""The result of `why`: counts over the states of a model, by source span."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from insync.explorer.results import ModelResult
from insync.explorer.tables import TableColumns
from insync.model.expressions.source import Spot
from insync.runtime.text import plural

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
    """A condition of an action's `require`, over all chances; a chance is a state with values of the parameters.

    Attributes:
        spot: the call of `require`.
        place: the index of the condition among the arguments.
        text: the condition as it is written.
        false: the number of chances in which it did not hold.
        alone: the number of these in which all other conditions of the action held, so that it alone decided.
        ruled_out: the values of the parameters for which bounds and settings make it false in every state; these are
            no chances.
        decided: whether bounds and settings decide it in all chances as well.
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
        word: "If" or "when".
        text: the condition as it is written.
        true, false: the number of steps in which it held, and in which it did not. A step that evaluates it several
            times may count in both, and a step that does not reach its block counts in neither.
        decided: whether bounds and settings decide it in every state.
    """

    spot: Spot
    word: str
    text: str
    true: int
    false: int
    decided: bool


@dataclass(frozen=True, slots=True)
class AssignmentCoverage:
    """An assignment in an action: the number of steps in which it happened, whether or not it changed the field."""

    spot: Spot
    steps: int


@dataclass(frozen=True, slots=True)
class ActionCoverage:
    """An action over all states.

    Attributes:
        name: the action.
        file, line: its place in the source.
        bindings: the number of values of its parameters that bounds and settings do not rule out.
        states: the number of states in which it was enabled, for some values of its parameters.
        chances: the number of pairs of a state and values of the parameters.
        steps: the number of chances in which it was taken.
        refused: the number of chances in which it was enabled and would have left a field's domain, which is no step.
        guards, branches, assignments: the parts of it, in the order in which it reaches them.
        changed: for each field that it assigns, the number of steps in which the field got another value.
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
        """The guards that held in every chance, although the state decides them: here they restrict nothing."""
        return tuple(guard for guard in self.guards if self.chances and not guard.false and not guard.decided)

    @property
    def never_true(self) -> tuple[GuardCoverage, ...]:
        """The guards that held in no chance, so that the action is never enabled."""
        return tuple(guard for guard in self.guards if self.chances and guard.false == self.chances)

    @property
    def never_alone(self) -> tuple[GuardCoverage, ...]:
        """The guards that sometimes failed, but never alone: here they follow from the others."""
        return tuple(guard for guard in self.guards if 0 < guard.false < self.chances and not guard.alone)

    @property
    def one_way(self) -> tuple[BranchCoverage, ...]:
        """The branches with a side that was never taken, though the action was and the state decides the branch."""
        asked = (branch for branch in self.branches if self.steps and not branch.decided)
        return tuple(branch for branch in asked if not (branch.true and branch.false))


@dataclass(frozen=True, slots=True)
class PremiseCoverage:
    """A premise in a property: the first condition of an `Implies`, or that the range of a `for_all` is not empty.

    Attributes:
        spot: the call.
        word: "Implies" or "for_all".
        text: the condition as it is written; for `for_all` the call.
        true: the number of states in which it was true for some member; for a property of steps, the number of states
            from which a step leads for which it is true.
    """

    spot: Spot
    word: str
    text: str
    true: int


@dataclass(frozen=True, slots=True)
class PropertyCoverage:
    """How far the states put a property to the test.

    Attributes:
        name: the property.
        fails: the number of states in which it fails.
        near: the number of states in which it holds, and would fail were the result of one of its comparisons reversed;
            None for a property of steps.
        premises: of its implications.
        comparisons: the number of its comparisons.
        settled: the comparisons with the same result in every state, as text; `...` for one that is too long.
    """

    name: str
    fails: int
    near: int | None
    premises: tuple[PremiseCoverage, ...]
    comparisons: int
    settled: tuple[str, ...]

    @property
    def never_true(self) -> tuple[PremiseCoverage, ...]:
        """The premises that were true in no state, so that their conclusions were never tested."""
        return tuple(premise for premise in self.premises if not premise.true)


@dataclass(frozen=True, slots=True, repr=False)
class WhyResult(ModelResult):
    """The coverage of a model's source by its reachable states.

    Attributes:
        states: the number of states that were counted: those of complete levels, inside the confinement.
        depth: the number of levels.
        actions: the coverage of the chosen actions.
        unchanged: the fields that no step of any action changes; empty if actions were chosen.
        properties: the coverage of the chosen properties.
        seconds: the time that it took.
    """

    states: int
    depth: int
    actions: tuple[ActionCoverage, ...]
    unchanged: tuple[str, ...]
    properties: tuple[PropertyCoverage, ...]
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
