"""What is said of the parts of an action follows from its counts, and no part is reproached twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from insync.explorer import ActionCoverage, PropertyCoverage
from insync.explorer.coverage.results import BranchCoverage, GuardCoverage, PremiseCoverage
from insync.model.expressions.source import Spot

SPOT = Spot("model.py", 1, 0, 1, 9)


@st.composite
def actions(draw: st.DrawFn) -> ActionCoverage:
    """An action with counts as a search can find them."""
    chances = draw(st.integers(0, 3))
    steps = draw(st.integers(0, chances))
    guards = []
    for place in range(draw(st.integers(0, 4))):
        false = draw(st.integers(0, chances - steps))
        alone = draw(st.integers(0, false))
        guards.append(GuardCoverage(SPOT, place, f"guard {place}", false, alone, 0, draw(st.booleans())))
    branches = []
    for _ in range(draw(st.integers(0, 3))):
        true, false = draw(st.integers(0, steps)), draw(st.integers(0, steps))
        branches.append(BranchCoverage(SPOT, "when", "branch", true, false, draw(st.booleans())))
    return ActionCoverage(
        "act", "model.py", 1, min(chances, 1), steps, chances, steps, 0, tuple(guards), tuple(branches), (), {}
    )


@given(actions())
def test_each_part_stands_where_its_counts_put_it(action: ActionCoverage) -> None:
    for guard in action.guards:
        lists = (action.never_false, action.never_true, action.never_alone)
        places = [any(one is guard for one in found) for found in lists]
        assert sum(places) <= 1, "one word for each guard"
        assert places == [
            action.chances > 0 and not guard.false and not guard.decided,
            guard.false > 0 and guard.false == action.chances,
            0 < guard.false < action.chances and guard.alone == 0,
        ]
    for branch in action.branches:
        asked = action.steps > 0 and not branch.decided
        assert any(one is branch for one in action.one_way) == (asked and 0 in (branch.true, branch.false))


def test_a_premise_that_was_true_in_no_state_asked_nothing() -> None:
    premises = tuple(PremiseCoverage(SPOT, "Implies", f"premise {true}", true) for true in (0, 1, 5))
    assert PropertyCoverage("kept", 0, 0, premises, 1, ()).never_true == premises[:1]
