"""Have Spin and TLC judge what has changed since they last did: `make judge` runs this, and tests read the record.

A comparison that is on record for the very same module is not made again, so this may be stopped and run again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial

from insync.explorer import Limits, check
from insync.explorer.export.tla.module import tla_files
from insync.explorer.judges.spin import find_spin, spin_engine
from insync.explorer.judges.tlc import tlc_engine
from insync.explorer.judges.tlc_home import find_tlc
from insync.explorer.opinions import Engine, Opinion
from insync.explorer.verdict import Verdict
from insync.model import Model
from insync.model.errors import InternalError, UserError
from insync_judged import FORMAT_OF, Figures, Judged, forget, keep, module_hash, read_record
from insync_subjects import Subject, subjects

MEMORY = 1 << 30
MOST_STATES = {"spin": 1_500_000, "tlc": 4_000}
"""For each engine how many states end within a minute."""

Asked = Callable[[Model, tuple[str, ...]], Opinion | None]

FINDERS: dict[str, Callable[[], Engine]] = {
    "spin": lambda: spin_engine(find_spin()),
    "tlc": lambda: tlc_engine(find_tlc(), tla_files),
}


def main() -> int:
    """Judge what is not judged, and return 1 if something differs."""
    arguments = parsed()
    for name in arguments.engine or FINDERS:
        try:
            engine = FINDERS[name]()
        except UserError as error:
            sys.stdout.write(f"{error}\n")
            continue
        for subject in subjects():
            if arguments.only in f"{subject.model} {subject.name}":
                judge_subject(subject, name, engine, Limits(seconds=arguments.seconds, memory_bytes=MEMORY))
    known = {(subject.model, subject.name) for subject in subjects()}
    forget([key for key in read_record() if key[:2] not in known])
    record = read_record()
    agreeing = sum(row.agrees == "yes" for row in record.values())
    sys.stdout.write(f"{len(record)} comparisons on record, {agreeing} of them equal.\n")
    return 0 if agreeing == len(record) else 1


def judge_subject(subject: Subject, name: str, engine: Engine, limits: Limits) -> None:
    """Put the comparisons of a subject on record: of its properties, and of its whole space if a violation ends that.

    What cannot be compared any more is taken off the record.
    """
    model = subject.made()
    asked = {"named": subject.properties(model), "none": ()}
    violated = True
    for what, properties in asked.items():
        key = subject.model, subject.name, what, name
        known = read_record().get(key)
        row = (
            judged(subject, model, (what, properties), name, partial(opinion, engine, limits), known)
            if violated
            else None
        )
        if row is not None and row is not known:
            keep(row)
        elif row is None and known is not None:
            forget([key])
        violated = row is not None and row.verdict == Verdict.VIOLATED


def parsed() -> argparse.Namespace:
    """Return what was asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", action="append", choices=list(FINDERS), help="ask this one only")
    parser.add_argument("--only", default="", help="subjects whose model and bounds have this text in them")
    parser.add_argument("--seconds", type=float, default=60, help="how long a checker may take for each")
    return parser.parse_args()


def judged(
    subject: Subject, model: Model, asked: tuple[str, tuple[str, ...]], name: str, opinion: Asked, known: Judged | None
) -> Judged | None:
    """Return the comparison of one subject, the known one if it is of the same module; None if there is none to make.

    Args:
        subject: what it is.
        model: the model of the subject.
        asked: what is judged, in a word, and the names of the properties.
        name: what the checker is called.
        opinion: asks the checker.
        known: what is on record.
    """
    what, properties = asked
    module = module_hash(FORMAT_OF[name](model, properties, "Judged"))
    if known is not None and known.module == module and known.agrees == "yes":
        return known
    says = f"{name} {subject.model} {subject.name} ({what})"
    started = time.perf_counter()
    own = check(model, properties=properties, limits=Limits(states=MOST_STATES[name]), threads=1)
    if own.verdict is Verdict.INCOMPLETE:
        sys.stdout.write(f"too large: {says}\n")
        return None
    if own.representatives is not None:
        every = check(model, properties=properties, threads=1, symmetry=False)
        assert Figures.of_check(every) == Figures.of_check(own), says
    seconds = time.perf_counter() - started
    said = opinion(model, properties)
    if said is None or said.verdict in (None, Verdict.INCOMPLETE):
        reason = "fails" if said is None else said.stopped_by or said.note
        sys.stdout.write(f"unfinished: {says}: {reason}\n")
        sys.stdout.flush()
        return None
    figures, mine = Figures.of(said), Figures.of_check(own)
    agrees = "yes" if figures.matches(mine) else "no"
    sys.stdout.write(f"{'equal' if agrees == 'yes' else 'DIFFERENT'}: {says}: {figures} {said.seconds:.1f} s\n")
    if agrees == "no":
        sys.stdout.write(f"  insync: {mine}\n")
    sys.stdout.flush()
    counts = (figures.verdict, figures.states, figures.depth, figures.steps, figures.failing)
    return Judged(
        subject.model, subject.name, what, name, *counts, agrees, module, f"{said.seconds:.2f}", f"{seconds:.2f}"
    )


def opinion(engine: Engine, limits: Limits, model: Model, properties: tuple[str, ...]) -> Opinion | None:
    """Return what a checker says; None where it fails, which is shown."""
    try:
        return engine(model, properties, limits, None)
    except (InternalError, UserError) as error:
        sys.stdout.write(f"{error}\n")
        return None


if __name__ == "__main__":
    sys.exit(main())
