"""Internal: programs as machine code that expands, stores and checks packed states.

Engines call `kernels`: `compile_kernels`, or `texts` and then `load`. A `Kernels` object has the compiled functions.
Each structure that calls them is one file beside the fields of its context: `expander` computes successors, for the
partitions that own them, `conditions` evaluates conditions, `walker` takes random walks, and `stores` keeps visited
states. `store_kernels` has the functions of stores that keep codes or sorted rows. `arrow_states` converts states to
Arrow columns.

`emit` generates LLVM IR, for code that the cache does not have under its key, and `compiler` alone uses
llvmlite. `packed` has packed states in Python and the sizes of a program.
"""

from __future__ import annotations
