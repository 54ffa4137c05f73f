"""Readable values as they are written in a sentence."""

from __future__ import annotations

from insync.model.visible_text import in_one_line

__all__ = ["plain"]


def plain(value: object) -> str:
    """Return a readable value as it is written in a sentence, in one line."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"{{{', '.join(map(plain, value))}}}"
    if isinstance(value, dict):
        return f"({', '.join(f'{name}={plain(part)}' for name, part in value.items())})"
    return in_one_line(str(value))
