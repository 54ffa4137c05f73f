"""Object code in the cache, and other small results that are slow to compute: a file per key, whole or absent.

The cache is optional. Code is compiled again if the cache cannot be used, or if a file in it is damaged, has another
label, or belongs to another user.
"""

from __future__ import annotations

import contextlib
import os
import tempfile

from insync.runtime.cache import cache_folder
from insync.runtime.checksums import Damaged, Label, framed, unframed

__all__ = ["load_object", "save_object"]


def load_object(key: str) -> bytes | None:
    """Return the object code that was saved under a key; None if there is none, or it is damaged."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # opening a pipe must not block
        with open(os.open(folder / f"{key}.o", flags), "rb") as file:
            own = os.fstat(file.fileno()).st_uid == os.geteuid()
            return unframed(_label(key), file.read()) if own else None
    except (OSError, Damaged):
        return None


def save_object(key: str, code: bytes) -> None:
    """Save object code under a key, if the cache can be written."""
    folder = cache_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=folder, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(framed(_label(key), code))
            os.replace(name, folder / f"{key}.o")
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)


def _label(key: str) -> Label:
    return {"kind": "object", "key": key}
