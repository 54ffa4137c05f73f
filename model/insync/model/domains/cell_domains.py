"""What the code of each cell stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from insync.model.domains import composite as d

__all__ = ["cell_domains"]


def cell_domains(domain: d.Domain) -> Iterator[d.Scalar | None]:
    """Yield the domain of each cell of a bound domain, in order: of a length, numbers.

    None is where a cell says whether an optional record is there, or a value in a set: 1 where it is.
    """
    return _CELLS[type(domain)](domain)


def _option(domain: d.Option) -> Iterator[d.Scalar | None]:
    yield None
    yield from cell_domains(domain.of)


def _record(domain: d.Record) -> Iterator[d.Scalar | None]:
    return (one for field in domain.fields.values() for one in cell_domains(field))


def _array(domain: d.Array) -> Iterator[d.Scalar | None]:
    return (one for _ in domain.labels for one in cell_domains(domain.of))


def _listed(domain: d.Seq | d.Bag | d.ListedSet) -> Iterator[d.Scalar | None]:
    yield d.Int(0, domain.most)
    yield from (one for _ in range(domain.most) for one in cell_domains(domain.of))


_CELLS: dict[type[d.Domain], Callable[[Any], Iterator[d.Scalar | None]]] = {
    **dict.fromkeys(d.SCALARS, lambda domain: iter((domain,))),
    d.Option: _option,
    d.Absent: lambda domain: iter(()),
    d.Record: _record,
    d.State: _record,
    d.Array: _array,
    d.Seq: _listed,
    d.Bag: _listed,
    d.ListedSet: _listed,
    d.BitSet: lambda domain: iter([None] * domain.width),
}
assert set(_CELLS) == d.DOMAINS
