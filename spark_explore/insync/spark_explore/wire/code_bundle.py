"""A code bundle: what a worker needs to run a model's code without the model, such as machine-independent LLVM IR."""

from __future__ import annotations

import base64
import importlib.metadata
import json
import pkgutil
import zlib
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path

from insync.machine.kernels import SEARCH, Part, Text, Texts, texts
from insync.machine.packed import PackedRows, Sizes
from insync.machine.stores.collapse import BitRun, Component, components_of
from insync.model.abstraction import Abstraction
from insync.model.expressions.graph import Node
from insync.model.symmetry.group import Symmetry
from insync.model.tracing.program import Program
from insync.runtime.errors import UserError

__all__ = ["STAMP", "Recipe", "insync_version", "read_recipe", "recipe_for", "require_version", "write_recipe"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """The machine code of a program and its properties as text.

    Attributes:
        sizes: of the program.
        starts: the array of packed initial states.
        parts: for each part its name, its key and its IR.
        components: the components of the states, for codes; empty if it is not for a search.
    """

    sizes: Sizes
    starts: bytes
    parts: tuple[tuple[str, str, str], ...]
    components: tuple[Component, ...] = ()

    @property
    def initials(self) -> PackedRows:
        """The initial states."""
        return PackedRows.of(self.starts, self.sizes.words)

    @property
    def texts(self) -> Texts:
        """The texts for `kernels.load`."""
        return Texts(self.sizes, tuple(Text(Part(part), key, partial(str, ir)) for part, key, ir in self.parts))


def recipe_for(
    program: Program,
    properties: Sequence[Node] = (),
    parts: Collection[Part] = SEARCH,
    symmetry: Symmetry | None = None,
    abstraction: Abstraction | None = None,
) -> Recipe:
    """Return the recipe of a program and conditions that must hold in every state; see `kernels.texts`."""
    made = texts(program, properties, parts, symmetry, abstraction)
    written = tuple((text.part.value, text.key, text.make()) for text in made.parts)
    components = components_of(program.schema) if Part.EXPAND in parts else ()
    return Recipe(made.sizes, program.initials.rows.tobytes(), written, components)


def write_recipe(recipe: Recipe) -> bytes:
    """Return the recipe as bytes."""
    starts = base64.b64encode(recipe.starts).decode()
    return zlib.compress(json.dumps({**asdict(recipe), "starts": starts}).encode(), 1)


def read_recipe(content: bytes) -> Recipe:
    """Return the recipe that `write_recipe` wrote."""
    fields = json.loads(zlib.decompress(content))
    parts = tuple(map(tuple, fields["parts"]))
    components = tuple(
        Component(each["shape"], tuple(BitRun(**piece) for piece in each["pieces"])) for each in fields["components"]
    )
    return Recipe(Sizes(**fields["sizes"]), base64.b64decode(fields["starts"]), parts, components)


# ---------------------------------------------------------------------------------------------------------- the version

STAMP = "VERSION"
"""The file beside this module with the version of a shipped insync."""


@cache
def insync_version() -> str:
    """Return the version of insync in this process, installed or shipped."""
    try:
        shipped = pkgutil.get_data(__package__ or "", STAMP)
    except OSError:
        shipped = None
    if shipped is not None:
        return shipped.decode()
    try:
        return importlib.metadata.version("insync")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def require_version(wanted: str) -> None:
    """Raise UserError unless this process runs the driver's version of insync."""
    found = insync_version()
    if found != wanted:
        message = (
            f"The driver runs insync {wanted} and a worker runs insync {found} ({Path(__file__).parent}). "
            f"Install insync {wanted} on the workers, or none at all: it is then shipped to them."
        )
        raise UserError(message)
