"""What standard error says while something takes long: a line that is rewritten on a terminal, lines elsewhere."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from insync.cli import progress as shown
from insync.cli.progress import pause_after, progress_line, search_progress, status_line, steps_of_work, walk_line
from insync.cli.terminal import emit, emit_error, emit_status
from insync.explorer import Limits, Progress, WalkProgress
from insync.explorer.documents.text import brief
from insync.explorer.progress import DiskNeed, Phase, SpaceEstimate
from insync.runtime.watch import Watch

Insync = Callable[..., Any]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


WIPE = "\r\x1b[K"


def test_status_on_a_terminal_is_one_line_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    emit_status("first")
    emit_status("x" * 100)
    emit_error("a message")
    emit("the report")
    assert terminal.getvalue() == f"{WIPE}first{WIPE}{'x' * 39}{WIPE}a message\n"


def test_status_elsewhere_is_a_line_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    emit_status("first")
    emit_status("second")
    assert capsys.readouterr().err == "first\nsecond\n"


def test_a_step_is_named_once_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shown, "_PERIOD_SECONDS", 0.02)
    with steps_of_work(quiet=False) as steps:
        steps.begin("quick")
        steps.begin("slow")
        time.sleep(0.3)
    said = capsys.readouterr().err
    assert re.fullmatch(r"(Progress: slow, 0\.\d\d s so far\.\n)+", said)
    with steps_of_work(quiet=True) as steps:
        steps.begin("slow")
        time.sleep(0.1)
    assert capsys.readouterr().err == ""
    assert not [thread for thread in threading.enumerate() if "_repeat" in thread.name]


def test_each_phase_has_its_words() -> None:
    compiling = Progress(0, 0, 0, 0.0, 1 << 20, 12.0, Phase.COMPILE)
    deciding = Progress(7, 0, 1000, 0.0, 1 << 20, 12.0, Phase.DECIDE, "agreed_leader")
    searching = Progress(17, 1_813_599, 10_480_508, 4.3e6, 367 << 20, 52.04)
    assert progress_line(compiling, "now") == "Progress(0) at now: compiling the model for 12.0 s, 1 MiB of memory."
    assert status_line(compiling) == "compiling the model: 1 MiB, 12.0 s"
    assert (
        progress_line(deciding, "now") == status_line(deciding) == ("Progress: deciding agreed_leader on 1,000 states.")
    )
    assert status_line(searching) == ("level 17; 10.5 M states; 367 MiB; 4.3 M/s; 1.8 M to expand; 52.0 s")
    again = replace(searching, phase=Phase.TRACE)
    assert progress_line(again, "now").endswith("left on queue, 367 MiB of memory; searching again, for the trace.")
    assert status_line(again) == "searching again, for the trace: level 17, 10.5 M states"
    starting = replace(searching, phase=Phase.START)
    assert progress_line(starting, "now") == "Progress(17) at now: Spark's workers start, and each compiles the model."
    assert status_line(starting) == "Spark's workers start, and each compiles the model: 52.0 s"
    full = replace(searching, phase=Phase.DISK, memory_limit=400 << 20, disk=DiskNeed(50 << 30, 3.0, 2 << 30, 130.0))
    said = (
        "the limit of 400 MiB on the memory is reached, and the search goes on from sorted files on disk: in the end "
        "about 2.00 GiB of the 50.00 GiB that are free, in about 2 min 10 s more."
    )
    assert progress_line(full, "now") == f"Progress(17) at now: {said}"
    assert status_line(full) == f"level 17: {said}"
    on_disk = replace(full, phase=Phase.SEARCH, end=SpaceEstimate(37, 96_400_000))
    assert progress_line(on_disk, "now").endswith(
        "of memory; about 37 levels, 96.4 M states and 2.00 GiB on disk at the end, where 50.00 GiB are free, in about "
        "2 min 10 s more."
    )
    little = replace(full, disk=DiskNeed(1 << 30, 3.0, 2 << 30, 130.0))
    assert "1.00 GiB that are free, which is not enough, in about" in progress_line(little, "now")
    unknown = replace(full, disk=DiskNeed(1 << 30, 3.0))
    assert progress_line(unknown, "now").endswith(
        "with about 3 bytes a state there is room for 358 M states in the 1.00 GiB that are free; how many are to come "
        "cannot be estimated yet."
    )
    next_level = DiskNeed(1 << 30, 3.0, least_states=14_200_000, million_seconds=0.41)
    least = (
        "cannot be estimated yet, but with the next level about 14.2 M, which take 41 MiB on disk, and about 0.41 s "
        "for each million that is new."
    )
    assert progress_line(replace(full, disk=next_level), "now").endswith(f"; how many are to come {least}")
    going_on = replace(searching, growth=1.62, disk=next_level)
    assert progress_line(going_on, "now").endswith(
        f"367 MiB of memory; the level has 1.62 states for each of the last one; the end {least}"
    )
    assert (
        walk_line(WalkProgress(0, 0, 0.0, 1 << 20, 12.0))
        == "Progress: compiling the model for 12.0 s, 1 MiB of memory."
    )


def test_the_end_is_told_as_an_estimate() -> None:
    searching = Progress(
        27, 1_813_599, 64_012_345, 4.3e6, 1945 << 20, 52.04, growth=1.2, end=SpaceEstimate(37, 96_400_000),
        memory_at_end=2930 << 20, memory_limit=24 << 30,
    )  # fmt: skip
    assert status_line(searching) == (
        "level 27 of about 37; 64.0 M of about 96.4 M states; 1.90 GiB, at the end about 2.86 GiB of 24.00 GiB; "
        "4.3 M/s; 1.8 M to expand; 52.0 s"
    )
    assert progress_line(searching, "now").endswith(
        "1.90 GiB of memory; about 37 levels, 96.4 M states and 2.86 GiB at the end, of the 24.00 GiB that it may take."
    )


def test_where_states_are_elsewhere_nothing_is_foretold_of_the_memory() -> None:
    searching = Progress(27, 10, 64_012_345, 4.3e6, 1945 << 20, 52.04, end=SpaceEstimate(37, 96_400_000))
    assert progress_line(searching, "now").endswith(" of memory; about 37 levels and 96.4 M states at the end.")
    assert "; 1.90 GiB; " in status_line(searching)


def test_where_no_end_is_in_sight_the_growth_is_told() -> None:
    searching = Progress(6, 900, 2_000, 4.3e6, 90 << 20, 1.5, growth=3.7)
    assert (
        status_line(searching) == "level 6, 3.70 times the last; 2.0 k states; 90 MiB; 4.3 M/s; 900 to expand; 1.50 s"
    )
    assert progress_line(searching, "now").endswith("; the level has 3.70 states for each of the last one.")


def test_on_a_terminal_each_line_says_which_of_several_searches_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from insync.cli.commands.ask import SearchesBegun

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    which = SearchesBegun()
    with search_progress(quiet=False, which=which.named) as reporter:
        assert reporter is not None
        reporter(Progress(5, 1, 1, 1.0, 1 << 20, 1.0))
        which("a follower is slow")
        reporter(Progress(5, 1, 1, 1.0, 1 << 20, 1.0))
    shown_lines = terminal.getvalue().split(WIPE)[1:-1]
    assert [line.partition(" 5; ")[0] for line in shown_lines] == ["level", "a follower is slow: level"]


def test_a_log_has_ever_fewer_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = 1000.0
    monkeypatch.setattr(shown, "_PERIOD_SECONDS", 1.0)
    monkeypatch.setattr("insync.cli.progress.time.perf_counter", lambda: now)
    with search_progress(quiet=False) as reporter:
        assert reporter is not None
        for second in range(1, 36_001):
            now = 1000.0 + second
            reporter(Progress(5, 1, second, 1.0, 1 << 20, float(second)))
    lines = capsys.readouterr().err.splitlines()
    told = [int(line.split(" distinct")[0].split()[-1].replace(",", "")) for line in lines]
    assert told[:6] == [1, 2, 3, 4, 5, 7]
    pauses = [later - earlier for earlier, later in pairwise(told)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == 300
    assert len(told) < 150


def test_what_begins_is_told_whenever_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    with search_progress(quiet=False) as reporter:
        assert reporter is not None
        for subject in ("one", "two", "two", "one"):
            reporter(Progress(7, 0, 1000, 0.0, 1 << 20, 12.0, Phase.DECIDE, subject))
    assert [line.split()[2] for line in capsys.readouterr().err.splitlines()] == ["one", "two"]


def test_a_pause_is_a_quarter_of_the_time_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "_PERIOD_SECONDS", 1.0)
    assert [pause_after(spent) for spent in (0.0, 40.0, 1200.0, 1e6)] == [0.9, 10.0, 300.0, 300.0]


def test_a_watch_tells_about_once_a_second_while_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.runtime.watch._TELLING_SECONDS", 0.05)
    watch, told = Watch(Limits(), None), list[float]()
    end = time.perf_counter() + 0.3
    with watch.telling(lambda: told.append(watch.seconds)):
        while time.perf_counter() < end:
            assert watch.reason() is None
    assert 2 <= len(told) <= 6
    time.sleep(0.06)
    assert watch.reason() is None
    assert len(told) <= 6


@pytest.mark.slow_for("check")
@pytest.mark.parametrize("command", ["check", "simulate"])
def test_a_long_compilation_says_so(
    insync: Insync, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    from insync.machine import compiler

    make = compiler.object_code

    def slow(text: str) -> bytes:
        time.sleep(0.3)
        return make(text)

    monkeypatch.setattr(compiler, "object_code", slow)
    monkeypatch.setattr("insync.runtime.watch._TELLING_SECONDS", 0.0)
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path))
    line = (command, "kip101", "--replicas", 2, "--max-leader-epoch", 1)
    assert ": compiling the model for 0." in insync(*line).err
    assert insync(*line, "--quiet").err == ""


def test_liveness_says_what_it_decides(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("networkx")
    monkeypatch.setattr("insync.runtime.watch._TELLING_SECONDS", 0.0)
    line = ("liveness", "kip320", "--replicas", 2, "--log-size", 1, "--max-records", 1, "--max-leader-epoch", 1)
    assert "Progress: deciding two_leaders on " in insync(*line).err
    assert insync(*line, "--quiet").err == ""


def test_a_real_terminal_keeps_nothing_of_the_progress() -> None:
    main, side = pty.openpty()
    script = (
        "import time; from insync.cli.progress import steps_of_work, _PERIOD_SECONDS\n"
        "from insync.cli import progress; progress._PERIOD_SECONDS = 0.05\n"
        "with steps_of_work(False) as steps:\n"
        "    steps.begin('searching'); time.sleep(0.4)\n"
    )
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    subprocess.run([sys.executable, "-c", script], stderr=side, check=True, timeout=30, env=environment)
    os.close(side)
    said = os.read(main, 10_000).decode()
    os.close(main)
    assert said.count("searching, 0.") >= 3
    assert "\n" not in said
    assert said.endswith(WIPE)


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0"),
        (950, "950"),
        (999, "999"),
        (999.5, "1.0 k"),
        (64_213, "64.2 k"),
        (99_940, "99.9 k"),
        (100_000, "100 k"),
        (999_499, "999 k"),
        (999_500, "1.0 M"),
        (1_900_000, "1.9 M"),
        (250_000_000, "250 M"),
        (25e9, "25.0 G"),
        (3e12, "3000 G"),
    ],
)
def test_a_number_in_three_digits_or_so(number: float, shown: str) -> None:
    assert brief(number) == shown
