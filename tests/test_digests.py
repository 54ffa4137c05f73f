"""The programs of the models that come with insync, of the examples and of the corners of the language, part by part.

No rewrite of the language, the tracer or the models changes a number here without a reason. Whoever means a change runs
`make records`; the difference of tests/digests.json says which parts of which models changed.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from zlib import crc32

import pytest

from insync.model.expressions.graph import Graph, Op
from insync.model.expressions.simplify import apply
from insync_digests import digests_of, program_digest
from insync_every_model import BETWEEN, EVERYTHING, QUICK, Chosen
from insync_meanings import Record

RECORD = Record(Path(__file__).parent / "digests.json")


def digest_of(chosen: Chosen, only: Collection[str] | None = None) -> dict[str, str]:
    """Return the digest of a model by the properties on record; tests may declare more of the models of insync."""
    return program_digest(chosen.made(), only)


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
