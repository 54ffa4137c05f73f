"""Internal: programs as machine code that expands, stores and checks packed states.

Engines call `kernels`: `compile_kernels`, or `texts` and then `load`. A `Kernels` object makes the structures that the
compiled code works with. Each of these is one file beside the fields of its context: `expander` computes successors,
for the partitions that own them, `conditions` evaluates conditions, `walker` takes random walks, and `stores` keeps
visited states. `arrow_states` converts states to Arrow columns.

`emit` generates LLVM IR, for code that the cache does not have under its key, and `compiler` alone uses
llvmlite. `packed` has packed states in Python and the sizes of a program.
"""

from __future__ import annotations
