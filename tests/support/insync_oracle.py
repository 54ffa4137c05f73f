"""A second, plain Python reading of the TLA+ modules: tuples and sets, nothing of insync.

It follows the modules operator by operator and is meant to be compared with them line by line; speed and the shape of
the state do not matter. `levels` counts the states at each depth, to be compared with what insync finds.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

NONE = None
NIL = -1

Record = tuple[int, int]  # id, epoch
Isr = frozenset[int]


class Replica(NamedTuple):
    hw: int
    epoch: int
    leader: int | None
    isr: Isr


class Quorum(NamedTuple):  # also a LeaderAndIsr request
    epoch: int
    leader: int | None
    isr: Isr


class State(NamedTuple):
    logs: tuple[tuple[Record, ...], ...]
    replicas: tuple[Replica, ...]
    next_record: int
    next_epoch: int
    requests: frozenset[Quorum]
    quorum: Quorum

    def with_log(self, replica: int, log: tuple[Record, ...]) -> State:
        return self._replace(logs=(*self.logs[:replica], log, *self.logs[replica + 1 :]))

    def with_replica(self, replica: int, value: Replica) -> State:
        return self._replace(replicas=(*self.replicas[:replica], value, *self.replicas[replica + 1 :]))

    def presumes(self, replica: int) -> bool:
        return self.replicas[replica].leader == replica

    def following(self, follower: int, leader: int) -> bool:
        return self.replicas[follower].leader == leader

    def end(self, replica: int) -> int:
        return len(self.logs[replica])


Step = Iterator[State]


class Variant:
    def __init__(self, name: str, replicas: int, log_size: int, max_records: int, max_leader_epoch: int) -> None:
        self.name, self.all, self.log_size = name, range(replicas), log_size
        self.max_records, self.max_epoch = max_records, max_leader_epoch

    def initial(self) -> State:
        nobody = Replica(0, NIL, NONE, frozenset())
        count = len(self.all)
        return State(((),) * count, (nobody,) * count, 0, 0, frozenset(), Quorum(NIL, NONE, frozenset(self.all)))

    def next(self, s: State) -> Step:
        for steps in (
            self.elect, self.controller_shrink, self.become_leader, self.expand, self.shrink, self.write,
            self.increment, self.become_follower, self.fetch, self.truncate,
        ):  # fmt: skip
            yield from steps(s)

    def controller_update(self, s: State, leader: int | None, isr: Isr) -> Step:
        if s.next_epoch <= self.max_epoch:
            new = Quorum(s.next_epoch, leader, isr)
            yield s._replace(quorum=new, next_epoch=s.next_epoch + 1, requests=s.requests | {new})

    def elect(self, s: State) -> Step:
        for leader in s.quorum.isr:
            if s.quorum.leader != leader:
                yield from self.controller_update(s, leader, s.quorum.isr)

    def controller_shrink(self, s: State) -> Step:
        for r in self.all:
            if s.quorum.leader == r:
                isr = s.quorum.isr
                yield from self.controller_update(s, NONE, isr if isr == {r} else isr - {r})
            elif r in s.quorum.isr:
                yield from self.controller_update(s, s.quorum.leader, s.quorum.isr - {r})

    def become_leader(self, s: State) -> Step:
        for request in s.requests:
            leader = request.leader
            if leader is not NONE and request.epoch > s.replicas[leader].epoch:
                yield s.with_replica(leader, Replica(s.replicas[leader].hw, request.epoch, leader, request.isr))

    def write(self, s: State) -> Step:
        for r in self.all:
            if s.presumes(r) and s.next_record < self.max_records and s.end(r) < self.log_size:
                log = (*s.logs[r], (s.next_record, s.replicas[r].epoch))
                yield s.with_log(r, log)._replace(next_record=s.next_record + 1)

    def quorum_update(self, s: State, leader: int, isr: Isr) -> Step:
        true = s.quorum.leader == leader and s.presumes(leader) and s.replicas[leader].epoch == s.quorum.epoch
        if true:
            changed = s.with_replica(leader, s.replicas[leader]._replace(isr=isr))
            yield changed._replace(quorum=s.quorum._replace(isr=isr))

    def shrink(self, s: State) -> Step:
        for leader in self.all:
            isr, end = s.replicas[leader].isr, s.end(leader)
            for r in isr - {leader}:
                if self.name == "kip320":
                    late = not self.in_epoch(s, leader, r) or s.end(r) < end
                else:
                    late = not self.caught_up(s, leader, r, end)
                if late:
                    yield from self.quorum_update(s, leader, isr - {r})

    def expand(self, s: State) -> Step:
        for leader in self.all:
            isr, hw = s.replicas[leader].isr, s.replicas[leader].hw
            for r in set(self.all) - isr:
                if self.name == "kip320":
                    reached = hw == 0 or hw - 1 < s.end(r)
                    ready = self.in_epoch(s, leader, r) and reached and self.reached_epoch(s, leader)
                elif self.name == "kip320_first_try":
                    ready = self.caught_up(s, leader, r, hw) and self.reached_epoch(s, leader)
                else:
                    ready = self.caught_up(s, leader, r, hw)
                if ready:
                    yield from self.quorum_update(s, leader, isr | {r})

    def caught_up(self, s: State, leader: int, follower: int, end: int) -> bool:
        first_try = self.name == "kip320_first_try"
        if first_try and not s.presumes(leader):
            return False
        if not s.following(follower, leader):
            return False
        if end == 0:
            return True
        at = end - 1
        if not (at < s.end(leader) and at < s.end(follower)):
            return False
        return not first_try or s.logs[leader][at][1] == s.logs[follower][at][1]

    def in_epoch(self, s: State, leader: int, follower: int) -> bool:
        same = s.replicas[follower].epoch == s.replicas[leader].epoch
        return s.presumes(leader) and s.following(follower, leader) and same

    def reached_epoch(self, s: State, leader: int) -> bool:
        hw = s.replicas[leader].hw
        if hw == s.end(leader):
            return True
        return hw < s.end(leader) and s.logs[leader][hw][1] == s.replicas[leader].epoch

    def increment(self, s: State) -> Step:
        for leader in self.all:
            hw, isr = s.replicas[leader].hw, s.replicas[leader].isr
            if self.name == "kip320":
                ready = hw < s.end(leader) and all(self.in_epoch(s, leader, r) and hw < s.end(r) for r in isr)
            elif self.name == "kip320_first_try":
                ready = s.presumes(leader) and hw < s.end(leader)
                ready = ready and all(self.caught_up(s, leader, r, hw + 1) for r in isr)
            else:
                ready = s.presumes(leader) and hw < self.log_size
                ready = ready and all(s.following(r, leader) and hw < s.end(r) for r in isr)
            if ready:
                yield s.with_replica(leader, s.replicas[leader]._replace(hw=hw + 1))

    def become_follower(self, s: State) -> Step:
        for leader in self.all:
            for r in self.all:
                for request in s.requests:
                    newer = request.leader == leader and request.epoch > s.replicas[r].epoch
                    if leader != r and newer:
                        yield from self.follow(s, r, leader, request)

    def follow(self, s: State, r: int, leader: int, request: Quorum) -> Step:
        hw = s.replicas[r].hw
        if self.name == "kip320_first_try":
            yield s.with_replica(r, Replica(hw, request.epoch, leader, request.isr))
            return
        if self.name == "kip320" and not (s.presumes(leader) and s.replicas[leader].epoch == request.epoch):
            return
        find: dict[str, Callable[[State, int, int], int]] = {
            "truncate_to_high_watermark": lambda s, leader, r: hw,
            "kip101": self.end_of_epoch,
        }
        end = find.get(self.name, self.first_non_matching)(s, leader, r)
        if end <= s.end(r):
            truncated = s.with_log(r, s.logs[r][:end])
            yield truncated.with_replica(r, Replica(min(end, hw), request.epoch, leader, request.isr))

    def end_of_epoch(self, s: State, leader: int, follower: int) -> int:
        if not s.logs[follower]:
            return 0
        epoch = s.logs[follower][-1][1]
        hw, log = s.replicas[follower].hw, s.logs[leader]
        if not log:
            return hw
        if log[-1][1] == epoch:
            return len(log)
        return min((at for at, record in enumerate(log) if record[1] > epoch), default=hw)

    def first_non_matching(self, s: State, leader: int, follower: int) -> int:
        pairs = zip(s.logs[leader], s.logs[follower], strict=False)
        return max((at + 1 for at, (a, b) in enumerate(pairs) if a == b), default=0)

    def fetch(self, s: State) -> Step:
        for r in self.all:
            for leader in self.all:
                at = s.end(r)
                if self.name == "kip320":
                    served = self.in_epoch(s, leader, r)
                elif self.name == "kip320_first_try":
                    served = self.caught_up(s, leader, r, at)
                else:
                    served = s.presumes(leader) and s.following(r, leader)
                if served and at < s.end(leader):
                    grown = s.with_log(r, (*s.logs[r], s.logs[leader][at]))
                    hw = min(s.replicas[leader].hw, at + 1)
                    yield grown.with_replica(r, s.replicas[r]._replace(hw=hw))

    def truncate(self, s: State) -> Step:
        if self.name != "kip320_first_try":
            return
        for leader in self.all:
            for r in self.all:
                if s.presumes(leader) and s.following(r, leader) and self.needs_truncation(s, r, leader):
                    end = self.first_non_matching(s, leader, r)
                    cut = s.with_log(r, s.logs[r][:end])
                    yield cut.with_replica(r, s.replicas[r]._replace(hw=min(end, s.replicas[r].hw)))

    def needs_truncation(self, s: State, r: int, leader: int) -> bool:
        if s.end(r) > s.end(leader):
            return True
        return bool(s.logs[r]) and s.logs[leader][s.end(r) - 1][1] != s.logs[r][-1][1]


class Async(NamedTuple):
    controller: tuple[Isr, int]
    isr: Isr
    version: int
    pending: Isr
    pending_version: int
    offsets: tuple[int, ...]
    requests: frozenset[tuple[Isr, int]]
    updates: frozenset[tuple[Isr, int]]


class AsyncIsr:
    """Bounded as TLC was: a state beyond max_offset or max_version is not counted and not explored."""

    def __init__(self, replicas: int, max_offset: int, max_version: int) -> None:
        self.all, self.max_offset, self.max_version = range(replicas), max_offset, max_version

    def initial(self) -> Async:
        everyone = frozenset(self.all)
        offsets = (0,) * len(self.all)
        return Async((everyone, 0), everyone, 0, frozenset(), NIL, offsets, frozenset(), frozenset())

    def next(self, s: Async) -> Iterator[Async]:
        for state in self.unbounded(s):
            if state.offsets[0] <= self.max_offset and state.controller[1] <= self.max_version:
                yield state

    def unbounded(self, s: Async) -> Iterator[Async]:
        isr, version = s.controller
        hw = min(s.offsets[r] for r in s.isr | s.pending)
        for r in self.all:
            if r != 0 and r in isr:
                yield self.announce(s, isr - {r})
            if r != 0 and r in s.isr:
                yield self.ask(s, s.isr - {r})
            if r not in s.isr and s.offsets[r] >= hw:
                yield self.ask(s, s.isr | {r})
            if r == 0 or s.offsets[r] < s.offsets[0]:
                yield s._replace(offsets=(*s.offsets[:r], s.offsets[r] + 1, *s.offsets[r + 1 :]))
        for asked, known in s.requests:
            if known == version:
                yield self.announce(s, asked)
        for new, number in s.updates:
            if number > s.version:
                yield s._replace(isr=new, version=number, pending=frozenset(), pending_version=NIL)

    def announce(self, s: Async, isr: Isr) -> Async:
        new = (isr, s.controller[1] + 1)
        return s._replace(controller=new, updates=s.updates | {new})

    def ask(self, s: Async, isr: Isr) -> Async:
        asked = s._replace(requests=s.requests | {(isr, s.version)}, pending=s.pending | isr)
        return asked._replace(pending_version=s.version)


def weak_isr(s: State) -> bool:
    return all(_replicated(s, r, s.replicas[r].isr) for r in range(len(s.logs)) if s.presumes(r))


def strong_isr(s: State) -> bool:
    return all(_replicated(s, r, s.quorum.isr) for r in range(len(s.logs)) if s.presumes(r))


def leader_in_isr(s: State) -> bool:
    return s.quorum.leader in s.quorum.isr


def _replicated(s: State, leader: int, isr: Isr) -> bool:
    committed = range(s.replicas[leader].hw)
    have = all(at < s.end(r) for r in {leader, *isr} for at in committed) if isr else True
    return have and all(s.logs[leader][at] == s.logs[r][at] for r in isr for at in committed)


INVARIANTS: dict[str, Callable[[State], bool]] = {
    "weak_isr": weak_isr,
    "strong_isr": strong_isr,
    "leader_in_isr": leader_in_isr,
}


class _Space:
    """The states that are first reached at each depth, found as far as they are asked for."""

    def __init__(self, model: Variant | AsyncIsr) -> None:
        self._model, self._found = model, [{model.initial()}]
        self._seen: set[State | Async] = set(self._found[0])

    def __iter__(self) -> Iterator[set[State | Async]]:
        for depth in itertools.count():
            if depth == len(self._found):
                self._expand()
            if not self._found[depth]:
                return
            yield self._found[depth]

    def _expand(self) -> None:
        step: Callable[..., Iterator[State | Async]] = self._model.next
        new = {after for state in self._found[-1] for after in step(state) if after not in self._seen}
        self._seen |= new
        self._found.append(new)


_space = functools.lru_cache(maxsize=1)(_Space)


def levels(model: Variant | AsyncIsr, invariant: Callable[..., bool] | None = None) -> list[int]:
    """Return how many states are first reached at depth 1, 2, ..., up to the level in which the invariant fails.

    The space of a model that is asked about several times in a row is walked once.
    """
    counts = []
    for level in _space(model):
        counts.append(len(level))
        if invariant is not None and not all(map(invariant, level)):
            break
    return counts
