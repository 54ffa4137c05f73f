from __future__ import annotations

import random
from itertools import pairwise

import pytest

from insync.machine import expander as expander_module
from insync.machine.kernels import Part, compile_kernels
from insync.machine.packed import PackedRows, Words, words_at
from insync.machine.stores.collapse import rest_masks
from insync.model.catalogue import find_model
from insync.model.domains.layout import Schema

SCHEMA = find_model("kip320")(replicas=3, log_size=3, max_records=3, max_leader_epoch=2).program.schema


def states(schema: Schema, count: int) -> list[Words]:
    chance = random.Random(count)
    return [schema.pack([chance.randrange(cell.size) for cell in schema.cells]) for _ in range(count)]


def test_what_belongs_to_no_large_element_says_who_owns_a_state() -> None:
    rest = [cell for cell in SCHEMA.cells if cell.path.startswith(("quorum", "next_", "requests"))]
    masks = [0] * SCHEMA.words
    for cell in rest:
        masks[cell.word] += (2**cell.bits - 1) * 2**cell.shift
    assert rest_masks(SCHEMA) == masks
    assert all(cell.path.startswith("replica[") for cell in SCHEMA.cells if cell not in rest)


@pytest.mark.parametrize("chunk", [1, 7, 100, 4096])
def test_each_state_is_owned_once_in_its_order_by_the_masked_bits_alone(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expander_module, "_CHUNK", chunk)
    kernels = compile_kernels(find_model("kip320")(replicas=3, log_size=3, max_records=3).program, parts=(Part.STORE,))
    masks, given = rest_masks(SCHEMA), states(SCHEMA, 500)
    ownership = kernels.ownership(masks, 5)
    given += [  # of each two that follow each other the rest of the first, and the elements of the second
        tuple(a & mask | b & ~mask for a, b, mask in zip(*pair, masks, strict=True)) for pair in pairwise(given)
    ]
    rows = PackedRows(given)
    parts = [(rows.address, 300), (rows.address + 300 * 8 * SCHEMA.words, len(given) - 300)]
    owner: dict[Words, int] = {}
    owned = []
    for number in range(5):
        mine = [
            words_at(address + 8 * SCHEMA.words * place, SCHEMA.words)
            for address, count in ownership.owned(parts, number)
            for place in range(count)
        ]
        owner |= dict.fromkeys(mine, number)
        owned.append(mine)
    assert [[state for state in given if owner[state] == number] for number in range(5)] == owned
    by_rest: dict[Words, set[int]] = {}
    for state in given:
        by_rest.setdefault(tuple(a & m for a, m in zip(state, masks, strict=True)), set()).add(owner[state])
    assert all(len(owners) == 1 for owners in by_rest.values())
    assert len(set(owner.values())) == 5
