"""What must hold of a partition whose failures have passed: it has a leader, and its reassignment can end."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS

AVAILABLE = ["running_replicas_have_a_leader", "reassignments_can_end"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("defect", "reason"),
    [
        ("N-07", "All replicas (b1) run, and none leads: the ISR is {}, the ELR {b2, b3}."),
        ("N-08", "All replicas (b1, b2) run, and none leads: the ISR is {}, the ELR {}."),
        (
            "N-09",
            "The reassignment cannot end: b3 is to come and to go, and it waits for it in an ISR without it.",
        ),
    ],
)
def test_the_reason_says_who_could_lead_or_is_waited_for(defect: str, reason: str) -> None:
    entry = DEFECTS[defect]
    (found,) = check(Cluster(**entry.witness), properties=[entry.breaks]).violations
    assert found.trace.reason == reason


@pytest.mark.slow_but("3.9")
@pytest.mark.parametrize("release", ["2.8", "3.9", "4.1", "4.3"])
def test_a_partition_whose_replicas_run_has_a_leader_whatever_has_failed(release: str) -> None:
    model = Cluster(release=release, replicas=2, records=1, fencings=2, metadata_lag=1)
    assert check(model, properties=AVAILABLE).verdict == "holds"


@pytest.mark.slow
@pytest.mark.parametrize("release", ["3.7", "4.2"])
def test_before_4_3_a_reassignment_that_is_put_back_ends(release: str) -> None:
    chosen: dict[str, int | str] = {
        "spares": 1,
        "reassignments": 2,
        "records": 1,
        "metadata_lag": 1,
        "min_insync_replicas": 1,
    }
    calm: dict[str, int | str] = {"power_failures": 0, "fencings": 0, "isr_shrinks": 0}
    found = check(Cluster(release=release, **chosen, **calm), properties=["reassignments_can_end"])
    assert found.verdict == ("holds" if release == "4.2" else "violated")
