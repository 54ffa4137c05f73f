"""What the properties and lemmas of Kafka's replication mean, written a second time from their sentences, in Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from insync.model import ReadableState

__all__ = ["MEANINGS", "RUN_MEANINGS", "Seen"]

Entry = tuple[int, int]
"""A record: its number and its epoch. What is not there counts as record 0 of epoch 0."""


class Seen:
    """A state of a model of replication, with numbers for names; producers write as many records as fit in a log."""

    def __init__(self, state: ReadableState) -> None:
        replicas: Mapping[str, Any] = state["replica"]
        self.members = range(len(replicas))
        number = {name: place for place, name in enumerate(replicas)}
        rows = list(replicas.values())
        self.log = [[entry and (int(entry["id"][1:]), int(entry["epoch"])) for entry in row["log"]] for row in rows]
        self.offsets = range(len(self.log[0]))
        self.leo, self.hw = ([row[key] for row in rows] for key in ("leo", "hw"))
        self.epoch = [-1 if row["epoch"] is None else int(row["epoch"]) for row in rows]
        self.leader = [number.get(row["leader"]) for row in rows]
        self.isr = [{number[name] for name in row["isr"]} for row in rows]
        self.chosen, self.voters = (
            number.get(state["quorum"]["leader"]),
            {number[name] for name in state["quorum"]["isr"]},
        )
        self.records, self.newest = state["next_record"], state["next_epoch"] - 1
        self.named = [number.get(one["leader"]) for one in state["requests"].values()]
        self.sent = [{number[name] for name in one["isr"]} for one in state["requests"].values()]
        self.epochs, self.most_records = range(len(self.named)), len(self.offsets)

    def entry(self, replica: int, offset: int) -> Entry:
        return self.log[replica][offset] or (0, 0)

    def records_of(self, replica: int) -> Iterator[tuple[int, int, int]]:
        """Offset, number and epoch of each record of a log."""
        return ((offset, *self.entry(replica, offset)) for offset in self.offsets if offset < self.leo[replica])

    def every_record(self) -> Iterator[tuple[int, int, int, int]]:
        return ((replica, *found) for replica in self.members for found in self.records_of(replica))

    def pairs(self) -> Iterator[tuple[int, int]]:
        return itertools.permutations(self.members, 2)

    def leads(self, replica: int) -> bool:
        return self.leader[replica] == replica

    def is_newest(self, replica: int) -> bool:
        """Whether a replica is in the newest epoch, if there is one."""
        return bool(0 <= self.newest == self.epoch[replica])

    def agree(self, one: int, other: int, offset: int) -> bool:
        """Whether both have a record there, and the same one."""
        both = offset < min(self.leo[one], self.leo[other])
        return both and self.log[one][offset] == self.log[other][offset]

    def with_leader(self, leader: int, follower: int) -> bool:
        """Whether a replica follows another one, which leads, in the same epoch."""
        same = self.epoch[leader] == self.epoch[follower]
        return self.leads(leader) and self.leader[follower] == leader and same

    def isr_of(self, epoch: int, otherwise: set[int] | None = None) -> set[int]:
        """That of the leader while it is in the epoch, else the one that was sent."""
        leader = self.named[epoch]
        if leader is not None and self.epoch[leader] == epoch:
            return self.isr[leader]
        return self.sent[epoch] if otherwise is None else otherwise

    def is_left(self, epoch: int) -> bool:
        return any(self.epoch[member] > epoch for member in self.isr_of(epoch))

    def copies(self, leader: int, isr: set[int]) -> bool:
        """Whether all of an ISR have what a replica has committed."""
        return all(self.agree(leader, member, offset) for member in isr for offset in range(self.hw[leader]))

    def kept_since(self, commit: int, replica: int, offset: int) -> bool:
        """Whether a record may have been committed in an epoch: all members since are in it or later, and have it."""
        later = [self.sent[e] for e in self.epochs if e > commit]
        isrs = [self.voters, *later, *(self.isr_of(e, self.voters) for e in self.epochs if e >= commit)]
        kept = (self.epoch[m] >= commit and self.agree(replica, m, offset) for isr in isrs for m in isr)
        return self.epoch[replica] >= commit and all(kept)


def _unique(s: Seen) -> bool:
    both = itertools.combinations(s.every_record(), 2)
    return all(a[1] == b[1] and a[3] == b[3] for a, b in both if a[2] == b[2])


def _named(s: Seen, epoch: int) -> bool:
    leader = s.named[epoch]
    return epoch <= s.newest and leader is not None and s.epoch[leader] >= epoch


def _believes(s: Seen, replica: int) -> bool:
    epoch, leader = s.epoch[replica], s.leader[replica]
    return leader is None if epoch < 0 else leader is not None and epoch <= s.newest and leader == s.named[epoch]


def _newest(s: Seen) -> bool:
    if s.newest < 0:
        return s.chosen is None
    return s.newest not in s.epochs or (s.chosen == s.named[s.newest] and s.voters == s.isr_of(s.newest))


def _shrinks(s: Seen, epoch: int) -> bool:
    later = [s.voters, *(s.sent[e] for e in s.epochs if e > epoch)]
    return epoch > s.newest or s.is_left(epoch) or all(isr <= s.isr_of(epoch) for isr in later)


MEANINGS: dict[str, Callable[[Seen], bool]] = {
    # properties
    "weak_isr": lambda s: all(s.copies(r, s.isr[r]) for r in s.members if s.leads(r)),
    "strong_isr": lambda s: all(s.copies(r, s.voters) for r in s.members if s.leads(r)),
    "leader_in_isr": lambda s: s.chosen in s.voters,
    "well_formed_log": lambda s: all((o < s.leo[r]) == (s.log[r][o] is not None) for r in s.members for o in s.offsets),
    # the logs
    "log_epochs_never_decrease": lambda s: all(
        [e for _, _, e in s.records_of(r)] == sorted(e for _, _, e in s.records_of(r))
        and all(e <= s.epoch[r] for _, _, e in s.records_of(r))
        for r in s.members
    ),
    "record_epochs_had_a_leader": lambda s: all(_named(s, epoch) for _, _, _, epoch in s.every_record()),
    "equal_records_have_equal_pasts": lambda s: all(
        s.agree(a, b, o - 1) for a, b in s.pairs() for o in s.offsets if o > 0 and s.agree(a, b, o)
    ),
    "followers_have_a_prefix": lambda s: all(
        s.agree(a, b, o) for a, b in s.pairs() if s.with_leader(a, b) for o in range(s.leo[b])
    ),
    "record_ids_are_unique": _unique,
    "leader_has_all_of_its_epoch": lambda s: all(
        s.agree(leader, r, o)
        for r, o, _, epoch in s.every_record()
        for leader in s.members
        if s.leads(leader) and s.epoch[leader] == epoch
    ),
    "epoch_and_offset_name_a_record": lambda s: all(
        a[2] == b[2] for a, b in itertools.combinations(s.every_record(), 2) if (a[1], a[3]) == (b[1], b[3])
    ),
    # the state, the requests, the quorum
    "log_is_blank_from_its_end": lambda s: all(
        (o < s.leo[r]) == (s.log[r][o] is not None) for r in s.members for o in s.offsets
    ),
    "high_watermark_is_within_the_log": lambda s: all(s.hw[r] <= s.leo[r] for r in s.members),
    "unsent_requests_are_blank": lambda s: all(s.named[e] is None and not s.sent[e] for e in s.epochs if e > s.newest),
    "record_ids_are_old": lambda s: all(number < s.records for _, _, number, _ in s.every_record()),
    "leader_is_in_its_isr": lambda s: (
        all(s.named[e] is None or s.named[e] in s.sent[e] for e in s.epochs)
        and all(r in s.isr[r] for r in s.members if s.leads(r))
    ),
    "quorum_is_the_newest_request": _newest,
    "replicas_believe_their_request": lambda s: all(_believes(s, r) for r in s.members),
    "leaders_enter_their_epoch_first": lambda s: all(
        s.epoch[r] <= s.epoch[leader] for r, leader in enumerate(s.leader) if leader is not None
    ),
    "isr_shrinks_until_left": lambda s: all(_shrinks(s, e) for e in s.epochs),
    # what is committed
    "leader_commits_its_epoch": lambda s: all(
        o < s.hw[s.chosen] for r, o, _, e in s.every_record() if o < s.hw[r] and e == s.newest and s.chosen is not None
    ),
    "committed_records_are_kept": lambda s: all(
        any(s.kept_since(e, r, o) for e in s.epochs) for r in s.members for o in range(s.hw[r])
    ),
    "logs_agree_below_high_watermarks": lambda s: all(
        s.agree(a, b, o) for a, b in s.pairs() for o in range(min(s.hw[a], s.hw[b]))
    ),
    "followers_trail_the_high_watermark": lambda s: all(
        s.hw[b] <= s.hw[a] for a, b in s.pairs() if s.with_leader(a, b)
    ),
}
"""For each property and lemma, whether it holds in a state."""


def _has(s: Seen, replica: int, record: int, *, committed: bool) -> bool:
    end = s.hw[replica] if committed else s.leo[replica]
    return any(entry is not None and entry[0] == record for entry in s.log[replica][:end])


def _somewhere(s: Seen, record: int, *, committed: bool) -> bool:
    return any(_has(s, replica, record, committed=committed) for replica in s.members)


def _everywhere(s: Seen, record: int) -> bool:
    return all(_has(s, replica, record, committed=False) for replica in s.members)


RUN_MEANINGS: dict[str, Callable[..., tuple[bool | None, bool]]] = {
    "committed_everywhere": lambda s: (None, min(s.hw) > 0),
    "all_records_committed": lambda s: (None, all(_somewhere(s, r, committed=True) for r in range(s.most_records))),
    "agreed_leader": lambda s: (None, s.leads(s.chosen or 0) and s.chosen is not None and s.is_newest(s.chosen)),
    "two_leaders": lambda s: (None, sum(map(s.leads, s.members)) >= 2),
    "logs_diverge": lambda s: (
        None,
        any(s.log[a][o] != s.log[b][o] for a, b in s.pairs() for o in range(min(s.leo[a], s.leo[b]))),
    ),
    "partition_gets_a_leader": lambda s: (None, any(map(s.leads, s.members)) or s.newest == len(s.epochs) - 1),
    "back_in_isr": lambda s, replica: (replica not in s.voters, replica in s.voters or s.chosen is None),
    "accepted_is_settled": lambda s, record: (
        _somewhere(s, record, committed=False),
        s.chosen is None or _somewhere(s, record, committed=True) or not _somewhere(s, record, committed=False),
    ),
    "acknowledged_is_everywhere": lambda s, record: (
        _somewhere(s, record, committed=True),
        s.chosen is None or _everywhere(s, record),
    ),
}
"""For each property of runs and its binding, whether what it waits for is so in a state, and what must come."""
