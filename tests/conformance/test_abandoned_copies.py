"""A broker that was moving its log, and is no replica when it starts: it sets log and copy aside, as strays."""

from __future__ import annotations

import pytest

from insync.conformance.classes.observation import BrokerSeen
from insync.conformance.steps.pair import Pair
from insync.explorer.stepping.stepper import Stepper
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import release_of
from insync_classes import HarnessOf, JarsOf

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

REMOVED = (
    "operator assigns the partition to {b2, b3}",
    "b1 begins to copy its log",
    "b1 asks to stop",
    "b1 stops cleanly",
    "b1 starts and registers",
)


def started(version: str, jars_of: JarsOf, harness_of: HarnessOf) -> BrokerSeen:
    bounds = {
        "records": 1,
        "log_dir_moves": 1,
        "log_dir_failures": 1,
        "reassignments": 1,
        "controlled_shutdowns": 1,
        "power_failures": 0,
    }
    model = Cluster(release=release_of(version).value, **bounds)
    numbers = {action.label: number for number, action in enumerate(model.program.actions)}
    with harness_of(jars_of(version)) as harness:
        pair = Pair(Stepper(model), harness)
        assert not pair.open()
        for label in REMOVED:
            assert not pair.take(numbers[label])
        return pair.seen.brokers[1]


@pytest.mark.parametrize("version", ["3.7.1", "3.9.2", "4.1.2", "4.3.1", "4.4.0"])
def test_it_starts_and_has_neither(jars_of: JarsOf, harness_of: HarnessOf, version: str) -> None:
    broker = started(version, jars_of, harness_of)
    assert broker.directory is not None
    assert (broker.running, broker.log, broker.directory.copied) == (True, None, None)


def test_3_7_0_leaves_the_copy_where_it_is(jars_of: JarsOf, harness_of: HarnessOf) -> None:
    broker = started("3.7.0", jars_of, harness_of)
    assert broker.directory is not None
    assert (broker.running, broker.log, broker.directory.copied) == (True, None, 0)
