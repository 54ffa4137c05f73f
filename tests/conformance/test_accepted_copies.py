"""What a broker makes at its start of a copy of a log that the controller has accepted: N-12.

LogManager.recoverAbandonedFutureLogs looks at whose directory the controller names, and not at where the two logs end.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from insync.conformance.catalogue.entry_traces import steps_again
from insync.conformance.classes.compiled import NEEDED_BY
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.patches.patched_jars import read_patch
from insync.conformance.replay import KafkaVerdict, replay_on_kafka
from insync.kafka.defects import DEFECTS
from insync.runtime.java import find_compiler, find_java
from insync_classes import HarnessOf, JarsOf
from insync_patched import patched

SOURCE = Path(__file__).parent / "java" / "AcceptedCopy.java"

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


def started(jars: JarSet, named: str, folder: Path) -> list[str]:
    """What the program prints, with metadata that names the directory of the log or of its copy."""
    folder.mkdir()
    text = SOURCE.read_text()
    if jars.version >= "4.3":
        text = text.replace("kafka.common.record.", "kafka.common.record.internal.")
    (folder / SOURCE.name).write_text(text)
    places = ":".join([str(folder), *map(str, jars.paths)])
    compiled = [find_compiler(NEEDED_BY), "-nowarn", "-d", str(folder), "-cp", places, str(folder / SOURCE.name)]
    subprocess.run(compiled, check=True, capture_output=True, timeout=200)
    command = [find_java(NEEDED_BY).program, "-cp", places, "AcceptedCopy", str(folder), named]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=100).stdout.splitlines()


@pytest.mark.parametrize("version", ["4.1.2", "4.3.1"])
def test_a_copy_that_lacks_a_record_takes_the_place_of_the_log_if_the_controller_names_its_directory(
    jars_of: Callable[[str], JarSet], version: str, tmp_path: Path
) -> None:
    both = "log 2, copy 1"
    assert started(jars_of(version), "copy", tmp_path / "a") == [both, "7", both, "copy 1, -"]
    assert started(jars_of(version), "log", tmp_path / "b") == [both, "7", both, both]


def test_with_a_comparison_the_log_stays(jars_of: Callable[[str], JarSet], tmp_path: Path) -> None:
    both = "log 2, copy 1"
    assert started(patched(read_patch("N-12", "4.3.1"), jars_of("4.3.1")), "copy", tmp_path / "a") == [
        both,
        "7",
        both,
        both,
    ]


LAST_IN_ISR = (
    ("fence", {"replica": "b2"}),
    ("start_move", {"replica": "b1"}),
    ("accept_copy", {"replica": "b1"}),
    ("write", {"leader": "b1"}),
    ("fetch", {"follower": "b2", "leader": "b1"}),
    ("fetch", {"follower": "b2", "leader": "b1"}),
    ("apply_metadata", {"replica": "b1", "place": "0"}),
    ("begin_stop", {"replica": "b1"}),
    ("stop", {"replica": "b1"}),
    ("register", {"replica": "b1"}),
    ("unfence", {"replica": "b1"}),
    ("apply_metadata", {"replica": "b1", "place": "0"}),
)
"""r0 is acknowledged by b1 and b2, which leaves the ISR; b1, the last there, is stopped with a copy that lacks r0."""


def test_in_3_9_the_last_in_the_isr_loses_a_record_by_its_copy(jars_of: JarsOf, harness_of: HarnessOf) -> None:
    bounds = {**DEFECTS["N-12"].witness, "release": "3.9.1"}
    asked = steps_again(bounds, LAST_IN_ISR, "no_acknowledged_record_is_lost")
    assert not asked.model.features.elr
    with harness_of(jars_of("3.9.2")) as harness:
        assert replay_on_kafka(asked.trace, asked.model, harness).verdict is KafkaVerdict.REPRODUCED
