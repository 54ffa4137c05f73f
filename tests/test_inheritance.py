"""Classes stand at most four deep in a line of inheritance."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOTS = sorted(path.parent for path in ROOT.glob("*/insync") if path.is_dir())


def modules(root: Path) -> list[Path]:
    return sorted(path for path in root.glob("insync/**/*.py") if path.name != "__init__.py")


DEEPEST = 4
"""How many classes may be in a line of inheritance, in this repository's own."""


def lines_of(classes: dict[str, dict[str, list[str]]]) -> Iterator[tuple[str, ...]]:
    """The longest line of own classes from each, by root, class and bases; a name in two roots is the nearer one."""

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
    classes: dict[str, dict[str, list[str]]] = {root.name: defaultdict(list) for root in ROOTS}
    for root in ROOTS:
        for path in modules(root):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef):  # classes of one name are taken together, which can only be stricter
                    bases = (base.attr if isinstance(base, ast.Attribute) else ast.unparse(base) for base in node.bases)
                    classes[root.name][node.name] += bases
    assert {"cli", "conformance", "explorer", "model", "properties", "spark_explore"} <= set(classes)
    lines = list(lines_of(classes))
    assert [" < ".join(one) for one in lines if len(one) > DEEPEST] == []


def test_a_line_that_is_too_deep_is_seen_across_roots() -> None:
    deep = {"model": {"A": ["object"], "B": ["A"], "C": ["B"]}, "cli": {"D": ["C", "Other"], "E": ["D"]}}
    assert max(map(len, lines_of(deep))) == DEEPEST + 1
