"""Where TLC is: a tla2tools.jar, or the sources of the TLA+ tools, which are compiled once and then kept."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path

from insync.explorer.java import find_compiler, find_java
from insync.explorer.limits import Limits, Watch
from insync.explorer.programs.child_processes import Workshop
from insync.machine.cache import find_kept, kept_folder
from insync.model.errors import UserError

__all__ = ["ARCHIVE", "TLC_VARIABLE", "Tlc", "find_tlc"]

TLC_VARIABLE = "INSYNC_TLC"
"""The environment variable that names TLC where no option does."""

ARCHIVE = "classes.jsa"
"""The name of an archive of TLC's classes."""

_PLACES = ("", "org.lamport.tlatools", "tlatools/org.lamport.tlatools")
_KEPT = "tlc"
_MAIN = "src/tlc2/TLC.java"
_CLASS = "tlc2/TLC.class"
_ADVICE = (
    f"name a tla2tools.jar, or the folder of the sources of the TLA+ tools, with --tlc or in {TLC_VARIABLE}. The jar "
    f"is among the releases of https://github.com/tlaplus/tlaplus."
)


@dataclass(frozen=True, slots=True)
class Tlc:
    """How TLC is started.

    Attributes:
        java: the path of Java.
        classes: the class path.
        key: under which an archive of the classes is kept in the cache, which halves the start; None without one.
    """

    java: str
    classes: str
    key: str | None = None

    @property
    def archive(self) -> Path | None:
        """The archive that is kept; None where there is none."""
        kept = None if self.key is None else find_kept(_KEPT, self.key)
        return None if kept is None else kept / ARCHIVE

    def keep(self, archive: Path) -> None:
        """Keep an archive that Java has written, if it has written one and none is kept."""
        if self.key is not None and archive.is_file():
            with contextlib.suppress(UserError):
                kept_folder(_KEPT, self.key, lambda new: shutil.copyfile(archive, new / ARCHIVE), "the archive of TLC")


def find_tlc(named: Path | None = None) -> Tlc:
    """Return TLC.

    Args:
        named: a jar or a folder of sources; None is what the environment names.

    Raises:
        UserError: nothing is named, there is nothing of the kind at that place, or there is no Java.
    """
    written = str(named) if named is not None else os.environ.get(TLC_VARIABLE, "")
    if not written:
        message = f"The engine tlc needs TLC, and nothing says where it is; {_ADVICE}"
        raise UserError(message)
    place = Path(written).expanduser().resolve()
    java = find_java("The engine tlc").program
    if place.is_file() and place.suffix == ".jar":
        _require_tlc_in(place)
        return Tlc(java, str(place), _archive_key(place, java))
    sources = next((place / part for part in _PLACES if (place / part / _MAIN).is_file()), None)
    if sources is None:
        what = f"is neither a jar nor a folder with the sources of TLC ({_MAIN})" if place.exists() else "is not there"
        message = f"{written} {what}; {_ADVICE}"
        raise UserError(message)
    jars = sorted(str(path) for path in (sources / "lib").rglob("*.jar"))
    return Tlc(java, os.pathsep.join([str(_compiled(sources, jars)), *jars]))


def _require_tlc_in(jar: Path) -> None:
    """Raise UserError where a jar is none, or is another one."""
    try:
        with zipfile.ZipFile(jar) as opened:
            there = _CLASS in opened.namelist()
    except (OSError, zipfile.BadZipFile):
        there = False
    if not there:
        message = f"{jar} is no tla2tools.jar: {_CLASS} is not in it; {_ADVICE}"
        raise UserError(message)


def _archive_key(jar: Path, java: str) -> str:
    """Return the key of the archive of a jar's classes, for this Java."""
    said = f"{jar} {jar.stat().st_mtime_ns} {Path(java).resolve()}"
    return f"archive-{hashlib.sha256(said.encode()).hexdigest()[:16]}"


def _compiled(sources: Path, jars: list[str]) -> Path:
    """Return the folder with the classes, which are compiled if these sources were not before.

    Raises:
        UserError: they cannot be compiled.
    """
    files = sorted(path for path in (sources / "src").rglob("*") if path.is_file())
    stamp = "\n".join(f"{path} {path.stat().st_mtime_ns}" for path in files)

    def compile_into(new: Path) -> None:
        with Workshop(Watch(Limits(), None)) as shop:
            shop.write("sources", "\n".join(f'"{path}"' for path in files if path.suffix == ".java"))
            options = ["-encoding", "UTF-8", "-nowarn", "-proc:none", "-cp", os.pathsep.join(jars), "-d", str(new)]
            ran = shop.run([find_compiler("The engine tlc"), *options, "@sources"])
        if ran.code != 0:
            message = f"The sources of TLC in {sources} do not compile: {ran.output.strip()[-400:]}"
            raise UserError(message)
        for path in files:
            if path.suffix != ".java":  # the standard modules are found beside the classes
                copy = new / path.relative_to(sources / "src")
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)

    return kept_folder(_KEPT, hashlib.sha256(stamp.encode()).hexdigest()[:16], compile_into, "TLC, compiled,")
