"""The library of z3 is the one that was installed, whatever lies in the current folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("z3")

LOADED = """
import sys

sys.addaudithook(lambda event, given: event == "ctypes.dlopen" and "libz3" in str(given[0]) and print(given[0]))
import insync.proofs.smt.z3_module
"""


def loaded(folder: Path, before: str = "") -> Path:
    """Return the path by which a process that works in a folder loads the library."""
    command = [sys.executable, "-P", "-c", before + LOADED]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    return Path(done.stdout.strip())


def test_a_library_in_the_current_folder_is_not_loaded(tmp_path: Path) -> None:
    installed = loaded(tmp_path)
    for name in (installed.name, "libz3.so", "libz3.dylib"):
        if not (tmp_path / name).exists():
            (tmp_path / name).symlink_to(installed)
    assert loaded(tmp_path) == installed


def test_a_folder_that_a_program_has_named_is_taken(tmp_path: Path) -> None:
    own, installed = tmp_path / "own", loaded(tmp_path)
    own.mkdir()
    (own / installed.name).symlink_to(installed)
    assert loaded(tmp_path, f"import builtins\nbuiltins.Z3_LIB_DIRS = [{str(own)!r}]\n") == own / installed.name
