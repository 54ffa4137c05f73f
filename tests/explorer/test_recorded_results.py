"""What results say of themselves: their line, their page in a notebook and their tables; a change of any is seen.

The record has a number for each. Who means a change records it: with tests/support in PYTHONPATH run this file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from insync.explorer import (
    Limits,
    agree,
    bounded_check,
    check,
    diff,
    graph,
    liveness,
    mutate,
    prove,
    simulate,
    tour,
    why,
)
from insync.explorer.agree import own_engines
from insync.explorer.tables import Shown
from insync.explorer.tour import TourResult
from insync_confined import Mail, Plane
from insync_meanings import Record
from insync_runs import Crossing, Round
from insync_steps import Careful, Votes
from insync_suspicious import Inert
from insync_systems import system_of, transitions_of
from insync_toys import Clock, DieHard, Ledger, TokenRing

HERE = str(Path(__file__).parents[2])
RECORD = Record(Path(__file__).parent / "results.json")
QUICK = {name: one for name, one in own_engines().items() if name != "z3"}

RESULTS: dict[str, Callable[[], Shown]] = {
    "check, violated": lambda: check(DieHard),
    "check, all properties": lambda: check(Votes, keep_going=True),
    "check, holds": lambda: check(TokenRing),
    "check, stopped by depth": lambda: check(DieHard, limits=Limits(depth=3)),
    "check, stopped by states": lambda: check(Clock, limits=Limits(states=5)),
    "check, confined": lambda: check(Plane, within=["near"]),
    "a violation": lambda: check(DieHard).violations[0],
    "a trace": lambda: check(TokenRing(two_tokens=1)).violations[0].trace,
    "a trace of a step": lambda: check(Votes).violations[0].trace,
    "walks": lambda: simulate(DieHard, walks=50, threads=1),
    "walks that find nothing": lambda: simulate(TokenRing, walks=20, depth=5, threads=1),
    "runs": lambda: liveness(Crossing),
    "a run": lambda: liveness(Crossing).properties[0],
    "runs that hold": lambda: liveness(Round),
    "mutants": lambda: mutate(TokenRing),
    "a graph": lambda: graph(TokenRing),
    "engines": lambda: agree(TokenRing, engines=QUICK),
    "ledger": lambda: check(Ledger),
    "why": lambda: why(TokenRing),
    "why, violated": lambda: why(DieHard),
    "diff": lambda: diff(TokenRing, TokenRing(two_tokens=1)),
    "diff, other properties": lambda: diff(Votes, Careful),
    "diff, of two worlds": lambda: diff(TokenRing, DieHard),
    "diff, of two other worlds": lambda: diff(DieHard, Votes),
    "diff, the same": lambda: diff(TokenRing, TokenRing),
    "diff, stopped": lambda: diff(DieHard, DieHard, limits=Limits(depth=2)),
    "mail": lambda: check(Mail),
    "a tour": lambda: tour(TokenRing, system_of(TokenRing())),
    "a tour that finds a difference": lambda: wrong_tour(),
}
PROOFS: dict[str, Callable[[], Shown]] = {
    "a proof": lambda: prove(TokenRing),
    "no proof": lambda: prove(DieHard),
    "a bounded check": lambda: bounded_check(DieHard, depth=8),
    "a bounded check of what is suspicious": lambda: bounded_check(Inert, depth=2),
}


def wrong_tour() -> TourResult:
    """The tour of a ring whose last transition leads to the first state."""
    model = TokenRing(two_tokens=1)
    known = transitions_of(model)
    return tour(model, system_of(model, {list(known)[-1]: model.program.initials[0]}))


def said(result: Shown) -> Mapping[str, str]:
    """What a result says, but for the seconds that it took and the folder that the repository is in."""
    texts = {"line": repr(result), "page": re.sub(r"\d+(\.\d+)? m?s\b", "a moment", result._repr_html_())}
    if result.tables():
        for name in result.tables():
            columns: Mapping[str, Any] = result._columns(name)
            texts[name] = json.dumps({key: list(map(str, v)) for key, v in columns.items() if key != "seconds"})
    return {way: f"{crc32(text.replace(HERE, '').encode()):08x}" for way, text in texts.items()}


@pytest.mark.slow_for(
    "check, all properties",
    "mutants",
    "engines",
    "diff",
    "diff, other properties",
    "diff, of two worlds",
    "diff, of two other worlds",
    "diff, the same",
    "diff, stopped",
    "mail",
)
@pytest.mark.parametrize("name", RESULTS)
def test_each_result_says_what_it_said(name: str) -> None:
    pytest.importorskip("numpy")
    assert said(RESULTS[name]()) == RECORD.known(name)


@pytest.mark.parametrize("name", PROOFS)
def test_each_proof_says_what_it_said(name: str) -> None:
    pytest.importorskip("z3")
    assert said(PROOFS[name]()) == RECORD.known(name)


if __name__ == "__main__":
    for each, made in (RESULTS | PROOFS).items():
        RECORD.write(each, said(made()))
