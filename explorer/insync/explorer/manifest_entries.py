"""Checks of the values of a manifest: a value of another type, or out of range, is damage."""

from __future__ import annotations

from typing import Any

from insync.runtime.checksums import Damaged

__all__ = ["as_dict", "as_list", "as_numbers", "as_text", "require"]


def require(is_right: bool) -> None:
    """Raise Damaged unless `is_right` is true."""
    if not is_right:
        raise Damaged


def as_dict(value: object) -> dict[str, Any]:
    """Return a JSON object; raise Damaged if the value is something else."""
    if not isinstance(value, dict):
        raise Damaged
    return value


def as_list(value: object) -> list[Any]:
    """Return a JSON array; raise Damaged if the value is something else."""
    if not isinstance(value, list):
        raise Damaged
    return value


def as_text(value: object) -> str:
    """Return a JSON string; raise Damaged if the value is something else."""
    if not isinstance(value, str):
        raise Damaged
    return value


def as_numbers(value: object, least: int = 0) -> list[int]:
    """Return a JSON array of whole numbers of at least `least`; raise Damaged if the value is something else."""
    found = as_list(value)
    require(all(type(each) is int and each >= least for each in found))  # bool is no number here
    return found
