"""What all releases do alike: guards of the protocol, which entries of the catalogue take away one at a time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

__all__ = ["Counting", "Guards"]


class Counting(Enum):
    """Which set a leader's high watermark waits for while its own proposal is pending (KIP-497)."""

    MAXIMAL = "every member of the committed or of the proposed ISR"
    COMMITTED = "the members of the committed ISR alone: an expansion does not count yet"
    PROPOSED = "the members of the proposed ISR alone: a shrink counts already"


@dataclass(frozen=True, slots=True)
class Guards:
    """The rules that every release has."""

    lost_reply_ends_session: Annotated[
        bool, "A follower that has missed a response begins another session, and is answered in full: KIP-227."
    ] = True
    join_needs_fetch: Annotated[
        bool, "A follower joins the ISR only once it has fetched in the leader's epoch (Vanlightly's CHECK, M4)."
    ] = True
    join_needs_watermark: Annotated[
        bool, "A follower joins the ISR only once it has reached the high watermark (Vanlightly's CHECK, M5)."
    ] = True
    slowness_has_a_budget: Annotated[
        bool,
        "A leader drops slow followers isr_shrinks times at most; without this rule there is no limit.",
    ] = True
    forget_followers: Annotated[
        bool, "A leader in a new epoch forgets what it knew of followers outside the ISR (Vanlightly's CHECK, R-18)."
    ] = True
    counting: Annotated[Counting, "Which ISR the high watermark waits for: KIP-497 (2.7)."] = Counting.MAXIMAL
    compare_partition_epoch: Annotated[
        bool, "A change of the ISR is refused if the partition has changed meanwhile: KIP-497, KAFKA-12367 (3.0)."
    ] = True
    retry_keeps_partition_epoch: Annotated[
        bool, "A request for an ISR that is sent again names the partition epoch with which it was made: KIP-497."
    ] = True
    cancel_needs_member: Annotated[
        bool, "A reassignment may be taken back only if the ISR has one of the old replicas, or with unclean elections."
    ] = True
    elects_in_order: Annotated[
        bool,
        "Where several may lead, the first in the order of replicas does, which counts with replica_order_changes.",
    ] = True
    fetcher_begins_at_log_end: Annotated[
        bool,
        "A fetcher begins where the log ends when the one before it has stopped: KAFKA-13266 (fixed before 3.0).",
    ] = True
    reply_matches_offset: Annotated[
        bool, "A response is used only if the log still ends where it was fetched (Vanlightly's CHECK, M7)."
    ] = True
    waiting_writes_need_leader: Annotated[
        bool,
        "A write that waits for a high watermark is answered by a leader alone, as producers are; a group coordinator "
        "looked at offsets, also where another broker led: KAFKA-20634.",
    ] = True
    fence_one_at_a_time: Annotated[
        bool, "The controller fences one broker in each event: KAFKA-13173 (3.0; not in the early access of 2.8)."
    ] = True
    brokers_refuse_deposed: Annotated[
        bool, "A broker refuses requests with a lower controller epoch than it knows (STALE_CONTROLLER_EPOCH)."
    ] = True
    brokers_hear_committed: Annotated[
        bool, "Brokers learn of a decision when a majority of the controllers has it: KIP-595, KIP-631."
    ] = True
    answers_wait_for_commit: Annotated[
        bool, "A controller answers when a majority has what it has decided: ControllerWriteEvent, DeferredEventQueue."
    ] = True
    lost_decisions_are_undone: Annotated[
        bool, "A controller that loses its leadership forgets what is not committed: OffsetControlManager.deactivate."
    ] = True
    controller_watches_all: Annotated[
        bool,
        "A controller that becomes active watches the sessions of all brokers, also of those that never "
        "send it a heartbeat: KAFKA-18138, missing in no release.",
    ] = True
    same_incarnation_keeps_epoch: Annotated[
        bool,
        "A broker that registers once more while it runs keeps its broker epoch: KAFKA-16952 (3.9); without this rule "
        "brokers do so, as KIP-858 has them do after an upgrade.",
    ] = True
    throttle_spares_isr: Annotated[bool, "A quota holds back replicas outside the ISR alone: KIP-73 (0.10.1)."] = True
    swap_needs_whole_copy: Annotated[
        bool, "A log is replaced by its copy in another directory only once the copy has all of it: KIP-113 (1.1)."
    ] = True
    producer_keeps_id: Annotated[
        bool, "A producer that starts anew keeps its id and gets the next epoch, as with transactional.id: KIP-98."
    ] = True
    old_producers_are_fenced: Annotated[
        bool, "A leader refuses a lower epoch of a producer than its log has last: ProducerAppendInfo, KIP-98."
    ] = True
    low_watermark_counts_live: Annotated[
        bool, "A deletion is answered when all replicas that are not fenced have done it, in the ISR or not: KIP-107."
    ] = True
    failed_directory_report_arrives: Annotated[
        bool, "What a broker tells of a directory that has failed arrives some time; by KAFKA-19289 it may never do so."
    ] = True
