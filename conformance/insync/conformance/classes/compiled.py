"""The harness as class files: compiled at first use, and kept in the cache under the hash of sources and jars."""

from __future__ import annotations

import hashlib
import subprocess
from functools import partial
from pathlib import Path

from insync.conformance.classes.sources import Driven, class_places, fitted_sources, sources
from insync.conformance.jars.jar_set import JarSet
from insync.runtime.cache import kept_folder
from insync.runtime.errors import UserError
from insync.runtime.java import find_compiler

__all__ = ["NEEDED_BY", "compiled_harness"]

NEEDED_BY = "The harness of Kafka's classes"

_PATIENCE = 300
_RELEASE = "17"
"""The oldest Java that runs the brokers of Kafka 4, whatever compiles them."""


def compiled_harness(jars: JarSet, driven: Driven = Driven.CLUSTER) -> Path:
    """Return the folder of the class files for a release, compiled if need be.

    Args:
        jars: the jars of the release.
        driven: which of its classes are driven.

    Raises:
        UserError: there is no Java compiler, no room in the cache, or jars that the harness does not fit.
    """
    return kept_folder("kafka/classes", _key(jars, driven), partial(_compile, jars, driven), "the compiled harness")


def _key(jars: JarSet, driven: Driven) -> str:
    parts = [jars.version, *jars.digests]
    parts += [part for named in sources(driven).items() for part in named]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _compile(jars: JarSet, driven: Driven, made: Path) -> None:
    compiler = find_compiler(NEEDED_BY)
    fitted = fitted_sources(jars.version, class_places(jars.of_kafka), driven)
    source = made.parent / "source"
    source.mkdir()
    for name, text in fitted.items():
        (source / name).write_text(text, encoding="utf-8")
    class_path = ":".join(map(str, jars.paths))
    files = [str(source / name) for name in fitted]
    command = [
        compiler,
        "-nowarn",
        "-Xlint:none",
        "--release",
        _RELEASE,
        "-encoding",
        "UTF-8",
        "-d",
        str(made),
        "-cp",
        class_path,
        *files,
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        message = (
            f"{compiler} has not compiled the harness against Kafka {jars.version} within {_PATIENCE} seconds. Try "
            "again when less else runs on this machine."
        )
        raise UserError(message) from error
    if done.returncode != 0:
        first = next(iter(done.stderr.strip().splitlines()), "javac says nothing").removeprefix(f"{source}/")
        message = (
            f"The harness cannot be compiled against these jars of Kafka {jars.version} ({first}): they are not the "
            "whole folder libs, or of a release that it does not fit. Name a release of `insync kafka versions`."
        )
        raise UserError(message)
