"""Internal: the LLVM IR that each function of the machine code is made of."""

from __future__ import annotations
