"""The compiled functions of one program, and which of them a search needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.machine.emit.checking import check_module
from insync.machine.emit.expanding import expand_module
from insync.machine.emit.storing import store_module
from insync.machine.emit.walking import walk_module
from insync.machine.identity import conditions_key, program_key, words_key
from insync.model.graph import Graph, Node, Op
from insync.model.program import Program

if TYPE_CHECKING:
    from insync.machine.compiler import Library

__all__ = ["Kernels", "StoreKernels", "WalkKernel", "compile_kernels", "compile_store", "compile_walk"]


@dataclass(frozen=True, slots=True)
class StoreKernels:
    """Functions over the store of a partition; see `storing.store_module`."""

    words: int
    insert: Callable[[int, int, int], int]
    widen: Callable[[int, int, int, int], int]
    find: Callable[[int, int, int], int]
    owner: Callable[[int, int], int]
    _library: Library

    @property
    def row_bytes(self) -> int:
        """The size of a packed state."""
        return 8 * self.words


@dataclass(frozen=True, slots=True)
class Kernels:
    """All compiled functions of a program and some of its properties.

    Attributes:
        words: 64-bit words per packed state.
        actions: how many bound actions there are; their numbers are those of the program.
        properties: how many properties `check` evaluates.
        expand: see `expanding.expand_module`.
        check: see `checking.check_module`; None without properties.
        store: the functions of the store.
    """

    words: int
    actions: int
    properties: int
    expand: Callable[[int], int]
    check: Callable[[int, int, int], int] | None
    store: StoreKernels
    _libraries: tuple[Library, ...]

    @property
    def row_bytes(self) -> int:
        """The size of a packed state."""
        return 8 * self.words


@dataclass(frozen=True, slots=True)
class WalkKernel:
    """The compiled random walks of a program; see `walking.walk_module`."""

    words: int
    actions: int
    properties: int
    walk: Callable[[int], int]
    _library: Library


def compile_store(words: int) -> StoreKernels:
    """Return the functions of a store for states of so many words."""
    library = _compile(words_key("store", words), lambda: store_module(words))
    return StoreKernels(
        words,
        insert=library.function("insert", 3),
        widen=library.function("widen", 4),
        find=library.function("find", 3),
        owner=library.function("owner", 2),
        _library=library,
    )


def compile_kernels(program: Program, properties: Sequence[Node]) -> Kernels:
    """Return the compiled functions of a program.

    Args:
        program: what to expand.
        properties: conditions that must hold; `check` counts the states in which they do not, in this order.
    """
    schema = program.schema
    steps = _compile(program_key("expand", program), lambda: expand_module(program))
    libraries = [steps]
    check = None
    if properties:
        violated = [_negation(program.graph, node) for node in properties]
        checks = _compile(conditions_key("check", schema, violated), lambda: check_module(schema, violated))
        check = checks.function("check", 3)
        libraries.append(checks)
    return Kernels(
        words=schema.words,
        actions=len(program.actions),
        properties=len(properties),
        expand=steps.function("expand", 1),
        check=check,
        store=compile_store(schema.words),
        _libraries=tuple(libraries),
    )


def compile_walk(program: Program, properties: Sequence[Node]) -> WalkKernel:
    """Return the compiled random walks of a program, which end where one of some conditions does not hold."""
    violated = [_negation(program.graph, node) for node in properties]
    key = program_key("walk", program) + conditions_key("", program.schema, violated)
    library = _compile(key, lambda: walk_module(program, violated))
    return WalkKernel(
        words=program.schema.words,
        actions=len(program.actions),
        properties=len(properties),
        walk=library.function("walk", 1),
        _library=library,
    )


def _compile(key: str, text: Callable[[], str]) -> Library:
    from insync.machine.compiler import compile_module  # loads LLVM: only who compiles waits for it

    return compile_module(key, text)


def _negation(graph: Graph, node: Node) -> Node:
    return graph.node(Op.NOT, (node,))
