"""The machine code of codes and of sorted rows: what is compiled when a search begins to keep those."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from insync.machine.emit.collapse import coding_module
from insync.machine.emit.external_sort import ordering_module
from insync.machine.emit.quotient_table import quotient_module
from insync.machine.identity import words_key
from insync.machine.stores.collapse import CodingKernels
from insync.machine.stores.components import Component, components_of, digits_of
from insync.machine.stores.compressed import CodeKernels
from insync.machine.stores.quotient_table import TableKernels
from insync.machine.stores.sorted_rows import OrderKernels
from insync.model.schema import Schema

__all__ = ["code_kernels", "code_kernels_of", "order_kernels", "table_kernels"]


def code_kernels(schema: Schema, rounds: int = 0) -> CodeKernels:
    """Return what makes codes of the states of a schema; `rounds` as in `digits_of`."""
    return code_kernels_of(components_of(schema), schema.words, rounds)


def code_kernels_of(components: Sequence[Component], words: int, rounds: int = 0) -> CodeKernels:
    """Return what makes codes of states of so many words with these components; `rounds` as in `digits_of`."""
    from insync.machine.compiler import compile_module  # loads LLVM: only who compiles waits for it

    digits = digits_of(components, rounds)
    key = words_key(f"coding-{words}-{components!r}-{rounds}", words)
    library = compile_module(key, lambda: coding_module(components, words, digits))
    coding = CodingKernels(
        encode=library.function("encode", 5),
        decode=library.function("decode", 5),
        lay=library.function("lay", 4),
        spread=library.function("spread", 1),
    )
    return CodeKernels(digits, words, coding, table_kernels)


@cache
def table_kernels(width: int) -> TableKernels:
    """Return the compiled functions of tables with slots of so many bits."""
    from insync.machine.compiler import compile_module

    library = compile_module(words_key("quotient", width), lambda: quotient_module(width))
    return TableKernels(
        insert=library.function("insert", 4),
        refill=library.function("refill", 3),
        unload=library.function("unload", 4),
        unspill=library.function("unspill", 2),
        respill=library.function("respill", 3),
    )


@cache
def order_kernels(words: int) -> OrderKernels:
    """Return the compiled functions of rows of so many words that are sorted."""
    from insync.machine.compiler import compile_module

    library = compile_module(words_key("ordering", words), lambda: ordering_module(words))
    return OrderKernels(
        words,
        order=library.function("order", 3),
        distinct=library.function("distinct", 2),
        pack=library.function("pack", 3),
        unpack=library.function("unpack", 3),
        place=library.function("place", 3),
        strike=library.function("strike", 5),
        remain=library.function("remain", 3),
    )
