"""Public: models in Hypothesis.

`state_machines` makes a rule-based state machine of a model. `model_based` tests a system beside its model.
`strategies` has strategies for states, and `coverage` the steps that the runs of a test have taken. All are made by
functions; no class is meant to be subclassed.
"""

from __future__ import annotations

try:
    import hypothesis  # noqa: F401  (whether it is installed)
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise ModuleNotFoundError(
        "insync.explorer.hypothesis needs Hypothesis, which is not installed; "  # noqa: EM101  (shown once either way)
        "install it with: pip install 'insync[test]'",
        name="hypothesis",
    ) from None

from insync.explorer.hypothesis.model_based import model_based_test, replay_against
from insync.explorer.hypothesis.state_machines import state_machine
from insync.explorer.hypothesis.strategies import reachable_states, typed_states
from insync.explorer.testing_systems import Disagreement

__all__ = [
    "Disagreement",
    "model_based_test",
    "reachable_states",
    "replay_against",
    "state_machine",
    "typed_states",
]
