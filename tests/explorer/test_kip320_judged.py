"""What the guide to agree and mutate says of kip320 at the bounds that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from insync.explorer.agree import agree, evaluator_engine, local_engine, z3_engine
from insync.explorer.mutate import Fate, MutationResult, mutate
from insync.kafka.published import Kip320

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

GUIDE = (Path(__file__).parents[2] / "docs" / "guide" / "agree-and-mutate.md").read_text()


def test_all_engines_agree() -> None:
    pytest.importorskip("z3")
    engines = {
        "evaluator": evaluator_engine,
        "local-1": local_engine(1),
        "local-2": local_engine(2),
        "z3": z3_engine(8),
    }
    found = agree(Kip320(max_leader_epoch=1), engines=engines)
    assert found.agreed, found.differences
    assert [opinion.note for opinion in found.opinions] == ["", "", "", "up to depth 8"]
    assert found.opinions[0].levels is not None
    assert sum(found.opinions[0].levels) == 39_619


def row(result: MutationResult) -> str:
    killed, survived, equivalent = (result.count(fate) for fate in (Fate.KILLED, Fate.SURVIVED, Fate.EQUIVALENT))
    assert result.count(Fate.UNDECIDED) == 0
    return f"| {killed} | {survived} | {equivalent} | {result.score:.0%} |".replace("%", " %")


def test_the_mutation_score_is_the_one_in_the_guide() -> None:
    assert f"`well_formed_log`, `type_ok` {row(mutate(Kip320()))}" in GUIDE


def test_every_survivor_is_explained() -> None:
    result = mutate(Kip320(), runs=True)
    assert f"and the properties of runs {row(result)}" in GUIDE
    explained = re.findall(r"^\| `(\w+)` does not (require|assign) ", GUIDE, re.MULTILINE)
    survivors = [mutant for mutant in result.mutants if mutant.fate is Fate.SURVIVED]
    words = {True: "assign", False: "require"}
    assert sorted(explained) == sorted((m.action, words[m.change == "assignment"]) for m in survivors)
    for mutant in survivors:
        assert f"`{mutant.without}`" in GUIDE or "follower is behind" in GUIDE
