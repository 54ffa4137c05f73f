"""A run goes on only where all that it searches is the same, and what is not is named."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from insync.explorer.run_identity import Identity, code_of, require_same
from insync.runtime.errors import UserError
from insync_initials import Cabinet, Drawer
from insync_toys import TokenRing

IDENTITY = Identity("0.1", "kip320", {"replicas": 2}, ("strong_isr",), "c0de", within=("weak_isr",))
OTHERS: dict[str, Any] = {
    "insync": "0.2",
    "model": "kip279",
    "bounds": {"replicas": 3},
    "properties": (),
    "code": "c0ffee",
    "symmetric": True,
    "within": (),
}


def test_every_part_of_the_identity_has_another_value_here() -> None:
    assert set(OTHERS) == {part.name for part in fields(Identity)}


@pytest.mark.parametrize("part", OTHERS)
def test_a_run_of_something_else_is_refused_by_what_is_different(part: str) -> None:
    require_same("run", IDENTITY, IDENTITY)
    other = replace(IDENTITY, **{part: OTHERS[part]})
    for found, wanted in ((IDENTITY, other), (other, IDENTITY)):
        with pytest.raises(UserError, match=f"^run: this run was made by .*: {part} is .* there and .* here"):
            require_same("run", found, wanted)


@pytest.mark.parametrize("part", OTHERS)
def test_an_identity_is_read_as_it_was_written(part: str) -> None:
    identity = replace(IDENTITY, **{part: OTHERS[part]})
    assert Identity.from_entries({**json.loads(json.dumps(identity.entries())), "more": 1}) == identity


class Elsewhere(Cabinet):
    """The same steps from other states."""

    def initial(self, s: Any) -> None:
        s.last = Drawer(1)


def test_the_code_of_a_search_is_that_of_its_rules_properties_and_initial_states() -> None:
    one, other = TokenRing().program, TokenRing(nodes=4).program
    codes = [code_of(one, (), None), code_of(one, [one.graph.true], None), code_of(one, [one.graph.false], None)]
    codes += [code_of(other, (), None), code_of(Cabinet().program, (), None), code_of(Elsewhere().program, (), None)]
    assert len(set(codes)) == len(codes)
    assert code_of(TokenRing().program, (), None) == codes[0]
