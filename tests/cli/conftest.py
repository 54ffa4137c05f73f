from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from insync.cli.main import run

SUPPORT = Path(__file__).parent.parent / "support"


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Insync = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def _nothing_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a busy machine from adding lines of progress to what commands say; tests of progress set other times."""
    monkeypatch.setattr("insync.explorer.limits._TELLING_SECONDS", 600.0)
    monkeypatch.setattr("insync.cli.show.progress._PERIOD_SECONDS", 600.0)


@pytest.fixture
def insync(capsys: pytest.CaptureFixture[str]) -> Insync:
    """Run the command in this process."""

    def call(*arguments: object) -> Outcome:
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def lamp() -> str:
    """The model of the tests, as the command line names it."""
    return f"{SUPPORT / 'insync_lamp.py'}:Lamp"
