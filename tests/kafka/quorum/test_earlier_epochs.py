"""KAFKA-12619: a leader that commits what an earlier one wrote, as a majority has it, may lose it (Raft, figure 8).

It takes four elections. So that the space can be searched, the candidates stand in a given order.
"""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.quorum.elections import Elections
from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.sorts import Voter
from insync.kafka.quorum.state import KraftState
from insync.model import And, Or, action, part, require

CANDIDATES = {2: 0, 3: 1, 4: 0, 5: 1}
"""The servers that begin each epoch."""


class InOrder(Elections):
    """Elections with such candidates."""

    @action(label="{i} stands for election")
    def request_vote(self, s: KraftState, i: Voter) -> None:
        """A server begins the epoch whose turn is its own."""
        epoch = s.server[i].epoch + 1
        require(Or(*[And(epoch == begun, i == server) for begun, server in CANDIDATES.items()]))
        super().request_vote(s, i)


class Ordered(Kraft):
    """`kraft` with such candidates."""

    name = "ordered"
    elections = part(InOrder)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_record_of_an_earlier_epoch_is_lost_that_was_committed_because_a_majority_has_it() -> None:
    model = Ordered(servers=3, records=1, elections=4, restarts=0, release="3.9", defect="Q-5")
    (found,) = check(model, properties=["leader_has_all_acknowledged_values"], symmetry=False).violations
    assert found.trace_length == 29
