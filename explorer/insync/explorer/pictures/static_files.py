"""Internal: what stands in every page and drawing as it is: styles and the script."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

__all__ = ["resource"]


@cache
def resource(name: str) -> str:
    """Return the text of a file of `pictures/static`."""
    return files("insync.explorer").joinpath("pictures", "static", name).read_text(encoding="utf-8").strip()
