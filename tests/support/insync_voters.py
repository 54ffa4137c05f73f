"""Courses of a quorum of Kafka's whose voters come and go: what the released client does where the module is at fault.

Each is given a subject, Kafka itself or a recording of it, and ends with what is seen then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from insync.conformance.classes.subject import Argument
from insync.conformance.quorum.quorum_harness import QuorumSubject
from insync.conformance.quorum.quorum_seen import Letter, Membership, QuorumSeen, ServerSeen

__all__ = ["COURSES", "Course"]

BEGIN, FETCH, VOTE, VERSIONS = "BEGIN_QUORUM_EPOCH", "FETCH", "VOTE", "API_VERSIONS"
ENOUGH = 20


@dataclass
class Course:
    """Servers of a quorum, of which the first ones are its voters, and what is asked of them.

    Attributes:
        subject: who takes the commands.
        seen: what was seen last.
    """

    subject: QuorumSubject
    servers: int
    founders: int
    seen: QuorumSeen = field(init=False)

    def __post_init__(self) -> None:
        self.give("open", servers=self.servers, founders=self.founders)

    def give(self, command: str, **arguments: Argument) -> None:
        self.seen = self.subject.give(command, **arguments)

    def server(self, number: int) -> ServerSeen:
        return self.seen.servers[number]

    def membership(self, number: int) -> Membership:
        known = self.server(number).membership
        assert known is not None
        return known

    def letters(self, kind: str, source: int, to: int, *, answer: bool = False) -> list[Letter]:
        """The messages of a kind from one server to another, the oldest first."""
        key = (kind, source, to, answer)
        return [one for one in self.seen.letters if (one.kind, one.source, one.to, one.is_response) == key]

    def deliver(self, kind: str, source: int, to: int, *, answer: bool = False) -> Letter:
        """Deliver the newest message of a kind from one server to another."""
        letter = self.letters(kind, source, to, answer=answer)[-1]
        self.give("deliver", letter=letter.number)
        return letter

    def exchange(self, kind: str, source: int, to: int) -> Letter:
        """Deliver a request and the answer to it, which is returned."""
        self.deliver(kind, source, to)
        return self.deliver(kind, to, source, answer=True)

    def elect(self, candidate: int, *voters: int) -> None:
        """Have a server stand, by the votes and pre-votes of others, who then hear of it and answer so."""
        self.give("time_out", server=candidate)
        for voter in 2 * voters:
            if self.server(candidate).state != "Leader" and self.letters(VOTE, candidate, voter):
                self.exchange(VOTE, candidate, voter)
        assert self.server(candidate).state == "Leader"
        for voter in voters:
            self.exchange(BEGIN, candidate, voter)

    def replicate(self, leader: int, *followers: int) -> None:
        """Have servers fetch until each has the leader's log, and knows that it is committed."""
        for _ in range(ENOUGH):
            log = self.server(leader).log
            behind = [n for n in followers if self.place(n) != (log, len(log))]
            if not behind:
                return
            for follower in behind:
                self.exchange(FETCH, follower, leader)
        raise AssertionError(f"not replicated: {self.seen}")

    def place(self, number: int) -> tuple[object, int]:
        its = self.server(number)
        return its.log, its.high_watermark

    def join(self, new: int, leader: int) -> None:
        """Start a server, which fetches from the leader, and add it once the leader knows that it has all.

        It is refused before that.
        """
        self.give("start", server=new)
        self.give("address", server=new, to=leader)
        self.exchange(FETCH, new, leader)
        self.replicate(leader, new)
        self.add(leader, new)
        assert self.membership(leader).changes[-1] == "REQUEST_TIMED_OUT"
        self.exchange(FETCH, new, leader)
        assert self.membership(leader).caught_up == (new,)
        self.add(leader, new)
        assert self.membership(leader).changes[-1] == "PENDING"

    def add(self, leader: int, new: int) -> None:
        """Have a leader add a voter, which it asks for its versions first."""
        self.give("add_voter", server=leader, voter=new)
        self.exchange(VERSIONS, leader, new)


def a_late_vote_request(subject: QuorumSubject) -> Course:
    """Server 3 gets the vote request of an epoch that is over when it knows nobody in its own."""
    course = Course(subject, 3, 3)
    course.give("time_out", server=1)
    if course.letters(VOTE, 1, 2)[0].pre_vote:
        course.exchange(VOTE, 1, 2)
    (late,) = course.letters(VOTE, 1, 3)
    course.give("time_out", server=1)
    if course.letters(VOTE, 1, 2)[-1].pre_vote:
        course.exchange(VOTE, 1, 2)
    course.deliver(VOTE, 1, 2)
    course.give("time_out", server=3)
    course.exchange(VOTE, 3, 2)
    assert (course.server(3).state, course.server(3).voted) == ("Unattached", -1)
    assert (late.epoch, course.server(3).epoch) == (1, 2)
    course.give("deliver", letter=late.number)
    return course


def a_single_voter(subject: QuorumSubject) -> Course:
    """The only voter is started, a client writes, a voter joins, and is removed again."""
    course = Course(subject, 2, 1)
    course.give("append", server=1, value=7)
    course.join(2, 1)
    course.replicate(1, 2)
    course.give("append", server=1, value=8)
    assert course.membership(1).answered == (7,)
    course.give("remove_voter", server=1, voter=2)
    course.replicate(1, 2)
    return course


def a_removed_leader_that_restarts(subject: QuorumSubject) -> Course:
    """A leader removes itself from the voters, and restarts before that is committed."""
    course = Course(subject, 3, 3)
    course.elect(1, 2, 3)
    course.replicate(1, 2, 3)
    course.give("remove_voter", server=1, voter=1)
    assert (course.server(1).state, course.membership(1).voters) == ("Leader", (2, 3))
    course.give("restart", server=1)
    return course


def a_removed_leader_that_stays(subject: QuorumSubject) -> Course:
    """A leader removes itself from the voters, and the others have that."""
    course = Course(subject, 3, 3)
    course.elect(1, 2, 3)
    course.replicate(1, 2, 3)
    course.give("remove_voter", server=1, voter=1)
    course.exchange(FETCH, 2, 1)
    course.exchange(FETCH, 3, 1)
    course.deliver(FETCH, 2, 1)
    assert course.server(1).state == "Leader"
    course.deliver(FETCH, 3, 1)
    return course


def a_removed_voter_that_does_not_know(subject: QuorumSubject) -> Course:
    """A voter fetches that has been removed, which it does not know yet."""
    course = Course(subject, 3, 3)
    course.elect(1, 2, 3)
    course.replicate(1, 2, 3)
    course.give("remove_voter", server=1, voter=3)
    course.replicate(1, 2)
    assert course.membership(3).voters == (1, 2, 3)
    course.exchange(FETCH, 3, 1)
    return course


def a_leader_that_was_removed_and_added_again(subject: QuorumSubject) -> Course:
    """A voter is removed and added again, restarts and leads: its log has its removal where it commits."""
    course = Course(subject, 3, 3)
    course.elect(2, 1, 3)
    course.replicate(2, 1, 3)
    course.give("remove_voter", server=2, voter=1)
    course.replicate(2, 1, 3)
    course.add(2, 1)
    course.replicate(2, 1, 3)
    course.give("restart", server=1)
    course.give("resign", server=2)
    course.elect(1, 2)
    course.replicate(1, 2)
    return course


def an_acknowledgement_of_who_was_removed(subject: QuorumSubject) -> Course:
    """A voter is removed while its answer to BeginQuorumEpoch is on its way, which would be delivered next."""
    course = Course(subject, 3, 3)
    course.elect(1, 2)
    course.replicate(1, 2)
    course.deliver(BEGIN, 1, 3)
    course.give("remove_voter", server=1, voter=3)
    return course


COURSES: Mapping[str, Callable[[QuorumSubject], Course]] = {
    course.__name__: course
    for course in (
        a_late_vote_request,
        a_single_voter,
        a_removed_leader_that_restarts,
        a_removed_leader_that_stays,
        a_removed_voter_that_does_not_know,
        a_leader_that_was_removed_and_added_again,
        an_acknowledgement_of_who_was_removed,
    )
}
