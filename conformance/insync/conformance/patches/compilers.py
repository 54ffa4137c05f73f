"""Sources of Kafka compiled against its jars: Java by javac, Scala by the compiler of that release's own Scala."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.jars.maven import copy_by_maven
from insync.runtime.cache import kept_folder
from insync.runtime.errors import UserError
from insync.runtime.java import find_compiler, find_java

__all__ = ["compile_sources"]

_NEEDED_BY = "A patch of Kafka"
_PATIENCE = 600
_JAVA_RELEASE = "17"
_SCALA_LIBRARY = re.compile(r"scala-library-(\d+\.\d+\.\d+)")


def compile_sources(texts: Mapping[str, str], jars: JarSet, work: Path, place: str) -> Path:
    """Compile sources, and return the folder of the class files.

    Args:
        texts: the sources by their paths; all are Java, or all are Scala.
        jars: what they are compiled against.
        work: a folder of its own.
        place: what messages call what is compiled.

    Raises:
        UserError: there is no compiler, or the sources are wrong; the message has what the compiler says.
    """
    made = work / "classes"
    made.mkdir()
    files = [_written(work / "source", path, text) for path, text in texts.items()]
    class_path = ":".join(map(str, jars.paths))
    scala = [file.suffix == ".scala" for file in files]
    if any(scala) and not all(scala):
        message = (
            f"{place} changes Java and Scala at once; insync compiles the one or the other. Make two patches of it."
        )
        raise UserError(message)
    command = _scala_compiler(jars) if any(scala) else [find_compiler(_NEEDED_BY), "-Xlint:none"]
    options = ["-nowarn", "-encoding", "UTF-8", "-d", str(made), "-cp", class_path]
    if not any(scala):
        options += ["--release", _JAVA_RELEASE]
    done = subprocess.run(  # noqa: S603
        [*command, *options, *map(str, files)], capture_output=True, text=True, timeout=_PATIENCE, check=False
    )
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip()
        message = f"{place} cannot be compiled against Kafka {jars.version}:\n{said[-4000:]}"
        raise UserError(message)
    return made


def _written(folder: Path, path: str, text: str) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def _scala_compiler(jars: JarSet) -> Sequence[str]:
    version = _scala_version(jars.paths)

    def copy(folder: Path) -> None:
        copy_by_maven([("org.scala-lang", "scala-compiler", version)], folder)

    folder = kept_folder("kafka/scala", version, copy, "the compiler of Scala")
    compiler = ":".join(map(str, sorted(folder.rglob("*.jar"))))
    return [find_java(_NEEDED_BY).program, "-Xss8m", "-Xmx1g", "-cp", compiler, "scala.tools.nsc.Main"]


def _scala_version(paths: Iterable[Path]) -> str:
    versions = [match[1] for path in paths if (match := _SCALA_LIBRARY.match(path.name))]
    if len(versions) != 1:
        message = (
            "The jars have no scala-library-VERSION.jar, which says the version of Scala. Name a whole folder libs."
        )
        raise UserError(message)
    return versions[0]
