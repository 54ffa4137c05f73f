"""Which TLA+ operator each action of each variant stands for."""

from __future__ import annotations

import inspect
import re

import pytest

from insync.kafka.published import AsyncIsr
from insync.model import Model
from insync.model.catalogue import find_model

SHARED = {
    "controller_elect_leader": "ControllerElectLeader",
    "controller_shrink_isr": "ControllerShrinkIsr",
    "controller_drop_leader": "ControllerShrinkIsr",
    "become_leader": "BecomeLeader",
    "leader_write": "LeaderWrite",
}
UNFENCED = {
    **SHARED,
    "leader_expand_isr": "LeaderExpandIsr",
    "leader_shrink_isr": "LeaderShrinkIsr",
    "leader_advance_high_watermark": "LeaderIncHighWatermark",
    "follower_fetch": "FollowerReplicate",
}
OPERATORS = {
    "truncate_to_high_watermark": {**UNFENCED, "become_follower": "BecomeFollowerTruncateToHighWatermark"},
    "kip101": {**UNFENCED, "become_follower": "BecomeFollowerTruncateKip101"},
    "kip279": {**UNFENCED, "become_follower": "BecomeFollowerTruncateKip279"},
    "kip320_first_try": {
        **SHARED,
        "leader_expand_isr": "LeaderExpandIsrBetterFencing",
        "leader_shrink_isr": "LeaderShrinkIsrBetterFencing",
        "leader_advance_high_watermark": "ImprovedLeaderIncHighWatermark",
        "become_follower": "BecomeFollower",
        "follower_fetch": "FollowerFetch",
        "follower_truncate": "FollowerTruncate",
    },
    "kip320": {
        **SHARED,
        "leader_expand_isr": "FencedLeaderExpandIsr",
        "leader_shrink_isr": "FencedLeaderShrinkIsr",
        "leader_advance_high_watermark": "FencedLeaderIncHighWatermark",
        "become_follower": "FencedBecomeFollowerAndTruncate",
        "follower_fetch": "FencedFollowerFetch",
    },
    "async_isr": {
        "controller_shrink_isr": "ControllerShrinkIsr",
        "controller_handle_request": "ControllerHandleRequest",
        "leader_request_shrink_isr": "LeaderRequestShrinkIsr",
        "leader_request_expand_isr": "LeaderRequestExpandIsr",
        "leader_write": "LeaderWrite",
        "leader_handle_update": "LeaderHandleUpdate",
        "follower_replicate": "FollowerReplicate",
    },
}


def documentation(model: type[Model], action: str) -> str:
    return inspect.getdoc(getattr(model, action)) or ""


@pytest.mark.parametrize("name", OPERATORS)
def test_every_action_names_its_operator(name: str) -> None:
    model = find_model(name)
    assert set(model().program.action_names) == set(OPERATORS[name])
    for action, operator in OPERATORS[name].items():
        told = documentation(model, action)
        assert re.search(rf"TLA\+:.*\b{operator}\b", told, re.DOTALL), f"{action} does not name {operator}"


@pytest.mark.parametrize("name", OPERATORS)
def test_every_action_names_a_method_of_kafka(name: str) -> None:
    model = find_model(name)
    for action in OPERATORS[name]:
        assert re.search(r"Kafka: \w+\.\w+", documentation(model, action)), action


@pytest.mark.parametrize("name", OPERATORS)
def test_every_action_can_be_enabled(name: str) -> None:
    program = find_model(name)().program
    assert {action.name for action in program.actions} == set(program.action_names)


@pytest.mark.parametrize("name", OPERATORS)
def test_no_assignment_needs_a_check_at_run_time(name: str) -> None:
    assert [check.message for action in find_model(name)().program.actions for check in action.checks] == []


def test_labels_are_sentences_of_the_protocol() -> None:
    labels = {action.name: action.label for action in find_model("kip320_first_try")().program.actions}
    assert labels == {
        "controller_elect_leader": "elect b3",
        "controller_shrink_isr": "controller drops b3",
        "controller_drop_leader": "controller drops leader b3",
        "become_leader": "b3 becomes leader @2",
        "leader_expand_isr": "b3 adds b2 to the ISR",
        "leader_shrink_isr": "b3 drops b2 from the ISR",
        "leader_write": "b3 writes r1",
        "leader_advance_high_watermark": "b3 advances its HW",
        "become_follower": "b3 becomes follower of b2 @2",
        "follower_fetch": "b3 fetches from b2",
        "follower_truncate": "b3 truncates to match b2",
    }


def test_labels_of_async_isr() -> None:
    labels = {action.name: action.label for action in AsyncIsr().program.actions}
    assert labels == {
        "controller_shrink_isr": "controller drops b3",
        "controller_handle_request": "controller accepts ISR {b1, b2, b3}",
        "leader_request_shrink_isr": "b1 asks to drop b3",
        "leader_request_expand_isr": "b1 asks to add b3",
        "leader_write": "b1 writes a record",
        "leader_handle_update": "b1 learns v2",
        "follower_replicate": "b3 fetches a record",
    }
