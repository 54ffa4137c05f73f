"""The causes of broken promises: settings first, then defects of the release, then the design of Kafka.

A change is the cause of a broken promise if the promise holds with the change, or takes more steps to break. Settings
are tried first, in the order in which operators would change them. Then comes the fix of each defect that the release
has, then a newer release, and at last a flush of every record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from insync.explorer.results import Violation
from insync.kafka.cluster.configuration import Acks, Flushing
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.kafka.releases import has_defect
from insync.kafka_questions.disturbances import Row
from insync.kafka_questions.question import LOSS, Given, Question, Searched, replication_factor

if TYPE_CHECKING:
    from insync.explorer.traces.trace import Trace
from insync.kafka_questions.causes.cause import STORIES, Cause, CauseKind, changes_of, loses_every_copy
from insync.kafka_questions.causes.changed_searches import (
    Events,
    fewest_changes,
    keeps_all,
    losses_delayed,
    needing_a_cause,
    promises_kept,
    where_kept,
)
from insync.kafka_questions.causes.open_defects import OPEN
from insync.kafka_questions.causes.releases import (
    ELR_SINCE,
    about_the_newest,
    cause_of_release,
    first_without,
    fixed_later,
    simplest_way,
    suspects,
)

__all__ = ["causes_of", "may_be_cause"]


def causes_of(question: Question, rows: Sequence[Row], before: Sequence[Cause] = ()) -> list[Cause]:
    """Return the causes of the broken promises of some rows, each once, the simplest first.

    Args:
        question: the question.
        rows: the rows.
        before: the causes of earlier rows; they are part of the result.
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
    """Return causes with the fewest changes of settings that together keep as many promises as all of them do.

    Promises are compared in the release of the question, and in each newer one that removes a cause. A cause whose own
    change is not among the fewest gets all of these.
    """
    together = changes_of(causes)
    if len(together) < 2:
        return causes
    needed, wanted = dict[str, int | str](), list[tuple[Given, Events, Violation]]()
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
        return all(keeps_all(events, question.changed({**changed, **newer}), [one]) for newer, events, one in wanted)

    fewest = fewest_changes(left, keeps)
    fewest = {**needed, **fewest}
    if question.is_over or len(fewest) == len(together):
        return causes
    return [
        replace(cause, change={name: value for name, value in cause.change.items() if name in fewest} or fewest)
        if cause.kind is CauseKind.SETTINGS
        else cause
        for cause in causes
    ]


def _kept_by(question: Question, row: Row, cause: Cause) -> Iterator[tuple[Events, Violation]]:
    """Yield the broken promises of a row that a cluster keeps, each with the events under which it does."""
    assert row.searched is not None
    for name in (one.property for one in cause.violations):
        violation = row.searched.broken.get(name)
        if violation is not None and (kept := where_kept(Events(row), question, violation)) is not None:
            yield kept, violation


def _key(cause: Cause) -> object:
    return cause.name or (cause.kind, *sorted(cause.change.items()))


def _causes(question: Question, row: Row, known: Sequence[Cause]) -> Iterator[Cause]:
    """Yield the causes of the broken promises of a row.

    Args:
        question: the question.
        row: the row.
        known: causes of other rows. Their changes are tried together first.
    """
    if row.searched is None or not row.searched.broken:
        return
    now, settings, events = row.searched, question, Events(row)
    together = changes_of(known)
    if together and (same := _again(question, row, known, together)):
        yield from same
        return
    for change in _setting_changes(question.model):
        if question.is_over:
            break
        changed = settings.changed(change)
        after = events.search_unless_broken(changed, needing_a_cause(now).values())
        if after is None:
            continue
        strictly = "elr" in change or "replicas" in change
        caused = promises_kept(now, after, strictly=strictly)
        if strictly and not caused:
            caused = tuple(one for one in needing_a_cause(now).values() if where_kept(events, changed, one) is not None)
        if "elr" in change:
            caused = caused or losses_delayed(now, after)
        if caused:
            name = _entry_of(change, row)
            yield Cause(name, CauseKind.SETTINGS, (row,), caused, now.model, change, story=STORIES.get(name, ""))
            now, settings = after, changed
        if not now.broken:
            return
    best = _best(settings.model)
    if best and not question.is_over:
        # With every setting at its best no setting is behind what stays broken.
        changed = settings.changed(best)
        after = events.search_unless_broken(changed, needing_a_cause(now).values())
        if after is not None:
            if caused := promises_kept(now, after, strictly=True):
                fewest = fewest_changes(best, lambda part: keeps_all(events, settings.changed(part), caused))
                name = _entry_of({name: fewest[name] for name in list(fewest)[-1:]}, row)
                yield Cause(name, CauseKind.SETTINGS, (row,), caused, now.model, fewest, story=STORIES[name])
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


def _beside(question: Question, events: Events, cause: Cause, best: Given) -> Given:
    """Return the fewest of the best settings that must be changed with an upgrade to remove a cause."""
    within = where_kept(events, question.changed(best), cause.violation) or events
    return fewest_changes(best, lambda part: keeps_all(within, question.changed(part), cause.violations))


def _best(model: Cluster) -> dict[str, int | str]:
    """Return all changes of settings that may keep a record; more replicas are not among them."""
    changes = [one for one in _setting_changes(model) if "replicas" not in one]
    return {name: value for one in changes for name, value in one.items()}


def _again(question: Question, row: Row, known: Sequence[Cause], together: Given) -> list[Cause]:
    """Return the simplest known cause, for a row whose promises all hold with the known changes together; else none."""
    assert row.searched is not None
    after = Events(row).search(question.changed(together))
    if after is None or after.broken or not after.complete:
        return []
    first = next(cause for cause in known if cause.kind is CauseKind.SETTINGS)
    name = _entry_of(first.change, row)
    same = next((cause for cause in known if cause.name == name), None)
    broken = tuple(row.searched.broken.values())
    new = Cause(name, first.kind, (row,), broken, row.searched.model, first.change, story=STORIES.get(name, ""))
    return [new if same is None else replace(same, rows=(row,))]


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
    if not model.features.elr and not model.b.settings.release.is_before(ELR_SINCE):
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


def _beyond_settings(question: Question, events: Events, now: Searched, told: Collection[str]) -> Iterator[Cause]:
    """Yield the causes that no setting removes: defects of the release, what later releases fix, and the design.

    A cause may be behind only the simplest way to break a promise. Then the causes of the other ways follow.

    Args:
        question: the question, with settings at their best.
        events: what may happen.
        now: the search for it.
        told: promises that are left out, as such a cause of another row covers them.
    """
    row = events.row
    left = {name: violation for name, violation in needing_a_cause(now).items() if name not in told}
    for entry in suspects(question.model, row):
        if not left or question.is_over:
            break
        after = events.with_fix(question, entry, left.values())
        kept = () if after is None else promises_kept(now, after, strictly=True)
        if caused := [left.pop(one.property) for one in kept if one.property in left]:
            yield cause_of_release(entry, question.model, row, tuple(caused), now.model)
    if left and not question.is_over and (newest := about_the_newest(question)) is not None:
        after = events.search_unless_broken(newest, left.values())
        kept = () if after is None else promises_kept(now, after, strictly=True)
        if wanted := [one.property for one in kept if one.property in left]:
            first = first_without(question, events, left[wanted[0]])
            if not question.is_over:
                yield fixed_later(question, first, events, tuple(left.pop(name) for name in wanted), now.model)
    while left and not question.is_over and (way := simplest_way(question, events, now, left)) is not None:
        yield way
        question = question.changed(way.change or {"defect": way.name, "fixed": "alone"})
        after = events.search(question)
        if after is None:
            return
        now, left = after, {name: violation for name, violation in needing_a_cause(after).items() if name in left}
        if not way.change:  # one defect at a time can be fixed
            break
    yield from _by_design(question, events, now, left)


def _by_design(question: Question, events: Events, now: Searched, left: Mapping[str, Violation]) -> Iterator[Cause]:
    """Yield the limits of the protocol behind the broken promises that are left, and then those without a known cause.

    A limit is behind a promise that a flush of every record keeps.
    """
    row, change = events.row, {"flush": Flushing.ALWAYS.value}
    unknown, caused, lowered = list[Violation](), list[Violation](), list[Violation]()
    for violation in left.values():
        if _is_lowered(events, question, violation):
            lowered.append(violation)
            continue
        flushed = loses_every_copy(violation.trace) or (  # copies that were flushed would be there
            not question.is_over and where_kept(events, question.changed(change), violation) is not None
        )
        (caused if flushed else unknown).append(violation)
    if lowered:
        story, avoided = _LOWERED
        yield Cause("C-3", CauseKind.DESIGN, (row,), tuple(lowered), now.model, story=story, avoided_by=avoided)
    if caused:
        name = _limit_behind(question.model, caused[0].trace)
        yield Cause(name, CauseKind.DESIGN, (row,), tuple(caused), now.model, change, story=STORIES[name])
    if unknown:
        story = "its cause was not looked for yet" if question.is_over else "no change that was tried prevents it"
        yield Cause("", CauseKind.UNKNOWN, (row,), tuple(unknown), now.model, story=story)


_LOWERED = (
    "min.insync.replicas is lowered, and then the last broker in the ISR acknowledges alone, and is lost",
    "No setting prevents it: leave min.insync.replicas at 2 or more",
)
"""What happens if an operator lowers min.insync.replicas, and how to avoid it."""


def _is_lowered(events: Events, question: Question, violation: Violation) -> bool:
    """Return whether a promise is broken only because min.insync.replicas is lowered meanwhile."""
    if question.is_over or not any(one.name == "min-insync" for one in events.row.disturbances):
        return False
    within = (one for one in (events, events.of(violation)) if one is not None)
    unchanged = (replace(one, spent={**one.spent, "config_changes": 0}) for one in within)
    return any(keeps_all(one, question, [violation]) for one in unchanged)


def _limit_behind(model: Cluster, trace: Trace) -> str:
    """Return the entry for a limit of the protocol: which brokers lost a record before they flushed it."""
    if model.b.replicas == 1:
        return "C-10"
    if loses_every_copy(trace):
        return "C-7"
    return "R-32" if model.features.elr else "R-25"


_OF_SETTINGS: Mapping[str, Callable[[Cluster], bool]] = {
    "C-2": lambda model: model.acks is Acks.LEADER,
    "C-19": lambda model: model.acks is Acks.LEADER,
    "C-3": lambda model: model.b.min_insync_replicas < 2,
    "C-6": lambda model: model.features.unclean_leader_election,
    "C-7": lambda model: model.flushing is not Flushing.ALWAYS,
    "C-10": lambda model: replication_factor(model) == 1,
    "R-25": lambda model: not model.features.elr,
}
"""For each cause that settings decide, a function that returns whether a cluster can have it."""


def may_be_cause(name: str, model: Cluster, happening: Collection[str] = ()) -> bool:
    """Return whether an entry of the catalogue may be a cause in a cluster, judged without a search.

    Args:
        name: the entry.
        model: the cluster.
        happening: the names of the disturbances that were chosen.
    """
    if name == "C-3" and "min-insync" in happening:  # there min.insync.replicas is lowered
        return True
    if name in _OF_SETTINGS:
        return _OF_SETTINGS[name](model)
    if name in {one.name for one in OPEN}:
        return model.b.partition_zero_replicas > 0 or name != "N-05"
    return name[0] in "RN" and bool(has_defect(DEFECTS[name], model.b.settings.release))
