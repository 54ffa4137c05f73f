"""TLC as an engine of `agree` (differential testing: McKeeman 1998): finds it, runs it on an export, reads its report.

TLC searches with one worker, so that its depth and its traces are exact.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import threading
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from insync.explorer.agree import Engine, Opinion
from insync.explorer.export.tla.context import properties_by_name
from insync.explorer.results import Verdict
from insync.model import Model
from insync.properties.invariants import TYPE_OK
from insync.properties.refinement import Refinement
from insync.properties.registry import invariants_of
from insync.runtime.cache import find_kept, kept_folder
from insync.runtime.child_processes import ProgramRunner, Ran
from insync.runtime.errors import UserError
from insync.runtime.java import find_compiler, find_java
from insync.runtime.memory import available_memory
from insync.runtime.watch import Limits, Stopped, Watch

__all__ = [
    "TLC_VARIABLE",
    "Tlc",
    "TlcReport",
    "find_tlc",
    "opinion_within",
    "tlc_engine",
    "tlc_opinion",
    "tlc_opinion_of_runs",
]


_MEGABYTE = 1 << 20
_BROKEN = re.compile(
    r"^Error: (?:Invariant|Action property|Property|Temporal property) "
    r"(?:line .* of module )?(\S+) (?:is|was) violated",
    re.MULTILINE,
)
_COUNTS = re.compile(r"^([\d,]+) states generated(?: \([^)]*\))?, ([\d,]+) distinct states found", re.MULTILINE)
_INITIALS = re.compile(r"^Finished computing initial states: ([\d,]+)", re.MULTILINE)
_DEPTH = re.compile(r"^The depth of the complete state graph search is (\d+)", re.MULTILINE)
_REFUSED = re.compile(
    r"\*\*\* Errors: \d+\s+(?P<place>line [^\n]*)\n+(?P<semantic>.+?)\n\n"
    r"|\*{3}Parse Error\*{3}\s+(?P<syntax>.+?)(?:\n\n|\nResidual|\nFatal|$)"
    r"|Error: (?P<error>.+?)(?:\n\n|\nError:|\nThe error occurred|\nFinished in|$)",
    re.DOTALL,
)
_STATE = re.compile(r"^State (\d+):", re.MULTILINE)
_TRACE = "trace.json"
_OPTIONS = ("-Xss16m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

Exported = Callable[[Model, Sequence[str], str], dict[str, str]]
"""Maps a model, names of properties and a name to the module and its configuration."""


def tlc_engine(tlc: Tlc, exported: Exported) -> Engine:
    """Return the engine that searches with TLC. It counts states and steps, and stops at the first violation."""

    def engine(model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None) -> Opinion:
        for name in ("depth", "states"):
            if getattr(limits, name) is not None:
                message = f"TLC searches whole spaces, so leave the limit on {name} out."
                raise UserError(message)
        return tlc_opinion(
            tlc, model, exported(model, list(dict.fromkeys([*properties, TYPE_OK])), "Judged"), limits, stop
        )

    return engine


def tlc_opinion(
    tlc: Tlc, model: Model, files: Mapping[str, str], limits: Limits, stop: threading.Event | None = None
) -> Opinion:
    """Search an exported module with TLC, and return its result in terms of the model.

    Args:
        tlc: how to start TLC.
        model: the model.
        files: a module and its configuration, by their names, the module first.
        limits: the limits of the search, including the start of Java.
        stop: stops the search when it is set.

    Raises:
        UserError: TLC rejects the module, or fails during the search.
    """

    def ask(runner: ProgramRunner) -> Opinion:
        return TlcReport.of(_searched(runner, tlc, files, limits)).opinion(model)

    return opinion_within("tlc", limits, stop, ask)


def tlc_opinion_of_runs(
    tlc: Tlc,
    model: Model,
    files: Mapping[str, str],
    name: str,
    limits: Limits,
    stop: threading.Event | None = None,
) -> tuple[Opinion, str]:
    """Check one property of runs with TLC. Return the result, and the counterexample in JSON, empty if there is none.

    Args:
        tlc: how to start TLC.
        model: the model.
        files: a module and its configurations, including that of the property.
        name: the name of the property.
        limits: the limits of the search.
        stop: stops the search when it is set.

    Raises:
        UserError: TLC rejects the module, or fails during the search.
    """
    traces = []

    def ask(runner: ProgramRunner) -> Opinion:
        report = TlcReport.of(_searched(runner, tlc, files, limits, name))
        if report.broken:
            traces.append((runner.folder / _TRACE).read_text(encoding="utf-8"))
        return report.opinion(model)

    said = opinion_within("tlc", limits, stop, ask)
    return said, "".join(traces)


def _searched(runner: ProgramRunner, tlc: Tlc, files: Mapping[str, str], limits: Limits, run_property: str = "") -> Ran:
    """Run TLC on a module, with the configuration of a property of runs if one is named."""
    for name, text in files.items():
        runner.write(name, text)
    most = limits.memory_bytes or available_memory() // 2
    module = next(iter(files))
    named = module.removesuffix(".tla")
    start = [tlc.java, f"-Xmx{max(most // _MEGABYTE, 64)}m", *_OPTIONS, *_archiving(tlc), "-cp", tlc.classes]
    options = ["-workers", "1", "-noGenerateSpecTE", "-metadir", "states"]
    if run_property:
        options += ["-dumpTrace", "json", _TRACE]
        named = f"{named}.{run_property}"
    ran = runner.run([*start, "tlc2.TLC", *options, "-config", f"{named}.cfg", module])
    tlc.keep(runner.folder / ARCHIVE)
    return ran


def _archiving(tlc: Tlc) -> list[str]:
    """Return the options with which Java uses the class data sharing (CDS) archive of TLC, or writes it."""
    if tlc.key is None:
        return []
    kept = tlc.archive
    what = f"ArchiveClassesAtExit={ARCHIVE}" if kept is None else f"SharedArchiveFile={kept}"
    return ["-Xshare:auto", "-Xlog:disable", f"-XX:{what}"]


@dataclass(frozen=True, slots=True)
class TlcReport:
    """The output of TLC.

    Attributes:
        steps: the number of generated states. Initial states are subtracted, which TLC counts once for each time that
            `Init` generates them.
        distinct: the number of distinct states.
        depth: the number of levels of a whole space; 0 if TLC prints none.
        broken: the name of the violated operator, or of the module that it is in; empty if there is none.
        length: the number of states in the trace of the violation.
        seconds: the CPU time.
    """

    steps: int
    distinct: int
    depth: int
    broken: str
    length: int
    seconds: float

    @classmethod
    def of(cls, ran: Ran) -> TlcReport:
        """Parse the output of TLC.

        Raises:
            UserError: the output has no verdict.
        """
        broken, counts, depth = _BROKEN.search(ran.output), _COUNTS.findall(ran.output), _DEPTH.search(ran.output)
        if broken is None and ("Error:" in ran.output or ran.code != 0 or not counts or depth is None):
            message = f"TLC refuses the exported module: {_refusal(ran.output)} Open an issue with the model."
            raise UserError(message)
        generated, distinct = map(_number, counts[-1]) if counts else (0, 0)
        initials = _INITIALS.search(ran.output)
        states = [int(number) for number in _STATE.findall(ran.output)]
        length = max(states, default=1)  # TLC prints no trace for a violation in an initial state
        steps = generated - (_number(initials[1]) if initials else 0)
        return cls(steps, distinct, int(depth[1]) if depth else 0, broken[1] if broken else "", length, ran.cpu_seconds)

    def opinion(self, model: Model) -> Opinion:
        """Return the result in terms of the model."""
        failing = {_property_of(model, self.broken): self.length} if self.broken else {}
        return Opinion(
            engine="tlc",
            verdict=Verdict.VIOLATED if failing else Verdict.HOLDS,
            depth=self.length if failing else self.depth,
            levels=None,
            actions=None,
            failing=failing,
            paths={},
            seconds=self.seconds,
            states=None if failing else self.distinct,
            taken=None if failing else self.steps,
            ends_at_first=True,
        )


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _refusal(output: str) -> str:
    """Return why TLC refuses a module, as a sentence: the first reason that it or its parser gives."""
    found = _REFUSED.search(output)
    if found is None:
        return "it gives no reason."
    said = found["semantic"] or found["syntax"] or found["error"]
    place = f" ({found['place']})" if found["place"] else ""
    return f"{' '.join(said.split()).rstrip('.:')}{place}."


def _property_of(model: Model, broken: str) -> str:
    """Return the property that TLC finds violated: of a refinement it names the other model's module, or its `Init`."""
    named = properties_by_name(model)
    if broken in named:
        return named[broken]
    refinements = [name for name, found in invariants_of(model).items() if isinstance(found, Refinement)]
    if broken == "Init":
        return next(
            (name for name in refinements if not isinstance(invariants_of(model)[name].of(model), Refinement)), broken
        )
    return next((name for name in refinements if broken.endswith(f"_{name}")), broken)


# Finding TLC: a tla2tools.jar, or the sources of the TLA+ tools, which are compiled once and cached.


TLC_VARIABLE = "INSYNC_TLC"
"""The environment variable that names TLC, unless an option does."""

ARCHIVE = "classes.jsa"
"""The file name of the CDS archive."""

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
        key: the cache key of a CDS archive of the classes, which halves the time to start; None for no archive.
    """

    java: str
    classes: str
    key: str | None = None

    @property
    def archive(self) -> Path | None:
        """The cached archive; None if there is none."""
        kept = None if self.key is None else find_kept(_KEPT, self.key)
        return None if kept is None else kept / ARCHIVE

    def keep(self, archive: Path) -> None:
        """Cache the archive that Java has written, if any, unless one is cached already."""
        if self.key is not None and archive.is_file():
            with contextlib.suppress(UserError):
                kept_folder(_KEPT, self.key, lambda new: shutil.copyfile(archive, new / ARCHIVE), "the archive of TLC")


def find_tlc(named: Path | None = None) -> Tlc:
    """Find TLC.

    Args:
        named: a jar or a folder of sources; None is the one that the environment variable names.

    Raises:
        UserError: none is named, the named one is not TLC, or there is no Java.
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
    """Raise UserError if a file is not a jar with TLC."""
    try:
        with zipfile.ZipFile(jar) as opened:
            there = _CLASS in opened.namelist()
    except (OSError, zipfile.BadZipFile):
        there = False
    if not there:
        message = f"{jar} is no tla2tools.jar: {_CLASS} is not in it; {_ADVICE}"
        raise UserError(message)


def _archive_key(jar: Path, java: str) -> str:
    """Return the cache key of the CDS archive of a jar, for this Java."""
    said = f"{jar} {jar.stat().st_mtime_ns} {Path(java).resolve()}"
    return f"archive-{hashlib.sha256(said.encode()).hexdigest()[:16]}"


def _compiled(sources: Path, jars: list[str]) -> Path:
    """Return the folder with the compiled classes; the sources are compiled if they are not in the cache.

    Raises:
        UserError: the sources do not compile.
    """
    files = sorted(path for path in (sources / "src").rglob("*") if path.is_file())
    stamp = "\n".join(f"{path} {path.stat().st_mtime_ns}" for path in files)

    def compile_into(new: Path) -> None:
        with ProgramRunner(Watch()) as runner:
            runner.write("sources", "\n".join(f'"{path}"' for path in files if path.suffix == ".java"))
            options = ["-encoding", "UTF-8", "-nowarn", "-proc:none", "-cp", os.pathsep.join(jars), "-d", str(new)]
            ran = runner.run([find_compiler("The engine tlc"), *options, "@sources"])
        if ran.code != 0:
            message = f"The sources of TLC in {sources} do not compile: {ran.output.strip()[-400:]}"
            raise UserError(message)
        for path in files:
            if path.suffix != ".java":  # TLC looks for the standard modules beside its classes
                copy = new / path.relative_to(sources / "src")
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)

    return kept_folder(_KEPT, hashlib.sha256(stamp.encode()).hexdigest()[:16], compile_into, "TLC, compiled,")


# External checkers under limits, for Spin too.


def opinion_within(
    engine: str, limits: Limits, stop: threading.Event | None, ask: Callable[[ProgramRunner], Opinion]
) -> Opinion:
    """Run a checker in a folder of its own. If it is stopped, the result has the reason and no verdict.

    Args:
        engine: the name of the checker.
        limits: the limits of all its programs together.
        stop: stops it when it is set.
        ask: runs the checker in the folder, and returns its result.
    """
    started = time.perf_counter()
    try:
        with ProgramRunner(Watch(limits, stop)) as runner:
            return ask(runner)
    except Stopped as ended:
        reason = ended.reason
        return Opinion(engine, None, 0, None, None, {}, {}, time.perf_counter() - started, stopped_by=reason)
