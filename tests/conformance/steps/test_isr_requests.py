"""Which of a leader's requests for another ISR is delivered, and which are refused before it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from insync.conformance.classes.observation import AlterRequest
from insync.conformance.classes.subject import Answer
from insync.conformance.steps.commands import Commands
from insync.conformance.steps.gaps import NotSchedulable
from insync.conformance.steps.isr_requests import IsrRequests
from insync.model import ReadableState

BOTH, ALONE = (1, 2), (1,)
REPLIED = AlterRequest(isr=BOTH, partition_epoch=1, replied=True)


def wanted(isr: tuple[int, ...]) -> ReadableState:
    """A state of the model in which b1 asks for an ISR."""
    state = {"changes": [{"leader": "b1"}], "alter": {"isr": [f"b{broker}" for broker in isr]}}
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
        return IsrRequests(cast(Commands, self), registering_leaves_isr=True)


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
