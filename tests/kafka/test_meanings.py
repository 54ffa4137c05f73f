"""What the older models and `placement` say, in states that they reach and in states beside them.

Whoever changes one on purpose runs this file, with tests/support in PYTHONPATH, which records it again.
"""

from __future__ import annotations

import pytest

from insync.model import Model
from insync.model.catalogue import BUILT_IN, find_model
from insync_meanings import KAFKA, beside, conditions, meanings, simplicity, states_of, words

OLDER = [name for name in BUILT_IN if name != "cluster"]


def found(name: str) -> dict[str, str]:
    model: Model = find_model(name)()
    states = beside(model, states_of(model))
    return {"(program)": simplicity(model), **meanings(model, states), **words(model, states), **conditions(model)}


@pytest.mark.parametrize("name", OLDER)
def test_actions_and_properties_mean_what_they_meant(name: str) -> None:
    known, now = KAFKA.known(name), found(name)
    assert {one: now[one] for one in known} == known


if __name__ == "__main__":
    for one in OLDER:
        KAFKA.write(one, found(one))
