"""The address of a state leads to that state, in this model and under these bounds alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.explorer import Exploration, explore
from insync.model import Model, UserError
from insync_initials import Cabinet
from insync_toys import TOYS, DieHard, TokenRing

models = st.sampled_from(range(len(TOYS))).map(TOYS.__getitem__)


@given(models, st.integers(0, 1000), st.integers(0, 40))
def test_an_address_leads_to_its_state_by_the_same_steps(model: Model, seed: int, steps: int) -> None:
    here = Exploration(model)
    if steps:
        here.walk(steps, seed)
    assert re.fullmatch(r"[0-9a-z-]+", here.address)
    other = explore(model, address=here.address)
    assert other.moves == here.moves
    assert other.address == here.address


def test_an_address_knows_its_initial_state() -> None:
    here = Exploration(Cabinet())
    here.start(41)
    assert explore(Cabinet(), address=here.address).here.codes == Cabinet().program.initials[41]


def test_models_and_bounds_have_addresses_of_their_own() -> None:
    addresses = [
        Exploration(model).address for model in (TokenRing(), TokenRing(nodes=4), TokenRing(two_tokens=1), DieHard())
    ]
    assert len({address.split("-")[0] for address in addresses}) == 4
    with pytest.raises(UserError, match="is of another model, or of die_hard under other bounds"):
        explore(DieHard, address=addresses[0])


@pytest.mark.parametrize("text", ["", "hello", "../../etc/passwd", "<script>", "a" * 10_000, "12345678-0--", "ü"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(
        UserError, match=r"is not the address of a state; give one that begins with [0-9a-f]{8}-"
    ) as refused:
        explore(DieHard, address=text)
    assert len(str(refused.value)) < 250


def test_an_address_that_was_changed_is_refused() -> None:
    here = Exploration(DieHard())
    here.walk(3, 1)
    mark, initial, steps, state = here.address.split("-")
    other = "0" if steps[-1] != "0" else "1"
    for changed, why in (
        ((mark, initial, steps, "0000" if state != "0000" else "1111"), "lead to another state"),
        ((mark, initial, "z" * len(steps), state), "none of die_hard"),
        ((mark, "9", steps, state), "none of the initial states"),
    ):
        with pytest.raises(UserError, match=why):
            explore(DieHard, address="-".join(changed))
    with pytest.raises(UserError, match="the text was changed"):
        explore(DieHard, address="-".join((mark, initial, steps[:-1] + other, state)))


def test_a_step_that_cannot_be_taken_is_named() -> None:
    here = Exploration(TokenRing())
    mark, initial, _, state = here.address.split("-")
    stop = here.actions_called("stop(node=n1)")[0]
    with pytest.raises(UserError, match="Step 1 of this address, 'n1: stop', cannot be taken"):
        explore(TokenRing(), address=f"{mark}-{initial}-{stop}-{state}")
