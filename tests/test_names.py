"""A name means one thing within a root: a reader who meets it again need not ask which one it is."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOTS = sorted(path.parent for path in ROOT.glob("*/insync") if path.is_dir())
ALIAS = re.compile(r"_?[A-Z][a-z]\w*")


def modules(root: Path) -> list[Path]:
    return sorted(path for path in root.glob("insync/**/*.py") if path.name != "__init__.py")


def defined(path: Path) -> Iterator[str]:
    """The names of the classes of a module, also of those within others, and of its type aliases."""
    tree = ast.parse(path.read_text())
    yield from (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        yield from (one.id for one in targets if isinstance(one, ast.Name) and ALIAS.fullmatch(one.id))


def repeated(pairs: Iterator[tuple[str, Path]]) -> dict[str, list[str]]:
    """The names that are there more than once, with their places."""
    places: dict[str, list[str]] = defaultdict(list)
    for name, path in pairs:
        places[name].append(path.relative_to(ROOT).as_posix())
    return {name: found for name, found in places.items() if len(found) > 1}


def test_there_are_roots_to_look_at() -> None:
    assert {"cli", "conformance", "explorer", "model", "properties", "spark_explore"} <= {root.name for root in ROOTS}


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.name)
def test_no_two_classes_of_a_root_have_one_name(root: Path) -> None:
    pairs = ((name.lstrip("_"), path) for path in modules(root) for name in defined(path))
    assert repeated(pairs) == {}


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.name)
def test_no_two_files_of_a_root_have_one_name(root: Path) -> None:
    assert repeated((path.stem, path) for path in modules(root)) == {}


DEEPEST = 4
"""How many classes may be in a line of inheritance, in this repository's own."""


def lines_of(classes: dict[str, dict[str, list[str]]]) -> Iterator[tuple[str, ...]]:
    """The longest line of own classes from each, by root, class and bases; of a name in two roots the nearer is meant.

    Within a root a name is one class, which is what the tests above hold.
    """

    def line(root: str, name: str) -> tuple[str, ...]:
        home = next((one for one in (root, *classes) if name in classes[one]), None)
        if home is None:
            return ()
        longest = max((line(home, base) for base in classes[home][name] if base != name), key=len, default=())
        return (name, *longest)

    for root, own in classes.items():
        for name in own:
            yield line(root, name)


def test_inheritance_is_at_most_four_deep() -> None:
    classes = {
        root.name: {
            node.name: [base.attr if isinstance(base, ast.Attribute) else ast.unparse(base) for base in node.bases]
            for path in modules(root)
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ClassDef)
        }
        for root in ROOTS
    }
    lines = list(lines_of(classes))
    assert [" < ".join(one) for one in lines if len(one) > DEEPEST] == []


def test_a_line_that_is_too_deep_is_seen_across_roots() -> None:
    deep = {"model": {"A": ["object"], "B": ["A"], "C": ["B"]}, "cli": {"D": ["C", "Other"], "E": ["D"]}}
    assert max(map(len, lines_of(deep))) == DEEPEST + 1
