"""On a release with pre-votes a server stands for election where a majority would vote for it, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from insync.conformance.quorum.pre_vote_steps import granting, require_pre_votes, require_same_restart
from insync.conformance.quorum.quorum_pair import QuorumPair
from insync.conformance.quorum.quorum_seen import QuorumSeen, ServerSeen
from insync.conformance.steps.gaps import NotSchedulable
from insync_quorum import RecordedQuorum, quorum_stepper, recorded_course, take_labels

VERSION = "4.1.2"
UNATTACHED = ServerSeen("Unattached", 1, -1, -1, (), -1, (("*", 1),), {}, (), has_fetched=True)
FOLLOWER = replace(UNATTACHED, state="Follower", leader=3)


def test_a_recorded_course_with_pre_votes_agrees() -> None:
    kafka = RecordedQuorum.read(VERSION)
    pair = QuorumPair(quorum_stepper(), kafka)
    assert take_labels(pair, recorded_course(VERSION)) == []
    assert kafka.given == len(kafka.course)
    assert [one["asked"]["command"] for one in kafka.course[:4]] == ["open", "time_out", "deliver", "deliver"]
    assert [pair.taken[number].label for number in pair.own] == ["n1 leads", "n2 fetches from n1", "n2 leads"]


def test_a_pre_vote_that_is_refused_is_a_difference() -> None:
    kafka = RecordedQuorum.read(VERSION)
    candidate = kafka.course[3]["state"]["servers"]["1"]
    candidate.update(state="Prospective", epoch=0)
    found = take_labels(QuorumPair(quorum_stepper(), kafka), recorded_course(VERSION))
    assert ("n1.state", "CANDIDATE", "PROSPECTIVE") in [(one.field, one.model, one.kafka) for one in found]


@pytest.mark.parametrize(
    ("voter", "asker", "would"),
    [
        (UNATTACHED, UNATTACHED, True),
        (replace(UNATTACHED, epoch=2), UNATTACHED, False),
        (replace(UNATTACHED, log=(("*", 1), ("1", 1))), UNATTACHED, False),
        (UNATTACHED, replace(UNATTACHED, log=(("*", 1), ("1", 1))), True),
        (replace(UNATTACHED, state="Candidate"), UNATTACHED, True),
        (replace(UNATTACHED, state="Leader", leader=1), FOLLOWER, False),
        (FOLLOWER, FOLLOWER, False),
        (replace(FOLLOWER, has_fetched=False), FOLLOWER, True),
        (replace(FOLLOWER, has_fetched=False), UNATTACHED, False),
        (replace(UNATTACHED, state="Resigned", leader=1), FOLLOWER, True),
        (replace(UNATTACHED, state="Resigned", leader=1), UNATTACHED, False),
    ],
)
def test_who_would_vote(voter: ServerSeen, asker: ServerSeen, would: bool) -> None:
    seen = QuorumSeen({1: voter, 2: asker, 3: replace(voter, epoch=9)}, ())
    assert granting(2, seen) == ([1] if would else [])
    if not would:
        with pytest.raises(NotSchedulable, match="only if a majority would vote for it"):
            require_pre_votes(2, seen)


def test_a_restart_is_what_it_was_but_of_a_follower_that_has_voted_for_itself() -> None:
    seen = QuorumSeen({1: FOLLOWER, 2: replace(FOLLOWER, voted=2), 3: replace(UNATTACHED, voted=3)}, ())
    require_same_restart(1, seen)
    require_same_restart(3, seen)
    with pytest.raises(NotSchedulable, match="is one again when it restarts"):
        require_same_restart(2, seen)


def test_who_has_resigned_does_not_ask_in_its_epoch() -> None:
    seen = QuorumSeen({1: UNATTACHED, 2: replace(UNATTACHED, state="Resigned", leader=2), 3: UNATTACHED}, ())
    with pytest.raises(NotSchedulable, match="who has resigned goes on to the next epoch"):
        require_pre_votes(2, seen)
