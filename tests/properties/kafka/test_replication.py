"""Each property and lemma of Kafka's replication says what its sentence says, where it just holds and just does not."""

from __future__ import annotations

import random
from functools import cache

import pytest

from insync.kafka.published import AsyncIsr, Kip320
from insync.machine.packed import Found, Words
from insync.model import Model
from insync.model.evaluator import evaluate
from insync.properties.registry import invariants_of, lemmas_of, run_properties_of
from insync_machine import violations_by_machine
from insync_nearby import neighbours
from insync_promises import MEANINGS, RUN_MEANINGS, Seen

SMALL = Kip320(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)
MODELS = [SMALL, Kip320(replicas=3, log_size=2, max_records=2, max_leader_epoch=1)]
CLAIMS = {**invariants_of(SMALL), **lemmas_of(SMALL)}


@cache
def sampled(model: Model) -> tuple[list[Words], list[Seen]]:
    chance = random.Random(model.name)
    states = neighbours(model, chance, walks=40, steps=40, each=20)
    return [model.program.schema.pack(codes) for codes in states], [Seen(model.decode(codes)) for codes in states]


def test_every_property_and_lemma_is_written_twice() -> None:
    assert {*MEANINGS, "deadlock_free"} == set(CLAIMS)
    assert set(RUN_MEANINGS) == set(run_properties_of(SMALL))


@cache
def violations(model: Model) -> dict[str, Found]:
    found = violations_by_machine(model, [CLAIMS[name].node(model) for name in MEANINGS], sampled(model)[0])
    return dict(zip(MEANINGS, found, strict=True))


@pytest.mark.slow_for(
    "weak_isr-three",
    "strong_isr-three",
    "leader_in_isr-three",
    "well_formed_log-three",
    "log_epochs_never_decrease-three",
)
@pytest.mark.parametrize("model", MODELS, ids=["two", "three"])
@pytest.mark.parametrize("name", list(MEANINGS))
def test_it_fails_where_its_sentence_is_wrong_and_nowhere_else(name: str, model: Model) -> None:
    states, seen = sampled(model)
    wrong = [state for state, one in zip(states, seen, strict=True) if not MEANINGS[name](one)]
    assert 10 < len(wrong) < len(states) - 10, "some states are on each side"
    assert violations(model)[name] == Found(len(wrong), min(wrong))


@pytest.mark.slow_for("three")
@pytest.mark.parametrize("model", MODELS, ids=["two", "three"])
def test_what_a_property_of_runs_waits_for_is_what_its_sentence_says(model: Model) -> None:
    states, seen = sampled(model)
    nodes, expected, names = [], [], []
    for name, found in run_properties_of(model).items():
        for one in found.instances(model):
            bound = [int(label[1:]) - (key == "replica") for key, label in one.bindings.items()]
            for place, node in enumerate((one.when, one.then)):
                wrong = [w for w, s in zip(states, seen, strict=True) if not RUN_MEANINGS[name](s, *bound)[place]]
                if node is not None:
                    assert 10 < len(wrong) < len(states) - 10, name
                    nodes.append(node)
                    expected.append(Found(len(wrong), min(wrong)))
                    names.append((str(one), name, place))
    checked = violations_by_machine(model, nodes, states)
    assert dict(zip(names, checked, strict=True)) == dict(zip(names, expected, strict=True))


def test_what_is_not_in_a_log_has_no_value() -> None:
    (lemma,) = [found for name, found in CLAIMS.items() if name == "log_is_blank_from_its_end"]
    node, initial, cells = lemma.node(SMALL), SMALL.program.initials[0], SMALL.program.schema.cells
    inside = [number for number, cell in enumerate(cells) if ".log[" in cell.path]
    assert evaluate(node, initial)
    for number in inside:
        assert not evaluate(node, tuple(int(place == number) for place in range(len(cells))))


@pytest.mark.slow
def test_the_high_watermark_of_asynchronous_updates_is_on_all_that_may_be_elected() -> None:
    model, chance = AsyncIsr(replicas=3, max_offset=3, max_version=1), random.Random(1)
    (found,) = [one for name, one in invariants_of(model).items() if name == "valid_high_watermark"]
    node, results = found.node(model), []
    for codes in neighbours(model, chance, walks=20, steps=15, each=8):
        state = model.decode(codes)
        offsets, counted = state["leader"]["offset"], {*state["leader"]["isr"], *state["leader"]["pending_isr"]}
        committed = min((offsets[name] for name in counted), default=3)
        holds = all(committed <= offsets[name] for name in state["controller"]["isr"])
        assert evaluate(node, codes) == holds
        results.append(holds)
    assert 20 < sum(results) < len(results) - 20
