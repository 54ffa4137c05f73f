"""Q-7: a leader ends when a voter that it has removed answers its BeginQuorumEpoch."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from insync.conformance.live.live_nodes import NotInTime
from insync.conformance.live.live_quorum import BEGIN_QUORUM_EPOCH, LiveQuorum
from insync.conformance.live.nodes.controller_files import QuorumPlan
from insync.conformance.live.scenarios.quorum_scenario import QuorumOutcome, QuorumScenario, ending, removed
from insync.runtime.errors import UserError

__all__ = ["REMOVED_VOTER"]

_ASKED = 20.0
"""Seconds in which a leader asks a voter that it does not learn of: several fetch timeouts."""
_ATTEMPTS = 3
_ELECTION = 6.0
"""Seconds in which those who are left elect a leader, if they can: several election timeouts."""


def _paused(quorum: LiveQuorum, tell: Callable[[str], None]) -> tuple[int, int, int, float]:
    """Pause a voter until its leader asks it; begin anew where the leader is another by then, as on a busy machine.

    Returns:
        The leader, the voter that stands still, the other one, and when it was paused.

    Raises:
        NotInTime: nobody asks.
    """
    for _ in range(_ATTEMPTS):
        leader = quorum.wait_for_leader(known_to_all=True)
        slow, other = (node for node in quorum.plan.numbers if node != leader)
        tell(f"controllers 1, 2 and 3 are voters by their log (kraft.version 1); {leader} leads")
        asked = quorum.sent(BEGIN_QUORUM_EPOCH, leader, slow)
        began = time.monotonic()
        quorum.pause(slow)
        if quorum.try_for(partial(bool, asked), _ASKED):
            return leader, slow, other, began
        quorum.resume(slow)
        tell(f"{leader} has not asked {slow} in {_ASKED:.0f} s")
    message = (
        f"No leader asks a voter that stands still, in {_ATTEMPTS} attempts. Run it when the machine has less to do."
    )
    raise NotInTime(message)


def _run(quorum: LiveQuorum, tell: Callable[[str], None]) -> QuorumOutcome:
    quorum.start(*quorum.plan.numbers)
    leader, slow, other, began = _paused(quorum, tell)
    try:
        removed(quorum, leader, slow)
    except UserError:
        quorum.resume(slow)
        raise
    tell(f"{slow} stands still, {leader} sends it BeginQuorumEpoch, and an operator has it removed from the voters")
    quorum.resume(slow)
    tell(f"{slow} goes on, after {time.monotonic() - began:.1f} s, and answers")
    code, said = ending(quorum, leader)
    if code is None:
        return QuorumOutcome(leader, None, "", quorum.leader() is not None)
    tell(f"{leader} has ended")
    led = quorum.try_for(lambda: quorum.leader() is not None, _ELECTION)
    tell(f"the voters are {leader} and {other} now, and {'one leads' if led else f'{other} alone elects nobody'}")
    quorum.start(leader)
    tell(f"{leader} is started again, and {quorum.wait_for_leader()} leads")
    return QuorumOutcome(leader, code, said, led)


REMOVED_VOTER = QuorumScenario(
    name="q-7",
    title="a leader of the controllers ends when a voter that it has removed answers it",
    means="a pause (SIGSTOP, SIGCONT), and the removal of a voter",
    plan=QuorumPlan(dynamic=True),
    run=_run,
)
