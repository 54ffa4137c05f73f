"""Which programs were shown to treat their members alike, kept on disk beside the object code.

Only "shown" is kept, under a key of all that it was shown of: actions with their parameters, initial states,
conditions, what a permutation does, and the sources of whoever showed it. Who is refused is examined again, for a
refusal speaks in the model's own names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from insync.machine.identity import conditions_key, program_key
from insync.machine.objects import load_object, save_object
from insync.model import Model
from insync.model.graph import Node
from insync.model.symmetry import Symmetry

__all__ = ["alike_key", "keep_shown", "was_shown"]

_SHOWN = b"shown"
_JUDGES = ("insync.model", "insync.proofs", "insync.explorer.alike", "insync.explorer.comparing")


def alike_key(model: Model, symmetry: Symmetry, conditions: Mapping[str, Node]) -> str:
    """Return the key of what there is to show of a model whose members are permuted."""
    program = model.program
    bound = [
        (action.name, [(name, _named(type(value)), repr(value)) for name, value in action.parameters])
        for action in program.actions
    ]
    sorts = [_named(sort) for sort in symmetry.sorts]
    digest = hashlib.sha256(_judges())
    for part in (
        program_key("alike", program, symmetry),
        conditions_key("alike", program.schema, conditions.values()),
        repr((bound, sorts)),
    ):
        digest.update(part.encode())
    digest.update(program.initials.rows)
    return f"alike-{digest.hexdigest()[:40]}"


def was_shown(key: str) -> bool:
    """Return whether it was shown before."""
    return load_object(key) == _SHOWN


def keep_shown(key: str) -> None:
    """Keep that it was shown, if the folder can be written."""
    save_object(key, _SHOWN)


def _named(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


@cache
def _judges() -> bytes:
    """Return a digest of the sources that decide; no package is loaded for it, z3 least of all."""
    digest = hashlib.sha256()
    for name in _JUDGES:
        spec = find_spec(name)
        folders = [] if spec is None else spec.submodule_search_locations or []
        files = [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))]
        if spec is not None and spec.origin is not None and not folders:
            files.append(Path(spec.origin))
        for path in files:
            digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.digest()
