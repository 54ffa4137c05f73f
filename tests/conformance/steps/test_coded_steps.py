"""What steps say of themselves about Kafka is what the harness of classes, and that of brokers, can do."""

from __future__ import annotations

from insync.conformance.live import step_taking
from insync.conformance.steps import schedule
from insync.conformance.steps.checkpoint_steps import OF_CHECKPOINTS
from insync.conformance.steps.consumer_steps import OF_CONSUMER
from insync.conformance.steps.directory_steps import OF_DIRECTORIES
from insync.conformance.steps.producer_steps import OF_PRODUCER
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.steps import Coded, words_of


def test_a_step_that_is_coded_is_one_that_kafkas_classes_are_made_to_take() -> None:
    coded = {name for name in Cluster.action_order if isinstance(words_of(Cluster, name).classes, Coded)}
    assert coded == {*schedule._ACTIONS, *OF_CHECKPOINTS, *OF_CONSUMER, *OF_DIRECTORIES, *OF_PRODUCER}


def test_a_step_that_is_coded_is_one_that_running_brokers_are_made_to_take() -> None:
    coded = {name for name in Cluster.action_order if isinstance(words_of(Cluster, name).brokers, Coded)}
    assert coded == set(step_taking._ACTIONS)
