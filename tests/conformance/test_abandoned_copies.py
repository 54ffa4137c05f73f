"""A broker that was moving its log, and is no replica when it starts: the harness does not set the copy aside.

Brokers do: one of 4.3.1 starts, and has both as strays.
"""

from __future__ import annotations

import pytest

from insync.conformance.classes.subject import KafkaRaised
from insync.conformance.steps.gaps import NotSchedulable
from insync.conformance.steps.pair import Pair
from insync.explorer.evaluator.stepping import Stepper
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import release_of
from insync_classes import HarnessOf, JarsOf

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

REMOVED = (
    "operator assigns the partition to {b2, b3}",
    "b1 begins to copy its log",
    "b1 asks to stop",
    "b1 stops cleanly",
)


@pytest.mark.parametrize("version", ["3.9.2", "4.1.2", "4.3.1", "4.4.0"])
def test_the_harness_cannot_start_it(jars_of: JarsOf, harness_of: HarnessOf, version: str) -> None:
    bounds = {"records": 1, "moves": 1, "directory_failures": 1, "reassignments": 1, "stops": 1, "lossy_crashes": 0}
    model = Cluster(release=release_of(version).value, **bounds)
    numbers = {action.label: number for number, action in enumerate(model.program.actions)}
    with harness_of(jars_of(version)) as harness:
        pair = Pair(Stepper(model), harness)
        assert not pair.open()
        for label in REMOVED:
            assert not pair.take(numbers[label])
        with pytest.raises(NotSchedulable, match="the harness does not set aside the copy of a log") as refused:
            pair.take(numbers["b1 starts and registers"])
        thrown = refused.value.__cause__
        assert isinstance(thrown, KafkaRaised)
        assert "LogManager.findAbandonedFutureLogs" in str(thrown.args[-1])
