"""Which of a leader's requests for another ISR is delivered, and which are refused before it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from insync.conformance.classes.observation import AlterRequest
from insync.conformance.classes.subject import Answer
from insync.conformance.correspondence.known_differences import NotSchedulable, Unlike
from insync.conformance.steps.commands import Commands
from insync.conformance.steps.isr_requests import IsrRequests
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState

BOTH, ALONE = (1, 2), (1,)
REPLIED = AlterRequest(isr=BOTH, partition_epoch=1, replied=True)


def wanted(isr: tuple[int, ...]) -> ReadableState:
    """A state of the model in which b1 asks for an ISR."""
    state = {"registrations": [{"leader": "b1"}], "alter_partition": {"isr": [f"b{broker}" for broker in isr]}}
    return cast(ReadableState, state)


class Refusing:
    """Kafka with some requests of b1 on their way, each of which its controller refuses."""

    def __init__(self, *isrs: tuple[int, ...]) -> None:
        self.given: list[str] = []
        requests = [REPLIED, *(AlterRequest(isr=isr, partition_epoch=1, replied=False) for isr in isrs)]
        self._broker = SimpleNamespace(requests=requests, running=True, leading=SimpleNamespace(proposed=()))
        self.seen = SimpleNamespace(controller=SimpleNamespace(partition_epoch=1, end=5))

    def broker(self, number: int) -> SimpleNamespace:
        assert number == 1
        return self._broker

    def give(self, command: str, **arguments: object) -> Answer:
        assert arguments == {"broker": 1}
        self.given.append(command)
        return cast(Answer, SimpleNamespace(said="INVALID_REQUEST"))

    def requests(self) -> IsrRequests:
        return IsrRequests(cast(Commands, self), Cluster().in_force, [])


REFUSED = ["deliver_request", "deliver_reply"]


@pytest.mark.parametrize(
    ("on_their_way", "given"),
    [
        ([BOTH], REFUSED),
        ([ALONE, BOTH], REFUSED * 2),  # the first is one of an earlier incarnation
        ([BOTH, ALONE], REFUSED),
        ([BOTH, BOTH], REFUSED),
    ],
)
def test_the_request_of_the_model_is_delivered_after_the_one_before_it(
    on_their_way: list[tuple[int, ...]], given: list[str]
) -> None:
    kafka = Refusing(*on_their_way)
    kafka.requests().refuse(wanted(BOTH))
    assert kafka.given == given
    again = Refusing(*on_their_way)
    again.requests().refuse(wanted((2, 1)))
    assert again.given == given, "a set of members has no order"


@pytest.mark.parametrize(("on_their_way", "given"), [([], []), ([ALONE], []), ([ALONE, ALONE], REFUSED)])
def test_where_it_is_not_on_its_way_the_step_cannot_be_brought_about(
    on_their_way: list[tuple[int, ...]], given: list[str]
) -> None:
    kafka = Refusing(*on_their_way)
    with pytest.raises(NotSchedulable, match="no request of b1 for the ISR"):
        kafka.requests().refuse(wanted(BOTH))
    assert kafka.given == given


@pytest.mark.parametrize(
    ("on_its_way", "model", "given"),
    [([BOTH], BOTH, []), ([ALONE], BOTH, REFUSED), ([BOTH], (), REFUSED), ([], (), [])],
)
def test_of_what_is_late_only_the_request_of_the_model_is_kept(
    on_its_way: list[tuple[int, ...]], model: tuple[int, ...], given: list[str]
) -> None:
    kafka = Refusing(*on_its_way)
    kafka.requests().forget_late(1, wanted(model))
    assert kafka.given == given


class Losing(Refusing):
    """The same with one request, which the controller writes the first time that it gets it."""

    def __init__(self, isr: tuple[int, ...]) -> None:
        super().__init__(isr)
        self.controller = self.seen.controller

    def give(self, command: str, **arguments: object) -> Answer:
        written = command == "deliver_request" and command not in self.given
        self.controller.partition_epoch += written
        self.given.append(command)
        return cast(Answer, SimpleNamespace(said="NONE" if written else "INVALID_UPDATE_VERSION"))


def coming_again(isr: tuple[int, ...]) -> ReadableState:
    state = {
        "registrations": [{"leader": "b1"}],
        "alter_partition": {"isr": []},
        "alter_partition_retry": {"isr": [f"b{broker}" for broker in isr]},
    }
    return cast(ReadableState, state)


def test_a_request_whose_answer_is_lost_comes_again_and_is_refused() -> None:
    kafka = Losing(BOTH)
    requests = kafka.requests()
    requests.accept_unheard(wanted(BOTH))
    requests.hear_known(1)
    assert kafka.given == ["deliver_request", "lose_reply"], "there is no answer that could be heard"
    requests.forget_late(1, coming_again(BOTH))
    assert kafka.given == ["deliver_request", "lose_reply"], "it is still to come"
    requests.get_again(coming_again(BOTH))
    assert kafka.given == ["deliver_request", "lose_reply", *REFUSED]


def test_where_a_mutant_takes_it_for_a_new_one_the_next_step_delivers_it() -> None:
    kafka = Losing(BOTH)
    IsrRequests(cast(Commands, kafka), Cluster(defect="M-16").in_force, []).get_again(coming_again(BOTH))
    assert kafka.given == []


@pytest.mark.parametrize("on_their_way", [[], [ALONE]])
def test_one_that_does_not_come_again_cannot_be_brought_about(on_their_way: list[tuple[int, ...]]) -> None:
    kafka = Refusing(*on_their_way)
    with pytest.raises(NotSchedulable, match="no request of b1 for the ISR"):
        kafka.requests().get_again(coming_again(BOTH))
    assert kafka.given == []


@pytest.mark.parametrize("step", ["accept", "accept_unheard", "refuse", "get_again"])
def test_a_leader_that_has_proposed_that_isr_must_have_a_request_for_it_on_its_way(step: str) -> None:
    before = coming_again(BOTH) if step == "get_again" else wanted(BOTH)
    for proposed, error in ((BOTH, Unlike), (ALONE, NotSchedulable), ((), NotSchedulable)):
        kafka = Refusing()
        kafka.broker(1).leading.proposed = proposed
        with pytest.raises(error):
            getattr(kafka.requests(), step)(before)
        kafka.broker(1).leading = None
        with pytest.raises(NotSchedulable):
            getattr(kafka.requests(), step)(before)


@pytest.mark.parametrize(
    ("on_its_way", "proposed", "error"),
    [([], BOTH, Unlike), ([BOTH], BOTH, NotSchedulable), ([], (), NotSchedulable)],
    ids=["it waits", "it has asked again", "it has proposed nothing"],
)
def test_a_leader_that_waits_for_an_answer_must_get_one(
    on_its_way: list[tuple[int, ...]], proposed: tuple[int, ...], error: type[Exception]
) -> None:
    kafka = Refusing(*on_its_way)
    kafka.broker(1).leading.proposed = proposed
    with pytest.raises(error):
        kafka.requests().receive(1, wait=0)
