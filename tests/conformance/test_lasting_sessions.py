"""A broker registers while the session of its former incarnation lasts, on Kafka's classes."""

from __future__ import annotations

import pytest

from insync.conformance.classes.subject import KafkaRaised
from insync_classes import HarnessOf, JarsOf

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

SESSION = 9_000
"""How long a session lasts, in milliseconds: broker.session.timeout.ms, by default."""


@pytest.mark.parametrize(
    "version", ["4.3.1", *(pytest.param(one, marks=pytest.mark.slow) for one in ("3.7.2", "3.9.2", "4.1.2"))]
)
def test_a_broker_registers_only_once_the_session_before_is_over(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    with harness_of(jars_of(version)) as harness:
        harness.take("open", brokers=2, replicas=[1, 2], elr=False, configuration={})
        harness.take("crash", broker=1, spared=0)
        with pytest.raises(KafkaRaised, match="DuplicateBrokerRegistrationException"):
            harness.take("register", broker=1, wait=SESSION - 1)
        assert harness.take("observe").state.controller.fenced == ()
        assert harness.take("register", broker=1, wait=SESSION).said == "NONE"
        seen = harness.take("observe").state
        assert seen.brokers[1].running
        assert seen.controller.fenced == (1,), "fenced as it registers, and nobody else"
