"""The z3 library. Importing this package imports it, so a program imports this package when it begins a proof.

Raises:
    UserError: z3 is not installed.
"""

from __future__ import annotations

from insync.model.errors import UserError

try:
    import z3
except ImportError as error:
    _MESSAGE = "z3 is not installed, and proofs need it: pip install 'insync[prove]'."
    raise UserError(_MESSAGE) from error

__all__ = ["z3"]
