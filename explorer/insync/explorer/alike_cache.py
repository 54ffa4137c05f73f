"""Which programs were shown to treat their members alike, kept on disk beside the object code.

Only "shown" is kept, under a key of all that it was shown of: actions with their parameters, initial states,
conditions, what a permutation does, and the sources of whoever showed it. Who is refused is examined again, for a
refusal speaks in the model's own names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from insync.machine.compiler import conditions_key, program_key, sources_digest
from insync.machine.objects import load_object, save_object
from insync.model import Model
from insync.model.expressions.graph import Node
from insync.model.symmetry.group import Symmetry

__all__ = ["alike_key", "keep_shown", "was_shown"]

_SHOWN = b"shown"
_JUDGES = ("insync.model", "insync.proofs", "insync.explorer.symmetry")


def alike_key(model: Model, symmetry: Symmetry, conditions: Mapping[str, Node]) -> str:
    """Return the key of what there is to show of a model whose members are permuted."""
    program = model.program
    bound = [
        (action.name, [(name, _named(type(value)), repr(value)) for name, value in action.parameters])
        for action in program.actions
    ]
    sorts = [_named(sort) for sort in symmetry.sorts]
    digest = hashlib.sha256(sources_digest(*_JUDGES))
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
