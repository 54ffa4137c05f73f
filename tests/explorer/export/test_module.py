"""What stands in an exported module beside its actions, and what cannot be exported."""

from __future__ import annotations

import re
import time

import pytest

from insync.explorer.export import export
from insync.model import Int, Model, State, StateView, action, require
from insync.model.catalogue import find_model
from insync.runtime.errors import UserError

SMALL: dict[str, int | str] = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}


class Far(Model):
    """Counts further than TLC can."""

    def declare(self, b: object) -> State:
        """A number."""
        return State(far=Int(0, 2**40))

    @action
    def count(self, s: StateView) -> None:
        """Counts."""
        require(s.far < 2**40)
        s.far += 1


class Decides(Model):
    """Its Python decides on a parameter."""

    def declare(self, b: object) -> State:
        """A truth."""
        return State(up=Int(0, 3))

    @action
    def turn(self, s: StateView, up: bool) -> None:
        """Goes up or down."""
        if up:
            require(s.up < 3)
            s.up += 1
        else:
            require(s.up > 0)
            s.up -= 1


def test_a_number_that_tlc_does_not_have_is_refused() -> None:
    with pytest.raises(UserError, match=r"far can have a value beyond 2\^31, and TLC's numbers have 32 bits"):
        export(Far)


def test_where_the_python_decides_there_is_an_operator_for_each_value_and_it_is_said() -> None:
    text = export(Decides, properties=[])["decides.tla"]
    assert re.findall(r"^(\w+)(?:\(.*\))? ==$", text, re.M) == ["Turn_false", "Turn_true", "Next"]
    assert text.count("\\* The Python may decide on up: one operator for each value.") == 2


@pytest.mark.slow_for("0.10.2")
@pytest.mark.parametrize("release", ["0.10.2", "2.0", "4.1"])
def test_every_action_of_a_cluster_is_one_operator(release: str) -> None:
    bounds: dict[str, int | str] = {"release": release, "replicas": 2, "records": 1}
    text = export("cluster", bounds=bounds, properties=[])["cluster.tla"]
    assert "The Python may decide on" not in text
    assert {line for line in text.splitlines() if line.startswith("Fetch")} == {"Fetch(follower, leader) =="}


def test_members_that_are_alike_are_model_values_and_symmetry_has_a_cfg_of_its_own() -> None:
    files = export("kip320", bounds=SMALL)
    assert "CONSTANTS b1, b2\nPeer == {b1, b2}\n" in files["kip320.tla"]
    assert "SYMMETRY" not in files["kip320.cfg"]
    assert "CONSTANT b1 = b1\n" in files["kip320.cfg"]
    assert files["kip320.symmetric.cfg"].endswith("SYMMETRY Symmetry\nCHECK_DEADLOCK FALSE\n")


def test_members_that_are_not_alike_are_numbers() -> None:
    files = export("async_isr", bounds={"replicas": 2})
    assert list(files) == ["async_isr.tla", "async_isr.cfg"]
    assert "b1 == 0\nb2 == 1\nReplica == 0..1\n" in files["async_isr.tla"]


def test_a_property_of_runs_comes_with_its_fairness_and_a_cfg_when_it_is_asked_for() -> None:
    files = export("kip320", bounds=SMALL, properties=["weak_isr", "back_in_isr"])
    text = files["kip320.tla"]
    assert "back_in_isr ==\n  /\\ (back_in_isr_when_b1 ~> back_in_isr_then_b1)\n" in text
    assert "\\* follower_fetch(follower=b1)\nback_in_isr_fair_5 ==\n  \\/ FollowerFetch(b1, b2)\n" in text
    assert "SPECIFICATION Spec_back_in_isr\n" in files["kip320.back_in_isr.cfg"]
    assert "PROPERTY back_in_isr\n" in files["kip320.back_in_isr.cfg"]
    assert "back_in_isr" not in files["kip320.cfg"]
    assert "~>" not in export("kip320", bounds=SMALL)["kip320.tla"]


def test_a_witness_is_a_counterexample_to_never() -> None:
    files = export("kip320", bounds=SMALL, properties=["agreed_leader"])
    assert "INVARIANT agreed_leader_never\n" in files["kip320.agreed_leader.cfg"]


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UserError, match="no format 'tlaplus'"):
        export("kip320", to="tlaplus")


@pytest.mark.slow  # it measures time
def test_cluster_is_exported_within_two_seconds() -> None:
    model = find_model("cluster")()
    model.program.initials  # noqa: B018 -- traced by now
    began = time.process_time()
    export(model)
    assert time.process_time() - began < 2
