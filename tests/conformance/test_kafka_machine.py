"""Hypothesis and the fixture `insync_kafka` on Kafka's own classes, and what they say without them."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import HypothesisDeprecationWarning, UnsatisfiedAssumption
from hypothesis.stateful import run_state_machine_as_test

from insync.conformance.correspondence.facts import Difference
from insync.conformance.kafka_machine import kafka_machine
from insync.conformance.pytest_kafka import InsyncKafka
from insync.explorer.hypothesis import Disagreement
from insync.kafka.cluster.model import Cluster
from insync.runtime.errors import UserError
from insync_classes import HarnessOf, JarsOf
from insync_fake_kafka import FakeKafka, FakePair

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "kafka.md"
CALM: dict[str, int | str] = {"records": 1, "isr_shrinks": 0, "power_failures": 0, "replicas": 2}
ONCE = settings(
    max_examples=60,
    stateful_step_count=8,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, r"no Kafka is named\. Give kafka= or libs= in the test, or --insync-kafka VERSION or --insync-kafka-libs"),
        ({"kafka": "9.9"}, r"Kafka '9\.9' is not a release that insync can fetch"),
        ({"kafka": "4.3.1", "libs": "x"}, r"kafka= and libs= each name a Kafka"),
        ({"libs": "nowhere"}, r"nowhere is not a folder"),
    ],
)
def test_what_is_missing_is_one_sentence(given: dict[str, str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        InsyncKafka()(**given)  # type: ignore[arg-type]


def test_a_release_and_a_folder_for_all_tests_are_refused_together(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--insync-kafka and --insync-kafka-libs each name a Kafka"):
        InsyncKafka("4.3.1", tmp_path)()


@pytest.fixture(autouse=True)
def beside_a_fake(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("kafka") is None:
        monkeypatch.setattr("insync.conformance.kafka_machine.Pair", FakePair)


WRITE: tuple[str, dict[str, Any]] = ("write", {"leader": "b1"})


@cache
def calm() -> Cluster:
    return Cluster(**CALM)


def started(kafka: FakeKafka) -> Any:
    return kafka_machine(calm(), lambda: kafka)()


def test_steps_are_taken_on_both_and_left_out_on_both_where_kafka_cannot_take_them() -> None:
    kafka = FakeKafka.of(calm())
    machine = started(kafka)
    machine.take(*WRITE)
    assert (kafka.steps, len(machine.walk.moves)) == (1, 2)
    machine = started(FakeKafka.of(calm(), "write"))
    machine.take(*WRITE)
    assert (machine.pair.kafka.steps, len(machine.walk.moves)) == (0, 1)
    machine.pair.spoilt = True
    with pytest.warns(HypothesisDeprecationWarning), pytest.raises(UnsatisfiedAssumption):  # it runs by itself here
        machine.take(*WRITE)


def test_what_differs_at_once_needs_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakePair, "open", lambda pair: [Difference("controller.leader", "b1", "b2")])
    with pytest.raises(Disagreement) as caught:
        started(FakeKafka.of(calm()))
    assert caught.value.trace is not None
    assert [step.action for step in caught.value.trace.steps] == [None]
    assert caught.value.trace.reason.endswith("differ: controller.leader is 'b2' in Kafka and 'b1' in the model")


def test_a_difference_is_raised_with_the_shortest_steps_and_the_version() -> None:
    kafka = FakeKafka.of(Cluster(**{**CALM, "acks": "1"}))
    machine = kafka_machine(calm(), lambda: kafka)
    with pytest.raises(Disagreement, match=r"Kafka 0\.0\.0 and cluster differ\n\n") as caught:
        run_state_machine_as_test(machine, settings=settings(ONCE, max_examples=20))
    assert caught.value.trace is not None
    assert [step.action for step in caught.value.trace.steps] == [None, "write"]
    assert "clients.acked is ['r0'] in Kafka and [] in the model" in caught.value.trace.reason
    assert caught.value.file is not None
    assert caught.value.file.exists()


@pytest.mark.kafka
@pytest.mark.timeout(300)
def test_a_model_that_is_wrong_is_told_from_kafka_with_the_shortest_steps(
    jars_of: JarsOf, harness_of: HarnessOf
) -> None:
    # In the model the high watermark moves though the ISR is smaller than min.insync.replicas.
    model = Cluster(**{**CALM, "defect": "R-27", "acks": "1", "fencings": 2})
    with harness_of(jars_of("4.3.1")) as harness, pytest.raises(Disagreement) as caught:
        run_state_machine_as_test(kafka_machine(model, lambda: harness), settings=ONCE)
    assert caught.value.trace is not None
    assert {step.action for step in caught.value.trace.steps[1:]} == {"fence", "write", "apply_metadata"}
    assert "b1.hw is 0 in Kafka and 1 in the model" in caught.value.trace.reason
    assert caught.value.file is not None
    assert caught.value.file.exists()


@pytest.mark.kafka
@pytest.mark.timeout(500)
def test_the_test_of_the_guide_passes(jars_of: JarsOf, tmp_path: Path) -> None:
    jars_of("4.3.1")
    (code,) = re.findall(r"^```python\n(# test_my_patch\.py\n.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "test_my_patch.py").write_text(code)
    command = [sys.executable, "-m", "pytest", "-q", "test_my_patch.py", "--insync-kafka", "4.3.1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=480, check=False)
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout
