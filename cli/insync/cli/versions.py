"""The output of `insync --version`: versions of insync, Python and the tools that it uses, and the cache folder."""

from __future__ import annotations

import importlib.util
import platform
from importlib import metadata

__all__ = ["describe_versions_here"]

_NOT_INSTALLED = "not installed"


def describe_versions_here() -> str:
    """Return a line for insync, for each tool and for the cache. No tool is started."""
    from insync.runtime.cache import cache_place
    from insync.runtime.java import installed_java

    found = {
        "Python": f"{platform.python_version()} ({platform.system()}, {platform.machine()})",
        "LLVM": _llvm(),
        "z3": _package("z3-solver", "z3", extra="prove"),
        "Spark": _package("pyspark", "pyspark", extra="spark"),
        "Java": installed_java() or _NOT_INSTALLED,
        "cache": str(cache_place() or "none, as there is no home directory"),
    }
    width = max(map(len, found))
    return "\n".join(
        [f"insync {metadata.version('insync')}", *(f"{name:<{width}}  {said}" for name, said in found.items())]
    )


def _llvm() -> str:
    try:
        from insync.machine.compiler import llvm_version
    except (ImportError, OSError) as error:
        return f"{_NOT_INSTALLED} ({error})"
    return f"{llvm_version()} (llvmlite {metadata.version('llvmlite')})"


def _package(name: str, module: str, *, extra: str) -> str:
    """Return the version of an installed package without importing it."""
    if importlib.util.find_spec(module) is None:
        return f"{_NOT_INSTALLED} (pip install 'insync[{extra}]')"
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "installed, of an unknown version"
