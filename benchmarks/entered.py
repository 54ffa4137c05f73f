"""Counts the files of insync that a command enters: those of which it calls a function, whatever is imported.

A file that is entered is one that a reader of the way of that command has to open. A command runs twice, in a process
of its own each time, and the second run is counted, so that compiled code is found in the cache.

usage: .venv/bin/python benchmarks/entered.py [--names]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

WALKS = {
    "check kip320": ["check", "kip320"],
    "check kip101 --html": ["check", "kip101", "--html", "page.html"],
}

COUNTING = """
import inspect, os, sys, threading

FUNCTION = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS  # neither a module nor the body of a class
entered = {}

def note(frame, event, given):
    if event == "call" and frame.f_code.co_flags & FUNCTION == FUNCTION and "/insync/" in frame.f_code.co_filename:
        entered.setdefault(frame.f_code.co_filename)

threading.setprofile(note)
sys.setprofile(note)
sys.argv = ["insync", *sys.argv[1:]]
from insync.cli.main import run
run()
sys.setprofile(None)
os.write(2, "\\n".join(["", *entered]).encode())
"""


def entered(arguments: list[str], folder: str) -> list[str]:
    """Return the files that a command enters, in order, as paths below the folder of their package."""
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", COUNTING, *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
    return [line.rpartition("/insync/")[2] for line in done.stderr.splitlines() if "/insync/" in line]


def main() -> None:
    """Print the number of files for each command, and with `--names` the files."""
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in WALKS.items():
            files = entered(arguments, str(Path(folder)))
            print(f"{name}: {len(files)}")
            if "--names" in sys.argv:
                print("".join(f"  {file}\n" for file in files), end="")


if __name__ == "__main__":
    main()
