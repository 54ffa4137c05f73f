"""Which entries fit what an operator saw."""

from __future__ import annotations

import pytest

from insync.kafka.defects import LeftOut
from insync.kafka_questions.symptoms import by_symptom


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("lost after power failure", ["C-7", "R-25"]),
        ("no leader", ["N-07", "R-53"]),
        ("Leader: -1 after reassignment", ["N-07"]),
        ("duplicate records", ["C-16"]),
        ("a reassignment that never ends", ["N-09"]),
        ("last replica standing", ["R-25"]),
        ("consumers reset to earliest", ["R-71"]),
        ("high watermark goes backwards", ["R-22"]),
        ("end offset went back", ["R-22"]),
        ("the end offset of a partition decreased", ["R-22"]),
        ("split brain", ["C-2", "C-3"]),
        ("zombie", ["C-2"]),
        ("min.insync.replicas lowered during an incident", ["C-3"]),
        ("rolling restart too fast", ["C-6"]),
        ("reassign with one broker down", ["N-02"]),
        ("two leaders after a network partition", ["C-2", "C-3"]),
        ("under-replicated partitions", ["L-9"]),
        ("URP that never goes away", ["L-10"]),
        ("ISR shrinks and expands again", ["L-9"]),
        ("NotEnoughReplicasAfterAppendException", ["R-52"]),
        ("KAFKA_STORAGE_ERROR", ["R-50", "R-51"]),
        ("OffsetOutOfRangeException", ["R-71"]),
        ("OutOfOrderSequenceException", ["R-63"]),
    ],
)
def test_a_symptom_leads_to_its_entries(words: str, found: list[str]) -> None:
    names = [match.entry.name for match in by_symptom(words.split())]
    assert set(found) <= set(names[:4]), names
    assert len(names) <= 10


def test_a_mutant_has_been_seen_by_nobody_and_noise_finds_nothing() -> None:
    every = [match.entry for word in ("removed", "session", "epoch") for match in by_symptom([word])]
    assert every
    assert not [entry for entry in every if entry.ticket.startswith("mutant")]
    assert by_symptom(["xyzzy"]) == by_symptom(["the", "of"]) == []


def test_what_is_not_modelled_is_found_too() -> None:
    (match,) = by_symptom(["consumers", "reset", "to", "earliest"])
    assert isinstance(match.entry, LeftOut)


@pytest.mark.parametrize("words", ["split brain", "split-brain", "two controllers"])
def test_two_controllers_in_one_epoch_are_a_split_brain(words: str) -> None:
    assert "Q-18" in [match.entry.name for match in by_symptom(words.split())]
