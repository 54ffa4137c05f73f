"""Odd environments: what the system refuses is told in a sentence, with exit code 2, and is no fault of insync."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.cli.faults import refusal_of_the_system
from insync_process import COMMAND

Insync = Callable[..., Any]

MODEL = """\
import os
from insync.model import Bound, Bounds, Int, Model, State, action, invariant, require


class Count(Model):
    bounds = Bounds(end=Bound(4, 1, 20, "how far it goes"))

    def declare(self, b):
        return State(count=Int(0, b.end))

    @action
    def go_on(self, s):
        require(s.count < self.b.end)
        s.count += 1

    @invariant
    def is_small(self, s):
        return s.count < 3
"""


def run(
    folder: Path | None, *arguments: str, begin: Callable[[], object] | None = None, **environment: str | None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; variables of the environment that are None are left out."""
    variables = {**os.environ, **environment}
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=120,
        stdin=subprocess.DEVNULL,
        env={name: value for name, value in variables.items() if value is not None},
        preexec_fn=begin,
    )


def limited(what: int, most: int) -> Callable[[], object]:
    return lambda: resource.setrlimit(what, (most, most))


def in_a_removed_folder() -> None:
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)


def require_sentence(done: subprocess.CompletedProcess[str], said: str) -> None:
    """Require that a command says one thing alone, with the exit code of a user's mistake."""
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"Error: {said}")
    assert "Traceback" not in done.stderr


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "count.py").write_text(MODEL)
    return f"{tmp_path}/count.py:Count"


def test_a_folder_that_was_removed(model: str) -> None:
    require_sentence(
        run(None, "check", model, "--json", begin=in_a_removed_folder), "The current folder does not exist any more."
    )


@pytest.mark.parametrize("mebibytes", [240, *(pytest.param(size, marks=pytest.mark.slow) for size in (60, 90, 150))])
def test_too_little_address_space(mebibytes: int) -> None:
    """Not with 40 MiB: Python 3.11 itself may crash there, or wait for a thread that could not begin."""
    done = run(None, "check", "kip320", "--replicas", "2", begin=limited(resource.RLIMIT_AS, mebibytes << 20))
    require_sentence(done, "The system gives this process no more memory")
    if mebibytes >= 90:  # below that, what finds the limit may itself find no memory
        assert f": `ulimit -v` allows {mebibytes} MiB of address space. Allow more" in done.stderr


def test_an_output_that_cannot_be_written_to() -> None:
    with open("/dev/null") as read_only:
        done = subprocess.run(
            [*COMMAND, "--help"], stdout=read_only, stderr=subprocess.PIPE, text=True, check=False, timeout=60
        )
    assert done.returncode == 2
    assert done.stderr.startswith("Error: standard output: cannot be written (Bad file descriptor).")


def test_a_file_of_a_model_may_change_the_folder(
    tmp_path: Path, insync: Insync, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found, its neighbours are found, and what is written goes where the command was called."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "beside.py").write_text("")
    (tmp_path / "count.py").write_text(f"{MODEL}\nos.chdir('data')\nimport beside\n")
    code, out, err = insync("check", "count.py:Count", "--trace", "out.json")
    assert (code, err) == (1, "")
    assert "Replay: insync replay out.json" in out
    assert (tmp_path / "out.json").is_file()


def test_a_file_of_a_model_may_change_where_python_looks(tmp_path: Path, insync: Insync) -> None:
    (tmp_path / "count.py").write_text(f"{MODEL}\nimport sys\nsys.path[:] = sys.path[1:]\n")
    assert insync("check", f"{tmp_path}/count.py:Count").code == 1


@pytest.mark.parametrize("name", ["out\udcff.sarif", "out\nline.sarif", " ", "-"])
def test_a_name_that_is_no_text(name: str, tmp_path: Path, insync: Insync, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "count\udcff.py").write_text(MODEL)
    code, _, err = insync("check", "count\udcff.py:Count", "--sarif", name)
    assert (code, err) == (1, "")
    assert '"uri": "count%FF.py"' in (tmp_path / name).read_text()


def raised_from(error: Exception, cause: Exception) -> Exception:
    error.__context__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "The system gives this process no more memory"),
        (OSError(errno.ENOMEM, "no"), "The system gives this process no more memory"),
        (OSError("x.so: failed to map segment from shared object"), "The system gives this process no more memory"),
        (RuntimeError("can't start new thread"), "The system gives this process no more memory"),
        (OSError(errno.EMFILE, "no"), "The system opens no more files: `ulimit -n` allows "),
        (RuntimeError("broken"), None),
        (OSError(errno.ENOENT, "no"), None),
    ],
    ids=repr,
)
def test_what_the_system_refuses(error: Exception, said: str | None) -> None:
    for one in (error, raised_from(RuntimeError("in a library"), error)):
        found = refusal_of_the_system(one)
        assert found is None if said is None else str(found).startswith(said)


@pytest.mark.parametrize("name", ["run", None, b"run"])
def test_a_file_that_the_system_refuses(name: str | bytes | None) -> None:
    what = "run" if name else "a file"
    said = refusal_of_the_system(OSError(errno.EACCES, "Permission denied", name))
    assert said == f"The system refuses {what} (Permission denied). Allow it, or work in another folder."


def _no_room() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


ENVIRONMENTS: dict[str, tuple[Callable[[], object] | None, dict[str, str | None]]] = {
    "no home": (None, {"HOME": None, "INSYNC_CACHE_DIR": None}),
    "a home that is no folder": (None, {"HOME": "/dev/null", "INSYNC_CACHE_DIR": None}),
    "a home that is not there": (None, {"HOME": "/nobody/here", "INSYNC_CACHE_DIR": None}),
    "no folder for temporary files": (None, {"TMPDIR": "/nobody/here"}),
    "standard input closed": (lambda: os.close(0), {}),
    "standard output closed": (lambda: os.close(1), {}),
    "standard error closed": (lambda: os.close(2), {}),
    "all closed": (lambda: os.closerange(0, 3), {}),
    "ASCII": (None, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "strict ASCII": (None, {"PYTHONIOENCODING": "ascii:strict"}),
    "UTF-16": (None, {"PYTHONIOENCODING": "utf-16"}),
    "no columns": (None, {"COLUMNS": "0", "LINES": "0"}),
    "too many columns": (None, {"COLUMNS": "9" * 30}),
    "columns that are no number": (None, {"COLUMNS": "²"}),
    "no terminal": (None, {"TERM": None}),
    "few open files": (limited(resource.RLIMIT_NOFILE, 16), {}),
    "a full disk": (_no_room, {"PYTHONDONTWRITEBYTECODE": "1"}),
    "a small stack": (limited(resource.RLIMIT_STACK, 256 << 10), {}),
    "optimised": (None, {"PYTHONOPTIMIZE": "2"}),
    "warnings are errors": (None, {"PYTHONWARNINGS": "error"}),
    "Python's development mode": (None, {"PYTHONDEVMODE": "1"}),
    "Ctrl-C ignored": (lambda: signal.signal(signal.SIGINT, signal.SIG_IGN), {}),
    "ended children ignored": (lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN), {}),
}

VERBS = {
    "help": (["--help"], 0),
    "list": (["list"], 0),
    "check": (["check", "MODEL", "--json"], 1),
    "simulate": (["simulate", "MODEL", "--walks", "20"], 1),
    "why": (["why", "MODEL"], 0),
    "export": (["export", "MODEL"], 0),
    "explore": (["explore", "MODEL", "--text"], 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("verb", VERBS)
def test_an_environment_changes_no_answer(verb: str, environment: str, model: str, tmp_path: Path) -> None:
    begin, variables = ENVIRONMENTS[environment]
    arguments, code = VERBS[verb]
    done = run(tmp_path, *[model if part == "MODEL" else part for part in arguments], begin=begin, **variables)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
