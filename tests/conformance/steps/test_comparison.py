"""What is compared after each step is all that could be, though what nothing new was told of is not looked up again."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

import pytest

from insync.conformance.classes.observation import Observation
from insync.conformance.classes.subject import Answer, Argument
from insync.conformance.correspondence.facts import Difference
from insync.conformance.replay import KafkaVerdict, replay_on_kafka
from insync.conformance.steps import comparison as module
from insync.conformance.steps.comparison import StepComparison
from insync.conformance.steps.likeness import compared, kafka_state
from insync.model import ReadableState
from insync_kafka import Recording


@dataclass
class Telling(Recording):
    """A recording that tells, as the harness does, of what is new alone: the rest are the objects of before."""

    seen: Observation | None = None

    def take(self, command: str, **arguments: Argument) -> Answer:
        answer = super().take(command, **arguments)
        now, was = answer.state, self.seen
        if was is not None:
            controller = was.controller if was.controller == now.controller else now.controller
            brokers = {n: was.brokers[n] if was.brokers[n] == one else one for n, one in now.brokers.items()}
            now = replace(now, controller=controller, brokers=brokers)
        self.seen = now
        return Answer(answer.said, now, answer.raw)


@pytest.mark.slow_for("walk-deletions-4.1.2-KafkaVerdict.AGREES", "R-40-4.1.2-KafkaVerdict.DIVERGES")
@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("walk-two-4.1.2", KafkaVerdict.AGREES),
        ("walk-deletions-4.1.2", KafkaVerdict.AGREES),
        ("N-12-4.3.1", KafkaVerdict.REPRODUCED),
        ("R-40-4.1.2", KafkaVerdict.DIVERGES),
    ],
)
def test_nothing_escapes_a_comparison_that_does_not_look_twice(
    name: str, verdict: KafkaVerdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, brokers, steps = StepComparison.of, [0], [0]

    def checked(
        self: StepComparison, model: ReadableState, seen: Observation, acknowledged: Set[str]
    ) -> tuple[int, list[Difference]]:
        found = real(self, model, seen, acknowledged)
        counts, differences = compared(model, kafka_state(model, seen, acknowledged))
        assert found == (sum(counts.values()), differences)
        steps[0] += 1
        return found

    def counted(model: ReadableState, kafka: ReadableState) -> tuple[dict[str, int], list[Difference]]:
        brokers[0] += len(model["broker"])
        return compared(model, kafka)

    monkeypatch.setattr(StepComparison, "of", checked)
    monkeypatch.setattr(module, "compared", counted)
    recording = Telling.read(name)
    model, trace = recording.trace()
    assert replay_on_kafka(trace, model, recording).verdict is verdict
    if verdict is KafkaVerdict.AGREES:
        assert brokers[0] < steps[0] * model.b.replicas, "some brokers are not looked at again"
