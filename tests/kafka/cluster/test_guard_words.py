"""Conditions of steps in the words of an operator."""

from __future__ import annotations

import pytest

from insync.kafka.cluster.guard_words import condition_in_words
from insync.kafka.cluster.model import Cluster
from insync.properties.condition_text import show


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("spent.fencings < 1", "none so far of: sessions that expire although the broker runs (--fencings)"),
        (
            "spent.controlled_shutdowns < 3",
            "fewer than 3 so far of: clean stops of a broker, which hands over before (--controlled-shutdowns)",
        ),
        ("broker[b1].running == true", "b1 runs"),
        ("not broker[b2].running == true", "b2 is down"),
        ("registrations[broker[b2].image_lag].leader == b2", "b2 leads, by its own metadata"),
        ("registrations[broker[b1].image_lag].leader == b2", "b2 leads, by the metadata of b1"),
        ("not controller.fenced contains b1", "the controller has not fenced b1"),
        ("spent.nothing < 1", ""),
        ("broker[b1].leo == 1", ""),
    ],
)
def test_a_condition_is_said_in_words_or_not_at_all(condition: str, words: str) -> None:
    assert condition_in_words(condition) == words


def test_most_conditions_of_the_default_cluster_have_words_without_fields() -> None:
    model = Cluster(replicas=2)
    every = {show(model, node) for action in model.program.actions for node in action.guard} - {""}
    said = {text: condition_in_words(text) for text in every}
    unsaid = [text for text, words in said.items() if not words]
    assert all(" or " in text or " and " in text for text in unsaid), unsaid
    assert len(unsaid) < len(every) / 10
    assert not [words for words in said.values() if "[" in words or "spent" in words or "==" in words]
