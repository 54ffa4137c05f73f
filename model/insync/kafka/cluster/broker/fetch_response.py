"""The response to a fetch on its way, with `late_fetch_responses`: when it arrives, what it brings, when it is dropped.

Kafka: AbstractFetcherThread.processFetchRequest, FileRecords.writeTo.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from insync.kafka.cluster.broker_state import FetchResponseState
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import Coded, Moment, delay, reply, step, what_came
from insync.kafka.releases import StaleReply, Truncation
from insync.kafka.replica import Replica
from insync.model import And, Arrow, Condition, Drawn, If, Mark, Not, Num, Or, minimum, record, require, when

__all__ = ["FetchResponse", "FetchResponses"]


@dataclass(frozen=True, slots=True)
class FetchResponse:
    """What a leader answers to a fetch.

    Attributes:
        offset: where the follower fetched.
        has_record: whether there is a record.
        record: the record at that offset.
        hw: the leader's high watermark before it counted this fetch.
        diverging: whether the logs diverge before the offset, or it is beyond the leader's; then there is no record.
        epoch: the largest epoch of the leader up to the follower's, where they diverge.
        end: the end of that epoch at the leader, or the leader's log end where the offset is beyond it.
        log_start: where the leader's log begins.
        refused: whether it is an error, as the offset is outside the leader's log.
    """

    offset: Num
    has_record: Condition
    record: Num
    hw: Num
    diverging: Condition
    epoch: Num | int
    end: Num
    log_start: Num
    refused: Condition = False


def _draw_receive(moment: Moment) -> Sequence[Drawn]:
    """The response to the follower's last fetch, from the broker that it fetched from."""
    follower = moment.given["follower"]
    fetches = (one for one in reversed(moment.steps[:-1]) if one.action == "fetch")
    asked = next((one for one in fetches if one.parameters["follower"] == follower), None)
    if asked is None:
        return [Mark(follower, f"receives {what_came(moment)}")]
    return [Arrow(asked.parameters["leader"], follower, what_came(moment), reply=True)]


class FetchResponses(Part):
    """What becomes of a response between leader and follower."""

    @step(
        "{follower} receives the response",
        drawn=_draw_receive,
        by_view=True,
        classes=Coded("`AbstractFetcherThread.processFetchRequest`"),
    )
    def receive(self, s: ClusterState, follower: Replica) -> None:
        """A fetch's response arrives; it is used if the follower's log still ends where it did when it asked.

        After OFFSET_OUT_OF_RANGE the follower asks for the ends of the leader's log, and changes nothing if it gets no
        answer: the fetch is tried again.
        Kafka: AbstractFetcherThread.processFetchRequest, truncateOnFetchResponse, handleOutOfRangeError.
        """
        waiting = s.broker[follower].fetch_response
        require(waiting.waiting, s.broker[follower].running)
        with when(Or(Not(self.is_out_of_range(s, follower)), self.answers_list_offsets(s, follower))):
            self.cluster.fetcher.process(s, follower, self._kept(waiting))
        self.forget_response(s, follower)

    def is_out_of_range(self, s: ClusterState, follower: Replica) -> Condition:
        """Whether the response that arrives is OFFSET_OUT_OF_RANGE.

        The fetch was below the start of the leader's log, or beyond its end. The latter is a divergence here, of an
        epoch above all that the follower has; one that the leader names is none of these (see `FetcherThread.answer`).
        """
        f = s.broker[follower]
        return Or(
            f.fetch_response.offset < f.fetch_response.log_start,
            And(f.fetch_response.diverging, f.fetch_response.epoch > f.latest_epoch),
        )

    def answers_list_offsets(self, s: ClusterState, follower: Replica) -> Condition:
        """Whether the leader that a follower believes in says where its log begins and ends.

        It must lead, and since KIP-320 in the epoch of the follower: else it answers NOT_LEADER_OR_FOLLOWER,
        FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH.
        Kafka: ReplicaManager.fetchOffsetForTimestamp, Partition.localLogWithEpochOrThrow.
        """
        cluster = self.cluster
        view, answers = cluster.image.registration_of(s, follower), []
        for other, is_other in self.beside(follower):
            same = cluster.image.registration_of(s, other).epoch == view.epoch if self.rules.fence_fetch else True
            answers.append(And(is_other, view.leader == other, cluster.image.leads(s, other), same))
        return Or(*answers)

    @step(
        "{follower} receives the response that {leader} sends now",
        needs=delay("{leader} has handled a fetch of {follower}, and sends the answer when its log has changed"),
        drawn=reply("leader", "follower", what_came),
        by_view=True,
        classes=Coded(
            "`AbstractFetcherThread.processFetchRequest`, with the bytes that are in that part of the "
            "leader's file by then"
        ),
        on=lambda f: f.late_fetch_responses,
    )
    def receive_rewritten(self, s: ClusterState, follower: Replica, leader: Replica) -> None:
        """A response arrives with the bytes that the leader's file has as it is sent, and those have changed meanwhile.

        The leader handles a fetch, and notes just which part of its file is the answer. Before it sends them it may
        follow another leader, truncate and append records of a later epoch there (KAFKA-18723). The high watermark
        and that the logs do not part are as they were.
        Kafka: FileRecords.writeTo, LogSegment.read.
        """
        cluster = self.cluster
        f, l = s.broker[follower], s.broker[leader]
        require(follower != leader, f.running, cluster.image.is_online(s, leader))
        require(f.fetch_response.waiting, f.fetch_response.unsent)
        require(
            cluster.image.registration_of(s, follower).leader == leader,
            f.fetch_response.offset < l.leo,
            l.log_start <= f.fetch_response.offset,
        )
        now = l.log[minimum(f.fetch_response.offset, self.b.records - 1)]
        require(Not(f.fetch_response.record == now))
        cluster.fetcher.process(s, follower, replace(self._kept(f.fetch_response), record=now))
        self.forget_response(s, follower)

    def send(self, s: ClusterState, follower: Replica, response: FetchResponse) -> None:
        """Let a response arrive, at once or late."""
        if not self.features.late_fetch_responses:
            self.cluster.fetcher.process(s, follower, response)
            return
        s.broker[follower].fetch_response = record(
            waiting=True,
            unsent=response.has_record,
            offset=response.offset,
            record=If(response.has_record, response.record, None),
            hw=response.hw,
            diverging=response.diverging,
            epoch=If(response.diverging, response.epoch, 0),
            end=If(response.diverging, response.end, 0),
            log_start=response.log_start,
        )

    def _kept(self, waiting: FetchResponseState) -> FetchResponse:
        """The response as the leader made it when it handled the fetch."""
        return FetchResponse(
            offset=waiting.offset,
            has_record=waiting.record.is_some(),
            record=waiting.record.or_else(0),
            hw=waiting.hw,
            diverging=waiting.diverging,
            epoch=waiting.epoch,
            end=waiting.end,
            log_start=waiting.log_start,
        )

    def send_responses(self, s: ClusterState, leader: Replica) -> None:
        """What a leader that goes down has not sent yet is lost, so what still arrives was sent before."""
        if self.features.late_fetch_responses:
            for follower, is_other in self.beside(leader):
                with when(And(is_other, self.cluster.image.registration_of(s, follower).leader == leader)):
                    s.broker[follower].fetch_response.unsent = False

    def drops_response(self, s: ClusterState, follower: Replica, same_leader: Condition) -> Condition:
        """Whether a response is dropped that arrives in a later epoch than it was asked for in.

        In Kafka a response is used if the partition is still with the fetcher that asked, which is one for each leader,
        and is ready for it; a leader that was followed before and is followed again counts as another one here.
        Kafka: AbstractFetcherThread.processFetchRequest, PartitionFetchState.isReadyForFetch.
        """
        if self.rules.drop_stale_reply is StaleReply.OTHER_EPOCH:
            return True
        unready = self.is_unready(s, follower, same_leader)
        if self.rules.drop_stale_reply is StaleReply.OTHER_LEADER:
            return Or(Not(same_leader), unready)
        return Or(And(Not(same_leader), Not(s.broker[follower].fetch_response.diverging)), unready)

    def is_unready(self, s: ClusterState, follower: Replica, same_leader: Condition) -> Condition:
        """Whether a follower is not ready for records as an epoch begins, because it has to truncate first.

        Since 2.8 that is who has no epoch in its cache: its log is empty, or all of it is deleted and it has started
        since then, or it began anew at an offset. It has no record to lose, and drops what comes meanwhile.
        Kafka: AbstractFetcherThread.partitionFetchState (executed on 3.7.0 to 4.4.0; read in 2.8.0).
        """
        if self.rules.truncation is Truncation.ON_FETCH:
            return s.broker[follower].latest_epoch < 0
        return And(self.rules.truncation.asks_first, self.cluster.epoch_requests.truncates_first(same_leader))

    def forget_response(self, s: ClusterState, follower: Replica) -> None:
        """No response is on its way any more."""
        s.broker[follower].fetch_response = record(
            waiting=False, unsent=False, offset=0, record=None, hw=0, diverging=False, epoch=0, end=0, log_start=0
        )
