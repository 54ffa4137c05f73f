"""When a patch is said to fix what a trace shows: Kafka with it must not take what the model with the fix cannot."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from insync.conformance.documents.patch import TriedPatch, describe_patch, patch_json
from insync.conformance.patches.fixed_trace import FixedTrace, fixed_trace
from insync.conformance.patches.patched_jars import PatchedKafka, read_patch
from insync.conformance.replay import KafkaReplay, KafkaVerdict
from insync_kafka import Recording, replayed


@pytest.fixture(scope="module")
def lost() -> KafkaReplay:
    return replayed("N-03-4.3.1")


@pytest.fixture(scope="module")
def fixed() -> FixedTrace:
    model, trace = Recording.read("N-03-4.3.1").trace()
    return fixed_trace(trace, model, "N-03")


@pytest.mark.parametrize(
    ("then", "is_fixed"),
    [
        (None, True),
        (KafkaVerdict.DIVERGES, True),
        (KafkaVerdict.NOT_SCHEDULABLE, True),
        (KafkaVerdict.REPRODUCED, False),
    ],
)
def test_a_patch_fixes_nothing_if_kafka_still_takes_all_steps(
    lost: KafkaReplay, fixed: FixedTrace, then: KafkaVerdict | None, is_fixed: bool
) -> None:
    agrees = replace(lost, verdict=KafkaVerdict.AGREES)
    stopped = replace(fixed, impossible=fixed.trace.steps[-1], holds=True)
    tried = TriedPatch(lost, stopped, agrees, None if then is None else replace(lost, verdict=then))
    assert tried.is_fixed is is_fixed
    assert tried.is_schedulable
    patched = PatchedKafka(Path("libs"), read_patch("N-03", "4.3.1"), (), ())
    said = describe_patch(patched, tried, lambda text, tone: text, 120)
    assert said.startswith("fixed" if is_fixed else "not shown to be fixed")
    assert ("is not possible any more" in said) is is_fixed
    entry: dict[str, Any] = json.loads(patch_json(patched, tried))
    assert (entry["without"]["verdict"], entry["with"]["verdict"]) == ("reproduced", "agrees")
    assert (entry["fixed"], entry["all_with"] is None) == (is_fixed, then is None)
