"""Compare insync with the oracle on many drawn models.

    python tests/support/insync_many_drawn.py --models 5000 --seed 1

takes the models of the seeds 1 to 5000, prints its progress, and writes each model on which the two differ, made small,
to a file of its own. The exit code is 1 if there is one.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("INSYNC_CODE", "quick")

from insync_differential import Differs, compared, turn
from insync_drawn import WORDS, drawn
from insync_drawn_data import Described
from insync_drawn_text import model_text
from insync_smaller import smallest

SHRINKING_SECONDS = 120.0

ENGINES = ("machine code", "disk", "graph", "z3")


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(description="Compare insync with an oracle in plain Python on drawn models.")
    parser.add_argument("--models", type=int, default=5_000, help="how many models (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the first; the others follow")
    parser.add_argument("--states", type=int, default=150, help="how many states the oracle looks for in each")
    parser.add_argument("--all", action="store_true", help="compare every engine on every model, not in turn")
    parser.add_argument("--runs", action="store_true", help="compare properties of runs alone, on every model")
    parser.add_argument("--tlc", action="store_true", help="also have TLC decide the properties of runs (INSYNC_TLC)")
    parser.add_argument("--word", action="append", choices=WORDS, default=[], help="what each model is to have")
    parser.add_argument("--output", type=Path, default=Path(), help="where models are written on which they differ")
    given = parser.parse_args()
    seen: Counter[str] = Counter()
    differing = 0
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("INSYNC_CACHE_DIR", cache)
        for number in range(given.models):
            seed = given.seed + number
            model = drawn(seed, given.states, words=frozenset(given.word))
            engines = ("graph",) if given.runs else ENGINES if given.all else turn(model)
            engines += ("tlc",) if given.tlc else ()
            try:
                seen += compared(model, states=given.states, engines=engines)
            except Differs as error:
                differing += 1
                say(f"{_written(model, str(error), given.states, engines, given.output)}: {error}")
            if (number + 1) % 100 == 0:
                say(f"{number + 1} models, {differing} differ, {time.process_time():.0f} s of CPU")
    say(", ".join(f"{what}: {count}" for what, count in sorted(seen.items())))
    return 1 if differing else 0


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)  # noqa: T201 -- a command of its own


def _written(model: Described, said: str, states: int, engines: tuple[str, ...], folder: Path) -> Path:
    """Write the smallest model on which they differ in the same way, and return the file."""

    def shows(one: Described) -> bool:
        try:
            model_text(one)  # fails for a statement without what it needs
            compared(one, states=states, engines=engines)
        except Differs as error:
            return _kind(str(error)) == _kind(said)
        except Exception:  # noqa: BLE001 -- what is left of the model makes no sense
            return False
        return False

    least = smallest(model, shows, SHRINKING_SECONDS)
    file = folder / f"differs_{model.seed}.py"
    first = said.replace("\n", " ")
    file.write_text(f"# Seed {model.seed}: {first}\n\n{model_text(least)}")
    return file


def _kind(said: str) -> str:
    """Return what is different, without the values; of a failure also the type of the exception."""
    head, _, rest = said.partition(":")
    return f"{head}: {rest.partition(':')[0]}" if head == "insync fails" else head.partition("(")[0]


if __name__ == "__main__":
    sys.exit(main())
