"""Have Spin and TLC judge what has changed since they last did: `make judge` runs this, and tests read the record.

A comparison that is on record for the very same module is not made again, so this may be stopped and run again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from insync.explorer import CheckResult, Limits, check, liveness, replay
from insync.explorer.export.foreign_traces import foreign_trace
from insync.explorer.judges.spin import SpinTools, find_spin, spin_opinion
from insync.explorer.judges.tlc import tlc_opinion, tlc_opinion_of_runs
from insync.explorer.judges.tlc_home import Tlc, find_tlc
from insync.explorer.opinions import Opinion
from insync.explorer.verdict import Verdict
from insync.model import Model
from insync.model.errors import InternalError, UserError
from insync.properties.registry import run_properties_of
from insync.properties.runs import RunKind, RunProperty
from insync_judged import Figures, Judged, forget, keep, module_hash, read_record
from insync_subjects import NAMED, NONE, Subject, subjects
from insync_ways import WAYS, Way, exported

MEMORY = 6 << 30

Tools = SpinTools | Tlc
FINDERS: Mapping[str, Callable[[], Tools]] = {"spin": find_spin, "tlc": find_tlc}


@dataclass(frozen=True, slots=True)
class Own:
    """What insync says, and how long it took.

    Attributes:
        figures: those that are compared; None where the space is too large.
        seconds: of its search, compilation included.
    """

    figures: Figures | None
    seconds: float


class Hearing:
    """One subject before its judges.

    Args:
        subject: the subject.
        tools: the checkers that are there.
        limits: of each of them.
    """

    def __init__(self, subject: Subject, tools: Mapping[str, Tools], limits: Limits) -> None:
        self.subject, self.tools, self.limits = subject, tools, limits
        self._searched: dict[str, tuple[CheckResult, float]] = {}

    @cached_property
    def model(self) -> Model:
        """The model as the engines have it."""
        return self.subject.made()

    def hear(self, name: str) -> None:
        """Put what a checker says, given the model in one way, on record; what cannot be compared any more is not."""
        violated = True
        for what in WAYS[name].asked(self.subject):
            key = self.subject.model, self.subject.name, what, name
            known = read_record().get(key)
            needless = what == NONE and not violated  # the whole space was counted already
            row = None if needless else self._row(name, WAYS[name], what, known)
            if row is not None and row is not known:
                keep(row)
            elif row is None and known is not None:
                forget([key])
            violated = row is not None and row.verdict == Verdict.VIOLATED

    def _row(self, name: str, way: Way, what: str, known: Judged | None) -> Judged | None:
        """Return the comparison, the known one if it is of the same module; None if there is none to make."""
        with way.traced():
            model = self.subject.made()
        properties = self.subject.asked(model, what)
        files = exported(way, model, properties)
        module = module_hash(files)
        if known is not None and known.module == module and known.agrees == "yes":
            return known
        says = f"{name} {self.subject.model} {self.subject.name} ({what})"
        own = self._own(what, way.most_states)
        if own.figures is None:
            say(f"too large: {says}")
            return None
        with way.traced():
            said = self._said(way, model, files, what)
        if said is None or said.verdict in (None, Verdict.INCOMPLETE):
            say(f"unfinished: {says}: {'fails' if said is None else said.stopped_by or said.note}")
            return None
        figures = Figures.of(said) if what in (NAMED, NONE) else Figures.of_run(said, self._run(what).kind)
        agrees = "yes" if figures.matches(own.figures) else "no"
        say(f"{'equal' if agrees == 'yes' else 'DIFFERENT'}: {says}: {figures.in_words}, {said.seconds:.1f} s")
        if agrees == "no":
            say(f"  insync: {own.figures.in_words}")
        counts = (figures.verdict, figures.states, figures.depth, figures.steps, figures.failing)
        times = f"{said.seconds:.2f}", f"{own.seconds:.2f}"
        return Judged(self.subject.model, self.subject.name, what, name, *counts, agrees, module, *times)

    def _run(self, what: str) -> RunProperty:
        return run_properties_of(self.model)[what]

    def _own(self, what: str, most: int) -> Own:
        """Return what insync says of what is asked, if there are no more states than some."""
        started = time.perf_counter()
        if what not in (NAMED, NONE):
            lived = liveness(self.model, properties=[what])
            figures = None if lived.distinct_states > most else Figures.of_liveness(lived)
            return Own(figures, time.perf_counter() - started)
        properties = self.subject.asked(self.model, what)
        known = self._searched.get(what)
        if known is None or (known[0].verdict is Verdict.INCOMPLETE and known[0].distinct_states <= most):
            found = check(self.model, properties=properties, limits=Limits(states=most), threads=1)
            known = self._searched[what] = found, time.perf_counter() - started
        found, seconds = known
        if found.verdict is Verdict.INCOMPLETE or found.distinct_states > most:
            return Own(None, seconds)
        if found.representatives is not None:
            every = check(self.model, properties=properties, threads=1, symmetry=False)
            assert Figures.of_check(every) == Figures.of_check(found), self.subject
        return Own(Figures.of_check(found), seconds)

    def _said(self, way: Way, model: Model, files: Mapping[str, str], what: str) -> Opinion | None:
        """Return what a checker says of the files; None where it fails, which is shown."""
        tools = self.tools[way.checker]
        try:
            if isinstance(tools, SpinTools):
                (text,) = files.values()
                return spin_opinion(tools, model, self.subject.asked(model, what), text, self.limits)
            if what in (NAMED, NONE):
                return tlc_opinion(tools, model, files, self.limits)
            said, trace = tlc_opinion_of_runs(tools, model, files, what, self.limits)
            if trace and self._run(what).kind is not RunKind.SOMETIMES:
                require_replayed(files, trace, self._run(what))
        except (InternalError, UserError) as error:
            say(str(error))
            return None
        return said


def require_replayed(files: Mapping[str, str], trace: str, found: RunProperty) -> None:
    """Demand that a run that TLC has found is one by the evaluator, fair, and breaks the property that was asked."""
    with TemporaryDirectory() as folder:
        for name, text in {**files, "trace.json": trace}.items():
            (Path(folder) / name).write_text(text)
        claim = foreign_trace(Path(folder) / "trace.json")
    replay(replace(claim, property=found.name, fairness=found.fairness))


def main() -> int:
    """Judge what is not judged, and return 1 if something differs."""
    arguments = parsed()
    tools: dict[str, Tools] = {}
    for name, find in FINDERS.items():
        try:
            tools[name] = find()
        except UserError as error:
            say(str(error))
    names = [name for name in arguments.engine or WAYS if WAYS[name].checker in tools]
    for subject in subjects():
        if arguments.only in f"{subject.model} {subject.name}":
            hearing = Hearing(subject, tools, Limits(seconds=arguments.seconds, memory_bytes=MEMORY))
            for name in names:
                hearing.hear(name)
    forget(read_record().keys() - asked())
    record = read_record()
    agreeing = sum(row.agrees == "yes" for row in record.values())
    say(f"{len(record)} comparisons on record, {agreeing} of them equal.")
    return 0 if agreeing == len(record) else 1


def asked() -> set[tuple[str, str, str, str]]:
    """Return the keys of all comparisons that there can be."""
    return {
        (subject.model, subject.name, what, name)
        for subject in subjects()
        for name, way in WAYS.items()
        for what in way.asked(subject)
    }


def parsed() -> argparse.Namespace:
    """Return what was asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", action="append", choices=list(WAYS), help="in this way only")
    parser.add_argument("--only", default="", help="subjects whose model and bounds have this text in them")
    parser.add_argument("--seconds", type=float, default=60, help="how long a checker may take for each")
    return parser.parse_args()


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
