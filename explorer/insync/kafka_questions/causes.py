"""Why a promise is broken: the setting, the defect of the release or the limit of the protocol that is behind it.

A change is the cause of a broken promise if the promise holds with the change, or takes more steps to break. Settings
are tried first, in the order in which operators would change them. Then comes the fix of each defect that the release
has, then a newer release, and at last a flush of every record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, cast

from insync.explorer.results import Verdict, Violation
from insync.kafka.cluster.configuration import Acks, Fixed, Flushing
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, Defect
from insync.kafka.defects.findings import finding_of
from insync.kafka.releases import Release, Rules, has_defect
from insync.kafka_questions.disturbances import DISTURBANCES, Disturbance, Row, bounds_of, searched
from insync.kafka_questions.question import CALM, ELECTABLE, LOSS, Given, Question, Searched, replication_factor

if TYPE_CHECKING:
    from insync.explorer.traces.trace import Trace

__all__ = [
    "HARM",
    "Cause",
    "CauseKind",
    "causes_of",
    "changes_of",
    "harm_of",
    "may_be_cause",
    "open_defects",
    "race_of",
]

_ELR_SINCE = Release.V4_1
"""The first release with eligible leader replicas in new clusters by default (its documentation, Operations).

In 4.0 they were a preview, and off by default (announcement of 4.0.0).
"""


class CauseKind(Enum):
    """What would remove a cause."""

    SETTINGS = "settings"
    """A setting that the release has."""
    UNKNOWN = "unknown"
    """Not known: the answer was ended before the cause was found, or no change that was tried keeps the promise."""
    RELEASE = "release"
    """A newer release."""
    DESIGN = "design"
    """Nothing but a flush of every record: Kafka keeps records in the memory of several brokers by design."""
    OPEN = "open"
    """Nothing yet: a defect that every release has."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why promises are broken.

    Attributes:
        name: its entry of the catalogue, such as `C-3`; empty if it has none.
        kind: what would remove it.
        rows: the disturbances in which it breaks promises, the simplest first.
        violations: a shortest trace for each promise that it breaks, in the order of `PROMISES`.
        model: the cluster of these traces.
        change: the settings that remove it.
        fixed_in: the first release without it; empty if none is known.
        story: what happens, in a sentence.
        avoided_by: a measure that is no setting of the model, as a clause.
    """

    name: str
    kind: CauseKind
    rows: tuple[Row, ...]
    violations: tuple[Violation, ...]
    model: Cluster
    change: Given = field(default_factory=dict)
    fixed_in: str = ""
    story: str = ""
    avoided_by: str = ""

    @property
    def entry(self) -> Defect | None:
        """Its entry of the catalogue."""
        return DEFECTS.get(self.name)

    @property
    def violation(self) -> Violation:
        """The trace for the first promise."""
        return self.violations[0]

    @property
    def loses(self) -> bool:
        """Whether an acknowledged record is lost."""
        return self.violation.property == LOSS


HARM = "here the harm is done"
"""What a page says at the step of `harm_of`."""


def harm_of(trace: Trace) -> int | None:
    """Return the step in which an acknowledged record is as good as lost; None for another promise.

    That is the last step in which a broker loses its copy. If none does, it is the step that acknowledges the record,
    which too few brokers have.
    """
    if trace.property != LOSS:
        return None
    found = None
    states = [_copies(step.state) for step in trace.steps]
    for number, (before, now) in enumerate(pairwise(states), start=1):
        if any(now.get(record, 0) < copies for record, copies in before.items()):
            found = number
    acknowledged = (number for number, copies in enumerate(states) if copies)
    return found if found is not None else next(acknowledged, None)


def _copies(state: Mapping[str, object]) -> dict[str, int]:
    """Return the number of brokers that have each acknowledged record."""
    brokers = cast(dict[str, dict[str, Any]], state["broker"]).values()
    acked = [record for record in cast(list[str | None], state["acked"]) if record]
    return {record: sum(record in one["log"][: one["leo"]] for one in brokers) for record in acked}


def _loses_every_copy(trace: Trace) -> bool:
    """Whether an acknowledged record is on no broker any more at the end of a trace; any record if none is."""
    if copies := _copies(trace.steps[-1].state):
        return 0 in copies.values()
    ever = set[str]().union(*(_stored(step.state) for step in trace.steps))
    return not _stored(trace.steps[-1].state) >= ever


def _stored(state: Mapping[str, object]) -> set[str]:
    """Return the records that are in logs."""
    brokers = cast(dict[str, dict[str, Any]], state["broker"]).values()
    return {record for one in brokers for record in one["log"][: one["leo"]]}


_STORIES = {
    "C-2": "with acks=1 the leader acknowledges what nobody else has, and another broker takes over",
    "C-3": "with min.insync.replicas=1 the last broker in the ISR acknowledges alone, and then it is lost",
    "C-6": "an unclean election takes a broker from outside the ISR, which lacks the record",
    "C-7": "Kafka does not wait for disks, so a record is lost with all brokers that have it",
    "C-10": "the only replica loses what it had not flushed",
    "C-19": "with acks=1 the leader acknowledges what nobody else has, and leadership moves as planned",
    "R-25": "the last in-sync broker loses what it had not flushed, and leads again",
    "R-26": "a leader restarts so soon that the controller has not fenced it, and leads on with a shorter log",
    "R-32": "brokers that lost power may all be refused, and then the last leader leads again whatever its log has",
    "N-01": "a leader elected twice counts log ends of its former term, and acknowledges records that are then lost",
    "N-02": "a replica that a reassignment removed may still be elected, and records are lost",
    "N-05": "the controller takes min.insync.replicas by partition 0, which has more replicas",
}


def causes_of(question: Question, rows: Sequence[Row], before: Sequence[Cause] = ()) -> list[Cause]:
    """Return the causes of the broken promises of some rows, each once, the simplest first.

    Args:
        question: the question.
        rows: the rows.
        before: the causes of other rows, which are returned too.
    """
    found: dict[object, Cause] = {_key(cause): cause for cause in before}
    order = list(CauseKind)
    for row in rows:
        for cause in _causes(question, row, list(found.values())):
            key = _key(cause)
            known = found.get(key)
            if known is None or order.index(cause.kind) < order.index(known.kind):
                found[key] = replace(cause, rows=(*(() if known is None else known.rows), *cause.rows))
            elif cause.loses and not known.loses:  # the trace that is shown is one that loses a record
                found[key] = replace(cause, rows=(*cause.rows, *(one for one in known.rows if one not in cause.rows)))
            elif row not in known.rows:
                found[key] = replace(known, rows=(*known.rows, row))
    causes = sorted(found.values(), key=lambda cause: (order.index(cause.kind), not cause.loses, not cause.name))
    return _with_fewest_changes(question, causes)


def _with_fewest_changes(question: Question, causes: list[Cause]) -> list[Cause]:
    """Return causes with the fewest changes of settings that together keep as much as all of them do.

    That is in the release that was asked about, and in each newer one that removes a cause. A cause whose own change is
    not among these has them in its place.
    """
    together = changes_of(causes)
    if len(together) < 2:
        return causes
    needed, wanted = dict[str, int | str](), list[tuple[Given, _Events, Violation]]()
    for cause in causes:
        if cause.kind in (CauseKind.SETTINGS, CauseKind.RELEASE):
            newer = cause.change if cause.kind is CauseKind.RELEASE else {}
            for row in cause.rows:
                kept = [(newer, *one) for one in _kept_by(question.changed({**together, **newer}), row, cause)]
                wanted += kept
                needed |= {} if kept or newer else cause.change
    left = {name: value for name, value in together.items() if name not in needed}

    def keeps(part: Given) -> bool:
        changed = {**needed, **part}
        return all(_keeps(events, question.changed({**changed, **newer}), [one]) for newer, events, one in wanted)

    fewest = _fewest(left, keeps)
    fewest = {**needed, **fewest}
    if question.is_over or len(fewest) == len(together):
        return causes
    return [
        replace(cause, change={name: value for name, value in cause.change.items() if name in fewest} or fewest)
        if cause.kind is CauseKind.SETTINGS
        else cause
        for cause in causes
    ]


def _kept_by(question: Question, row: Row, cause: Cause) -> Iterator[tuple[_Events, Violation]]:
    """Yield the broken promises of a row that a cluster keeps, each with what may happen then."""
    assert row.searched is not None
    for name in (one.property for one in cause.violations):
        violation = row.searched.broken.get(name)
        if violation is not None and (kept := _where_kept(_Events(row), question, violation)) is not None:
            yield kept, violation


def changes_of(causes: Sequence[Cause]) -> dict[str, int | str]:
    """Return the changes of all settings that are causes."""
    return {name: value for cause in causes if cause.kind is CauseKind.SETTINGS for name, value in cause.change.items()}


def _key(cause: Cause) -> object:
    return cause.name or (cause.kind, *sorted(cause.change.items()))


@dataclass(frozen=True, slots=True)
class _Events:
    """What may happen in a search: all that a row allows, or no more than a trace of it takes.

    Attributes:
        row: the row.
        spent: budgets in place of those of its disturbances.
    """

    row: Row
    spent: Given = field(default_factory=dict)

    def bounds(self, question: Question) -> dict[str, int | str]:
        """Return the bounds of the search in a cluster."""
        return {**bounds_of(self.row.disturbances, question.settings), **self.row.narrowed, **self.spent}

    def search(self, question: Question) -> Searched | None:
        """Search a cluster; None if the disturbances cannot happen in it."""
        if not all(one.concerns(question.model) for one in self.row.disturbances):
            return None
        return question.search(self.bounds(question), self.row.words)

    def search_unless_broken(self, question: Question, broken: Collection[Violation]) -> Searched | None:
        """Search a cluster; None if it is known that all these promises are broken, or if none of this can happen."""
        return None if question.breaks_all(self.bounds(question), broken) else self.search(question)

    def with_fix(self, question: Question, entry: Defect, broken: Collection[Violation]) -> Searched | None:
        """Search a cluster with a defect fixed; None if it is known that all these promises are broken too."""
        fixed = replace(self, spent={**self.spent, **entry.fixed, "defect": entry.name, "fixed": "alone"})
        return fixed.search_unless_broken(question, broken)

    def of(self, violation: Violation) -> _Events | None:
        """Return no more than a trace takes; None if it takes all.

        A crash that lost nothing counts as one whose log survives.
        """
        assert self.row.searched is not None
        model = self.row.searched.model
        spent = cast(dict[str, int], violation.trace.steps[-1].state["spent"])
        lossy = spent.get("power_failures", 0)
        found = {name: spent[name] for name in _FAULTS if name in spent}
        if "crashes" in spent:
            found = {**found, "power_failures": lossy, "crashes": spent["crashes"] - lossy}
        fewer = {name: number for name, number in found.items() if number != model.b[name]}
        return replace(self, spent={**self.spent, **fewer}) if fewer else None


def _causes(question: Question, row: Row, known: Sequence[Cause]) -> Iterator[Cause]:
    """Yield the causes of the broken promises of a row.

    Args:
        question: the question.
        row: the row.
        known: causes of other rows, which are tried together first.
    """
    if row.searched is None or not row.searched.broken:
        return
    now, settings, events = row.searched, question, _Events(row)
    together = changes_of(known)
    if together and (same := _again(question, row, known, together)):
        yield from same
        return
    for change in _setting_changes(question.model):
        if question.is_over:
            break
        changed = settings.changed(change)
        after = events.search_unless_broken(changed, _matters(now).values())
        if after is None:
            continue
        strictly = "elr" in change or "replicas" in change
        caused = _kept(now, after, strictly=strictly)
        if strictly and not caused:
            caused = tuple(one for one in _matters(now).values() if _where_kept(events, changed, one) is not None)
        if "elr" in change:
            caused = caused or _takes_more(now, after)
        if caused:
            name = _entry_of(change, row)
            yield Cause(name, CauseKind.SETTINGS, (row,), caused, now.model, change, story=_STORIES.get(name, ""))
            now, settings = after, changed
        if not now.broken:
            return
    best = _best(settings.model)
    if best and not question.is_over:
        # What stays is asked of the cluster with every setting at its best, so that no setting is behind it.
        changed = settings.changed(best)
        after = events.search_unless_broken(changed, _matters(now).values())
        if after is not None:
            if caused := _kept(now, after, strictly=True):
                fewest = _fewest(best, lambda part: _keeps(events, settings.changed(part), caused))
                name = _entry_of({name: fewest[name] for name in list(fewest)[-1:]}, row)
                yield Cause(name, CauseKind.SETTINGS, (row,), caused, now.model, fewest, story=_STORIES[name])
                best = {}
            now = after
        settings = changed
        if not now.broken:
            return
    told = {one.property for cause in known if cause.kind is not CauseKind.SETTINGS for one in cause.violations}
    for cause in _beyond_settings(settings, events, now, told - {LOSS}):
        if best and cause.kind is CauseKind.RELEASE:
            yield replace(
                cause, change={**cause.change, **_beside(question.changed(cause.change), events, cause, best)}
            )
        else:
            yield cause


def _beside(question: Question, events: _Events, cause: Cause, best: Given) -> Given:
    """Return the fewest of the best settings that an upgrade takes with it to remove a cause."""
    within = _where_kept(events, question.changed(best), cause.violation) or events
    return _fewest(best, lambda part: _keeps(within, question.changed(part), cause.violations))


def _fewest(change: Given, keeps: Callable[[Given], bool]) -> Given:
    """Return the fewest of some changes with which something is kept; all of them if no fewer do."""
    for size in range(len(change)):
        for names in combinations(change, size):
            if keeps(part := {name: change[name] for name in names}):
                return part
    return change


def _keeps(events: _Events, question: Question, broken: Collection[Violation]) -> bool:
    """Return whether a cluster keeps promises that another one breaks."""
    after = events.search_unless_broken(question, broken)
    return after is not None and all(_holds(after, one.property) for one in broken)


def _holds(found: Searched, promise: str) -> bool:
    """Return whether a promise is kept; one that does not apply is."""
    return all(one.verdict is Verdict.HOLDS for one in found.result.properties if one.name == promise)


def _where_kept(events: _Events, question: Question, violation: Violation) -> _Events | None:
    """Return what may happen where a cluster keeps a promise: all, or no more than a trace takes; None if it does not.

    Where it keeps only the latter, there are other ways to break the promise, which take more.
    """
    for one in (events, events.of(violation)):
        if one is not None and _keeps(one, question, [violation]):
            return one
    return None


def _takes_more(before: Searched, after: Searched) -> tuple[Violation, ...]:
    """Return the losses of the last replica standing that take more steps with eligible leader replicas.

    A copy of the lost record must be left elsewhere. Without one, eligible leader replicas decide nothing, and a
    difference in steps is chance.
    """
    return tuple(one for one in _kept(before, after) if one.property == LOSS and not _loses_every_copy(one.trace))


def _best(model: Cluster) -> dict[str, int | str]:
    """Return all changes of settings that may keep a record, but for more replicas."""
    changes = [one for one in _setting_changes(model) if "replicas" not in one]
    return {name: value for one in changes for name, value in one.items()}


def _again(question: Question, row: Row, known: Sequence[Cause], together: Given) -> list[Cause]:
    """Return the known cause that is the simplest one of a row too, if the known changes keep all in it; else none."""
    assert row.searched is not None
    after = _Events(row).search(question.changed(together))
    if after is None or after.broken or not after.complete:
        return []
    first = next(cause for cause in known if cause.kind is CauseKind.SETTINGS)
    name = _entry_of(first.change, row)
    same = next((cause for cause in known if cause.name == name), None)
    broken = tuple(row.searched.broken.values())
    new = Cause(name, first.kind, (row,), broken, row.searched.model, first.change, story=_STORIES.get(name, ""))
    return [new if same is None else replace(same, rows=(row,))]


def _kept(before: Searched, after: Searched, *, strictly: bool = False) -> tuple[Violation, ...]:
    """Return the broken promises that a change keeps, or unless `strictly` that take more steps to break with it.

    The latter are also those that are broken in no state of as many steps, where the search ends at its limit.
    """
    decided = {each.name: each.verdict for each in after.result.properties}

    def takes_more(name: str, steps: int) -> bool:
        return (after.broken[name].trace_length if name in after.broken else after.result.complete_depth + 1) > steps

    return tuple(
        violation
        for name, violation in _matters(before).items()
        if decided.get(name, Verdict.HOLDS) is Verdict.HOLDS
        or (not strictly and takes_more(name, violation.trace_length))
    )


def _matters(found: Searched) -> dict[str, Violation]:
    """Return the broken promises that need a cause: where a record is lost, what only leads there needs none."""
    follows = (ELECTABLE,) if LOSS in found.broken else ()
    return {name: violation for name, violation in found.broken.items() if name not in follows}


def _setting_changes(model: Cluster) -> Iterator[dict[str, int | str]]:
    """Yield the single changes of settings that may keep a record, in the order in which operators would make them."""
    replicas = replication_factor(model)
    if model.acks is Acks.LEADER:
        yield {"acks": Acks.ALL.value}
    if model.features.unclean_leader_election:
        yield {"unclean_leader_election": "off"}
    if replicas == 1:
        yield {"replicas": 3, "min_insync_replicas": 2}
    elif model.b.min_insync_replicas < 2:
        yield {"min_insync_replicas": 2}
    if not model.features.elr and not model.b.settings.release.is_before(_ELR_SINCE):
        yield {"elr": "on"}


def _entry_of(change: Given, row: Row) -> str:
    """Return the entry of the catalogue that a change of a setting removes."""
    if "acks" in change:
        return "C-2" if any(one.fails for one in row.disturbances) else "C-19"
    if "unclean_leader_election" in change:
        return "C-6"
    if "replicas" in change:
        return "C-10"
    return "C-3" if "min_insync_replicas" in change else "R-25"


def _beyond_settings(question: Question, events: _Events, now: Searched, told: Collection[str]) -> Iterator[Cause]:
    """Yield the causes that no setting of the release removes: its defects, those fixed later, and the design.

    A cause that removes only the simplest way is followed by those of what stays where it is removed.

    Args:
        question: the question, with settings at their best.
        events: what may happen.
        now: the search for it.
        told: promises that are left out, as another row has such a cause for them.
    """
    row = events.row
    left = {name: violation for name, violation in _matters(now).items() if name not in told}
    for entry in _suspects(question.model, row):
        if not left or question.is_over:
            break
        after = events.with_fix(question, entry, left.values())
        kept = () if after is None else _kept(now, after, strictly=True)
        if caused := [left.pop(one.property) for one in kept if one.property in left]:
            yield _of_release(entry, question.model, row, tuple(caused), now.model)
    if left and not question.is_over and (newest := _newest(question)) is not None:
        after = events.search_unless_broken(newest, left.values())
        kept = () if after is None else _kept(now, after, strictly=True)
        if wanted := [one.property for one in kept if one.property in left]:
            first = _first_without(question, events, left[wanted[0]])
            if not question.is_over:
                yield _later(question, first, events, tuple(left.pop(name) for name in wanted), now.model)
    while left and not question.is_over and (way := _simplest_way(question, events, now, left)) is not None:
        yield way
        question = question.changed(way.change or {"defect": way.name, "fixed": "alone"})
        after = events.search(question)
        if after is None:
            return
        now, left = after, {name: violation for name, violation in _matters(after).items() if name in left}
        if not way.change:  # one defect at a time can be fixed
            break
    yield from _by_design(question, events, now, left)


def _by_design(question: Question, events: _Events, now: Searched, left: Mapping[str, Violation]) -> Iterator[Cause]:
    """Yield the limits of the protocol behind what is left, which a flush of every record would keep, and the rest."""
    row, change = events.row, {"flush": Flushing.ALWAYS.value}
    unknown, caused, lowered = list[Violation](), list[Violation](), list[Violation]()
    for violation in left.values():
        if _is_lowered(events, question, violation):
            lowered.append(violation)
            continue
        flushed = _loses_every_copy(violation.trace) or (  # copies that were flushed would be there
            not question.is_over and _where_kept(events, question.changed(change), violation) is not None
        )
        (caused if flushed else unknown).append(violation)
    if lowered:
        story, avoided = _LOWERED
        yield Cause("C-3", CauseKind.DESIGN, (row,), tuple(lowered), now.model, story=story, avoided_by=avoided)
    if caused:
        name = _limit_behind(question.model, caused[0].trace)
        yield Cause(name, CauseKind.DESIGN, (row,), tuple(caused), now.model, change, story=_STORIES[name])
    if unknown:
        story = "its cause was not looked for yet" if question.is_over else "no change that was tried prevents it"
        yield Cause("", CauseKind.UNKNOWN, (row,), tuple(unknown), now.model, story=story)


_LOWERED = (
    "min.insync.replicas is lowered, and then the last broker in the ISR acknowledges alone, and is lost",
    "No setting prevents it: leave min.insync.replicas at 2 or more",
)
"""The story of a change by hand, and what avoids it."""


def _is_lowered(events: _Events, question: Question, violation: Violation) -> bool:
    """Return whether a promise is kept where min.insync.replicas is not changed while other things happen."""
    if question.is_over or not any(one.name == "min-insync" for one in events.row.disturbances):
        return False
    within = (one for one in (events, events.of(violation)) if one is not None)
    unchanged = (replace(one, spent={**one.spent, "config_changes": 0}) for one in within)
    return any(_keeps(one, question, [violation]) for one in unchanged)


def _limit_behind(model: Cluster, trace: Trace) -> str:
    """Return the entry for a limit of the protocol: who lost a record that was not flushed, and leads without it."""
    if model.b.replicas == 1:
        return "C-10"
    if _loses_every_copy(trace):
        return "C-7"
    return "R-32" if model.features.elr else "R-25"


def _newest(question: Question) -> Question | None:
    """Return the same question about the newest release, with eligible leader replicas; None if it is that already."""
    newest = list(Release)[-1]
    return question.changed(_upgrade(newest)) if question.model.in_force != Rules(newest.rules) else None


def _simplest_way(question: Question, events: _Events, now: Searched, left: Mapping[str, Violation]) -> Cause | None:
    """Return the cause without which a promise is kept where no more happens than its shortest trace takes.

    Other ways to break the promise stay, which take more.
    """
    for violation in left.values():
        if (fewer := events.of(violation)) is None:
            continue
        for entry in _suspects(question.model, events.row):
            after = fewer.with_fix(question, entry, [violation])
            if after is not None and _holds(after, violation.property):
                return _of_release(entry, question.model, events.row, (violation,), now.model)
        newest = _newest(question)
        if newest is not None and _keeps(fewer, newest, [violation]):
            first = _first_without(question, fewer, violation)
            return None if question.is_over else _later(question, first, fewer, (violation,), now.model)
    if not question.model.features.elr and question.model.b.settings.release.is_before(_ELR_SINCE):
        change = _upgrade(_ELR_SINCE)
        after = events.search_unless_broken(question.changed(change), left.values())
        if after is not None and (caused := _takes_more(now, after)):
            since, story = _ELR_SINCE.value, _STORIES["R-25"]
            return Cause("R-25", CauseKind.RELEASE, (events.row,), caused, now.model, change, since, story)
    return None


_FAULTS = (
    *(
        "power_failures",
        "crashes",
        "controlled_shutdowns",
        "fencings",
        "isr_shrinks",
        "preferred_elections",
        "fetch_failures",
        "throttles",
        "log_dir_moves",
    ),
    *(
        "log_dir_failures",
        "delete_records",
        "reassignments",
        "replica_order_changes",
        "snapshots",
        "controller_failovers",
    ),
    *("lost_fetch_responses", "lost_alter_partition_responses", "config_changes", "retries", "producer_restarts"),
)
_DEATHS = frozenset({"power_failures", "crashes", "controlled_shutdowns"})


def _suspects(model: Cluster, row: Row) -> Iterator[Defect]:
    """Yield the defects that the release has and that the disturbances of a row may bring about.

    None where a fix is in already that lets unclean elections happen: one fix at a time can be tried.
    """
    assert row.searched is not None
    if _elects_uncleanly_by_a_fix(model):
        return
    spent = {name for name in _FAULTS if row.searched.model.b[name] > 0}
    spent |= _DEATHS if spent & _DEATHS else set()
    spent |= (
        {"preferred_elections"} if spent & {*_DEATHS, "fencings"} else set()
    )  # what fails is followed by an election
    usual = Cluster()
    for entry in _of_kafka(model.b.settings.release):
        witness = Cluster(**{"power_failures": 0, "fencings": 0, "isr_shrinks": 0, **entry.bounds})
        takes = {name for name in _FAULTS if witness.b[name] > 0}
        as_usual = all(
            witness.identity[name] == usual.identity[name]
            for name in ("late_fetch_responses", "late_alter_partition_responses", "consumer")
        )
        if takes <= spent and as_usual:
            yield entry


def _of_kafka(release: Release) -> Iterator[Defect]:
    """Yield the defects that a release of Kafka has."""
    for entry in DEFECTS.values():
        if entry.name[0] in "RN" and not entry.affected.startswith("none") and has_defect(entry, release):
            yield entry


def _elects_uncleanly_by_a_fix(model: Cluster) -> bool:
    return model.features.unclean_leader_election and model.b.settings.fixed is Fixed.ALONE


def _of_release(entry: Defect, asked: Cluster, row: Row, caused: tuple[Violation, ...], model: Cluster) -> Cause:
    """Return the cause that is a defect of the release that was asked about.

    Args:
        entry: the defect.
        asked: the cluster that was asked about.
        row: the row.
        caused: a shortest trace for each promise that it breaks.
        model: the cluster of these traces.
    """
    release: Release = asked.b.settings.release
    later = list(Release)[release.age + 1 :]
    fixed_in = next((one.value for one in later if not has_defect(entry, one)), "")
    kind = CauseKind.RELEASE if fixed_in else CauseKind.OPEN
    change = {"release": fixed_in} if fixed_in else {}
    return Cause(entry.name, kind, (row,), caused, model, change, fixed_in, _story_of(entry))


def _story_of(entry: Defect) -> str:
    return _STORIES.get(entry.name, entry.title[:1].lower() + entry.title[1:])


def _first_without(question: Question, events: _Events, broken: Violation) -> Release:
    """Return the first later release that keeps a promise, with eligible leader replicas where it has them."""
    release: Release = question.model.b.settings.release
    later = [one for one in list(Release)[release.age + 1 :] if one.same_since is one]

    def keeps(one: Release) -> bool:
        after = events.search_unless_broken(question.changed(_upgrade(one)), [broken])
        return after is not None and broken.property not in after.broken

    low, high = 0, len(later) - 1
    while low < high:  # what one release has fixed, later ones keep, but for what the next one takes back
        middle = (low + high) // 2
        if keeps(later[middle]):
            high = middle
        else:
            low = middle + 1
    return next((one for one in later[:low] if _is_taken_back(one) and keeps(one)), later[low])


def _is_taken_back(release: Release) -> bool:
    """Whether the next release, which is older by the calendar, has not got all rules that are new in this one."""
    following = list(Release)[release.age + 1].rules
    return any(getattr(following, name) != value for name, value in release.changed.items())


def _upgrade(release: Release) -> dict[str, int | str]:
    return {"release": release.value, **({} if release.is_before(_ELR_SINCE) else {"elr": "on"})}


def _later(question: Question, first: Release, events: _Events, caused: tuple[Violation, ...], model: Cluster) -> Cause:
    """Return the cause that a later release has removed: the last replica standing, or the last defect to be fixed."""
    change, row = _upgrade(first), events.row
    if "elr" in change:
        if not _keeps(events, question.changed({**change, "elr": "off"}), caused[:1]):
            return Cause("R-25", CauseKind.RELEASE, (row,), caused, model, change, first.value, _STORIES["R-25"])
        del change["elr"]
    if (entry := _removed_by(first, question, events, caused[0])) is not None:
        return Cause(entry.name, CauseKind.RELEASE, (row,), caused, model, change, first.value, _story_of(entry))
    rules = question.model.rules
    changed = [name for name in first.changed if getattr(rules, name) != getattr(first.rules, name)]
    story = "; ".join(Rules.documentation(name).rstrip(".") for name in changed[:2])
    story = f"{first.value} is the first with: {story}"
    return Cause("", CauseKind.RELEASE, (row,), caused, model, change, first.value, story)


def _removed_by(first: Release, question: Question, events: _Events, broken: Violation) -> Defect | None:
    """Return the defect that a later release has not got any more and that is behind a trace; None if none is known.

    Its fix alone keeps the promise: in the release that was asked about, or in the last one with the defect, where all
    others are fixed. Else it is one whose fix makes the trace longer.
    """
    last, longer = list(Release)[first.age - 1], None
    for of_release in (question, question.changed(_upgrade(last))):
        release: Release = of_release.model.b.settings.release
        for entry in _of_kafka(release):
            if has_defect(entry, first) or question.is_over:
                continue
            after = events.with_fix(of_release, entry, [broken])
            if after is not None and _holds(after, broken.property):
                return entry
            longer = longer or (None if after is None else entry)
    return longer


_OF_SETTINGS: Mapping[str, Callable[[Cluster], bool]] = {
    "C-2": lambda model: model.acks is Acks.LEADER,
    "C-19": lambda model: model.acks is Acks.LEADER,
    "C-3": lambda model: model.b.min_insync_replicas < 2,
    "C-6": lambda model: model.features.unclean_leader_election,
    "C-7": lambda model: model.flushing is not Flushing.ALWAYS,
    "C-10": lambda model: replication_factor(model) == 1,
    "R-25": lambda model: not model.features.elr,
}
"""The causes that settings decide, each with whether a cluster can have it."""


def may_be_cause(name: str, model: Cluster, happening: Collection[str] = ()) -> bool:
    """Return whether an entry of the catalogue may be a cause in a cluster, as far as no search is needed to say so.

    Args:
        name: the entry.
        model: the cluster.
        happening: the names of the disturbances that were chosen.
    """
    if name == "C-3" and "min-insync" in happening:  # there min.insync.replicas is lowered
        return True
    if name in _OF_SETTINGS:
        return _OF_SETTINGS[name](model)
    for one in _OPEN:
        if one.name == name:
            return model.b.partition_zero_replicas > 0 or not one.needs_partition_zero
    return name[0] in "RN" and bool(has_defect(DEFECTS[name], model.b.settings.release))


def race_of(question: Question, disturbances: Sequence[Disturbance]) -> Cause | None:
    """Return the defect that breaks a promise only by a race inside one method of Kafka; None if there is none.

    Args:
        question: the question, about a cluster whose settings that are causes are changed.
        disturbances: what happens.
    """
    calm = searched(question, disturbances)
    if calm.searched is None:
        return None
    racing = question.changed({"races": "on"})
    row = searched(racing, disturbances)
    if row.searched is None:
        return None
    new = tuple(
        violation
        for name, violation in row.searched.broken.items()
        if violation.trace.takes_race
        and (name not in calm.searched.broken or calm.searched.broken[name].trace_length > violation.trace_length)
    )
    lost = [violation for violation in new if violation.property == LOSS]
    if not lost:
        return None
    for entry in _suspects(racing.model, row):
        fixed = _Events(row).with_fix(racing, entry, _matters(row.searched).values())
        if fixed is not None and _kept(row.searched, fixed):
            return _of_release(entry, racing.model, row, new, row.searched.model)
    return None


# Defects that no release has fixed, each searched at bounds of its own: they take several disturbances in turn.


@dataclass(frozen=True, slots=True)
class _Open:
    """A defect of every release, and the smallest cluster that shows it.

    Attributes:
        name: its entry of the catalogue.
        budgets: the budgets that it takes.
        takes: what it takes, in words.
        avoided_by: what operators can do, as a clause, from its page.
        needs_elr: whether it needs eligible leader replicas.
        needs_partition_zero: whether it needs a partition with another number of replicas than partition 0.
        replicas: how many replicas are enough to show it; fewer than min.insync.replicas never are.
    """

    name: str
    budgets: Mapping[str, int]
    takes: str
    avoided_by: str
    needs_elr: bool = False
    needs_partition_zero: bool = False
    replicas: int = 2

    def concerns(self, model: Cluster) -> bool:
        """Whether it can happen in a cluster."""
        if self.needs_elr and not model.features.elr:
            return False
        return model.b.partition_zero_replicas > 0 if self.needs_partition_zero else model.b.replicas > 1

    def bounds(self, question: Question) -> dict[str, int | str]:
        """Return the bounds of its search."""
        own = question.model.b.replicas
        fewest = max(self.replicas, question.model.b.min_insync_replicas)
        sizes = {"replicas": 2, "spares": 1} if own == 1 else {"replicas": min(own, fewest)}
        return {**CALM, **question.settings, **sizes, **self.budgets}


_OPEN = (
    _Open(
        "N-01",
        {"preferred_elections": 1, "power_failures": 1, "fencings": 1},
        "the preferred leader is elected and two brokers fail within seconds",
        "rarer with auto.leader.rebalance.enable=false",
        replicas=3,
    ),
    _Open(
        "N-02",
        {"reassignments": 2, "fencings": 2},
        "a partition is reassigned to fewer replicas and back while two sessions expire",
        "to avoid it, lower min.insync.replicas before a reassignment to fewer replicas",
        needs_elr=True,
    ),
    _Open(
        "N-05",
        {"reassignments": 2, "crashes": 1},
        "a partition with fewer replicas than partition 0 is reassigned twice and a broker dies",
        "to avoid it, give all partitions of a topic as many replicas",
        needs_elr=True,
        needs_partition_zero=True,
    ),
)


def open_defects(question: Question, causes: Sequence[Cause]) -> Iterator[Cause]:
    """Yield the defects without a fix that lose records, though all settings that are causes are changed.

    Args:
        question: the question.
        causes: the causes that were found.
    """
    best = question.changed(changes_of(causes))
    if best.model.acks is not Acks.ALL or _elects_uncleanly_by_a_fix(best.model):
        return
    for one in _OPEN:
        if not one.concerns(best.model):
            continue
        entry, bounds = DEFECTS[one.name], one.bounds(best)
        found = best.search(bounds, one.takes)
        if not found.broken:
            continue
        fixed = best.search({**bounds, "defect": entry.name, "fixed": "alone"}, f"the fix of {entry.name}")
        kept = _kept(found, fixed, strictly=True)
        if kept and kept[0].property == LOSS:
            takes = replace(DISTURBANCES["everyday"], name=entry.name, label=one.takes, words=one.takes)
            row = Row((replace(takes, likelihood="rare"),), found)
            finding = finding_of(entry.name)
            fixed_in = "" if finding is None else finding.fixed_in
            story = _STORIES[one.name]
            yield Cause(
                one.name, CauseKind.OPEN, (row,), kept, found.model, {}, fixed_in, story, avoided_by=one.avoided_by
            )
