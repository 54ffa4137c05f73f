"""Programs as machine code: expanding, storing and checking packed states at memory speed.

`kernels.compile_kernels` gives the functions. They work on plain addresses and know no threads, files or
processes, so that any engine that owns some memory can use them.
"""

from __future__ import annotations
