"""The published defects that the model does not show, and why."""

from __future__ import annotations

from insync.kafka.defects.defect import LeftOut
from insync.kafka.defects.finding import FindingStatus, KafkaFinding

__all__ = ["LEFT_OUT"]

LEFT_OUT = (
    LeftOut(
        "R-02b", "Offsets go back inside a compressed batch", "KAFKA-3919", "a log is a row of records, not of batches"
    ),
    LeftOut(
        "R-10",
        "The high watermark counts an epoch before",
        "mutant of KIP-320",
        "a leader forgets the log ends of its followers with each epoch, so there is no such test to leave out; N-01 "
        "is the case in which it does not, with the same course of events",
    ),
    LeftOut("R-14", "The partition epoch is not sent", "KAFKA-12367", "the same as R-13 to the protocol"),
    LeftOut(
        "R-34",
        "A crash while logs are loaded looks like a clean stop",
        "KAFKA-10471, KAFKA-15375",
        "a fault of storage",
    ),
    LeftOut(
        "R-35", "The epoch checkpoint is lost", "KAFKA-16541", "a fault of storage: a crash spares the epoch cache"
    ),
    LeftOut("R-36", "A sparse epoch cache", "KAFKA-7897", "old message formats are not modelled"),
    LeftOut("R-37", "The high watermark's checkpoint is lost", "KAFKA-1647", "a fault of storage"),
    LeftOut("R-38", "Compaction loses the log's end", "KAFKA-17076, KAFKA-20452", "compaction is not modelled"),
    LeftOut("R-41", "A reassignment ends with one new replica", "KIP-966", "the state in which R-40 ends"),
    LeftOut(
        "R-44",
        "An added replica survives a cancelled reassignment",
        "KAFKA-13972",
        "reassignment is modelled as the KRaft controller does it, and this is the ZooKeeper one's",
    ),
    LeftOut(
        "R-45",
        "A future replica's epoch cache",
        "KAFKA-20961, KAFKA-15608",
        "the swap loses the epoch here too; what follows is a fetch that never succeeds: a matter of progress",
    ),
    LeftOut(
        "R-55",
        "A read that races with an append goes beyond the last stable offset",
        "KAFKA-9807",
        "transactions are not modelled",
    ),
    LeftOut(
        "R-56",
        "Uncommitted records take the place of committed ones in the cleaner",
        "KAFKA-13194",
        "compaction is not modelled",
    ),
    LeftOut(
        "R-58",
        "A log is made anew in another directory when its own fails",
        "KAFKA-16234",
        "a broker whose directory fails has no log here until it is started again; the classes of 3.7.0 make it anew "
        "as soon as metadata tells of the partition, and those of 3.7.1 and later do not (executed)",
    ),
    LeftOut(
        "R-59",
        "A topic that was made again meets the log of the former one",
        "KAFKA-14616, KAFKA-16157, KAFKA-21022",
        "there is one topic, which is never deleted",
    ),
    LeftOut(
        "R-60",
        "Removed replicas stay while ZooKeeper gives way to KRaft",
        "KAFKA-15605, KAFKA-16120, KAFKA-16121",
        "the controller is ZooKeeper's or KRaft's, and does not change",
    ),
    LeftOut(
        "R-61",
        "The high watermark is below the local log start",
        "KAFKA-16452",
        "tiered storage is not modelled",
    ),
    LeftOut(
        "R-62",
        "A broker with a log that has no topic id does not start",
        "KAFKA-16814",
        "there is one topic, which has no id, and what a crash leaves of partition.metadata is not part of the state",
    ),
    LeftOut(
        "R-63",
        "Producer state that expires too early lets the epoch of a coordinator go back",
        "KAFKA-9144",
        "transactions are not modelled",
    ),
    LeftOut(
        "R-64",
        "A log is appended to after a write to it has failed",
        "KAFKA-10778",
        "a write does not fail by itself, and a directory that fails takes its logs with it in one step",
    ),
    LeftOut(
        "Q-5",
        "A record of an earlier epoch that a majority has is committed",
        "KAFKA-12619",
        "it takes four elections, a space that nobody can search whole; where the candidates stand in a given order "
        "`kraft --defect Q-5` shows it (tests/kafka/quorum/test_earlier_epochs.py)",
    ),
    LeftOut(
        "Q-6",
        "A follower that was a candidate in its epoch is one again when it restarts, and throws",
        "no ticket known; QuorumState.initialize",
        "`kraft` shows it in 17 states, but with the fix (`--defect Q-6 --fixed on`) the same bounds have "
        "a space that was not searched to its end. docs/findings/Q-18.md has what the classes of 4.0.2 to "
        "4.3.1 and the controllers of 4.0.2 to 4.4.0 do",
    ),
    LeftOut(
        "Q-9",
        "A leader throws when a voter's fetch offset goes back",
        "KAFKA-12181",
        "a leader notes the lower offset, as Kafka's does since 3.0.0 (by the ticket); how an offset goes back is "
        "`kraft --defect Q-3`",
    ),
    LeftOut(
        "Q-10",
        "A leader that is cut off does not resign",
        "KAFKA-15489",
        "no step of `kraft` waits for it: a leader is elected all the same without resignations (`insync liveness "
        "kraft --servers 2 --elections 2`); how long the old one believes that it leads is a matter of time",
    ),
    LeftOut(
        "Q-11",
        "A controller learns too early that it leads, never, or after it has resigned",
        "KAFKA-15345, KAFKA-16286, KAFKA-17333",
        "what the client reports to the controller is not in `kraft`; in `cluster` one is active once its epoch has "
        "something committed, as with the fixes (`--controller-failovers`)",
    ),
    LeftOut(
        "Q-12",
        "An observer that is about to be a voter has not flushed",
        "KAFKA-17332",
        "logs are flushed but with `--defect Q-4`, and then those of voters are not either",
    ),
    LeftOut(
        "Q-13",
        "A voter that has not read that it was removed disturbs with elections",
        "KAFKA-17030",
        "any voter of `kraft` may stand at any time, this one too, and no property fails by it; the cost is "
        "time, which is not modelled",
    ),
    LeftOut(
        "Q-14",
        "A follower refuses its pre-vote although its leader has resigned",
        "KAFKA-20895",
        "with five voters some elections are in vain until one succeeds; the cost is time, which is not modelled",
    ),
    LeftOut(
        "Q-15",
        "The record of a new leader has offset 0",
        "KAFKA-12331",
        "an offset is a place in the log here, and records do not carry theirs",
    ),
    LeftOut(
        "Q-16",
        "Records that the controller writes at once are not appended as one",
        "KAFKA-12376",
        "records come one by one",
    ),
    LeftOut(
        "Q-17",
        "A removed voter that has stood for election in its epoch cannot be started again",
        "no ticket known; QuorumState.initialize, CandidateState",
        "a search of `kraft` finds it if only two servers request pre-votes and one restarts "
        "(tests/kafka/quorum/test_changing_voters.py), but with the fix (`--defect Q-17 --fixed on`) the bounds "
        "without that have a space that was not searched to its end. docs/findings/Q-18.md has what the classes of "
        "4.0.2 to 4.3.1 and the controllers of 4.0.2 to 4.4.0 do",
    ),
    LeftOut(
        "Q-18",
        "The only voter that is left leads the epoch of another one when it restarts",
        "no ticket known; QuorumState.initialize",
        "it takes 29 steps of three servers, a space that nobody can search whole; a search of `kraft` finds it if "
        "only two servers request pre-votes and one restarts (tests/kafka/quorum/test_changing_voters.py). "
        "docs/findings/Q-18.md has what the classes of 4.0.2 to 4.3.1 and the controllers of 4.0.2 to 4.4.0 do",
        finding=KafkaFinding(
            title="Two controllers lead one epoch: a follower that was a candidate restarts as a candidate",
            status=FindingStatus.NOT_REPORTED,
            affects="4.0.0 to 4.4.0",
            harm="one metadata log; or a controller that cannot start",
            read="3.9.2, 4.1.2 and 4.3.1",
            related="KAFKA-10527 KAFKA-17642 KAFKA-18389 KIP-996",
            entries=("Q-6", "Q-17"),
            workaround="have another election before a voter is removed, and do not leave a single voter.",
            rank=20,
        ),
    ),
    LeftOut(
        "N-16",
        "A broker that is to lead a log it has not got drops the metadata about all others",
        "no ticket known; ReplicaManager.applyLocalLeadersDelta",
        "there is one partition, and its leader is offline then, as with the fix; "
        "tests/conformance/test_leader_without_log.py has what the classes of 3.7.2 to 3.9.2 do",
        finding=KafkaFinding(
            title="A broker that is to lead a log it has not got drops the metadata about all others",
            status=FindingStatus.FIXED,
            affects="3.7.0 to 3.9.2",
            harm="4.0.0; an entry of the catalogue without a page",
            fixed_in="4.0.0",
            paged=False,
            rank=190,
        ),
    ),
    LeftOut(
        "C-4", "Consumers read what the leader alone has", "KAFKA-15583", "with an ELR it is R-27, without one R-25"
    ),
    LeftOut(
        "L-2",
        "The high watermark does not move when the ISR has become smaller",
        "KAFKA-13091",
        "the rule is there (watermark_after_isr_reply, 2.7 to 3.0), but no run is stuck by it for good: the next fetch "
        "that brings something new moves the high watermark",
    ),
    LeftOut(
        "L-3",
        "A leader forgets that it waits for a new ISR, and may not ask again",
        "KAFKA-12686",
        "a request that comes too late is without effect here, and nobody waits for the answer to it",
    ),
    LeftOut(
        "L-4",
        "The answer to an AlterPartition is lost",
        "KAFKA-14144, KAFKA-14154",
        "with `lost_alter_partition_responses` the request comes again and does nothing, so no run is stuck by it; "
        "there is one controller",
    ),
    LeftOut(
        "L-5",
        "The high watermark waits for a replica that can never join",
        "KAFKA-15021",
        "a leader waits for a replica that it expects to join no longer than replica.lag.time.max.ms after that had "
        "all records, so no run is stuck by it. Time is not modelled: a leader that waits takes its step later",
    ),
    LeftOut(
        "L-6",
        "An answer about epochs races with a new epoch",
        "KAFKA-7786",
        "a question about an epoch's end and its answer are one step",
    ),
    LeftOut("L-7", "A read that fails makes a follower's log end -1", "KAFKA-8400", "reads do not fail"),
    LeftOut(
        "L-8",
        "A leader that stops goes on leading",
        "KAFKA-14296, KAFKA-13858",
        "with `controlled_shutdowns` it may lead on until it has ended, as it learns of the hand-over late; that it "
        "ends is fair, so it does not do so for ever",
    ),
    LeftOut(
        "L-13",
        "A broker names the directory of a replica that is gone, again and again",
        "KAFKA-16886, KAFKA-17190",
        "a request about a directory and its answer are one step, so none is sent again, and there is no topic to "
        "delete; tests/conformance/test_assignments.py has what the classes of 3.7.0, which never end, to 4.3.1 do",
    ),
    LeftOut(
        "L-14",
        "Changes of the partition are written that change nothing",
        "KAFKA-16624",
        "a change that brokers learn of is a place in a row, and one that changes nothing leaves the state as it is",
    ),
    LeftOut(
        "R-71",
        "Consumers of a group are reset to the earliest offset",
        "KAFKA-20507",
        "committed offsets and their coordinator are in `consumer_group`, and what expires or loses them is not",
    ),
    LeftOut(
        "L-15",
        "A controller ends as it gives up its leadership after control records",
        "KAFKA-17608",
        "what a controller has replayed, and up to where, is not in `cluster`: it has what is committed",
    ),
    LeftOut("M-1", "The incarnation in a registration's response", "mutant (M1)", "registering is one step"),
)
"""The entries, by name."""
