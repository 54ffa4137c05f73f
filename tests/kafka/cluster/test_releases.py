"""Releases as sets of rules."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise

import pytest

from insync.kafka.cluster.configuration import Acks, Flushing
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.kafka.rules import IsrWrite, Rules, StrictMinimum, Truncation, rule_documentation
from insync.model import UserError


def test_the_newest_release_has_the_rules_that_are_the_defaults() -> None:
    assert list(Release)[-1].rules == Rules()


def test_every_rule_says_what_it_is_and_names_where_it_comes_from() -> None:
    for field in fields(Rules):
        assert rule_documentation(field.name).endswith(".")


def test_a_release_differs_from_the_one_before_only_where_it_says() -> None:
    releases = list(Release)
    for before, after in pairwise(releases):
        changed = {f.name for f in fields(Rules) if getattr(before.rules, f.name) != getattr(after.rules, f.name)}
        assert changed == set(after.changed)


@pytest.mark.parametrize(
    ("release", "rule", "value"),
    [
        ("0.10.2", "truncation", Truncation.HIGH_WATERMARK),
        ("0.11", "truncation", Truncation.EPOCH_OFFSET),
        ("2.0", "truncation", Truncation.EPOCH_PAIR),
        ("2.0", "fence_fetch", False),
        ("2.1", "fence_fetch", True),
        ("2.1", "isr_write", IsrWrite.DIRECT),
        ("2.7", "isr_write", IsrWrite.PROPOSED),
        ("3.0", "isr_needs_unfenced", False),
        ("3.3", "isr_needs_unfenced", True),
        ("3.3", "isr_needs_broker_epoch", False),
        ("3.5", "isr_needs_broker_epoch", True),
        ("3.5", "strict_minimum", StrictMinimum.NO),
        ("3.7", "strict_minimum", StrictMinimum.COMMITTED),
        ("3.9", "register_leaves_isr", False),
        ("4.0", "register_leaves_isr", True),
        ("4.0", "elr_by_default", False),
        ("4.1", "elr_by_default", True),
    ],
)
def test_a_release_has_the_rules_that_its_tickets_say(release: str, rule: str, value: object) -> None:
    assert getattr(Release(release).rules, rule) == value


def test_eligible_leader_replicas_follow_the_release_unless_they_are_set() -> None:
    assert Cluster(release="4.1").elr
    assert not Cluster(release="4.0").elr
    assert Cluster(release="4.0", elr="on").elr
    assert not Cluster(release="4.1", elr="off").elr


def test_settings_are_read_by_name() -> None:
    read = Cluster(acks="1", flushing="always", unclean="on", replicas=2, min_insync=3)
    assert (read.acks, read.flushing, read.unclean) == (Acks.LEADER, Flushing.ALWAYS, True)
    assert read.needed == 2, "min.insync.replicas above the number of replicas means all of them"


def test_a_defect_changes_its_rules_and_a_fixed_one_keeps_what_is_around_them() -> None:
    assert not Cluster(defect="R-04").rules.cache_epoch_on_election
    fixed = Cluster(defect="R-04", fixed="on").rules
    assert fixed.cache_epoch_on_election
    assert fixed.truncation is Truncation.EPOCH_PAIR


def test_a_fix_without_a_defect_is_refused() -> None:
    with pytest.raises(UserError, match=r"fixed=on fixes nothing, as no defect is switched on"):
        Cluster(fixed="on")


def test_an_unknown_release_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match=r"3\.9"):
        Cluster(release="3.99")


@pytest.mark.parametrize("release", [release.value for release in Release])
def test_every_release_can_be_traced_in_few_words(release: str) -> None:
    program = Cluster(release=release).program
    assert program.schema.words <= 3
    assert len(program.actions) < 70
