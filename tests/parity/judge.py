"""Have Spin and TLC judge what has changed since they last did: `make judge` runs this, and tests read the record.

A comparison that is on record for the very same module is not made again, so this may be stopped and run again; nor is
it where releases that do not differ have the same module. What cannot be compared is on record too, with the reason.
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
from insync.explorer.agree import Opinion
from insync.explorer.export.tla.foreign_traces import foreign_trace
from insync.explorer.results import Verdict
from insync.explorer.spin import SpinTools, find_spin, spin_opinion
from insync.explorer.tlc import Tlc, find_tlc, tlc_opinion, tlc_opinion_of_runs
from insync.model import Model
from insync.properties.registry import run_properties_of
from insync.properties.temporal import RunKind, RunProperty
from insync.runtime.errors import InternalError, UserError
from insync.runtime.watch import StopReason
from insync_comparisons import Key
from insync_judged import JUDGED, NOT_ASKED, UNJUDGED, Figures, Judged, Unjudged, module_hash
from insync_subjects import NAMED, NONE, Subject, subjects
from insync_ways import WAYS, Way, asked, exported, missing

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
        """Put what a checker says, given the model in one way, on record, or why it says nothing."""
        violated = True
        for what in WAYS[name].asked(self.subject):
            key = self.subject.model, self.subject.name, what, name
            if what == NONE and not violated:  # the whole space was counted already
                record(key, None)
                continue
            row = self._row(key, WAYS[name], what)
            record(key, row)
            violated = isinstance(row, Judged) and row.verdict == Verdict.VIOLATED

    def _row(self, key: Key, way: Way, what: str) -> Judged | Unjudged:
        """Return the comparison, the known one if it is of the same module, or why it cannot be made."""
        with way.traced():
            model = self.subject.made()
        files = exported(way, model, self.subject.asked(model, what))
        module = module_hash(files)
        too_large, too_long = f"more than {way.most_states:,} states", f"no answer in {self.limits.seconds:g} s"
        judged, unjudged = JUDGED.read().get(key), UNJUDGED.read().get(key)
        if judged is not None and judged.module == module and judged.agrees == "yes":
            return judged
        if unjudged is not None and unjudged.module == module and unjudged.reason in (too_large, too_long):
            return unjudged
        own = self._own(what, way.most_states)
        if own.figures is None:
            return Unjudged(*key, too_large, module)
        twin = next((row for row in JUDGED.read().values() if (row.engine, row.module) == (key[3], module)), None)
        if twin is not None and twin.agrees == "yes" and twin.figures.matches(own.figures):
            return replace(twin, model=key[0], bounds=key[1], properties=key[2], insync_seconds=f"{own.seconds:.2f}")
        with way.traced():
            said = self._said(way, model, files, what)
        if isinstance(said, str):
            return Unjudged(*key, said, module)
        if said.verdict in (None, Verdict.INCOMPLETE):
            why = too_long if said.stopped_by is StopReason.TIME else f"ended: {said.stopped_by or said.note}"
            return Unjudged(*key, why, module)
        figures = Figures.of(said) if what in (NAMED, NONE) else Figures.of_run(said, self._run(what).kind)
        agrees = "yes" if figures.matches(own.figures) else "no"
        if agrees == "no":
            say(f"DIFFERENT: {' '.join(key)}: insync says {own.figures.in_words}")
        counts = (figures.verdict, figures.states, figures.depth, figures.steps, figures.failing)
        times = f"{said.seconds:.2f}", f"{own.seconds:.2f}"
        return Judged(*key, *counts, agrees, module, *times)

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

    def _said(self, way: Way, model: Model, files: Mapping[str, str], what: str) -> Opinion | str:
        """Return what a checker says of the files, or how it fails."""
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
            return f"fails: {' '.join(str(error).split())}"
        return said


def record(key: Key, row: Judged | Unjudged | None) -> None:
    """Put on record what has become of a comparison, and say it if it is news; None if there is no need of it."""
    if isinstance(row, Judged):
        UNJUDGED.forget([key])
        if JUDGED.read().get(key) != row:
            JUDGED.keep(row)
            say(f"{'equal' if row.agrees == 'yes' else 'DIFFERENT'}: {' '.join(key)}: {row.figures.in_words}")
        return
    JUDGED.forget([key])
    if row is None:
        UNJUDGED.forget([key])
    elif UNJUDGED.read().get(key) != row:
        UNJUDGED.keep(row)
        say(f"unjudged: {' '.join(key)}: {row.reason}")


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
    can_be_made = asked()
    for table in (JUDGED, UNJUDGED):
        table.forget(table.read().keys() - can_be_made)
    for key in missing(can_be_made):
        UNJUDGED.keep(Unjudged(*key, NOT_ASKED, ""))
    made = JUDGED.read().values()
    agreeing = sum(row.agrees == "yes" for row in made)
    say(f"{len(made)} comparisons on record, {agreeing} of them equal; {len(UNJUDGED.read())} were not made.")
    return 0 if agreeing == len(made) else 1


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
