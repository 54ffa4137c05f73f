"""Traces on Kafka's own classes: what was recorded is what they do."""

from __future__ import annotations

import pytest

from insync.conformance.replay import KafkaVerdict, replay_on_kafka
from insync_classes import HarnessOf, JarsOf
from insync_kafka import RECORDINGS, Recorder, Recording

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDINGS.glob("*.json")))
def test_a_recording_is_what_kafka_does(jars_of: JarsOf, harness_of: HarnessOf, name: str) -> None:
    recording = Recording.read(name)
    model, trace = recording.trace()
    with harness_of(jars_of(recording.version)) as harness:
        recorder = Recorder(harness)
        replay_on_kafka(trace, model, recorder)
    assert recorder.answers == recording.content["answers"]


@pytest.mark.parametrize("version", ["4.0.2", "4.1.2", "4.2.1", "4.4.0"])
@pytest.mark.parametrize("name", ["N-01-4.3.1", "N-02-4.3.1"])
def test_new_defects_are_in_all_releases_since_4_0(
    jars_of: JarsOf, harness_of: HarnessOf, name: str, version: str
) -> None:
    model, trace = Recording.read(name).trace()
    with harness_of(jars_of(version)) as harness:
        assert replay_on_kafka(trace, model, harness).verdict is KafkaVerdict.REPRODUCED


@pytest.mark.parametrize(
    ("version", "verdict"), [("3.9.0", "reproduced"), ("3.9.2", "reproduced"), ("4.0.0", "diverges")]
)
def test_a_restart_before_fencing_is_harmless_since_4_0(
    jars_of: JarsOf, harness_of: HarnessOf, version: str, verdict: str
) -> None:
    model, trace = Recording.read("R-26-3.9.2").trace()
    with harness_of(jars_of(version)) as harness:
        assert replay_on_kafka(trace, model, harness).verdict.value == verdict


@pytest.mark.parametrize("version", ["3.7.2", "3.8.1", "4.0.0"])
def test_until_replies_are_dropped_by_epoch_whose_log_has_none_drops_them(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    model, trace = Recording.read("walk-unready-3.9.0").trace()
    with harness_of(jars_of(version)) as harness:
        assert replay_on_kafka(trace, model, harness).verdict is KafkaVerdict.AGREES
