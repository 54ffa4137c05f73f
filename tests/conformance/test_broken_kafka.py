"""A Kafka that is broken by a patch does not pass for one that is as the model, whatever has a name."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from insync.conformance.classes.harness import Harness
from insync.conformance.comparing.conform import WALKS
from insync.conformance.comparing.coverage import Coverage
from insync.conformance.comparing.walks import KafkaWalks
from insync.conformance.correspondence.facts import Difference
from insync.conformance.patches.patched_jars import read_patch
from insync.conformance.steps.pair import Pair
from insync.explorer.stepping.machine_stepper import MachineStepper
from insync.explorer.stepping.stepper import Stepper
from insync.kafka.cluster.model import Cluster
from insync_classes import JarsOf
from insync_patched import patched

pytestmark = [pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(900)]

PARTITION = "core/src/main/scala/kafka/cluster/Partition.scala"
NEVER_IN_SYNC = """\
@@ -907,3 +907,3 @@
   private def isFollowerInSync(followerReplica: Replica): Boolean = {
-    leaderLogIfLocal.exists { leaderLog =>
+    leaderLogIfLocal.filter(_ => false).exists { leaderLog =>
       val followerEndOffset = followerReplica.stateSnapshot.logEndOffset
"""
NEVER_ELIGIBLE = """\
@@ -930,2 +930,2 @@
-    !metadataCache.isBrokerFenced(followerReplicaId) &&
+    false && !metadataCache.isBrokerFenced(followerReplicaId) &&
       !metadataCache.isBrokerShuttingDown(followerReplicaId) &&
"""


CONTROLLER = "metadata/src/main/java/org/apache/kafka/controller/ReplicationControlManager.java"
FORGETS_ELIGIBLE = """\
@@ -2366,4 +2366,4 @@
                                     getTopicEffectiveMinIsr(topicName),
-                                    featureControl.isElrFeatureEnabled()
+                                    false
                             )
                                     .setDirectory(brokerId, dirId)
"""


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (NEVER_IN_SYNC, " asks within the fetch for "),
        (NEVER_ELIGIBLE, " may join the ISR by the metadata of "),
    ],
    ids=["never in sync", "never eligible"],
)
def test_a_leader_that_never_asks_is_told_apart(jars_of: JarsOf, tmp_path: Path, change: str, field: str) -> None:
    (tmp_path / "broken.patch").write_text(f"--- a/{PARTITION}\n+++ b/{PARTITION}\n{change}")
    stepper, seen = MachineStepper(Cluster(**{"release": "4.3", **WALKS})), set()
    with Harness(patched(read_patch(str(tmp_path / "broken.patch"), "4.3.1"), jars_of("4.3.1"))) as harness:
        walks = KafkaWalks(stepper, partial(Pair, stepper, harness), Coverage.of(stepper), 60)
        for number in range(12):
            found = walks.random(1, number, lambda: None)
            seen |= {one.field for one in found.differences} if found is not None else set()
    stepper.close()
    assert any(field in one for one in seen), seen


def test_from_4_3_on_a_directory_that_clears_the_eligible_replicas_is_told_apart(
    jars_of: JarsOf, tmp_path: Path
) -> None:
    """N-17 is named up to 4.2 alone."""
    (tmp_path / "broken.patch").write_text(f"--- a/{CONTROLLER}\n+++ b/{CONTROLLER}\n{FORGETS_ELIGIBLE}")
    model = Cluster(
        release="4.3", replicas=2, records=1, min_insync_replicas=2, fencings=1, log_dir_moves=1, log_dir_failures=1
    )
    with Harness(patched(read_patch(str(tmp_path / "broken.patch"), "4.3.1"), jars_of("4.3.1"))) as harness:
        pair = Pair(Stepper(model), harness)
        assert pair.open() == []
        for action, replica in (("fence", "b2"), ("start_move", "b1")):
            assert pair.take(pair.walk.number_of(action, {"replica": replica})) == []
        found = pair.take(pair.walk.number_of("accept_copy", {"replica": "b1"}))
    assert found == [Difference("controller.elr", ["b2"], [])]
