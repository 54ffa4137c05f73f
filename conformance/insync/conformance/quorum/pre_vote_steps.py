"""What steps of `kraft_853` are on a release with pre-votes (KIP-996): a pre-vote is part of the timeout before it.

Who would be elected by a majority stands at once, and nobody hears of its question but those whose answers it needs.
Where too few would vote for it there is no such step.
"""

from __future__ import annotations

from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.quorum_facts import VOTE
from insync.conformance.quorum.quorum_seen import Letter, QuorumSeen, ServerSeen

__all__ = ["answer_of", "granting", "next_pre_vote", "require_pre_votes", "require_same_restart"]

_REFUSED = "since pre-votes (KIP-996) a server stands for election only if a majority would vote for it"
_CANDIDATE_AGAIN = "since 4.0 a follower that was a candidate in its epoch is one again when it restarts"
_RESIGNED = "since pre-votes (KIP-996) who has resigned goes on to the next epoch before it asks for votes"


def require_pre_votes(asker: int, seen: QuorumSeen) -> None:
    """Refuse a timeout after which a server does not stand for election at once.

    Raises:
        NotSchedulable: it has resigned, or too few would vote for it.
    """
    if seen.servers[asker].state == "Resigned":
        raise NotSchedulable(_RESIGNED)
    if len(granting(asker, seen)) < len(_voters(asker, seen)) // 2:
        raise NotSchedulable(_REFUSED)


def require_same_restart(server: int, seen: QuorumSeen) -> None:
    """Refuse a restart after which Kafka's server is something else than the model's.

    Since 4.0 a follower's file keeps its vote beside its leader, and QuorumState.initialize looks at the vote first.

    Raises:
        NotSchedulable: it follows, and has voted for itself in its epoch.
    """
    its = seen.servers[server]
    if its.state == "Follower" and its.voted == server:
        raise NotSchedulable(_CANDIDATE_AGAIN)


def granting(asker: int, seen: QuorumSeen) -> list[int]:
    """Return as many as a server needs of those in its epoch who would vote for it."""
    its = seen.servers[asker]
    voters = _voters(asker, seen)
    would = [number for number in voters if number != asker and _would_vote(seen.servers[number], its)]
    return would[: len(voters) // 2]


def _voters(asker: int, seen: QuorumSeen) -> tuple[int, ...]:
    """The voters that a server knows, where they come and go, else all servers."""
    known = seen.servers[asker].membership
    return known.voters if known else tuple(seen.servers)


def next_pre_vote(asker: int, seen: QuorumSeen) -> Letter | None:
    """Return what is delivered next: the pre-vote request to one who would vote, or its answer; None for nothing."""
    for voter in granting(asker, seen):
        for letter in (_question_to(asker, voter, seen), answer_of(asker, voter, seen)):
            if letter is not None:
                return letter
    return None


def _question_to(asker: int, voter: int, seen: QuorumSeen) -> Letter | None:
    """The pre-vote request of a server to another, None where there is none."""
    asked = (one for one in seen.letters if one.pre_vote and (one.source, one.to) == (asker, voter))
    return next(asked, None)


def answer_of(asker: int, voter: int, seen: QuorumSeen) -> Letter | None:
    """Return the answer to the vote request that a server waits for, None where there is none."""
    answers = (one for one in seen.letters if one.is_answer and one.awaited and one.kind == VOTE)
    return next((one for one in answers if (one.source, one.to) == (voter, asker)), None)


def _would_vote(voter: ServerSeen, asker: ServerSeen) -> bool:
    """Whether a server votes: it follows nobody from whom it could fetch, and its log does not end later.

    The vote of one that tells of a leader does not count where that is news: who hears of a leader follows it.
    """
    free = voter.state in ("Unattached", "Candidate", "Resigned") or (
        voter.state == "Follower" and not voter.has_fetched
    )
    tells_news = voter.leader >= 0 > asker.leader
    return free and voter.epoch == asker.epoch and _end(voter) <= _end(asker) and not tells_news


def _end(server: ServerSeen) -> tuple[int, int]:
    return server.log[-1][1] if server.log else 0, len(server.log)
