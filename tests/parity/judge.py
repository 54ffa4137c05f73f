"""Have Spin and TLC judge what has changed since they last did: `make judge` runs this, and tests read the record.

A comparison that is on record for the very same module is not made again, so this may be stopped and run again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from insync.explorer import Limits, check
from insync.explorer.judges.spin import find_spin, spin_engine
from insync.explorer.opinions import Engine, Opinion
from insync.explorer.verdict import Verdict
from insync.model import Model
from insync.model.errors import InternalError, UserError
from insync_judged import FORMAT_OF, Figures, Judged, forget, keep, module_hash, read_record
from insync_subjects import Subject, subjects

MINUTE = Limits(seconds=60, memory_bytes=1 << 30)
MOST_STATES = {"spin": 1_500_000, "tlc": 12_000}
"""For each engine how many states end within a minute."""

FINDERS: dict[str, Callable[[], Engine]] = {"spin": lambda: spin_engine(find_spin())}


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
                for asked in ("named", "none"):
                    judge_subject(subject, asked, name, engine)
    known = {(subject.model, subject.name) for subject in subjects()}
    forget([key for key in read_record() if key[:2] not in known])
    record = read_record()
    agreeing = sum(row.agrees == "yes" for row in record.values())
    sys.stdout.write(f"{len(record)} comparisons on record, {agreeing} of them equal.\n")
    return 0 if agreeing == len(record) else 1


def judge_subject(subject: Subject, asked: str, name: str, engine: Engine) -> None:
    """Put the comparison of a subject on record; if there is none any more, nothing."""
    key = subject.model, subject.name, asked, name
    known = read_record().get(key)
    row = judged(subject, asked, name, engine, known)
    if row is not None and row is not known:
        keep(row)
    elif row is None and known is not None:
        forget([key])


def parsed() -> argparse.Namespace:
    """Return what was asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", action="append", choices=list(FINDERS), help="ask this one only")
    parser.add_argument("--only", default="", help="subjects whose model and bounds have this text in them")
    return parser.parse_args()


def judged(subject: Subject, asked: str, name: str, engine: Engine, known: Judged | None) -> Judged | None:
    """Return the comparison of one subject, the known one if it is of the same module; None if there is none to make.

    The whole space is counted apart only where a violation ends the search of it.
    """
    model = subject.made()
    if asked == "none" and not counted_apart(subject, model):
        return None
    properties = subject.properties(model) if asked == "named" else ()
    files = FORMAT_OF[name](model, properties, "Judged")
    module = module_hash(files)
    if known is not None and known.module == module and known.agrees == "yes":
        return known
    started = time.perf_counter()
    own = check(model, properties=properties, limits=Limits(states=MOST_STATES[name]), threads=1)
    seconds = time.perf_counter() - started
    says = f"{name} {subject.model} {subject.name} ({asked})"
    if own.verdict is Verdict.INCOMPLETE:
        sys.stdout.write(f"too large: {says}\n")
        return None
    said = opinion(engine, model, properties)
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
        subject.model, subject.name, asked, name, *counts, agrees, module, f"{said.seconds:.2f}", f"{seconds:.2f}"
    )


def counted_apart(subject: Subject, model: Model) -> bool:
    """Return whether a violation ends the search of a subject, so that its whole space is counted besides."""
    found = check(model, properties=subject.properties(model), limits=Limits(states=max(MOST_STATES.values())))
    return found.verdict is Verdict.VIOLATED


def opinion(engine: Engine, model: Model, properties: tuple[str, ...]) -> Opinion | None:
    """Return what a checker says; None where it fails, which is shown."""
    try:
        return engine(model, properties, MINUTE, None)
    except (InternalError, UserError) as error:
        sys.stdout.write(f"{error}\n")
        return None


if __name__ == "__main__":
    sys.exit(main())
