from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from insync.cli.main import run
from insync.explorer import CheckResult, check
from insync_json import require_schema, schema_name
from insync_process import end_processes

SUPPORT = Path(__file__).parent.parent / "support"


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Insync = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def _nothing_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a busy machine from adding lines of progress to what commands say; tests of progress set other times."""
    monkeypatch.setattr("insync.runtime.watch._TELLING_SECONDS", 600.0)
    monkeypatch.setattr("insync.cli.progress._PERIOD_SECONDS", 600.0)


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    yield
    end_processes()


@pytest.fixture
def insync(capsys: pytest.CaptureFixture[str]) -> Insync:
    """Run the command in this process; what it prints with `--json` must be as its JSON Schema says."""

    def call(*arguments: object) -> Outcome:
        words = [str(argument) for argument in arguments]
        code = run(words)
        captured = capsys.readouterr()
        if "--json" in words and captured.out and code in (0, 1, 3):
            require_schema(schema_name(words), captured.out)
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def lamp() -> str:
    """The model of the tests, as the command line names it."""
    return f"{SUPPORT / 'insync_lamp.py'}:Lamp"


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Make Ctrl-C come in the midst of the search of `insync ask` with this number, the first being 0."""

    def after(number: int) -> None:
        numbers, asking = itertools.count(), importlib.import_module("insync.kafka_questions.question")

        def stopping(*given: Any, **named: Any) -> CheckResult:
            if next(numbers) == number:
                named["stop"].set()
            return check(*given, **named)

        monkeypatch.setattr(asking, "check", stopping)

    return after
