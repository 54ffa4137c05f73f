"""The model of the quorum beside Kafka's own Raft client: walks agree, and a model with another rule is told apart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from insync.conformance.classes.compiled import NEEDED_BY
from insync.conformance.comparing.conform import Conforming
from insync.conformance.jars.pinned import pinned_for_quorum
from insync.conformance.jars.store import is_stored, stored_for_quorum
from insync.conformance.quorum.conform_quorum import conform_quorum, quorum_model
from insync.conformance.quorum.quorum_harness import QuorumHarness
from insync.conformance.quorum.quorum_self_check import quorum_self_check
from insync.explorer.java import find_compiler, find_java
from insync.model.errors import UserError

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

VERSION = "3.9.2"
SMALL: dict[str, int | str] = {"records": 1, "elections": 2, "restarts": 1}


@pytest.fixture(scope="module")
def quorum() -> Iterator[QuorumHarness]:
    try:
        find_java(NEEDED_BY)
        find_compiler(NEEDED_BY)
    except UserError as missing:
        pytest.skip(str(missing))
    if not is_stored(pinned_for_quorum(VERSION)):
        pytest.skip(f"insync kafka fetch {VERSION} --quorum, with INSYNC_CACHE_DIR set, fetches what this needs")
    with QuorumHarness(stored_for_quorum(VERSION)) as harness:
        yield harness


def test_a_leader_that_restarts_has_its_log_and_has_resigned(quorum: QuorumHarness) -> None:
    seen = quorum_self_check(quorum)
    assert (seen.servers[1].state, seen.servers[1].log) == ("Resigned", (("*", 1), ("7", 1)))
    assert {seen.servers[number].state for number in (2, 3)} == {"Follower"}


def test_walks_agree(quorum: QuorumHarness) -> None:
    found = conform_quorum(quorum_model(SMALL), quorum, walks=40, seed=1)
    assert (found.verdict, found.walks) == (Conforming.AGREES, 40)
    assert {"become_leader", "restart", "handle_diverging", "handle_record"} <= set(found.coverage.transitions)
    assert found.coverage.fields > 40_000


@pytest.mark.parametrize(
    ("rule", "fields"),
    [
        ({"hearing": "published"}, {"n1.high_watermark", "n2.high_watermark", "n3.high_watermark", "fetches"}),
        ({"leader_change": "off"}, {"n1.log", "n2.log", "n3.log"}),
        ({"answers": "all"}, {"votes", "replies"}),
        ({"restart_as": "leader"}, {"n1.state", "n2.state", "n3.state"}),
        ({"restart_as": "unattached"}, {"n1.state", "n2.state", "n3.state"}),
    ],
)
def test_another_rule_is_told_apart(quorum: QuorumHarness, rule: dict[str, str], fields: set[str]) -> None:
    found = conform_quorum(quorum_model({**SMALL, **rule}), quorum, walks=200, seed=1)
    assert found.verdict is Conforming.DIVERGES
    assert found.repeats
    assert found.difference is not None
    assert {one.field for one in found.difference.differences} & fields
