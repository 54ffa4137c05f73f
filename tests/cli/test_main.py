"""Ctrl-C is the entry point's own affair while it imports, and the command's afterwards."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import pytest

import insync.cli.group
from insync.cli import main as entry

Handler = Callable[..., object] | int | None


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("given", [signal.default_int_handler, signal.SIG_IGN, signal.SIG_DFL], ids=str)
def test_the_command_finds_the_handler_that_was_there(given: Handler, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Handler] = []

    def run_command(arguments: object) -> int:
        seen.append(signal.getsignal(signal.SIGINT))
        return 7

    monkeypatch.setattr(insync.cli.group, "run_command", run_command)
    signal.signal(signal.SIGINT, given)
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert (seen, ended.value.code, signal.getsignal(signal.SIGINT)) == ([given], 7, given)
