"""Nodes of YAML: the values of a mapping by their keys, the items of a list, and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

__all__ = ["fields_of", "items_of", "text_of"]


def fields_of(node: Any) -> dict[str, Any]:
    """Return the values of a mapping by their keys, those of merged mappings (<<) first; empty for another node."""
    if node is None or node.id != "mapping":
        return {}
    found: dict[str, Any] = {}
    for key, value in node.value:
        if key.id == "scalar" and key.value == "<<":
            for merged in value.value if value.id == "sequence" else [value]:
                found = {**fields_of(merged), **found}
    return {**found, **{key.value: value for key, value in node.value if key.id == "scalar" and key.value != "<<"}}


def items_of(node: Any) -> list[Any]:
    """Return the items of a list; empty for another node."""
    return list(node.value) if node is not None and node.id == "sequence" else []


def text_of(node: Any) -> str:
    """Return the text of a scalar; empty for another node."""
    return str(node.value) if node is not None and node.id == "scalar" else ""
