"""Measure compiling, expanding, inserting and searching, and compare with the figures that were recorded last.

    python benchmarks/run.py [--quick] [--repeat N] [--record]

Every figure is the median of N runs, each in a process of its own: what is printed includes the cost of touching fresh
memory. `worst` is the slowest of them, `cpu` the seconds of all cores together: where it is far below seconds times
threads, the machine had something else to do.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
RECORDED = HERE / "recorded.json"
NAMES = ("replicas", "log_size", "max_records", "max_leader_epoch")
BAR = "   {:<22}{:>6}{:>13}{:>9}{:>9}{:>9}{:>8}{:>13}{:>10}"


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    bounds: tuple[int, ...]
    threads: int
    large: bool = False

    @property
    def label(self) -> str:
        """The line's name, also in the record."""
        return f"kip320 {','.join(map(str, self.bounds))} x{self.threads}"

    @property
    def settings(self) -> dict[str, object]:
        """What `measure.py` is given."""
        bounds = dict(zip(NAMES, self.bounds, strict=True))
        return {"model": "kip320", "bounds": bounds, "threads": self.threads}


CASES = [
    Case((3, 2, 2, 2), 1),
    Case((3, 2, 2, 2), 2),
    Case((3, 3, 3, 2), 1),
    Case((3, 3, 3, 2), 2),
    Case((3, 3, 3, 3), 1, large=True),
    Case((3, 3, 3, 3), 2, large=True),
]
PARTS = Case((3, 3, 3, 2), 1)


def main() -> None:
    """Measure, print and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave out the large space")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each measurement [default: 3]")
    parser.add_argument("--record", action="store_true", help=f"write the figures to {RECORDED.name}")
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        figures = measure_all(options.quick, options.repeat, Path(folder))
    print(compare(figures))
    if options.record:
        record(figures)


def measure_all(quick: bool, repeat: int, folder: Path) -> dict[str, float]:
    """Print the figures as they come, and return those that are recorded."""
    cold = [run(PARTS.settings, folder / f"cold{n}") for n in range(repeat)]
    warm = [run({**PARTS.settings, "parts": True}, folder / "cold0") for _ in range(repeat)]
    figures = {
        "import": median(warm, "import"),
        "trace": median(warm, "trace"),
        "compile cold": median(cold, "compile"),
        "compile warm": median(warm, "compile"),
        "expand": median(warm, "expand"),
        "insert new": median(warm, "insert_new"),
        "insert known": median(warm, "insert_known"),
    }
    states = warm[0]["states"]
    print(f"\n{PARTS.label}: {states:,.0f} states, {warm[0]['transitions']:,.0f} steps, one thread")
    for name, seconds in figures.items():
        rate = f"{states / seconds / 1e6:8.1f} million states/s" if name.split()[0] in ("expand", "insert") else ""
        print(f"   {name:<16}{seconds:8.3f} s{rate}")
    print()
    print(BAR.format("search", "depth", "states", "seconds", "worst", "cpu", "Mst/s", "bytes/state", "peak MiB"))
    for case in CASES:
        if not (quick and case.large):
            figures[case.label] = search(case, repeat, folder / "cold0")
    for name, arguments in COMMANDS.items():
        figures[name] = statistics.median(command(arguments, folder / "cold0") for _ in range(repeat + 1))
        print(f"   {name:<40}{figures[name]:8.3f} s, from command to verdict")
    return figures


COMMANDS = {
    "insync check kip320 3,2,2,2": (3, 2, 2, 2),
    "insync check kip320 3,3,3,2": (3, 3, 3, 2),
}


def search(case: Case, repeat: int, cache: Path) -> float:
    """Print a line of the table and return the seconds of the search."""
    runs = [run(case.settings, cache) for _ in range(repeat)]
    seconds, one = median(runs, "search"), runs[0]
    print(
        BAR.format(
            case.label,
            f"{one['depth']:.0f}",
            f"{one['states']:,.0f}",
            f"{seconds:.3f}",
            f"{max(r['search'] for r in runs):.3f}",
            f"{median(runs, 'processor'):.3f}",
            f"{one['states'] / seconds / 1e6:.1f}",
            f"{one['bytes_per_state']:.1f}",
            f"{median(runs, 'peak_memory_bytes') / 2**20:,.0f}",
        )
    )
    return seconds


def command(bounds: tuple[int, ...], cache: Path) -> float:
    """Return the seconds that the command takes, imports and all."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in zip(NAMES, bounds, strict=True)]
    options.append("--no-symmetry")  # what is recorded visits every state
    script = [sys.executable, "-c", "from insync.cli.main import main; main()", "check", "kip320", *options]
    began = time.perf_counter()
    subprocess.run(script, check=True, capture_output=True, env={**os.environ, "INSYNC_CACHE_DIR": str(cache)})
    return time.perf_counter() - began


def run(settings: dict[str, object], cache: Path) -> dict[str, float]:
    """Return the figures of one measurement in a process of its own."""
    script = [sys.executable, str(HERE / "measure.py"), json.dumps(settings)]
    environment = {**os.environ, "INSYNC_CACHE_DIR": str(cache)}
    done = subprocess.run(script, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def median(runs: list[dict[str, float]], name: str) -> float:
    """Return the median of one figure."""
    return statistics.median(r[name] for r in runs)


def compare(figures: dict[str, float]) -> str:
    """Return one line: how the sum of the figures, and the worst of them, relate to what was recorded."""
    if not RECORDED.exists():
        return "\nNothing is recorded yet; --record does it."
    recorded = json.loads(RECORDED.read_text())
    common = [name for name in figures if name in recorded["seconds"]]
    ratios = {name: figures[name] / recorded["seconds"][name] for name in common}
    if not ratios:
        return "\nNothing that was measured is recorded."
    mean = statistics.geometric_mean(ratios.values())
    worst = max(ratios, key=lambda name: ratios[name])
    other = "" if recorded["machine"] == machine() else f", recorded on {recorded['machine']}"
    return f"\nSince {recorded['date']}: x{mean:.2f} of the time; at worst x{ratios[worst]:.2f} ({worst}){other}"


def record(figures: dict[str, float]) -> None:
    """Write the figures down."""
    content = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine(),
        "seconds": {name: round(seconds, 4) for name, seconds in figures.items()},
    }
    RECORDED.write_text(json.dumps(content, indent=2) + "\n")


def machine() -> str:
    """Return what the figures were measured on."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
