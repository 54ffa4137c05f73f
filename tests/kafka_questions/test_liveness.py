"""Whether a rolling restart finishes, and a dead leader is replaced."""

from __future__ import annotations

import time

import pytest

from insync.explorer import Limits, LivenessResult, liveness
from insync.explorer.results import Verdict
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.liveness import ENDINGS, endings
from insync.kafka_questions.question import Question


def test_both_always_happen_in_a_release_without_a_defect_of_progress() -> None:
    found = list(endings(Question(settings={"release": "4.1", "replicas": 2})))
    assert [one.verdict for one in found] == [Verdict.HOLDS] * len(ENDINGS)
    assert [one.model.b.controlled_shutdowns for one in found] == [2, 0]


def test_a_controller_that_forgets_whom_to_watch_leaves_a_dead_leader_in_place() -> None:
    settings: dict[str, int | str] = {"replicas": 2, "min_insync_replicas": 1, "defect": "L-12"}
    _, dead = endings(Question(settings={**settings, "controller_failovers": 1}))
    assert dead.verdict is Verdict.VIOLATED
    assert dead.trace is not None
    assert dead.trace.loop is not None


def test_the_seconds_of_a_question_are_for_its_endings_too(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    def decided(model: Cluster, *, limits: Limits, **others: object) -> LivenessResult:
        assert limits.seconds is not None
        given.append(limits.seconds)
        return liveness(model, limits=Limits(seconds=0.0), properties=[ENDINGS[0].property])

    monkeypatch.setattr("insync.kafka_questions.liveness.liveness", decided)
    asked_at = time.monotonic() - 20
    question = Question(settings={"release": "4.1", "replicas": 2}, limits=Limits(seconds=60.0), asked_at=asked_at)
    assert len(list(endings(question))) == len(given) == 2
    assert all(seconds < 41 for seconds in given)
