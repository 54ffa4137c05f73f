"""The identity of a search, which a run directory keeps: a run is resumed only if all of it is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from insync.explorer.manifest_entries import as_dict, as_list, as_text, require
from insync.machine.kernels import conditions_key, program_key
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.expressions.graph import Node
from insync.model.symmetry.group import Symmetry
from insync.model.tracing.program import Program
from insync.properties.invariants import names_within
from insync.runtime.checksums import digest
from insync.runtime.errors import UserError

__all__ = ["Identity", "code_of", "identity_of", "require_same"]

_MEANING = {
    "insync": "another version of insync",
    "model": "another model",
    "bounds": "other bounds",
    "properties": "other properties",
    "symmetric": "a search of another kind",
    "within": "a search that was confined otherwise",
    "code": "other rules, or another code generator",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a search.

    Attributes:
        insync: the version that writes the files.
        model, bounds: of the search.
        properties: the properties that are checked.
        code: see `code_of`.
        symmetric: whether the states are representatives.
        within: the invariants that the search is confined to.
    """

    insync: str
    model: str
    bounds: Mapping[str, int | str]
    properties: tuple[str, ...]
    code: str
    symmetric: bool = False
    within: tuple[str, ...] = ()

    def entries(self) -> dict[str, Any]:
        """Return plain values for a manifest."""
        return {**asdict(self), "properties": list(self.properties), "within": list(self.within)}

    @classmethod
    def from_entries(cls, entries: Mapping[str, Any]) -> Identity:
        """Return the identity that `entries` described; other entries are ignored.

        Raises:
            Damaged: they are none that `entries` returns.
        """
        symmetric, bounds = entries.get("symmetric"), as_dict(entries.get("bounds"))
        require(isinstance(symmetric, bool) and all(type(each) in (int, str) for each in bounds.values()))
        insync, model, code = (as_text(entries.get(name)) for name in ("insync", "model", "code"))
        properties, within = (tuple(map(as_text, as_list(entries.get(name)))) for name in ("properties", "within"))
        return cls(insync, model, bounds, properties, code, bool(symmetric), within)


def identity_of(model: Model, properties: Sequence[str], code: str, symmetric: bool, version: str) -> Identity:
    """Return the identity of a search of this model for these properties."""
    reference, within = model_reference(model), names_within(model)
    return Identity(version, reference, model.identity, tuple(properties), code, symmetric, within)


def code_of(program: Program, conditions: Sequence[Node], symmetry: Symmetry | None) -> str:
    """Return a hash of the rules of a search: initial states, transition relation, conditions and symmetry."""
    starts = digest({"kind": "initial states"}, program.initials.rows.tobytes()).hex()
    return f"{program_key('run', program, symmetry)} {conditions_key('run', program.schema, conditions)} {starts}"


def require_same(place: str, found: Identity, wanted: Identity) -> None:
    """Raise UserError unless a run directory belongs to the same search, naming the first difference.

    Args:
        place: the run directory.
        found: the identity in the run directory.
        wanted: the identity of this search.
    """
    for name, meaning in _MEANING.items():
        there, here = getattr(found, name), getattr(wanted, name)
        if there != here:
            message = (
                f"{place}: this run was made by {meaning}: {name} is {_shown(there)} there and {_shown(here)} "
                "here. Give the same, or search again in another --run-dir."
            )
            raise UserError(message)


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {entry}" for name, entry in value.items())
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return str(value)
