"""The defects of a release behind a broken promise, and the first release without them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from insync.explorer.results import Violation
from insync.kafka.cluster.configuration import Fixed
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, Defect
from insync.kafka.releases import Release, Rules, has_defect
from insync.kafka_questions.causes.cause import STORIES, Cause, CauseKind, story_of
from insync.kafka_questions.causes.changed_searches import (
    FAULTS,
    Events,
    is_kept,
    keeps_all,
    losses_delayed,
    needing_a_cause,
    promises_kept,
)
from insync.kafka_questions.disturbances import Disturbance, Row, searched
from insync.kafka_questions.question import LOSS, Question, Searched

__all__ = [
    "ELR_SINCE",
    "about_the_newest",
    "cause_of_release",
    "elects_uncleanly_by_a_fix",
    "first_without",
    "fixed_later",
    "race_of",
    "simplest_way",
    "suspects",
]


ELR_SINCE = Release.V4_1
"""The first release with eligible leader replicas in new clusters by default (its documentation, Operations).

In 4.0 they were a preview, and off by default (announcement of 4.0.0).
"""


def about_the_newest(question: Question) -> Question | None:
    """Return the same question about the newest release, with eligible leader replicas; None if it has those rules."""
    newest = list(Release)[-1]
    return question.changed(upgrade_to(newest)) if question.model.in_force != Rules(newest.rules) else None


def simplest_way(question: Question, events: Events, now: Searched, left: Mapping[str, Violation]) -> Cause | None:
    """Return a cause without which a promise is kept under the events of its shortest trace.

    Other ways to break the promise take more events, and stay.
    """
    for violation in left.values():
        if (fewer := events.of(violation)) is None:
            continue
        for entry in suspects(question.model, events.row):
            after = fewer.with_fix(question, entry, [violation])
            if after is not None and is_kept(after, violation.property):
                return cause_of_release(entry, question.model, events.row, (violation,), now.model)
        newest = about_the_newest(question)
        if newest is not None and keeps_all(fewer, newest, [violation]):
            first = first_without(question, fewer, violation)
            return None if question.is_over else fixed_later(question, first, fewer, (violation,), now.model)
    if not question.model.features.elr and question.model.b.settings.release.is_before(ELR_SINCE):
        change = upgrade_to(ELR_SINCE)
        after = events.search_unless_broken(question.changed(change), left.values())
        if after is not None and (caused := losses_delayed(now, after)):
            since, story = ELR_SINCE.value, STORIES["R-25"]
            return Cause("R-25", CauseKind.RELEASE, (events.row,), caused, now.model, change, since, story)
    return None


_DEATHS = frozenset({"power_failures", "crashes", "controlled_shutdowns"})


def suspects(model: Cluster, row: Row) -> Iterator[Defect]:
    """Yield the defects of the release that the disturbances of a row can cause.

    Only one fix at a time can be tried. So nothing is yielded if the unclean elections come from a fix already.
    """
    assert row.searched is not None
    if elects_uncleanly_by_a_fix(model):
        return
    spent = {name for name in FAULTS if row.searched.model.b[name] > 0}
    spent |= _DEATHS if spent & _DEATHS else set()
    spent |= (
        {"preferred_elections"} if spent & {*_DEATHS, "fencings"} else set()
    )  # what fails is followed by an election
    usual = Cluster()
    for entry in _of_kafka(model.b.settings.release):
        witness = Cluster(**{"power_failures": 0, "fencings": 0, "isr_shrinks": 0, **entry.bounds})
        takes = {name for name in FAULTS if witness.b[name] > 0}
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


def elects_uncleanly_by_a_fix(model: Cluster) -> bool:
    """Return whether a cluster has unclean elections, and the fix of one defect alone."""
    return model.features.unclean_leader_election and model.b.settings.fixed is Fixed.ALONE


def cause_of_release(entry: Defect, asked: Cluster, row: Row, caused: tuple[Violation, ...], model: Cluster) -> Cause:
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
    return Cause(entry.name, kind, (row,), caused, model, change, fixed_in, story_of(entry))


def first_without(question: Question, events: Events, broken: Violation) -> Release:
    """Return the first later release that keeps a promise, with eligible leader replicas where it has them."""
    release: Release = question.model.b.settings.release
    later = [one for one in list(Release)[release.age + 1 :] if one.same_since is one]

    def keeps(one: Release) -> bool:
        after = events.search_unless_broken(question.changed(upgrade_to(one)), [broken])
        return after is not None and broken.property not in after.broken

    low, high = 0, len(later) - 1
    while low < high:  # a fix stays in later releases, unless the next one lacks it
        middle = (low + high) // 2
        if keeps(later[middle]):
            high = middle
        else:
            low = middle + 1
    return next((one for one in later[:low] if _is_taken_back(one) and keeps(one)), later[low])


def _is_taken_back(release: Release) -> bool:
    """Return whether the next release, which came out earlier, lacks a rule that is new in this one."""
    following = list(Release)[release.age + 1].rules
    return any(getattr(following, name) != value for name, value in release.changed.items())


def upgrade_to(release: Release) -> dict[str, int | str]:
    return {"release": release.value, **({} if release.is_before(ELR_SINCE) else {"elr": "on"})}


def fixed_later(
    question: Question, first: Release, events: Events, caused: tuple[Violation, ...], model: Cluster
) -> Cause:
    """Return the cause that a later release removes: the last replica standing (KIP-966), or a defect fixed by then."""
    change, row = upgrade_to(first), events.row
    if "elr" in change:
        if not keeps_all(events, question.changed({**change, "elr": "off"}), caused[:1]):
            return Cause("R-25", CauseKind.RELEASE, (row,), caused, model, change, first.value, STORIES["R-25"])
        del change["elr"]
    if (entry := _removed_by(first, question, events, caused[0])) is not None:
        return Cause(entry.name, CauseKind.RELEASE, (row,), caused, model, change, first.value, story_of(entry))
    rules = question.model.rules
    changed = [name for name in first.changed if getattr(rules, name) != getattr(first.rules, name)]
    story = "; ".join(Rules.documentation(name).rstrip(".") for name in changed[:2])
    story = f"{first.value} is the first with: {story}"
    return Cause("", CauseKind.RELEASE, (row,), caused, model, change, first.value, story)


def _removed_by(first: Release, question: Question, events: Events, broken: Violation) -> Defect | None:
    """Return the defect behind a trace that a later release has fixed; None if none is known.

    Its fix alone keeps the promise: in the release that was asked about, or in the last one with the defect, where all
    others are fixed. Else it is one whose fix makes the trace longer.
    """
    last, longer = list(Release)[first.age - 1], None
    for of_release in (question, question.changed(upgrade_to(last))):
        release: Release = of_release.model.b.settings.release
        for entry in _of_kafka(release):
            if has_defect(entry, first) or question.is_over:
                continue
            after = events.with_fix(of_release, entry, [broken])
            if after is not None and is_kept(after, broken.property):
                return entry
            longer = longer or (None if after is None else entry)
    return longer


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
    for entry in suspects(racing.model, row):
        fixed = Events(row).with_fix(racing, entry, needing_a_cause(row.searched).values())
        if fixed is not None and promises_kept(row.searched, fixed):
            return cause_of_release(entry, racing.model, row, new, row.searched.model)
    return None
