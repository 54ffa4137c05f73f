"""What the verbs do where nobody says otherwise; an argument that is None or has no default is not listed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields

import pytest

from insync import explorer, spark_explore
from insync.explorer import Limits
from insync.explorer.disturbances import Disturbance
from insync.explorer.traces.grid import render_grid
from insync.machine.walker import Strategy
from insync.proofs.watch import ProofLimits
from insync.spark_explore import SparkOptions

VERBS: list[tuple[Callable[..., object], dict[str, object]]] = [
    (explorer.check, {"keep_going": False, "symmetry": True}),
    (explorer.simulate, {"walks": 10_000, "depth": 100, "seed": 0, "strategy": Strategy.MIXED}),
    (explorer.liveness, {}),
    (explorer.diff, {}),
    (explorer.graph, {}),
    (explorer.mutate, {"runs": False}),
    (explorer.prove, {"lemmas": (), "infer": False}),
    (explorer.bounded_check, {"lemmas": (), "infer": False}),
    (explorer.agree, {}),
    (explorer.replay, {}),
    (explorer.why, {}),
    (spark_explore.check, {"keep_going": False, "symmetry": True}),
    (spark_explore.simulate, {"walks": 10_000, "depth": 100, "seed": 0, "strategy": Strategy.MIXED}),
    (spark_explore.export, {}),
]

OBJECTS: list[tuple[type, dict[str, object]]] = [
    (Limits, {}),
    (ProofLimits, {}),
    (SparkOptions, {"resume": False, "warm_states": 500_000, "tables_on_disk": False}),
    (Disturbance, {"needs_elr": False, "fewest_replicas": False}),
]


@pytest.mark.parametrize(("verb", "expected"), VERBS, ids=lambda one: getattr(one, "__module__", ""))
def test_a_verb_has_these_defaults(verb: Callable[..., object], expected: dict[str, object]) -> None:
    given = inspect.signature(verb).parameters.values()
    assert {one.name: one.default for one in given if one.default not in (one.empty, None)} == expected


@pytest.mark.parametrize(("kind", "expected"), OBJECTS, ids=lambda one: getattr(one, "__name__", ""))
def test_what_is_given_to_them_has_these_defaults(kind: type, expected: dict[str, object]) -> None:
    given = inspect.signature(kind).parameters
    assert set(given) == {field.name for field in fields(kind)}
    assert {name: one.default for name, one in given.items() if one.default not in (one.empty, None)} == expected


def test_a_grid_is_as_wide_as_a_line_of_code() -> None:
    given = inspect.signature(render_grid).parameters
    assert given["width"].default == 120
    assert given["header"].default is True
