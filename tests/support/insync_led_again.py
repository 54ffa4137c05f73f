"""Courses in which a server has stood for election in an epoch, follows who was elected, and is started again.

Since 4.0 it is a candidate of the epoch then (`QuorumState.initialize`). Steps of `kraft` by their labels, those
included that Kafka takes by itself.
"""

from __future__ import annotations

__all__ = ["LED_AGAIN", "LED_AGAIN_BOUNDS", "PARTED", "REMOVED", "REMOVED_BOUNDS"]

_FOLLOWS = (
    "n2 requests pre-votes",
    "n3 requests pre-votes",
    "n2 answers the pre-vote request of n3",
    "n3 answers the pre-vote request of n2",
    "n3 gets the pre-vote of n2",
    "n1 answers the vote request of n3@2",
    "n3 gets the vote of n1",
    "n3 leads",
    "n2 gets the pre-vote of n3",
    "n2 learns that n3 leads epoch 2",
    "n2 fetches from n3",
    "n3 answers n2's fetch of epoch 2 from 1@1",
    "n2 takes what it has fetched",
    "n2 fetches from n3",
    "n3 answers n2's fetch of epoch 2 from 2@2",
    "n2 takes what it has fetched",
)
"""Two stand in epoch 2, n3 is elected, and n2 follows it."""

REMOVED = (
    *_FOLLOWS,
    "n3 removes n2 from the voters",
    "n2 fetches from n3",
    "n3 answers n2's fetch of epoch 2 from 2@2",
    "n2 takes what it has fetched",
    "n2 restarts",
)
"""The leader removes who has stood, which cannot be started again."""

_LEFT_ALONE = (
    *_FOLLOWS,
    "n3 removes n1 from the voters",
    "n2 fetches from n3",
    "n3 answers n2's fetch of epoch 2 from 2@2",
    "n2 takes what it has fetched",
    "n2 fetches from n3",
    "n3 answers n2's fetch of epoch 2 from 3@2",
    "n2 takes what it has fetched",
    "n3 removes n3 from the voters",
    "n2 fetches from n3",
    "n3 answers n2's fetch of epoch 2 from 3@2",
    "n2 takes what it has fetched",
    "n2 fetches from n3",
)
"""The leader removes the other voter and itself, and who has stood is the only one."""

LED_AGAIN = (
    *_LEFT_ALONE,
    "n2 restarts",
    "n2 leads",
)
"""Who is started again leads the epoch at once, of which the other one is the leader still."""

PARTED = (
    *_LEFT_ALONE,
    "client sends v1 to n3",
    "client sends v2 to n3",
    "n1 learns that n3 leads epoch 2",
    "n1 fetches from n3",
    "n3 answers n1's fetch of epoch 2 from 1@1",
    "n1 takes what it has fetched",
    "n1 fetches from n3",
    "n3 answers n1's fetch of epoch 2 from 2@2",
    "n1 takes what it has fetched",
    "n1 fetches from n3",
    "n3 answers n1's fetch of epoch 2 from 3@2",
    "n1 takes what it has fetched",
    "n1 fetches from n3",
    "n3 answers n1's fetch of epoch 2 from 4@2",
    "n1 takes what it has fetched",
    "n1 fetches from n3",
    "n3 answers n1's fetch of epoch 2 from 5@2",
    "n1 takes what it has fetched",
    "n1 fetches from n3",
    "n2 restarts",
    "n2 leads",
    "client sends v3 to n2",
    "n3 resigns",
    "n3 has resigned long enough",
    "n3 answers n1's fetch of epoch 2 from 6@2",
    "n1 gets an error in response to its fetch",
    "n2 restarts",
    "n2 leads",
    "n1 fetches from n2",
    "n2 answers n1's fetch of epoch 3 from 6@2",
    "n1 takes what it has fetched",
)
"""The same, with two records of the former leader that another server has, and one that a client was told is written.

The server takes its own two for committed in the end, and never gets the one.
"""

REMOVED_BOUNDS: dict[str, int | str] = {"servers": 3, "records": 0, "elections": 4, "removals": 1, "restarts": 1}
LED_AGAIN_BOUNDS: dict[str, int | str] = {**REMOVED_BOUNDS, "records": 3, "removals": 2, "restarts": 2}
"""Those of `PARTED`, which `LED_AGAIN` fits in."""
