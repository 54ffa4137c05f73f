"""KIP-101 (Kafka 0.11): a new follower asks the leader where the epoch of its last record ends."""

from __future__ import annotations

from insync.kafka.published.replication import Replica, Replication
from insync.model import And, If, Num, Or, StateView, minimum, require

__all__ = ["Kip101"]


class Kip101(Replication):
    """KIP-101: records carry the leader epoch, and a new follower truncates to where its last epoch ends at the leader.

    Unlike the code, which takes the lesser of the two, the module does not let a replica become follower while
    the leader's answer lies beyond the follower's own log end. Any replica answers, even one that does not lead.
    """

    def truncation_offset(self, s: StateView, leader: Replica, follower: Replica) -> Num:
        """The leader's answer for the epoch of the follower's last record (TLA+: LookupOffsetForEpoch).

        That is the leader's log end if its last record has that epoch, else the first of its offsets with a larger
        epoch, else the follower's high watermark. An empty follower stays empty.
        """
        f, l = s.replica[follower], s.replica[leader]
        asked = self.epoch_at(s, follower, f.leo - 1)
        later = [And(offset < l.leo, self.epoch_at(s, leader, offset) > asked) for offset in range(self.b.log_size)]
        first_later = minimum(*[If(is_later, offset, self.b.log_size) for offset, is_later in enumerate(later)])
        ends_with_asked = And(l.leo > 0, self.epoch_at(s, leader, l.leo - 1) == asked)
        answer = If(ends_with_asked, l.leo, If(Or(*later), first_later, f.hw))
        end = If(f.leo == 0, 0, answer)
        require(end <= f.leo)
        return end
