"""What becomes of a log that its own broker has taken for committed."""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies
from insync.properties import step_invariant
from insync.properties.kafka import cluster_reasons as reasons

__all__ = ["watermarks_outlast_truncation"]


@step_invariant(Cluster, because=reasons.cut)
def watermarks_outlast_truncation(
    model: Cluster, before: ClusterState, after: ClusterState, replica: Replica
) -> Condition:
    """A broker that runs on does not cut its log below its own high watermark, whose records it has shown as committed.

    Kafka warns of it where it sees it: "Truncating ... below high watermark" (UnifiedLog.truncateTo in 4.3.1). With
    unclean elections, and where a leader has lost what it had not flushed, followers have to do it. Logs that a crash
    has shortened, or that are deleted as the broker has no replica any more, do not count.
    """
    old, new = before.broker[replica], after.broker[replica]
    runs_on = And(
        old.running, new.running, model.image.is_assigned(model.image.registration_of(after, replica), replica)
    )
    return Implies(runs_on, new.leo >= old.hw)
