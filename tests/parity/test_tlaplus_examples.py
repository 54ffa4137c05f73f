"""The models of examples/tlaplus have the states, the depth and the steps that TLC reports of their TLA+ modules.

The figures are those of the manifests of the public repository tlaplus/Examples. TLC counts each initial state and each
successor as generated. The column `note` says what is counted otherwise: where there are several ways to one successor,
which TLC generates once for each; and where TLC does not find the depth of the manifest again, the depth that it finds,
with one worker and with two.

`tla_lines` is how many lines of code the TLA+ module has that the model's docstring names, in the repository on 14 May
2026: without comments, blank lines, rules and lines of hyphens, and without theorems and their proofs. Modules that
it extends or instantiates are not counted, nor is the one that says how TLC is run. Of an algorithm in PlusCal, which
is a comment, the translation is counted.
"""

from __future__ import annotations

import ast
import csv
import io
import re
import tokenize
from pathlib import Path

import pytest

from insync.explorer import check, liveness

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "tlaplus"
SLOW = {"Bakery"}
Row = dict[str, str]


def rows() -> list[Row]:
    with (Path(__file__).parent / "tlaplus_examples.csv").open() as file:
        return list(csv.DictReader(file))


def name_of(row: Row) -> str:
    return row["model"].partition(":")[2]


PARAMETERS = [pytest.param(r, id=name_of(r), marks=[pytest.mark.slow] * (name_of(r) in SLOW)) for r in rows()]


@pytest.mark.slow_for(
    "PaxosCommit",
    "AsyncTerminationDetection",
    "LamportMutex",
    "Paxos",
    "Voting",
    "DisruptorSpmc",
    "SchedulingAllocator",
    "TokenRing",
)
@pytest.mark.parametrize("row", PARAMETERS)
def test_agrees_with_tlc(row: Row) -> None:
    found = check(f"{ROOT}/{row['model']}")
    assert found.verdict == "holds", found.violations
    assert found.distinct_states == int(row["distinct_states"])
    exact_depth = re.search(r"depth: (\d+)", row["note"])
    assert found.depth == int(exact_depth[1] if exact_depth else row["depth"])
    generated = found.transitions + found.levels[0]
    if "generated:" in row["note"]:
        assert generated < int(row["generated_states"])
    else:
        assert generated == int(row["generated_states"])


@pytest.mark.slow_for("paxos_commit.py:PaxosCommit-bounds1-66893-None-23", "tcp.py:Tcp-bounds2-7698-40861-27")
@pytest.mark.parametrize(
    ("model", "bounds", "distinct_states", "generated", "depth"),
    [
        ("bakery.py:Bakery", {"processes": 1}, 204, 630, 1),
        ("paxos_commit.py:PaxosCommit", {"managers": 1, "ballots": 2}, 66893, None, 23),
        ("tcp.py:Tcp", {"segments": 3}, 7698, 40861, 27),
    ],
)
def test_agrees_with_tlc_at_other_bounds(
    model: str, bounds: dict[str, int], distinct_states: int, generated: int | None, depth: int
) -> None:
    """Run by us, with one worker; of Tcp with no more than three segments on their way to an end."""
    found = check(f"{FOLDER}/{model}", bounds=bounds)
    assert (found.verdict, found.distinct_states, found.depth) == ("holds", distinct_states, depth)
    assert generated is None or found.transitions + found.levels[0] == generated


@pytest.mark.slow_for("ewd840:Ewd840", "token_ring:TokenRing")
@pytest.mark.parametrize(
    "model",
    ["ewd840:Ewd840", "token_ring:TokenRing", "dining_philosophers:DiningPhilosophers", "chang_roberts:ChangRoberts"],
)
def test_what_must_happen_happens(model: str) -> None:
    pytest.importorskip("scipy")
    file, _, name = model.partition(":")
    assert liveness(f"{FOLDER / file}.py:{name}").verdict == "holds"


def code_lines(source: str) -> int:
    """How many lines of Python have code, as against comments, docstrings and nothing."""
    said: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            said.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type not in silent]
    return len({line for token in tokens for line in range(token.start[0], token.end[0] + 1)} - said)


def test_lines_of_code_are_counted_without_comments_docstrings_and_blank_lines() -> None:
    source = '''"""One
two."""

# a comment
import enum  # one


class A(enum.Enum):  # two
    """Said."""

    B = (  # three
        1  # four
    )  # five
    C = """
"""  # six and seven
'''
    assert code_lines(source) == 7


@pytest.mark.parametrize("row", [pytest.param(row, id=name_of(row)) for row in rows()])
def test_no_model_is_twice_as_long_as_its_module(row: Row) -> None:
    assert 0 < code_lines((ROOT / row["model"].partition(":")[0]).read_text()) <= 2 * int(row["tla_lines"])


def test_every_example_has_a_row() -> None:
    assert {Path(row["model"].partition(":")[0]).name for row in rows()} == {path.name for path in FOLDER.glob("*.py")}
