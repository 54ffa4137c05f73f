"""How two models differ, and two traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from insync.explorer.limits import StopReason
from insync.explorer.results import CheckResult, Verdict
from insync.explorer.tables import Shown, TableColumns, Tabular
from insync.explorer.traces.trace import Trace

__all__ = ["DiffResult", "OnlyOne", "PropertyChange", "StatesCompared", "TraceDifference"]


@dataclass(frozen=True, slots=True)
class PropertyChange:
    """A property of either model.

    Attributes:
        name: the property.
        first, second: what is known of it in each; None where the model has no property of that name.
        lengths: of the shortest trace in each to where it fails; None where it does not.
    """

    name: str
    first: Verdict | None
    second: Verdict | None
    lengths: tuple[int | None, int | None]

    @property
    def changed(self) -> bool:
        """Whether it holds in one model and fails in the other; what a limit left open of one is no difference."""
        return {self.first, self.second} == {Verdict.HOLDS, Verdict.VIOLATED}


@dataclass(frozen=True, slots=True)
class StatesCompared:
    """The states of two models of the same fields, both searched to the end.

    Attributes:
        both: how many are reached in both.
        only_first, only_second: how many of each level of a model are reached in it alone.
    """

    both: int
    only_first: tuple[int, ...]
    only_second: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OnlyOne:
    """A shortest trace that one model allows and the other does not: they take the same steps up to the last.

    Attributes:
        trace: of the model that allows it; its last step is the one that the other does not take, or that leads the
            other elsewhere. It has no step where its initial state is none of the other's.
        reason: what the other does in place of the last step.
    """

    trace: Trace
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class DiffResult(Tabular):
    """How two models differ.

    Attributes:
        first, second: what the search of each found.
        settings: the bounds and settings in which they differ, with the value of each; None where a model has none of
            that name.
        properties: of either model.
        own_fields: the cells that only the first has, and those that only the second has, by path; they are compared
            in nothing.
        states: of both searches; None where the fields differ, or a search was stopped.
        only: a shortest trace that only the first allows, and one that only the second allows; None where there is
            none, or none was found before `stopped_by`.
        stopped_by: the limit that ended the search for these, or one of the others.
        seconds: how long it all took.
    """

    first: CheckResult
    second: CheckResult
    settings: Mapping[str, tuple[int | str | None, int | str | None]]
    properties: tuple[PropertyChange, ...]
    own_fields: tuple[tuple[str, ...], tuple[str, ...]]
    states: StatesCompared | None
    only: tuple[OnlyOne | None, OnlyOne | None]
    stopped_by: StopReason | None
    seconds: float

    @property
    def differ(self) -> bool:
        """Whether a difference was found: a trace that only one allows, or a property of both that changes."""
        return any(self.only) or any(one.changed for one in self.properties)

    @property
    def same(self) -> bool | None:
        """Whether they take the same steps and have the same verdicts; None where a limit left that open."""
        if self.differ:
            return False
        return None if self.stopped_by is not None else True

    def summary(self) -> str:
        verdict = {True: "the same", False: "different", None: "not decided"}[self.same]
        changed = [one.name for one in self.properties if one.changed]
        said = f"; {', '.join(changed)} changed" if changed else ""
        return f"{self.first.model} and {self.second.model}: {verdict}{said}"

    def _tables(self) -> Mapping[str, Callable[[], TableColumns]]:
        """Return the tables `properties`, `levels` and `actions`."""
        return {"properties": self._of_properties, "levels": self._of_levels, "actions": self._of_actions}

    def _of_properties(self) -> TableColumns:
        return {
            "property": [one.name for one in self.properties],
            "first": [one.first and one.first.value for one in self.properties],
            "second": [one.second and one.second.value for one in self.properties],
        }

    def _of_levels(self) -> TableColumns:
        levels = list(zip_longest(self.first.levels, self.second.levels, fillvalue=0))
        return {
            "level": list(range(1, len(levels) + 1)),
            "first": [first for first, _ in levels],
            "second": [second for _, second in levels],
        }

    def _of_actions(self) -> TableColumns:
        names = list(dict.fromkeys([*self.first.actions, *self.second.actions]))
        return {
            "action": names,
            "first": [self.first.actions.get(name, 0) for name in names],
            "second": [self.second.actions.get(name, 0) for name in names],
        }


@dataclass(frozen=True, slots=True, repr=False)
class TraceDifference(Shown):
    """The first step in which two traces differ.

    Attributes:
        step: its number, 0 being the initial state; None where they are the same.
        labels: the step in words in each; None where a trace has ended.
        fields: for each part of the state that differs after it, the value in each; None where a state has none.
        about: what the traces are about and differ in: model, bounds, property, with the value of each.
        lengths: how many states each has.
    """

    step: int | None
    labels: tuple[str | None, str | None]
    fields: Mapping[str, tuple[object, object]]
    about: Mapping[str, tuple[object, object]]
    lengths: tuple[int, int]

    @property
    def same(self) -> bool:
        """Whether they take the same steps through the same states."""
        return self.step is None

    def summary(self) -> str:
        return "the same steps" if self.step is None else f"they differ first in step {self.step}"
