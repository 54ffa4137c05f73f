"""Patches in Kafka's released classes: the defect is there without one, and not there with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.conformance.classes.harness import Harness
from insync.conformance.given_trace import given_trace
from insync.conformance.patches.fixed_trace import fixed_trace
from insync.conformance.patches.patched_jars import read_patch
from insync.conformance.replay import KafkaVerdict, replay_on_kafka
from insync_classes import HarnessOf, JarsOf
from insync_patched import patched, with_patch

LINE = "                return new ReplicaState("

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]


ON_NO_PAGE = [("N-03", "3.9.2"), ("N-14", "4.1.2"), ("N-18", "4.1.2")]
ON_A_PAGE = [
    ("N-01", "4.1.2"),
    ("N-01", "4.3.1"),
    ("N-02", "4.0.2"),
    ("N-02", "4.3.1"),
    ("N-03", "4.3.1"),
    ("R-46", "4.3.1"),
    ("N-12", "4.3.1"),
    ("N-13", "4.3.1"),
    ("N-19", "4.1.2"),
    ("N-19", "4.3.1"),
    ("N-20", "4.3.1"),
]
"""Those that a page of docs/findings tries by its command, which is a test as well: here they are slow."""


@pytest.mark.parametrize(
    ("name", "version"), [*ON_NO_PAGE, *(pytest.param(*each, marks=pytest.mark.slow) for each in ON_A_PAGE)]
)
def test_a_patch_fixes_its_defect(jars_of: JarsOf, harness_of: HarnessOf, name: str, version: str) -> None:
    jars = jars_of(version)
    model, claim = given_trace(name)
    fixed = fixed_trace(claim, model, name)
    assert fixed.holds
    with harness_of(jars) as harness:
        assert replay_on_kafka(claim, model, harness).verdict is KafkaVerdict.REPRODUCED
    with harness_of(with_patch(name, jars)) as harness:
        assert replay_on_kafka(fixed.trace, fixed.model, harness).verdict is KafkaVerdict.AGREES


def test_to_compile_the_same_source_again_changes_nothing(jars_of: JarsOf, tmp_path: Path) -> None:
    path = "server/src/main/java/org/apache/kafka/server/replica/Replica.java"
    (tmp_path / "nothing.patch").write_text(f"--- a/{path}\n+++ b/{path}\n@@ -131 +131 @@\n {LINE}\n")
    model, claim = given_trace("N-01")
    with Harness(patched(read_patch(str(tmp_path / "nothing.patch"), "4.3.1"), jars_of("4.3.1"))) as harness:
        assert replay_on_kafka(claim, model, harness).verdict is KafkaVerdict.REPRODUCED
