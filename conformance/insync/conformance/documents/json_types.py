"""The types of the objects that `insync kafka ... --json` prints: the one source of their JSON Schemas.

`Annotated[..., SomeDataclass]` is the object that `dataclasses.asdict` makes of one. See also
`insync.explorer.documents.json_types`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from insync.conformance.catalogue.catalogue_record import BrokersRun, RecordedRun
from insync.conformance.comparing.touring import Space
from insync.conformance.correspondence.facts import Fact
from insync.conformance.live.scenarios.quorum_scenario import QuorumOutcome
from insync.conformance.live.scenarios.scenario import Outcome
from insync.explorer.documents.json_types.models import Bounds
from insync.explorer.documents.json_types.traces import StepEntry
from insync.explorer.runs.transition_tour import ActionShare

__all__ = [
    "BisectionObject",
    "CatalogueRunsObject",
    "ClaimsObject",
    "ClusterObject",
    "ConformanceObject",
    "FetchedObject",
    "InferredObject",
    "KafkaReplayObject",
    "OnKafkaEntry",
    "PatchObject",
    "RecordedObject",
    "ScenarioObject",
    "UnitTestsObject",
    "ValidationObject",
    "VersionsObject",
]


class Ruled(TypedDict):
    """Whether a release did what the model's rules of it say; null where a step could not be brought about."""

    as_the_rules_say: bool | None


class OnBrokers(TypedDict):
    """A run on brokers, and not on Kafka's classes alone."""

    on: Literal["brokers"]


RunEntry = Annotated[Mapping[str, Any], RecordedRun]
RuledRun = Annotated[Mapping[str, Any], RecordedRun, Ruled]
BrokersEntry = Annotated[Mapping[str, Any], OnBrokers, BrokersRun]
OnKafkaEntry = RunEntry | BrokersEntry


class ChangeEntry(TypedDict):
    """Two releases between which the answer changes."""

    before: str
    since: str
    reproduced_since: bool | None


class BisectionObject(TypedDict):
    """The releases that do what a trace says, by `insync kafka bisect`.

    Attributes:
        not_here: the releases whose jars are not fetched.
    """

    trace: str
    runs: Sequence[RuledRun]
    changes: Sequence[ChangeEntry]
    not_here: Sequence[str]


class CatalogueRunsObject(TypedDict):
    """The catalogue on the releases, by `insync kafka replay --all`.

    Attributes:
        against_the_rules: the entries that some release treats otherwise than the model's rules of it say.
        recorded: the file of the record; null if none was written.
    """

    entries: Mapping[str, Sequence[RuledRun]]
    against_the_rules: Sequence[str]
    recorded: str | None


class ClaimEntry(TypedDict):
    """A rule of the model that changed between two releases, and what was seen on both.

    Attributes:
        old: the value of the rule before.
        new: the value since.
        shown_by: the entry of the catalogue that shows it.
        confirmed: whether both sides were seen to do what the rule says.
    """

    rule: str
    before: str
    since: str
    old: str
    new: str
    shown_by: str | None
    confirmed: bool
    runs: Sequence[RunEntry]


class ClaimsObject(TypedDict):
    """What changed between releases, by `insync kafka claims`."""

    claims: Sequence[ClaimEntry]


class ClusterObject(TypedDict):
    """Where a cluster is to be had, by `insync kafka cluster`."""

    kafka: str
    brokers: Mapping[str, str]
    folder: str


class ScenarioRunEntry(TypedDict):
    """A run of a scenario.

    Attributes:
        outcome: null if it was not brought about.
        fault: why not; else null.
    """

    outcome: Annotated[Mapping[str, Any], Outcome] | Annotated[Mapping[str, Any], QuorumOutcome] | None
    fault: str | None
    seconds: float


class ScenarioObject(TypedDict):
    """What came of a scenario on brokers, by `insync kafka scenario`.

    Attributes:
        reproduced: the runs in which it happened.
    """

    verdict: Literal["reproduced", "not_reproduced"]
    kafka: str
    scenario: str
    reproduced: int
    runs: Sequence[ScenarioRunEntry]


class VersionEntry(TypedDict):
    """A release of Kafka, and whether its jars are here."""

    kafka: str
    jars: int
    bytes: int
    stored: bool


class VersionsObject(TypedDict):
    """The releases whose jars can be fetched, by `insync kafka versions`."""

    folder: str
    versions: Sequence[VersionEntry]


class FetchedObject(TypedDict):
    """What `insync kafka fetch` fetched: the number of jars that were not here."""

    kafka: str
    jars: int
    bytes: int
    fetched: int
    folder: str


class DifferenceEntry(TypedDict):
    """A field that differs after a step."""

    step: int
    label: str
    field: str
    model: Fact
    kafka: Fact


class ForEverEntry(TypedDict):
    """Whether Kafka was seen to go on for ever as the run of the model does."""

    shown: bool
    said: str


class KafkaReplayObject(TypedDict):
    """What came of a trace on Kafka's classes, by `insync kafka replay`.

    Attributes:
        steps: the steps that were taken, one that differs included.
        difference: the first of the differences.
        not_schedulable: why the next step cannot be brought about; null if all were taken.
        own_steps: the numbers of the steps that Kafka took by itself.
        for_ever: of a run that never ends.
    """

    verdict: str
    kafka: str
    model: str
    bounds: Bounds
    property: str
    steps: int
    difference: DifferenceEntry | None
    differences: Sequence[DifferenceEntry]
    not_schedulable: str | None
    own_steps: Sequence[int]
    for_ever: ForEverEntry | None
    trace: Sequence[StepEntry]


class GapEntry(TypedDict):
    """Transitions of an action that cannot be brought about, and why."""

    action: str
    reason: str
    transitions: int
    expected: bool


class ConformancePart(TypedDict):
    """Walks or a tour, of the model and Kafka's classes side by side.

    Attributes:
        own_steps: the steps that Kafka took by itself.
        fields: the fields that were compared.
        transitions: those of each action.
        asked_though_forbidden: how often each action was tried where the model forbids it.
        failed_walk_length: its steps before it was shortened.
        repeats: whether the same steps show the difference again.
        space: how much a tour has seen of the space.
        bound_actions: how much of each action with its parameters.
        spaces: the spaces that were toured, by the budgets that are spent there.
    """

    verdict: str
    bounds: Bounds
    walks: int
    seed: int | None
    steps: int
    own_steps: int
    fields: int
    transitions: Mapping[str, int]
    not_schedulable: Sequence[GapEntry]
    asked_though_forbidden: Mapping[str, int]
    failed_walk: int | None
    failed_walk_length: int | None
    repeats: bool | None
    stopped_by: str | None
    seconds: float
    space: NotRequired[Annotated[Mapping[str, Any], Space]]
    bound_actions: NotRequired[Mapping[str, Annotated[Mapping[str, Any], ActionShare]]]
    spaces: NotRequired[Mapping[str, Annotated[Mapping[str, Any], Space]]]


class ConformanceObject(TypedDict):
    """Whether Kafka's classes do what the model does, by `insync kafka conform`.

    Attributes:
        parts: `walks` and `tour`.
        difference: the first difference, with the steps that it needs; null if there is none.
        trace_file: the file of these steps; null if none was written.
    """

    verdict: str
    kafka: str
    model: str
    parts: Mapping[str, ConformancePart]
    difference: KafkaReplayObject | None
    trace_file: str | None


TriedParts = TypedDict(
    "TriedParts",
    {
        "without": KafkaReplayObject,
        "with": KafkaReplayObject,
        "all_with": KafkaReplayObject | None,
        "property_holds": bool,
        "impossible": str | None,
    },
    total=False,
)


class PatchObject(TriedParts):
    """A patched release, and with a trace what it does, by `insync kafka patch`.

    Attributes:
        fixed: whether the defect is there without the patch and not with it; null without a trace.
        without: the trace on the release as it is.
        all_with: all its steps on the patched release, where the model with the fix cannot take them all; else null.
        property_holds: whether the property holds in the model with the fix.
        impossible: the first step that the fix makes impossible in the model.
    """

    patch: str
    files: Sequence[str]
    artifacts: Sequence[str]
    classes: Sequence[str]
    libs: str
    fixed: bool | None


class UnitTestsObject(TypedDict):
    """Kafka's own test classes without a fix and with it, by `insync kafka patch --unit-tests`.

    Attributes:
        shown: whether the added tests are red without the fix and green with it.
        count: the tests that were run without the fix.
        red: the added tests that fail without it, with what was raised.
        green: the added tests that pass with it.
    """

    kafka: str
    tests: str
    fix: str
    shown: bool
    count: int
    red: Mapping[str, str]
    green: Sequence[str]
    failing_before: Mapping[str, str]
    failing_after: Mapping[str, str]


class RecordedObject(TypedDict):
    """What `insync kafka record` recorded."""

    kafka: str
    events: int
    file: str


class ValidationPart(TypedDict):
    """Whether a run is a behaviour of the model.

    Attributes:
        stuck: the number of the first event that no state explains, from 0; null if all are explained.
        event: that event in words.
        states: the most states that explained the run at once.
    """

    verdict: Literal["explained", "not_explained"]
    events: int
    stuck: int | None
    event: str | None
    states: int


class ValidationObject(ValidationPart):
    """Whether a recorded run is a behaviour of the model, by `insync kafka validate`.

    Attributes:
        release: the release whose rules the model has.
        fixed: the defect that is fixed in the model; null for none.
    """

    kafka: str
    release: str
    fixed: str | None


class InferredEntry(ValidationPart):
    """Whether a run is a behaviour by the rules of a release."""

    release: str


class InferredObject(TypedDict):
    """The releases that explain a recorded run, by `insync kafka validate --infer-release`."""

    kafka: str
    events: int
    releases: Sequence[InferredEntry]
