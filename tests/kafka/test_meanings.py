"""What the older models and `placement` say, in states that they reach and in states beside them.

Whoever changes one on purpose runs this file, with tests/support in PYTHONPATH, which records it again.
"""

from __future__ import annotations

from collections.abc import Collection

import pytest

from insync.model import Model
from insync.model.catalogue import BUILT_IN, find_model
from insync_meanings import KAFKA, beside, conditions, meanings, simplicity, states_of, words

OLDER = [name for name in BUILT_IN if name != "cluster"]


def found(name: str, only: Collection[str] | None = None) -> dict[str, str]:
    """The numbers of a model, by some properties alone: tests may declare more of it."""
    model: Model = find_model(name)()
    states = beside(model, states_of(model))
    read = {**words(model, states, only), **conditions(model, only)}
    return {"(program)": simplicity(model), **meanings(model, states, only), **read}


@pytest.mark.slow_for("kraft_published")
@pytest.mark.parametrize("name", OLDER)
def test_actions_and_properties_mean_what_they_meant(name: str) -> None:
    known = KAFKA.known(name)
    now = found(name, known)
    assert {one: now[one] for one in known} == known


if __name__ == "__main__":
    for one in OLDER:
        KAFKA.write(one, found(one))
