"""Judges outputs and files by their published JSON Schemas, with a validator that is not ours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

__all__ = ["require_file_schema", "require_schema", "schema_name"]

_FORMATS = {"insync-trace/1": "trace", "insync-proof/2": "proof"}


@cache
def _validator(name: str) -> Any:
    """Return what judges by a schema; of outputs too, it refuses keys that the schema lacks."""
    from jsonschema import Draft202012Validator

    from json_schemas import schema_of

    return Draft202012Validator(schema_of(name, closed=True))


def schema_name(arguments: Sequence[str]) -> str:
    """Return the name of the schema of what a command prints with `--json`."""
    words = 2 if arguments[0] in ("kafka", "spark") else 1
    return "-".join(arguments[:words])


def require_schema(name: str, text: str) -> None:
    """Require that a text is JSON of a schema, with no key besides."""
    from jsonschema.exceptions import best_match

    found = best_match(_validator(name).iter_errors(json.loads(text)))
    assert found is None, f"{name}, {found.json_path}: {found.message}"


def require_file_schema(text: str) -> None:
    """Require the schema of a trace or a proof, if a text is the file of one."""
    try:
        value = json.loads(text)
    except ValueError:
        return
    name = _FORMATS.get(str(value.get("format"))) if isinstance(value, dict) else None
    if name is not None:
        require_schema(name, text)
