"""A bridge with a single lane: the TLA+ module SingleLaneBridge."""

from __future__ import annotations

from insync.model import And, Array, Bound, BoundValues, Bounds, Condition, If, Implies, Index, Int, Model, Not, Num
from insync.model import Or, Seq, State, StateView, action, bound, for_all, invariant, require, when


class Car(Index):
    """First those that drive to the right, which is to lower positions, then those that drive to the left."""

    size = bound("right") + bound("left")


class SingleLaneBridge(Model):
    """Cars wait in a queue until nobody on the bridge drives the other way."""

    bounds = Bounds(
        right=Bound(2, 1, 3, "cars that drive to the right"),
        left=Bound(2, 1, 3, "cars that drive to the left"),
        road=Bound(8, 4, 12, "the last position, after which comes the first one again"),
        begin=Bound(4, 2, 8, "where the bridge begins"),
        end=Bound(5, 2, 9, "where the bridge ends"),
    )
    headline = ("no_crash", "one_direction")

    def declare(self, b: BoundValues) -> State:
        return State(position=Array(Car, Int(1, b.road)), waiting=Seq(Car, b.right + b.left))

    def initial(self, s: StateView) -> None:
        for car in self.all(Car):
            s.position[car] = self.b.road if self.drives_right(car) else 1

    def drives_right(self, car: Car) -> bool:
        return car < self.b.right

    def on_bridge(self, position: Num) -> Condition:
        return And(position >= self.b.begin, position <= self.b.end)

    def ahead(self, s: StateView, car: Car) -> Num:
        here, last = s.position[car], self.b.road
        return If(here == 1, last, here - 1) if self.drives_right(car) else If(here == last, 1, here + 1)

    def is_free(self, s: StateView, position: Num) -> Condition:
        return for_all(Car, lambda car: s.position[car] != position)

    def move(self, s: StateView, car: Car) -> None:
        s.position[car] = self.ahead(s, car)
        with when(s.position[car] == (self.b.end + 1 if self.drives_right(car) else self.b.begin - 1)):
            s.waiting.append(car)

    @action
    def move_outside(self, s: StateView, car: Car) -> None:
        require(Not(self.on_bridge(self.ahead(s, car))))
        self.move(s, car)

    @action
    def move_on_bridge(self, s: StateView, car: Car) -> None:
        require(self.on_bridge(s.position[car]), self.is_free(s, self.ahead(s, car)))
        self.move(s, car)

    @action
    def enter(self, s: StateView, car: Car) -> None:
        """The first in the queue goes, if nobody on the bridge comes the other way and there is room."""
        require(Not(s.waiting.is_empty()), s.waiting.first == car, Not(self.on_bridge(s.position[car])))
        others = [other for other in self.all(Car) if self.drives_right(other) != self.drives_right(car)]
        require(for_all(others, lambda other: Not(self.on_bridge(s.position[other]))))
        require(self.is_free(s, self.ahead(s, car)))
        s.waiting.take_first()
        s.position[car] = self.ahead(s, car)

    @invariant
    def no_crash(self, s: StateView, a: Car, b: Car) -> Condition:
        """No two cars are at one place of the bridge."""
        return Or(a == b, s.position[a] != s.position[b], Not(self.on_bridge(s.position[a])))

    @invariant
    def one_direction(self, s: StateView, a: Car, b: Car) -> Condition:
        """All cars on the bridge drive in one direction."""
        both = And(self.on_bridge(s.position[a]), self.on_bridge(s.position[b]))
        return Implies(both, self.drives_right(a) == self.drives_right(b))
