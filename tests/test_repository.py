"""Rules about the repository itself, held by tests because nobody remembers them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
MANDATED = ("model", "properties", "explorer", "spark_explore", "conformance", "cli", "tests", "docs/adr")
CANONICAL = re.compile(r"[-_.]+")

# The brackets keep the patterns from matching themselves.
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:wor[k]|roo[t]|home/\w+|Users/\w+)/")
DOWNLOAD_ADDRESS = re.compile(r"https?://\S+?(?:\.whl|\.tar\.gz|\.zip|\.jar|/simple)\b|-{2}(?:extra-)?index-[u]rl")


@cache
def repository_files() -> tuple[Path, ...]:
    """Return the files that are in the repository, or would be after `git add`."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git work tree")
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return tuple(path for path in paths if path.is_file())


@cache
def texts() -> dict[str, str]:
    """Return the text of every file in the repository by its path."""
    found = {}
    for path in repository_files():
        content = path.read_bytes()
        if b"\0" not in content:
            found[path.relative_to(ROOT).as_posix()] = content.decode()
    return found


def lines_matching(pattern: re.Pattern[str]) -> list[str]:
    """Return `path:line: text` of every line that the pattern finds."""
    return [
        f"{name}:{number}: {line.strip()}"
        for name, text in texts().items()
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]


def pinned() -> set[str]:
    """Return the names in the constraints file, in canonical spelling."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return {CANONICAL.sub("-", line.split("==")[0]).lower() for line in lines if not line.startswith("#")}


@pytest.mark.parametrize("folder", MANDATED)
def test_the_folder_exists_and_says_what_it_is(folder: str) -> None:
    assert (ROOT / folder).is_dir()
    if folder != "tests":
        assert (ROOT / folder / "README.md").is_file()


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    assert lines_matching(MACHINE_PATH) == []


def test_no_file_names_a_download_address() -> None:
    assert lines_matching(DOWNLOAD_ADDRESS) == []
    assert [name for name in texts() if name.endswith(".lock")] == []


def test_no_file_is_a_package_or_built_from_others() -> None:
    """What `pip download` leaves where it is called is committed as easily as it is overlooked."""
    built = {".whl", ".gz", ".zip", ".jar", ".class", ".so", ".pyc"}
    assert [path.name for path in repository_files() if path.suffix in built] == []


def test_constraints_are_names_and_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"#.*|[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.+!]*", line)] == []


def test_every_tool_of_the_environment_is_pinned() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())
    group = [sys.executable, ROOT / ".ci" / "group", *table["dependency-groups"]]
    grouped = subprocess.run(group, capture_output=True, text=True, check=True, timeout=30).stdout.split()
    assert {"mypy>=1.13", "sphinx>=8.2", "playwright>=1.49"} <= set(grouped)
    extras = table["project"]["optional-dependencies"].values()
    wanted = [*table["project"]["dependencies"], *(one for extra in extras for one in extra), *grouped]
    names = {CANONICAL.sub("-", re.split(r"[\[<>=!~; ]", item)[0]).lower() for item in wanted} - {"insync"}
    assert names - pinned() == set()


def test_the_changelog_has_an_unreleased_section_with_entries() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    match = re.search(r"^## \[?Unreleased\]?\s*$(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    assert match is not None
    assert re.search(r"^- ", match[1], flags=re.MULTILINE)


def test_the_commands_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE))
    named = set(
        re.findall(r"(?:^ {4}|^\$ |^|`)make (?:PYTHON=\S+ )?([a-z]+)\b", (ROOT / "README.md").read_text(), re.M)
    )
    assert {"check", "test"} <= named
    assert named - targets == set()


def test_the_index_leads_to_every_guide() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    guides = {page.name for page in (ROOT / "docs" / "guide").glob("*.md")}
    assert guides - set(re.findall(r"\(guide/([a-z0-9-]+\.md)\)", index)) == set()


def test_what_generates_code_stands_where_object_code_that_is_kept_looks_for_changes() -> None:
    """tests/conftest.py keeps object code from run to run, for equal sources of these packages."""
    code = (
        "import pkgutil, sys, importlib, insync.machine as m\n"
        "for one in pkgutil.walk_packages(m.__path__, 'insync.machine.'): importlib.import_module(one.name)\n"
        "print(*sorted({'.'.join(name.split('.')[:2]) for name in sys.modules if name.startswith('insync.')}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["insync.machine", "insync.model", "insync.runtime"]


def test_a_first_test_in_a_clone_needs_no_tool_of_developers(tmp_path: Path) -> None:
    (tmp_path / "test_first.py").write_text("def test_nothing(insync_check): pass\n")
    without = [part for tool in ("timeout", "xdist") for part in ("-p", f"no:{tool}")]
    command = [sys.executable, "-m", "pytest", "-q", "-c", str(ROOT / "pyproject.toml"), *without, "test_first.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_where_kafkas_jars_cannot_be_had_its_tests_are_left_out_with_a_word(tmp_path: Path) -> None:
    (tmp_path / "mvn").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "mvn").chmod(0o755)
    places = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "INSYNC_CACHE_DIR": str(tmp_path / "cache")}
    ran = subprocess.run(
        [ROOT / ".ci" / "kafka"], env={**os.environ, **places}, capture_output=True, text=True, timeout=100, check=False
    )
    assert (ran.returncode, ran.stderr.splitlines()[-1]) == (0, "So the tests on Kafka itself are not run.")
    assert "Maven" in ran.stderr


def test_workflows_and_templates_name_no_account() -> None:
    files = {name: text for name, text in texts().items() if name.startswith(".github/")}
    assert {".github/workflows/tests.yml", ".github/workflows/release.yml"} <= files.keys()
    for name, text in files.items():
        assert isinstance(yaml.safe_load(text), dict), name
        assert not re.search(r"https?://|secrets\.", text), name


def test_make_kafka_collects_every_test_on_kafka() -> None:
    """It names where they are, as to collect all others takes longer than to run some."""
    collected = re.findall(r'"kafka and not slow" (.*?)(?:;| --ignore)', (ROOT / "Makefile").read_text())
    marked = [
        file
        for file in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"^[^#\n]*\bmark\.kafka\b", file.read_text(), re.M)
    ]
    named = [ROOT / place for places in collected for place in places.split()]
    assert len(marked) > 20
    assert [file for file in marked if not any(file.is_relative_to(place) for place in named)] == []


def folders_with_files() -> dict[str, tuple[str, set[str]]]:
    """Return the docstring of each folder of the product, with the names of the modules and folders in it."""
    product = [name for name in texts() if name.endswith(".py") and name.split("/")[0] in MANDATED[:6]]
    inside: dict[str, set[str]] = {}
    for name in product:
        *above, last = name.removesuffix("/__init__.py").removesuffix(".py").split("/")
        inside.setdefault("/".join(above), set()).add(last)
    found = {}
    for folder, names in inside.items():
        said = re.match(r'"""(.*?)"""', texts().get(f"{folder}/__init__.py", ""), re.DOTALL)
        if said:
            found[folder] = said[1], names
    return found


def named_in(docstring: str) -> set[str]:
    """Return the names of one word in backticks, the last part of a path or of a dotted name."""
    return {re.split(r"[./]", name.rstrip("/"))[-1] for name in re.findall(r"`([a-z_0-9./]+)`", docstring)}


def test_the_docstring_of_a_folder_names_all_of_its_files_or_none() -> None:
    """Where a folder has a file for each of many like things, such as a part of the cluster, it names none."""
    left_out = {
        folder: sorted(names - named_in(said))
        for folder, (said, names) in folders_with_files().items()
        if names & named_in(said) and names - named_in(said)
    }
    assert left_out == {}


def test_what_the_docstring_of_a_folder_names_is_there() -> None:
    known = {part for name in texts() for part in Path(name).with_suffix("").parts}
    for name, text in texts().items():
        if name.endswith(".py") and name.split("/")[0] in MANDATED[:6]:
            known.update(re.findall(r"^ *(?:def|class) (\w+)", text, re.MULTILINE))
            known.update(re.findall(r'^ +"([a-z_]+)": ', text, re.MULTILINE))  # commands
    missing = {
        folder: sorted(named_in(said) - known)
        for folder, (said, _) in folders_with_files().items()
        if named_in(said) - known
    }
    assert missing == {}
