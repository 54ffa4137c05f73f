"""Reading files of a kind (traces, proofs, recorded runs) as text and as JSON, with messages that say what is wrong."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from insync.runtime.checksums import Damaged, Label, require_digest
from insync.runtime.errors import UserError

__all__ = ["FileKind"]


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
