"""Releases as sets of rules."""

from __future__ import annotations

from dataclasses import astuple, fields
from itertools import pairwise

import pytest

from insync.kafka.cluster.configuration import Acks, Flushing
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import (
    Fixes,
    Guards,
    IsrWrite,
    MinimumChange,
    ReassignmentEnd,
    Release,
    ReleaseRules,
    Rules,
    StaleReply,
    StrictMinimum,
    Truncation,
    release_of,
)
from insync.kafka.releases.history import CHANGES, UNREAD
from insync.model import UserError


def test_the_newest_release_has_the_rules_that_are_the_defaults() -> None:
    assert list(Release)[-1].rules == Rules().release


def test_every_rule_says_what_it_is_and_names_where_it_comes_from() -> None:
    for name in Rules.names():
        assert Rules.documentation(name).endswith(".")


def test_a_name_of_a_rule_is_in_one_part_only() -> None:
    names = [one.name for part in (ReleaseRules, Fixes, Guards) for one in fields(part)]
    assert sorted(names) == sorted(set(names)) == sorted(Rules.names())


def test_the_rules_of_releases_are_those_that_differ_between_two_of_them() -> None:
    differ = {one for release in Release for one in release.changed}
    assert {one.name for one in fields(ReleaseRules)} == differ


def test_no_release_has_a_fix_and_nothing_is_changed_of_an_unknown_release() -> None:
    assert not any(astuple(Fixes()))
    assert set(CHANGES) | set(UNREAD) <= {release.value for release in Release}


def test_a_release_differs_from_the_one_before_only_where_it_says() -> None:
    releases = list(Release)
    for before, after in pairwise(releases):
        changed = {
            f.name for f in fields(ReleaseRules) if getattr(before.rules, f.name) != getattr(after.rules, f.name)
        }
        assert changed == set(after.changed)


def test_every_minor_release_since_2_0_can_be_asked_for() -> None:
    asked = [f"2.{n}" for n in range(9)] + [f"3.{n}" for n in range(10)] + [f"4.{n}" for n in range(5)]
    assert [name for name in asked if Cluster(release=name).identity["release"] != name] == []


def test_releases_are_in_the_order_of_their_numbers() -> None:
    numbers = [[int(part) for part in release.value.split(".")] for release in Release]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize(
    ("release", "rule", "value"),
    [
        ("0.10.2", "truncation", Truncation.HIGH_WATERMARK),
        ("0.11", "truncation", Truncation.EPOCH_OFFSET),
        ("2.0", "truncation", Truncation.EPOCH_PAIR),
        ("2.0", "cache_epoch_on_election", False),
        ("2.0.1", "cache_epoch_on_election", True),
        ("2.0.1", "fence_fetch", False),
        ("2.1", "fence_fetch", True),
        ("2.1", "isr_write", IsrWrite.DIRECT),
        ("2.4", "session_keeps_epoch", False),
        ("2.5", "session_keeps_epoch", True),
        ("2.6", "truncation_drops_empty_epochs", False),
        ("2.6.1", "truncation_drops_empty_epochs", True),
        ("2.6.1", "isr_write", IsrWrite.DIRECT),
        ("2.7", "isr_write", IsrWrite.PROPOSED),
        ("2.7", "truncation", Truncation.EPOCH_PAIR),
        ("2.8", "truncation", Truncation.ON_FETCH),
        ("2.8", "drop_stale_reply", StaleReply.OTHER_LEADER_RECORDS),
        ("2.8.1", "drop_stale_reply", StaleReply.OTHER_LEADER),
        ("3.0", "fence_one_at_a_time", True),
        ("3.4", "watermark_after_truncation", False),
        ("3.4.1", "watermark_after_truncation", True),
        ("3.5", "shrink_keeps_epoch", False),
        ("3.6", "shrink_keeps_epoch", True),
        ("3.5", "empty_reply_keeps_epoch", True),
        ("3.6", "empty_reply_keeps_epoch", False),
        ("3.7", "empty_reply_keeps_epoch", True),
        ("3.7", "reassignment_ends", ReassignmentEnd.ADDED),
        ("3.8", "reassignment_ends", ReassignmentEnd.TARGETS),
        ("3.8", "clean_stop_is_noticed", True),
        ("3.9", "clean_stop_is_noticed", False),
        ("4.0", "clean_stop_is_noticed", True),
        ("4.2", "reassignment_ends", ReassignmentEnd.TARGETS),
        ("4.3", "reassignment_ends", ReassignmentEnd.ADDED_UNLESS_FEWER),
        ("4.2", "named_directory_keeps_elr", False),
        ("4.3", "named_directory_keeps_elr", True),
        ("3.9", "drop_stale_reply", StaleReply.OTHER_LEADER),
        ("3.9.1", "drop_stale_reply", StaleReply.OTHER_EPOCH),
        ("3.9", "skip_later_epochs", False),
        ("3.9.1", "skip_later_epochs", True),
        ("4.0", "skip_later_epochs", False),
        ("4.0.1", "skip_later_epochs", True),
        ("4.0", "drop_stale_reply", StaleReply.OTHER_LEADER),
        ("4.0.1", "drop_stale_reply", StaleReply.OTHER_EPOCH),
        ("3.2", "unclean_is_honoured", True),
        ("3.3", "unclean_is_honoured", False),
        ("3.8", "unclean_is_honoured", False),
        ("3.9", "unclean_is_honoured", True),
        ("3.9.1", "register_leaves_isr", False),
        ("4.0.1", "last_leader_must_live", False),
        ("3.7", "dropped_copy_is_taken_back", False),
        ("3.7.1", "start_takes_accepted_copy", True),
        ("4.1", "last_leader_when_leaderless", False),
        ("4.1.1", "last_leader_when_leaderless", True),
        ("3.0", "isr_needs_unfenced", False),
        ("3.3", "isr_needs_unfenced", True),
        ("3.3", "isr_needs_broker_epoch", False),
        ("3.5", "isr_needs_broker_epoch", True),
        ("3.5", "strict_minimum", StrictMinimum.NO),
        ("3.7", "strict_minimum", StrictMinimum.COMMITTED),
        ("3.6", "minimum_is_capped", False),
        ("3.7", "minimum_is_capped", True),
        ("3.2", "minimum_change", MinimumChange.PARTITION),
        ("3.3", "minimum_change", MinimumChange.AFTER_TOPICS),
        ("3.9", "register_leaves_isr", False),
        ("4.0", "register_leaves_isr", True),
        ("4.0", "elr_by_default", False),
        ("4.1", "elr_by_default", True),
    ],
)
def test_a_release_has_the_rules_that_its_tickets_say(release: str, rule: str, value: object) -> None:
    assert Rules(Release(release).rules).value(rule) == value


def test_eligible_leader_replicas_follow_the_release_unless_they_are_set() -> None:
    assert Cluster(release="4.1").features.elr
    assert not Cluster(release="4.0").features.elr
    assert Cluster(release="4.0", elr="on").features.elr
    assert not Cluster(release="4.1", elr="off").features.elr


def test_kraft_ignores_unclean_elections_before_3_9_and_says_so() -> None:
    ignored = "Kafka 3.8 ignores unclean.leader.election.enable in KRaft (KAFKA-12670, 3.9), so no unclean"
    assert [text.startswith(ignored) for text in Cluster(release="3.8", unclean_leader_election="on").remarks()] == [
        True
    ]
    assert not Cluster(release="3.8", unclean_leader_election="on").features.unclean_leader_election
    assert Cluster(release="3.9", unclean_leader_election="on").features.unclean_leader_election
    assert Cluster(release="2.8", unclean_leader_election="on").features.unclean_leader_election
    assert Cluster(release="3.9", unclean_leader_election="on").remarks() == Cluster(release="3.8").remarks() == []


SAME = "Kafka 3.2 has the rules of 3.1"


@pytest.mark.parametrize(
    ("chosen", "remarks"),
    [
        ({"min_insync_replicas": 3}, []),
        ({"min_insync_replicas": 4}, ["min.insync.replicas 4 is more than the 3 replicas"]),
        ({"min_insync_replicas": 4, "acks": "1"}, ["min.insync.replicas says nothing"]),
        ({"min_insync_replicas": 2, "acks": "1", "retries": 1}, []),
        ({"acks": "0"}, ["With acks=0 nothing is promised of acknowledged records"]),
        ({"acks": "0", "retries": 1}, ["With acks=0 nothing is promised", "With acks=0 a producer awaits no answer"]),
        ({"spares": 1}, []),
        ({"spares": 1, "min_insync_replicas": 3}, ["min.insync.replicas 3 is more than the 2 replicas"]),
        ({"elr": "on", "release": "4.0"}, []),
        ({"elr": "on", "release": "3.9"}, ["Kafka 3.9 has no eligible leader replicas"]),
        ({"elr": "off", "release": "3.9"}, []),
        ({"partition_zero_replicas": 1}, []),
        ({"partition_zero_replicas": 1, "elr": "off"}, ["partition_zero_replicas is looked at only"]),
        ({"late_alter_partition_responses": "on", "release": "3.3"}, []),
        ({"late_alter_partition_responses": "on", "release": "3.2"}, [SAME, "A response and metadata that both"]),
        ({"release": "3.2"}, [SAME]),
        ({"reassignments": 1, "release": "2.7"}, []),
        ({"reassignments": 1, "release": "2.5"}, ["Reassignments are modelled from 2.7 on"]),
        ({"release": "2.5"}, []),
        ({"unclean_leader_election": "on", "release": "3.2"}, [SAME]),
        ({"producer_restarts": 1, "retries": 1}, []),
        ({"lost_alter_partition_responses": 1, "release": "2.7"}, []),
        ({"lost_alter_partition_responses": 1, "release": "2.5"}, ["In Kafka 2.5 leaders write the ISR to ZooKeeper"]),
        ({"config_changes": 1, "min_insync_replicas": 1}, ["min.insync.replicas is 1, so config_changes"]),
        ({"config_changes": 1, "min_insync_replicas": 2}, []),
        ({"delete_records": 1}, []),
        ({"producer_restarts": 1}, ["producer_restarts is looked at only"]),
        ({"idempotence": "on", "retries": 1}, []),
        ({"idempotence": "off", "retries": 1, "acks": "1"}, []),
        ({"idempotence": "on"}, ["idempotence is looked at only with retries"]),
        ({"idempotence": "on", "retries": 1, "acks": "1"}, ["Kafka's producer refuses idempotence unless acks is all"]),
        ({"idempotence": "on", "retries": 1, "release": "0.10.2"}, ["Producers of Kafka 0.10.2 are not idempotent"]),
    ],
)
def test_a_remark_is_made_where_a_setting_means_less_and_nowhere_else(
    chosen: dict[str, int | str], remarks: list[str]
) -> None:
    made = Cluster(**chosen).remarks()
    assert [one[: len(expected)] for one, expected in zip(made, remarks, strict=True)] == remarks


def test_settings_are_read_by_name() -> None:
    read = Cluster(acks="1", flush="always", unclean_leader_election="on", replicas=2, min_insync_replicas=3)
    assert (read.acks, read.flushing, read.features.unclean_leader_election) == (Acks.LEADER, Flushing.ALWAYS, True)
    assert read.needed == 2, "min.insync.replicas above the number of replicas means all of them"


def test_a_defect_changes_its_rules_and_a_fixed_one_keeps_what_is_around_them() -> None:
    assert not Cluster(defect="R-04").rules.cache_epoch_on_election
    fixed = Cluster(defect="R-04", fixed="on").rules
    assert fixed.cache_epoch_on_election
    assert fixed.truncation is Truncation.EPOCH_PAIR


def test_a_fix_without_a_defect_is_refused() -> None:
    with pytest.raises(UserError, match=r"fixed=on fixes nothing, as no defect is switched on"):
        Cluster(fixed="on")


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ("3.99", "; the nearest are 3.9.1 and 4.0"),
        ("5.0", "; the nearest is 4.4"),
        ("5.0.1", "; the nearest is 4.4"),
        ("0.9", "; the nearest is 0.10.2"),
        ("v3.6", "; the nearest are 3.6 and 3.7"),
        ("3.9-rc1", "; the nearest are 3.9 and 3.9.1"),
        ("4", ""),
        ("", ""),
        ("nine", ""),
    ],
)
def test_a_release_that_does_not_exist_is_answered_with_the_range_and_those_that_are_near(
    given: str, near: str
) -> None:
    with pytest.raises(UserError) as caught:
        Cluster(release=given)
    said = str(caught.value)
    assert said.endswith(f"is unknown. The model has the releases of Kafka from 0.10.2 to 4.4{near}.")


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ("3.6.2", "3.6"),
        ("3.9.0", "3.9"),
        ("3.9.2", "3.9.1"),
        ("3.7.2", "3.7.1"),
        ("3.8.1", "3.8"),
        ("4.1.0", "4.1"),
        ("2.0.0", "2.0"),
        ("0.10.2.1", "0.10.2"),
        ("2.6.0", "2.6"),
        ("2.6.2", "2.6.1"),
    ],
)
def test_a_patch_release_in_which_no_rule_changed_is_answered_with_the_one_whose_rules_it_has(
    given: str, same: str
) -> None:
    assert Cluster(release=given).identity == Cluster(release=same).identity


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("3.9", "3.9"),
        ("3.9.0", "3.9"),
        ("3.9.1", "3.9.1"),
        ("3.9.2", "3.9.1"),
        ("4.0.2", "4.0.1"),
        ("3.7.2", "3.7.1"),
        ("3.8.1", "3.8"),
        ("4.1.0", "4.1"),
        ("4.1.2", "4.1.1"),
        ("4.4.0-SNAPSHOT", "4.4"),
        ("4.5.0-SNAPSHOT", "4.4"),
        ("9.9.9", "4.4"),
        ("3.10", "3.9.1"),
        ("0.10.2.1", "0.10.2"),
    ],
)
def test_a_version_has_the_rules_of_the_newest_release_of_its_series(version: str, release: str) -> None:
    assert release_of(version) is Release(release)


@pytest.mark.parametrize("version", ["0.9.0", "trunk", "", "4", "4.1.x"])
def test_what_is_no_version_or_too_old_has_no_rules(version: str) -> None:
    with pytest.raises(
        UserError, match=r"is no version of Kafka whose rules the model has\. The model has the releases"
    ):
        release_of(version)


@pytest.mark.parametrize(("release", "same"), [("2.6", "2.5.1"), ("3.2", "3.1.1"), ("4.2", "4.1.1"), ("4.4", "4.3")])
def test_a_release_without_rules_of_its_own_says_whose_it_has(release: str, same: str) -> None:
    model = Cluster(release=release)
    assert model.in_force == Cluster(release=same).in_force
    (remark,) = model.remarks()
    said = f"Kafka {release} has the rules of {same} as far as this model goes, so the answer is that of {same}."
    assert remark.startswith(said)
    assert remark.endswith("agreed with its classes.") == (release == "4.4"), "its source was not read"
    assert Cluster(release=same).remarks() == []


@pytest.mark.slow_for(
    "0.10.2",
    "0.11",
    "1.0",
    "1.1",
    "2.0",
    "2.0.1",
    "2.1",
    "2.2",
    "2.3",
    "2.4",
    "2.5",
    "2.7",
    "3.4.1",
    "3.6",
    "3.7",
    "3.9.1",
    "4.0",
    "4.0.1",
    "4.1",
    "4.1.1",
    "4.3",
)
@pytest.mark.parametrize("release", [release.value for release in Release if release.same_since is release])
def test_every_release_can_be_traced_in_few_words(release: str) -> None:
    program = Cluster(release=release).program
    assert program.schema.words <= 3
    assert len(program.actions) < 70
