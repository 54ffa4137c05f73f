"""The programs of the models that come with insync, of the examples and of the corners of the language, part by part.

No rewrite of the language, the tracer or the models changes a number here without a reason. Whoever means a change runs
`make records`; the difference of tests/digests.json says which parts of which models changed.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from zlib import crc32

import pytest

from insync.kafka.releases import Release
from insync.model.catalogue import BUILT_IN, find_model
from insync.model.expressions.graph import Graph, Op
from insync.model.expressions.simplify import apply
from insync_digests import digests_of, program_digest
from insync_meanings import Record

ROOT = Path(__file__).parents[1]
RECORD = Record(Path(__file__).parent / "digests.json")

EVERYTHING: dict[str, int | str] = {
    "replicas": 2, "records": 2, "retries": 1, "producer_restarts": 1, "crashes": 1, "stops": 1, "elections": 1,
    "pauses": 1, "throttles": 1, "moves": 1, "directory_losses": 1, "directory_failures": 1, "deletions": 1,
    "reassignments": 1, "spares": 1, "controllers": 3, "failovers": 1, "session_losses": 1, "alter_retries": 1,
    "minimum_changes": 1, "metadata_lag": 1, "late_replies": "on", "isr_replies": "on", "fetch_sessions": "on",
    "old_checkpoints": "on", "consumer": "follower", "deletion_answers": "on", "write_errors": "on",
    "flushing": "sometimes",
}  # fmt: skip
"""What gives a cluster all its actions."""


REASSIGNED: dict[str, int | str] = {
    "records": 1, "spares": 1, "reassignments": 1, "minimum_changes": 1, "isr_replies": "on", "consumer": "follower",
}  # fmt: skip
"""What a broker may be told by a snapshot, or not."""


class Chosen(NamedTuple):
    """A model under bounds and settings; what is not named has its default."""

    model: str
    bounds: Mapping[str, int | str] = MappingProxyType({})
    words: str = ""

    def __str__(self) -> str:
        return f"{self.model}, {self.words}" if self.words else self.model


def models_in(folder: str) -> list[str]:
    """Return the models that the files of a folder define, as `find_model` takes them."""
    return [
        f"{file.relative_to(ROOT)}:{node.name}"
        for file in sorted((ROOT / folder).glob("*.py"))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and any(getattr(part, "name", "") == "declare" for part in node.body)
    ]


FIRST, *BETWEEN, LAST = (release.value for release in Release)
KAFKAS = {"answers": "awaited", "hearing": "kafka", "ballots": "kafka", "leaving": "kafka"}
QUICK = [
    *map(Chosen, (*BUILT_IN, *models_in("examples"), *models_in("examples/tlaplus"), *models_in("tests/support"))),
    *(Chosen("cluster", {**EVERYTHING, "release": each}, f"everything, {each}") for each in (FIRST, LAST)),
    Chosen("cluster", {**REASSIGNED, "snapshots": 1}, "snapshots"),
    Chosen("kraft", {"servers": 2, "restarts": 1, "resignations": 1, "answers": "awaited", "pre_votes": "on"}, "more"),
    Chosen("kraft_853", {**KAFKAS, "records": 0, "removals": 1, "restarts": 1, "pre_votes": "on"}, "Kafka's"),
    Chosen("consumer_group", {"deaths": 1, "resets": 1, "additions": 1}, "more"),
]


def digest_of(chosen: Chosen, only: Collection[str] | None = None) -> dict[str, str]:
    """Return the digest of a model by the properties on record; tests may declare more of the models of insync."""
    path, colon, name = chosen.model.rpartition(":")
    return program_digest(find_model(f"{ROOT / path}{colon}{name}" if path else name)(**chosen.bounds), only)


def test_a_digest_depends_on_what_is_said_and_not_on_the_order_of_nodes() -> None:
    one, other = Graph([4, 4]), Graph([4, 4])
    other.cell(1)
    first, second = (apply(Op.ADD, graph.cell(0), graph.cell(1)) for graph in (one, other))
    turned = apply(Op.ADD, other.cell(1), other.cell(0))
    assert digests_of([first]) == digests_of([second]) == digests_of([turned])
    less, more = (apply(Op.SUB, one.cell(n), one.cell(1 - n)) for n in (0, 1))
    assert len({*digests_of([first, less, more])}) == 3


@pytest.mark.parametrize("chosen", QUICK, ids=str)
def test_every_part_of_a_program_is_as_it_was(chosen: Chosen) -> None:
    known = RECORD.known(str(chosen))
    assert digest_of(chosen, known) == known


def rules_of(release: str) -> dict[str, str]:
    """Return one number for all parts of a release's cluster but its properties, and those two that are numbers."""
    found = digest_of(Chosen("cluster", {**EVERYTHING, "release": release}), only=())
    return {"(nodes)": found["(nodes)"], "(all)": f"{crc32(repr(found).encode()):08x}"}


@pytest.mark.slow
@pytest.mark.parametrize("release", BETWEEN)
def test_the_program_of_a_release_is_as_it_was(release: str) -> None:
    assert rules_of(release) == RECORD.known(f"cluster, everything, {release}")


if __name__ == "__main__":
    RECORD.path.unlink(missing_ok=True)
    for one in QUICK:
        RECORD.write(str(one), digest_of(one))
    for each in BETWEEN:
        RECORD.write(f"cluster, everything, {each}", rules_of(each))
