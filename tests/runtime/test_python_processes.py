"""Processes of Python's own take their modules from where Python is, whatever lies in the current folder."""

from __future__ import annotations

import os
from multiprocessing import get_context
from pathlib import Path

import pytest

from insync.runtime.child_processes import modules_of_python

HOSTILE = "open('ran', 'w').close()\n"


def test_they_do_not_take_what_lies_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "multiprocessing.py").write_text(HOSTILE)
    monkeypatch.chdir(tmp_path)
    with modules_of_python():
        process = get_context("spawn").Process(target=os._exit, args=(7,))
        process.start()
    process.join(60)
    assert (process.exitcode, (tmp_path / "ran").exists()) == (7, False)


@pytest.mark.parametrize("before", ["", "1", None])
def test_the_environment_is_as_it_was(before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", before)
    with modules_of_python():
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert os.environ.get("PYTHONSAFEPATH") == before
