"""What is in force in a cluster, and what decides it."""

from __future__ import annotations

import inspect

from insync.kafka.cluster.features import Features
from insync.kafka.cluster.model import Cluster
from insync.kafka.live_rules import deciding, feature_names, live_rules
from insync.kafka.releases import Rules

FAILING: dict[str, int | str] = {"log_dir_failures": 1, "log_dir_moves": 1}


def decided(model: Cluster, name: str) -> tuple[bool, list[str]]:
    on, read = deciding(Features, model.b, model.in_force)[name]
    return on, list(read)


def test_every_feature_is_a_sentence() -> None:
    assert len(feature_names(Features)) >= 50
    assert [
        name
        for name in feature_names(Features)
        if not (inspect.getdoc(getattr(Features, name).func) or "").endswith(".")
    ] == []


def test_a_feature_is_decided_by_what_was_read_and_one_that_is_off_by_what_was_read_last() -> None:
    assert decided(Cluster(), "directories_are_assigned") == (False, ["log_dir_failures"])
    old = Cluster(**FAILING, release="2.8")
    wanted = ["log_dir_failures", "directories_fail_alone", "log_dir_moves", "controller_knows_directories"]
    assert decided(old, "directories_are_assigned") == (False, wanted)
    assert decided(Cluster(**FAILING), "directories_are_assigned") == (True, wanted)


def test_what_decides_is_what_the_model_has() -> None:
    model = Cluster(**FAILING, release="3.9", reassignments=1, late_fetch_responses="on", controller_failovers=1)
    found = deciding(Features, model.b, model.in_force)
    assert {name: on for name, (on, _) in found.items()} == {name: getattr(model.features, name) for name in found}


def test_what_is_live_says_what_an_entry_has_changed_and_which_steps_can_be_taken() -> None:
    live = live_rules(Cluster(release="3.9", defect="M-4", replicas=2, records=1))
    assert live.chosen == {"release": "3.9", "defect": "M-4", "replicas": 2, "records": 1}
    changed = {rule.name: rule.value for rule in live.rules if rule.changed}
    assert changed == {"join_needs_fetch": "off", "forget_isr_when_re_elected": "on"}, (
        "the entry, and what is around it"
    )
    assert {rule.name for rule in live.rules if not rule.changed} < set(dir(Rules().release))
    steps = {step.name: step for step in live.steps}
    assert steps["fetch"].kafka == "Partition.fetchRecords, AbstractFetcherThread.processFetchRequest."
    assert steps["fetch"].bindings == 2
    assert steps["ask_epoch_end"].bindings == steps["consume"].bindings == 0
    assert (steps["fetch"].waits_for, steps["consume"].waits_for) == ("", "consumes")


def test_a_field_or_a_step_may_depend_on_a_rule_alone() -> None:
    release, guards = Features(Cluster(release="3.9").b).rules, Features(Cluster(defect="M-4").b).guards
    assert not release.elr_by_default
    assert not guards.join_needs_fetch
    assert not Features(Cluster().b).fixes.named_is_answered
