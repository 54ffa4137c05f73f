"""What Kafka's controller does by itself, in its own event queue: sessions, elections, and brokers that it lets go."""

from __future__ import annotations

import pytest

from insync_classes import HarnessOf, JarsOf

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

OLDER = [pytest.param(one, marks=pytest.mark.slow) for one in ("3.9.2", "4.1.2", "4.4.0")]


@pytest.mark.parametrize("version", ["4.3.1", *OLDER])
def test_an_unclean_leader_is_elected_where_nobody_leads(jars_of: JarsOf, harness_of: HarnessOf, version: str) -> None:
    """The model elects at the next failure or return alone (docs/guide/known-differences.md)."""
    with harness_of(jars_of(version)) as harness:
        harness.take("open", brokers=2, replicas=[1, 2], elr=False, configuration={})
        harness.take("fence", broker=2)
        harness.take("fence", broker=1)
        assert harness.take("unfence", broker=2).said == "NONE"
        assert harness.take("check_leaders").state.controller.leader == -1, "not where that is not allowed"
        harness.take("configure", name="unclean.leader.election.enable", value="true")
        assert harness.take("check_leaders").state.controller.leader == 2


@pytest.mark.parametrize("version", ["4.3.1", *OLDER])
def test_the_preferred_leader_leads_again(jars_of: JarsOf, harness_of: HarnessOf, version: str) -> None:
    with harness_of(jars_of(version)) as harness:
        harness.take("open", brokers=2, replicas=[1, 2], elr=False, configuration={})
        assert harness.take("elect", broker=2).state.controller.leader == 2, "put first, and back after that"
        assert harness.take("check_leaders").state.controller.leader == 1


@pytest.mark.parametrize("version", ["4.3.1", *OLDER])
def test_a_leader_is_let_go_once_the_others_know_who_leads(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    with harness_of(jars_of(version)) as harness:
        for knows in (False, True):
            harness.take("open", brokers=2, replicas=[1, 2], elr=False, configuration={})
            asked = harness.take("start_controlled_shutdown", broker=1).state.controller
            assert (asked.leader, asked.stopping, asked.fenced) == (2, (1,), ())
            if knows:
                harness.take("apply", broker=2, to=asked.end)
            assert harness.take("stop", broker=1).state.controller.fenced == ((1,) if knows else ())
            assert harness.take("fence", broker=1).state.controller.fenced == (1,)


@pytest.mark.parametrize("version", ["4.3.1", *OLDER])
def test_a_follower_is_let_go_and_fenced_as_it_asks(jars_of: JarsOf, harness_of: HarnessOf, version: str) -> None:
    with harness_of(jars_of(version)) as harness:
        harness.take("open", brokers=2, replicas=[1, 2], elr=False, configuration={})
        asked = harness.take("start_controlled_shutdown", broker=2).state.controller
        assert (asked.isr, asked.stopping, asked.fenced) == ((1,), (), (2,))


@pytest.mark.parametrize("version", ["4.3.1", *OLDER])
def test_a_broker_stays_fenced_until_it_has_read_of_its_registration(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    with harness_of(jars_of(version)) as harness:
        harness.take("open", brokers=2, replicas=[1, 2], elr=False, configuration={})
        harness.take("crash", broker=2, spared=0)
        harness.take("fence", broker=2)
        registered = harness.take("register", broker=2, wait=10_000).state.controller
        assert harness.take("unfence", broker=2).said == "FENCED"
        harness.take("apply", broker=2, to=registered.end)
        assert harness.take("unfence", broker=2).said == "NONE"
        assert harness.take("observe").state.controller.fenced == ()


@pytest.mark.parametrize("version", ["4.3.1", *OLDER])
def test_the_session_of_one_broker_ends_and_no_other(jars_of: JarsOf, harness_of: HarnessOf, version: str) -> None:
    """Also of those that are down, in whatever order."""
    with harness_of(jars_of(version)) as harness:
        harness.take("open", brokers=3, replicas=[1, 2, 3], elr=False, configuration={})
        harness.take("crash", broker=3, spared=0)
        harness.take("crash", broker=2, spared=0)
        assert harness.take("fence", broker=1).state.controller.fenced == (1,)
        assert harness.take("fence", broker=2).state.controller.fenced == (1, 2)
        assert harness.take("unfence", broker=1).state.controller.fenced == (2,)
        assert harness.take("fence", broker=3).state.controller.fenced == (2, 3)
