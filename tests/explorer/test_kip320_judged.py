"""What the guide to second opinions says of kip320 at its default bounds: the engines agree, and few mutants survive.

`SURVIVORS` says of each mutant that no property notices why nothing is wrong with it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.explorer.agree import agree, evaluator_engine, local_engine, z3_engine
from insync.explorer.mutate import Fate, mutate
from insync.kafka.published import Kip320

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

GUIDE = (Path(__file__).parents[2] / "docs" / "guide" / "second-opinions.md").read_text()

_NOT_CAUGHT_UP = (
    "not (replica[follower].leader == leader and replica[leader].epoch == replica[follower].epoch"
    " and replica[leader].leader == leader and replica[leader].leo <= replica[follower].leo)"
)
SURVIVORS = {
    ("controller_elect_leader", "not quorum.leader == leader"): (
        "The leader is elected again in a new epoch. Kafka does that too; it costs an epoch."
    ),
    ("controller_shrink_isr", "quorum.isr contains replica"): (
        "Dropping a replica that has left already changes only the epoch."
    ),
    ("controller_drop_leader", "quorum.leader == leader"): (
        "The leader is deposed and another member leaves the ISR with it: a smaller ISR is safe."
    ),
    ("controller_drop_leader", "quorum.isr"): (
        "The deposed leader stays in the ISR and may be elected: it has every committed record."
    ),
    ("controller_drop_leader", "next_epoch"): (
        "The next request overwrites the one without a leader; no replica can have acted on it."
    ),
    ("controller_drop_leader", "requests[].isr"): (
        "These modules never process a request without a leader, so nothing reads its ISR."
    ),
    ("leader_shrink_isr", _NOT_CAUGHT_UP): (
        "A leader may drop a member at any time: the member comes back. The states are the same, the steps are more."
    ),
    ("become_follower", "replica[follower].isr"): (
        "A follower does not use the ISR that it knows. As leader it takes over that of the request."
    ),
    ("follower_fetch", "replica[follower].hw"): (
        "A lower high watermark of a follower is safe, and these modules do not promise when followers learn of it."
    ),
}
"""Each mutant that survives: its action, what was taken away, and why it is safe."""


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


def test_every_survivor_is_explained() -> None:
    result = mutate(Kip320(), runs=True)
    killed, survived, equivalent = (result.count(fate) for fate in (Fate.KILLED, Fate.SURVIVED, Fate.EQUIVALENT))
    assert result.count(Fate.UNDECIDED) == 0
    noticed = f"{len(result.mutants)} mutants: {killed} are killed with `--runs`"
    assert f"{noticed}, {equivalent} are equivalent and {survived} survive" in " ".join(GUIDE.split())
    assert {(one.action, one.without) for one in result.mutants if one.fate is Fate.SURVIVED} == set(SURVIVORS)


def test_invariants_alone_notice_less() -> None:
    result = mutate(Kip320())
    assert [result.count(fate) for fate in (Fate.KILLED, Fate.SURVIVED, Fate.EQUIVALENT)] == [36, 21, 23]
