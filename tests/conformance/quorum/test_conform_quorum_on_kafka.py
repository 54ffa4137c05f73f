"""The model of the quorum beside Kafka's own Raft client: walks agree, and a model with another rule is told apart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from insync.conformance.classes.compiled import NEEDED_BY
from insync.conformance.comparing.conform import Conforming
from insync.conformance.jars.pinned import pinned_for_quorum
from insync.conformance.jars.store import is_stored, stored_for_quorum
from insync.conformance.quorum.beside_kafka import quorum_model
from insync.conformance.quorum.conform_quorum import conform_quorum
from insync.conformance.quorum.pre_vote_steps import answer_of
from insync.conformance.quorum.quorum_harness import QuorumHarness
from insync.conformance.quorum.quorum_pair import QuorumPair
from insync.conformance.quorum.quorum_self_check import quorum_self_check
from insync.conformance.steps.gaps import NotSchedulable
from insync.explorer.java import find_compiler, find_java
from insync.model.errors import UserError
from insync_quorum import quorum_stepper, take_labels

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

VERSIONS = ("3.9.2", "4.1.2", "4.3.1")
SMALL: dict[str, int | str] = {"records": 1, "elections": 2, "restarts": 1}


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


def test_a_leader_that_restarts_has_its_log_and_has_resigned(quorum: QuorumHarness) -> None:
    seen = quorum_self_check(quorum)
    assert (seen.servers[1].state, seen.servers[1].log) == ("Resigned", (("*", 1), ("7", 1)))
    assert {seen.servers[number].state for number in (2, 3)} == {"Follower"}


def test_walks_agree(quorum: QuorumHarness) -> None:
    found = conform_quorum(quorum_model(SMALL), quorum, walks=40, seed=1)
    assert (found.verdict, found.walks) == (Conforming.AGREES, 40)
    assert {"become_leader", "restart", "handle_record"} <= set(found.coverage.transitions)
    assert found.coverage.fields > 40_000


def test_a_follower_that_was_a_candidate_restarts_as_one_since_4_0(quorum: QuorumHarness) -> None:
    steps = ["n3 stands for election", "n2 stands for election", "n1 answers the vote request of n2@2"]
    steps += ["n2 gets the vote of n1", "n3 hears that n2 leads epoch 2"]
    pair = QuorumPair(quorum_stepper(), quorum)
    assert take_labels(pair, steps) == []
    (restart,) = (n for n in pair.walk.enabled["restart"] if pair.walk.stepper.actions[n].label.startswith("n3 "))
    if quorum.version == "3.9.2":
        assert pair.take(restart) == []
        assert pair.seen.servers[3].state == "Follower"
    else:
        with pytest.raises(NotSchedulable, match="is one again when it restarts"):
            pair.take(restart)
        seen = quorum.give("restart", server=3)
        again = seen.servers[3]
        assert (again.state, again.epoch, again.leader) == ("Candidate", 1, -1)
        (request,) = (one for one in seen.letters if (one.kind, one.source, one.to) == ("VOTE", 3, 2))
        answer = answer_of(3, 2, quorum.give("deliver", letter=request.number))
        assert answer is not None
        seen = quorum.give("deliver", letter=answer.number)
        assert (seen.servers[3].state, seen.servers[3].leader) == ("Follower", 2)


def test_a_follower_that_waits_no_longer_deposes_a_leader_only_before_pre_votes(quorum: QuorumHarness) -> None:
    seen = quorum_self_check(quorum, restart=False)
    asking = quorum.give("time_out", server=3)
    letters = [one for one in asking.letters if (one.kind, one.source, one.pre_vote) == ("VOTE", 3, True)]
    for letter in letters:
        answer = answer_of(3, letter.to, quorum.give("deliver", letter=letter.number))
        assert answer is not None
        assert not answer.granted
        seen = quorum.give("deliver", letter=answer.number)
    if quorum.version == "3.9.2":
        assert (asking.servers[3].state, asking.servers[3].epoch, letters) == ("Candidate", 2, [])
    else:
        assert [letter.to for letter in sorted(letters, key=lambda one: one.to)] == [1, 2]
        assert (asking.servers[3].state, asking.servers[3].epoch) == ("Prospective", 1)
        assert [seen.servers[number].state for number in (1, 2, 3)] == ["Leader", "Follower", "Follower"]
        assert {server.epoch for server in seen.servers.values()} == {1}


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
