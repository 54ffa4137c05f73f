"""An allocator of resources that keeps a schedule: the TLA+ module SchedulingAllocator."""

from __future__ import annotations

from itertools import permutations

from insync.model import And, Array, Bound, BoundValues, Bounds, Condition, If, Implies, Index, Model, Not, Or, Range
from insync.model import Seq, Set, SetValue, State, StateView, Subset, action, bound, for_all, invariant, require
from insync.model import when


class Client(Index):
    """Somebody who needs resources."""

    size = bound("clients")


class Resource(Index, symmetric=True):
    """What only one client may have at a time."""

    size = bound("resources")


class Wanted(Subset, of=Resource):
    """Some of the resources."""


class Order(Index):
    """Some of the clients in some order."""

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return len(cls.orders(bounds.clients))

    @staticmethod
    def orders(clients: int) -> list[tuple[int, ...]]:
        return [order for n in range(1, clients + 1) for order in permutations(range(clients), n)]


class Place(Range):
    """A place of the schedule."""

    lo, hi = 0, bound("clients") - 1


class SchedulingAllocator(Model):
    """Who is earlier in the schedule gets what it asked for first; requests may be granted in parts."""

    bounds = Bounds(clients=Bound(3, 1, 3, "clients"), resources=Bound(2, 1, 3, "resources"))
    headline = ("one_owner", "scheduled_clients_wait", "schedule_is_respected", "requests_can_be_granted")

    def declare(self, b: BoundValues) -> State:
        return State(
            requested=Array(Client, Set(Resource)),
            allocated=Array(Client, Set(Resource)),
            schedule=Seq(Client, b.clients),
        )

    def available(self, s: StateView) -> SetValue:
        taken = s.allocated[0]
        for c in self.all(Client)[1:]:
            taken |= s.allocated[c]
        return set(self.all(Resource)) - taken

    @action
    def request(self, s: StateView, c: Client, wanted: Wanted) -> None:
        require(wanted.count() > 0, s.requested[c].is_empty(), s.allocated[c].is_empty())
        s.requested[c] = wanted

    @action
    def allocate(self, s: StateView, c: Client, given: Wanted, place: Place) -> None:
        """Give a client in the schedule what nobody before it has requested."""
        require(given.count() > 0, given.is_subset(self.available(s) & s.requested[c]))
        require(place < s.schedule.length, s.schedule[place] == c)
        require(for_all(range(place), lambda j: (s.requested[s.schedule[j]] & given).is_empty()))
        with when(s.requested[c] == given):
            s.schedule.take(place)
        s.allocated[c] |= given
        s.requested[c] -= given

    @action
    def give_back(self, s: StateView, c: Client, returned: Wanted) -> None:
        require(returned.count() > 0, returned.is_subset(s.allocated[c]))
        s.allocated[c] -= returned

    @action
    def extend(self, s: StateView, order: Order) -> None:
        """Put all clients that wait and are not in the schedule at its end, in any order."""
        chosen = Order.orders(self.b.clients)[order]
        for c in self.all(Client):
            waits = And(Not(s.requested[c].is_empty()), Not(s.schedule.contains(c)))
            require(waits == (c in chosen))
        for c in chosen:
            s.schedule.append(c)

    @invariant
    def one_owner(self, s: StateView, a: Client, b: Client) -> Condition:
        """No resource is allocated to two clients."""
        return Or(a == b, (s.allocated[a] & s.allocated[b]).is_empty())

    @invariant
    def scheduled_clients_wait(self, s: StateView) -> Condition:
        """Whoever is in the schedule still needs something."""
        return for_all(s.schedule, lambda c: Not(s.requested[c].is_empty()))

    @invariant
    def schedule_is_respected(self, s: StateView, i: Place, j: Place) -> Condition:
        """Nobody holds what somebody earlier in the schedule waits for."""
        held, wanted = s.allocated[s.schedule[i]], s.requested[s.schedule[j]]
        return Or(i <= j, i >= s.schedule.length, (held & wanted).is_empty())

    @invariant
    def requests_can_be_granted(self, s: StateView) -> Condition:
        """What is free, or comes free when those before have had theirs, is enough for each in the schedule."""
        enough, granted = self.available(s), []
        for c in self.all(Client):
            enough |= If(s.schedule.contains(c), set(), s.allocated[c])
        for i in range(self.b.clients):
            c = s.schedule[i]
            granted.append(Implies(i < s.schedule.length, s.requested[c].is_subset(enough)))
            enough |= s.requested[c] | s.allocated[c]
        return And(*granted)
