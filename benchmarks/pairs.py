"""Compare two checkouts in pairs: start-up, tracing, compilation and search, in turn, each in a process of its own.

    python benchmarks/pairs.py OTHER [--pairs N] [WHAT ...]

OTHER is another checkout, such as a worktree of the commit before; its own `.venv` runs it if there is one. WHAT names
rows of the table, such as `start` or `kraft`; all if none are named. A figure is the median of processor seconds of
each side, here and there, and the median ratio of the pairs with their spread: below 1 this checkout takes less. The
lines are those of the modules of insync that a command has imported when it ends; they do not depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parents[1]
PACKAGES = ("model", "properties", "explorer", "spark_explore", "conformance", "cli")
COMMANDS = ("--help", "list", "check kip320 --quiet")
MODELS: dict[str, dict[str, object]] = {
    "kip320": {"model": "kip320", "bounds": {}},
    "cluster": {"model": "cluster", "bounds": {}},
    "cluster of 4": {"model": "cluster", "bounds": {"replicas": 4, "records": 1, "isr_shrinks": 0}},
    "kraft": {"model": "kraft", "bounds": {"servers": 2, "elections": 2, "restarts": 0}},
}
FIGURES = {
    "trace_processor": "trace",
    "compile_processor": "compile",
    "processor": "search",
    "bytes_per_state": "bytes",
}
LINES = """
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from insync.cli.main import run
with redirect_stdout(StringIO()):
    run(sys.argv[2:])
ours = [module for name, module in sys.modules.items() if name.split(".")[0] == "insync"]
files = {module.__file__ for module in ours if getattr(module, "__file__", None)}
assert all(Path(file).is_relative_to(sys.argv[1]) for file in files), files
print(sum(Path(file).read_bytes().count(b"\\n") for file in files), len(files))
"""
ROW = "{:<34}{:>14}{:>14}{:>9}   {}"


@dataclass(frozen=True)
class Checkout:
    """A checkout, and a folder for what it compiles.

    Attributes:
        root: the folder of the checkout.
        cache: a folder for its object code, which stays warm.
    """

    root: Path
    cache: str

    def run(self, arguments: Sequence[str], cache: str | None = None) -> tuple[str, float]:
        """Return what Python prints with these arguments, and its processor seconds."""
        python = self.root / ".venv" / "bin" / "python"
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["INSYNC_CACHE_DIR"] = cache or self.cache
        environment["PYTHONPATH"] = os.pathsep.join(str(self.root / one) for one in PACKAGES)
        before = _of_children()
        done = subprocess.run(
            [str(python) if python.exists() else sys.executable, *arguments],
            env=environment, cwd=self.root, check=True, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout, _of_children() - before

    def lines(self, command: str) -> tuple[int, int]:
        """Return how many lines a command imports, and from how many files."""
        lines, files = self.run(["-c", LINES, str(self.root), *command.split()])[0].split()
        return int(lines), int(files)

    def start(self, command: str) -> float:
        """Return the processor seconds of a command whose code is compiled."""
        script = "import sys; from insync.cli.main import run; sys.exit(run(sys.argv[1:]))"
        return self.run(["-c", script, *command.split()])[1]

    def measured(self, case: Mapping[str, object], threads: int) -> dict[str, float]:
        """Return the figures of a case by this checkout's own `measure.py`; for one thread it is compiled anew."""
        script = str(self.root / "benchmarks" / "measure.py")
        with tempfile.TemporaryDirectory() as cold:
            cache = cold if threads == 1 else self.cache
            printed, _ = self.run([script, json.dumps({**case, "threads": threads})], cache)
        found: dict[str, float] = json.loads(printed)
        return found


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("what", nargs="*", metavar="WHAT", help="start, " + ", ".join(MODELS))
    given = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        here, there = Checkout(HERE, first), Checkout(given.other.resolve(), second)
        print(ROW.format("", "here", "there", "ratio", "of the pairs, least to greatest"))
        if not given.what or "start" in given.what:
            for command in COMMANDS:
                _show_start(here, there, command, given.pairs)
        for name, case in MODELS.items():
            if not given.what or name in given.what:
                _show_model(here, there, name, case, given.pairs)


def _show_start(here: Checkout, there: Checkout, command: str, pairs: int) -> None:
    (lines, files), (other_lines, other_files) = here.lines(command), there.lines(command)
    ratio, of_files = f"{lines / other_lines:.3f}", f"of {files} and {other_files} files"
    print(ROW.format(f"insync {command}, lines", f"{lines:,}", f"{other_lines:,}", ratio, of_files))
    for one in (here, there):
        one.start(command)  # what is compiled is kept
    found = [(here.start(command), there.start(command)) for _ in range(pairs)]
    _show(f"insync {command}, s", found)


def _show_model(here: Checkout, there: Checkout, name: str, case: Mapping[str, object], pairs: int) -> None:
    for threads in (1, 2):
        found = [(here.measured(case, threads), there.measured(case, threads)) for _ in range(pairs)]
        for figure, words in FIGURES.items():
            if threads == 1 or words == "search":
                both = [(one[figure], other[figure]) for one, other in found if figure in one and figure in other]
                _show(f"{name}, {words}" + (", 2 threads" if threads > 1 else ""), both)
        counts = {(each["states"], each["transitions"], each["depth"]) for pair in found for each in pair}
        if len(counts) > 1:
            print(f"  {name}: the two do not find the same: {sorted(counts)}")


def _show(what: str, pairs: Iterable[tuple[float, float]]) -> None:
    found = list(pairs)
    if not found:
        print(ROW.format(what, "", "", "", "the other checkout does not measure it"))
        return
    ratios = sorted(one / other for one, other in found)
    here, there = (median(side) for side in zip(*found, strict=True))
    spread = " ".join(f"{ratio:.2f}" for ratio in ratios)
    print(ROW.format(what, f"{here:.3f}", f"{there:.3f}", f"{median(ratios):.3f}", spread), flush=True)


if __name__ == "__main__":
    main()
