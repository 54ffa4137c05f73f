"""The cache on disk of compiled object code, and of what else takes long to find: a file per key, whole or not there.

The cache is a convenience: where it cannot be read or written, or what it holds is damaged, code is compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

__all__ = ["cache_folder", "load_object", "save_object"]

_MAGIC = b"insync-object/1\n"
_DIGEST_BYTES = 32


def cache_folder() -> Path:
    """Return where object code is kept: $INSYNC_CACHE_DIR, or `insync` in the user's cache folder (XDG)."""
    own = os.environ.get("INSYNC_CACHE_DIR")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    base = Path(shared) if shared else Path(os.path.expanduser("~")) / ".cache"
    return base / "insync"


def load_object(key: str) -> bytes | None:
    """Return the object code that was saved under a key; None when there is none, or it is damaged."""
    try:
        content = (cache_folder() / f"{key}.o").read_bytes()
    except OSError:
        return None
    head = len(_MAGIC) + _DIGEST_BYTES
    code = content[head:]
    whole = content[:head] == _MAGIC + hashlib.sha256(code).digest()
    return code if whole else None


def save_object(key: str, code: bytes) -> None:
    """Save object code under a key, if the folder can be written."""
    folder = cache_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + hashlib.sha256(code).digest() + code)
            os.replace(name, folder / f"{key}.o")
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
