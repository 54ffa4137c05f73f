from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import _insync_pytestplugin
from insync.explorer.testing import ENGINES

SUPPORT = Path(__file__).parents[2] / "support"

SUITE = """
import pytest
from hypothesis import settings

from insync.explorer import Limits
from insync.explorer.hypothesis import state_machine
from insync_lamp import Lamp

TestLamp = state_machine(Lamp, bounds={"presses": 9}, properties=["broken_lamps_are_dark"]).TestCase
TestLamp.settings = settings(stateful_step_count=8, deadline=None, derandomize=True)


def test_violated(insync_check):
    insync_check(Lamp, bounds={"switches": 1}, properties=["never_on"], limits=Limits(seconds=60))


def test_out_of_time(insync_check):
    insync_check("async_isr")


@pytest.mark.parametrize("replicas", [1, 2])
def test_long_enough(insync_check, replicas):
    insync_check("async_isr", bounds={"replicas": replicas}, limits=Limits(seconds=60))


def test_mistake(insync_check):
    insync_check("kip321")
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "120", "PYTHONPATH": _path(str(SUPPORT))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--basetemp", str(folder / "tmp"), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env=environment,
    )


def _path(*more: str) -> str:
    return os.pathsep.join([*more, *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.fixture(
    scope="module", params=[(), pytest.param(("-n", "2"), marks=pytest.mark.slow)], ids=["one process", "xdist"]
)
def suite(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Run the suite with a time limit that only a large space exceeds, and return the folder and the output."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "test_suite.py").write_text(SUITE)
    done = run(folder, "-rA", "--junitxml", "junit.xml", "--insync-max-seconds", "0.000001", *request.param)
    assert done.returncode == 1, done.stdout + done.stderr
    return folder, done.stdout


def outcomes(output: str) -> dict[str, str]:
    return {name: outcome for outcome, name in re.findall(r"^(PASSED|FAILED) test_suite\.py::(\S+)", output, re.M)}


def test_what_the_tests_say_is_what_comes_out(suite: tuple[Path, str]) -> None:
    found = outcomes(suite[1])
    assert found == {
        "TestLamp::runTest": "FAILED",
        "test_violated": "FAILED",
        "test_out_of_time": "FAILED",
        "test_long_enough[1]": "PASSED",
        "test_long_enough[2]": "PASSED",
        "test_mistake": "FAILED",
    }


def test_a_failure_shows_the_grid_and_a_command_that_replays_it(suite: tuple[Path, str]) -> None:
    folder, output = suite
    assert "never_on fails after 1 step    " in output
    assert re.search(r"^E +1  s1 is pressed  ON ", output, re.M)
    commands = [shlex.split(line) for line in re.findall(r"^E +Replay: insync (replay .*)$", output, re.M)]
    assert {Path(command[1]).name for command in commands} == {"lamp-never_on.json", "lamp-broken_lamps_are_dark.json"}
    for command in commands:
        assert Path(command[1]).is_relative_to(folder / "tmp")
        script = "from insync.cli.main import main; main()"
        replayed = subprocess.run(
            [sys.executable, "-c", script, *command],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert replayed.returncode == 0, replayed.stderr
        assert " is pressed " in replayed.stdout


def test_junit_says_what_was_searched_and_found(suite: tuple[Path, str]) -> None:
    """And the failure itself is the grid, with the command that replays the trace."""
    cases = {case.get("name"): case for case in ElementTree.parse(suite[0] / "junit.xml").iter("testcase")}  # noqa: S314 -- pytest wrote it
    noted = {
        name: {entry.get("name"): entry.get("value") for entry in case.iter("property")} for name, case in cases.items()
    }
    violated = noted["test_violated"]
    assert violated["insync"] == "lamp (switches 1, presses 2): violated (never_on); 2 states, depth 2"
    trace = violated["insync_trace"]
    assert trace is not None
    assert Path(trace).is_relative_to(suite[0] / "tmp")
    failure = cases["test_violated"].find("failure")
    assert failure is not None
    assert "1  s1 is pressed  ON " in (failure.text or "")
    assert f"Replay: insync replay {trace}" in (failure.text or "")
    assert ": incomplete, stopped by time; " in (noted["test_out_of_time"]["insync"] or "")
    assert (noted["test_long_enough[1]"]["insync"] or "").startswith("async_isr (replicas 1, max_offset ")
    assert noted["test_mistake"] == {}


def test_the_command_line_limits_a_search_and_the_search_is_then_no_pass(suite: tuple[Path, str]) -> None:
    assert "incomplete, stopped by time (1e-06) after " in suite[1]
    assert "or write stopped_by='time' if that is intended." in suite[1].replace("\n", " ")


def test_a_mistake_shows_the_test_and_one_sentence(suite: tuple[Path, str]) -> None:
    shown = suite[1].split("_ test_mistake _")[1].split("\n____")[0].split("\n====")[0]
    assert '>       insync_check("kip321")' in shown
    assert "There is no model 'kip321'. Did you mean 'kip320'?" in shown
    assert "explorer/testing.py" not in shown


@pytest.mark.slow_but("arguments0-invalid choice: 'z4' (choose from ")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--insync-engine", "z4"], "invalid choice: 'z4' (choose from "),
        (["--insync-max-seconds", "0"], "'0' is not a time; give a number of seconds above 0, such as 60 or 0.5"),
        (["--insync-memory", "2X"], "'2X' is not a size of at least 1M; give a number of bytes with a unit"),
        (["--insync-seed", "-1"], "'-1' is not a seed; give a whole number from 0 to 2^64 - 1"),
    ],
)
def test_a_wrong_option_is_refused(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"argument {arguments[0]}: {message}" in done.stderr


def test_the_values_of_options() -> None:
    assert _insync_pytestplugin._size("300M") == 300 << 20
    assert _insync_pytestplugin._size("1.5GiB") == 3 << 29
    assert _insync_pytestplugin._seconds("0.5") == 0.5
    assert _insync_pytestplugin._seed("18446744073709551615") == 2**64 - 1


def test_the_plugin_names_the_engines_that_there_are() -> None:
    assert list(ENGINES) == list(_insync_pytestplugin.ENGINES)


def test_while_tests_run_state_machines_have_a_directory_each_time_a_new_one() -> None:
    first, second = _insync_pytestplugin.trace_directory(), _insync_pytestplugin.trace_directory()
    assert first is not None
    assert second is not None
    assert first != second
    assert first.parent == second.parent


def test_importing_the_plugin_imports_nothing_of_insync() -> None:
    script = "import sys, _insync_pytestplugin; print([m for m in sys.modules if m.split('.')[0] == 'insync'])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_a_run_without_the_fixture_imports_nothing_of_insync(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        "import sys\n\ndef test_other():\n"
        "    assert '_insync_pytestplugin' in sys.modules\n"
        "    assert [m for m in sys.modules if m.split('.')[0] == 'insync'] == []\n"
    )
    done = run(tmp_path, "-q")
    assert done.returncode == 0, done.stdout
