"""Parts of the elements of a sequence are assigned in place, also where sequences lie in one another."""

from __future__ import annotations

import enum
from typing import Any

import pytest

from insync.explorer import check
from insync.explorer.export.tla.module import tla_files
from insync.model import (
    Array,
    BoundValues,
    Index,
    Int,
    Model,
    ModelError,
    Option,
    Range,
    Record,
    Seq,
    State,
    action,
    require,
    when,
)
from insync.model.evaluator import Evaluator
from insync_evaluator import successors


class Kind(enum.Enum):
    """What an entry is."""

    OLD = 0
    NEW = 1


class Node(Index):
    """Whoever has a log."""

    size = 2


class Place(Range):
    """A place of a log."""

    lo, hi = 0, 2


ENTRY = Record(kind=Kind, votes=Seq(Node, 2), seen=Array(Node, Int(0, 2)), note=Option(Record(n=Int(0, 3))))


class Logs(Model):
    """A log for each node, whose first two entries are there, and an action under test."""

    body: Any = None

    def declare(self, b: BoundValues) -> State:
        return State(log=Array(Node, Seq(ENTRY, 3)), at=Int(0, 3), lines=Seq(Seq(Int(0, 5), 2), 2))

    def initial(self, s: Any) -> None:
        entry = {"kind": Kind.OLD, "votes": [], "seen": [0, 0], "note": None}
        for node in self.all(Node):
            s.log[node] = [entry, entry]
        s.lines = [[1], [2, 3]]
        s.at = 1


OLD: dict[str, Any] = {"kind": "OLD", "votes": [], "seen": {"node1": 0, "node2": 0}, "note": None}


def after(body: Any, node: Node | None = None) -> Any:
    """Return the readable state after one step of an action."""

    class Under(Logs):
        @action
        def run(self, s: Any, node: Node, place: Place) -> None:
            body(s, node, place)

    model = Under()
    evaluator, start = Evaluator(model.program), model.program.initials[0]
    found = {
        (
            dict(model.program.actions[number].shown_parameters)["node"],
            model.program.actions[number].parameters[1][1],
        ): model.decode(codes)
        for number, codes in successors(evaluator, start)
    }
    return found["node2" if node else "node1", 1] if node is not None else found["node1", 0]


def test_a_field_of_an_element_is_assigned() -> None:
    state = after(lambda s, node, place: setattr(s.log[node][1], "kind", Kind.NEW))
    assert state["log"] == {"node1": [OLD, OLD | {"kind": "NEW"}], "node2": [OLD, OLD]}


def test_a_place_may_be_a_number_of_the_state_or_a_parameter() -> None:
    def body(s: Any, node: Any, place: Any) -> None:
        require(place < s.log[node].length)
        s.log[node][s.at].kind = Kind.NEW
        s.log[node][place].seen[node] += 2

    state = after(body, Node(1))
    assert state["log"]["node2"] == [OLD, OLD | {"kind": "NEW", "seen": {"node1": 0, "node2": 2}}]
    assert state["log"]["node1"] == [OLD, OLD]


def test_sequences_arrays_and_options_inside_an_element_are_changed() -> None:
    def body(s: Any, node: Any, place: Any) -> None:
        entry = s.log[node].last
        entry.votes.append(node)
        entry.votes.append(1)
        entry.votes[0] = 1
        entry.note = {"n": 1}
        entry.note.value.n += 1
        assert entry.kind.kind is Kind
        s.lines[0].append(4)
        s.lines[s.at][0] += 3
        s.lines[1].take_first()

    state = after(body)
    changed = OLD | {"votes": ["node2", "node2"], "note": {"n": 2}}
    assert state["log"]["node1"] == [OLD, changed]
    assert state["lines"] == [[1, 4], [3]]


def test_an_element_shows_what_was_assigned_to_it_and_only_where_a_block_is_entered() -> None:
    def body(s: Any, node: Any, place: Any) -> None:
        entry = s.log[node][0]
        with when(s.at == 0):
            entry.kind = Kind.NEW
        with when(s.at == 1):
            entry.seen[node] = 2
        s.log[node][1].kind = entry.kind
        s.at = entry.seen[node]

    state = after(body)
    assert state["log"]["node1"] == [OLD | {"seen": {"node1": 2, "node2": 0}}, OLD]
    assert state["at"] == 2


@pytest.mark.parametrize("change", ["append", "take", "put", "other"])
def test_an_element_that_may_be_elsewhere_is_refused(change: str) -> None:
    def body(s: Any, node: Any, place: Any) -> None:
        line, entry = s.log[node], s.log[node].first
        if change == "append":
            line.append(entry)
        elif change == "take":
            line.take_first()
        elif change == "put":
            line[place] = entry
        else:
            line[1].kind = Kind.NEW
        entry.kind = Kind.NEW

    message = r"test_in_place\.py:\d+: log\[node1\] was changed after this element of it was read, .* Read it again wh"
    with pytest.raises(ModelError, match=message):
        after(body)


def test_what_was_read_stays_what_it_was() -> None:
    def body(s: Any, node: Any, place: Any) -> None:
        before = s.log[node][0].kind
        s.log[node][0].kind = Kind.NEW
        s.log[node][1].kind = before

    assert after(body)["log"]["node1"] == [OLD | {"kind": "NEW"}, OLD]


class PastTheEnd(Logs):
    """It assigns behind the end, sooner or later."""

    @action
    def shorten(self, s: Any, node: Node) -> None:
        require(s.log[node].length > 0)
        s.log[node].take_first()

    @action
    def note(self, s: Any, node: Node) -> None:
        s.log[node][s.at].kind = Kind.NEW


def test_past_the_end_it_is_a_violation_of_type_ok() -> None:
    result = check(PastTheEnd)
    (violation,) = result.violations
    assert (violation.property, violation.trace_length) == ("type_ok", 2)
    assert "this assigns past the end of log[node2]; append() makes it longer." in violation.trace.reason


class Slot(Range):
    """A place of a short log."""

    lo, hi = 0, 1


class Election(Model):
    """Nodes vote for the entry at a place; the members are alike."""

    class Voter(Index, symmetric=True):
        size = 3

    def declare(self, b: BoundValues) -> State:
        voter = self.Voter
        return State(log=Seq(Record(votes=Array(voter, Int(0, 1)), line=Seq(voter, 2)), 2), done=Int(0, 1))

    @action
    def propose(self, s: Any) -> None:
        require(s.log.length < 2)
        s.log.append(votes=[0, 0, 0], line=[])

    @action
    def vote(self, s: Any, voter: Voter, place: Slot) -> None:
        require(place < s.log.length, s.log[place].votes[voter] == 0, s.log[place].line.length < 2)
        s.log[place].votes[voter] = 1
        s.log[place].line.append(voter)


def test_members_stay_alike_and_tla_has_it() -> None:
    every, fewer = check(Election, symmetry=False), check(Election)
    assert every.verdict == fewer.verdict == "holds"
    assert every.distinct_states == fewer.distinct_states == 111
    assert fewer.representatives is not None
    assert fewer.representatives < 40
    text = next(iter(tla_files(Election(), [], "Election").values()))
    assert "Vote(voter, place)" in text
