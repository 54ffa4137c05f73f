"""When writes stop: how many brokers may be down before acks=all is refused, and before nobody leads."""

from __future__ import annotations

import json
import threading

import pytest

from insync.cli.commands.ask import command
from insync.explorer import Limits, check
from insync.explorer.ask import Question
from insync.explorer.availability import availability


def failures(**bounds: int | str) -> list[int | None]:
    return [found.failures for found in availability(Question(bounds=bounds))]


@pytest.mark.parametrize("replicas", [1, 2, 3])
def test_it_takes_as_many_as_leave_too_few(replicas: int) -> None:
    for minimum in range(1, replicas + 1):
        found = failures(release="4.1", replicas=replicas, min_insync=minimum)
        assert found == [replicas - minimum + 1, replicas]


def test_before_a_release_that_caps_it_more_than_all_replicas_refuse_every_write() -> None:
    assert failures(release="3.6", replicas=2, min_insync=3) == [0, 2]
    assert failures(release="3.7", replicas=2, min_insync=3) == [1, 2]


def test_what_happens_is_there_step_by_step() -> None:
    refused, _ = availability(Question(bounds={"release": "3.9", "replicas": 2, "min_insync": 2}))
    assert len(refused.steps) == 2
    assert "crashes" in refused.steps[0]
    assert refused.steps[1].startswith("controller fences")


def test_a_search_that_was_stopped_knows_nothing() -> None:
    stop = threading.Event()
    stop.set()
    found = availability(Question(bounds={"replicas": 2}, stop=stop, limits=Limits(seconds=60)))
    assert [(each.failures, each.more_than) for each in found] == [(None, -1)] * 2


def test_without_failures_nothing_stops() -> None:
    names = ["writes_are_taken", "a_leader_is_there"]
    calm = {"replicas": 2, "records": 1, "lossy_crashes": 0, "shrinks": 0, "fencings": 0}
    assert check("cluster", bounds=calm, properties=names).verdict == "holds"
    assert check("cluster", bounds={**calm, "crashes": 1}, properties=names).verdict == "violated"


def test_the_answer_says_it_and_its_exit_code_does_not_depend_on_it(capsys: pytest.CaptureFixture[str]) -> None:
    calm = ["--quiet", "--replicas", "2", "--records", "1", "--lossy-crashes", "0", "--fencings", "0"]
    code = command.main([*calm, "--release", "4.0"], "insync ask", standalone_mode=False)
    _, said = capsys.readouterr().out.split("When do writes stop?\n")
    assert code == 0
    assert said.splitlines() == [
        "  writes with acks=all are refused when 1 broker is down",
        "  the partition has no leader when 2 brokers are down",
    ]
    command.main([*calm, "--release", "3.6", "--min-insync", "3", "--json"], "insync ask", standalone_mode=False)
    stops = json.loads(capsys.readouterr().out)["writes_stop"]
    assert [(stop["failures"], len(stop["steps"]) > 0) for stop in stops] == [(0, False), (2, True)]
    command.main([*calm, "--release", "3.6", "--min-insync", "3"], "insync ask", standalone_mode=False)
    assert "writes with acks=all are refused though no broker is down" in capsys.readouterr().out
