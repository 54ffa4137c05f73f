"""LLVM IR: what each function of the machine code is made of."""

from __future__ import annotations
