"""A trace in the model in which a defect is fixed: of all rules those that are the defect change."""

from __future__ import annotations

from typing import Any

import pytest

from insync.conformance.patches.fixed_trace import fixed_trace
from insync.explorer.traces.trace import trace_of
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.kafka.releases import Rules
from insync.runtime.errors import UserError

LOSS = "no_acknowledged_record_is_lost"


def without_steps(model: Cluster) -> Any:
    return trace_of(model, LOSS, [(None, model.program.initials[0])], "")


@pytest.mark.parametrize(
    ("bounds", "defect"),
    [
        ({"release": "4.1"}, "N-04"),  # its entry has the fix of N-17 as well
        ({"release": "4.3", "defect": "N-04"}, "N-04"),
        ({"release": "4.1", "defect": "N-14"}, "N-14"),
        ({"release": "4.1", "defect": "R-26"}, "R-26"),
    ],
    ids=str,
)
def test_its_rules_are_those_of_the_trace_but_for_the_defect(bounds: dict[str, str], defect: str) -> None:
    model = Cluster(replicas=2, records=1, **bounds)
    fixed = fixed_trace(without_steps(model), model, defect).model
    changed = {name for name in Rules.names() if fixed.in_force.value(name) != model.in_force.value(name)}
    assert changed == set(DEFECTS[defect].rules)


def test_what_the_trace_has_not_got_cannot_be_fixed() -> None:
    model = Cluster(replicas=2, records=1, release="4.1")
    with pytest.raises(UserError, match=r"Kafka 4\.1 has not got R-48, so it cannot be fixed there"):
        fixed_trace(without_steps(model), model, "R-48")


def test_a_setting_is_fixed_by_another_one() -> None:
    model = Cluster(replicas=2, records=1, unclean_leader_election="on")
    assert fixed_trace(without_steps(model), model, "C-6").model.identity["unclean_leader_election"] == "off"
