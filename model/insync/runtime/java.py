"""Finds a Java runtime and compiler on this machine; if there is none, the error says what to install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from insync.runtime.errors import UserError

__all__ = ["Java", "find_compiler", "find_java", "installed_java"]

_OLDEST = 17
_RELEASED = re.compile(r'^JAVA_VERSION="([^"]{1,40})"$', re.MULTILINE)
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime.

    Attributes:
        program: the path of `java`.
        shown: the output of `java -version`.
    """

    program: str
    shown: str

    @property
    def version(self) -> str:
        """The major version, such as "17"; the whole of `shown` if that has none."""
        match = _VERSION.search(self.shown)
        return match[1] if match else self.shown


def find_java(needed_by: str) -> Java:
    """Return the Java runtime of JAVA_HOME, or else of the PATH.

    Args:
        needed_by: the feature that needs Java, as the first word of the messages.

    Raises:
        UserError: there is no Java, or it is too old.
    """
    java = _program("java")
    advice = f"Install a JDK {_OLDEST} or newer, such as Eclipse Temurin, and set JAVA_HOME to it."
    if java is None:
        message = f"{needed_by} needs Java, and there is none on the PATH. {advice}"
        raise UserError(message)
    try:
        # In a process group of its own, so that Ctrl-C does not end it.
        shown = subprocess.run(  # noqa: S603
            [java, "-version"], capture_output=True, text=True, timeout=60, check=True, process_group=0
        ).stderr
    except (OSError, subprocess.SubprocessError) as error:
        message = f"{needed_by} needs Java, and {java} cannot be run ({error}). {advice}"
        raise UserError(message) from error
    match = _VERSION.search(shown)
    if match is not None and int(match[1]) < _OLDEST:
        message = f"{needed_by} needs Java {_OLDEST} or newer, and {java} is Java {match[1]}. {advice}"
        raise UserError(message)
    return Java(java, shown)


def installed_java() -> str | None:
    """Return the version and the path of the Java runtime without starting it; None if there is none."""
    java = _program("java")
    if java is None or not Path(java).is_file():
        return None
    try:
        said = (Path(java).resolve().parents[1] / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return java
    match = _RELEASED.search(said)
    return f"{match[1]} ({java})" if match else java


def find_compiler(needed_by: str) -> str:
    """Return the path of the Java compiler of JAVA_HOME, or else of the PATH.

    Args:
        needed_by: the feature that needs the compiler, as the first word of the message.

    Raises:
        UserError: there is no compiler, as in a runtime that is no JDK.
    """
    compiler = _program("javac")
    if compiler is None or not Path(compiler).is_file():
        where = "on the PATH" if compiler is None else f"at {compiler}"
        message = (
            f"{needed_by} needs a Java compiler, and there is no javac {where}. "
            f"Install a JDK {_OLDEST} or newer, which has one, and set JAVA_HOME to it."
        )
        raise UserError(message)
    return compiler


def _program(name: str) -> str | None:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / name) if home else shutil.which(name)
