"""Ctrl-C at any moment ends the process with 130, or as the answer says: no traceback, no file, no process is left.

A moment is a number of calls, counted by a profile function from the first line of insync to the end of Python, so
that it is the same on every machine. What Python does before that line is its own.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from insync_process import started, took_at_most

SMALL = ["--replicas", "2", "--log-size", "1", "--max-records", "1", "--max-leader-epoch", "1"]
COMMANDS = {
    "help": ["--help"],
    "list": ["list"],
    "check": ["check", "kip101", "--replicas", "2", "--trace", "out.json", "--html", "out.html"],
    "ask": ["ask", "--replicas", "2", "--against", "slow"],
    "simulate": ["simulate", "kip320", "--walks", "200"],
    "prove": ["prove", "kip320", "--bmc", "2", *SMALL],
}
COUNTING = """
import atexit, os, sys
number, calls = int(sys.argv.pop(1)), 0

def count(frame, event, given):
    global calls
    calls += 1
    if calls == number:
        sys.setprofile(None)
        os.kill(os.getpid(), 2)

import insync.cli.start
if not number:
    atexit.register(lambda: os.write(2, b"calls %d\\n" % calls))
sys.setprofile(count)
insync.cli.start.main()
"""


@dataclass(frozen=True)
class End:
    """How a process ended."""

    code: int
    err: str
    files: frozenset[str]


def _interruptible() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def ended(script: str, arguments: list[str], folder: Path) -> End:
    """Run a script in a folder, which is that for temporary files as well."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "TMPDIR": str(folder)},
        preexec_fn=_interruptible,
    )
    return End(done.returncode, done.stderr, frozenset(path.name for path in folder.iterdir()))


def moments(name: str, count: int, folder: Path) -> tuple[End, list[int]]:
    """Return how a command ends by itself, and the numbers of calls at which it is interrupted, early and late."""
    whole = ended(COUNTING, ["0", *COMMANDS[name]], folder)
    assert whole.code in {0, 1, 3}, whole  # it is no mistake
    calls = int(whole.err.rpartition("calls ")[2])
    seeded = random.Random(calls // 1000 + count)
    return whole, sorted({1, calls - 3, *(seeded.randrange(1, calls) for _ in range(count))})


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("help", 3),
        *(pytest.param(name, 40, marks=[pytest.mark.slow, pytest.mark.timeout(1800)]) for name in COMMANDS),
    ],
)
def test_at_any_call(name: str, count: int, tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    whole, numbers = moments(name, count, tmp_path / "whole")
    ends: dict[int, End] = {}
    for number in numbers:
        folder = tmp_path / str(number)
        folder.mkdir()
        ends[number] = end = ended(COUNTING, [str(number), *COMMANDS[name]], folder)
        assert end.code in {130, 3, whole.code}, (number, end)
        assert "Traceback" not in end.err, (number, end)
        assert "Exception ignored" not in end.err, (number, end)
        assert end.files <= whole.files, (number, end)
    assert ends[numbers[0]].code == 130
    if name == "help":  # how many calls the others make depends on the time and on caches
        assert ends[numbers[-1]].code == whole.code


READY = "import insync.cli.start, os; os.write(2, b'ready\\n'); insync.cli.start.main()"


def is_left(group: int) -> bool:
    """Return whether a group has a process that does not end by itself."""
    began = time.monotonic()
    while took_at_most(5, began):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", COMMANDS)
def test_at_any_time(name: str, sent: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal goes to all processes of the command, as that of a terminal does."""
    seeded = random.Random(name)
    for number in range(20):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        process = started(COMMANDS[name], script=READY, own_session=True, TMPDIR=str(folder))
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        time.sleep(seeded.uniform(0, 0.3 if number % 2 else 3))
        if process.poll() is None:
            os.killpg(process.pid, sent)
        _, err = process.communicate(timeout=300)
        by_signal = {-signal.SIGTERM} if sent is signal.SIGTERM else {130}
        assert process.returncode in {*by_signal, 0, 1, 3}, err
        assert "Traceback" not in err
        assert not is_left(process.pid)
        if sent is signal.SIGINT:
            assert {path.name for path in folder.iterdir()} <= {"out.json", "out.html", "out.strong_isr.json"}


def test_nothing_is_imported_before_ctrl_c_is_answered(tmp_path: Path) -> None:
    code = """
import signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            print(name, file=sys.stderr)

sys.meta_path.insert(0, Finder())
import insync.cli.start
"""
    assert set(ended(code, [], tmp_path).err.split()) <= {"insync", "insync.cli", "insync.cli.start", "__future__"}


def command(body: str) -> str:
    """Return a script whose command does something else: `kill()` is Ctrl-C."""
    return f"""
import atexit, os, signal, sys, threading, time, weakref
import insync.cli.start
import insync.cli.group

def kill(*_):
    os.kill(os.getpid(), signal.SIGINT)

def run_command(arguments):
{body}

insync.cli.group.run_command = run_command
insync.cli.start.main()
"""


LOST = {
    "__del__": """
    class Held:
        def __del__(self):
            kill()
    Held()
    time.sleep(60)
""",
    "a callback of a weak reference": """
    class Held: pass
    held = Held()
    reference = weakref.ref(held, kill)
    del held
    time.sleep(60)
""",
    "an import that takes it for a failure": """
    open("module.py", "w").write("import __main__\\ntry: __main__.kill()\\nexcept BaseException: raise ImportError\\n")
    sys.path.insert(0, "")
    import module
    time.sleep(60)
""",
    "what answers the one before": """
    try:
        kill()
    except KeyboardInterrupt:
        kill()
    time.sleep(60)
""",
}


@pytest.mark.parametrize("body", LOST.values(), ids=LOST)
def test_it_is_not_lost(body: str, tmp_path: Path) -> None:
    end = ended(command(body), [], tmp_path)
    assert (end.code, end.err) == (130, "Interrupted.\n")


AFTERWARDS = {
    "a function that is called at the end": "    atexit.register(kill)\n    return 1",
    "the end of Python itself": """
    class Held:
        def __del__(self, kill=os.kill, process=os.getpid()):
            kill(process, 2)
    sys.held = Held()
    return 1""",
    "a thread that Python waits for": """
    threading.Thread(target=time.sleep, args=(60,)).start()
    main = threading.main_thread()
    threading.Timer(0.3, lambda: signal.pthread_kill(main.ident, signal.SIGINT)).start()
    return 1""",
}


@pytest.mark.parametrize("body", AFTERWARDS.values(), ids=AFTERWARDS)
def test_after_the_answer_the_process_ends_as_that_says(body: str, tmp_path: Path) -> None:
    end = ended(command(body), [], tmp_path)
    assert (end.code, end.err) == (1, "")
