"""Tours of the spaces of a few budgets each, beside a Kafka that is another model."""

from __future__ import annotations

import pytest

from insync.conformance.classes.subject import Subject
from insync.conformance.comparing.budget_tours import BUDGETS, EACH_ONCE, conform_budgets, within
from insync.conformance.comparing.conform import EVERYTHING, Conformance, Conforming, conform_tour
from insync.conformance.comparing.touring import Space
from insync.conformance.steps.pair import Pair
from insync.explorer.runs.state_graph import build_graph
from insync.explorer.runs.transition_tour import ActionShare
from insync.explorer.stepping.stepper import Stepper
from insync.kafka.cluster.model import Cluster
from insync.runtime.errors import UserError
from insync.runtime.watch import Limits, StopReason
from insync_fake_kafka import FakeKafka, FakePair

BOUNDS: dict[str, int | str] = {
    "release": "4.1",
    "replicas": 2,
    "records": 1,
    "min_insync_replicas": 1,
    "power_failures": 0,
    "fencings": 0,
    "isr_shrinks": 1,
    "preferred_elections": 1,
    "delete_records": 1,
}
MODEL = Cluster(**BOUNDS)


def toured(at_once: int, *not_schedulable: str, limits: Limits | None = None, **unlike: int | str) -> Conformance:
    """The tours, beside a Kafka that is the model of each with other bounds, and cannot take some actions."""

    def beside(stepper: Stepper, subject: Subject) -> Pair:
        other = Cluster(**{**stepper.model.identity, **unlike})
        return FakePair(stepper, FakeKafka.of(other, *not_schedulable))

    return conform_budgets(MODEL, FakeKafka.of(MODEL), at_once=at_once, limits=limits, new_pair=beside)


@pytest.mark.slow
def test_each_space_is_toured_by_itself_and_all_of_them_are_summed_up() -> None:
    found = toured(1)
    assert (found.verdict, found.model, found.gaps) == (Conforming.AGREES, MODEL, {})
    assert list(found.spaces) == ["isr_shrinks", "preferred_elections", "delete_records"]
    for name, space in found.spaces.items():
        small = Cluster(**{**BOUNDS, "isr_shrinks": 0, "preferred_elections": 0, "delete_records": 0, name: 1})
        alone = conform_tour(small, FakeKafka.of(small), new_pair=FakePair)
        assert space == alone.space
    assert found.space is not None
    assert found.space.taken == sum(one.taken for one in found.spaces.values())
    assert sum(found.coverage.transitions.values()) == found.space.transitions == found.space.taken
    assert sum(one.transitions for one in found.bound_actions.values()) == found.space.transitions
    assert all(one.taken == one.transitions for one in found.bound_actions.values())


@pytest.mark.slow
def test_pairs_of_budgets_have_more_than_each_alone() -> None:
    both, alone = toured(2), toured(1)
    assert list(both.spaces) == [
        "isr_shrinks + preferred_elections",
        "isr_shrinks + delete_records",
        "preferred_elections + delete_records",
    ]
    for names, space in both.spaces.items():
        assert space.states > max(alone.spaces[name].states for name in names.split(" + "))


@pytest.mark.slow
def test_a_bound_action_that_cannot_be_taken_is_named() -> None:
    found = toured(1, "elect")
    never = {label: one for label, one in found.bound_actions.items() if not one.taken}
    assert "controller elects b2" in never
    assert found.gaps["elect", "the fake Kafka takes no elect"] > 0
    assert sum(found.gaps.values()) == sum(one.transitions - one.taken for one in found.bound_actions.values())


def test_a_difference_ends_it_and_is_shown_with_its_own_budgets() -> None:
    found = toured(1, min_insync_replicas=2)
    assert found.verdict is Conforming.DIVERGES
    assert found.difference is not None
    assert found.model.identity == found.difference.trace.bounds
    assert found.model.b.preferred_elections + found.model.b.isr_shrinks + found.model.b.delete_records == 1


@pytest.mark.slow
def test_a_limit_of_time_ends_all_and_one_of_states_each() -> None:
    late = toured(1, limits=Limits(seconds=0.0))
    assert (late.verdict, late.stopped_by, len(late.spaces)) == (Conforming.INCOMPLETE, StopReason.TIME, 1)
    small = toured(1, limits=Limits(states=12))
    assert (small.verdict, small.stopped_by, len(small.spaces)) == (Conforming.INCOMPLETE, StopReason.STATES, 3)


def test_more_budgets_than_there_are_is_a_mistake() -> None:
    with pytest.raises(UserError, match="--at-once 4 is too many: 3 budgets are above 0"):
        toured(4)


def test_the_budgets_are_those_of_the_walks_with_everything() -> None:
    numbers = {name for name, most in EVERYTHING.items() if isinstance(most, int)}
    assert set(BUDGETS) - numbers == {"snapshots"}, "which go with no budget of directories but in spaces of their own"
    assert numbers - set(BUDGETS) == {"replicas", "records"}
    assert all(EACH_ONCE[name] == 1 for name in BUDGETS)


@pytest.mark.parametrize(
    ("name", "actions"),
    [
        ("replica_order_changes", {"reorder"}),
        ("log_dir_moves", {"start_move", "copy_record", "cancel_move", "swap_log"}),
        ("log_dir_failures", {"fail_directory", "report_directory", "lose_directory", "name_directory"}),
        ("lost_fetch_responses", {"evict_session", "lose_fetch_response"}),
        ("retries", {"send_again", "acknowledge_again"}),
        ("producer_restarts", {"restart_producer", "send_again"}),
        ("lost_alter_partition_responses", {"lose_alter_partition_response", "repeat_alter_partition"}),
        ("fetch_failures", {"pause_fetching", "resume_fetching"}),
    ],
)
def test_a_budget_has_in_its_space_what_it_needs(name: str, actions: set[str]) -> None:
    small = within(Cluster(**{"release": "4.1", **EACH_ONCE}), [name])
    graph = build_graph(small)
    assert actions <= {graph.actions[number].name for number in set(graph.action.tolist())}
    assert small.b.retries + small.b.log_dir_moves <= 1, "and nothing else"


def test_what_is_given_stays_if_that_is_enough() -> None:
    model = Cluster(**{"release": "4.1", **EACH_ONCE, "records": 3, "crashes": 2, "fetch_sessions": "on"})
    alone, both = within(model, ["log_dir_failures"]), within(model, ["retries", "crashes"])
    assert (alone.b.records, alone.b.crashes, alone.b.preferred_elections, alone.features.sessions) == (3, 1, 0, True)
    assert (both.b.records, both.b.crashes, both.b.preferred_elections, both.b.retries) == (3, 2, 1, 1)
    assert within(Cluster(**{"release": "4.1", **EACH_ONCE}), ["retries"]).b.records == 2


def test_sums() -> None:
    assert ActionShare(3, 1) + ActionShare(2, 2) == ActionShare(5, 3)
    assert Space(1, 2, 3, 4, 5, whole=True) + Space(1, 1, 1, 1, 1, whole=False) == Space(2, 3, 4, 5, 6, whole=False)
