"""What servers of the quorum do, step by step, and how many states they reach."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import pytest

from insync.conformance.quorum.beside_kafka import AS_KAFKA
from insync.explorer import check, liveness
from insync.kafka.defects import QUORUM_DEFECTS
from insync.kafka.published.quorum.voter import Voter
from insync.kafka.quorum.kraft import Kraft
from insync.kafka_questions.defects import search_defect
from insync.model import StateView
from insync.model.catalogue import find_model
from insync.properties.registry import invariants_of
from insync.properties.temporal import Fairness
from insync_walk import Walk

quorum = cache(Kraft)
"""The quorum under these bounds and settings, which is traced once."""

ELECTED = (
    "n1 stands for election",
    "n2 answers the vote request of n1@2",
    "n1 gets the vote of n2",
    "n1 leads",
    "n2 hears that n1 leads epoch 2",
)
FIRST_FETCH = ("n2 fetches from n1", "n1 answers n2's fetch of epoch 2 from 0")


def server(walk: Walk, name: str) -> dict[str, Any]:
    return cast(dict[str, dict[str, Any]], walk.state["server"])[name]


def test_a_value_is_acknowledged_when_the_leader_hears_that_a_majority_has_it() -> None:
    walk = Walk(
        quorum(servers=2, restarts=1), *ELECTED, "client sends v1 to n1", *FIRST_FETCH, "n2 receives v1@2, HW 0"
    )
    assert walk.state["written"] == {"v1": "ASKED"}
    walk.take("n2 fetches from n1", "n1 answers n2's fetch of epoch 2 from 1")
    assert walk.state["written"] == {"v1": "ACKNOWLEDGED"}
    assert server(walk, "n2")["high_watermark"] == 0
    walk.take("n2 receives nothing new, HW 1")
    assert server(walk, "n2")["high_watermark"] == 1


@pytest.mark.slow
def test_a_server_votes_once_in_an_epoch() -> None:
    walk = Walk(quorum(servers=3, elections=2), "n1 stands for election", "n2 stands for election")
    walk.take("n3 answers the vote request of n1@2", "n3 answers the vote request of n2@2")
    assert server(walk, "n3")["voted_for"] == "n1"
    assert walk.state["votes"] == {"n1": ["n3"], "n2": [], "n3": []}


@pytest.mark.slow
def test_a_message_that_its_receiver_would_discard_is_not_there() -> None:
    walk = Walk(
        quorum(servers=3, elections=2), *ELECTED, "n3 stands for election", "n2 answers the vote request of n3@2"
    )
    assert cast(dict[str, list[str]], walk.state["votes"])["n3"] == []
    assert {label for label in walk.enabled if label.startswith("n3 gets")} == set()


@pytest.mark.parametrize("answers", ["all", pytest.param("awaited", marks=pytest.mark.slow)])
def test_an_answer_is_heard_as_often_as_it_was_given(answers: str) -> None:
    walk = Walk(quorum(servers=2, elections=3, answers=answers))
    walk.take("n1 stands for election", "n2 stands for election", "n2 stands for election")
    heard = "n1 hears from n2 of epoch 3"
    assert heard not in walk.enabled
    assert heard in walk.take("n2 answers the vote request of n1@2").enabled
    assert heard not in walk.take(heard).enabled


def test_a_leader_that_restarts_has_resigned() -> None:
    walk = Walk(quorum(servers=2, restarts=1), *ELECTED, "n1 restarts with 0 records")
    assert server(walk, "n1")["state"] == "RESIGNED"
    assert server(walk, "n1")["leader"] == "n1"


def test_what_is_not_flushed_may_be_lost() -> None:
    steps = (*ELECTED, "client sends v1 to n1")
    flushed, lossy = (
        Walk(model, *steps) for model in (quorum(servers=2, restarts=1), quorum(servers=2, restarts=1, flush="never"))
    )
    assert {label for label in flushed.enabled if "n1 restarts" in label} == {"n1 restarts with 1 records"}
    assert {"n1 restarts with 0 records", "n1 restarts with 1 records"} <= lossy.enabled


@pytest.mark.slow
def test_a_leader_writes_a_record_first_where_that_is_asked_for() -> None:
    walk = Walk(quorum(servers=2, leader_change="on"), *ELECTED, *FIRST_FETCH)
    walk.take("n2 receives the record of the leader of epoch 2, HW 0")
    assert server(walk, "n2")["log"][0] == {"epoch": 2, "value": None}


def test_a_trace_shows_who_is_what_and_what_is_committed() -> None:
    walk = Walk(quorum(servers=2, restarts=1), *ELECTED, "client sends v1 to n1", *FIRST_FETCH)
    assert (walk.cells["n1"], walk.cells["n2"], walk.cells["clients"]) == ("L2 [| v1@2]", "F2 [|]", "v1 asked")
    walk.take("n2 receives v1@2, HW 0", "n2 fetches from n1", "n1 answers n2's fetch of epoch 2 from 1")
    assert (walk.cells["n1"], walk.cells["clients"]) == ("L2 [v1@2 |]", "v1 acknowledged")


N2_HEARS_OF_N1_TWICE = (
    "n1 stands for election",
    "n2 stands for election",
    "n3 answers the vote request of n1@2",
    "n1 gets the vote of n3",
    "n1 leads",
    "n3 hears that n1 leads epoch 2",
    "n3 answers the vote request of n2@2",
    "n2 hears from n3 that n1 leads its epoch",
    "n2 fetches from n1",
    "n2 hears that n1 leads epoch 2",
)
N2_LEADS_AFTER_N1 = (
    *ELECTED,
    "client sends v1 to n1",
    *FIRST_FETCH,
    "n2 receives v1@2, HW 0",
    "n2 fetches from n1",
    "n1 answers n2's fetch of epoch 2 from 1",
    "n2 receives nothing new, HW 1",
    "n2 stands for election",
    "n3 answers the vote request of n2@3",
    "n2 gets the vote of n3",
    "n2 leads",
)


@pytest.mark.parametrize(("hearing", "pending"), [("published", None), ("kafka", {"epoch": 2, "to": "n1"})])
def test_who_hears_of_its_leader_again_waits_on_for_its_fetch_as_kafkas_does(hearing: str, pending: object) -> None:
    walk = Walk(quorum(servers=3, elections=2, hearing=hearing), *N2_HEARS_OF_N1_TWICE)
    assert server(walk, "n2")["pending"] == pending


@pytest.mark.parametrize(("hearing", "known"), [("published", 1), ("kafka", 0)])
def test_a_new_leader_knows_no_high_watermark_as_kafkas_does_not(hearing: str, known: int) -> None:
    walk = Walk(quorum(servers=3, elections=2, hearing=hearing), *N2_LEADS_AFTER_N1)
    assert server(walk, "n2")["high_watermark"] == known


def test_the_high_watermark_of_kafkas_follower_does_not_fall() -> None:
    walk = Walk(quorum(servers=3, elections=2, hearing="kafka"), *N2_LEADS_AFTER_N1, "n1 hears that n2 leads epoch 3")
    walk.take("n1 fetches from n2", "n2 answers n1's fetch of epoch 3 from 1", "n1 receives nothing new, HW 0")
    assert server(walk, "n1")["high_watermark"] == 1


@pytest.mark.slow
def test_what_holds_with_the_rules_of_kafka() -> None:
    found = check(Kraft(servers=2, elections=2, **AS_KAFKA))
    assert (found.verdict, found.distinct_states) == ("holds", 715)


OLD_RECORD_ON_A_MAJORITY = (
    *ELECTED,
    "client sends v1 to n1",
    *FIRST_FETCH,
    "n2 receives v1@2, HW 0",
    "n2 stands for election",
    "n3 answers the vote request of n2@3",
    "n2 gets the vote of n3",
    "n2 leads",
    "n3 hears that n2 leads epoch 3",
    "n3 fetches from n2",
    "n2 answers n3's fetch of epoch 3 from 0",
    "n3 receives v1@2, HW 0",
    "n3 fetches from n2",
    "n2 answers n3's fetch of epoch 3 from 1",
)


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "log"), [("own_epoch", "L3 [| v1@2]"), ("any_epoch", "L3 [v1@2 |]")])
def test_a_leader_commits_a_record_of_an_earlier_epoch_only_without_the_rule(rule: str, log: str) -> None:
    walk = Walk(quorum(servers=3, elections=2, commit_rule=rule), *OLD_RECORD_ON_A_MAJORITY)
    assert walk.cells["n2"] == log


COUNTS = [
    (2, 1, 1, 37, 46, 15),
    (2, 1, 2, 345, 606, 23),
    (3, 1, 1, 3_319, 7_914, 24),
    (3, 2, 1, 25_600, 65_196, 31),
    (3, 1, 2, 1_762_129, 6_995_907, 45),
]
"""Servers, values and elections; states, steps and levels that an independent program found with the same network."""


@pytest.mark.parametrize("row", [pytest.param(row, marks=[] if row[3] < 100 else [pytest.mark.slow]) for row in COUNTS])
def test_as_many_states_as_an_independent_program_found(row: tuple[int, ...]) -> None:
    servers, records, elections, *counts = row
    found = check(Kraft(servers=servers, records=records, elections=elections))
    assert found.verdict == "holds"
    assert [found.distinct_states, found.transitions, found.depth] == counts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chosen", "counts"),
    [
        ({"servers": 2, "elections": 2}, [285, 472, 23]),
        ({}, [3_319, 7_914, 24]),
        ({"elections": 2}, [753_355, 2_823_963, 43]),
    ],
)
def test_fewer_states_where_answers_must_be_awaited(chosen: dict[str, int | str], counts: list[int]) -> None:
    found = check(Kraft(answers="awaited", **chosen))
    assert found.verdict == "holds"
    assert [found.distinct_states, found.transitions, found.depth] == counts


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("chosen", "counts"),
    [
        ({"records": 2, "elections": 2}, [25_713_157, 4_285_691, 105_467_502, 52]),
        ({"elections": 2, "restarts": 1, "timeouts": "kafka"}, [16_927_352, 2_821_422, 79_014_660, 49]),
        ({"servers": 5, "records": 0}, [73_846, 931, 342_370, 23]),
        ({"servers": 5}, [12_992_811, 118_836, 59_932_350, 47]),
        (
            {"elections": 2, "restarts": 2, "timeouts": "kafka", "answers": "awaited"},
            [33_957_894, 5_660_022, 177_104_163, 50],
        ),
        ({"restarts": 2, "timeouts": "kafka"}, [136_923, 22_890, 490_650, 32]),
        ({"servers": 2, "elections": 2, "restarts": 2, "timeouts": "kafka"}, [7_129, 3_569, 19_588, 30]),
    ],
)
def test_the_large_spaces(chosen: dict[str, int | str], counts: list[int]) -> None:
    found = check(Kraft(**chosen))
    assert found.verdict == "holds"
    assert [found.distinct_states, found.representatives, found.transitions, found.depth] == counts


@pytest.mark.slow
@pytest.mark.parametrize("name", list(QUORUM_DEFECTS))
def test_an_entry_of_the_catalogue_is_found_and_its_fix_holds(name: str) -> None:
    entry = QUORUM_DEFECTS[name]
    broken, fixed = search_defect(entry), search_defect(entry, entry.fixed_witness)
    assert [trace.length for trace in broken.traces] == [entry.length]
    assert (broken.verdict, fixed.verdict) == ("violated", "holds")


def test_an_entry_names_settings_and_a_property_that_exist() -> None:
    for entry in QUORUM_DEFECTS.values():
        kind = find_model(entry.model)
        assert kind(**entry.witness).identity != kind(**entry.fixed_witness).identity
        assert entry.breaks in invariants_of(kind(servers=2))


DEFECTS: list[tuple[str, int, dict[str, int | str]]] = [
    ("never_two_leaders_in_an_epoch", 10, {"elections": 2, "restarts": 1, "restart_as": "empty_disk"}),
    ("no_illegal_state", 10, {"elections": 2, "restarts": 1, "restart_as": "unattached"}),
    (
        "never_two_leaders_in_an_epoch",
        11,
        {"elections": 2, "restarts": 1, "restart_as": "unattached", "answers": "awaited"},
    ),
    (
        "leader_has_all_acknowledged_values",
        13,
        {"records": 2, "restarts": 1, "restart_as": "leader", "flush": "never"},
    ),
    ("leader_has_all_acknowledged_values", 17, {"elections": 2, "restarts": 1, "flush": "never"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("broken", "length", "chosen"), DEFECTS)
def test_what_breaks_without_a_rule(broken: str, length: int, chosen: dict[str, int | str]) -> None:
    violations = check(Kraft(**chosen)).violations
    assert (broken, length) in [(one.property, one.trace_length) for one in violations]


@pytest.mark.slow
def test_steps_and_runs_of_two_servers() -> None:
    model = Kraft(servers=2, elections=2)
    assert check(model, properties=["epochs_grow", "committed_entries_reach_a_majority"]).verdict == "holds"
    assert check(model, properties=["leaders_high_watermark_grows"], symmetry=False).verdict == "holds"
    assert liveness(model).verdict == "holds"


class Forgetful(Kraft):
    """Whose leaders never commit."""

    def commit(self, s: StateView, i: Voter) -> None: ...


def test_what_a_leader_has_written_is_acknowledged_in_the_end() -> None:
    asked = ["written_values_are_acknowledged"]
    assert liveness(Kraft(servers=2), properties=asked).verdict == "holds"
    stuck = liveness(Forgetful(servers=2), properties=asked)
    assert stuck.verdict == "violated"


ASKS_AGAIN: dict[str, int | str] = {"elections": 2, "records": 0, "timeouts": "kafka", "answers": "awaited"}
"""A candidate that has lost its votes in a restart asks for them again, as Kafka's does."""


@pytest.mark.parametrize(("restarts", "states"), [(1, 362), (2, 879)])
def test_a_leader_is_elected_again_after_restarts(restarts: int, states: int) -> None:
    found = liveness(Kraft(servers=2, restarts=restarts, **ASKS_AGAIN), properties=["a_leader_is_elected_again"])
    assert (found.verdict, found.distinct_states) == ("holds", states)


def test_nobody_is_elected_where_a_candidate_does_not_ask_again_or_something_is_put_off_for_ever() -> None:
    asked, once = ["a_leader_is_elected_again"], {**ASKS_AGAIN, "servers": 2, "restarts": 1}
    assert liveness(Kraft(**{**once, "answers": "all"}), properties=asked).verdict == "violated"
    fair = ("handle_vote_request(i, candidate, epoch)", "handle_vote(i, voter)", "become_leader(i)")
    assert liveness(Kraft(**once), properties=asked, fairness=Fairness(weak=fair)).verdict == "holds"
    for neglected in fair:
        others = Fairness(weak=tuple(each for each in fair if each != neglected))
        assert liveness(Kraft(**once), properties=asked, fairness=others).verdict == "violated", neglected


@pytest.mark.slow
@pytest.mark.parametrize(("restarts", "states"), [(0, 25_672), (1, 174_242)])
def test_of_three_servers_one_leads_again_though_another_candidate_is_left_behind(restarts: int, states: int) -> None:
    found = liveness(Kraft(servers=3, restarts=restarts, **ASKS_AGAIN), properties=["a_leader_is_elected_again"])
    assert (found.verdict, found.distinct_states) == ("holds", states)


@pytest.mark.slow
def test_of_three_servers_one_leads_in_the_end_and_what_it_has_written_is_acknowledged() -> None:
    found = liveness(Kraft(servers=3), properties=["a_leader_is_elected_again", "written_values_are_acknowledged"])
    assert (found.verdict, found.distinct_states) == ("holds", 3_319)
