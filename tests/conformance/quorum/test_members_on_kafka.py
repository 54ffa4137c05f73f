"""The model of voters that come and go beside Kafka's own Raft client: walks agree, and another rule is told apart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from insync.conformance.classes.compiled import NEEDED_BY
from insync.conformance.comparing.conform import Conforming
from insync.conformance.jars.pinned import pinned_for_quorum
from insync.conformance.jars.store import is_stored, stored_for_quorum
from insync.conformance.quorum.beside_kafka import quorum_model
from insync.conformance.quorum.conform_quorum import conform_quorum
from insync.conformance.quorum.quorum_harness import QuorumHarness
from insync.explorer.java import find_compiler, find_java
from insync.model.errors import UserError

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

VERSIONS = ("3.9.2", "4.1.2", "4.3.1")
BOUNDS: dict[str, int | str] = {"additions": 1, "removals": 1}


@pytest.fixture(scope="module", params=VERSIONS)
def quorum(request: pytest.FixtureRequest) -> Iterator[QuorumHarness]:
    version: str = request.param
    try:
        find_java(NEEDED_BY)
        find_compiler(NEEDED_BY)
    except UserError as missing:
        pytest.skip(str(missing))
    if not is_stored(pinned_for_quorum(version)):
        pytest.skip(f"insync kafka fetch {version} --quorum, with INSYNC_CACHE_DIR set, fetches what this needs")
    with QuorumHarness(stored_for_quorum(version)) as harness:
        yield harness


def test_walks_agree_in_which_voters_come_and_go(quorum: QuorumHarness) -> None:
    found = conform_quorum(quorum_model(quorum.version, BOUNDS), quorum, walks=60, seed=1)
    assert (found.verdict, found.walks) == (Conforming.AGREES, 60)
    assert {"add_voter", "remove_voter", "handle_addition", "restart"} <= set(found.coverage.transitions)
    assert found.coverage.fields > 30_000


@pytest.mark.parametrize(
    ("rule", "fields"),
    [
        ({"hearing": "published"}, {"n1.high_watermark", "n2.high_watermark"}),
        ({"counting": "published"}, {"acknowledged"}),
        ({"leaving": "published"}, {"n1.leader", "n2.leader"}),
    ],
)
def test_another_rule_is_told_apart(quorum: QuorumHarness, rule: dict[str, str], fields: set[str]) -> None:
    if quorum.version != VERSIONS[0]:
        pytest.skip("one release tells them apart, and each takes a compilation")
    found = conform_quorum(quorum_model(quorum.version, {**BOUNDS, **rule}), quorum, walks=300, seed=1)
    assert found.verdict is Conforming.DIVERGES
    assert found.difference is not None
    assert {one.field for one in found.difference.differences} & fields
