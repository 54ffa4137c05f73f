"""The keys of compiled code: digests of the structure of what is compiled, which are equal in every process."""

from __future__ import annotations

import hashlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import cast

from insync.model.domains.layout import Schema
from insync.model.expressions.graph import Node, Op, reachable
from insync.model.symmetry.group import Symmetry
from insync.model.tracing.program import Program

__all__ = ["conditions_key", "program_key", "sources_digest", "words_key"]

_PACKAGE = "insync.machine"  # its sources determine the generated code


def program_key(kind: str, program: Program, symmetry: Symmetry | None = None) -> str:
    """Return the key of a program's transition relation: its cells, guards, checks and updates, without names.

    Args:
        kind: the kind of code.
        program: the program.
        symmetry: the symmetry that the code uses.
    """
    parts: list[object] = []
    roots: list[Node] = []
    for action in program.actions:
        nodes = [*action.guard, *(check.node for check in action.checks), *(node for _, node in action.updates)]
        parts.append((len(action.guard), len(action.checks), [cell for cell, _ in action.updates]))
        roots.extend(nodes)
    parts.append(len(program.within))
    roots.extend(program.within)
    used = [] if symmetry is None else [_moves(symmetry)]
    return _key(kind, _schema(program.schema), parts, _structure(roots), *used)


def conditions_key(kind: str, schema: Schema, conditions: Iterable[Node]) -> str:
    """Return the key of conditions on the states of a schema."""
    return _key(kind, _schema(schema), _structure(list(conditions)))


def words_key(kind: str, words: int) -> str:
    """Return the key of code that depends on the size of a packed state alone."""
    return _key(kind, words)


def _schema(schema: Schema) -> object:
    return schema.words, [(cell.size, cell.bits, cell.word, cell.shift) for cell in schema.cells]


def _moves(symmetry: Symmetry) -> object:
    return symmetry.sizes, symmetry.families, symmetry.arranged


def _structure(roots: list[Node]) -> object:
    """The nodes below the roots, renumbered, and the numbers of the roots; the names of quantifiers are left out."""
    numbers: dict[int, int] = {}
    rows = []
    for node in reachable(roots):
        arg = (node.arg, node.is_bool) if node.op in (Op.CONST, Op.CELL) else None
        rows.append((node.op.value, arg, [numbers[arg.index] for arg in node.args]))
        numbers[node.index] = len(numbers)
    return rows, [numbers[root.index] for root in roots]


def _key(kind: str, *parts: object) -> str:
    digest = hashlib.sha256(sources_digest(_PACKAGE))
    digest.update(repr((kind, parts)).encode())
    return f"{kind}-{digest.hexdigest()[:40]}"


@cache
def sources_digest(*names: str) -> bytes:
    """Return a digest of the sources of packages and modules, in files or in a zip, without importing them."""
    digest = hashlib.sha256()
    for name in names:
        for spec in _sources(find_spec(name)):
            loader = cast(InspectLoader, spec.loader)  # that of a zip is one too, but is not registered as one
            digest.update((loader.get_source(spec.name) or "").encode())
    return digest.digest()


def _sources(spec: ModuleSpec | None) -> Iterator[ModuleSpec]:
    """Yield a module, or a package and all modules in it; `walk_packages` would import the packages."""
    if spec is None:
        return
    yield spec
    for info in pkgutil.iter_modules(spec.submodule_search_locations or [], f"{spec.name}."):
        yield from _sources(info.module_finder.find_spec(info.name, None))
