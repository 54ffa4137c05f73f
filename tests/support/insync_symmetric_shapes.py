"""States in which collections speak of members that are alike, and records that may be none; of values at random."""

from __future__ import annotations

from collections.abc import Sequence

from insync.model import Array, Bag, Bool, BoundValues, Int, Model, Option, Record, Seq, Set, SetOf, State
from insync.model.domains import composite as d
from insync_symmetric import Node, Nodes, Other, Shapes

__all__ = ["SHAPES", "Bags", "Channels", "Maybe", "Nested", "Peers", "value_from"]


class Bags(Shapes):
    """A bag and a set of messages between members."""

    def declare(self, b: BoundValues) -> State:
        message = Record(term=Int(0, 2), source=Node, target=Option(Node))
        return State(
            sent=Bag(message, 3),
            known=SetOf(Record(seen=Set(Node), by=Other), 2),
            leader=Option(Node),
            clock=Int(0, 4),
        )


class Channels(Shapes):
    """Collections that lie at members, and such that keep their order."""

    def declare(self, b: BoundValues) -> State:
        return State(
            channel=Array(Node, Array(Node, Seq(Record(to=Node, on=Bool), 2))),
            log=Seq(Option(Node), 3),
            inbox=Array(Node, Bag(Record(source=Node, last=Option(Record(at=Node, ok=Bool))), 2)),
        )


class Nested(Shapes):
    """Collections in collections, and arrays over members in them."""

    def declare(self, b: BoundValues) -> State:
        return State(
            trees=Bag(Record(leaves=Bag(Node, 2), acks=Array(Node, Int(0, 1)), quorum=Nodes), 2),
            packets=SetOf(Bag(Node, 2)),
            orders=SetOf(Seq(Node, 2)),
            groups=SetOf(SetOf(Other, 2)),
            paths=Array(Other, SetOf(Seq(Node, 2), 2)),
        )


class Maybe(Shapes):
    """Records that may be none, alone and in sets."""

    def declare(self, b: BoundValues) -> State:
        asked = Record(by=Node, to=Option(Other))
        return State(
            asked=Option(asked),
            each=Array(Node, Option(Record(vote=Node, rank=Int(0, 1)))),
            sent=SetOf(Record(k=Bool, what=Option(Record(by=Node)))),
            several=SetOf(Option(asked), 2),
        )


class Peers(Shapes):
    """Members of two sorts that name one another, in cells that are always there."""

    def declare(self, b: BoundValues) -> State:
        peer = Record(
            log=Array(3, Int(0, 40)),
            leader=Option(Node),
            isr=Set(Node),
            seen=Option(Set(Node)),
            next=Node,
            friend=Option(Other),
            known=Set(Other),
            other=Array(2, Option(Int(0, 30))),
        )
        return State(
            node=Array(Node, peer),
            on=Array(Other, Record(at=Node, all=Set(Other), count=Int(0, 3))),
            leader=Option(Node),
            isr=Set(Node),
            asked=Array(3, Set(Node)),
            clock=Int(0, 4),
        )


SHAPES: list[Model] = [
    Bags(nodes=3, others=2),
    Bags(nodes=4, others=1),
    Channels(nodes=3, others=1),
    Nested(nodes=3, others=2),
    Maybe(nodes=3, others=2),
    Peers(nodes=2, others=3),
    Peers(nodes=3, others=2),
    Peers(nodes=4, others=1),
    Peers(nodes=5, others=1),
]


def value_from(domain: d.Domain, codes: Sequence[int]) -> list[int]:
    """Return codes of a value: such codes as each cell can hold, changed where they are those of none."""
    if isinstance(domain, d.Record):
        return [
            code
            for name, field in domain.present.items()
            for code in value_from(field, codes[domain.offsets[name] :][: field.width])
        ]
    if isinstance(domain, d.Array):
        width = domain.of.width
        return [code for i in range(len(domain.labels)) for code in value_from(domain.of, codes[i * width :][:width])]
    if isinstance(domain, d.Option):
        return [1, *value_from(domain.of, codes[1:])] if codes[0] else [0] * domain.width
    if isinstance(domain, (d.Seq, d.Bag, d.ListedSet)):
        width = domain.of.width
        rows = [tuple(value_from(domain.of, codes[1 + i * width :][:width])) for i in range(codes[0])]
        rows = domain.arranged(rows)
        return [len(rows), *(code for row in rows for code in row), *[0] * ((domain.most - len(rows)) * width)]
    return list(codes)
