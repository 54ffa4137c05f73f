"""Presets: budgets that go together, by name."""

from __future__ import annotations

import json

import pytest

from insync.cli.main import run
from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.presets import PRESETS
from insync.model import Int, Model, ModelError, State, UserError


def test_the_defaults_are_a_preset() -> None:
    assert Cluster(preset="failures").identity == Cluster().identity


def test_a_preset_says_of_every_budget_how_much_it_is_and_what_is_given_beside_it_wins() -> None:
    model = Cluster(preset="operations", preferred_elections=2, records=1)
    budgets = {name: model.identity[name] for name in PRESETS["operations"]}
    once = dict.fromkeys(("reassignments", "spares", "controlled_shutdowns", "config_changes"), 1)
    assert {name: value for name, value in budgets.items() if value} == {**once, "preferred_elections": 2}
    assert (model.b.records, model.b.replicas) == (1, 3)


def test_with_everything_all_features_are_in_force_that_a_release_can_have() -> None:
    newest, oldest = Cluster(preset="everything"), Cluster(preset="everything", release="0.10.2")
    found = [
        one.features.late_fetch_responses and one.features.sends_again and one.features.log_dir_moves
        for one in (newest, oldest)
    ]
    assert found == [True, True]
    assert newest.features.quorum_decides
    assert oldest.features.fails_over


def test_who_gives_no_budget_at_all_is_told_so() -> None:
    (said,) = Cluster(power_failures=0, fencings=0, isr_shrinks=0).remarks()
    assert said.startswith("Every budget is 0, so nothing fails")
    assert Cluster(power_failures=0, fencings=0, isr_shrinks=0, controlled_shutdowns=1).remarks() == []


def test_the_command_line_takes_a_preset(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["describe", "cluster", "--controlled-shutdowns", "2", "--preset", "everyday", "--json"]) == 0
    chosen = json.loads(capsys.readouterr().out)["chosen"]
    expected = {"power_failures": 0, "fencings": 0, "crashes": 1, "controlled_shutdowns": 2, "preferred_elections": 1}
    assert chosen == {"release": "4.1", **expected}


def test_mistakes_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match=r"cluster has no preset .operation.\. Did you mean .operations."):
        Cluster(preset="operation")
    with pytest.raises(ModelError, match="the preset 'small' names 'sise'; name its own choices"):

        class _Wrong(Model):
            presets = {"small": {"sise": 1}}  # noqa: RUF012

            def declare(self, b: object) -> State:
                return State(x=Int(0, 1))

    assert run(["check", "kip320", "--preset", "small"]) == 2
    assert "--preset" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "states"), [("everyday", 4_660_481), ("failures", 642_596), ("operations", 1_714_851)]
)
def test_a_whole_search_of_4_1_has_so_many_states(preset: str, states: int) -> None:
    assert check(Cluster(preset=preset, records=1), properties=[]).distinct_states == states
