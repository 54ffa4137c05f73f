from __future__ import annotations

from insync.explorer.runs.lasso import Lasso, verify
from insync.model import Condition, Int, Model, State, StateView, action, require
from insync.properties import Fairness, leads_to
from insync.properties.registry import run_properties_of


class Steps(Model):
    """Up to the third step, and no further."""

    def declare(self, b: object) -> State:
        return State(step=Int(0, 3))

    @action
    def up(self, s: StateView) -> None:
        """Go up."""
        require(s.step < 3)
        s.step += 1


@leads_to(Steps)
def second_is_seen(model: Steps, s: StateView) -> tuple[Condition, Condition]:
    """Whoever is on the first or the second step is on the second one then, or at once."""
    return (s.step == 1) | (s.step == 2), s.step == 2


@leads_to(Steps)
def first_comes_back(model: Steps, s: StateView) -> tuple[Condition, Condition]:
    """Whoever is on the second step is on the first one some time."""
    return s.step == 2, s.step == 1


RUN = Lasso(((None, (0,)), (0, (1,)), (0, (2,)), (0, (3,))), 3)


def test_what_comes_in_the_very_state_in_which_it_is_due_is_not_due_any_more() -> None:
    model = Steps()
    known = run_properties_of(model)
    settled = verify(model, known["second_is_seen"], Fairness(), RUN)
    assert settled.fault == "second_is_seen holds in this run."
    broken = verify(model, known["first_comes_back"], Fairness(), RUN)
    assert (broken.fault, "is due after step 2" in broken.reason) == (None, True)
