"""A toy post office: messages in a sequence, in a bag, and in sets of both kinds."""

from __future__ import annotations

import enum

from insync.model import (
    And,
    Bag,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Implies,
    Index,
    Int,
    Model,
    Not,
    Option,
    Range,
    Record,
    Seq,
    SetOf,
    State,
    StateView,
    action,
    bound,
    count,
    exists,
    for_all,
    invariant,
    require,
    sum_of,
    when,
)

__all__ = ["Letter", "Post"]


class Home(Index):
    """Where letters go."""

    size = bound("homes")


class Letter(enum.Enum):
    """What a letter is."""

    QUESTION = 0
    ANSWER = 1


class Slot(Range):
    """A place in the bag."""

    lo, hi = 0, 1


class Post(Model):
    """Letters are queued, travel in a bag in any order, and are remembered; without `careful` the bag may overflow."""

    bounds = Bounds(
        homes=Bound(2, 1, 3, "homes"),
        room=Bound(2, 1, 3, "letters in the bag"),
        careful=Bound(1, 0, 1, "whether the bag is looked at before a letter is put into it"),
    )
    headline = ("answers_were_questions", "nothing_is_lost")

    def declare(self, b: BoundValues) -> State:
        letter = Record(kind=Letter, to=Home, page=Option(Int(1, 2)))
        return State(queue=Seq(letter, 2), bag=Bag(letter, b.room), asked=SetOf(Home, 2), heard=SetOf(letter))

    @action
    def ask(self, s: StateView, home: Home) -> None:
        """Queue a question for a home that was not asked."""
        require(s.queue.length < 2, Not(s.asked.contains(home)), s.asked.length < 2)
        s.queue.append(kind=Letter.QUESTION, to=home)
        s.asked.add(home)

    @action
    def fetch(self, s: StateView) -> None:
        """Take a letter from the queue into the bag, which has to have room for it."""
        require(Not(s.queue.is_empty()))
        if self.b.careful:
            require(s.bag.length < self.b.room)
        letter = s.queue.take_first()
        s.bag.add(kind=Letter.ANSWER, to=letter.to, page=1)

    @action
    def deliver(self, s: StateView, slot: Slot) -> None:
        """Deliver any letter of the bag; a second one about the same page is about the next."""
        require(slot < s.bag.length)
        letter = s.bag[slot]
        s.bag.remove(letter)
        with when(s.heard.contains(kind=Letter.ANSWER, to=letter.to, page=1)):
            s.heard.add(kind=letter.kind, to=letter.to, page=2)
        s.heard.add(letter)

    @action
    def forget(self, s: StateView, home: Home) -> None:
        """Be ready to ask a home again whose letter was heard."""
        require(s.asked.contains(home), exists(s.heard, lambda letter: letter.to == home))
        s.asked.remove(home)

    @invariant
    def answers_were_questions(self, s: StateView) -> Condition:
        """Whoever answers was asked, or was heard before."""
        return for_all(
            s.bag,
            lambda letter: And(
                letter.kind == Letter.ANSWER,
                Implies(Not(s.asked.contains(letter.to)), exists(s.heard, lambda other: other.to == letter.to)),
            ),
        )

    @invariant
    def nothing_is_lost(self, s: StateView) -> Condition:
        """Every home that is asked has a letter somewhere, and no letter has a third page."""
        homes = s.queue.length + s.bag.length + s.heard.length
        pages = sum_of(s.heard, lambda letter: letter.page.or_else(0))
        return And(s.asked.length <= homes, pages <= 3 * count(s.heard, lambda letter: letter.page == 1))
