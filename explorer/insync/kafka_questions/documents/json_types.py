"""The types of the objects that `insync ask` and `insync defects` print with `--json`, for their JSON Schemas.

See `insync.explorer.documents.json_types`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from insync.explorer.documents.json_types.models import Bounds
from insync.explorer.documents.json_types.traces import DemandEntry, StepEntry

__all__ = [
    "AnswersObject",
    "CatalogueObject",
    "CauseEntry",
    "CombinationEntry",
    "DefectEntry",
    "DefectsObject",
    "FindingEntry",
    "MatchEntry",
    "MatchesObject",
    "RowEntry",
    "SearchedDefect",
    "StopEntry",
    "VerifiedDefect",
    "VerifiedObject",
]


class FindingEntry(TypedDict):
    """A finding: its status, the releases that it affects, and the page about it.

    Attributes:
        ticket: null if there is none.
        fixed_in: null if it is not fixed.
        page: null if there is none.
        workaround: what an operator can do against it; null if it has no page.
    """

    name: str
    title: str
    status: str
    affects: str
    ticket: str | None
    fixed_in: str | None
    page: str | None
    workaround: str | None


class RowEntry(TypedDict):
    """A disturbance, and what becomes of each promise.

    Attributes:
        against: the name of the disturbance, or of several.
        words: the disturbance in words.
        likelihood: how often clusters see it, in words.
        states: the states that were searched; null if it cannot happen.
        stopped_by: the limit that ended the search; null if it is complete.
        promises: what becomes of each, in words.
    """

    against: str
    words: str
    likelihood: str
    states: int | None
    stopped_by: str | None
    promises: Mapping[str, str]


class CauseEntry(TypedDict):
    """Why a promise is broken, and what prevents it.

    Attributes:
        name: of the entry in the catalogue; null if it is none.
        kind: what would remove it.
        against: the disturbances with which it happens.
        promises: the promises that it breaks.
        change: the settings that remove it.
        fixed_in: the release that removes it.
        avoided_by: what to do where no setting and no release removes it.
        finding: the finding that it belongs to.
        trace_length: the states of the shortest way there.
        reason: why the promise fails at its end.
        demands: what must happen in a real cluster.
        bounds: of the model in which it was found.
        trace: the file of the trace; null if none was written.
    """

    name: str | None
    kind: str
    story: str
    title: str | None
    ticket: str | None
    against: Sequence[str]
    promises: Sequence[str]
    change: Mapping[str, Any]
    fixed_in: str | None
    avoided_by: str | None
    finding: FindingEntry | None
    trace_length: int
    reason: str
    demands: Sequence[DemandEntry]
    steps: Sequence[StepEntry]
    bounds: Bounds
    trace: str | None


class StopEntry(TypedDict):
    """The fewest failures of a kind after which writes stop.

    Attributes:
        name: the property that they break.
        by: the kind of failure.
        failures: null if no number suffices, or that is not known.
        more_than: if `failures` is null, a number that does not suffice; -1 if none is known.
        steps: the steps that lead there, in words.
    """

    name: str
    by: str
    failures: int | None
    more_than: int
    steps: Sequence[str]


class EndingEntry(TypedDict):
    """What happens in the end in every fair run, and the verdict."""

    property: str
    words: str
    verdict: str


class CombinationEntry(TypedDict):
    """The answer for the topics that have the same settings.

    Attributes:
        topics: empty without files.
        settings: the settings of the model, by name.
        version: the release as it was given.
        origins: where each setting comes from; one that is missing is assumed.
        remarks: what is noteworthy about the settings and the files.
        sentence: the verdict in words.
        verdict: by `--fail-on`.
        rows: the disturbances.
        causes: of what is broken.
        open: the defects of every release that these settings do not keep out.
        not_searched: the findings without a fix by which records may be lost, and that no search here could show.
        open_after_upgrade: those that the advised release adds.
        writes_stop: after how many failures.
        endings: with `--finishes`.
    """

    topics: Sequence[str]
    settings: Bounds
    version: str
    origins: Mapping[str, str]
    remarks: Sequence[str]
    sentence: str
    verdict: Mapping[str, str]
    rows: Sequence[RowEntry]
    causes: Sequence[CauseEntry]
    open: Sequence[CauseEntry]
    not_searched: Sequence[str]
    open_after_upgrade: Sequence[str]
    writes_stop: Sequence[StopEntry]
    endings: Sequence[EndingEntry]


class AnswersObject(TypedDict):
    """What a cluster can lose, by `insync ask`.

    Attributes:
        verdict: on which the exit code rests.
        accepted: the causes that are set aside.
        not_asked_about: the keys of files that matter and are not part of the model, with what they are about.
        ignored: the other keys.
    """

    verdict: str
    accepted: Sequence[str]
    combinations: Sequence[CombinationEntry]
    not_asked_about: Mapping[str, str]
    ignored: Sequence[str]


class DefectEntry(TypedDict):
    """An entry of the catalogue of defects.

    Attributes:
        property: what it breaks.
        trace_length: the states of its shortest trace.
        rules: the rules of the model that it changes.
        on_kafka: its runs on Kafka itself.
    """

    name: str
    title: str
    ticket: str
    model: str
    affected: str
    story: str
    fix: str
    property: str
    trace_length: int
    bounds: Mapping[str, Any]
    rules: Sequence[str]
    finding: FindingEntry | None
    on_kafka: Sequence[Mapping[str, Any]]


class LeftOutEntry(TypedDict):
    """A defect that the model does not have, and why."""

    name: str
    title: str
    ticket: str
    reason: str
    finding: FindingEntry | None


class CatalogueObject(TypedDict):
    """The catalogue of defects, by `insync defects`."""

    defects: Sequence[DefectEntry]
    left_out: Sequence[LeftOutEntry]


class DefectTrace(TypedDict):
    """A trace of a defect.

    Attributes:
        loop: the number of the step to which the last state leads back; null if the trace ends.
        trace: the file of the trace; null if none was written.
    """

    reason: str
    demands: Sequence[DemandEntry]
    steps: Sequence[StepEntry]
    loop: int | None
    trace: str | None


class SearchedDefect(DefectEntry):
    """An entry of the catalogue, and what was found with the defect and with its fix."""

    verdict: str
    violations: Sequence[DefectTrace]
    verdict_with_fix: str


class DefectsObject(TypedDict):
    """Defects with their traces, by `insync defects NAME`.

    Attributes:
        left_out: those that are not modelled, so that they have no trace.
        not_shown: those that were left out after Ctrl-C.
    """

    defects: Sequence[SearchedDefect]
    left_out: Sequence[LeftOutEntry]
    not_shown: Sequence[str]


class VerifiedDefect(TypedDict):
    """Whether an entry is as the catalogue says.

    Attributes:
        steps: the steps of its shortest trace; null if none was found.
        states: with the defect.
        fixed_states: with the fix; null if that was not searched.
        verified: null if a search was stopped.
    """

    name: str
    steps: int | None
    states: int
    fixed_states: int | None
    verified: bool | None


class VerifiedObject(TypedDict):
    """Whether the catalogue is right, by `insync defects --verify`.

    Attributes:
        not_tried: those that were left out after Ctrl-C.
    """

    defects: Sequence[VerifiedDefect]
    not_tried: Sequence[str]


class MatchEntry(TypedDict):
    """An entry that fits a symptom; one that is not modelled has no trace."""

    name: str
    title: str
    ticket: str
    modelled: bool


class MatchesObject(TypedDict):
    """The entries that fit a symptom, the best first, by `insync defects WORDS`."""

    fits: Sequence[MatchEntry]
