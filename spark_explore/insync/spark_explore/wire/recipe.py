"""What a worker needs to run a model's machine code, without the model: LLVM IR, the same for every machine."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from insync.machine.compiler import compile_module
from insync.machine.emit.checking import check_module
from insync.machine.emit.expanding import expand_module
from insync.machine.identity import conditions_key, program_key
from insync.machine.kernels import Kernels, compile_store
from insync.machine.packed import Words
from insync.machine.sizes import Sizes
from insync.model.graph import Node, Op
from insync.model.program import Program

__all__ = ["Recipe", "compile_recipe", "read_recipe", "recipe_for", "write_recipe"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """The machine code of a program and its properties as text.

    Attributes:
        words: 64-bit words per packed state.
        actions: how many bound actions there are.
        properties: how many properties are checked.
        initial: the initial state.
        expand: the key and the IR of the transition relation.
        check: those of the properties; None without any.
    """

    words: int
    actions: int
    properties: int
    initial: Words
    expand: tuple[str, str]
    check: tuple[str, str] | None

    @property
    def digest(self) -> str:
        """A hash of what the code means: equal for equal models, bounds, rules and properties."""
        keys = (self.words, self.actions, self.initial, self.expand[0], self.check and self.check[0])
        return hashlib.sha256(repr(keys).encode()).hexdigest()[:32]


def recipe_for(program: Program, properties: Sequence[Node]) -> Recipe:
    """Return the recipe of a program and of conditions that must hold in every state."""
    schema = program.schema
    check = None
    if properties:
        violated = [program.graph.node(Op.NOT, (node,)) for node in properties]
        check = (conditions_key("check", schema, violated), check_module(schema, violated))
    return Recipe(
        words=schema.words,
        actions=len(program.actions),
        properties=len(properties),
        initial=schema.pack(program.initial),
        expand=(program_key("expand", program), expand_module(program)),
        check=check,
    )


def compile_recipe(recipe: Recipe) -> Kernels:
    """Return the compiled functions; object code that is in this machine's cache is taken from there."""
    key, text = recipe.expand
    functions = dict(compile_store(recipe.words)._functions)
    functions["expand"] = compile_module(key, lambda: text).function("expand", 1)
    if recipe.check is not None:
        check_key, check_text = recipe.check
        functions["check"] = compile_module(check_key, lambda: check_text).function("check", 3)
    return Kernels(Sizes(recipe.words, recipe.actions, recipe.properties), functions)


def write_recipe(recipe: Recipe) -> bytes:
    """Return the recipe as bytes."""
    return zlib.compress(json.dumps(asdict(recipe)).encode(), 1)


def read_recipe(content: bytes) -> Recipe:
    """Return the recipe that `write_recipe` wrote."""
    fields = json.loads(zlib.decompress(content))
    fields["initial"] = tuple(fields["initial"])
    fields["expand"] = tuple(fields["expand"])
    fields["check"] = fields["check"] and tuple(fields["check"])
    return Recipe(**fields)
