from __future__ import annotations

import ctypes
import random
from collections.abc import Sequence

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from insync.machine.packed import PackedRows, Words
from insync.machine.store_kernels import code_kernels
from insync.machine.stores import collapse as codec_module
from insync.machine.stores import compressed
from insync.machine.stores.collapse import (
    MOST_CODE_BITS,
    MOST_VALUE_BITS,
    ROOMS,
    BitRun,
    Codec,
    Component,
    DictionaryField,
    components_of,
)
from insync.machine.stores.compressed import CodedStore
from insync.machine.stores.store import InsertOutcome
from insync.model import Array, BoundValues, Index, Int, Model, Record, State, StateView, action
from insync.model.catalogue import find_model
from insync.model.domains.layout import Schema


class Site(Index):
    size = 2


class WideNumbers(Model):
    """Cells that are wider than the value of a component may be."""

    def declare(self, b: BoundValues) -> State:
        of_site = Record(at=Int(0, 2**MOST_VALUE_BITS), kind=Int(0, 5))
        return State(far=Int(1, 2**62), site=Array(Site, of_site))

    @action
    def write(self, s: StateView, site: Site) -> None:
        s.site[site].at = s.far


SMALL = find_model("kip320")(replicas=3, log_size=3, max_records=3, max_leader_epoch=2)
MODELS = [
    SMALL,
    find_model("kip320")(replicas=3, log_size=3, max_records=3, max_leader_epoch=4),
    find_model("kip320")(replicas=5, log_size=2, max_records=2, max_leader_epoch=1),
    find_model("cluster")(),
    find_model("async_isr")(replicas=3, max_offset=1, max_version=1),
    WideNumbers(),
]


def states(schema: Schema, count: int, variety: int) -> list[Words]:
    """States whose parts have so many values each, at most, most of them none that a model would have."""
    chance = random.Random(variety)
    values = [[chance.randrange(cell.size) for cell in schema.cells] for _ in range(variety)]
    parts = [cell.path.partition("]")[0] if "]" in cell.path else "" for cell in schema.cells]
    made = []
    for _ in range(count):
        chosen = {part: chance.choice(values) for part in dict.fromkeys(parts)}
        made.append(schema.pack([chosen[part][number] for number, part in enumerate(parts)]))
    return made


def given_store(schema: Schema, first: Sequence[Words], expected: int = 100, *, rounds: int = 0) -> CodedStore:
    kernels = code_kernels(schema, rounds)
    codec = kernels.codec()
    rows = PackedRows(first)
    assert codec.learn(rows.address, rows.count)
    return CodedStore(kernels, codec, expected, 1 << 26)


def fresh_states(store: CodedStore) -> list[Words]:
    return read(store, store.fresh, fresh=True)


def read(store: CodedStore, count: int, fresh: bool) -> list[Words]:
    rows = PackedRows([(0,) * store.words] * max(1, count))
    for start in range(0, count, 1000):
        store.decode(start, min(1000, count - start), rows.address + 8 * store.words * start, fresh)
    content = memoryview(rows.content(store.words)).cast("Q").tolist()
    return [tuple(content[at : at + store.words]) for at in range(0, store.words * count, store.words)]


def add(store: CodedStore, given: Sequence[Words]) -> InsertOutcome:
    rows = PackedRows(given)
    return store.insert(rows.address, rows.count, lambda _: True)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.identity)
def test_every_bit_of_a_state_is_in_one_component(model: Model) -> None:
    schema = model.program.schema
    bits = [
        (piece.word, bit)
        for component in components_of(schema)
        for piece in component.pieces
        for bit in range(piece.shift, piece.shift + piece.bits)
    ]
    assert sorted(bits) == sorted(
        (cell.word, bit) for cell in schema.cells for bit in range(cell.shift, cell.shift + cell.bits)
    )
    assert all(0 < component.bits <= MOST_VALUE_BITS for component in components_of(schema))


def test_the_elements_of_an_array_have_values_that_mean_the_same_wherever_their_cells_lie() -> None:
    """At these bounds the cells of the last replica lie in another order than those of the first."""
    schema = MODELS[1].program.schema
    first, second, third, _ = components_of(schema)
    assert first.shape == second.shape == third.shape
    assert first.pieces != third.pieces
    assert len(third.pieces) > 1

    def value(component: Component, words: Words) -> int:
        return sum((words[p.word] >> p.shift & (1 << p.bits) - 1) << p.at for p in component.pieces)

    codes = {cell.path: number % cell.size for number, cell in enumerate(schema.cells)}
    for cell in schema.cells:
        if cell.path.startswith("replica[b3]"):
            codes[cell.path] = codes[cell.path.replace("b3", "b1")]
    state = schema.pack([codes[cell.path] for cell in schema.cells])
    assert value(first, state) == value(third, state)


def test_neighbouring_cells_are_one_piece() -> None:
    first, second, third, _ = components_of(SMALL.program.schema)
    assert first.pieces == (BitRun(0, 0, 26, 0),)
    assert second.pieces == (BitRun(0, 26, 26, 0),)
    assert third.pieces == (BitRun(0, 52, 11, 0), BitRun(1, 0, 15, 11))


@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
@pytest.mark.parametrize("variety", [1, 7, 60])
@pytest.mark.parametrize("model", [MODELS[1], MODELS[4], MODELS[5]], ids=lambda model: model.identity)
def test_a_store_is_a_set_of_states_in_order_of_discovery(model: Model, variety: int, rounds: int) -> None:
    schema = model.program.schema
    given = states(schema, 1_500, variety)
    given += random.Random(0).choices(given, k=500)
    store = given_store(schema, given, rounds=rounds)
    assert add(store, given[:700]) is InsertOutcome.DONE
    assert add(store, given[700:]) is InsertOutcome.DONE
    assert fresh_states(store) == list(dict.fromkeys(given))
    store.close()


@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
def test_codes_are_laid_out_wider_when_there_are_more_values_and_stay_the_same_states(rounds: int) -> None:
    schema = SMALL.program.schema
    given = list(dict.fromkeys(states(schema, 3_000, 300)))
    store = given_store(schema, given[:3], rounds=rounds)
    narrow = store.codec.layout.bits
    assert add(store, given[:1_000]) is InsertOutcome.DONE
    store.next_level()
    assert add(store, given) is InsertOutcome.DONE
    assert store.codec.layout.bits > narrow + 6
    assert read(store, store.current, fresh=False) == given[:1_000]
    assert fresh_states(store) == given[1_000:]
    assert len(store) == len(given)
    store.next_level()
    assert add(store, given) is InsertOutcome.DONE
    assert store.fresh == 0
    store.close()


def test_states_that_are_not_read_again_take_no_memory_and_the_others_stay_when_codes_are_laid_out_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compressed, "_GIVEN_BACK", 512)  # codes, a page
    schema = SMALL.program.schema
    given = list(dict.fromkeys(states(schema, 6_000, 300)))
    store = given_store(schema, given[:3])
    assert add(store, given[:2_000]) is InsertOutcome.DONE
    store.next_level()
    before = store.used_bytes
    store.forget(511)
    assert store.used_bytes == before
    store.forget(1_024)
    assert store.used_bytes == before - 8 * 1_024
    address, _ = store.codes()
    assert ctypes.string_at(address, 8 * 1_024) == bytes(8 * 1_024)
    narrow = store.codec.layout.bits
    assert add(store, given) is InsertOutcome.DONE
    assert store.codec.layout.bits > narrow
    assert ctypes.string_at(address, 8 * 1_024) == bytes(8 * 1_024)
    assert read(store, store.current, fresh=False)[1_024:] == given[1_024:2_000]
    assert fresh_states(store) == given[2_000:]
    store.next_level()
    assert ctypes.string_at(address, 8 * 2_000 // 4_096 * 4_096) == bytes(8 * 2_000 // 4_096 * 4_096)
    assert read(store, store.current, fresh=False) == given[2_000:]
    store.close()


Batch = tuple[int, int, int | None, bool]
"""So many states of such a variety, after how many that are not read again the next level begins, if it does, and
whether the table of another store has grown before."""


@settings(max_examples=20, deadline=None)
@drawn(
    rounds=st.integers(0, 1),
    expected=st.sampled_from([0, 50, 4_000]),
    growths=st.tuples(st.floats(1.0, 3.0), st.floats(1.0, 2.0), st.floats(1.0, 4.0)),
    rooms=st.lists(st.sampled_from([4.0, 2.0, 1.25, 1.0]), min_size=1, unique=True),
    batches=st.lists(
        st.tuples(
            st.sampled_from([1_500, 700, 100, 1]),
            st.sampled_from([60, 12, 7, 3, 1]),
            st.none() | st.integers(0, 1_500),
            st.booleans(),
        ),
        min_size=2,
        max_size=6,
    ),
)
def test_a_store_stays_a_set_however_table_and_codes_grow(
    rounds: int, expected: int, growths: tuple[float, float, float], rooms: list[float], batches: list[Batch]
) -> None:
    schema = SMALL.program.schema
    with pytest.MonkeyPatch.context() as patch:
        for name, value in zip(("_GROWTH", "_GROWTH_OF_LARGE", "_NEAR"), growths, strict=True):
            patch.setattr(compressed, name, value)
        patch.setattr(compressed, "_LARGE", 1 << 14)  # bytes: it grows as a large one when it is still small
        patch.setattr(compressed, "CHUNK", 64)  # else a table is made for so many more at once
        patch.setattr(compressed, "_GIVEN_BACK", 512)
        patch.setattr(compressed, "ROOMS", tuple(sorted(rooms, reverse=True)))
        store = given_store(schema, states(schema, 3, 3), 1, rounds=rounds)
        known, current, forgotten = set[Words](), list[Words](), 0
        fresh: dict[Words, None] = {}
        for count, variety, passed, turned in batches:
            store.turns.count += turned
            given = states(schema, count, variety)
            store.expected = expected
            assert add(store, given) is InsertOutcome.DONE
            fresh.update(dict.fromkeys(state for state in given if state not in known))
            assert fresh_states(store) == list(fresh)
            assert read(store, store.current, fresh=False)[forgotten:] == current[forgotten:]
            assert len(store) == len(known) + len(fresh)
            if passed is not None:
                known, current, fresh = known.union(fresh), list(fresh), {}
                store.next_level()
                forgotten = min(passed, len(current))
                store.forget(forgotten)
        store.close()


def test_pairs_of_which_there_are_few_make_codes_narrower() -> None:
    """States of five replicas, the first two of which are always the same, as are the next two."""
    schema = MODELS[2].program.schema
    cells = [cell.path for cell in schema.cells]
    given = []
    for codes in map(schema.unpack, states(schema, 3_000, 3_000)):
        known = dict(zip(cells, codes, strict=True))
        for name in cells:
            for copy, original in (("b2", "b1"), ("b4", "b3")):
                if name.startswith(f"replica[{copy}]"):
                    known[name] = known[name.replace(copy, original)]
        given.append(schema.pack([known[name] for name in cells]))
    rows = PackedRows(given)
    narrow = {}
    for rounds in range(3):
        codec = code_kernels(schema, rounds).codec()
        narrow[rounds] = codec.learn(rows.address, rows.count)
        codec.close()
    assert narrow == {0: False, 1: True, 2: True}
    store = given_store(schema, given, rounds=1)
    assert add(store, given) is InsertOutcome.DONE
    assert fresh_states(store) == list(dict.fromkeys(given))
    store.close()


def test_of_a_part_that_is_paired_fewer_values_can_be_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = SMALL.program.schema
    given = states(schema, 3_000, 300)
    monkeypatch.setattr(codec_module, "PAIRED_BITS", 5)
    assert not given_store(schema, given[:3]).codec.has_used_all_numbers
    store = given_store(schema, given[:3], rounds=1)
    assert add(store, given) is InsertOutcome.NO_CODES
    assert max(store.codec.counts[:2]) == 32
    store.close()


def test_codes_that_would_be_wider_than_a_word_are_refused() -> None:
    schema = MODELS[2].program.schema
    given = states(schema, 3_000, 3_000)  # five replicas of thousands of values each
    kernels = code_kernels(schema)
    rows, codec = PackedRows(given), kernels.codec()
    assert not codec.learn(rows.address, rows.count)
    codec.close()
    store = given_store(schema, given[:3])
    assert add(store, given) is InsertOutcome.NO_CODES
    assert store.codec.layout.bits <= MOST_CODE_BITS
    store.close()


def test_no_more_states_are_looked_at_than_show_that_codes_are_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = MODELS[2].program.schema
    given = states(schema, 3_000, 3_000)
    monkeypatch.setattr(codec_module, "_CHUNK", 100)
    rows, codec = PackedRows(given), code_kernels(schema).codec()
    assert not codec.learn(rows.address, rows.count)
    assert codec.bits_with(2.0) > MOST_CODE_BITS
    assert max(codec.counts) < len(given) // 2
    codec.close()


def learned(given: Sequence[Words]) -> tuple[Codec, bool]:
    """A codec that has numbered the values of these states, and whether codes of them are narrow enough."""
    kernels, rows = code_kernels(SMALL.program.schema), PackedRows(given)
    codec = kernels.codec()
    return codec, codec.learn(rows.address, rows.count)


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("variety", [1, 2, 4, 7, 8, 9, 16])
def test_a_layout_is_as_narrow_as_the_room_that_it_has_allows(variety: int, room: float) -> None:
    """There is always room for one more value; a part of few bits needs no room for values that it cannot have."""
    codec, _ = learned(states(SMALL.program.schema, 200, variety))
    codec.lay_out(room)
    for component, width in zip(codec.digits, codec.layout.widths, strict=True):
        count = codec._get(component.shape, DictionaryField.COUNT)
        enough = max(count + 1, int(count * room))
        assert 2**width >= min(enough, 2**component.bits)
        assert width == 0 or 2 ** (width - 1) < enough
    codec.close()


def test_codes_are_begun_with_the_most_room_that_a_word_has_and_not_with_less_than_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = states(SMALL.program.schema, 500, 40)
    codec, _ = learned(given)
    four, two = codec.bits_with(4.0), codec.bits_with(2.0)
    codec.close()
    assert two < four
    for most, bits in [(four + 1, four), (four, four), (four - 1, two), (two, two), (two - 1, None)]:
        monkeypatch.setattr(codec_module, "MOST_CODE_BITS", most)
        codec, narrow = learned(given)
        assert (codec.layout.bits if narrow else None) == bits
        codec.close()


def test_more_values_than_can_be_numbered_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = SMALL.program.schema
    given = states(schema, 3_000, 300)
    monkeypatch.setattr(codec_module, "MOST_NUMBERS", 40)
    store = given_store(schema, given[:3])
    assert add(store, given) is InsertOutcome.NO_CODES
    assert store.codec.has_used_all_numbers
    store.close()


def test_a_table_that_is_moved_when_somebody_asks_for_the_end_is_given_up() -> None:
    schema = SMALL.program.schema
    given, kernels = states(schema, 9_000, 100), code_kernels(schema)
    rows, codec, asked = PackedRows(given), kernels.codec(), list[int]()

    def stopped() -> bool:
        asked.append(1)
        return len(asked) > 1

    assert codec.learn(rows.address, rows.count)
    store = CodedStore(kernels, codec, 10, 1 << 26)
    store.stopped = stopped
    assert add(store, given) is InsertOutcome.NO_MEMORY
    assert len(asked) == 2
    store.close()


def test_a_table_grows_only_with_permission_and_no_further_than_is_expected() -> None:
    schema = SMALL.program.schema
    given = list(dict.fromkeys(states(schema, 9_000, 100)))
    store = given_store(schema, given, expected=10)
    rows, asked = PackedRows(given), list[int]()

    def asking(size: int) -> bool:
        asked.append(size)
        return False

    assert store.insert(rows.address, rows.count, asking) is InsertOutcome.NO_MEMORY
    assert len(asked) == 1
    held = len(store)
    assert fresh_states(store) == given[:held]
    store.expected = len(given)
    assert add(store, given) is InsertOutcome.DONE
    assert sorted(fresh_states(store)) == sorted(given)
    assert store.table_bytes < 14 * len(given) + (1 << 21)
    store.close()


@pytest.mark.parametrize("allowed", [True, False])
def test_a_table_that_is_nearly_full_grows_with_that_of_another_store_if_there_is_memory(*, allowed: bool) -> None:
    given = list(dict.fromkeys(states(SMALL.program.schema, 9_000, 100)))
    store = given_store(SMALL.program.schema, given, expected=4_000)  # codes that need not be laid out anew
    asked = list[int]()

    def asking(more: int) -> bool:
        asked.append(more)
        return allowed

    def insert(state: int) -> int:
        """Insert a state, and return how often the table of a store has grown, as this one knows it."""
        rows = PackedRows(given[state : state + 1])
        assert store.insert(rows.address, 1, asking) is InsertOutcome.DONE
        return store.turns.count

    assert add(store, given[:2_000]) is InsertOutcome.DONE
    store.turns.count += 1
    assert (insert(2_000), asked) == (1, []), "it is half full"
    assert add(store, given[:3_900]) is InsertOutcome.DONE
    assert (insert(3_900), asked) == (1, []), "no other has grown"
    store.turns.count += 1
    assert (insert(3_901), len(asked)) == (2 + allowed, 1)
    assert fresh_states(store) == given[:3_902]
    store.close()
