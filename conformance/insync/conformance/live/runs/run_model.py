"""The model that a run is laid beside: its settings are those of the cluster, its budgets what the run has needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any

from insync.conformance.live.metadata_log import Decision, PartitionAt
from insync.conformance.live.runs.moving import moves_in, named_early, registers, told_of_moves
from insync.conformance.live.runs.run_events import (
    Acting,
    BrokerRun,
    Decided,
    Done,
    FetchAnswered,
    FetchAsked,
)
from insync.conformance.steps.likeness import ACKS
from insync.kafka.cluster.configuration import BOUNDS, Elr, Fixed
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.model import Switch
from insync.runtime.errors import UserError

__all__ = ["commits_in", "decided_of", "run_model", "unsure_in", "written_in"]

_MOST_LATE = 4
_NOT_APPENDED = (3, 19, 74, 75, 87, 100)
"""Errors with which a leader refuses a record that it has not appended."""


def decided_of(run: BrokerRun) -> list[Decision]:
    """Return the controller's decisions."""
    return [event.decision for event in run.events if isinstance(event, Decided)]


def commits_in(run: BrokerRun) -> Counter[int]:
    """Return where in the metadata log the model changes the partition, and how often there."""
    made, told, early = decided_of(run), told_of_moves(run), named_early(run)
    changes = Counter({made[0].offset: 1})
    for before, after in pairwise(made):
        naming = early.get(after.offset, False)  # the ELR that is emptied by that is no change of the model here
        shown = _shown(before, elr=not naming) != _shown(after, elr=not naming)
        named = told.get(after.offset, set())
        # To be registered and to name a directory are two changes; what else changes by a name is one with it.
        two = any(registers(after, broker) for broker in named)
        changes[after.offset] = shown + bool(named) if two else max(shown, bool(named))
    return changes


def written_in(run: BrokerRun, unsure: Collection[str] = ()) -> list[tuple[str, int]]:
    """Return the records that were written, in order, each with the broker that it was sent to.

    Those are written that were acknowledged or that a follower has got.

    Args:
        run: the run.
        unsure: further records that are assumed to be written.
    """
    done = [event for event in run.events if isinstance(event, Done)]
    sure = {event.record for event in done if event.what == "acknowledged"}
    sure |= {value for event in run.events if isinstance(event, FetchAnswered) for _, value in event.records}
    return [(one.record, one.broker) for one in done if one.what == "send" and one.record in {*sure, *unsure}]


def unsure_in(run: BrokerRun) -> list[str]:
    """Return the records that a leader may or may not have appended.

    A leader that is deposed answers with an error what it has appended before, and one that dies does not answer.
    """
    sure = {record for record, _ in written_in(run)}
    done = [event for event in run.events if isinstance(event, Done)]
    refused = {event.record for event in done if event.what == "refused" and event.error in _NOT_APPENDED}
    return [one.record for one in done if one.what == "send" and one.record not in sure | refused]


def run_model(run: BrokerRun, release: Release | str, fixed: str | None = None) -> Cluster:
    """Return the model of a run by the rules of a release.

    Args:
        run: the run.
        release: the release, or its name.
        fixed: a defect of the catalogue that the release has, and would have no more; nothing else of it changes.

    Raises:
        UserError: the model has no such release, or that has not got the defect; the run is too large for a model, or
            does not begin as one does.
    """
    made, records = decided_of(run), len(written_in(run)) + len(unsure_in(run))
    if not made:
        message = "The run has no decision of the controller, so a part of its file is missing. Record it again."
        raise UserError(message)
    _require_beginning(run, made[0])
    if records > BOUNDS["records"].highest:
        message = (
            f"The run writes {records} records, and the model has {BOUNDS['records'].highest} at most. Record fewer."
        )
        raise UserError(message)
    returns = _count(made, "registered")
    operated = any(isinstance(event, Done) for event in run.events)  # else nobody has told who was stopped
    budgets = {
        "preferred_elections": sum(_elects(before, after) for before, after in pairwise(made)),
        "reassignments": sum(_reassigns(before.partition, after.partition) for before, after in pairwise(made)),
        "fencings": _count(made, "fenced"),
        "controlled_shutdowns": _ended(run, "stop")
        if operated
        else sum(_stops(made, broker) for broker in made[0].brokers),
        "crashes": _ended(run, "kill") if operated else returns,
        "log_dir_moves": moves_in(run),
        "isr_shrinks": sum(_shrinks(before.partition, after.partition) for before, after in pairwise(made)),
    }
    # A broker that has ended is fenced without cost.
    ended = min(budgets["fencings"], budgets["controlled_shutdowns"] + budgets["crashes"])
    budgets["fencings"] = max(budgets["fencings"] - ended, min(budgets["fencings"], BOUNDS["fencings"].highest))
    too_many = next((name for name, count in budgets.items() if count > BOUNDS[name].highest), None)
    if too_many is not None:
        most = BOUNDS[too_many].highest
        message = (
            f"The run has up to {budgets[too_many]} {too_many}, and the model {most} at most. Record a shorter run."
        )
        raise UserError(message)
    seen = operated or any(isinstance(event, FetchAsked) for event in run.events)
    heard = seen or any(isinstance(event, Acting) for event in run.events)
    changes = commits_in(run).total() - 1
    settings: dict[str, Any] = {
        "release": release,
        "acks": next(acks for acks, number in ACKS.items() if number == run.acks),
        "unclean_leader_election": Switch.ON if run.unclean else Switch.OFF,
        "elr": Elr.RELEASE if run.elr is None else Elr.ON if run.elr else Elr.OFF,
        # Of the metadata log alone nobody can tell when brokers have learned of a decision.
        "late_fetch_responses": Switch.ON if seen else Switch.OFF,
        "late_alter_partition_responses": Switch.ON if heard else Switch.OFF,
        "stale_checkpoints": Switch.ON if seen and budgets["crashes"] else Switch.OFF,
    }
    if fixed is not None:
        settings |= {"defect": fixed, "fixed": Fixed.ALONE}
    return Cluster(
        replicas=len(run.replicas) + len(run.spares),
        spares=len(run.spares),
        min_insync_replicas=run.min_insync,
        records=max(1, records),
        power_failures=0,
        # Where none is lost, none fails; with this budget the controller is told of moves.
        log_dir_failures=max(_ended(run, "lose"), 1 if budgets["log_dir_moves"] else 0),
        metadata_lag=max(1, min(_MOST_LATE, changes)) if heard else 0,
        **budgets,
        **settings,
    )


def _require_beginning(run: BrokerRun, first: Decision) -> None:
    """The model begins with everybody up and the first replica leading."""
    made, everybody = first.partition, {*run.replicas, *run.spares}
    ready = all(broker in first.brokers and not first.brokers[broker].fenced for broker in everybody)
    begins = made is not None and made.leader == run.replicas[0] and set(made.isr) == set(run.replicas)
    if not begins or made is None or made.leader_epoch != 0 or not ready:
        message = (
            "The run does not begin as the model does: the topic is new, its first replica leads in epoch 0, "
            "all replicas are in the ISR, and all brokers are unfenced. Record a topic from its creation on."
        )
        raise UserError(message)


def _count(made: Sequence[Decision], kind: str) -> int:
    """How often something has happened to a broker, or to one that is named, since the partition is there."""
    return sum(f"{one} ".startswith(f"{kind} ") for decision in made[1:] for one in decision.kinds)


def _stops(made: Sequence[Decision], broker: int) -> int:
    """How often a broker can have stopped in order: it was fenced or to stop, and has come back in between."""
    out = max(_count(made, f"stopping {broker}"), _count(made, f"fenced {broker}"))
    return min(out, _count(made, f"registered {broker}") + 1)


def _ended(run: BrokerRun, how: str) -> int:
    """How often this was done to a broker that ends, or has ended."""
    return sum(isinstance(event, Done) and event.what == how for event in run.events)


def _shown(decision: Decision, *, elr: bool = True) -> Any:
    """What of a decision brokers learn, whatever the order of its members; without the ELR where that is not asked."""
    made = decision.partition
    if made is None:
        return None
    shown = (made.isr, made.replicas, made.elr if elr else (), made.adding, made.removing)
    return (made.leader, made.leader_epoch, *map(frozenset, shown))


def _elects(before: Decision, after: Decision) -> bool:
    """Whether a leader was elected although nothing has happened to a broker."""
    old, new = before.partition, after.partition
    return old is not None and new is not None and old.leader != new.leader and after.kinds == ("changed",)


def _reassigns(old: PartitionAt | None, new: PartitionAt | None) -> bool:
    """Whether an operator has asked for other replicas; that it is brought to an end is no such thing."""
    if old is None or new is None:
        return False
    changed = any(set(getattr(old, name)) != set(getattr(new, name)) for name in ("replicas", "adding", "removing"))
    ends = bool(old.adding or old.removing) and not (new.adding or new.removing)
    return changed and not (ends and set(new.replicas) == set(old.replicas) - set(old.removing))


def _shrinks(old: PartitionAt | None, new: PartitionAt | None) -> int:
    return 0 if old is None or new is None else len(set(old.isr) - set(new.isr))
