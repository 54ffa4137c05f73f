"""The machine code of stores that keep codes or sorted rows; it is compiled when a search begins to keep such."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from insync.machine.kernels import words_key
from insync.machine.stores.collapse import CodingKernels, Component, components_of, digits_of
from insync.machine.stores.compressed import CodeKernels
from insync.machine.stores.quotient_table import TableKernels
from insync.machine.stores.sorted_rows import OrderKernels
from insync.model.domains.layout import Schema

__all__ = ["code_kernels", "code_kernels_of", "order_kernels", "table_kernels"]


def code_kernels(schema: Schema, rounds: int = 0) -> CodeKernels:
    """Return the compiled functions for codes of the states of a schema; `rounds` as in `digits_of`."""
    return code_kernels_of(components_of(schema), schema.words, rounds)


def code_kernels_of(components: Sequence[Component], words: int, rounds: int = 0) -> CodeKernels:
    """Return the compiled functions for codes of states with these components; `rounds` as in `digits_of`."""
    from insync.machine.compiler import compile_module  # loads LLVM, which takes time

    digits = digits_of(components, rounds)

    def generated() -> str:
        from insync.machine.emit.collapse import coding_module

        return coding_module(components, words, digits)

    library = compile_module(words_key(f"coding-{words}-{components!r}-{rounds}", words), generated)
    coding = CodingKernels(
        encode=library.function("encode", 5),
        decode=library.function("decode", 5),
        lay=library.function("lay", 4),
        spread=library.function("spread", 1),
    )
    return CodeKernels(digits, words, coding, table_kernels)


@cache
def table_kernels(width: int) -> TableKernels:
    """Return the compiled functions of tables with slots of `width` bits."""
    from insync.machine.compiler import compile_module

    def generated() -> str:
        from insync.machine.emit.quotient_table import quotient_module

        return quotient_module(width)

    library = compile_module(words_key("quotient", width), generated)
    return TableKernels(
        insert=library.function("insert", 4),
        refill=library.function("refill", 3),
        unload=library.function("unload", 4),
        unspill=library.function("unspill", 2),
        respill=library.function("respill", 3),
    )


@cache
def order_kernels(words: int) -> OrderKernels:
    """Return the compiled functions that sort rows of `words` words."""
    from insync.machine.compiler import compile_module

    def generated() -> str:
        from insync.machine.emit.external_sort import ordering_module

        return ordering_module(words)

    library = compile_module(words_key("ordering", words), generated)
    return OrderKernels(
        words,
        order=library.function("order", 3),
        distinct=library.function("distinct", 2),
        merge=library.function("merge", 5),
        pack=library.function("pack", 3),
        unpack=library.function("unpack", 3),
        place=library.function("place", 3),
        strike=library.function("strike", 5),
        remain=library.function("remain", 3),
    )
