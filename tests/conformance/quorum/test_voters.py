"""What the released Raft client does where the published module of KIP-853 is at fault, and where it is itself.

Without Java that is what a recording of it has; the same courses are taken on Kafka itself by the tests marked kafka.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from insync.conformance.classes.subject import KafkaRaised
from insync.conformance.quorum.quorum_harness import QuorumSubject
from insync_quorum import RecordedQuorum
from insync_voters import COURSES, Course

RECORDED = "4.1.2"


def a_late_vote_request(course: Course) -> None:
    assert (course.server(3).state, course.server(3).epoch, course.server(3).voted) == ("Unattached", 2, -1)


def a_single_voter(course: Course) -> None:
    assert (course.server(1).state, course.membership(1).voters) == ("Leader", (1,))
    assert [value for value, _ in course.server(1).log] == ["*", "7", "{1,2}", "8", "{1}"]
    assert (course.membership(1).answered, course.server(1).high_watermark) == ((7, 8), 5)
    assert (course.server(2).state, course.membership(2).voters) == ("Follower", (1,))
    assert course.membership(1).changes == ("REQUEST_TIMED_OUT", "NONE", "NONE")


def a_removed_leader_that_restarts(course: Course) -> None:
    assert (course.server(1).state, course.server(1).leader) == ("Resigned", 1)
    assert course.membership(1).voters == (2, 3)
    course.give("time_out", server=1)
    assert (course.server(1).state, course.server(1).epoch, course.server(1).leader) == ("Unattached", 2, -1)


def a_removed_leader_that_stays(course: Course) -> None:
    assert (course.server(1).state, course.server(1).leader) == ("Resigned", 1)
    assert course.membership(1).changes == ("NONE",)
    (answer,) = course.letters("FETCH", 1, 3, answer=True)
    assert (answer.error, answer.leader, answer.high_watermark) == ("NONE", 1, 2)


def a_removed_voter_that_does_not_know(course: Course) -> None:
    assert (course.server(3).state, course.membership(3).voters) == ("Follower", (1, 2))
    assert [value for value, _ in course.server(3).log] == ["*", "{1,2}"]


def a_leader_that_was_removed_and_added_again(course: Course) -> None:
    assert [value for value, _ in course.server(1).log] == ["*", "{2,3}", "{1,2,3}", "*"]
    assert (course.server(1).state, course.server(1).epoch, course.server(1).high_watermark) == ("Leader", 2, 4)


def an_acknowledgement_of_who_was_removed(course: Course) -> None:
    assert (course.server(1).state, course.membership(1).voters) == ("Leader", (1, 2))
    with pytest.raises(KafkaRaised, match="Unexpected acknowledgement from non-voter 3"):
        course.deliver("BEGIN_QUORUM_EPOCH", 3, 1, answer=True)


CHECKS: Mapping[str, Callable[[Course], None]] = {
    check.__name__: check
    for check in (
        a_late_vote_request,
        a_single_voter,
        a_removed_leader_that_restarts,
        a_removed_leader_that_stays,
        a_removed_voter_that_does_not_know,
        a_leader_that_was_removed_and_added_again,
        an_acknowledgement_of_who_was_removed,
    )
}


@pytest.mark.parametrize("name", COURSES)
def test_what_a_recording_of_kafka_does(name: str) -> None:
    kafka = RecordedQuorum.read(f"{RECORDED}-{name}")
    CHECKS[name](COURSES[name](kafka))
    assert kafka.given == len(kafka.course)


@pytest.mark.kafka
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", COURSES)
def test_what_kafka_does(quorum: QuorumSubject, name: str) -> None:
    CHECKS[name](COURSES[name](quorum))
