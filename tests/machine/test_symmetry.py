"""Representatives against their definition: the law of a canonical form, and orbits by brute force."""

from __future__ import annotations

import math
import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insync.machine.emit import member_orders
from insync.machine.emit.sorting_networks import exchanges
from insync.machine.kernels import Kernels, Part, compile_kernels
from insync.machine.packed import PackedRows
from insync.model import Array, BoundValues, Index, Int, Model, State
from insync.model.symmetry.group import Permutation, Symmetry
from insync_symmetric import Columns, Links, Mixed, Relations
from insync_symmetric_shapes import SHAPES as COLLECTED
from insync_symmetric_shapes import value_from

SHAPES: list[Model] = [
    *COLLECTED,
    Columns(nodes=1, others=2),
    Columns(nodes=4, others=3),
    Columns(nodes=5, others=1),
    Relations(nodes=3, others=2),
    Relations(nodes=4, others=1),
    Links(nodes=2, others=2),
    Links(nodes=3, others=2),
    Mixed(nodes=2, others=1),
    Mixed(nodes=3, others=3),
]


@cache
def kernels_of(model: Model) -> Kernels:
    return compile_kernels(model.program, parts=(Part.EXPAND,), symmetry=model.program.symmetry)


def symmetry_of(model: Model) -> Symmetry:
    found = model.program.symmetry
    assert found is not None
    return found


@st.composite
def cases(draw: st.DrawFn) -> tuple[Model, tuple[int, ...], Permutation]:
    model = draw(st.sampled_from(SHAPES))
    most = draw(st.sampled_from([1, 2, 1 << 20]))  # few codes make members that are alike
    # The last code of a set is all of its members, which a number that is drawn evenly nearly never is.
    drawn = [
        draw(st.integers(0, min(most, cell.size - 1)) | st.just(cell.size - 1)) for cell in model.program.schema.cells
    ]
    codes = tuple(value_from(model.state, drawn))
    moved = [tuple(draw(st.permutations(range(size)))) for size in symmetry_of(model).sizes]
    return model, codes, tuple(moved)


def _have_one_representative(model: Model, codes: tuple[int, ...], permutation: Permutation) -> None:
    kernels, schema, symmetry = kernels_of(model), model.program.schema, symmetry_of(model)
    least = kernels.representative(schema.pack(codes))
    assert kernels.representative(schema.pack(symmetry.image(codes, permutation))) == least
    assert kernels.representative(least) == least


@pytest.mark.parametrize(
    "model", SHAPES, ids=lambda model: f"{model.name}-{'-'.join(map(str, dict(model.b).values()))}"
)
def test_states_at_random_and_their_permutations_have_one_representative(model: Model) -> None:
    """The law below, of states that cost little to make; Hypothesis makes others, and small ones where it fails."""
    chance = random.Random(3)
    sizes = [cell.size for cell in model.program.schema.cells]
    for example in range(60):
        most = (1, 2, 1 << 20)[example % 3]
        drawn = [size - 1 if chance.random() < 0.3 else chance.randrange(min(most + 1, size)) for size in sizes]
        permutation = tuple(tuple(chance.sample(range(size), size)) for size in symmetry_of(model).sizes)
        _have_one_representative(model, tuple(value_from(model.state, drawn)), permutation)


@pytest.mark.parametrize(
    "model", SHAPES, ids=lambda model: f"{model.name}-{'-'.join(map(str, dict(model.b).values()))}"
)
def test_a_few_representatives_stand_for_their_orbits(model: Model) -> None:
    """The other law below, in the same way."""
    chance, cells = random.Random(4), model.program.schema.cells
    for example in range(6):
        most = (1, 2, 1 << 20)[example % 3]
        drawn = [chance.randrange(min(most + 1, cell.size)) for cell in cells]
        _stands_for_its_orbit(model, tuple(value_from(model.state, drawn)))


def test_code_for_each_order_makes_the_representatives_that_code_for_any_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [model for model in SHAPES if symmetry_of(model).relational and orders_of(model) <= 6]
    assert {orders_of(model) for model in few} >= {2, 6}
    for model in few:
        by_itself, any_order = kernels_of(model), general_kernels_of(model, monkeypatch)
        chance, schema = random.Random(5), model.program.schema
        for _ in range(100):
            drawn = [chance.randrange(cell.size) for cell in schema.cells]
            state = schema.pack(value_from(model.state, drawn))
            assert by_itself.representative(state) == any_order.representative(state)


def orders_of(model: Model) -> int:
    symmetry = symmetry_of(model)
    return math.prod(math.factorial(symmetry.sizes[sort]) for sort in symmetry.relational)


def general_kernels_of(model: Model, monkeypatch: pytest.MonkeyPatch) -> Kernels:
    with monkeypatch.context() as patched:
        patched.setattr(member_orders, "_MOST_ORDERS", 0)
        return compile_kernels(model.program, parts=(Part.EXPAND,), symmetry=model.program.symmetry)


@pytest.mark.slow
@given(cases())
@settings(max_examples=300, deadline=None)
def test_a_state_and_its_permutations_have_one_representative(
    case: tuple[Model, tuple[int, ...], Permutation],
) -> None:
    _have_one_representative(*case)


@pytest.mark.slow
@given(cases())
@settings(max_examples=150, deadline=None)
def test_a_representative_stands_for_its_orbit(case: tuple[Model, tuple[int, ...], Permutation]) -> None:
    model, codes, _ = case
    _stands_for_its_orbit(model, codes)


def _stands_for_its_orbit(model: Model, codes: tuple[int, ...]) -> None:
    kernels, schema, symmetry = kernels_of(model), model.program.schema, symmetry_of(model)
    orbit = {schema.pack(symmetry.image(codes, each)) for each in symmetry.permutations()}
    assert kernels.representative(schema.pack(codes)) in orbit
    rows = PackedRows([schema.pack(codes)] * 3)
    assert kernels.states_of(rows.address, 3) == 3 * len(orbit)


def test_orbits_are_counted_beyond_64_bits() -> None:
    """Twenty members that all differ are 20! states: eight such states together are more than 2^64."""

    class Clerk(Index, symmetric=True):
        size = 20

    class Desks(Model):
        def declare(self, b: BoundValues) -> State:
            return State(desk=Array(Clerk, Int(0, 31)))

    model = Desks()
    states = [tuple(range(first, first + 20)) for first in range(9)]
    rows = PackedRows([model.program.schema.pack(codes) for codes in states])
    kernels = kernels_of(model)
    assert [kernels.states_of(rows.address, count) for count in range(10)] == [
        count * math.factorial(20) for count in range(10)
    ]
    assert 7 * math.factorial(20) < 2**64 < 8 * math.factorial(20)


@pytest.mark.parametrize("count", range(1, 21))
def test_exchanges_sort(count: int) -> None:
    """A network sorts if it sorts all zeros and ones; here all of few, and some of many."""
    inputs = (
        range(1 << count) if count <= 8 else [(1 << cut) - 1 << shift for cut in range(count) for shift in range(count)]
    )
    for bits in inputs:
        values = [bits >> place & 1 for place in range(count)]
        for low, high in exchanges(count):
            if values[high] < values[low]:
                values[low], values[high] = values[high], values[low]
        assert values == sorted(values)
