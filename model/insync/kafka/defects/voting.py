"""Defects of the quorum behind the controller, which `kraft` shows.

`VOTING` are entries of the catalogue. The rules of `UNSEARCHED` can be chosen by name as well, but the spaces that show
them are too large for a search to end; `left_out` says so of each.
"""

from __future__ import annotations

from collections.abc import Mapping

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.finding import FindingStatus, KafkaFinding

__all__ = ["UNSEARCHED", "VOTING"]

VOTING = (
    Defect(
        name="Q-1",
        title="A leader that restarts leads on in its epoch",
        ticket="KAFKA-10527",
        affected="before 2.7.0, not released",
        story="A leader restarts, has lost the end of its log that it had not flushed, and goes on leading the same "
        "epoch, so it writes other records at offsets and in the epoch that its followers have already copied.",
        fix="a leader resigns when it restarts, and what counts for the high watermark is flushed",
        breaks="leader_has_all_acknowledged_values",
        length=16,
        bounds={"release": "3.9", "servers": 3, "records": 2, "elections": 1, "restarts": 1},
        rules={"restarted_leader_resigns": False, "flushes_before_responding": False},
        model="kraft",
    ),
    Defect(
        name="Q-2",
        title="A former leader forgets that it voted for itself",
        ticket="KAFKA-10661",
        affected="before 2.7.0, not released",
        story="A leader restarts Unattached and without its vote, before the record with which it began is on disk, "
        "and votes for another candidate of the epoch that it led, which then leads it too.",
        fix="a leader that restarts is Resigned in its epoch, and votes for nobody in it",
        breaks="never_two_leaders_in_an_epoch",
        length=11,
        bounds={"release": "3.9", "servers": 3, "records": 0, "elections": 2, "restarts": 1},
        rules={"restarted_leader_keeps_vote": False},
        base={"flushes_before_responding": False},
        model="kraft",
    ),
    Defect(
        name="Q-3",
        title="A voter that lost its disk votes again",
        ticket="KIP-853, KAFKA-14205",
        affected="every release with static voters",
        story="A voter comes back with an empty disk and the same id, has forgotten whom it voted for, and votes for "
        "another candidate of the same epoch.",
        fix="with directory ids (KIP-853) a voter whose disk was lost is another voter; here, a disk is not lost",
        breaks="never_two_leaders_in_an_epoch",
        length=10,
        bounds={"release": "3.9", "servers": 3, "records": 0, "elections": 2, "restarts": 1},
        rules={"disk_tells_servers_apart": False},
        model="kraft",
    ),
    Defect(
        name="Q-4",
        title="A voter answers before its log is on disk",
        ticket="KAFKA-10533",
        affected="before 2.8.0, as a preview",
        story="A follower copies a record, and its leader counts that, commits the record and acknowledges it. The "
        "follower restarts without the end of its log, which it had not flushed, and votes for one who has not got the "
        "record either.",
        fix="a server flushes its log before it votes and responds",
        breaks="leader_has_all_acknowledged_values",
        length=20,
        bounds={"release": "3.9", "servers": 3, "elections": 2, "restarts": 1},
        rules={"flushes_before_responding": False},
        model="kraft",
    ),
    Defect(
        name="Q-7",
        title="A leader throws when a voter that it has removed answers its BeginQuorumEpoch",
        ticket="no ticket known; LeaderState.addAcknowledgementFrom",
        affected="3.9.0 to 4.4.0",
        story="A voter is removed while BeginQuorumEpoch is on its way to it. It follows the leader and responds "
        "without an error. The leader is to note that the voter has acknowledged it, finds no such voter, and throws.",
        fix="ignore the response of a server that is no voter any more",
        breaks="no_illegal_state",
        length=13,
        bounds={"release": "3.9", "servers": 3, "records": 0, "elections": 1, "restarts": 0, "removals": 1},
        rules={"acknowledgement_needs_voter": False},
        model="kraft",
        finding=KafkaFinding(
            title="The KRaft leader exits when a removed voter answers BeginQuorumEpoch",
            status=FindingStatus.NOT_REPORTED,
            affects="3.9.0 to 4.4.0",
            harm="the active controller; with two voters left the quorum",
            read="3.9.2, 4.0.2, 4.1.2, 4.2.1 and 4.3.1",
            related="KAFKA-16536 KAFKA-16537 KAFKA-17608",
            workaround="stop a controller before it is removed. Afterwards: start the one that has exited.",
            rank=10,
        ),
    ),
    Defect(
        name="Q-8",
        title="A leader that is no voter counts itself",
        ticket="KAFKA-16530, KAFKA-16531",
        affected="before 3.8.0 (high watermark) and 3.9.0 (check-quorum), by their tickets; voters change since 3.9.0",
        story="A leader removes itself from the voters and leads on until that is committed. It counts its own log for "
        "the majority of which it is no part any more, so a client's value is acknowledged that none of the voters "
        "has, and the next leader lacks it. The model has no check-quorum, which counts the same way.",
        fix="a leader counts itself only where it is one of the voters that its log says",
        breaks="acknowledged_values_stay_with_a_voter",
        length=3,
        bounds={"servers": 2, "elections": 1, "restarts": 0, "removals": 1},
        rules={"only_voters_count": False},
        model="kraft",
    ),
    Defect(
        name="Q-19",
        title="A voter that an operator removes joins again by itself",
        ticket="KAFKA-19850",
        affected="4.2 and later with controller.quorum.auto.join.enable, by its ticket, which is closed as documented",
        story="An operator removes a controller from the voters, and it runs on as an observer. With auto-join it "
        "sends AddRaftVoter at once. The model does not say where a request comes from, so here any addition of a "
        "removed controller counts.",
        fix="no addition without an operator's request; here, none",
        breaks="removed_voters_stay_away",
        length=3,
        bounds={"servers": 2, "records": 0, "elections": 1, "restarts": 0, "additions": 1, "removals": 1},
        fixed={"additions": 0},
        model="kraft",
    ),
)

_STANDS_AGAIN = {"known_leader_outlasts_vote": False}
"""What all releases since 4.0 do: docs/findings/Q-18.md has a patch."""


def _unsearched(name: str, title: str, affected: str, rules: Mapping[str, object], breaks: str) -> Defect:
    """Return a defect that has no bounds to be searched under."""
    return Defect(name, title, "", affected, "", "", breaks, 0, {}, rules, model="kraft")


UNSEARCHED = (
    _unsearched(
        "Q-5",
        "A record of an earlier epoch that a majority has is committed",
        "before 2.8.0, as a preview",
        {"commits_own_epoch": False},
        "leader_has_all_acknowledged_values",
    ),
    *(
        _unsearched(name, title, "4.0 and later", _STANDS_AGAIN, breaks)
        for name, title, breaks in (
            ("Q-6", "A follower that was a candidate is one again when it restarts, and throws", "no_illegal_state"),
            ("Q-17", "A removed voter that has stood cannot be started again", "no_illegal_state"),
            ("Q-18", "The only voter that is left leads the epoch of another one", "never_two_leaders_in_an_epoch"),
        )
    ),
)
