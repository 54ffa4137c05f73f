"""What is on its way of pre-votes (KIP-996) in a network that forgets: as `kraft` has it, and `kraft_853`.

Of the pre-vote requests of a server to another the last one is on its way, while its receiver can do something with it:
while its answer is awaited, or it is of a later epoch than its receiver is in. Of the answers it is those awaited.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from insync.kafka.published.quorum.voter import Voter
from insync.model import (
    NONE,
    Absent,
    And,
    Array,
    Bool,
    Condition,
    Int,
    Not,
    Num,
    Option,
    Record,
    Set,
    StateView,
    Switch,
    set_of,
    when,
)

__all__ = ["drop_late", "forget_answers_to_pre_votes", "pre_vote_messages"]


def pre_vote_messages(pre_votes: Switch, highest: int, capacity: int) -> dict[str, Any]:
    """Lay it out: requests first by who asks, answers by who has asked; nothing without pre-votes.

    Args:
        pre_votes: whether there are any.
        highest: the highest epoch.
        capacity: how many records a log can have.
    """
    epoch, offset = Int(0, highest), Int(0, capacity)
    request = Option(Record(epoch=epoch, offset=offset, last_epoch=epoch))
    ballot = Option(Record(epoch=epoch, leader=Option(Voter), granted=Bool))
    messages = {
        "pre_vote_requests": Array(Voter, Array(Voter, request)),
        "pre_ballots": Array(Voter, Array(Voter, ballot)),
        # From whom it gets an INVALID_REQUEST that names no leader, of its own epoch and of an earlier one.
        "invalid": Array(Voter, Set(Voter)),
        "too_early": Array(Voter, Set(Voter)),
    }
    return {name: Absent.unless(pre_votes, domain) for name, domain in messages.items()}


def forget_answers_to_pre_votes(s: StateView, i: Voter, others: Iterable[tuple[Voter, Condition]]) -> None:
    """Drop what others have answered a server, or will, and who would not vote for it."""
    s.server[i].refused = set_of([])
    for j, is_other in others:
        with when(is_other):
            s.pre_ballots[i][j] = NONE


def drop_late(s: StateView, one: Voter, other: Voter, is_other: Condition, prospective: Enum) -> None:
    """Drop a pre-vote request whose answer nobody awaits, and of no later epoch than its receiver is in.

    Args:
        s: the state.
        one: who asks.
        other: whom it asks.
        is_other: whether these are two.
        prospective: what the model calls the state of who awaits answers.
    """
    asker, request = s.server[one], s.pre_vote_requests[one][other]
    epoch: Num = request.value.epoch
    awaited = And(asker.state == prospective, asker.epoch == epoch)
    with when(And(is_other, Not(awaited), epoch <= s.server[other].epoch)):
        s.pre_vote_requests[one][other] = NONE
