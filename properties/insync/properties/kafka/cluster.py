"""What a cluster promises: acknowledged records survive, readers see one history, whoever may lead has what counts."""

from __future__ import annotations

from typing import Any, cast

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import RecordId, Replica
from insync.model import And, Condition, Implies, Not, Num, Or, SetValue, StateView, for_all
from insync.properties.property import Failure, property_of

__all__ = [
    "acks_mean_enough_copies",
    "electable_replicas_are_complete",
    "follower_reads_repeat",
    "isr_and_elr_are_sound",
    "leader_counts_electable_replicas",
    "leader_is_eligible",
    "leaders_know_their_followers",
    "logs_keep_write_order",
    "no_acknowledged_record_is_lost",
    "no_divergence",
    "reads_repeat",
    "reassignments_keep_redundancy",
    "watermark_never_goes_back",
]


# -------------------------------------------------------------------------------------------------- what clients notice


def _is_leader(model: Cluster, s: StateView, replica: Replica) -> Condition:
    """Whether a broker leads in its own eyes and in the controller's, in the controller's epoch."""
    view, newest = model.view_of(s, replica), s.changes[0]
    return And(model.leads(s, replica), newest.leader == replica, view.epoch == newest.epoch)


def _has(model: Cluster, s: StateView, replica: Replica, record: RecordId) -> Condition:
    """Whether a replica's log has a record."""
    log = s.broker[replica].log
    return Or(*[And(model.holds(s, replica, offset), log[offset] == record) for offset in range(model.b.records)])


def _deleted(model: Cluster, s: StateView, record: Num | int) -> Condition:
    """Whether an operator, or age, has deleted a record."""
    return s.deleted.contains(record) if model.b.deletions else False


def _lost(failure: Failure) -> str:
    leader, record = failure.bindings["leader"], failure.bindings["record"]
    return f"{record} was acknowledged, but {leader}, which leads now, does not have it: {_log(failure, leader)}."


@property_of(Cluster, because=_lost)
def no_acknowledged_record_is_lost(model: Cluster, s: StateView) -> Condition:
    """Every record that a producer was told to be written is in the log of the broker that leads.

    A broker leads when the controller says so and it has heard of it. With acks=1 and acks=0 nothing more than the
    leader's own word stands behind a record, so this fails there without any defect. TLA+: LeaderCompleteness.
    """
    return for_all(
        model.all(Replica),
        lambda leader: Implies(
            _is_leader(model, s, leader),
            for_all(
                model.all(RecordId),
                lambda record: Or(
                    Not(s.acked.contains(record)), _deleted(model, s, record), _has(model, s, leader, record)
                ),
            ),
        ),
    )


def _other_history(failure: Failure) -> str:
    replica, offset = failure.bindings["replica"], int(failure.bindings["offset"])
    seen = cast(list[str | None], failure.state["seen"])[offset]
    return (
        f"Consumers have read {seen} at offset {offset}, and {replica} gives them another record there: "
        f"{_log(failure, replica)}."
    )


def _agrees(model: Cluster, s: StateView, replica: Replica, offset: int) -> Condition:
    """Whether what a replica shows at an offset, if anything, is what consumers saw there first."""
    b = s.broker[replica]
    shown = And(s.broker[replica].start <= offset, offset < b.hw, s.seen[offset].is_some())
    return Implies(shown, And(offset < b.leo, s.seen[offset] == b.log[offset]))


@property_of(Cluster, because=_other_history)
def reads_repeat(model: Cluster, s: StateView) -> Condition:
    """Who reads an offset below the high watermark of a leader gets the record that was read there before.

    TLA+: ConsistentRead. Leaders that nobody else takes for one are counted as well: consumers may not know better.
    """
    return for_all(
        model.all(Replica),
        lambda replica: Implies(
            model.leads(s, replica),
            for_all(range(model.b.records), lambda offset: _agrees(model, s, replica, offset)),
        ),
    )


@property_of(Cluster, because=_other_history)
def follower_reads_repeat(model: Cluster, s: StateView) -> Condition:
    """Who reads an offset below the high watermark of any running replica gets the record that was read there before.

    Consumers may read from followers since 2.4 (KIP-392).
    """
    return for_all(
        model.all(Replica),
        lambda replica: Implies(
            s.broker[replica].running,
            for_all(range(model.b.records), lambda offset: _agrees(model, s, replica, offset)),
        ),
    )


def _shorter(failure: Failure) -> str:
    leader = failure.bindings["leader"]
    seen = [record for record in cast(list[str | None], failure.state["seen"]) if record]
    hw = _broker(failure, leader)["hw"]
    return f"Clients have seen a high watermark of {len(seen)}; {leader}, which leads now, tells them {hw}."


@property_of(Cluster, because=_shorter)
def watermark_never_goes_back(model: Cluster, s: StateView) -> Condition:
    """The high watermark that the leader tells clients is never below one that they were told before.

    A new leader may know a lower one; it must not tell it (KIP-207).
    """

    def tells(leader: Replica) -> Condition:
        b = s.broker[leader]
        silent = b.hw < b.epoch_start if model.rules.hide_stale_watermark else False
        told = for_all(range(model.b.records), lambda offset: Implies(s.seen[offset].is_some(), offset < b.hw))
        return Or(silent, told)

    return for_all(model.all(Replica), lambda leader: Implies(_is_leader(model, s, leader), tells(leader)))


def _thin(failure: Failure) -> str:
    acked = ", ".join(cast(list[str], failure.state["acked"]))
    return f"Of the records acknowledged ({acked}) one was on fewer than min.insync.replicas replicas at that moment."


@property_of(Cluster, because=_thin)
def acks_mean_enough_copies(model: Cluster, s: StateView) -> Condition:
    """When a record was acknowledged to a producer with acks=all, at least min.insync.replicas replicas had it.

    A copy for each lossy crash so far counts as well: the leader cannot know that the crash has destroyed it.
    """
    return Not(s.thin_ack)


# --------------------------------------------------------------------------------------------------- what replicas have


def _electable(model: Cluster, s: StateView) -> SetValue:
    """The replicas that the controller may elect: the ISR and the ELR, of those that still are replicas."""
    electable = s.changes[0].isr | s.controller.elr if model.elr else s.changes[0].isr
    return electable & s.changes[0].replicas if model.b.reassignments else electable


def _incomplete(failure: Failure) -> str:
    replica, offset = failure.bindings["replica"], int(failure.bindings["offset"])
    seen = cast(list[str | None], failure.state["seen"])[offset]
    newest = cast(list[dict[str, Any]], failure.state["changes"])[0]
    where = "the ISR" if replica in newest["isr"] else "the ELR"
    lacks = f"{replica} runs and is in {where}, but it lacks {seen}, committed at offset {offset}"
    return f"{lacks}: {_log(failure, replica)}."


@property_of(Cluster, because=_incomplete)
def electable_replicas_are_complete(model: Cluster, s: StateView) -> Condition:
    """Every running replica that the controller may elect has every record that was ever committed.

    Those are the members of the ISR, and of the ELR where there is one. TLA+: LeaderCandidateCompleteness, StrongIsr.
    """
    electable = _electable(model, s)

    def complete(replica: Replica, offset: int) -> Condition:
        seen, log = s.seen[offset], s.broker[replica].log
        gone = _deleted(model, s, seen.or_else(0))
        return Or(seen.is_none(), gone, And(model.holds(s, replica, offset), seen == log[offset]))

    return for_all(
        model.all(Replica),
        lambda replica: Implies(
            And(electable.contains(replica), s.broker[replica].running),
            for_all(range(model.b.records), lambda offset: complete(replica, offset)),
        ),
    )


def _parted(failure: Failure) -> str:
    one, other = failure.bindings["one"], failure.bindings["other"]
    offset = failure.bindings["offset"]
    return (
        f"{one} and {other} have different records at offset {offset}, which is below the high watermark of both: "
        f"{_log(failure, one)} and {_log(failure, other)}."
    )


@property_of(Cluster, because=_parted)
def no_divergence(model: Cluster, s: StateView) -> Condition:
    """Two running replicas have the same record wherever both are below their high watermarks (TLA+: LogMatching)."""

    def same(one: Replica, other: Replica, offset: int) -> Condition:
        a, b = s.broker[one], s.broker[other]
        kept = And(s.broker[one].start <= offset, s.broker[other].start <= offset)
        both = And(a.running, b.running, kept, offset < a.hw, offset < b.hw)
        return Implies(both, a.log[offset] == b.log[offset])

    return for_all(
        model.all(Replica),
        lambda one: for_all(
            [r for r in model.all(Replica) if r > one],
            lambda other: for_all(range(model.b.records), lambda offset: same(one, other, offset)),
        ),
    )


def _counted(failure: Failure) -> str:
    leader, follower = failure.bindings["leader"], failure.bindings["follower"]
    end = _broker(failure, leader)["known"][follower]["end"]
    return (
        f"{leader} counts on {follower} for the records below offset {end}, but they have other logs there: "
        f"{_log(failure, leader)} and {_log(failure, follower)}."
    )


@property_of(Cluster, because=_counted)
def leaders_know_their_followers(model: Cluster, s: StateView) -> Condition:
    """A follower in a leader's epoch has the leader's very records up to the log end that the leader counts for it.

    Where this fails, two logs differ for good, and the protocol does not notice. It is asked only of a follower that
    has not crashed since it fetched.
    """

    def agrees(leader: Replica, follower: Replica, offset: int) -> Condition:
        mine, other = s.broker[leader], s.broker[follower]
        kept = And(s.broker[leader].start <= offset, s.broker[follower].start <= offset)
        counted = And(kept, offset < mine.known[follower].end.or_else(0))
        return Implies(counted, And(offset < other.leo, offset < mine.leo, other.log[offset] == mine.log[offset]))

    def together(leader: Replica, follower: Replica) -> Condition:
        one, other = model.view_of(s, leader), model.view_of(s, follower)
        same_life = s.broker[leader].known[follower].current
        return And(model.leads(s, leader), s.broker[follower].running, one.epoch == other.epoch, same_life)

    return for_all(
        model.all(Replica),
        lambda leader: for_all(
            model.others(leader),
            lambda follower: Implies(
                together(leader, follower),
                for_all(range(model.b.records), lambda offset: agrees(leader, follower, offset)),
            ),
        ),
    )


def _disorder(failure: Failure) -> str:
    replica = failure.bindings["replica"]
    return f"{replica} has records out of order, or twice: {_log(failure, replica)}."


@property_of(Cluster, because=_disorder)
def logs_keep_write_order(model: Cluster, s: StateView) -> Condition:
    """A log has every record once at most, in the order in which records were written: the order of a key holds."""

    def in_order(replica: Replica, offset: int) -> Condition:
        b = s.broker[replica]
        both = And(s.broker[replica].start <= offset, offset + 1 < b.leo)
        return Implies(both, b.log[offset] < b.log[offset + 1])

    return for_all(
        model.all(Replica),
        lambda replica: And(
            s.broker[replica].hw <= s.broker[replica].leo,
            for_all(range(model.b.records - 1), lambda offset: in_order(replica, offset)),
        ),
    )


# ---------------------------------------------------------------------------------------------- controller and leader


def _members(names: list[str]) -> str:
    return f"{{{', '.join(names)}}}"


def _decided(failure: Failure) -> str:
    newest = cast(list[dict[str, Any]], failure.state["changes"])[0]
    controller = cast(dict[str, Any], failure.state["controller"])
    elr = f", the ELR {_members(controller['elr'])}" if "elr" in controller else ""
    return (
        f"the leader is {newest['leader'] or 'nobody'}, the ISR {_members(newest['isr'])}{elr}, "
        f"and fenced are {_members(controller['fenced'])}"
    )


def _ineligible(failure: Failure) -> str:
    return f"{failure.bindings['leader']} may not lead: {_decided(failure)}."


def _unsound(failure: Failure) -> str:
    return f"ISR and ELR do not go with who is fenced: {_decided(failure)}."


def _uncounted(failure: Failure) -> str:
    leader = failure.bindings["leader"]
    pending = _broker(failure, leader)["pending"]
    asked = f", and it has asked for the ISR {_members(pending)}" if pending else ""
    return f"{leader} does not wait for all who may be elected: {_decided(failure)}{asked}."


@property_of(Cluster, because=_ineligible)
def leader_is_eligible(model: Cluster, s: StateView) -> Condition:
    """The leader that the controller has chosen is a replica, in the ISR, and not fenced (KIP-841)."""
    newest, fenced = s.changes[0], s.controller.fenced

    def may_lead(leader: Replica) -> Condition:
        return And(model.is_assigned(newest, leader), newest.isr.contains(leader), Not(fenced.contains(leader)))

    return for_all(model.all(Replica), lambda leader: Implies(newest.leader == leader, may_lead(leader)))


@property_of(Cluster, because=_unsound)
def isr_and_elr_are_sound(model: Cluster, s: StateView) -> Condition:
    """No fenced broker is in the ISR, but for the last member where there is no ELR; ISR and ELR do not overlap.

    The ELR is empty while the ISR has min.insync.replicas. TLA+: ValidControllerIsrAndElr.
    """
    isr, fenced = s.changes[0].isr, s.controller.fenced
    unfenced = (isr & fenced).is_empty()
    if model.b.reassignments:
        unfenced = And(unfenced, isr.is_subset(s.changes[0].replicas))
    if not model.elr:
        return Or(unfenced, And(isr.count() == 1, s.changes[0].leader.is_none()))
    elr = _electable(model, s) - isr if model.b.reassignments else s.controller.elr
    return And(unfenced, (isr & elr).is_empty(), Implies(isr.count() >= model.minimum(s), elr.is_empty()))


def _thinned(failure: Failure) -> str:
    return f"A reassignment has ended with fewer than min.insync.replicas replicas in the ISR: {_decided(failure)}."


@property_of(Cluster, because=_thinned)
def reassignments_keep_redundancy(model: Cluster, s: StateView) -> Condition:
    """When a reassignment ended, the ISR had min.insync.replicas replicas, or all if there are fewer."""
    return Not(s.thin_move) if model.b.reassignments else True


@property_of(Cluster, because=_uncounted)
def leader_counts_electable_replicas(model: Cluster, s: StateView) -> Condition:
    """The high watermark of the leader waits for every replica that the controller may elect.

    With an ELR this is asked only of a leader whose ISR is large enough for the high watermark to move.
    TLA+: ReplicationQuorumSuperset.
    """

    def covers(leader: Replica) -> Condition:
        counted = model.counted(s, leader)
        electable = _electable(model, s)
        if not model.elr:
            return electable.is_subset(counted)
        return Implies(model.may_advance(s, leader), electable.is_subset(counted))

    return for_all(model.all(Replica), lambda leader: Implies(_is_leader(model, s, leader), covers(leader)))


# ----------------------------------------------------------------------------------------------------------- in words


def _broker(failure: Failure, name: str) -> dict[str, Any]:
    return cast(dict[str, Any], cast(dict[str, Any], failure.state["broker"])[name])


def _log(failure: Failure, name: str) -> str:
    broker = _broker(failure, name)
    epochs = cast(dict[str, str], failure.state["epoch_of"])
    records = [f"{record}@{epochs[record]}" for record in broker["log"][: broker["leo"]]]
    return f"its log is [{' '.join([*records[: broker['hw']], '|', *records[broker['hw'] :]])}]"
