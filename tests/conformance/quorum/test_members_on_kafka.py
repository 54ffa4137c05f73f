"""The model of voters that come and go beside Kafka's own Raft client: walks agree, and another rule is told apart."""

from __future__ import annotations

import pytest

from insync.conformance.comparing.conform import Conforming
from insync.conformance.quorum.beside_kafka import quorum_model
from insync.conformance.quorum.conform_quorum import conform_quorum
from insync.conformance.quorum.quorum_harness import QuorumHarness

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

BOUNDS: dict[str, int | str] = {"additions": 1, "removals": 1}


@pytest.mark.parametrize("answers", ["awaited", "all"])
def test_walks_agree_in_which_voters_come_and_go(quorum: QuorumHarness, answers: str) -> None:
    found = conform_quorum(quorum_model(quorum.version, {**BOUNDS, "answers": answers}), quorum, walks=60, seed=1)
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
    if quorum.version != "3.9.2":
        pytest.skip("one release tells them apart, and each takes a compilation")
    found = conform_quorum(quorum_model(quorum.version, {**BOUNDS, **rule}), quorum, walks=300, seed=1)
    assert found.verdict is Conforming.DIVERGES
    assert found.difference is not None
    assert {one.field for one in found.difference.differences} & fields
