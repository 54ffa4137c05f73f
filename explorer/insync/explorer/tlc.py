"""TLC as a judge: it searches the exported module with one worker, so that its depth and its traces are exact."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from insync.explorer.agree import Engine, Opinion
from insync.explorer.limits import Limits
from insync.explorer.programs.child_processes import Ran, Workshop
from insync.explorer.results import Verdict
from insync.explorer.tlc_home import ARCHIVE, Tlc
from insync.explorer.within import opinion_within
from insync.machine.memory import available_memory
from insync.model import Model
from insync.model.errors import InternalError, UserError
from insync.properties.invariants import TYPE_OK

__all__ = ["TlcReport", "tlc_engine", "tlc_opinion", "tlc_opinion_of_runs"]

_MEGABYTE = 1 << 20
_BROKEN = re.compile(
    r"^Error: (?:Invariant|Action property|Property|Temporal property) (\S+) (?:is|was) violated", re.MULTILINE
)
_COUNTS = re.compile(r"^([\d,]+) states generated(?: \([^)]*\))?, ([\d,]+) distinct states found", re.MULTILINE)
_DEPTH = re.compile(r"^The depth of the complete state graph search is (\d+)", re.MULTILINE)
_STATE = re.compile(r"^State (\d+):", re.MULTILINE)
_TRACE = "trace.json"
_OPTIONS = ("-Xss16m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

Exported = Callable[[Model, Sequence[str], str], dict[str, str]]
"""Of a model, the names of properties and a name: the module and its configuration."""


def tlc_engine(tlc: Tlc, exported: Exported) -> Engine:
    """Return the search by TLC, which counts states and steps, and ends at the first property that fails."""

    def engine(model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None) -> Opinion:
        for name in ("depth", "states"):
            if getattr(limits, name) is not None:
                message = f"TLC searches whole spaces, so it is not asked where there is a limit on {name}."
                raise UserError(message)
        return tlc_opinion(
            tlc, model, exported(model, list(dict.fromkeys([*properties, TYPE_OK])), "Judged"), limits, stop
        )

    return engine


def tlc_opinion(
    tlc: Tlc, model: Model, files: Mapping[str, str], limits: Limits, stop: threading.Event | None = None
) -> Opinion:
    """Return what TLC says of files that are meant to be a model's.

    Args:
        tlc: how it is started.
        model: the model.
        files: a module and its configuration, by their names, the module first.
        limits: of the search; the start of Java is part of it.
        stop: ends it when it is set.

    Raises:
        InternalError: TLC refuses the module, or fails in the middle of it.
    """

    def ask(shop: Workshop) -> Opinion:
        return TlcReport.of(_searched(shop, tlc, files, limits)).opinion(model)

    return opinion_within("tlc", limits, stop, ask)


def tlc_opinion_of_runs(
    tlc: Tlc,
    model: Model,
    files: Mapping[str, str],
    name: str,
    limits: Limits,
    stop: threading.Event | None = None,
) -> tuple[Opinion, str]:
    """Return what TLC says of one property of runs, and its counterexample in JSON, empty if there is none.

    Args:
        tlc: how it is started.
        model: the model.
        files: a module and its configurations, that of the property among them.
        name: the property.
        limits: of the search.
        stop: ends it when it is set.

    Raises:
        InternalError: TLC refuses the module, or fails in the middle of it.
    """
    traces = []

    def ask(shop: Workshop) -> Opinion:
        report = TlcReport.of(_searched(shop, tlc, files, limits, name))
        if report.broken:
            traces.append((shop.folder / _TRACE).read_text(encoding="utf-8"))
        return report.opinion(model)

    said = opinion_within("tlc", limits, stop, ask)
    return said, "".join(traces)


def _searched(shop: Workshop, tlc: Tlc, files: Mapping[str, str], limits: Limits, run_property: str = "") -> Ran:
    """Have TLC search a module, by the configuration of a property of runs if one is named."""
    for name, text in files.items():
        shop.write(name, text)
    most = limits.memory_bytes or available_memory() // 2
    module = next(iter(files))
    named = module.removesuffix(".tla")
    start = [tlc.java, f"-Xmx{max(most // _MEGABYTE, 64)}m", *_OPTIONS, *_archiving(tlc), "-cp", tlc.classes]
    options = ["-workers", "1", "-noGenerateSpecTE", "-metadir", "states"]
    if run_property:
        options += ["-dumpTrace", "json", _TRACE]
        named = f"{named}.{run_property}"
    ran = shop.run([*start, "tlc2.TLC", *options, "-config", f"{named}.cfg", module])
    tlc.keep(shop.folder / ARCHIVE)
    return ran


def _archiving(tlc: Tlc) -> list[str]:
    """Return the options with which Java uses the archive of its classes, or writes it."""
    if tlc.key is None:
        return []
    kept = tlc.archive
    what = f"ArchiveClassesAtExit={ARCHIVE}" if kept is None else f"SharedArchiveFile={kept}"
    return ["-Xshare:auto", "-Xlog:disable", f"-XX:{what}"]


@dataclass(frozen=True, slots=True)
class TlcReport:
    """What TLC prints.

    Attributes:
        generated: how many states it has generated, the initial ones among them.
        distinct: how many of them are different.
        depth: the number of levels, of a whole space.
        broken: the operator that does not hold, empty if all do.
        length: how many states the trace has that shows it.
        seconds: the work that it took.
    """

    generated: int
    distinct: int
    depth: int
    broken: str
    length: int
    seconds: float

    @classmethod
    def of(cls, ran: Ran) -> TlcReport:
        """Read what TLC has printed.

        Raises:
            InternalError: it does not end with a verdict.
        """
        broken, counts, depth = _BROKEN.search(ran.output), _COUNTS.findall(ran.output), _DEPTH.search(ran.output)
        if broken is None and ("Error:" in ran.output or ran.code != 0 or not counts or depth is None):
            place = max(ran.output.find("Error:"), 0)
            message = f"TLC refuses the exported model: {ran.output[place : place + 800].strip() or 'it says nothing'}"
            raise InternalError(message)
        generated, distinct = (int(text.replace(",", "")) for text in counts[-1]) if counts else (0, 0)
        states = [int(number) for number in _STATE.findall(ran.output)]
        length = max(states, default=1)  # in the initial state no trace is printed
        return cls(generated, distinct, int(depth[1]) if depth else 0, broken[1] if broken else "", length, ran.work)

    def opinion(self, model: Model) -> Opinion:
        """Return what that says of a model."""
        initials = len(model.program.initials)
        failing = {self.broken: self.length} if self.broken else {}
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
            taken=None if failing else self.generated - initials,
            ends_at_first=True,
        )
