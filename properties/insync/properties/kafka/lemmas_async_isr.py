"""Why KIP-497 keeps what is committed: the lemmas that make `valid_high_watermark` of async_isr inductive.

The leader counts with every ISR that the controller may have written without its knowledge. What the controller has
is among that (`controller_has_what_the_leader_counts`), and so is what it may still accept: requests name the version
that they are about, so one that can be accepted is known to the leader as its own (`requests_are_counted`). What the
controller does by itself takes members out, and the leader learns it in whole versions
(`unheard_updates_shrink`). Log ends play no part.
"""

from __future__ import annotations

from insync.kafka.published import AsyncIsr
from insync.kafka.published.async_isr import Isr, Version
from insync.model import And, Condition, Implies, Or, SetValue, StateView
from insync.properties import lemma

__all__ = [
    "controller_has_what_the_leader_counts",
    "newest_update_is_the_isr",
    "no_request_is_ahead",
    "requests_are_counted",
    "the_controller_is_ahead",
    "unheard_updates_shrink",
]


def _counted(s: StateView) -> SetValue:
    """The replicas that the leader's high watermark waits for."""
    return s.leader.isr | s.leader.pending_isr


@lemma(AsyncIsr)
def controller_has_what_the_leader_counts(model: AsyncIsr, s: StateView) -> Condition:
    """Every member of the controller's ISR is one that the leader's high watermark waits for.

    The property follows from this alone; the other lemmas are what keeps it.
    """
    return s.controller.isr.is_subset(_counted(s))


@lemma(AsyncIsr)
def the_controller_is_ahead(model: AsyncIsr, s: StateView) -> Condition:
    """The leader knows no version that the controller has not written."""
    return s.leader.version <= s.controller.version


@lemma(AsyncIsr)
def no_request_is_ahead(model: AsyncIsr, s: StateView, version: Version) -> Condition:
    """No request names a version that the leader does not know; else one could be accepted that it does not count."""
    return Or(version <= s.leader.version, s.requests[version].is_empty())


@lemma(AsyncIsr)
def requests_are_counted(model: AsyncIsr, s: StateView, version: Version, isr: Isr) -> Condition:
    """The leader counts with all members of an ISR that it has asked for under the version that it knows.

    Without it the controller accepts a request whose new member the leader has forgotten.
    """
    asked = And(s.leader.version == version, s.requests[version].contains(isr))
    return Implies(asked, And(*[_counted(s).contains(replica) for replica in isr]))


@lemma(AsyncIsr)
def newest_update_is_the_isr(model: AsyncIsr, s: StateView, version: Version) -> Condition:
    """What the controller announced last is the ISR that it has; version 0 was never announced."""
    return Implies(And(version > 0, s.controller.version == version), s.updates[version] == s.controller.isr)


@lemma(AsyncIsr)
def unheard_updates_shrink(model: AsyncIsr, s: StateView, version: Version) -> Condition:
    """Of the updates that the leader has not learned, each is a part of the one before, but for the first of them.

    The first may be what the leader has asked for. The controller accepts no other request then, since each names a
    version that has passed; so a leader that learns one of them counts with all that come after it.
    """
    if version + 1 not in range(model.b.max_version + 1):
        return True
    unheard = And(s.leader.version < version, version < s.controller.version)
    return Implies(unheard, s.updates[version + 1].is_subset(s.updates[version]))
