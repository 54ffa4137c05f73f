"""Why a promise is broken: the setting, the defect of the release or the limit of the protocol that is behind it.

A change is the cause of a broken promise if the promise holds with the change, or takes more steps to break. Settings
are tried first, in the order in which operators would change them. Then comes the fix of each defect that the release
has, then a newer release, and at last a flush of every record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from insync.explorer.results import Verdict, Violation
from insync.kafka.cluster.configuration import Acks, Fixed, Flushing
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, Defect
from insync.kafka.defects.findings import finding_of
from insync.kafka.releases import Release, Rules, has_defect, rule_documentation
from insync.kafka_questions.disturbances import DISTURBANCES, Disturbance, Row, bounds_of, searched
from insync.kafka_questions.question import CALM, ELECTABLE, LOSS, Given, Question, Searched

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
"""The first release in which eligible leader replicas are for production (KIP-966)."""


class CauseKind(Enum):
    """What would remove a cause."""

    SETTINGS = "settings"
    """A setting that the release has."""
    UNKNOWN = "unknown"
    """Not known: the answer was ended before the cause was found."""
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
    """Whether an acknowledged record is on no broker any more at the end of a trace."""
    return 0 in _copies(trace.steps[-1].state).values()


_STORIES = {
    "C-2": "with acks=1 the leader acknowledges what nobody else has, and another broker takes over",
    "C-3": "with min.insync.replicas=1 the last broker in the ISR acknowledges alone, and then it is lost",
    "C-6": "an unclean election takes a broker from outside the ISR, which lacks the record",
    "C-7": "Kafka does not wait for disks, so a record is lost with all brokers that have it",
    "C-10": "the only replica loses what it had not flushed",
    "C-19": "with acks=1 the leader acknowledges what nobody else has, and leadership moves as planned",
    "R-25": "the last in-sync broker loses what it had not flushed, and leads again",
    "R-26": "a leader restarts so soon that the controller has not fenced it, and leads on with a shorter log",
    "N-01": "a leader elected twice counts log ends of its former term",
    "N-02": "a replica that a reassignment removed may still be elected",
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
            elif row not in known.rows:
                found[key] = replace(known, rows=(*known.rows, row))
    return sorted(found.values(), key=lambda cause: (order.index(cause.kind), not cause.loses, not cause.name))


def changes_of(causes: Sequence[Cause]) -> dict[str, int | str]:
    """Return the changes of all settings that are causes."""
    return {name: value for cause in causes if cause.kind is CauseKind.SETTINGS for name, value in cause.change.items()}


def _key(cause: Cause) -> object:
    return cause.name or (cause.kind, *sorted(cause.change.items()))


def _causes(question: Question, row: Row, known: Sequence[Cause]) -> Iterator[Cause]:
    """Yield the causes of the broken promises of a row.

    Args:
        question: the question.
        row: the row.
        known: causes of other rows, which are tried together first.
    """
    if row.searched is None or not row.searched.broken:
        return
    now, settings = row.searched, question
    together = changes_of(known)
    if together and (same := _again(question, row, known, together)):
        yield from same
        return
    for change in _setting_changes(question.model):
        if question.is_over:
            break
        after = _without_all(settings.changed(change), row, _matters(now).values())
        if after is None:
            continue
        if caused := _kept(now, after, strictly="elr" in change or "replicas" in change):
            name = _entry_of(change, row)
            yield Cause(name, CauseKind.SETTINGS, (row,), caused, now.model, change, story=_STORIES.get(name, ""))
            now, settings = after, settings.changed(change)
        if not now.broken:
            return
    best = _best(settings.model)
    if best and not question.is_over:
        # What stays is asked of the cluster with every setting at its best, so that no setting is behind it.
        settings = settings.changed(best)
        after = _without_all(settings, row, _matters(now).values())
        if after is not None:
            if caused := _kept(now, after, strictly=True):
                name = _entry_of({name: best[name] for name in list(best)[-1:]}, row)
                yield Cause(name, CauseKind.SETTINGS, (row,), caused, now.model, best, story=_STORIES[name])
                best = {}
            now = after
        if not now.broken:
            return
    told = {one.property for cause in known if cause.kind is not CauseKind.SETTINGS for one in cause.violations}
    for cause in _beyond_settings(settings, row, now, told - {LOSS}):
        yield replace(cause, change={**cause.change, **best}) if cause.kind is CauseKind.RELEASE else cause


def _best(model: Cluster) -> dict[str, int | str]:
    """Return all changes of settings that may keep a record, but for more replicas."""
    changes = [one for one in _setting_changes(model) if "replicas" not in one]
    return {name: value for one in changes for name, value in one.items()}


def _again(question: Question, row: Row, known: Sequence[Cause], together: Given) -> list[Cause]:
    """Return the known cause that is the simplest one of a row too, if the known changes keep all in it; else none."""
    assert row.searched is not None
    after = searched(question.changed(together), row.disturbances).searched
    if after is None or after.broken or not after.complete:
        return []
    first = next(cause for cause in known if cause.kind is CauseKind.SETTINGS)
    name = _entry_of(first.change, row)
    same = next((cause for cause in known if cause.name == name), None)
    broken = tuple(row.searched.broken.values())
    new = Cause(name, first.kind, (row,), broken, row.searched.model, first.change, story=_STORIES.get(name, ""))
    return [new if same is None else replace(same, rows=(row,))]


def _without_all(question: Question, row: Row, broken: Collection[Violation]) -> Searched | None:
    """Return the search of a row with other settings; None if it is known that all these promises are broken too.

    None also if the disturbances of the row cannot happen with these settings.
    """
    if question.breaks_all(bounds_of(row.disturbances, question.settings), broken):
        return None
    return searched(question, row.disturbances).searched


def _kept(before: Searched, after: Searched, *, strictly: bool = False) -> tuple[Violation, ...]:
    """Return the broken promises that a change keeps, or unless `strictly` that take more steps to break with it."""
    decided = {each.name: each.verdict for each in after.result.properties}
    return tuple(
        violation
        for name, violation in _matters(before).items()
        if decided.get(name, Verdict.HOLDS) is Verdict.HOLDS
        or (not strictly and name in after.broken and after.broken[name].trace_length > violation.trace_length)
    )


def _matters(found: Searched) -> dict[str, Violation]:
    """Return the broken promises that need a cause: where a record is lost, what only leads there needs none."""
    follows = (ELECTABLE,) if LOSS in found.broken else ()
    return {name: violation for name, violation in found.broken.items() if name not in follows}


def _setting_changes(model: Cluster) -> Iterator[dict[str, int | str]]:
    """Yield the single changes of settings that may keep a record, in the order in which operators would make them."""
    replicas = model.b.replicas - model.b.spares
    if model.acks is Acks.LEADER:
        yield {"acks": Acks.ALL.value}
    if model.features.unclean:
        yield {"unclean": "off"}
    if replicas == 1:
        yield {"replicas": 3, "min_insync": 2}
    elif model.b.min_insync < 2:
        yield {"min_insync": 2}
    if not model.features.elr and not model.b.settings.release.is_before(_ELR_SINCE):
        yield {"elr": "on"}


def _entry_of(change: Given, row: Row) -> str:
    """Return the entry of the catalogue that a change of a setting removes."""
    if "acks" in change:
        return "C-2" if any(one.fails for one in row.disturbances) else "C-19"
    if "unclean" in change:
        return "C-6"
    if "replicas" in change:
        return "C-10"
    return "C-3" if "min_insync" in change else "R-25"


def _beyond_settings(question: Question, row: Row, now: Searched, told: Collection[str]) -> Iterator[Cause]:
    """Yield the causes that no setting of the release removes: its defects, those fixed later, and the design.

    Promises that are `told`, as another row has such a cause for them, are left out.
    """
    left = {name: violation for name, violation in _matters(now).items() if name not in told}
    release: Release = question.model.b.settings.release
    for entry in _suspects(question.model, row):
        if not left or question.is_over:
            break
        after = _with_fix(question, entry, row, left.values())
        kept = () if after is None else _kept(now, after, strictly=True)
        caused = [left.pop(one.property) for one in kept if one.property in left]
        if caused:
            yield _of_release(entry, release, row, tuple(caused), now.model)
    newest = list(Release)[-1]
    if left and question.model.in_force != Rules(newest.rules) and not question.is_over:
        after = _without_all(question.changed({"release": newest.value, "elr": "on"}), row, left.values())
        kept = () if after is None else _kept(now, after, strictly=True)
        wanted = [one.property for one in kept if one.property in left]
        first = _first_without(question, row, left[wanted[0]]) if wanted else newest
        if wanted and not question.is_over:
            caused = [left.pop(name) for name in wanted]
            yield _later(question, first, row, tuple(caused), now.model)
    if left and not question.is_over:
        change = {"flushing": Flushing.ALWAYS.value}
        after = searched(question.changed(change), row.disturbances).searched
        kept = () if after is None else _kept(now, after, strictly=True)
        if caused := [left.pop(one.property) for one in kept if one.property in left]:
            name = "C-10" if question.model.b.replicas == 1 else "C-7" if _loses_every_copy(caused[0].trace) else ""
            story = _STORIES[name] if name else "a broker that lost what it had not flushed is elected"
            yield Cause(name, CauseKind.DESIGN, (row,), tuple(caused), now.model, change, story=story)
    if left and question.is_over:
        story = "its cause was not looked for yet"
        yield Cause("", CauseKind.UNKNOWN, (row,), tuple(left.values()), now.model, story=story)
    elif left:
        story = "no change that was tried keeps it"
        yield Cause("", CauseKind.OPEN, (row,), tuple(left.values()), now.model, story=story)


def _with_fix(question: Question, entry: Defect, row: Row, broken: Collection[Violation]) -> Searched | None:
    """Return the search of a row with a defect fixed; None if it is known that all these promises are broken too."""
    bounds = {**bounds_of(row.disturbances, question.settings), **entry.fixed, "defect": entry.name, "fixed": "alone"}
    return None if question.breaks_all(bounds, broken) else question.search(bounds)


_FAULTS = (
    *("lossy_crashes", "crashes", "stops", "fencings", "shrinks", "elections", "pauses", "throttles", "moves"),
    *("directory_losses", "directory_failures", "deletions", "reassignments", "reorderings", "snapshots", "failovers"),
    *("session_losses", "alter_retries", "minimum_changes", "retries", "producer_restarts"),
)
_DEATHS = frozenset({"lossy_crashes", "crashes", "stops"})


def _suspects(model: Cluster, row: Row) -> Iterator[Defect]:
    """Yield the defects that the release has and that the disturbances of a row may bring about.

    None where a fix is in already that lets unclean elections happen: one fix at a time can be tried.
    """
    assert row.searched is not None
    if _elects_uncleanly_by_a_fix(model):
        return
    spent = {name for name in _FAULTS if row.searched.model.b[name] > 0}
    spent |= _DEATHS if spent & _DEATHS else set()
    spent |= {"elections"} if spent & {*_DEATHS, "fencings"} else set()  # what fails is followed by an election
    usual = Cluster()
    for entry in DEFECTS.values():
        if (
            entry.name[0] not in "RN"
            or entry.affected.startswith("none")
            or not has_defect(entry, model.b.settings.release)
        ):
            continue
        witness = Cluster(**{"lossy_crashes": 0, "fencings": 0, "shrinks": 0, **entry.bounds})
        takes = {name for name in _FAULTS if witness.b[name] > 0}
        as_usual = all(
            witness.identity[name] == usual.identity[name] for name in ("late_replies", "isr_replies", "consumer")
        )
        if takes <= spent and as_usual:
            yield entry


def _elects_uncleanly_by_a_fix(model: Cluster) -> bool:
    return model.features.unclean and model.b.settings.fixed is Fixed.ALONE


def _of_release(entry: Defect, release: Release, row: Row, caused: tuple[Violation, ...], model: Cluster) -> Cause:
    later = list(Release)[release.age + 1 :]
    fixed_in = next((one.value for one in later if not has_defect(entry, one)), "")
    kind = CauseKind.RELEASE if fixed_in else CauseKind.OPEN
    story = _STORIES.get(entry.name, entry.title[:1].lower() + entry.title[1:])
    change = {"release": fixed_in} if fixed_in else {}
    return Cause(entry.name, kind, (row,), caused, model, change, fixed_in, story)


def _first_without(question: Question, row: Row, broken: Violation) -> Release:
    """Return the first later release that keeps a promise in a row, with eligible leader replicas where it has them."""
    release: Release = question.model.b.settings.release
    later = [one for one in list(Release)[release.age + 1 :] if one.same_since is one]
    low, high = 0, len(later) - 1
    while low < high:  # what one release has fixed, later ones keep
        middle = (low + high) // 2
        after = _without_all(question.changed(_upgrade(later[middle])), row, [broken])
        if after is not None and broken.property not in after.broken:
            high = middle
        else:
            low = middle + 1
    return later[low]


def _upgrade(release: Release) -> dict[str, int | str]:
    return {"release": release.value, **({} if release.is_before(_ELR_SINCE) else {"elr": "on"})}


def _later(question: Question, first: Release, row: Row, caused: tuple[Violation, ...], model: Cluster) -> Cause:
    """Return the cause that a later release has removed: the last replica standing, or what its rules say."""
    change = _upgrade(first)
    if "elr" in change:
        without = _without_all(question.changed({**change, "elr": "off"}), row, caused[:1])
        if without is None or caused[0].property in without.broken:
            return Cause("R-25", CauseKind.RELEASE, (row,), caused, model, change, first.value, _STORIES["R-25"])
    rules = question.model.rules
    changed = [name for name in first.changed if getattr(rules, name) != getattr(first.rules, name)]
    story = "; ".join(rule_documentation(name).rstrip(".") for name in changed[:2])
    return Cause(
        "", CauseKind.RELEASE, (row,), caused, model, change, first.value, f"{first.value} is the first with: {story}"
    )


_OF_SETTINGS: Mapping[str, Callable[[Cluster], bool]] = {
    "C-2": lambda model: model.acks is Acks.LEADER,
    "C-19": lambda model: model.acks is Acks.LEADER,
    "C-3": lambda model: model.b.min_insync < 2,
    "C-6": lambda model: model.features.unclean,
    "C-7": lambda model: model.flushing is not Flushing.ALWAYS,
    "C-10": lambda model: model.b.replicas - model.b.spares == 1,
    "R-25": lambda model: not model.features.elr,
}
"""The causes that settings decide, each with whether a cluster can have it."""


def may_be_cause(name: str, model: Cluster) -> bool:
    """Return whether an entry of the catalogue may be a cause in a cluster, as far as no search is needed to say so."""
    if name in _OF_SETTINGS:
        return _OF_SETTINGS[name](model)
    for one in _OPEN:
        if one.name == name:
            return model.b.partition_zero > 0 or not one.needs_partition_zero
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
        fixed = _with_fix(racing, entry, row, _matters(row.searched).values())
        if fixed is not None and _kept(row.searched, fixed):
            return _of_release(entry, racing.model.b.settings.release, row, new, row.searched.model)
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
        return model.b.partition_zero > 0 if self.needs_partition_zero else model.b.replicas > 1

    def bounds(self, question: Question) -> dict[str, int | str]:
        """Return the bounds of its search."""
        own = question.model.b.replicas
        fewest = max(self.replicas, question.model.b.min_insync)
        sizes = {"replicas": 2, "spares": 1} if own == 1 else {"replicas": min(own, fewest)}
        return {**CALM, **question.settings, **sizes, **self.budgets}


_OPEN = (
    _Open(
        "N-01",
        {"elections": 1, "lossy_crashes": 1, "fencings": 1},
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
