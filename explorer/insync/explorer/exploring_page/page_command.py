"""What a page asks, read from JSON: whatever else stands there is answered by a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from insync.model.errors import UserError

__all__ = ["PageCommand"]

_LARGEST = 2**53
"""The whole numbers of JSON that a browser has exactly."""


@dataclass(frozen=True, slots=True)
class PageCommand:
    """A command with its arguments."""

    entries: Mapping[str, object]

    @classmethod
    def of(cls, parsed: object) -> PageCommand:
        """Return what parsed JSON asks.

        Raises:
            UserError: it is no object.
        """
        if not isinstance(parsed, Mapping):
            message = "A command is an object, such as {'command': 'back'}."
            raise UserError(message)
        return cls(parsed)

    def has(self, name: str) -> bool:
        """Return whether an argument is there, and not null."""
        return self.entries.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text.

        Raises:
            UserError: it is something else, or it is missing and there is no default.
        """
        value = self.entries.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            message = f"{name}={value!r:.60} is not a text."
            raise UserError(message)
        return value

    def whole(self, name: str, what: str, default: int | None = None, least: int = 0, most: int = _LARGEST) -> int:
        """Return a whole number; a text of digits is one as well.

        Args:
            name: of the argument.
            what: it is, for the message.
            default: what it is if it is missing.
            least: the smallest that is accepted.
            most: the greatest that is accepted.

        Raises:
            UserError: it is something else, or it is missing and there is no default.
        """
        value = self.entries.get(name)
        if default is not None and (value is None or value == ""):
            return default
        if isinstance(value, str) and value.strip().isdecimal() and len(value) <= 16:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            message = f"{str(value)[:40]!r} is not {what}; give a whole number from {least:,} to {most:,}."
            raise UserError(message)
        return value
