"""Twenty mistakes, seeded into insync one at a time, are each noticed by what other checkers have said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import insync_seeded
from insync_seeded import MISTAKES


def told(name: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """What a process with the mistake says: it may crash as well, and nothing of it is cached."""
    script = Path(insync_seeded.__file__)
    environment = {
        **os.environ,
        "INSYNC_CACHE_DIR": str(cache),
        "INSYNC_CODE": "quick",
        "PYTHONPATH": str(script.parent),
    }
    command = [sys.executable, str(script), name]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)


def test_there_are_twenty_and_more() -> None:
    assert len(MISTAKES) >= 20


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_without_a_mistake_nothing_is_noticed(tmp_path: Path) -> None:
    ran = told("none", tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "\n"), ran.stderr


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_noticed(name: str, tmp_path: Path) -> None:
    ran = told(name, tmp_path)
    assert ran.returncode < 0 or ran.stdout.strip(), ran.stderr or "it survives"
