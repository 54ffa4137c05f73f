from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.model import (
    Array,
    Bag,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Index,
    Model,
    Option,
    Record,
    Seq,
    SetOf,
    State,
    Subset,
)
from insync.model.symmetry.group import Kind, permuted_value
from insync.runtime.errors import ModelError
from insync_symmetric import Columns, Gossip, Messages, Mixed, Node, Relations, TwoPhase
from insync_symmetric_shapes import SHAPES as COLLECTED
from insync_symmetric_shapes import value_from

SHAPES: list[Model] = [Columns(nodes=3, others=3), Relations(nodes=3, others=2), Mixed(nodes=3, others=2), *COLLECTED]


@st.composite
def states(draw: st.DrawFn) -> tuple[Model, tuple[int, ...]]:
    model = draw(st.sampled_from(SHAPES))
    drawn = [draw(st.integers(0, cell.size - 1)) for cell in model.program.schema.cells]
    return model, tuple(value_from(model.state, drawn))


@given(st.data())
def test_permutations_act_as_a_group(data: st.DataObject) -> None:
    model, codes = data.draw(states())
    symmetry = model.program.symmetry
    assert symmetry is not None
    g, h = (tuple(tuple(data.draw(st.permutations(range(s)))) for s in symmetry.sizes) for _ in "gh")
    both = tuple(tuple(b[i] for i in a) for a, b in zip(g, h, strict=True))
    assert symmetry.image(symmetry.image(codes, g), h) == symmetry.image(codes, both)
    assert symmetry.image(codes, tuple(tuple(range(s)) for s in symmetry.sizes)) == codes
    assert tuple(value_from(model.state, symmetry.image(codes, g))) == symmetry.image(codes, g)


def test_what_moves_where() -> None:
    model = Relations(nodes=3, others=1)
    symmetry = model.program.symmetry
    assert symmetry is not None
    state = model.decode(tuple(0 for _ in model.program.schema.cells))
    state["node"]["n1"] = {"epoch": 1, "leader": "n3", "isr": ["n1", "n2"]}
    state["ready"], state["sent"][1] = ["n2"], {"to": "n1"}
    moved = model.decode(symmetry.image(model.encode(state), ((1, 2, 0),)))
    assert moved["node"]["n2"] == {"epoch": 1, "leader": "n1", "isr": ["n2", "n3"]}
    assert (moved["ready"], moved["sent"][1], moved["sent"][0]) == (["n3"], {"to": "n2"}, None)


def test_a_sort_of_one_member_is_none() -> None:
    symmetry = Columns(nodes=3, others=1).program.symmetry
    assert symmetry is not None
    assert (symmetry.sorts, symmetry.order) == ((Node,), 6)
    assert Columns(nodes=1, others=1).program.symmetry is None
    assert Mixed(nodes=1, others=3).program.symmetry is not None


def test_sorts_that_are_columns_and_those_that_are_not() -> None:
    relational = {
        type(model): model.program.symmetry.relational
        for model in (TwoPhase(), Gossip(), *SHAPES[:3])
        if model.program.symmetry is not None
    }
    assert relational == {TwoPhase: (), Gossip: (0,), Columns: (), Relations: (0,), Mixed: (0, 1)}


def test_a_set_of_records_has_a_cell_for_each_and_it_moves() -> None:
    model = Mixed(nodes=3, others=2)
    symmetry = model.program.symmetry
    assert symmetry is not None
    state = model.decode(tuple(0 for _ in model.program.schema.cells))
    state["sent"] = [{"source": "n1", "target": None}, {"source": "n3", "target": "o2"}]
    moved = model.decode(symmetry.image(model.encode(state), ((1, 2, 0), (1, 0))))
    assert moved["sent"] == [{"source": "n1", "target": "o1"}, {"source": "n2", "target": None}]
    messages = Messages().program.symmetry
    assert messages is not None
    assert messages.relational == ()


def queue_of(domain: object) -> type[Model]:
    class Queue(Model):
        bounds = Bounds(nodes=Bound(3, 1, 3, "nodes"))

        def declare(self, b: BoundValues) -> State:
            return State(queue=domain)

    return Queue


def test_what_symmetry_does_not_cover_is_refused() -> None:
    model = queue_of(SetOf(Record(acks=Array(Node, Bool))))
    with pytest.raises(ModelError, match=r"^queue: a SetOf of values with an array over a symmetric sort in them has"):
        model().program  # noqa: B018  (traces it)
    assert model(nodes=1).program.symmetry is None
    assert queue_of(SetOf(Record(acks=Array(Node, Bool)), 2))().program.symmetry is not None


@pytest.mark.parametrize(
    ("domain", "value", "moved"),
    [
        (Seq(Node, 3), ["n3", "n1"], ["n1", "n2"]),
        (Bag(Node, 3), ["n1", "n3", "n3"], ["n1", "n1", "n2"]),
        (SetOf(Node, 3), ["n2", "n3"], ["n1", "n3"]),
        (SetOf(Bag(Node, 2)), [["n1"], ["n2", "n3"]], [["n2"], ["n1", "n3"]]),
        (Option(Record(to=Node)), None, None),
        (Option(Record(to=Node)), {"to": "n3"}, {"to": "n1"}),
        (SetOf(Option(Record(to=Node))), [None, {"to": "n1"}], [None, {"to": "n2"}]),
        (Array(2, Seq(Option(Node), 1)), [[None], ["n3"]], [[None], ["n1"]]),
    ],
)
def test_collections_of_members_are_permuted_and_in_order(domain: object, value: object, moved: object) -> None:
    model = queue_of(domain)()
    symmetry = model.program.symmetry
    assert symmetry is not None
    assert model.decode(symmetry.image(model.encode({"queue": value}), ((1, 2, 0),))) == {"queue": moved}


def test_sets_of_sets() -> None:
    assert permuted_value(Kind(0, 2), 0b0110, ((1, 0),)) == 0b0110
    assert permuted_value(Kind(0, 2, 1), 1 + 0b0010, ((1, 0),)) == 1 + 0b0100
    assert permuted_value(Kind(0, 1, 1), 0, ((1, 0),)) == 0


def test_swaps_and_cycles_make_all() -> None:
    symmetry = Columns(nodes=4, others=3).program.symmetry
    assert symmetry is not None
    generators = list(symmetry.generators())
    assert len(generators) == 4
    known = {tuple(tuple(range(size)) for size in symmetry.sizes)}
    while True:
        more = {tuple(tuple(b[i] for i in a) for a, b in zip(g, h, strict=True)) for g in known for h in generators}
        if more <= known:
            break
        known |= more
    assert len(known) == symmetry.order == 24 * 6


def test_symmetric_must_be_a_truth_value() -> None:
    with pytest.raises(ModelError, match="Sort: symmetric='yes' must be True or False"):
        type("Sort", (Index,), {}, symmetric="yes")


def test_sets_are_symmetric_where_their_members_are() -> None:
    with pytest.raises(ModelError, match="on the sort that they are members of"):

        class Some(Subset, of=Node, symmetric=True):
            pass


def test_a_model_that_tells_members_apart_has_no_symmetry_though_its_sorts_have() -> None:
    class FirstLeads(Columns):
        tells_apart = "the first node leads"

    assert Columns(nodes=3, others=3).program.symmetry is not None
    assert FirstLeads(nodes=3, others=3).program.symmetry is None
