"""What an operator asks a cluster is asked again for as long as it is refused, whoever of those asked refuses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from insync.conformance.live.operator import Operator
from insync.conformance.live.wire.message_schemas import Message


class Answering:
    """A cluster of one broker that gives these answers, one after the other."""

    running = (1,)

    def __init__(self, answers: Sequence[Message]) -> None:
        self.answers, self.asked = list(answers), list[tuple[str, Message]]()

    def call(self, name: str, body: Message, version: int | None = None) -> Message:
        self.asked.append((name, body))
        return self.answers.pop(0)

    @contextmanager
    def connect(self, broker: int, patience: float) -> Iterator[Answering]:
        yield self

    def until(self, accepted: Callable[[], object], what: str) -> None:
        while not accepted():
            pass


def configured(*errors: int) -> Message:
    return {"Responses": [{"ErrorCode": error} for error in errors]}


def reassigned(of_all: int, *errors: int) -> Message:
    return {"ErrorCode": of_all, "Responses": [{"Partitions": [{"ErrorCode": error}]} for error in errors]}


def moved(*errors: int) -> Message:
    return {"Results": [{"Partitions": [{"ErrorCode": error} for error in errors]}]}


@pytest.mark.parametrize(
    ("asks", "name", "refusals", "accepted"),
    [
        (lambda o: o.configure("a", "1"), "IncrementalAlterConfigs", [configured(41), configured(0, 7)], configured(0)),
        (lambda o: o.throttle(1, 5), "IncrementalAlterConfigs", [configured(41)], configured(0, 0)),
        (
            lambda o: o.reassign([1]),
            "AlterPartitionReassignments",
            [reassigned(41), reassigned(0, 3), reassigned(41, 0)],
            reassigned(0, 0),
        ),
        (lambda o: o.move(1, Path("/d")), "AlterReplicaLogDirs", [moved(57), moved(0, 57)], moved(0)),
    ],
    ids=["configure", "throttle", "reassign", "move"],
)
def test_it_is_asked_until_nobody_refuses(
    asks: Callable[[Operator], None], name: str, refusals: list[Message], accepted: Message
) -> None:
    cluster = Answering([*refusals, accepted, configured(99)])
    asks(Operator(cast(Any, cluster)))
    assert [asked for asked, _ in cluster.asked] == [name] * (len(refusals) + 1)
    assert len({str(body) for _, body in cluster.asked}) == 1


def test_what_is_asked_is_about_its_partition() -> None:
    cluster = Answering([reassigned(0, 0), moved(0)])
    operator = Operator(cast(Any, cluster), "t", 1)
    operator.reassign([1])
    operator.move(1, Path("/d"))
    (_, reassignment), (_, move) = cluster.asked
    assert [part["PartitionIndex"] for part in reassignment["Topics"][0]["Partitions"]] == [1]
    assert move["Dirs"][0]["Topics"] == [{"Name": "t", "Partitions": [1]}]


def test_a_directory_that_fails_is_not_found_any_more(tmp_path: Path) -> None:
    disk = tmp_path / "disk-1-2"
    disk.mkdir()
    (disk / "meta.properties").write_text("directory.id=AAAAAAAAAAAAAAAAAAAAAQ\n")
    operator = Operator(cast(Any, None))
    assert operator.fail(1, disk) == "00000000-0000-0000-0000-000000000001"
    assert not disk.exists()
    assert [(one.what, one.broker) for one in operator.called] == [("fail", 1)]


def test_a_broker_is_asked_who_leads_by_its_metadata() -> None:
    cluster = Answering([{"Topics": [{"Partitions": [{"LeaderId": 2}]}]}])
    assert Operator(cast(Any, cluster)).leader_known_to(1) == 2
    assert [name for name, _ in cluster.asked] == ["Metadata"]
