"""How often walks meet each known difference, and each step that cannot be brought about: no more often than on record.

A reason that grows covers what it did not cover before. The counts are those of one program: whoever changes the model
runs this file, with tests/support in PYTHONPATH and the jars in the cache, which records them again, and looks at the
difference.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from insync.conformance.classes.harness import Harness
from insync.conformance.comparing.conform import EVERYTHING, Conformance, Conforming, conform_walks
from insync.conformance.jars.pinned import pinned
from insync.conformance.jars.store import is_stored, stored_jars
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import release_of
from insync_classes import HarnessOf, JarsOf
from insync_digests import program_digest

FILE = Path(__file__).parent / "known_differences.json"
VERSIONS = ("3.9.2", "4.1.2", "4.3.1", "4.4.0")
WALKS, SEED = 25, 390039


def model_of(version: str) -> Cluster:
    return Cluster(**{"release": release_of(version).value, **EVERYTHING, "spares": 1})


def program_of(model: Cluster) -> str:
    return f"{crc32(repr(program_digest(model, only=())).encode()):08x}"


def counts_of(found: Conformance) -> dict[str, int]:
    """How often each reason was met, whatever the action."""
    counts: Counter[str] = Counter()
    for (_, reason), count in found.gaps.items():
        counts[reason] += count
    return dict(sorted(counts.items()))


def recorded() -> dict[str, Any]:
    known: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return known


def grown(known: dict[str, int], met: dict[str, int]) -> list[str]:
    """What was met more often than it is known to be."""
    return [f"{reason}: {known.get(reason, 0)}, now {n}" for reason, n in met.items() if n > known.get(reason, 0)]


@pytest.mark.kafka
@pytest.mark.timeout(300)
@pytest.mark.parametrize("version", VERSIONS)
def test_no_known_difference_is_met_more_often_than_on_record(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    model, known = model_of(version), recorded()[version]
    assert (WALKS, SEED, program_of(model)) == (known["walks"], known["seed"], known["program"]), "record them again"
    with harness_of(jars_of(version)) as harness:
        found = conform_walks(model, harness, walks=WALKS, seed=SEED)
    assert found.verdict is Conforming.AGREES
    assert grown(known["met"], counts_of(found)) == []
    assert counts_of(found) == known["met"], "some are met less often: record them again"


def test_a_count_that_grows_and_a_reason_that_is_new_are_seen() -> None:
    known = {"a": 2, "b": 1}
    assert grown(known, {"a": 2, "b": 1}) == grown(known, {"a": 1}) == []
    assert grown(known, {"a": 3, "c": 1}) == ["a: 2, now 3", "c: 0, now 1"]


if __name__ == "__main__":
    entries = recorded() if FILE.exists() else {}
    for each in VERSIONS:
        if not is_stored(pinned(each)):
            continue
        with Harness(stored_jars(pinned(each))) as here:
            came = conform_walks(model_of(each), here, walks=WALKS, seed=SEED)
        assert came.verdict is Conforming.AGREES, came
        entry = {"walks": WALKS, "seed": SEED, "program": program_of(model_of(each)), "met": counts_of(came)}
        entries[each] = entry
    FILE.write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")
