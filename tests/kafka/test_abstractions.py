"""What Kafka's models name of their states: what their readable states say in plain Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from insync.explorer.stepping.stepper import Stepper, Walk
from insync.kafka.cluster.broker_state import is_offline
from insync.model import Model
from insync.model.abstraction import abstraction_of
from insync.model.catalogue import find_model
from insync.model.evaluator import evaluate
from insync.runtime.errors import DomainError


def published(state: Any) -> object:
    replicas = state["replica"].items()
    longest = max(one["leo"] for _, one in replicas)
    leads = [one["leader"] == name for name, one in replicas]
    lags = [longest - one["leo"] for _, one in replicas]
    return state["quorum"]["leader"], state["quorum"]["isr"], leads, lags


def async_isr(state: Any) -> object:
    leader, ends = state["leader"], [*state["leader"]["offset"].values()]
    return state["controller"]["isr"], leader["isr"], leader["pending_isr"], [ends[0] - end for end in ends]


def quorum(state: Any) -> object:
    servers = [*state["server"].values()]
    longest = max(one["end"] for one in servers)
    lags = [(longest - one["end"], one["end"] - one["high_watermark"]) for one in servers]
    return [one["state"] for one in servers], [one["leader"] for one in servers], lags


def cluster(state: Any) -> object:
    newest, brokers = state["registrations"][0], state["broker"].items()
    longest = max(one["leo"] for _, one in brokers)
    leads = [
        one["running"] and not is_offline(one) and state["registrations"][one["image_lag"]]["leader"] == name
        for name, one in brokers
    ]
    said = [(one["running"], longest - one["leo"]) for _, one in brokers]
    return newest["leader"], newest["isr"], state["controller"].get("elr"), leads, said


MODELS: list[Any] = [
    ("kip320", {}, published),
    ("kip101", {"replicas": 2, "log_size": 3}, published),
    ("async_isr", {}, async_isr),
    pytest.param("kraft", {"servers": 3, "elections": 1}, quorum, marks=pytest.mark.slow),
    pytest.param("kraft_published", {}, quorum, marks=pytest.mark.slow),
    pytest.param("kraft", {"removals": 1}, quorum, marks=pytest.mark.slow),
    ("cluster", {"replicas": 2, "records": 2}, cluster),
    pytest.param("cluster", {"elr": "on", "log_dir_failures": 1, "release": "4.1"}, cluster, marks=pytest.mark.slow),
]


def states_of(model: Model) -> list[tuple[int, ...]]:
    """Those of thirty random walks."""
    drawn, states = random.Random(4), []
    for _ in range(30):
        walk = Walk(Stepper(model), drawn.choice(model.program.initials))
        for _ in range(25):
            states.append(walk.codes)
            enabled = [number for numbers in walk.enabled.values() for number in numbers]
            if not enabled:
                break
            try:
                walk.step(drawn.choice(enabled))
            except DomainError:
                break
    return states


@pytest.mark.parametrize(("name", "bounds", "plain"), MODELS)
def test_states_are_one_abstract_state_where_they_agree_in_what_is_named(
    name: str, bounds: dict[str, int | str], plain: Callable[[Any], object]
) -> None:
    model = find_model(name)(**bounds)
    abstraction = abstraction_of(model)
    pairs = {
        (tuple(evaluate(node, codes) for node in abstraction.codes), repr(plain(model.decode(codes))))
        for codes in set(states_of(model))
    }
    assert len({code for code, _ in pairs}) == len({said for _, said in pairs}) == len(pairs) > 10
