"""What only a real process shows: exit codes, signals, pipes, full disks, and what is imported when."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync_process import COMMAND, SLOW_LLVM, started, wait_for

Insync = Callable[..., Any]
LONG = ["check", "kip320", "--log-size", "4", "--max-records", "4", "--max-leader-epoch", "3", "--memory", "2G"]


def _run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **options)  # type: ignore[call-overload, no-any-return]


def _run_on_full_disk(room: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command that cannot write more than so many bytes to any file, Python's own caches of modules included."""

    def fill_the_disk() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    # Python would cut its cache short as well, for whoever imports the module next.
    uncached = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return _run(*arguments, preexec_fn=fill_the_disk, env=uncached)


def _python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)


def test_each_verdict_has_its_exit_code() -> None:
    assert _run("check", "kip320", "--replicas", 1).returncode == 0
    assert _run("check", "kip101", "--replicas", 2).returncode == 1
    assert _run("check", "kip102").returncode == 2
    assert _run("check", "kip320", "--max-depth", 2).returncode == 3


@pytest.mark.slow
def test_an_internal_error_is_reported_as_one() -> None:
    broken = (
        "from insync.cli.options.model import ChosenModel; from insync.cli.main import main\n"
        "def fail(*_): raise RuntimeError('gone wrong')\n"
        "ChosenModel.untraced = fail; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", broken, "check", "kip320"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (70, "")
    assert "Traceback" in done.stderr
    assert "please report it" in done.stderr.splitlines()[-1]


def test_the_versions_load_nothing_but_llvm_that_takes_time() -> None:
    code = (
        "import sys; from insync.cli.main import run\n"
        "run(['--version'])\n"
        "sys.exit(any(name.startswith(('z3', 'pyspark', 'pyarrow', 'insync.kafka')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("arguments", [["--help"], ["chek"]])
def test_what_needs_no_model_loads_none(arguments: list[str]) -> None:
    code = (
        "import sys; from insync.cli.main import run\n"
        f"run({arguments})\n"
        "sys.exit(any(name.startswith(('llvmlite', 'insync.model')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_a_mistake_is_found_without_the_compiler() -> None:
    code = (
        "import sys; from insync.cli.main import run\n"
        "run(['check', 'kip320', '--log-size', '99']); sys.exit('llvmlite' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_yaml_is_loaded_by_files_of_yaml_alone() -> None:
    code = "import sys; from insync.cli.main import run\nrun(['ask', '--help']); sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_the_first_interrupt_ends_the_search_with_its_figures() -> None:
    process = _started([*LONG, "--json"])
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3, err
    result = json.loads(out)
    assert (result["verdict"], result["stopped_by"]) == ("incomplete", "interrupt")
    assert result["distinct_states"] == sum(result["levels"]) > 0
    assert "Stopping with what is complete so far" in err
    assert "Traceback" not in err


@pytest.mark.slow_for("limit1-time")
@pytest.mark.parametrize(("limit", "reason"), [([], "interrupt"), (["--max-seconds", "2"], "time")])
def test_a_compilation_ends_with_the_command(limit: list[str], reason: str, tmp_path: Path) -> None:
    process = started([*LONG, "--json", *limit], script=SLOW_LLVM, INSYNC_CACHE_DIR=str(tmp_path))
    wait_for(process, "compiling")
    if not limit:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    result = json.loads(out)
    assert (process.returncode, result["verdict"], result["stopped_by"]) == (3, "incomplete", reason), err
    assert (result["distinct_states"], result["levels"]) == (0, [])
    assert "Traceback" not in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "known"),
    [
        (
            ["defects", "--verify", "R-26", "C-2"],
            {
                "defects": [{"name": "R-26", "steps": None, "states": 0, "fixed_states": None, "verified": None}],
                "not_tried": ["C-2"],
            },
        ),
        (["ask"], {"verdict": "incomplete"}),
    ],
    ids=["defects", "ask"],
)
def test_an_interrupt_in_a_compilation_ends_many_searches(
    arguments: list[str], known: dict[str, object], tmp_path: Path
) -> None:
    process = started([*arguments, "--json"], script=SLOW_LLVM, INSYNC_CACHE_DIR=str(tmp_path))
    wait_for(process, "compiling")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)  # LLVM would take 100 seconds
    assert process.returncode == 3, err
    found = json.loads(out)
    assert {key: found[key] for key in known} == known
    assert "Traceback" not in err


def test_the_second_interrupt_ends_the_process() -> None:
    code = (
        "import os, signal, time; from insync.cli.progress import stop_on_interrupt\n"
        "with stop_on_interrupt() as stop:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    assert stop.is_set()\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(30)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=20)
    assert done.returncode == -signal.SIGINT


def test_after_a_search_an_interrupt_is_as_before() -> None:
    from insync.cli.progress import stop_on_interrupt

    before = signal.getsignal(signal.SIGINT)
    with stop_on_interrupt() as stop:
        assert signal.getsignal(signal.SIGINT) is not before
        assert not stop.is_set()
    assert signal.getsignal(signal.SIGINT) is before


def _started(arguments: list[str]) -> subprocess.Popen[str]:
    """A search that has made its first report of states, so that the interrupt meets it at work."""
    process = started(arguments)
    assert process.stderr is not None
    line = process.stderr.readline()
    while line.startswith("Progress(0)"):  # it is being compiled
        line = process.stderr.readline()
    assert line.startswith("Progress("), line
    return process


@pytest.mark.slow_but("arguments2-0")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["check", "kip101", "--replicas", "2"], 1), (["list"], 0), (["--help"], 0), (["check", "--help"], 0)],
)
def test_a_reader_that_closed_the_pipe_changes_nothing(arguments: list[str], code: int) -> None:
    read, write = os.pipe()
    os.close(read)
    process = started(arguments, stdout=write)
    os.close(write)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (code, "")


@pytest.mark.slow_for("arguments0-", "arguments0-1", "arguments2-", "arguments2-1")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["list"], ["--help"], ["check", "kip320", "--help"]])
def test_output_to_a_full_device_is_a_mistake_of_the_user(arguments: list[str], unbuffered: str) -> None:
    """Also where Python keeps what it writes, and writes it again when it ends."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment
        )
    assert process.returncode == 2
    assert process.stderr == (
        "Error: standard output: cannot be written (No space left on device). "
        "Send it to a place with room, or to a terminal.\n"
    )


@pytest.mark.slow
def test_a_full_disk_leaves_no_half_trace_and_still_shows_the_result(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    done = _run_on_full_disk(1000, "check", "kip101", "--replicas", 2, "--trace", path, "--quiet")
    assert done.returncode == 2
    assert "weak_isr fails after" in done.stdout
    assert "Replay" not in done.stdout
    assert done.stderr.startswith(f"Error: {path}: cannot be written (File too large).")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_full_disk_leaves_no_half_proof_and_still_shows_the_result(tmp_path: Path, form: list[str]) -> None:
    pytest.importorskip("z3")
    path = tmp_path / "proof.json"
    small = ("--replicas", 2, "--log-size", 1, "--max-records", 1, "--max-leader-epoch", 1)
    arguments = ("prove", "kip320", *small, "--property", "well_formed_log", "--lemma", "log_is_blank_from_its_end")
    done = _run_on_full_disk(100, *arguments, "--induction", "--save", path, *form, "--quiet")
    assert done.returncode == 2
    if form:
        assert (json.loads(done.stdout)["verdict"], json.loads(done.stdout)["proof"]) == ("holds", None)
    else:
        assert "holds: well_formed_log in every reachable state, by induction" in done.stdout
        assert "Check again" not in done.stdout
    assert done.stderr.startswith(f"Error: {path}: cannot be written (File too large).")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_an_unwritable_path_is_found_before_the_search(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    began = time.monotonic()
    done = _run(*LONG, "--trace", tmp_path / "file" / "t.json")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "cannot be written (Not a directory)" in done.stderr
    assert time.monotonic() - began < 20


@pytest.mark.slow
def test_closed_streams_change_no_verdict() -> None:
    line = " ".join([*(f"'{part}'" for part in COMMAND), "check kip101 --replicas 2 >&- 2>&-"])
    assert subprocess.run(["/bin/sh", "-c", line], check=False).returncode == 1


def test_an_interrupt_outside_a_search(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("insync.cli.options.model.ChosenModel.untraced", interrupted)
    code, out, err = insync("check", "kip320")
    place = f"interrupted, test_process.py:{interrupted.__code__.co_firstlineno + 1}"
    assert (code, out, err.strip()) == (130, "", f"Interrupted at {place}.")


@pytest.mark.slow
def test_a_name_that_is_no_text_does_not_break_the_message() -> None:
    done = subprocess.run([*COMMAND, "check", b"kip\xff"], capture_output=True, check=False)
    assert done.returncode == 2
    assert b"There is no model 'kip\\udcff'" in done.stderr


SLOW_IMPORT = """
import builtins, os, sys, time
from insync.cli.main import main

load = builtins.__import__

def slowly(name, *rest):
    if name == STOPPER and name not in sys.modules:
        os.write(1, b"importing\\n")  # `print` goes to standard error once the command has begun
        time.sleep(100)
    return load(name, *rest)

builtins.__import__ = slowly
sys.argv = ["insync", "check", "kip320", "--replicas", "2"]
main()
"""


@pytest.mark.slow_for("insync.cli.options.model", "insync.cli.options.task")
@pytest.mark.parametrize("module", ["click", "insync.cli.options.model", "insync.cli.options.task"])
def test_an_interrupt_while_modules_are_imported_shows_no_traceback(module: str) -> None:
    script = SLOW_IMPORT.replace("STOPPER", repr(module))
    process = started([], script=script)
    assert process.stdout is not None
    assert process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.strip()) == (130, "Interrupted.")
