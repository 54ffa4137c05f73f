"""The machine code of a program: its parts as text, their compilation, and the structures that call them.

Also the search for the least predecessor of a state, by which traces are found backwards.
"""

from __future__ import annotations

import ctypes
import hashlib
import pkgutil
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import cast

from insync.machine.conditions import Checker, Counter
from insync.machine.expander import Edges, Expander, Ownership
from insync.machine.packed import PackedRows, Sizes, Words, words_at
from insync.machine.stores.hash_table import Memory, Store, StoreKernels, reserve
from insync.machine.stores.store import MOST_CHUNK
from insync.model.abstraction import Abstraction
from insync.model.domains.layout import Schema
from insync.model.expressions.graph import Node, Op, reachable
from insync.model.symmetry.group import Symmetry
from insync.model.tracing.program import Program
from insync.runtime.watch import Stopped, StopReason, Watch, left_behind

__all__ = [
    "CHUNK",
    "SEARCH",
    "WALKS",
    "Kernels",
    "Part",
    "Text",
    "Texts",
    "compile_kernels",
    "conditions_key",
    "least_predecessor",
    "load",
    "program_key",
    "sources_digest",
    "store_text",
    "texts",
    "words_key",
]


class Part(StrEnum):
    """A part of a program's machine code, which is compiled by itself."""

    EXPAND = "expand"
    CHECK = "check"
    STORE = "store"
    WALK = "walk"
    SIGHT = "sight"
    EDGES = "edges"
    COUNT = "count"
    OUTSIDE = "outside"


SEARCH = (Part.EXPAND, Part.CHECK, Part.STORE, Part.OUTSIDE)
"""The parts for a search; the last one is compiled only if the program is confined."""

WALKS = (Part.WALK, Part.SIGHT)
"""The parts for walks; the second one is compiled only with an abstraction."""

_FUNCTIONS: Mapping[Part, Mapping[str, int]] = {
    Part.EXPAND: {"expand": 1},
    Part.CHECK: {"check": 3},
    Part.STORE: {"insert": 3, "widen": 4, "find": 3, "owner": 2, "select": 6},
    Part.WALK: {"walk": 1},
    Part.SIGHT: {"absorb": 5, "spread": 1},
    Part.EDGES: {"edges": 1},
    Part.COUNT: {"count": 3},
    Part.OUTSIDE: {"outside": 3},
}
"""The functions of each part, with the number of their arguments."""

_OF_SYMMETRY: Mapping[str, int] = {"represent": 2, "orbits": 3}
"""The functions beside `expand` with symmetry."""

# A thread that waits for the same code finds it in the cache afterwards.
_one_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True)
class Kernels:
    """The compiled functions of a program and some conditions, for the parts that were compiled.

    Attributes:
        sizes: of the program.
    """

    sizes: Sizes
    _functions: Mapping[str, Callable[..., int]]

    def function(self, name: str) -> Callable[..., int]:
        """Return a compiled function by its name."""
        return self._functions[name]

    def expander(self, partitions: int, buffer_bytes: int, known: Words) -> Expander:
        """Return an expander with empty buffers; see `Expander`. Needs the part EXPAND."""
        return Expander(self.sizes, self._functions["expand"], partitions, buffer_bytes, known)

    def checker(self) -> Checker:
        """Return a checker of the conditions. Needs the part CHECK."""
        return Checker(self.sizes, self._functions["check"] if self.sizes.conditions else None)

    def counter(self) -> Counter:
        """Return a counter of the states that violate the conditions. Needs the part COUNT."""
        return Counter(self.sizes, self._functions["count"] if self.sizes.conditions else None)

    def store(self, capacity: int, partitions: int = 1) -> Store:
        """Return an empty store with its own memory; see `stores.hash_table.reserve`. Needs the part STORE."""
        return reserve(self.sizes.words, self._store, capacity, partitions)

    def store_on(self, states: Memory, table: Memory, buckets: int) -> Store:
        """Return a store on given memory, with `buckets` buckets in use. Needs the part STORE."""
        return Store(self.sizes.words, self._store, states, table, buckets)

    def owner(self, state: Words, partitions: int) -> int:
        """Return the partition that stores a state. Needs the part STORE."""
        row = PackedRows([state])
        return self._functions["owner"](row.address, partitions)

    def shares(self, states: PackedRows, partitions: int) -> list[PackedRows]:
        """Divide states among the partitions that store them, in their order. Needs the part STORE."""
        if partitions == 1:
            return [states]
        owner, size = self._functions["owner"], self.sizes.row_bytes
        shares = [bytearray() for _ in range(partitions)]
        content = states.content(self.sizes.words)
        for at in range(0, len(content), size):
            shares[owner(states.address + at, partitions)] += content[at : at + size]
        return [PackedRows.of(bytes(share), self.sizes.words) for share in shares]

    def ownership(self, masks: Sequence[int], partitions: int) -> Ownership:
        """Return ownership by the bits in a mask for each word. Needs the part STORE."""
        return Ownership(self._functions["select"], masks, partitions)

    def ownership_by_all(self, partitions: int) -> Ownership:
        """Return ownership by all bits of a state, as in `shares`. Needs the part STORE."""
        return self.ownership([(1 << 64) - 1] * self.sizes.words, partitions)

    def find(self, rows: int, count: int, state: PackedRows) -> int | None:
        """Return the first index of a state in an array of states, or None. Needs the part STORE."""
        place = self._functions["find"](rows, count, state.address)
        return place if place < count else None

    def edges(self) -> Edges:
        """Return a lister of steps; see `Edges`. Needs the part EDGES."""
        return Edges(self.sizes, self._functions["edges"])

    def representative(self, state: Words) -> Words:
        """Return the representative of a state's orbit; without symmetry the state itself."""
        if not self.sizes.symmetric:
            return state
        return self.representatives(PackedRows([state])).first(self.sizes.words)

    def representatives(self, states: PackedRows) -> PackedRows:
        """Return the representatives of states, in their order."""
        if not self.sizes.symmetric:
            return states
        words = self.sizes.words
        made = PackedRows.of(states.content(words), words)
        self._functions["represent"](made.address, made.count)
        return made

    def states_of(self, rows: int, count: int) -> int:
        """Return the sum of the sizes of the orbits of `count` states; without symmetry `count`."""
        if not self.sizes.symmetric or not count:
            return count
        total = (ctypes.c_uint64 * 2)()
        self._functions["orbits"](rows, count, ctypes.addressof(total))
        return int(total[0]) | int(total[1]) << 64

    def outside_of(self, rows: int, count: int) -> int:
        """Return how many of `count` states are outside the confinement; with symmetry, each counts as its whole orbit.

        Needs the part OUTSIDE.
        """
        if not self.sizes.confined or not count:
            return 0
        total = (ctypes.c_uint64 * 2)()
        self._functions["outside"](rows, count, ctypes.addressof(total))
        return int(total[0]) | int(total[1]) << 64

    @property
    def _store(self) -> StoreKernels:
        return StoreKernels(**{name: self._functions[name] for name in _FUNCTIONS[Part.STORE]})


@dataclass(frozen=True, slots=True)
class Text:
    """The text of one part.

    Attributes:
        part: which part.
        key: identifies the text; equal keys have equal texts.
        make: generates the LLVM IR, which is the same on every machine; this is slow.
    """

    part: Part
    key: str
    make: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Texts:
    """The machine code of a program and some conditions as text.

    Attributes:
        sizes: of the program.
        parts: the texts of the requested parts.
    """

    sizes: Sizes
    parts: tuple[Text, ...]


def texts(
    program: Program,
    conditions: Sequence[Node] = (),
    parts: Collection[Part] = SEARCH,
    symmetry: Symmetry | None = None,
    abstraction: Abstraction | None = None,
) -> Texts:
    """Return the machine code of a program as text, without LLVM.

    Args:
        program: what to compile.
        conditions: conditions that must hold in every state; violations are reported in this order.
        parts: the parts to generate; those that the other arguments make useless are left out.
        symmetry: if given, the states of the search are representatives.
        abstraction: the abstract states that walks record; None records none.
    """
    violated = [program.graph.node(Op.NOT, (node,)) for node in conditions]
    needless = {*([] if violated else (Part.CHECK, Part.COUNT)), *([Part.SIGHT] if abstraction is None else [])}
    needless |= set() if program.within else {Part.OUTSIDE}
    wanted = [part for part in parts if part not in needless]
    abstract_words = 0 if abstraction is None else abstraction.schema.words
    of_program = (program.schema.words, len(program.actions), len(violated), symmetry is not None)
    sizes = Sizes(*of_program, abstract_words, confined=bool(program.within))
    return Texts(sizes, tuple(_text(part, program, violated, symmetry, abstraction) for part in wanted))


def _text(
    part: Part, program: Program, violated: Sequence[Node], symmetry: Symmetry | None, abstraction: Abstraction | None
) -> Text:
    schema = program.schema
    match part:
        case Part.EXPAND | Part.OUTSIDE:
            key = program_key(part.value, program, symmetry)
        case Part.CHECK | Part.COUNT:
            key = conditions_key(part.value, schema, violated)
        case Part.STORE:
            return store_text(schema.words)
        case Part.WALK:
            key = program_key("walk", program) + conditions_key("", schema, violated)
            if abstraction is not None:
                key += conditions_key("-noting", abstraction.schema, abstraction.codes)
        case Part.SIGHT:
            assert abstraction is not None, "only walks with an abstraction call this"
            key = words_key("sight", abstraction.schema.words)
        case Part.EDGES:
            key = program_key("edges", program)
    return Text(part, key, lambda: _generated(part, program, violated, symmetry, abstraction))


def _generated(
    part: Part, program: Program, violated: Sequence[Node], symmetry: Symmetry | None, abstraction: Abstraction | None
) -> str:
    """Return the LLVM IR of a part. Its generator is imported here, as most code is found in the cache."""
    schema = program.schema
    match part:
        case Part.EXPAND:
            from insync.machine.emit.expanding import expand_module

            return expand_module(program, symmetry)
        case Part.CHECK:
            from insync.machine.emit.conditions import check_module

            return check_module(schema, violated)
        case Part.COUNT:
            from insync.machine.emit.conditions import count_module

            return count_module(schema, violated)
        case Part.STORE:
            return store_text(schema.words).make()
        case Part.WALK:
            from insync.machine.emit.walking import walk_module

            return walk_module(program, violated, abstraction)
        case Part.SIGHT:
            from insync.machine.emit.hash_table import sightings_module

            assert abstraction is not None, "only walks with an abstraction call this"
            return sightings_module(abstraction.schema.words)
        case Part.OUTSIDE:
            from insync.machine.emit.conditions import outside_module

            return outside_module(program, symmetry)
        case Part.EDGES:
            from insync.machine.emit.transitions import edges_module

            return edges_module(program)


def store_text(words: int) -> Text:
    """Return the text of the functions of stores, for states of `words` words."""

    def generated() -> str:
        from insync.machine.emit.hash_table import store_module

        return store_module(words)

    return Text(Part.STORE, words_key("store", words), generated)


def load(made: Texts, watch: Watch | None = None) -> Kernels:
    """Return the compiled functions; a text is generated only if the object cache has no code for its key.

    Args:
        made: the texts.
        watch: the limits of the work; None compiles in this thread, without interruption.

    Raises:
        Stopped: the work must stop. A thread finishes the current part, for the cache.
    """
    return _loaded(made) if watch is None else watch.attend(lambda: _loaded(made))


def _loaded(made: Texts) -> Kernels:
    from insync.machine.compiler import compile_module  # loads LLVM, which takes time

    functions: dict[str, Callable[..., int]] = {}
    for text in made.parts:
        with _one_at_a_time:
            if left_behind():
                raise Stopped(StopReason.INTERRUPT)
            library = compile_module(text.key, text.make)
        more = _OF_SYMMETRY if text.part is Part.EXPAND and made.sizes.symmetric else {}
        wanted_of = {**_FUNCTIONS[text.part], **more}
        functions.update({name: library.function(name, count) for name, count in wanted_of.items()})
    return Kernels(made.sizes, functions)


def compile_kernels(
    program: Program,
    conditions: Sequence[Node] = (),
    parts: Collection[Part] = SEARCH,
    watch: Watch | None = None,
    symmetry: Symmetry | None = None,
    abstraction: Abstraction | None = None,
) -> Kernels:
    """Return the compiled functions of a program; see `texts` and `load`."""
    return load(texts(program, conditions, parts, symmetry, abstraction), watch)


# --------------------------------------------------------------------------------------------------------- predecessors

CHUNK = MOST_CHUNK
"""How many states are expanded together."""

_BUFFER_BYTES = 1 << 16


def least_predecessor(kernels: Kernels, ranges: Iterable[tuple[int, int]], target: Words) -> Words | None:
    """Return the least of some states that has a step to the target; None if there is none.

    States are expanded in chunks. A chunk that has the target among its successors is halved, down to single states. An
    expander drops recently found states, and starts with one state that it treats as found; see `_not_wanted`.

    Args:
        kernels: the compiled program.
        ranges: (address, count) of arrays of states; with symmetry the target is not the first of them.
        target: the state to look for.
    """
    row_bytes, words, row = kernels.sizes.row_bytes, kernels.sizes.words, PackedRows([target])
    expander: Expander | None = None
    found: list[Words] = []

    def search(expander: Expander, rows: int, end: int) -> None:
        while rows < end:
            expander.clear()
            expander.forget()
            done = expander.expand(rows, min(CHUNK, (end - rows) // row_bytes))
            after = rows + done * row_bytes
            if kernels.find(*expander.candidates(0), row) is not None:
                if done == 1:
                    found.append(words_at(rows, words))
                else:
                    half = rows + done // 2 * row_bytes
                    search(expander, rows, half)
                    search(expander, half, after)
            rows = after

    try:
        for rows, count in ranges:
            if expander is None:
                expander = kernels.expander(1, _BUFFER_BYTES, _not_wanted(kernels, rows, target))
            search(expander, rows, rows + count * row_bytes)
    finally:
        if expander is not None:
            expander.close()
    return min(found, default=None)


def _not_wanted(kernels: Kernels, rows: int, target: Words) -> Words:
    """Return a state that the expander may drop: not the target, nor with symmetry another state of its orbit.

    Without symmetry it is the target with one bit flipped. With symmetry that could be in the orbit of the target, so
    it is another representative.
    """
    return words_at(rows, len(target)) if kernels.sizes.symmetric else (target[0] ^ 1, *target[1:])


# ----------------------------------------------------------------------------------------------------------------- keys
#
# Digests of the structure of what is compiled, which are equal in every process.


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
