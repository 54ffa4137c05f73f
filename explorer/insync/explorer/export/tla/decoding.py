"""Values of an exported module, as another checker wrote them, back to the codes of a state."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from insync.explorer.export.tla.context import Speaker
from insync.explorer.export.tla.state import Axis
from insync.explorer.export.tla.values import Kind, What
from insync.model import Model
from insync.model.domains import composite as d
from insync.model.domains.containers import Listed
from insync.model.errors import UserError
from insync.model.evaluator import Codes

__all__ = ["Decoder"]


class Decoder:
    """Reads states of an exported module.

    Args:
        model: the model that was exported.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._speaker = Speaker.about(model)

    def codes(self, state: Mapping[str, Any], place: str) -> Codes:
        """Return the codes of a state whose variables have these values.

        Raises:
            UserError: a variable is missing, or has a value that its field cannot have.
        """
        return tuple(self._of(self._model.state, state, place))

    def _of(self, domain: d.Domain, value: Any, place: str) -> list[int]:
        if not self._speaker.shapes.live(domain):
            return [0] * domain.width
        return _RULES[type(domain)](self, domain, value, place)

    def _scalar(self, domain: d.Scalar, value: Any, place: str) -> list[int]:
        return [self._code(self._speaker.kinds.of_scalar(domain), value, place)]

    def _code(self, kind: Kind, value: Any, place: str) -> int:
        """Return the code of a value of a kind."""
        if kind.what is What.TRUTH and isinstance(value, bool):
            return int(value)
        if kind.what is What.NUMBER:
            number = value - kind.low if type(value) is int else _place(kind.names, value)
            if number is not None and 0 <= number < kind.size:
                return number
        if kind.what in (What.SET, What.SOME) and isinstance(value, list):
            assert kind.of is not None
            members = [self._code(kind.of, one, place) for one in value]
            if kind.what is What.SET:
                return sum({1 << member for member in members})
            if len(members) < 2:  # a set of at most one value
                return members[0] + 1 if members else 0
        raise self._wrong(value, place)

    def _wrong(self, value: Any, place: str) -> UserError:
        message = f"{place} has {value!r}, which is no value of that part of {self._model.name}."
        return UserError(message)

    def _record(self, domain: d.Record, value: Any, place: str) -> list[int]:
        if not isinstance(value, Mapping):
            raise self._wrong(value, place)
        codes: list[int] = []
        for name, inner in domain.fields.items():
            live = self._speaker.shapes.live(inner)
            if live and name not in value:
                message = f"{place} has no {name}, which {self._model.name} has."
                raise UserError(message)
            codes += self._of(inner, value.get(name), f"{place}: {name}") if live else [0] * inner.width
        return codes

    def _option(self, domain: d.Option, value: Any, place: str) -> list[int]:
        there = value.get(self._speaker.shapes.there(domain)) if isinstance(value, Mapping) else None
        if not isinstance(there, bool):
            raise self._wrong(value, place)
        return [1, *self._of(domain.of, value, place)] if there else [0] * domain.width

    def _array(self, domain: d.Array, value: Any, place: str) -> list[int]:
        elements = self._elements(self._speaker.shapes.axis(domain), value, place)
        return [code for at, one in enumerate(elements) for code in self._of(domain.of, one, f"{place}[{at}]")]

    def _listed(self, domain: Listed, value: Any, place: str) -> list[int]:
        length = self._of(d.Int(0, domain.most), value["length"], f"{place}.length")
        if not self._speaker.shapes.live(domain.of):
            return [*length, *[0] * (domain.width - 1)]
        elements = self._elements(self._speaker.shapes.axis(domain), value["at"], place)
        return [*length, *(code for one in elements for code in self._of(domain.of, one, place))]

    def _bits(self, domain: d.BitSet, value: Any, place: str) -> list[int]:
        elements = self._elements(self._speaker.shapes.axis(domain), value, place)
        return [self._code(self._speaker.kinds.of_scalar(d.Boolean()), one, place) for one in elements]

    def _elements(self, axis: Axis, value: Any, place: str) -> list[Any]:
        """Return what a function has for each place of an axis."""
        if isinstance(value, list) and value and isinstance(value[0], tuple):  # pairs
            by_code = {self._code(axis.kind, key, place): one for key, one in value if not axis.literals}
            if set(by_code) == set(range(len(axis))):
                return [by_code[number] for number in range(len(axis))]
        elif isinstance(value, list) and len(value) == len(axis):
            return value
        elif isinstance(value, Mapping):
            written = {_normal(key): one for key, one in value.items()}
            terms, printer = self._speaker.terms, self._speaker.printer
            found = []
            for number in range(len(axis)):
                name = _normal(printer.text(axis.argument(terms, number)))
                other = _normal(str(number + axis.kind.low))
                found.append(written.get(name, written.get(other, _MISSING)))
            if _MISSING not in found:
                return found
        raise self._wrong(value, place)


_MISSING = object()


def _place(names: tuple[str, ...], value: Any) -> int | None:
    return names.index(value) if value in names else None


def _normal(text: str) -> str:
    return re.sub(r"\s+", "", text)


_RULES: dict[type[d.Domain], Callable[[Decoder, Any, Any, str], list[int]]] = {
    **dict.fromkeys(d.SCALARS, Decoder._scalar),
    **dict.fromkeys((d.Record, d.State), Decoder._record),
    d.Option: Decoder._option,
    d.Absent: lambda decoder, domain, value, place: [],
    d.Array: Decoder._array,
    **dict.fromkeys((d.Seq, d.Bag, d.ListedSet), Decoder._listed),
    d.BitSet: Decoder._bits,
}
assert set(_RULES) == d.DOMAINS
