"""What Kafka does otherwise about replicas of which the controller knows no directory: each no wider than its name."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from insync.conformance.classes.observation import ControllerSeen, DirectorySeen, Observation
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.steps.unassigned_gaps import (
    named_late,
    require_late_name_applied,
    require_named_before,
    require_nobody_named_by_it,
    require_same_list,
)
from insync.kafka.cluster.broker_state import unassigned_in
from insync.model import ReadableState

LEADS = ControllerSeen(1, 3, 7, (1, 2), (1, 2, 3), (), (), (3,), (), (3,), 20, ())


def refused(named: bool, why: str) -> AbstractContextManager[Any]:
    return pytest.raises(NotSchedulable, match=why) if named else nullcontext()


def listing(replicas: tuple[str, ...], unassigned: tuple[str, ...], removing: tuple[str, ...] = ()) -> ReadableState:
    known = {"controller": {"removing": list(removing)}, "registrations": [{"replicas": list(replicas)}]}
    return {**unknown(*unassigned), **cast(ReadableState, known)}


def unknown(*replicas: str) -> ReadableState:
    return cast(ReadableState, {"broker": {name: {"directory": "UNASSIGNED"} for name in replicas}})


B13, B123 = ("b1", "b3"), ("b1", "b2", "b3")


@pytest.mark.parametrize(
    ("action", "before", "after", "order", "refuses"),
    [
        ("cancel_reassignment", listing(B123, ("b3",)), listing(B13, ("b3",)), ((1, 2, 3), (1, 3)), False),
        ("reassign", listing(B123, ("b3",)), listing(B123, ("b3",)), ((1, 2, 3), (1, 2, 3)), False),
        ("reassign", listing(B123, ("b3",)), listing(B123, ("b3",), ("b1",)), ((1, 2, 3), (2, 3, 1)), False),
        ("reassign", listing(B123, ("b3",)), listing(B123, ("b3",), ("b1",)), ((2, 3, 1), (2, 3, 1)), True),
        ("reassign", listing(B123, ("b3",)), listing(B123, ("b3",)), ((2, 3, 1), (1, 2, 3)), True),
        ("reassign", listing(B123, ()), listing(B123, ()), ((2, 3, 1), (1, 2, 3)), False),
        ("reassign", listing(B123, ("b2", "b3")), listing(B123, ("b2", "b3")), ((1, 3, 2), (1, 2, 3)), True),
        ("elect", listing(B13, ("b3",)), listing(B13, ("b3",)), ((1, 3), (1, 3)), False),
        ("elect", listing(B13, ("b3",)), listing(B13, ("b3",)), ((3, 1), (3, 1)), True),
    ],
    ids=[
        "one less",
        "as before",
        "both",
        "the model's",
        "Kafka's",
        "all are known",
        "an unknown one moves",
        "b3 first",
        "is first",
    ],
)
def test_only_another_order_keeps_a_list_of_directories_from_being_the_model_s(
    action: str, before: ReadableState, after: ReadableState, order: tuple[tuple[int, ...], ...], refuses: bool
) -> None:
    unassigned = tuple(int(name[1:]) for name in unassigned_in(before))
    seen = [
        replace(LEADS, order=one, replicas=tuple(sorted(one)), unassigned=tuple(n for n in unassigned if n in one))
        for one in order
    ]
    with refused(refuses, "lists their directories anew"):
        require_same_list(action, {"replica": "b3"}, before, after, seen)


def telling(to_assign: dict[int, str | None], applied: int = 13) -> Observation:
    """Kafka, whose controller knows no directory of b2 and b3, with what these are to tell, and have applied."""
    brokers = {
        number: SimpleNamespace(
            directory=DirectorySeen(False, None, None, what, assigned=False, tells=False), applied=applied
        )
        for number, what in to_assign.items()
    }
    return cast(Observation, SimpleNamespace(controller=replace(LEADS, unassigned=(2, 3)), brokers=brokers))


@pytest.mark.parametrize(
    ("to_assign", "mine", "refuses"),
    [
        ({2: "log", 3: None}, [], True),
        ({2: "log", 3: None}, ["b3"], False),
        ({2: "log", 3: None}, ["b2"], False),
        ({2: "log", 3: "log"}, [], False),
        ({2: None, 3: None}, [], False),
    ],
    ids=["one tells late", "the other does not", "it does not", "both tell", "nobody tells"],
)
def test_only_one_that_has_still_to_tell_keeps_another_from_naming_its_directory(
    to_assign: dict[int, str | None], mine: list[str], refuses: bool
) -> None:
    with refused(refuses, "b2 names its directory later than in the model"):
        require_nobody_named_by_it(unknown(*mine), telling(to_assign))


@pytest.mark.parametrize(
    ("to_assign", "mine", "end", "refuses"),
    [
        (None, [], 15, True),
        (None, [], 13, False),
        (None, [], -1, False),
        (None, ["b3"], 15, False),
        ("log", [], 15, False),
    ],
    ids=["not applied", "applied", "nobody was late", "not in the model", "has to tell itself"],
)
def test_only_a_late_name_that_is_not_applied_keeps_another_from_naming_its_directory(
    to_assign: str | None, mine: list[str], end: int, refuses: bool
) -> None:
    seen = telling({2: "log", 3: to_assign}, applied=13)
    assert named_late(unknown(*mine), seen) == ({2, 3} if to_assign else {2})
    with refused(refuses, "and b3 names its own only when it learns of that"):
        require_late_name_applied(unknown(*mine), seen, end)


@pytest.mark.parametrize(
    ("replica", "to_assign", "mine", "refuses"),
    [
        ("b2", "log", ["b3"], True),
        ("b2", "log", ["b2", "b3"], False),
        ("b2", None, [], False),
        ("b1", "log", [], False),
    ],
    ids=["to tell", "not in the model", "nothing to tell", "is known"],
)
def test_only_one_that_has_still_to_tell_what_the_model_s_has_told_does_not_go_down(
    replica: str, to_assign: str | None, mine: list[str], refuses: bool
) -> None:
    with refused(refuses, f"{replica} has not named its directory yet"):
        require_named_before(replica, unknown(*mine), telling({1: to_assign, 2: to_assign, 3: None}))
