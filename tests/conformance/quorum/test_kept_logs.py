"""The logs of the quorum's servers: Kafka's own, on disk."""

from __future__ import annotations

import pytest

from insync.conformance.quorum.quorum_harness import QuorumHarness

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


def kept(quorum: QuorumHarness) -> list[str]:
    """The servers that have a log on disk."""
    return sorted(log.parts[-3] for log in quorum.folder.glob("server-*/__cluster_metadata-0/*.log"))


def test_each_server_has_a_log_on_disk_as_long_as_its_quorum_is_there(quorum: QuorumHarness) -> None:
    all_three = ["server-1", "server-2", "server-3"]
    quorum.give("open", servers=3, founders=0, pre_votes=True, ends=True)
    assert kept(quorum) == all_three
    quorum.give("restart", server=2)
    assert kept(quorum) == all_three
    quorum.give("open", servers=2, founders=2, pre_votes=True, ends=True)
    assert kept(quorum) == all_three[:2]
