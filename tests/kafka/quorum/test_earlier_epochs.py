"""KAFKA-12619: a leader that commits what an earlier one wrote, as a majority has it, may lose it (Raft, figure 8).

It takes four elections. So that the space can be searched, the candidates stand in a given order.
"""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.published.quorum.voter import Voter
from insync.kafka.quorum.kraft import Kraft
from insync.model import And, Or, StateView, action, require

CANDIDATES = {2: 0, 3: 1, 4: 0, 5: 1}
"""The servers that begin each epoch."""


class Ordered(Kraft):
    """`kraft` with such candidates."""

    name = "ordered"

    @action(label="{i} stands for election")
    def request_vote(self, s: StateView, i: Voter) -> None:
        """A server begins the epoch whose turn is its own."""
        epoch = s.server[i].epoch + 1
        require(Or(*[And(epoch == begun, i == server) for begun, server in CANDIDATES.items()]))
        super().request_vote(s, i)


@pytest.mark.slow
def test_a_record_of_an_earlier_epoch_is_lost_that_was_committed_because_a_majority_has_it() -> None:
    model = Ordered(records=2, elections=4, commit_rule="any_epoch", answers="awaited")
    (found,) = check(model, properties=["leader_has_all_acknowledged_values"], symmetry=False).violations
    assert found.trace_length == 28
