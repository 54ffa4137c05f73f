"""A scenario of controllers alone: what an operator and the network do to them, and whether one ends by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from insync.conformance.live.live_quorum import LiveQuorum
from insync.conformance.live.nodes.controller_files import QuorumPlan
from insync.runtime.errors import UserError

__all__ = ["QuorumOutcome", "QuorumScenario", "ending", "removed"]

_SOON = 8.0
"""Seconds in which a controller ends that is about to."""


@dataclass(frozen=True, slots=True)
class QuorumOutcome:
    """The outcome.

    Attributes:
        controller: the controller that it is about.
        code: the exit code with which it has ended by itself; None if it runs.
        said: what it has said then.
        led: whether some controller leads while that one does not run, or although it does.
        leaders: those that lead one epoch at once; empty where there are not several.
    """

    controller: int
    code: int | None
    said: str
    led: bool
    leaders: tuple[int, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """The controllers that lead one epoch, or the one that has ended by itself; empty if there are none."""
        if self.leaders:
            return tuple(f"controller {leader}" for leader in self.leaders)
        return () if self.code is None else (f"controller {self.controller}",)


@dataclass(frozen=True, slots=True)
class QuorumScenario:
    """A script.

    Attributes:
        name: what it is called, after the defect that it shows.
        title: what it shows.
        means: with which means.
        plan: the quorum that it is for.
        run: takes the steps, and tells of each.
        pre_votes: whether it needs pre-votes (KIP-996), which the releases before 4.0 have not got.
    """

    name: str
    title: str
    means: str
    plan: QuorumPlan
    run: Callable[[LiveQuorum, Callable[[str], None]], QuorumOutcome]
    pre_votes: bool = False


def ending(quorum: LiveQuorum, controller: int) -> tuple[int | None, str]:
    """Return the exit code of a controller that ends soon, and why; None, and nothing, if it goes on."""
    if not quorum.try_for(lambda: quorum.ended(controller) is not None, _SOON):
        return None, ""
    ended = quorum.ended(controller)
    assert ended is not None
    return ended.code, quorum.fault(controller)


def removed(quorum: LiveQuorum, leader: int, node: int) -> None:
    """Have a controller removed from the voters.

    Raises:
        UserError: the leader refuses.
    """
    error = quorum.remove_voter(leader, node)
    if error:
        message = f"Controller {leader} refuses to remove {node}, with error {error}. Run the scenario again."
        raise UserError(message)
