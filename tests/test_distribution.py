"""The wheel and the source distribution, tried where nothing else is installed: `make dist`.

`INSYNC_DIST` names the folder that has both; without it they are built. Each environment is new, and has what the
package index gives for the names in the metadata.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
FIRST_MODELS = ("payments.py", "lock.py", "election.py", "replicated_log.py")
OWN_TESTS = ("test_lock.py", "test_replicated_log.py")
SMALL = "--replicas 2 --log-size 1 --max-records 1"

WITHOUT_EXTRAS = {
    "list": 0,
    f"check kip320 {SMALL}": 0,
    "check kip101 --trace out.json --html out.html": 1,
    "replay out.json": 0,
    "report out.json -o report.html": 0,
    "ask --config server.properties": 1,
    "defects N-01": 0,
    "simulate kip101 --walks 2000": 1,
    f"why kip320 {SMALL}": 0,
    f"diff kip101 kip320 {SMALL}": 1,
    f"agree kip320 {SMALL} --engine evaluator --engine local-1": 0,
    "export kip320 --to tla -o kip320.tla": 0,
    "kafka versions": 0,
}
"""What README.md names, by the exit code that it ends with."""

NEED_EXTRAS = {
    f"prove kip320 {SMALL}": "prove",
    f"liveness kip320 {SMALL}": "graph",
    f"export kip320 {SMALL} --to graphml -o kip320.graphml": "graph",
    "explore kip320": "page",
    f"check kip320 {SMALL} --engine spark": "spark",
}


def run(command: Sequence[str | Path], folder: Path, *, seconds: int = 600) -> subprocess.CompletedProcess[str]:
    """Run a command as somebody would who has never seen the repository."""
    hidden = ("PYTHON", "INSYNC_", "PIP_CONSTRAINT", "VIRTUAL_ENV", "MYPY", "COV_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    environment |= {"INSYNC_CACHE_DIR": str(folder / "cache"), "PIP_DISABLE_PIP_VERSION_CHECK": "1", "COLUMNS": "120"}
    return subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
        stdin=subprocess.DEVNULL,
    )


def require_success(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, f"{done.args}\n{done.stdout}\n{done.stderr}"
    return done.stdout


class Environment:
    """A virtual environment with a folder to work in."""

    def __init__(self, folder: Path, wanted: Sequence[str]) -> None:
        venv.create(folder / "env", with_pip=True)
        self.binaries, self.folder = folder / "env" / "bin", folder / "work"
        self.folder.mkdir()
        require_success(self.python("-m", "pip", "install", "--quiet", "--no-compile", *wanted))

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run([self.binaries / "python", *arguments], self.folder)

    def insync(self, line: str) -> subprocess.CompletedProcess[str]:
        return run([self.binaries / "insync", *line.split()], self.folder)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with what was built."""
    given = os.environ.get("INSYNC_DIST")
    if given is not None:
        return (ROOT / given).resolve()
    folder = tmp_path_factory.mktemp("dist")
    require_success(run([sys.executable, "-m", "hatchling", "build", "-d", folder], ROOT))
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (found,) = dist.glob(f"insync-{VERSION}-*.whl")
    return found


@pytest.fixture(scope="module")
def source(dist: Path) -> Path:
    return dist / f"insync-{VERSION}.tar.gz"


@pytest.fixture(scope="module")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return an environment with the wheel and what it needs, no extra."""
    return Environment(tmp_path_factory.mktemp("plain"), [str(wheel)])


@pytest.fixture(scope="module")
def project(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return the project of somebody who tests with insync, and checks types in two ways."""
    made = Environment(tmp_path_factory.mktemp("project"), [f"{wheel}[test,graph]", "mypy", "pyright"])
    for name in (*FIRST_MODELS, *OWN_TESTS):
        shutil.copy(ROOT / "examples" / name, made.folder)
    return made


def test_the_wheel_from_the_source_distribution_is_the_wheel(wheel: Path, source: Path, tmp_path: Path) -> None:
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    out = tmp_path / "again"
    require_success(run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out], folder))
    (again,) = out.glob("*.whl")
    with ZipFile(wheel) as one, ZipFile(again) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
        differ = [name for name in one.namelist() if one.read(name) != other.read(name)]
        # The addresses of the repository that publishes are known in its build alone.
        assert [name for name in differ if not name.endswith(("/METADATA", "/RECORD"))] == []


def test_the_source_distribution_has_what_a_distributor_needs(source: Path) -> None:
    with tarfile.open(source) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    wanted = {"LICENSE", "NOTICE", "CHANGELOG.md", "Makefile", "constraints.txt", "tests/conftest.py", ".ci/group"}
    assert wanted - names == set()
    assert [name for name in names if name.endswith((".pyc", ".whl", ".jar")) or name.startswith(".venv")] == []


def test_the_metadata_name_no_link_that_leads_nowhere(wheel: Path) -> None:
    with ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith("/METADATA"))
        text = packed.read(name).decode()
    assert [link for link in re.findall(r"\]\(([^)]+)\)", text) if not re.match(r"https://|#", link)] == []


def test_a_plain_install_brings_three_packages(plain: Environment) -> None:
    listed = json.loads(require_success(plain.python("-m", "pip", "list", "--format", "json")))
    names = {entry["name"].lower() for entry in listed} - {"pip", "setuptools", "wheel"}
    assert names == {"insync", "click", "llvmlite", "pyyaml"}
    require_success(plain.python("-m", "pip", "check"))


def test_the_version_can_be_asked_for(plain: Environment) -> None:
    asked = plain.python("-c", "from importlib.metadata import version; print(version('insync'))")
    assert require_success(asked) == f"{VERSION}\n"
    assert require_success(plain.insync("--version")).startswith(f"insync {VERSION}\n")


def test_the_commands_of_the_readme_answer_without_an_extra(plain: Environment) -> None:
    (plain.folder / "server.properties").write_text("min.insync.replicas=1\ndefault.replication.factor=3\n")
    for line, code in WITHOUT_EXTRAS.items():
        done = plain.insync(line)
        assert done.returncode == code, f"{line}\n{done.stdout}\n{done.stderr}"
        assert done.stdout


@pytest.mark.parametrize("line", NEED_EXTRAS)
def test_a_missing_extra_is_one_sentence_with_the_command_that_installs_it(plain: Environment, line: str) -> None:
    done = plain.insync(line)
    said = [text for text in done.stderr.splitlines() if text.startswith("Error: ")]
    assert (done.returncode, done.stdout, len(said)) == (2, "", 1), done.stderr
    assert f"pip install 'insync[{NEED_EXTRAS[line]}]'" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_release_of_kafka_is_fetched(plain: Environment) -> None:
    done = plain.insync("kafka fetch 4.3.1")
    if shutil.which("mvn") is None:
        assert (done.returncode, done.stdout) == (2, "")
        assert "Maven" in done.stderr
    else:
        assert "4.3.1" in require_success(done)


def test_the_plugin_and_hypothesis_work_in_a_foreign_project(project: Environment) -> None:
    plain = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    listed = run([sys.executable, *plain, "--collect-only"], project.folder)
    tests = sum("::" in line for line in require_success(listed).splitlines())
    assert tests > len(OWN_TESTS)
    assert f"\n{tests} passed" in require_success(project.python(*plain, "-W", "error"))


def test_models_and_tests_of_a_foreign_project_pass_strict_mypy(project: Environment) -> None:
    assert "Success" in require_success(project.python("-m", "mypy", "--strict", "."))


def test_models_and_tests_of_a_foreign_project_pass_pyright(project: Environment) -> None:
    if shutil.which("node") is None:
        pytest.skip("pyright needs Node")
    assert "0 errors" in require_success(
        project.python("-m", "pyright", "--pythonpath", str(project.binaries / "python"))
    )
