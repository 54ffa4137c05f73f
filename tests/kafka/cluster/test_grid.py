"""What the grid shows of a cluster, and what the actions say of Kafka."""

from __future__ import annotations

import inspect

from insync.kafka.cluster.model import Cluster
from insync_walk import Walk, shared_cluster


def test_the_start_shows_roles_epochs_and_empty_logs() -> None:
    assert Walk(shared_cluster()).cells == {
        "b1": "L0 [|]",
        "b2": "F0 [|]",
        "b3": "F0 [|]",
        "controller": "b1@0 ISR b1 b2 b3",
        "clients": "",
    }


def test_clients_show_what_was_acknowledged_and_seen() -> None:
    steps = ("b1 appends a record", "b2 fetches from b1", "b3 fetches from b1", "b2 fetches from b1")
    walk = Walk(shared_cluster(), *steps)
    assert walk.cells["clients"] == ""
    assert walk.take("b3 fetches from b1").cells["clients"] == "acked r0, seen r0"


def test_every_action_names_the_method_of_kafka_that_it_models() -> None:
    second_half = "resume_fetching"
    for name in Cluster().program.action_names:
        said = inspect.getdoc(getattr(Cluster, name)) or ""
        assert "Kafka: " in said or "Kafka 0.11: " in said or name == second_half, name
