"""The parts of the cluster: each is by itself, no two have a rule of one name, and every step is in the order."""

from __future__ import annotations

import inspect
from collections import Counter

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.part import Part
from insync.model.language.declarations import action_specs
from insync.model.language.parts import HeldPart

HELD = [held.kinds for held in vars(Cluster).values() if isinstance(held, HeldPart)]
PARTS = [kind for kinds in HELD for kind in kinds]


def test_every_class_of_parts_is_a_part_of_the_cluster() -> None:
    assert len(PARTS) >= 25
    assert set(PARTS) == set(Part.__subclasses__())
    assert all(kind.__bases__ == (Part,) for kind in PARTS)


def test_a_name_of_a_rule_or_step_is_in_one_part_only() -> None:
    """Classes of which a cluster has one, as it has one controller or a quorum, answer the same questions."""
    rules = [{name for kind in kinds for name, one in vars(kind).items() if inspect.isfunction(one)} for kinds in HELD]
    named = Counter(name for names in rules for name in names)
    assert [name for name, times in named.items() if times > 1] == []


def test_every_step_has_its_place_in_the_order() -> None:
    assert list(action_specs(Cluster)) == list(Cluster.action_order)
