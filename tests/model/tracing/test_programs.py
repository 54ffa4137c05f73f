"""What tracing makes of models with every kind of domain: as simple as it was, and with the same meaning.

Whoever makes programs simpler runs this file, with tests/support in PYTHONPATH, which records them again.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from insync.model import Model
from insync_confined import Plane
from insync_initials import Cabinet, Probe
from insync_lamp import Lamp
from insync_meanings import Record, beside, conditions, meanings, simplicity, states_of, words
from insync_post import Post
from insync_runs import Crossing
from insync_steps import Counter, Votes
from insync_symmetric import Columns, Gossip, Messages, Mixed, Partial, Relations, TwoPhase
from insync_symmetric_protocols import PROTOCOLS
from insync_toys import TOYS

RECORD = Record(Path(__file__).parent / "programs.json")
MODELS: list[Model] = [
    *TOYS, *PROTOCOLS, Cabinet(), Columns(nodes=3, others=2), Counter(), Crossing(), Gossip(), Lamp(), Messages(),
    Mixed(), Partial(), Plane(), Post(), Probe(), Relations(), TwoPhase(), Votes(),
]  # fmt: skip


def named(model: Model) -> str:
    return f"{type(model).__module__}.{type(model).__name__} {' '.join(map(str, model.identity.values()))}".strip()


def found(model: Model, only: Collection[str] | None = None) -> dict[str, str]:
    """The numbers of a model, by some properties alone: tests of other files declare more of the same models."""
    states = beside(model, states_of(model, walks=4))
    pictures = {**words(model, states, only), **conditions(model, only)}
    return {"(program)": simplicity(model), **meanings(model, states, only), **pictures}


@pytest.mark.slow_for(
    "insync_symmetric_protocols.Election 3 1 4 0",
    "insync_symmetric_protocols.Election 3 1 5 1",
    "insync_symmetric_protocols.Paxos 3 2 1 6",
)
@pytest.mark.parametrize("model", MODELS, ids=named)
def test_a_program_is_as_simple_as_it_was_and_means_the_same(model: Model) -> None:
    known = RECORD.known(named(model))
    assert found(model, known) == known


if __name__ == "__main__":
    for one in MODELS:
        RECORD.write(named(one), found(one))
