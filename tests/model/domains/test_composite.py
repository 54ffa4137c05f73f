from __future__ import annotations

import enum
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.model.domains.bounds import BoundValues
from insync.model.domains.composite import Array, Domain, Enum, Int, Option, Record, Seq, Set, SetOf, State, as_domain
from insync.model.domains.sorts import Index, Subset
from insync.model.domains.values import Bool
from insync.runtime.errors import ModelError, UserError

BOUNDS = BoundValues({"replicas": 3})


class Replica(Index):
    label = "b"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return bounds.replicas


class Isr(Subset, of=Replica):
    """A set of replicas."""


class Phase(enum.Enum):
    READY = "r"
    DONE = "d"


class Empty(enum.Enum):
    """Nothing."""


SCALARS: list[Any] = [
    Bool,
    Int(-2, 3),
    Int(7, 7),
    Phase,
    Enum(Phase),
    Replica,
    Isr,
    Set(Replica),
    Set(Int(0, 2)),
    Set(Isr),
]


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    records = st.dictionaries(st.sampled_from("abc"), inner, min_size=1).map(lambda fields: Record(**fields))
    return st.one_of(
        records,
        records.map(Option),
        st.builds(Array, st.sampled_from([Replica, Isr, 0, 1, 2]), inner),
    )


DOMAINS = st.recursive(st.sampled_from(SCALARS) | st.sampled_from(SCALARS).map(Option), nested, max_leaves=5)


@given(DOMAINS)
def test_parts_and_leaves_cover_each_cell_once(given_: Any) -> None:
    domain = as_domain(given_).bind(BOUNDS)
    at = 0
    for part in domain.parts():
        assert part.offset == at
        at += 1 if part.domain is None else part.domain.width
    assert at == (domain.width if domain.parts() else 0)
    found = list(domain.leaves())
    assert len(found) == domain.width
    assert len({leaf.steps for leaf in found}) == domain.width
    assert [(leaf.after("x"), leaf.size) for leaf in found] == list(domain.cells("x"))


@given(DOMAINS, st.data())
def test_a_leaf_reads_its_code_in_a_readable_value(given_: Any, data: st.DataObject) -> None:
    domain = as_domain(given_).bind(BOUNDS)
    codes = [data.draw(st.integers(0, size - 1)) for _, size in domain.cells("")]
    value = domain.decode(codes, 0)
    for leaf, code in zip(domain.leaves(), domain.encode(value, ""), strict=True):
        found = leaf.read(value)
        if leaf.domain is None:
            assert (found is not None) == bool(code)
        elif found is not None or code:
            assert found == leaf.domain.readable(code)


def test_what_is_not_there_is_read_as_none() -> None:
    state = State(log=Seq(Int(5, 9), 2), found=Option(Record(seen=SetOf(Phase)))).bind(BOUNDS)
    some: dict[str, Any] = {"log": [7], "found": {"seen": ["DONE"]}}
    none: dict[str, Any] = {"log": [], "found": None}
    assert [leaf.read(some) for leaf in state.leaves()] == [1, 7, None, {"seen": ["DONE"]}, False, True]
    assert [leaf.read(none) for leaf in state.leaves()] == [0, None, None, None, None, None]


def test_the_field_of_a_cell_is_its_path_without_indexes() -> None:
    entry = Record(id=Int(0, 1), pair=Option(Record(epoch=Bool)))
    state = State(up=Bool, replica=Array(Replica, Record(log=Seq(entry, 2), seen=SetOf(Phase)))).bind(BOUNDS)
    assert list(dict.fromkeys(leaf.field for leaf in state.leaves())) == [
        "up",
        "replica[].log.length",
        "replica[].log[].id",
        "replica[].log[].pair",
        "replica[].log[].pair.epoch",
        "replica[].seen",
    ]
    assert [leaf.after("") for leaf in state.leaves()][-2:] == ["replica[b3].seen{READY}", "replica[b3].seen{DONE}"]


@given(DOMAINS, st.data())
def test_encoding_undoes_decoding(given_: Any, data: st.DataObject) -> None:
    """Every code that a step can make is the code of exactly one readable value."""
    domain = as_domain(given_).bind(BOUNDS)
    sizes = [size for _, size in domain.cells("x")]
    assert len(sizes) == domain.width
    codes = [data.draw(st.integers(0, size - 1)) for size in sizes]
    value = domain.decode(codes, 0)
    canonical = domain.encode(value, "x")
    assert domain.decode(canonical, 0) == value
    if "Option" not in repr_of(domain):
        assert canonical == codes  # an absent record's fields are 0, whatever was drawn
    other = [data.draw(st.sampled_from([code, *range(size)])) for code, size in zip(codes, sizes, strict=True)]
    assert domain.decode_after(other, 0, codes, value) == domain.decode(other, 0)


def repr_of(domain: Domain) -> str:
    inner = [repr_of(d) for d in (*getattr(domain, "fields", {}).values(), getattr(domain, "of", None)) if d]
    return f"{type(domain).__name__}({', '.join(inner)})"


def test_an_absent_record_is_all_zero() -> None:
    domain = Option(Record(id=Int(0, 3), by=Replica)).bind(BOUNDS)
    assert domain.encode(None, "x") == [0, 0, 0]
    assert domain.decode([1, 2, 0], 0) == {"id": 2, "by": "b1"}
    assert domain.encode({"id": 2, "by": "b1"}, "x") == [1, 2, 0]


STATE = State(
    epoch=Int(0, 3),
    up=Bool,
    phase=Phase,
    leader=Option(Replica),
    isr=Set(Replica),
    log=Array(2, Option(Record(id=Int(0, 1)))),
    replica=Array(Replica, Int(0, 1)),
)
GOOD: dict[str, Any] = {
    "epoch": 0,
    "up": False,
    "phase": "READY",
    "leader": None,
    "isr": [],
    "log": [None, None],
    "replica": {"b1": 0, "b2": 0, "b3": 0},
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epoch": 4}, "epoch: 4 is not a value of this field; expected a whole number from 0 to 3."),
        ({"epoch": True}, "epoch: True is not a value of this field; expected a whole number from 0 to 3."),
        ({"epoch": "1"}, "epoch: '1' is not a value of this field; expected a whole number from 0 to 3."),
        ({"up": 1}, "up: 1 is not a value of this field; expected one of False, True."),
        ({"phase": "r"}, "phase: 'r' is not a value of this field; expected one of READY, DONE."),
        ({"leader": "b4"}, "leader: 'b4' is not a value of this field; expected null or one of b1, b2, b3."),
        ({"leader": []}, "leader: [] is not a value of this field; expected null or one of b1, b2, b3."),
        (
            {"isr": ["b1", "x"]},
            "isr: ['b1', 'x'] is not a value of this field; expected a list of members, each one of b1, b2, b3.",
        ),
        ({"isr": "b1"}, "isr: 'b1' is not a value of this field; expected a list of members, each one of b1, b2, b3."),
        ({"log": [None]}, "log: [None] is not a value of this field; expected a list of 2 values."),
        (
            {"log": [None, {"id": 2}]},
            "log[1].id: 2 is not a value of this field; expected a whole number from 0 to 1.",
        ),
        (
            {"log": [{"idd": 1}, None]},
            "log[0]: {'idd': 1} is not a value of this field; expected an object with the fields id.",
        ),
        (
            {"replica": {"b1": 0, "b2": 0}},
            "replica: {'b1': 0, 'b2': 0} is not a value of this field; expected an object with the members b1, b2, b3.",
        ),
        (
            {"replica": {"b1": 0, "b2": 9, "b3": 0}},
            "replica[b2]: 9 is not a value of this field; expected a whole number from 0 to 1.",
        ),
    ],
)
def test_a_value_that_does_not_belong_is_named_with_its_path(change: dict[str, Any], message: str) -> None:
    state = STATE.bind(BOUNDS)
    state.encode(GOOD, "")
    with pytest.raises(UserError, match=f"^{re.escape(message)}$"):
        state.encode(GOOD | change, "")


def test_a_state_with_a_field_missing_is_refused() -> None:
    with pytest.raises(UserError, match=r"^state: \{'epoch': 0\} is not .* the fields epoch, up, phase,"):
        STATE.bind(BOUNDS).encode({"epoch": 0}, "")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Int(3, 1), r"Int\(3, 1\) has no value"),
        (lambda: Int(0, 1 << 62), r"Int\(0, \d+\) has more than 2\^62 values, too many for a field"),
        (lambda: Int(0, 2.5), r"Int\(0, 2\.5\) needs two whole numbers; 2\.5 is not one"),  # type: ignore[arg-type]
        (lambda: Int(False, 1), r"needs two whole numbers; False is not one"),
        (lambda: Enum(Empty), r"the enumeration Empty has no member"),
        (lambda: Option(Option(Replica)), r"Option\(Option\): only one cell or a record can be optional"),
        (lambda: Option(Array(2, Bool)), r"Option\(Array\): only one cell or a record can be optional"),
        (lambda: Set(Phase), r"Set\(Enum\): the elements of a set are the members of a sort"),
        (lambda: Set(Set(Replica)), r"For sets of sets, declare `class Sets\(Subset, of=Sort\)`"),
        (lambda: Set(Int(1, 3)), r"Set\(Int\): the elements of a set are .* or Int\(0, n\)"),
        (lambda: Array("three", Bool), r"Array\('three', \.\.\.\): give a sort, a range, an"),  # type: ignore[arg-type]
        (lambda: Array(-1, Bool), r"Array\(-1, \.\.\.\)"),
        (lambda: Record(_id=Bool), r"the field name '_id' begins with an underscore"),
        (lambda: Record(id=3), r"3 is not a domain; use Bool, Int, Enum, a sort"),
        (lambda: State(isr={"b1"}), r"is not a domain"),
    ],
)
def test_a_wrong_domain_is_refused_where_it_is_written(wrong: Any, message: str) -> None:
    with pytest.raises(ModelError, match=rf"test_composite\.py:\d+: .*{message}"):
        wrong()


def test_a_set_over_too_many_members_names_the_line_and_the_bounds() -> None:
    domain = Set(Isr)
    with pytest.raises(
        ModelError, match=r"test_composite\.py:\d+: Set\(Isr\) ranges over 64 members under \{'replicas': 6\}; .* 62"
    ):
        domain.bind(BoundValues({"replicas": 6}))


def test_a_sort_with_fewer_members_than_none_or_too_many_names_the_line_and_the_bounds() -> None:
    domain = as_domain(Replica)
    with pytest.raises(ModelError, match=r"test_composite\.py:\d+: the sort Replica has -1 members under"):
        domain.bind(BoundValues({"replicas": -1}))
    with pytest.raises(ModelError, match=r"the sort Isr has \d+ members .* at most 2\^62"):
        as_domain(Isr).bind(BoundValues({"replicas": 63}))


def test_shapes_tell_domains_apart() -> None:
    domains = [
        Record(a=Int(0, 2)),
        Record(a=Int(5, 7)),
        Record(b=Int(0, 2)),
        Record(a=Replica),
        Array(1, Int(0, 2)),
        Option(Int(0, 1)),
        Option(Phase),
        Phase,
        Bool,
        Set(Replica),
        Isr,
    ]
    shapes = [as_domain(d).bind(BOUNDS).shape() for d in domains]
    assert len(set(shapes)) == len(shapes)
    assert as_domain(Record(a=Int(0, 2))).bind(BOUNDS).shape() == shapes[0]
