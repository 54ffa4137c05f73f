"""What servers do in the published module where one has restarted that may not: as it is written there."""

from __future__ import annotations

from typing import Any, cast

from insync.kafka.published.quorum.kraft_published import KraftPublished
from insync_walk import Walk


def server(walk: Walk, name: str) -> dict[str, Any]:
    return cast(dict[str, dict[str, Any]], walk.state["server"])[name]


def test_a_leader_that_restarted_follows_itself_and_says_so() -> None:
    """It hears from a response to its own vote request who leads."""
    walk = Walk(
        KraftPublished(servers=3, records=0, restarts=1),
        "n1 stands for election",
        "n2 answers the vote request of n1@2",
        "n1 gets the vote of n2 for epoch 2",
        "n1 leads",
        "n3 learns that n1 leads epoch 2",
        "n3 answers the vote request of n1@2",
        "n1 restarts",
        "n1 is refused the vote of n3, epoch 2, n1 leads",
    )
    assert (server(walk, "n1")["state"], server(walk, "n1")["leader"]) == ("FOLLOWER", "n1")
    walk.take("n3 fetches from n1", "n1 answers n3's fetch from 0@0, epoch 2")
    walk.take("n3 learns from n1 that n1 leads, epoch 2")
    assert (server(walk, "n3")["leader"], server(walk, "n3")["pending"]) == ("n1", None)


def test_a_server_stands_in_the_first_epoch_after_the_illegal_state() -> None:
    """The illegal state has epoch 0, from which a restart leads out, and its vote request is of epoch 1."""
    walk = Walk(
        KraftPublished(servers=2, records=0, elections=2, restarts=2),
        "n1 stands for election",
        "n2 answers the vote request of n1@2",
        "n1 gets the vote of n2 for epoch 2",
        "n1 leads",
        "n2 restarts",
        "n2 learns that n1 leads epoch 2",
    )
    assert (server(walk, "n2")["state"], server(walk, "n2")["epoch"]) == ("ILLEGAL", 0)
    walk.take("n2 restarts", "n2 stands for election", "n1 answers the vote request of n2@1")
    assert (server(walk, "n2")["state"], server(walk, "n2")["epoch"]) == ("CANDIDATE", 1)
