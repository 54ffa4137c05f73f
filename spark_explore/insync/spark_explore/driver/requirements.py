"""Tests that Spark's requirements are installed, with a message that names what to install."""

from __future__ import annotations

import importlib
import importlib.metadata
import re

from insync.runtime.errors import UserError
from insync.runtime.java import find_java

__all__ = ["load_packages", "load_pyspark", "require_java", "require_packages"]

_OLDEST_SPARK = (4, 1)  # repartitionById
_EXTRA = "Install it with: pip install 'insync[spark]'"


def require_packages() -> None:
    """Raise UserError unless pyspark, pyarrow and pandas are installed in versions that work together."""
    for name in ("pyspark", "pyarrow", "pandas"):
        found = _version(name)
        if found is None:
            message = f"The Spark engine needs the Python package {name}, which is not installed. {_EXTRA}."
            raise UserError(message)
        if name == "pyspark" and found < _OLDEST_SPARK:
            wanted = ".".join(map(str, _OLDEST_SPARK))
            message = f"The Spark engine needs pyspark {wanted} or newer, and {_text(found)} is installed. {_EXTRA}."
            raise UserError(message)
        if name == "pandas" and not (2, 2) <= found < (3,):
            message = f"Spark needs pandas from 2.2 to below 3, and {_text(found)} is installed. {_EXTRA}."
            raise UserError(message)


def load_pyspark() -> None:
    """Import the package that starts Spark.

    Raises:
        UserError: see `require_packages`.
    """
    require_packages()
    importlib.import_module("pyspark")


def load_packages() -> None:
    """Import all modules that a search on Spark needs, which takes a second or two.

    Raises:
        UserError: see `require_packages`.
    """
    require_packages()
    for name in ("pyspark.sql", "pyspark.errors", "pyspark.sql.pandas.types"):
        importlib.import_module(name)


def require_java() -> str:
    """Return the version text of the Java runtime that Spark will use.

    Raises:
        UserError: there is none in JAVA_HOME or on the PATH, or it is too old.
    """
    return find_java("Spark").shown


def _version(name: str) -> tuple[int, ...] | None:
    try:
        text = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
