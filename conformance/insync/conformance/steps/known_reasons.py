"""Where `cluster` and Kafka are known to go apart while a step is taken, as data: the page of known differences.

A walk ends at a step for which one of these is the case. Which it is shows only while the step is taken, in the middle
of its commands, so the conditions are code, in the other files of this folder. What shows after a step alone is whole
data (`known_after`). `NOT_MET` is what no walk can meet, as no step brings it about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from insync.conformance.correspondence.known_differences import Direction, Known

__all__ = ["BY_SUBJECT", "HIDDEN", "NOT_MET"]

# ------------------------------------------------------------------------------------------------ requests for an ISR

MAY_NOT_JOIN = Known(
    "by the leader's metadata the follower may not join, so Kafka does not ask",
    kafka="a leader does not ask for a follower that is fenced, stopping or another incarnation by its own metadata "
    "(`Partition.isReplicaIsrEligible`)",
    when="the model adds it; it is so by what the controller has written, up to where the leader has applied that. "
    "After each fetch `isReplicaIsrEligible` must say the same",
    model="asks, and the controller refuses",
    direction=Direction.MODEL,
)
ASKS_WITHIN_A_FETCH = Known(
    "Kafka's leader asks within a fetch alone, and none has made it ask",
    kafka="a leader asks for a larger ISR within the fetch alone (`Partition.maybeExpandIsr`). That it does ask there "
    "is demanded where it could ask in the model. The fetch must have shown it the follower's log end, at its "
    "high watermark and the start of its epoch or beyond, and the follower must be able to join by its metadata",
    when="the model adds a follower at any other time",
    model="may ask later as well",
    direction=Direction.MODEL,
)
OTHERS_ARE_SLOW = Known(
    "Kafka would take others out of the ISR as well, who are slow too",
    kafka="all slow followers leave the ISR in one request (`Partition.maybeShrinkIsr`)",
    when="another member of the ISR lags",
    model="may drop one of them",
    direction=Direction.MODEL,
)
NO_REQUEST = Known(
    "no such request is on its way in Kafka",
    kafka="a leader asks for nothing while a request is under way (`DefaultAlterPartitionManager.submit`, read in "
    "3.9.2), and the response to one that metadata has passed finds no proposal",
    when="always, but where Kafka's leader has a proposal and nothing is on its way of that: a difference",
    model="has a leader that metadata has taken its proposal from ask again for the same ISR, and take the response to "
    "its first request, which was accepted, for the answer",
    direction=Direction.MODEL,
)
NO_REQUEST_AGAIN = replace(NO_REQUEST, name="no such request has come again in Kafka")
NO_RESPONSE = replace(NO_REQUEST, name="no such response is on its way in Kafka")
_NAMES_INCARNATIONS = (
    "before 4.0 a broker that registers again stays in the ISR. A request names the incarnations of which the leader "
    "has received a fetch, and the controller "
)
_OF_JOINER = "asks about the one who joins alone, and refuses a member that registers after the request"
ACCEPTS_UNNAMED = Known(
    "Kafka accepts a member that has registered again and has not fetched before",
    kafka=_NAMES_INCARNATIONS + "accepts one that names none of that member",
    when="the release is 3.9 or older; the request names none, and the answers differ",
    model=_OF_JOINER,
    direction=Direction.NEITHER,
)
REFUSES_OUTDATED = Known(
    "Kafka refuses a member that has registered again and has not fetched since",
    kafka=_NAMES_INCARNATIONS + "refuses one that names another than the present one",
    when="the release is 3.9 or older; the request names another, and the answers differ",
    model=_OF_JOINER,
    direction=Direction.NEITHER,
)

# ------------------------------------------------------------------------------------------------------ the controller

ORDER_DURING_REASSIGNMENT = Known(
    "the preferred leader is the first replica, and the order cannot change during a reassignment",
    kafka="a preferred election is one of the first replica (`ReplicationControlManager.electLeader`); to elect "
    "another one, its place is changed, which a reassignment refuses (REASSIGNMENT_IN_PROGRESS)",
    when="an election during a reassignment of another than the first of the replicas",
    model="elects any member of the ISR",
    direction=Direction.MODEL,
)
ORDER_ALONE = Known(
    "a reassignment changes the order of the replicas alone",
    kafka="a reassignment that changes the order of the replicas alone is a change of the partition, which leaders "
    "apply",
    when="without `replica_order_changes`; leader, epoch, ISR, ELR, replicas, who is to come and to go are as before, "
    "the partition's epoch is not",
    model="changes nothing",
    direction=Direction.KAFKA,
)
_INDEX_OF_ELR = (
    "a `ClearElrRecord` does not change an index of the controller (`brokersToElrs`): one who left the ELR by a "
    "change of min.insync.replicas "
)
LEAVES_TWICE = Known(
    "Kafka takes one who was cleared from the ELR out of the ISR twice",
    kafka=_INDEX_OF_ELR + "leaves the ISR twice when it registers, with one leader epoch more",
    when="the registration changes the partition twice, and the broker was in the ELR at such a change",
    model="has one epoch less",
    direction=Direction.NEITHER,
)
CLEARED_ELECTS = Known(
    "Kafka elects as one registers who was cleared from the ELR",
    kafka=_INDEX_OF_ELR + "and registers, in neither ISR nor ELR, lets the controller look at the partition, and elect "
    "who was not eligible when it last looked",
    when="the registration changes the partition, and somebody is elected; the broker was in the ELR at a change of "
    "min.insync.replicas",
    model="elects at the next change",
    direction=Direction.NEITHER,
)
CLEARED_ENDS = Known(
    "Kafka ends a reassignment as one registers who was cleared from the ELR",
    kafka=_INDEX_OF_ELR + "and registers, in neither ISR nor ELR, lets the controller look at the partition, and end a "
    "reassignment that is otherwise done",
    when="the registration changes the partition, and the reassignment is at its end; the broker was in the ELR at a "
    "change of min.insync.replicas",
    model="ends it at the next change",
    direction=Direction.NEITHER,
)

# ----------------------------------------------------------------------------------------------------- late responses

LATER_ENDS = Known(
    "Kafka's follower asks for the ends of the leader's log later than in the model",
    kafka="after OFFSET_OUT_OF_RANGE a follower asks where the leader's log begins and ends when that response arrives "
    "(`AbstractFetcherThread.handleOutOfRangeError`)",
    when="with `late_fetch_responses`; the leader's log has other ends by then",
    model="has what they were when the response was made",
    direction=Direction.NEITHER,
)
GAVE_UP = Known(
    "Kafka's follower has given the partition up, and ends its session",
    kafka="a follower whose leader was in a later epoch by the time it asked for the ends of the log has given the "
    "partition up (`AbstractFetcherThread.onPartitionFenced`). It ends its fetcher, which has no other, with "
    "the next change (`shutdownIdleFetcherThreads`; executed on 3.9.2, 4.1.2, 4.3.1 and 4.4.0)",
    when="with `late_fetch_responses` and `fetch_sessions`: OFFSET_OUT_OF_RANGE arrived in the leader epoch in which "
    "it had fetched; it learns of a change of the partition, or loads a snapshot, within that epoch, as a "
    "replica, and its session is there",
    model="keeps the session, which has told nothing, so the next fetch is answered alike",
    direction=Direction.NEITHER,
)

# ----------------------------------------------------------------------------------------------------- deleted records

_WAITS_FOR_THE_LIVING = (
    "an operator is answered that records are deleted when all replicas have done it that the leader does not know as "
    "fenced (`Partition.lowWatermarkIfLeader`)"
)
_NEWEST_FENCED = (
    "has the leader know who is fenced with the newest change, takes all for alive before, and one that stops until it "
    "has ended"
)
FENCED_BEFORE_NEWEST = Known(
    "Kafka's leader has learned who is fenced, though not of the newest change",
    kafka=_WAITS_FOR_THE_LIVING,
    when="with `delete_records`: the leader has learned who is fenced, though not of the newest change",
    model=_NEWEST_FENCED,
    direction=Direction.NEITHER,
)
DIRECTORY_BEFORE_RETURN = Known(
    "Kafka's leader is to learn of a directory before it learns who is back",
    kafka=_WAITS_FOR_THE_LIVING,
    when="with `delete_records` and `log_dir_moves`: it is to learn of a directory first, and then who is back",
    model=_NEWEST_FENCED,
    direction=Direction.NEITHER,
)
DIRECTORY_BEFORE_FENCING = replace(
    DIRECTORY_BEFORE_RETURN,
    name="Kafka's leader is to learn of a directory before it learns who is fenced",
    when="with `delete_records` and `log_dir_moves`: it is to learn of a directory first, and then who is fenced since",
)
FENCED_AS_IT_STOPS = Known(
    "Kafka's leader does not wait for one that is fenced as it asks to stop",
    kafka=_WAITS_FOR_THE_LIVING + "; `BrokerHeartbeatManager` fences one that asks to stop if it leads nothing, or is "
    "fenced",
    when="with `delete_records`: all that it waits for were fenced as they asked to stop",
    model=_NEWEST_FENCED,
    direction=Direction.NEITHER,
)
DIED_AS_IT_STOPPED = Known(
    "Kafka waits for a broker that has died while it stopped",
    kafka=_WAITS_FOR_THE_LIVING,
    when="with `delete_records`: a broker has died while it stopped",
    model=_NEWEST_FENCED,
    direction=Direction.NEITHER,
)
WAITS_FOR_COPY = Known(
    "Kafka waits until the copy of the leader's log has deleted the records too",
    kafka="who waits for a deletion waits for the leader's copy of its log too (`Partition.lowWatermarkIfLeader`)",
    when="with `log_dir_moves` and `delete_records`: the leader has a copy, and the model has answered",
    model="answers earlier",
    direction=Direction.MODEL,
)
EPOCH_AGAIN = Known(
    "Kafka finds the epoch of deleted records again after a crash",
    kafka="the newest epoch of a log whose records are all deleted is there again after two crashes",
    when="log start is log end, the model has no epoch, Kafka has one",
    model="names no epoch in the next fetch",
    direction=Direction.KAFKA,
)
EPOCH_OF_ONE_SIDE = Known(
    "one side alone knows the epoch of deleted records that are found again",
    kafka="the cache of epochs lost that epoch with the deletion, or was made anew of all records of the file if it "
    "was empty at the crash",
    when="after `find_older_start`: one side alone has that epoch; or the model alone answers with it, a consumer that "
    "asks for the end of an epoch or a follower that fetches after one that its leader lacks",
    model="looks it up in the log when that is cut or closed",
    direction=Direction.NEITHER,
)
EPOCH_BEGINS_LATER = Known(
    "the epoch of deleted records that are found again begins behind them",
    kafka="the cache has the epoch of such records begin behind them, if it is the oldest there "
    "(`LeaderEpochFileCache.truncateFromStart`)",
    when="after `find_older_start`: the fetch of a follower whose log ends before such records",
    model="has that epoch begin with them, so that the follower diverges in the model alone",
    direction=Direction.NEITHER,
)
OTHER_RECORD = Known(
    "Kafka finds another deleted record than the one seen first",
    kafka="a record that was deleted is found again, and it is another than the first that was seen at its offset, "
    "which was lost by an unclean election or a crash",
    when="with `stale_checkpoints` and `delete_records`: at the start of the broker",
    model="has the record seen first there",
    direction=Direction.NEITHER,
)

# ------------------------------------------------------------------------------------------------------------ producers

BY_SNAPSHOT = Known(
    "Kafka's leader knows the last batch of a producer alone, by a snapshot",
    kafka="of a producer a leader knows the last batch alone when it has read that from a snapshot, at a start or a "
    "truncation, and answers OUT_OF_ORDER_SEQUENCE_NUMBER to an earlier one that comes again (`ProducerStateManager`)",
    when="with `retries`; the record is in the leader's log and not the last there",
    model="knows the producer by its log, and acknowledges",
    direction=Direction.MODEL,
)
BY_DELETED_RECORDS = Known(
    "Kafka's leader knows a producer by deleted records",
    kafka="a leader knows a producer by records that are deleted (`ProducerStateManager`)",
    when="with `retries`; all records of its log are deleted, and it does not append what comes",
    model="has forgotten the producer with its records, and appends",
    direction=Direction.MODEL,
)

# --------------------------------------------------------------------------- directories that the controller knows

ONE_DIRECTORY_KNOWN = Known(
    "a replica is added to a broker of which the controller knows one directory",
    kafka="of a broker with one directory the controller knows where a replica is that it adds "
    "(`ClusterControlManager.defaultDir`, read in 4.3.1); of others it knows nothing ([N-18](../findings/N-18.md))",
    when="with `log_dir_failures`: a reassignment adds one to a broker that has registered with one, or told that the "
    "other has failed",
    model="has brokers with others, so that it never knows",
    direction=Direction.MODEL,
)
LISTED_ANEW = Known(
    "directories are listed anew in Kafka's order of replicas, or in the model's",
    kafka="a change lists directories anew if their order is another one, and a broker whose directory the controller "
    "does not know names it by that",
    when="with `log_dir_failures`, without `replica_order_changes`: there is such a replica, before and after, for "
    "which Kafka's order of replicas lists anew and the model's, by number, does not, or the reverse",
    model="names it at another change",
    direction=Direction.NEITHER,
)
_NAMED_LATE = "a directory is named later where that makes an AlterPartition late, "
NAMED_LATE_BY_ANOTHER = Known(
    "a directory that is named late lets another broker name its own late",
    kafka=_NAMED_LATE + "and so does another broker that names its own when it learns of the first",
    when="with `log_dir_failures`: the model's controller knows both, and in Kafka both are to be told still",
    model="names both at once",
    direction=Direction.KAFKA,
)
DOWN_BEFORE_NAMED = Known(
    "a broker goes down before it names a directory that is named late",
    kafka=_NAMED_LATE + "and the broker may go down before",
    when="with `log_dir_failures`: the model's controller knows it, and in Kafka it is to be told still",
    model="names it at once",
    direction=Direction.KAFKA,
)
DROPPED_COPY_NAMES = Known(
    "a broker that drops a copy names a directory that was not known",
    kafka="a broker that drops a copy of which it has told says where its log is, also where the controller knows no "
    "directory of it",
    when="with `log_dir_moves` and `log_dir_failures`: the copy was not accepted, and a reassignment has added the "
    "replica since it began",
    model="tells nothing",
    direction=Direction.MODEL,
)
MAKES_LATE = Known(
    "a directory that is named makes the AlterPartition late",
    kafka="a directory that is named is a change of the partition",
    when="an AlterPartition is on its way, which that makes late. Or one comes next, from a leader that has its ISR "
    "by a response alone, or lacks only configuration or a directory of its own. The directory is named with the "
    "swap of `log_dir_moves` alone, before a failed one is told, or at a start after which fewer are eligible to "
    "lead",
    model="does not change the partition",
    direction=Direction.NEITHER,
)
_NAMES_KNOWN = (
    "the ELR changes so, and nothing else does. A copy was dropped of which the broker had said that it is not the "
    "log; or one that was accepted is asked for once more as the partition has changed, and the broker names what the "
    "controller knows. Or an added replica has named its directory at the start of its broker, which the harness "
    "tells after the AlterPartition that was on its way"
)
CLEARS_ELR = Known(
    "a directory that the model's does not name clears the ELR (N-17)",
    kafka="up to 4.2 the controller forgets the eligible leader replicas when a broker names another directory "
    "([N-17](../findings/N-17.md)), also where it names the one that the controller knows",
    when=_NAMES_KNOWN,
    model="has nothing told then",
    direction=Direction.NEITHER,
)
RECKONS_ELR = Known(
    "a directory that the model's does not name has the ELR reckoned anew",
    kafka="from 4.3 on the controller reckons the eligible leader replicas anew when a broker names a directory "
    "(`PartitionChangeBuilder.maybePopulateTargetElr`). There are none where the ISR is large enough, as it may "
    "be with replicas that are none any more ([N-02](../findings/N-02.md)), else those who have left the ISR",
    when=_NAMES_KNOWN,
    model="has nothing told then",
    direction=Direction.NEITHER,
)
LOOKS_AT_LEADER = Known(
    "a directory that is named makes the controller look at the leader",
    kafka="nothing has made the controller look at a leader that is fenced, or whose directory is gone (before 4.0 "
    "one that registers without having been fenced), or at who may lead where nobody does. It elects when a "
    "copy's directory is named: the first in its order in the ISR, else of the ELR, else from 4.3 on the last "
    "known leader (`PartitionChangeBuilder.electAnyLeader`, `canElectLastKnownLeader`)",
    when="the leader is the one that follows from the registration before; whatever else comes of it is a difference",
    model="leaves the leader as it is",
    direction=Direction.KAFKA,
)
ENDS_REASSIGNMENT = Known(
    "a directory that is named ends a reassignment that is otherwise done",
    kafka="it ends one that is otherwise done, as all who are added are in the ISR (or all who stay, as the release "
    "has it) and some of it stays (`PartitionReassignmentReplicas.maybeCompleteReassignment`)",
    when="with the replicas, ISR, ELR, leader and epoch that `PartitionChangeBuilder.build` makes of that",
    model="ends it at the next change",
    direction=Direction.NEITHER,
)
NOTHING_TO_TELL = Known(
    "a broker has nothing to tell any more of its directory",
    kafka="only the newest that is to be told of a directory is told, so that a broker may have nothing to tell any "
    "more of its log",
    when="the model names a directory; the controller knows where the log is",
    model="has both told, the log before its copy",
    direction=Direction.KAFKA,
)
COPY_BEFORE_LOG = Known(
    "a copy that catches up takes the place of what is to be told of the log",
    kafka="only the newest that is to be told of a directory is told",
    when="the copy gets a record, and where the log is is still to be told",
    model="has what is to be told of a log come before its copy",
    direction=Direction.KAFKA,
)
NEWEST_ALONE = Known(
    "only the newest that is to be told of a directory is told",
    kafka="only the newest that is to be told of a directory is told",
    when="the broker learns of its directory, and has something newer to tell than what it learned first",
    model="has both told",
    direction=Direction.KAFKA,
)
LOG_BEFORE_COPY = Known(
    "what is to be told of a log comes before its copy",
    kafka="a broker tells of its log first, where that is to be told",
    when="the controller is to accept a copy, and where the log is is still to be told",
    model="accepts the copy at once",
    direction=Direction.NEITHER,
)
CONFIGURATION_FIRST = Known(
    "a leader learns of older configuration before it learns of a directory",
    kafka="metadata comes in the order in which it was written",
    when="a leader that knows its ISR by a response is to learn of its log's directory, and of older configuration",
    model="may learn of the directory first",
    direction=Direction.MODEL,
)
ASKS_ONCE_MORE = Known(
    "a change of the partition makes a copy that was accepted ask once more",
    kafka="each change of the partition that a broker learns of after its copy was accepted makes it ask the "
    "controller once more",
    when="the broker has learned of a change since then, and waits for that answer",
    model="lets a copy that was accepted take the log's place whatever the broker learns of meanwhile",
    direction=Direction.MODEL,
)
REPLICA_NO_MORE = Known(
    "the controller takes no directory of who is a replica no more",
    kafka="the controller refuses a directory of a broker that is a replica no more",
    when="a copy is to take the place of the log of such a broker",
    model="lets it take that place, until the broker learns that it is a replica no more",
    direction=Direction.MODEL,
)
SILENT = Known(
    "before 3.9 AssignmentsManager ends with an answer about a copy that is gone",
    kafka="at an answer about a copy that is gone meanwhile `ReplicaAlterLogDirsThread.updateReassignmentState` "
    "throws a NullPointerException, which `AssignmentsManager` logs (executed on 3.7.2, the same in the classes "
    "of 3.7.1 to 4.4.0). Before 3.9 `AssignmentsManager` takes that request for one on its way for ever, and "
    "tells nothing more until the broker starts again (executed on 3.7.2 and 3.8.1)",
    when="the broker is to tell of a directory after that",
    model="takes such an answer for none",
    direction=Direction.NEITHER,
)

# ------------------------------------------------------------------------------------ directories that fail, and copies

TO_LEAD_WITHOUT_LOG = Known(
    "Kafka throws where a broker whose directory has failed is to lead",
    kafka="before 4.0 a broker that leads, and registers again before it is fenced with the directory of its log "
    "failed, is still the leader; it throws at that (N-16, [fixed in 4.0](../findings/README.md))",
    when="metadata makes a broker without a log the leader, whose directory has failed, with `log_dir_failures` and "
    "rules before 4.0",
    model="has a leader that is offline",
    direction=Direction.NEITHER,
)
LAST_DIRECTORY = Known(
    "a broker ends with its last directory",
    kafka="where one directory was taken out before, or had failed and the broker has started with the other since, "
    "the other was the last of two: a broker ends with it, and does not start without it",
    when="that directory fails, or is taken out",
    model="has the broker run on with another one",
    direction=Direction.MODEL,
)
NO_OTHER_DIRECTORY = Known(
    "a broker has no other directory any more",
    kafka="with one directory left a broker moves nothing to another",
    when="a log is to be moved at such a broker",
    model="has another directory",
    direction=Direction.MODEL,
)
TELLS_AFTER_FAILURE = Known(
    "a broker tells where its log was after that directory has failed",
    kafka="a broker tells where its log is after that directory has failed, if it had to tell before",
    when="with `log_dir_moves` and `log_dir_failures`: as the directory fails it is to tell, and has learned why with "
    "a later change of the partition, of which the model's broker learns first",
    model="tells nothing",
    direction=Direction.KAFKA,
)
TELLS_OF_FAILURE = Known(
    "a broker tells of a failed directory where the model's does not",
    kafka="that a directory has failed is told on every release that runs here",
    when="the model has the rules before 3.7 (R-50), by which nothing is told; that a broker tells nothing where the "
    "model's does is a difference",
    model="tells nothing",
    direction=Direction.KAFKA,
)
STOP_COUNTS = Known(
    "a clean stop is noted in all directories but the one that is taken out",
    kafka="a clean stop counts if all directories in log.dirs say so "
    "(`LogManager.readBrokerEpochFromCleanShutdownFiles`)",
    when="with `log_dir_failures`: the directory of the log had failed before the stop, works again, and is taken out "
    "of log.dirs",
    model="has the stop not count any more as soon as that directory works again; where it is taken out before that, "
    "it counts",
    direction=Direction.NEITHER,
)
NOT_OPENED = Known(
    "a log is not opened at the start, as metadata has it in a failed directory",
    kafka="a broker that starts while metadata has its log in the directory of the copy, which has failed, does not "
    "open it (`Partition.createLogInAssignedDirectoryId`). It fetches nothing also after it has told the "
    "controller where the log is (executed on 3.9.2, 4.1.2 and 4.4.0), before another leader epoch "
    "(`Partition.makeFollower`, read in 4.1.2)",
    when="with `log_dir_moves` and `log_dir_failures`: it registers, was down, and is a replica",
    model="has its log, and fetches",
    direction=Direction.MODEL,
)
COPY_OUTLIVES = Known(
    "a copy that was not accepted outlives the directory of its log",
    kafka="a copy that was not accepted goes on after a stop, and the harness takes it back at the start",
    when="the directory of the log is gone meanwhile",
    model="drops it at the stop",
    direction=Direction.KAFKA,
)
OLDER_WATERMARK = Known(
    "a copy that is taken at a start has an older high watermark",
    kafka="a copy that is taken for the log at a start has the high watermark, and the log start, of when it got its "
    "last record",
    when="it has those, both or one of them less than the model's, and the log ends where the model's does",
    model="gives it those of the log",
    direction=Direction.KAFKA,
)
LOOKS_AT_WATERMARK = Known(
    "a directory that is named makes the leader look at its high watermark",
    kafka="that a copy is dropped of which the broker has said already that it is not the log is told once more, which "
    "may make the leader look at its high watermark",
    when="it grows at most to what its whole ISR has; the harness waits with it where it makes an AlterPartition late",
    model="has nothing told then",
    direction=Direction.KAFKA,
)
COPY_KEEPS_EPOCH = Known(
    "a copy that takes the place of the log keeps the epoch of deleted records",
    kafka="the epoch cache of a copy that takes the place of the log also keeps the epoch of records which are "
    "deleted, if there are no others",
    when="the log is as the model's otherwise, and some record was written in that epoch",
    model="has the epochs of its records",
    direction=Direction.KAFKA,
)

BY_SUBJECT: Mapping[str, Sequence[Known]] = {
    "Requests for an ISR": (
        *(MAY_NOT_JOIN, ASKS_WITHIN_A_FETCH, OTHERS_ARE_SLOW, NO_REQUEST, NO_REQUEST_AGAIN, NO_RESPONSE),
        *(ACCEPTS_UNNAMED, REFUSES_OUTDATED),
    ),
    "The controller": (ORDER_DURING_REASSIGNMENT, ORDER_ALONE, LEAVES_TWICE, CLEARED_ELECTS, CLEARED_ENDS),
    "Late responses": (LATER_ENDS, GAVE_UP),
    "Deleted records": (
        *(FENCED_BEFORE_NEWEST, DIRECTORY_BEFORE_RETURN, DIRECTORY_BEFORE_FENCING, FENCED_AS_IT_STOPS),
        *(DIED_AS_IT_STOPPED, WAITS_FOR_COPY, EPOCH_AGAIN, EPOCH_OF_ONE_SIDE, EPOCH_BEGINS_LATER, OTHER_RECORD),
    ),
    "Producers": (BY_SNAPSHOT, BY_DELETED_RECORDS),
    "Directories, and what the controller knows of them": (
        *(ONE_DIRECTORY_KNOWN, LISTED_ANEW, NAMED_LATE_BY_ANOTHER, DOWN_BEFORE_NAMED, DROPPED_COPY_NAMES, MAKES_LATE),
        *(CLEARS_ELR, RECKONS_ELR, LOOKS_AT_LEADER, ENDS_REASSIGNMENT, NOTHING_TO_TELL, COPY_BEFORE_LOG, NEWEST_ALONE),
        *(LOG_BEFORE_COPY, CONFIGURATION_FIRST, ASKS_ONCE_MORE, REPLICA_NO_MORE, SILENT),
    ),
    "Directories that fail, and copies": (
        *(TO_LEAD_WITHOUT_LOG, LAST_DIRECTORY, NO_OTHER_DIRECTORY, TELLS_AFTER_FAILURE, TELLS_OF_FAILURE, STOP_COUNTS),
        *(NOT_OPENED, COPY_OUTLIVES, OLDER_WATERMARK, LOOKS_AT_WATERMARK, COPY_KEEPS_EPOCH),
    ),
}
"""What a walk ends at while a step is taken, in the order of the page."""

NOT_MET: Sequence[Known] = (
    Known(
        "a record that comes again gives a leader its epoch",
        kafka="also if it is not answered, or is refused (`UnifiedLog.append` notes it before it looks at the "
        "producer; read in 3.9.2, not executed)",
        when="with `retries` and `log_dir_moves`: a copy has replaced the leader's log since its election",
        model="takes such a request for none",
        direction=Direction.KAFKA,
    ),
    Known(
        "a preferred election that elects nobody ends a reassignment",
        kafka="a preferred leader that is asked for, and not elected, ends a reassignment that is otherwise done, as "
        "after an unclean election of one who is added (`ReplicationControlManager.electLeader`, executed on 4.3.1)",
        when="such an election is asked of Kafka in the part *forbidden* alone, and not there",
        model="ends it at the next change",
        direction=Direction.KAFKA,
    ),
    Known(
        "the controller looks now and then for partitions without a leader",
        kafka="where unclean elections are allowed (`maybeElectUncleanLeaders`, since 3.9; executed on 3.9.2, 4.1.2, "
        "4.3.1 and 4.4.0, tests/conformance/test_controller_tasks.py)",
        when="nobody leads and somebody lives, as after a reassignment, which elects nobody uncleanly",
        model="elects at the next failure or return alone",
        direction=Direction.KAFKA,
    ),
    Known(
        "3.7.0 keeps the copy of a log that is stray at a start",
        kafka="a broker of 3.7.0 that was moving its log, and starts when it is no replica any more, sets the log "
        "aside and keeps the copy (`LogManager.deleteStrayKRaftReplicas`). Later ones set both aside (`isStray` "
        "of `LogManager.startup`, executed on 3.7.1, 3.9.2, 4.1.2, 4.3.1 and 4.4.0)",
        when="nothing is compared of a broker that is no replica",
        model="drops both",
        direction=Direction.NEITHER,
    ),
    Known(
        "a broker answers metadata a tenth of a second later",
        kafka="with where its log was when the metadata came",
        when="with `log_dir_moves` and `log_dir_failures`",
        model="has a request about a directory and its answer in one step, and answers with where the log is by then",
        direction=Direction.KAFKA,
    ),
    Known(
        "records of a copy are deleted later in its file",
        kafka="those that the copy got before they were deleted are there when it takes the log's place, so that an "
        "older log start can be found (`ReplicaAlterLogDirsThread.processPartitionData`, read)",
        when="with `log_dir_moves`, `delete_records` and `stale_checkpoints`",
        model="has none there",
        direction=Direction.KAFKA,
    ),
    Known(
        "a replica that is taken out and added again keeps its fetch session",
        kafka="its fetcher's thread goes on with the session if no other partition of the broker has changed meanwhile "
        "(`ReplicaManager.applyDelta`, read in 4.3.1); the harness ends it as if one had",
        when="with `fetch_sessions` and reassignments",
        model="begins another one",
        direction=Direction.KAFKA,
    ),
)
"""What no walk can meet, as no step brings it about, or nothing of it is compared."""

HIDDEN: Sequence[tuple[str, str]] = (
    (
        "a controller's log that commits late, and other controllers",
        "what comes between a decision and its commit; failovers are the model's alone",
    ),
    (
        "when heartbeats come",
        (
            "two sessions that end at once. Kafka refuses a registration while the session of the former incarnation "
            "lasts. In walks that session ends while the controller handles the registration, so one without a fencing "
            "is a race (R-26, N-07, N-17)"
        ),
    ),
    ("waiting: `maxWait` is 0", "what completes a fetch in a purgatory, and with which high watermark"),
    ("timers: checkpoints, retention, expiry of producers", "deletion by age, and producers that are forgotten"),
    (
        "less than `replica.lag.time.max.ms` between two steps",
        "a leader that waits for a follower outside the ISR that was caught up a moment ago",
    ),
    (
        "logs of several segments, the cleaner, remote storage",
        "what a roll does (KAFKA-19571, KAFKA-17727), compaction, tiered logs",
    ),
    (
        "the steps within one round of the thread that copies a log to another directory",
        "races of that round with a truncation or with metadata",
    ),
    (
        "in the quorum: crashes that cut a batch, several segments, snapshots of what is committed",
        "recovery from such a cut, checkpoints that are half written, a follower that loads a snapshot",
    ),
)
"""What the harness of Kafka's classes leaves out, and what that hides."""
