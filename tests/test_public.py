"""What is public is written down once, and what users are shown uses nothing else."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PUBLIC = (
    "insync.model",
    "insync.properties",
    "insync.explorer",
    "insync.explorer.hypothesis",
    "insync.kafka_questions",
    "insync.spark_explore",
)
PACKAGES = sorted(
    path
    for root in ("model", "properties", "explorer", "spark_explore", "conformance", "cli")
    for path in (ROOT / root / "insync").rglob("__init__.py")
)


def shown() -> Iterator[tuple[str, str]]:
    """Each piece of Python that users are shown, with its place."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]:
        blocks = re.findall(r"^```python\n((?:.*\n)*?)```$", page.read_text(), re.MULTILINE)
        yield from ((f"{page.name}, block {number}", code) for number, code in enumerate(blocks, start=1))
    for example in sorted((ROOT / "examples").glob("*.py")):
        yield example.name, example.read_text()


def imported(code: str) -> Iterator[tuple[str, str | None]]:
    """Each module that is imported from insync with the name taken out of it, None for the module itself."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names if alias.name.split(".")[0] == "insync")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "insync":
            yield from ((node.module or "", alias.name) for alias in node.names)


SHOWN = {place: code for place, code in shown() if "import" in code}  # the rest may be a piece of a class


def test_guides_and_examples_import_something() -> None:
    modules = {module for code in SHOWN.values() for module, _ in imported(code)}
    assert modules == set(PUBLIC)


@pytest.mark.parametrize("code", SHOWN.values(), ids=SHOWN)
def test_what_users_are_shown_imports_public_names_alone(code: str) -> None:
    for module, name in imported(code):
        assert module in PUBLIC, f"{module} is internal"
        if name is not None:
            assert name in importlib.import_module(module).__all__, f"{module} has no public name {name}"


READ = ("insync.kafka.releases", "insync.properties.kafka.lemmas_commitment")
"""Modules that guides name as something to read, not to import."""

SPANS = sorted(
    {
        (page.name, name)
        for page in [ROOT / "README.md", *(ROOT / "docs" / "guide").glob("*.md")]
        for span in re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S))
        for name in re.findall(r"(?<![\w./])insync(?:\.[A-Za-z_]\w*)+", span)
    }
)


def public(name: str) -> bool:
    """Whether a dotted name is a public module or a public name of one."""
    module, _, last = name.rpartition(".")
    return name in PUBLIC or (module in PUBLIC and last in importlib.import_module(module).__all__)


@pytest.mark.parametrize(("page", "name"), SPANS, ids=lambda text: text)
def test_a_dotted_name_in_a_sentence_is_public(page: str, name: str) -> None:
    if name in READ:
        assert importlib.util.find_spec(name) is not None
    else:
        assert public(name), f"{page}: {name} is not public, or not there"


def test_a_name_that_is_not_public_would_be_noticed() -> None:
    assert len(SPANS) > 10
    assert public("insync.spark_explore.check")
    assert not public("insync.spark_explore.driver.check")
    assert not public("insync.explorer.chek")


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: ".".join(path.relative_to(ROOT).parts[1:-1]))
def test_a_package_says_in_one_line_whether_it_is_public(path: Path) -> None:
    module = ".".join(path.relative_to(ROOT).parts[1:-1])
    first = (ast.get_docstring(ast.parse(path.read_text())) or "").splitlines()[0]
    assert first.startswith("Public: " if module in PUBLIC else "Internal: ")
    assert first.endswith(".")
