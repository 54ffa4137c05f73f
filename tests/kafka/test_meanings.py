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
    return {"(program)": simplicity(model), **meanings(model, states, only), **words(model, states, only)}


def read_and_mutated(name: str, only: Collection[str] | None = None) -> dict[str, str]:
    """The numbers of a model's conditions, which take longer: they need the program of each mutant."""
    return conditions(find_model(name)(), only)


@pytest.mark.parametrize("name", OLDER)
def test_actions_and_properties_mean_what_they_meant(name: str) -> None:
    known = KAFKA.known(name)
    now = found(name, known)
    assert now == {one: number for one, number in known.items() if one in now}
    assert known.keys() - now.keys() == {"(shown)", "(mutants)"}


@pytest.mark.slow_for("kraft_published")
@pytest.mark.parametrize("name", OLDER)
def test_conditions_are_shown_and_left_out_as_they_were(name: str) -> None:
    known = KAFKA.known(name)
    now = read_and_mutated(name, known)
    assert now == {one: known[one] for one in now}


if __name__ == "__main__":
    for one in OLDER:
        KAFKA.write(one, {**found(one), **read_and_mutated(one)})
