"""The user's cache folder, and folders in it that are made once and kept.

The content of the cache is executed: object code, Java classes, jars. So the cache is used only if its folder belongs
to the user and is not a link, and it is made private to the user (mode 0700). A kept folder carries a digest of its key
and all its files; if the digest differs, the folder is removed and made again.

Source of the locations: XDG Base Directory Specification, version 0.8.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

from insync.runtime.checksums import Damaged, Label, digest, framed, unframed
from insync.runtime.errors import UserError

__all__ = [
    "CacheNotUsed",
    "cache_folder",
    "cache_place",
    "find_kept",
    "keep_folder",
    "kept_folder",
    "load_object",
    "save_object",
]


_PRIVATE = 0o700
_CONTENT = "content"
_DIGEST = "digest"
_ADVICE = "Name a folder of your own with INSYNC_CACHE_DIR."


class CacheNotUsed(UserWarning):
    """The cache folder is not the user's own, so nothing is taken from it and nothing is kept."""


def cache_place() -> Path | None:
    """Return the path of the cache folder, which may not exist yet; None without a home directory.

    The path is $INSYNC_CACHE_DIR, or `insync` in $XDG_CACHE_HOME, or `.cache/insync` in the home directory. A relative
    path in XDG_CACHE_HOME is ignored, as XDG demands.
    """
    own = os.environ.get("INSYNC_CACHE_DIR")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(shared):
        return Path(shared) / "insync"
    home = os.path.expanduser("~") if os.environ.get("HOME", "~") else ""
    return Path(home) / ".cache" / "insync" if os.path.isabs(home) else None


def cache_folder() -> Path | None:
    """Return the cache folder, created if necessary and private to the user; None if it cannot be used.

    Warns:
        CacheNotUsed: the folder is a link, or belongs to another user.
    """
    try:
        return _own_folder()
    except OSError:
        return None
    except UserError as error:
        warnings.warn(str(error), CacheNotUsed, stacklevel=1)  # always from this line, so that it is shown once
        return None


def kept_folder(place: str, key: str, make: Callable[[Path], object], what: str) -> Path:
    """Return a folder of the cache; if it is missing or damaged, make it first.

    Args:
        place: the path of its parent in the cache, such as `kafka/classes`.
        key: its name; equal keys have equal content.
        make: fills a new folder, given its path.
        what: a description for messages, such as "the compiled harness".

    Raises:
        UserError: there is no cache, or it has no room.
    """
    try:
        cache = _own_folder()
        found = _whole(cache, place, key)
        if found is not None:
            return found
        parent = cache / place
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent, prefix=".new-") as name:
            new = Path(name) / _CONTENT
            new.mkdir()
            make(new)
            return keep_folder(place, key, new)
    except OSError as error:
        file = error.filename or cache_place()
        message = (
            f"{file}: cannot be written ({error.strerror or error}), and {what} is kept there. "
            "Give INSYNC_CACHE_DIR a folder with room that you may write to."
        )
        raise UserError(message) from error
    except _NoCache as error:
        message = f"Without a cache {what} cannot be kept. {error}"
        raise UserError(message) from error


def keep_folder(place: str, key: str, made: Path) -> Path:
    """Move a new folder to its final path in the cache, with its digest; see `kept_folder`.

    If another process was first, its folder stays, as the content is the same.

    Raises:
        UserError: the cache is not the user's own.
        OSError: the cache cannot be written.
    """
    cache = _own_folder()
    kept = cache / place / key
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".new-") as name:
        whole = Path(name) / "whole"
        whole.mkdir()
        (whole / _DIGEST).write_text(_digest_of(made, place, key))
        made.rename(whole / _CONTENT)
        try:
            whole.rename(kept)
        except OSError:
            if _whole(cache, place, key) is None:
                raise
    return kept / _CONTENT


def find_kept(place: str, key: str) -> Path | None:
    """Return a kept folder, or None; a damaged one is removed."""
    cache = cache_folder()
    return None if cache is None else _whole(cache, place, key)


def _whole(cache: Path, place: str, key: str) -> Path | None:
    kept = cache / place / key
    try:
        if (kept / _DIGEST).read_text() == _digest_of(kept / _CONTENT, place, key):
            return kept / _CONTENT
    except FileNotFoundError:
        if not kept.exists():
            return None
    except (OSError, ValueError):
        pass
    shutil.rmtree(kept, ignore_errors=True)
    return None


class _NoCache(UserError):
    """The cache cannot be used; the message has the reason."""


def _own_folder() -> Path:
    """Return the cache folder, created if necessary.

    Raises:
        _NoCache: the folder may not be used.
        OSError: the folder cannot be created.
    """
    folder = cache_place()
    if folder is None:
        message = f"There is no home directory, so there is no cache. {_ADVICE}"
        raise _NoCache(message)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=_PRIVATE, parents=True)
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        message = f"{folder}: the cache folder is a link, so nothing is taken from it and nothing is kept. {_ADVICE}"
        raise _NoCache(message)
    if found.st_uid != os.geteuid():
        message = (
            f"{folder}: the cache folder belongs to another user ({found.st_uid}), so nothing is taken from it and "
            f"nothing is kept. {_ADVICE}"
        )
        raise _NoCache(message)
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(20, "Not a directory", str(folder))
    if stat.S_IMODE(found.st_mode) != _PRIVATE:
        folder.chmod(_PRIVATE)
    return folder


def _digest_of(folder: Path, place: str, key: str) -> str:
    """Compute the digest of all files of a folder, with their names.

    Raises:
        OSError: a file cannot be read.
    """
    taken = []
    for path in sorted(each for each in folder.rglob("*") if not each.is_dir()):
        with open(path, "rb", opener=_at_once) as file:
            content = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
        taken.append(f"{path.relative_to(folder).as_posix()}\0{content}\n")
    return digest({"kind": "folder", "place": place, "key": key}, "".join(taken).encode()).hex()


def _at_once(path: str, flags: int) -> int:
    """Open a file; opening a pipe does not block."""
    return os.open(path, flags | os.O_NONBLOCK)


# Object code in the cache, and other small results that are slow to compute: a file per key, whole or absent.
#
# The cache is optional. Code is compiled again if the cache cannot be used, or if a file in it is damaged, has
# another label, or belongs to another user.


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
