"""The machine code that is made of models: every change of it is seen, and whoever means one records it.

With tests/support in PYTHONPATH this file does that: it is enough to run it.
"""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import pytest

from insync.explorer.symmetry import symmetry_for
from insync.machine.kernels import WALKS, Part, store_text, texts
from insync.model import Model
from insync.model.abstraction import abstraction_of
from insync.properties.registry import judge
from insync_meanings import Record
from insync_post import Post
from insync_symmetric import Gossip, Mixed, Relations, TwoPhase
from insync_symmetric_protocols import Election, Requests
from insync_toys import DieHard, Ledger, TokenRing

RECORD = Record(Path(__file__).parent / "texts.json")
MODELS: list[Model] = [
    DieHard(), TokenRing(), Ledger(), Post(), Gossip(), TwoPhase(), Mixed(), Relations(), Election(), Requests()
]  # fmt: skip


def found(model: Model) -> dict[str, str]:
    judged = judge(model)
    symmetry = symmetry_for(model, {}).symmetry if model.program.symmetry is not None else None
    made = texts(model.program, judged.nodes, tuple(Part), symmetry)
    return {text.part.value: f"{crc32(text.make().encode()):08x}" for text in made.parts}


def of_stores() -> dict[str, str]:
    return {str(words): f"{crc32(store_text(words).make().encode()):08x}" for words in (1, 2, 3, 5)}


def of_noting() -> dict[str, str]:
    """With an abstraction, which has the text of a walk change, and of nothing else."""
    made = [texts(model.program, (), WALKS, abstraction=abstraction_of(model)).parts for model in MODELS[:3]]
    return {
        f"{model.name} {text.part}": f"{crc32(text.make().encode()):08x}"
        for model, parts in zip(MODELS, made, strict=False)
        for text in parts
    }


@pytest.mark.slow_for("election")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model.name))
def test_the_text_of_each_part_is_what_it_was(model: Model) -> None:
    assert found(model) == RECORD.known(model.name)


def test_the_text_of_stores_is_what_it_was() -> None:
    assert of_stores() == RECORD.known("stores")


def test_the_text_of_walks_that_note_abstract_states_is_what_it_was() -> None:
    assert of_noting() == RECORD.known("noting")


if __name__ == "__main__":
    for one in MODELS:
        RECORD.write(one.name, found(one))
    RECORD.write("stores", of_stores())
    RECORD.write("noting", of_noting())
