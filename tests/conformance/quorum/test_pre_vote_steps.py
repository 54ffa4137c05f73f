"""On a release with pre-votes a server stands for election where a majority would vote for it, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.pre_vote_steps import granting, require_pre_votes, require_same_restart
from insync.conformance.quorum.quorum_seen import QuorumSeen, ServerSeen

UNATTACHED = ServerSeen("Unattached", 1, -1, -1, (), -1, (("*", 1),), {}, (), has_fetched=True)
FOLLOWER = replace(UNATTACHED, state="Follower", leader=3)


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
