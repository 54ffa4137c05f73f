"""The z3 library. Importing this module imports it, so it is imported only when a proof begins.

Raises:
    UserError: z3 is not installed.
"""

from __future__ import annotations

import builtins
import importlib.util
import os
import sys

from insync.runtime.errors import UserError


def _name_folders() -> None:
    """Make z3 load its library from where z3 is installed; by default it looks into the current folder first.

    Folders that the user has set in `builtins.Z3_LIB_DIRS` stay.
    """
    found = importlib.util.find_spec("z3")
    if found is not None and not hasattr(builtins, "Z3_LIB_DIRS"):
        places = list(found.submodule_search_locations or ())
        beside = [os.path.join(place, "lib") for place in places]
        vars(builtins)["Z3_LIB_DIRS"] = [*places, *beside, os.path.join(sys.prefix, "lib")]


try:
    _name_folders()
    import z3
except ImportError as error:
    _MESSAGE = "z3 is not installed, and proofs need it: pip install 'insync[prove]'."
    raise UserError(_MESSAGE) from error

__all__ = ["z3"]

# A solver works in another thread than the one that drops terms (`Watch.attend`), and Python's garbage collector
# may drop some at any moment. Without this call z3 would free them in the midst of its work, and crash.
z3.Z3_enable_concurrent_dec_ref(z3.main_ctx().ref())
