"""A command that insync advises asks what the user asked: it spells a model out only with all that was chosen."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERBS = "agree|check|diff|explore|export|graph|liveness|mutate|prove|simulate|why"
SPELT_OUT = re.compile(rf"\binsync (?:{VERBS})(?: --?[\w-]+)* *$")
"""The end of a literal text, behind which a value follows: the name of a model, whose bounds are then left out."""

ALLOWED = {
    "cli/insync/cli/commands/proofs.py": "--lemmas names a proof, which has its bounds, properties and `within`",
}


def spelt_out(text: str) -> Iterator[int]:
    """The lines of f-strings in which the name of a verb is followed by a value."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            for before, after in zip(node.values, node.values[1:], strict=False):
                said = before.value if isinstance(before, ast.Constant) else ""
                if isinstance(after, ast.FormattedValue) and SPELT_OUT.search(str(said)):
                    yield node.lineno


def test_a_command_with_a_model_and_without_its_bounds_would_be_noticed() -> None:
    assert [*spelt_out('f"run `insync check {model.name} --property {name}` for it"')] == [1]
    assert [*spelt_out('f"run `insync check --quiet {model}`"')] == [1]
    assert [*spelt_out('f"`insync replay {file}`, and `insync check` with the same {what}"')] == []


def test_no_message_spells_a_model_out_without_its_bounds() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("model", "properties", "explorer", "spark_explore", "conformance", "cli")
        for path in sorted((ROOT / folder / "insync").rglob("*.py"))
        if [*spelt_out(path.read_text())]
    }
    assert found == set(ALLOWED), "say `insync VERB` with the same model and bounds"
