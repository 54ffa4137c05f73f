"""Internal: programs as machine code, expanding, storing and checking packed states at memory speed.

An engine asks `kernels`: `compile_kernels`, or `texts` and then `load`. The `Kernels` that it gets make the structures
that the code works with, which know no files and no other processes. `packed`, `sizes`, `memory` and `interruptible`
are for engines too; everything else is internal.
"""

from __future__ import annotations
