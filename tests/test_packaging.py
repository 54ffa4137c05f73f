"""Six source roots share one namespace. These tests hold the conditions under which that works (docs/adr/0001)."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import tomllib
from importlib import util
from importlib.metadata import entry_points, version
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "model": {"runtime", "model", "kafka"},
    "properties": {"properties", "proofs"},
    "explorer": {"explorer", "machine", "kafka_questions"},
    "spark_explore": {"spark_explore"},
    "conformance": {"conformance"},
    "cli": {"cli"},
}
PLUGIN = "_insync_pytestplugin.py"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def source_files(root: str) -> set[str]:
    """Return the files of a source root as paths in the wheel."""
    folder = ROOT / root
    return {
        path.relative_to(folder).as_posix()
        for path in (folder / "insync").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    """Build the wheel without a network and open it."""
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert built.returncode == 0, built.stderr
    (path,) = target.glob("insync-*.whl")
    return ZipFile(path)


def test_no_root_makes_insync_a_regular_package() -> None:
    # One such file hides the other five folders in a development install, while a wheel still works.
    assert [root for root in PACKAGES if (ROOT / root / "insync" / "__init__.py").exists()] == []


@pytest.mark.parametrize("root", PACKAGES)
def test_a_source_root_holds_its_packages_and_a_readme_only(root: str) -> None:
    # The folder is on sys.path in a development install: anything else in it would be importable by its bare name.
    allowed = {"README.md", "insync", "__pycache__", *([PLUGIN] if root == "explorer" else [])}
    assert {path.name for path in (ROOT / root).iterdir()} <= allowed
    inside = {path.name for path in (ROOT / root / "insync").iterdir()} - {"__pycache__"}
    assert inside == PACKAGES[root]


@pytest.mark.parametrize("root", PACKAGES)
def test_every_package_says_that_it_is_typed(root: str) -> None:
    assert [name for name in PACKAGES[root] if not (ROOT / root / "insync" / name / "py.typed").is_file()] == []


def test_pickles_load_in_a_fresh_process_elsewhere(tmp_path: Path) -> None:
    # Imported here, so that the tests above can still say which file broke the import.
    from insync.model.evaluator import evaluate
    from insync.model.expressions.graph import Op

    sent = tmp_path / "sent.pickle"
    sent.write_bytes(pickle.dumps((Op.ADD, evaluate)))
    script = (
        "import pickle, pathlib, sys; op, function = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes());"
        "from insync.model.expressions.graph import Op; from insync.model.evaluator import evaluate;"
        "assert op is Op.ADD and function is evaluate; print(function.__module__)"
    )
    command = [sys.executable, "-c", script, str(sent)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout.strip(), done.stderr) == ("insync.model.evaluator", "")


def test_a_folder_of_the_same_name_in_the_working_directory_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "__init__.py").write_text("raise RuntimeError\n")
    (tmp_path / "properties.py").write_text("raise RuntimeError\n")
    command = [sys.executable, "-c", "import insync.model, insync.properties"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_is_installed() -> None:
    (script,) = entry_points(group="console_scripts", name="insync")
    module, _, function = script.value.partition(":")
    # It is not imported here: from its first line on it answers Ctrl-C, which is pytest's.
    code = f"from {module} import {function}; assert callable({function})"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def test_the_pytest_plugin_is_installed() -> None:
    (plugin,) = entry_points(group="pytest11", name="insync")
    assert plugin.value == PLUGIN.removesuffix(".py")


@pytest.mark.slow
def test_the_wheel_holds_the_tree_and_nothing_else(wheel: ZipFile) -> None:
    expected = {PLUGIN}.union(*(source_files(root) for root in PACKAGES))
    packed = {name for name in wheel.namelist() if not name.startswith("insync-")}
    assert packed == expected


def test_the_wheel_carries_the_licence_and_the_command(wheel: ZipFile) -> None:
    names = {name.split("/", 1)[1]: name for name in wheel.namelist() if name.startswith("insync-")}
    assert {"licenses/LICENSE", "licenses/NOTICE"} <= set(names)
    assert "insync = insync.cli.start:main" in wheel.read(names["entry_points.txt"]).decode()


def test_the_version_stands_in_one_place_and_can_be_asked_for() -> None:
    assert version("insync") == PROJECT["version"]
    assert not re.search(r"^version:", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)


def test_one_extra_is_all_others() -> None:
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    assert everything == f"insync[{','.join(sorted(set(extras) - {'all'}))}]"


def hook() -> ModuleType:
    """Import the hook of the build."""
    spec = util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_of_the_readme_lead_to_files_of_the_version_where_an_address_is_given() -> None:
    text = hook().readme_text((ROOT / "README.md").read_text(), "https://example.org/insync", "1.2.3")
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    begins = ("https://example.org/insync/blob/v1.2.3/", "https://example.org/insync/raw/v1.2.3/")
    ours = [target for target in targets if target.startswith(begins)]
    assert [target for target in targets if not target.startswith("https://")] == []
    assert len(ours) > 10
    for target in ours:
        assert (ROOT / target.split("1.2.3/")[1].split("#")[0]).exists(), target


def test_without_an_address_the_readme_has_no_link_that_breaks() -> None:
    given = "[a](docs/a.md), ![b](b.svg), [c](https://c.org), [d](#d)\n\n```\n[e](e)\n```\n\n    [f](f)\n"
    assert hook().readme_text(given, "", "1.2.3") == (
        "a, *b*, [c](https://c.org), [d](#d)\n\n```\n[e](e)\n```\n\n    [f](f)\n"
    )
    assert hook().addresses("", "1.2.3") == {}
