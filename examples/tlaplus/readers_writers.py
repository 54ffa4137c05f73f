"""Readers and writers who wait in one queue: the TLA+ module ReadersWriters."""

from __future__ import annotations

import enum

from insync.model import Bound, BoundValues, Bounds, Condition, Index, Model, Not, Or, Record, Seq, Set, State
from insync.model import StateView, action, always_eventually, bound, invariant, require, when


class Actor(Index):
    """Somebody who reads and writes."""

    size = bound("actors")


class Wish(enum.Enum):
    """What somebody waits for."""

    READ = 0
    WRITE = 1


class ReadersWriters(Model):
    """Requests are served in their order: any number may read at once, or one may write."""

    bounds = Bounds(actors=Bound(3, 1, 4, "readers and writers"))
    headline = ("no_reader_beside_a_writer", "one_writer")

    def declare(self, b: BoundValues) -> State:
        request = Record(wish=Wish, actor=Actor)
        return State(readers=Set(Actor), writers=Set(Actor), waiting=Seq(request, 2 * b.actors))

    @action
    def ask(self, s: StateView, actor: Actor, wish: Wish) -> None:
        require(Not(s.waiting.contains(wish=wish, actor=actor)))
        s.waiting.append(wish=wish, actor=actor)

    @action
    def serve(self, s: StateView) -> None:
        """The first in the queue begins, if nobody is in the way."""
        require(Not(s.waiting.is_empty()), s.writers.is_empty())
        first = s.waiting.take_first()
        require(Or(first.wish == Wish.READ, s.readers.is_empty()))
        with when(first.wish == Wish.READ):
            s.readers |= {first.actor}
        with when(first.wish == Wish.WRITE):
            s.writers |= {first.actor}

    @action
    def stop_reading(self, s: StateView, actor: Actor) -> None:
        require(s.readers.contains(actor))
        s.readers -= {actor}

    @action
    def stop_writing(self, s: StateView, actor: Actor) -> None:
        require(s.writers.contains(actor), Not(s.readers.contains(actor)))
        s.writers -= {actor}

    @invariant
    def no_reader_beside_a_writer(self, s: StateView) -> Condition:
        """Nobody reads while somebody writes."""
        return Or(s.readers.is_empty(), s.writers.is_empty())

    @invariant
    def one_writer(self, s: StateView) -> Condition:
        """No two write at once."""
        return s.writers.count() <= 1

    @always_eventually(weak=("ask(actor, wish)", "serve", "stop_reading(actor) | stop_writing(actor)"))
    def reads_and_rests(self, s: StateView, actor: Actor, reads: bool) -> Condition:
        """Everybody reads again and again, and does not read again and again."""
        return s.readers.contains(actor) == reads

    @always_eventually(weak=("ask(actor, wish)", "serve", "stop_reading(actor) | stop_writing(actor)"))
    def writes_and_rests(self, s: StateView, actor: Actor, writes: bool) -> Condition:
        """Everybody writes again and again, and does not write again and again."""
        return s.writers.contains(actor) == writes
