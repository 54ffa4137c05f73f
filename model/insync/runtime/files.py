"""Files that users name: written whole or not at all, checked early, and read as text or JSON of a kind.

A kind of file is a trace, a proof or a recorded run; messages about such a file say what is wrong with it and where.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from insync.runtime.checksums import Damaged, Label, require_digest
from insync.runtime.errors import UserError

__all__ = [
    "FileKind",
    "check_writable",
    "is_special",
    "write_whole",
]


_DESCRIPTOR = re.compile(r"(/dev|/proc/\d+(/task/\d+)?)/fd/\d+")


def check_writable(path: Path) -> None:
    """Raise UserError unless a file can be written at `path`; an existing file is left as it is.

    Called before a long search, so that its result is not lost. Devices and pipes are opened by `write_whole` alone.
    """
    try:
        if is_special(path):
            return
        if _is_descriptor(path):
            message = f"{path}: this is a file that is open already, which a new one would replace. Name a file."
            raise UserError(message)
        with contextlib.suppress(FileNotFoundError):
            path.stat()  # refuses a name that is too long, which `is_dir` does no more since Python 3.14
        if path.is_dir():
            message = f"{path}: this is a directory, and a file is to be written there. Name a file in it."
            raise UserError(message)
        handle, name = _open_beside(path)
        os.close(handle)
        os.unlink(name)
    except OSError as error:
        raise _cannot_write(path, error) from error


def write_whole(path: Path, text: str) -> None:
    """Write `text` to `path` in UTF-8, so that a reader sees the old file or the whole new one.

    The text goes to a temporary file in the same directory, is flushed to disk, and replaces `path` in one step. If
    that fails, the temporary file is removed, and the UserError has the path and the reason.
    """
    encoded = text.encode("utf-8", "backslashreplace")  # for invalid file names; in JSON this is the escape
    try:
        if is_special(path):
            path.write_bytes(encoded)
        else:
            _replace(path, encoded)
    except OSError as error:
        raise _cannot_write(path, error) from error


def _replace(path: Path, encoded: bytes) -> None:
    target = Path(os.path.realpath(path))  # a link is kept, and its target replaced
    handle, name = _open_beside(target)
    try:
        with open(handle, "wb") as file:
            file.write(encoded)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode_for(target))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _open_beside(path: Path) -> tuple[int, str]:
    return tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".part", dir=Path(os.path.realpath(path)).parent)


def _mode_for(path: Path) -> int:
    """The permissions of a new version of `path`: those it has, or else those of a new file under the umask."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def is_special(path: Path) -> bool:
    """Return whether `path` is a device or a pipe, which is written to and not replaced."""
    try:
        return path.exists() and not path.is_file() and not path.is_dir()
    except (OSError, ValueError):  # a name that no file can have: opening it raises
        return False


def _is_descriptor(path: Path) -> bool:
    """Whether a path is that of an open file, such as /dev/stdout, which links to /proc/self/fd/1."""
    for _ in range(8):  # a link to a link, and so on
        place = os.path.join(os.path.realpath(path.parent), path.name)
        if _DESCRIPTOR.fullmatch(place):
            return True
        if not path.is_symlink():
            return False
        path = path.parent / os.readlink(path)
    return False


def _cannot_write(path: Path, error: OSError) -> UserError:
    reason = error.strerror or str(error)
    if isinstance(error, FileNotFoundError):
        parent = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
        there = parent.is_dir()  # as in /proc, which takes no new files
        reason = f"{'no file can be made in ' if there else ''}the directory {str(parent)!r}"
        reason += "" if there else " does not exist"
    return UserError(
        f"{path}: cannot be written ({reason}). Nothing was left there; "
        "name a file in a directory with room that you may write to."
    )


class _NotOfTheKind(ValueError):
    """A text that Python's JSON reader accepts and that no file of ours contains."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file.

    Attributes:
        name: the name of the kind, such as "trace".
        format: the format, as it is written in the file.
        named: a sentence with the advice if the file cannot be read.
        again: a sentence with the advice if its content is wrong.
    """

    name: str
    format: str
    named: str
    again: str

    @property
    def label(self) -> Label:
        """The label of such a file, which its digest covers besides the content."""
        return {"kind": self.name, "format": self.format}

    def require_whole(self, place: str, text: str) -> None:
        """Check the digest in the text of a file; messages begin with `place`.

        Raises:
            UserError: the text is not what was written.
        """
        try:
            require_digest(self.label, text)
        except Damaged as error:
            message = f"{place}: this {self.name} was changed after it was written: its digest differs. {self.again}"
            raise UserError(message) from error

    def text(self, path: Path) -> str:
        """Return the text of a file.

        Raises:
            UserError: it cannot be read, or is not text.
        """
        try:
            return path.read_text(encoding="utf-8-sig")  # an editor may have put a byte order mark there
        except UnicodeDecodeError as error:
            expected = f"A {self.name} file ({self.format}) was expected. {self.again}"
            message = f"{path}: byte {error.start} is not UTF-8 text. {expected}"
            raise UserError(message) from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            message = f"{path}: cannot be read ({reason}). {self.named}"
            raise UserError(message) from error

    def parsed(self, place: str, text: str) -> object:
        """Parse a text as JSON; messages begin with `place`.

        Raises:
            UserError: it is not JSON, or not JSON that such a file contains.
        """
        expected = f"a {self.name} ({self.format})"
        wanted = f"{expected[:1].upper()}{expected[1:]} was expected. {self.again}"
        try:
            parsed: object = json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            at = f"{place}:{error.lineno}:{error.colno}"
            if not text.strip():
                message = f"{place}: the file is empty; {expected} was expected. {self.again}"
            elif not text[error.pos :].strip() or error.msg.startswith("Unterminated string"):
                message = f"{at}: the {self.name} file is cut off here. {self.again}"
            else:
                found = text[error.pos : error.pos + 20].split("\n")[0]
                message = f"{at}: this is not JSON at {found!r} ({error.msg}). {wanted}"
            raise UserError(message) from error
        except RecursionError as error:
            message = f"{place}: values are nested too deep for {expected}. {self.again}"
            raise UserError(message) from error
        except _NotOfTheKind as error:
            message = f"{place}: {error}. {wanted}"
            raise UserError(message) from error
        except ValueError as error:  # Python's limit for the digits of a number
            message = f"{place}: a number in it has more digits than any in {expected}. {self.again}"
            raise UserError(message) from error
        return parsed


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, value in pairs:
        if key in result:
            message = f"the key {key!r} is there twice in one object"
            raise _NotOfTheKind(message)
        result[key] = value
    return result


def _no_constant(name: str) -> object:
    message = f"{name} is not a value of JSON"
    raise _NotOfTheKind(message)
