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

# A solver works in another thread than the one that drops terms (`ProofWatch.attend`), and Python may drop some at any
# moment, when it collects cycles. Without this call z3 would give them back in the midst of its work, and crash.
z3.Z3_enable_concurrent_dec_ref(z3.main_ctx().ref())
