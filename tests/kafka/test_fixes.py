"""A defect that is fixed alone: in a release that has it, and nothing else of that release changes."""

from __future__ import annotations

import pytest

from insync.kafka.cluster.configuration import DefectName
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, Defect
from insync.kafka.releases import (
    ReassignmentEnd,
    Release,
    Rules,
    StaleReply,
    Truncation,
    fixing_rules,
    has_defect,
)
from insync.runtime.errors import UserError

HAD = [(defect, release) for defect in DEFECTS.values() for release in Release if has_defect(defect, release)]


@pytest.mark.parametrize(
    ("name", "release", "has"),
    [("R-26", "3.9", True), ("R-26", "4.0", False), ("N-01", "4.4", True), ("C-2", "4.1", None)],
)
def test_a_release_has_a_defect_if_it_has_its_rules(name: str, release: str, has: bool | None) -> None:
    assert has_defect(DEFECTS[name], Release(release)) is has


def test_the_fix_alone_changes_the_rules_of_the_defect_and_no_other() -> None:
    assert len(HAD) > 500
    for defect, release in HAD:
        fixed = Cluster(release=release, defect=DefectName(defect.name), fixed="alone").in_force
        changed = {name for name in Rules.names() if fixed.value(name) != Rules(release.rules).value(name)}
        assert changed == set(defect.rules), (defect.name, release)


@pytest.mark.parametrize("defect", [defect for defect in DEFECTS.values() if defect.rules], ids=lambda one: one.name)
def test_every_defect_differs_from_its_fix_in_each_of_its_rules(defect: Defect) -> None:
    broken, fixed = (Cluster(defect=DefectName(defect.name), fixed=fixed).in_force for fixed in ("off", "on"))
    assert all(broken.value(name) != fixed.value(name) for name in defect.rules)


@pytest.mark.parametrize(
    ("name", "release", "rules"),
    [
        ("R-01", "0.10.2", {"truncation": Truncation.EPOCH_OFFSET}),
        ("R-20", "2.8", {"drop_stale_reply": StaleReply.OTHER_LEADER}),
        ("R-46", "4.4", {"reassignment_ends": ReassignmentEnd.TARGETS}),
        ("N-04", "4.1", {"clean_stop_names_directories": True}),
    ],
)
def test_a_fix_is_that_of_the_next_release_without_the_defect_or_of_the_entry(
    name: str, release: str, rules: dict[str, object]
) -> None:
    assert fixing_rules(DEFECTS[name], Release(release)) == rules


@pytest.mark.parametrize(
    ("name", "release", "said"),
    [
        ("R-48", "4.3", "Kafka 4.3 has not got R-48, so it cannot be fixed there: it is in 0.10.2 to 2.0.1. Name a "),
        ("R-24", "4.1", "there: it is in 3.6. Name a defect of `insync defects` that 4.1 has, or a release that has"),
        ("M-11", "4.1", "there: no release of the model has it. Name a defect of `insync defects` that 4.1 has.$"),
        (
            "C-6",
            "4.1",
            "C-6 is no rule of Kafka 4.1 that could be fixed, but a setting: give unclean_leader_election=off.$",
        ),
    ],
)
def test_what_a_release_has_not_got_cannot_be_fixed_there(name: str, release: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        Cluster(release=release, defect=name, fixed="alone")
