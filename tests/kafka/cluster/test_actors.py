"""The actors of the cluster are parts of one class: what one of them uses of another must be there."""

from __future__ import annotations

import ast
import inspect
import sys

import pytest

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.model import Cluster

ACTORS = [kind for kind in Cluster.__mro__ if Actor in kind.__bases__]


@pytest.mark.parametrize("actor", ACTORS, ids=lambda kind: kind.__name__)
def test_what_an_actor_uses_of_the_others_is_there(actor: type) -> None:
    tree = ast.parse(inspect.getsource(sys.modules[actor.__module__]))
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    }
    cluster = Cluster()
    assert used
    assert [name for name in sorted(used) if not hasattr(cluster, name)] == []


def test_no_actor_builds_on_another_and_no_two_have_a_rule_of_one_name() -> None:
    assert len(ACTORS) >= 10
    assert all(kind.__bases__ == (Actor,) for kind in ACTORS)
    names = [name for kind in ACTORS for name, member in vars(kind).items() if inspect.isfunction(member)]
    assert len(names) == len(set(names))
