"""Whether a rolling restart finishes, and a dead leader is replaced."""

from __future__ import annotations

from insync.explorer.results import Verdict
from insync.kafka_questions.liveness import ENDINGS, endings
from insync.kafka_questions.question import Question


def test_both_always_happen_in_a_release_without_a_defect_of_progress() -> None:
    found = list(endings(Question(settings={"release": "4.1", "replicas": 2})))
    assert [one.verdict for one in found] == [Verdict.HOLDS] * len(ENDINGS)
    assert [one.model.b.stops for one in found] == [2, 0]


def test_a_controller_that_forgets_whom_to_watch_leaves_a_dead_leader_in_place() -> None:
    settings: dict[str, int | str] = {"replicas": 2, "min_insync": 1, "defect": "L-12"}
    _, dead = endings(Question(settings={**settings, "controllers": 2, "failovers": 1}))
    assert dead.verdict is Verdict.VIOLATED
    assert dead.trace is not None
    assert dead.trace.loop is not None
