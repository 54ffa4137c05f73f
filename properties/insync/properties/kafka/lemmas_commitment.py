"""What holds in every state of Kafka's replication beyond its properties: the lemmas that make strong_isr provable.

The argument for kip320, which these lemmas put into words (Kip320.tla states the rules, not the invariant):

1. An epoch is *left* once a member of its ISR is in a later one. Until then every later ISR is a part of its ISR
   (`isr_shrinks_until_left`): only a leader adds members, and a leader of a later epoch comes from the ISR.
2. So when a leader commits a record, which takes all of its ISR in its very epoch, that epoch is not left, and
   every present or later member of the ISR has the record, and so has a leader named by a request on its way.
3. Each committed record has therefore an epoch of commitment: all members of the ISRs from there on have the record
   and are in that epoch or a later one (`committed_records_are_kept`).
4. They never lose it: who truncates does so against the leader of a later epoch, which has the record too.
5. A follower that is added has it: it has all of the leader's log up to the leader's own epoch, or all below the
   leader's high watermark, and of that epoch nothing else is committed (`leader_commits_its_epoch`).
"""

from __future__ import annotations

from typing import Any, cast

from insync.kafka.published import Replication
from insync.kafka.published.replication import Epoch, RecordOffset, Replica
from insync.model import And, Condition, Implies, Or, StateView, exists, for_all
from insync.properties import Failure, lemma, offset_in, said
from insync.properties.kafka.lemmas_terms import epoch_of, every_pair, every_record, in_its_epoch, isr_of

__all__ = [
    "committed_records_are_kept",
    "followers_trail_the_high_watermark",
    "leader_commits_its_epoch",
    "logs_agree_below_high_watermarks",
]


@lemma(Replication)
def leader_commits_its_epoch(model: Replication, s: StateView) -> Condition:
    """A record of the newest epoch that is below anyone's high watermark is below that of the epoch's leader."""

    def committed(replica: Replica, offset: int) -> Condition:
        r = s.replica[replica]
        newest = And(offset < r.hw, r.log[offset].value.epoch == s.next_epoch - 1)

        def by(leader: Replica) -> Condition:
            return Implies(And(newest, s.quorum.leader == leader), offset < s.replica[leader].hw)

        return for_all(model.all(Replica), by)

    return every_record(model, s, committed)


def _lost_reason(failure: Failure) -> str:
    """Name the record and who lacks it, which is what makes every epoch impossible as that of the commitment."""
    name, offset = failure.bindings["replica"], int(failure.bindings["offset"])
    replicas = cast(dict[str, Any], failure.state["replica"])
    mine = replicas[name]["log"][offset]
    parts = {"name": name, "offset": offset_in(offset, name), "hw": replicas[name]["hw"]}
    if mine is None:
        return said("{name} has no record at {offset}, which is below its high watermark {hw}.", **parts)
    lacking = [n for n, r in replicas.items() if r["log"][offset] != mine]
    lack = "lacks" if len(lacking) == 1 else "lack"
    epochs = [(n, "none" if r["epoch"] is None else r["epoch"]) for n, r in replicas.items()]
    return said(
        "{name} has {record} at {offset}, below its high watermark {hw}, but in no epoch can the record have been "
        "committed by an ISR that has kept it since: {without}, and the replicas are in the epochs {epochs}.",
        **parts,
        record=f"{mine['id']}@{mine['epoch']}",
        without=said("{lacking} {lack} it", lacking=lacking, lack=lack) if lacking else "every replica has it",
        epochs=[said("{replica} {epoch}", replica=n, epoch=epoch) for n, epoch in epochs],
    )


@lemma(Replication, because=_lost_reason)
def committed_records_are_kept(model: Replication, s: StateView) -> Condition:
    """A record below a high watermark was committed in some epoch, and the members of all ISRs since then have kept it.

    They are in that epoch or in a later one: all of them were in it when its leader committed the record.
    """

    def kept(replica: Replica, offset: int) -> Condition:
        def since(commit: Epoch) -> Condition:
            def keeps(member: int) -> Condition:
                return And(commit <= epoch_of(s, member), model.same_record(s, replica, Replica(member), offset))

            # The request of the epoch itself does not count: its leader may have dropped members before it committed.
            def later(epoch: Epoch) -> Condition:
                led = for_all(isr_of(model, s, epoch, otherwise=s.quorum.isr), keeps)
                sent = for_all(s.requests[epoch].isr, keeps)
                return And(Implies(commit <= epoch, led), Implies(commit < epoch, sent))

            kept_by_the_quorum = for_all(s.quorum.isr, keeps)
            return And(commit <= epoch_of(s, replica), kept_by_the_quorum, for_all(model.all(Epoch), later))

        return Or(s.replica[replica].hw <= offset, exists(model.all(Epoch), since))

    return for_all(model.all(Replica), lambda replica: for_all(RecordOffset, lambda offset: kept(replica, offset)))


@lemma(Replication)
def logs_agree_below_high_watermarks(model: Replication, s: StateView) -> Condition:
    """Two logs are the same below both high watermarks."""

    def agree(one: Replica, other: Replica, offset: int) -> Condition:
        both = And(offset < s.replica[one].hw, offset < s.replica[other].hw)
        return Implies(both, model.same_record(s, one, other, offset))

    return every_pair(model, agree)


@lemma(Replication)
def followers_trail_the_high_watermark(model: Replication, s: StateView) -> Condition:
    """The high watermark of a follower in its leader's epoch is not above the leader's."""
    replicas = model.all(Replica)

    def trails(leader: Replica, follower: Replica) -> Condition:
        return Implies(in_its_epoch(model, s, leader, follower), s.replica[follower].hw <= s.replica[leader].hw)

    return for_all(replicas, lambda leader: for_all(replicas, lambda follower: trails(leader, follower)))
