"""The properties of a cluster: each holds of the newest release, and is broken by a defect, with a reason in words."""

from __future__ import annotations

import random
from functools import cache

import pytest

from insync.explorer import CheckResult, Limits, check
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.machine.packed import Found, Words
from insync.model.evaluator import evaluate
from insync.properties.kafka import cluster
from insync.properties.registry import invariants_of, judge, run_properties_of
from insync_cluster_promises import CLUSTER_MEANINGS, CLUSTER_RUN_MEANINGS, SeenCluster
from insync_machine import violations_by_machine
from insync_nearby import neighbours

BROKEN_BY = {
    "acks_mean_enough_copies": ("N-01", 10),
    "electable_replicas_are_complete": ("R-01", 7),
    "follower_reads_repeat": ("R-21", 7),
    "isr_and_elr_are_sound": ("R-15", 6),
    "leader_counts_electable_replicas": ("R-12", 2),
    "leader_is_eligible": ("R-31", 6),
    "leaders_know_their_followers": ("R-19", 7),
    "logs_keep_write_order": ("R-03", 11),
    "no_acknowledged_record_is_lost": ("C-2", 4),
    "no_divergence": ("R-21", 7),
    "reads_repeat": ("R-26", 8),
    "reassignments_keep_redundancy": ("R-40", 8),
    "watermark_never_goes_back": ("R-22", 6),
}
"""A defect that breaks the property, and the states of the shortest trace."""


BOUNDS: dict[str, dict[str, int | str]] = {
    "acks_mean_enough_copies": {"min_insync_replicas": 2, "preferred_elections": 2, "fencings": 1},
}
"""The bounds of a defect that have to be others for the property to fail."""


def search(name: str) -> CheckResult:
    bounds = {**DEFECTS[BROKEN_BY[name][0]].witness, **BOUNDS.get(name, {})}
    return check(Cluster(**bounds), properties=[name])


def test_every_property_is_broken_by_some_defect() -> None:
    assert set(BROKEN_BY) == set(cluster.__all__)


@pytest.mark.slow_but("reads_repeat", "watermark_never_goes_back")
@pytest.mark.parametrize("name", list(BROKEN_BY))
def test_a_defect_breaks_the_property(name: str) -> None:
    result = search(name)
    assert [violation.trace_length for violation in result.violations] == [BROKEN_BY[name][1]]


@pytest.mark.slow_but("no_acknowledged_record_is_lost-r0 was ac...", "watermark_never_goes_back-Clients have s...")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "no_acknowledged_record_is_lost",
            "r0 was acknowledged, but b2, which leads now, does not have it: its log is [|].",
        ),
        (
            "electable_replicas_are_complete",
            "b2 runs and is in the ISR, but it lacks r0, committed at offset 0: its log is [|].",
        ),
        (
            "follower_reads_repeat",
            "Consumers have read r0 at offset 0, and b1 gives them another record there: its log is [r1@0 |].",
        ),
        (
            "watermark_never_goes_back",
            "Clients have seen a high watermark of 1; b2, which leads now, tells them 0.",
        ),
        (
            "isr_and_elr_are_sound",
            (
                "ISR and ELR do not go with who is fenced: the leader is b1, the ISR {b1, b2, b3}, the ELR {}, "
                "and fenced are {b2}."
            ),
        ),
        (
            "leader_is_eligible",
            "b1 may not lead: the leader is b1, the ISR {b1}, the ELR {}, and fenced are {b1, b2}.",
        ),
        (
            "leader_counts_electable_replicas",
            (
                "b1 does not wait for all who may be elected: the leader is b1, the ISR {b1, b2, b3}, the ELR {}, "
                "and fenced are {}, and it has asked for the ISR {b1, b2}."
            ),
        ),
    ],
)
def test_the_reason_says_which_record_and_which_broker(name: str, reason: str) -> None:
    assert search(name).violations[0].trace.reason == reason


@pytest.mark.slow
@pytest.mark.parametrize("release", ["3.0", "4.1"])
def test_all_properties_hold_while_nothing_fails(release: str) -> None:
    model = Cluster(release=release, power_failures=0, fencings=0, isr_shrinks=1, records=2)
    assert check(model, properties=cluster.__all__).verdict == "holds"


def test_all_properties_hold_of_the_newest_release_with_a_lossy_crash_and_one_record() -> None:
    model = Cluster(records=1)
    result = check(model, properties=cluster.__all__)
    assert (result.verdict, result.stopped_by) == ("holds", None)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("release", "states"), [("4.1", 5_106_182), ("3.9", 5_468_143)])
def test_the_whole_space_of_a_release_is_searched(release: str, states: int) -> None:
    names = cluster.__all__ if release == "4.1" else []
    result = check(Cluster(release=release), properties=names, limits=Limits(seconds=240))
    assert (result.verdict, result.distinct_states) == ("holds", states)


@pytest.mark.slow_for("log0-ends0-True", "log4-ends4-False", "log6-ends6-False", "log8-ends8-False", "log9-ends9-True")
@pytest.mark.parametrize(
    ("log", "ends", "holds"),
    [
        (["r0", "r1", "r2"], {"leo": 3, "hw": 3}, True),
        (["r0", "r2", "r0"], {"leo": 2}, True),
        (["r0", "r0", "r1"], {"leo": 2}, False),
        (["r0", "r1", "r1"], {"leo": 3}, False),
        (["r1", "r0", "r2"], {"leo": 2}, False),
        (["r0", "r0", "r0"], {"leo": 1}, True),
        (["r0", "r1", "r2"], {"leo": 1, "hw": 2}, False),
        (["r1", "r0", "r2"], {"leo": 3, "log_start": 1}, True),
        (["r0", "r1", "r1"], {"leo": 3, "log_start": 1}, False),
        (["r0", "r2", "r2"], {"leo": 3, "log_start": 2}, True),
    ],
)
def test_a_log_keeps_write_order_if_every_record_is_there_once_at_most(
    log: list[str], ends: dict[str, int], holds: bool
) -> None:
    """What is below the start or from the end on is no record of the log."""
    model = Cluster(replicas=2, records=3, delete_records=1)
    state = model.decode(model.program.initials[0])
    state["broker"]["b2"] |= {"log": log, **ends}
    (node,) = judge(model, ["logs_keep_write_order"]).nodes
    assert bool(evaluate(node, model.encode(state))) == holds


KIP_320: dict[str, int | str] = {
    "defect": "R-23", "fixed": "on", "power_failures": 0, "fencings": 0, "isr_shrinks": 0, "min_insync_replicas": 1,
}  # fmt: skip
"""The rules of KIP-320: truncation by question and answer, fenced by epoch, in every fetch."""


@pytest.mark.slow
def test_with_the_rules_of_kip_320_nothing_is_broken_that_the_older_model_keeps() -> None:
    model = Cluster(**KIP_320, preferred_elections=2, records=2)
    assert check(model, properties=cluster.__all__).verdict == "holds"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_kip_320_keeps_its_promises_with_more_elections_and_shrinks() -> None:
    model = Cluster(**{**KIP_320, "preferred_elections": 3, "records": 2, "isr_shrinks": 1})
    assert check(model, properties=cluster.__all__, limits=Limits(seconds=240)).verdict == "holds"


@pytest.mark.slow
@pytest.mark.parametrize(
    "budget",
    ["controlled_shutdowns", "fetch_failures", "throttles", "log_dir_moves", "delete_records", "config_changes"],
)
def test_all_properties_hold_with_one_more_thing_that_happens(budget: str) -> None:
    lossy = 0 if budget == "config_changes" else 1  # with min.insync.replicas=1 a lossy crash is C-3
    release = "4.3" if budget == "log_dir_moves" else "4.1"  # up to 4.2 a log that moves empties the ELR: N-17
    bounds: dict[str, int | str] = {"release": release, "replicas": 2, "power_failures": lossy, budget: 1}
    model = Cluster(**bounds)
    assert check(model, properties=cluster.__all__).verdict == "holds"


def test_the_headline_is_about_what_clients_notice() -> None:
    assert set(Cluster.headline) <= set(invariants_of(Cluster()))


@pytest.mark.slow_but("isr1-b1-False")
@pytest.mark.parametrize(("isr", "leader", "sound"), [
    (["b1"], None, True), (["b1"], "b1", False), (["b1", "b2"], None, False), (["b2", "b3"], "b2", True),
])  # fmt: skip
def test_without_an_elr_a_fenced_broker_is_in_the_isr_only_alone_and_without_a_leader(
    isr: list[str], leader: str | None, sound: bool
) -> None:
    model = Cluster(elr="off")
    state = model.decode(model.program.initials[0])
    state["registrations"][0] |= {"isr": isr, "leader": leader}
    state["controller"]["fenced"] = ["b1"]
    (node,) = judge(model, ["isr_and_elr_are_sound"]).nodes
    assert evaluate(node, model.encode(state)) == sound


FULL = Cluster(records=2, preferred_elections=1, delete_records=1, config_changes=1, metadata_lag=1)
MOVING = Cluster(records=2, reassignments=1, spares=1, metadata_lag=1)
OLDER = Cluster(records=2, release="2.7", controlled_shutdowns=1, metadata_lag=1, elr="off")


@cache
def nearby(model: Cluster) -> tuple[list[Words], list[SeenCluster]]:
    states = neighbours(model, random.Random(1), walks=10, steps=40, each=12)
    return [model.program.schema.pack(codes) for codes in states], [
        SeenCluster(model, model.decode(codes)) for codes in states
    ]


@cache
def violations(model: Cluster) -> dict[str, Found]:
    declared = invariants_of(model)
    nodes = [declared[name].node(model) for name in CLUSTER_MEANINGS]
    return dict(zip(CLUSTER_MEANINGS, violations_by_machine(model, nodes, nearby(model)[0]), strict=True))


@pytest.mark.slow_for(
    "acks_mean_enough_copies-full",
    "acks_mean_enough_copies-older",
    "electable_replicas_are_complete-full",
    "electable_replicas_are_complete-older",
    "follower_reads_repeat-full",
    "follower_reads_repeat-older",
    "isr_and_elr_are_sound-full",
)
@pytest.mark.parametrize(
    "model",
    [
        pytest.param(FULL, id="full"),
        pytest.param(MOVING, id="moving", marks=pytest.mark.slow),
        pytest.param(OLDER, id="older"),
    ],
)
@pytest.mark.parametrize("name", cluster.__all__)
def test_it_fails_where_its_sentence_is_wrong_and_nowhere_else(name: str, model: Cluster) -> None:
    states, seen = nearby(model)
    wrong = [state for state, one in zip(states, seen, strict=True) if not CLUSTER_MEANINGS[name](one)]
    assert len(wrong) >= 3 or (name == "reassignments_keep_redundancy" and not model.b.reassignments)
    assert len(wrong) < len(states) - 3
    assert violations(model)[name] == Found(len(wrong), min(wrong, default=None))


@pytest.mark.slow
@pytest.mark.parametrize("model", [FULL, MOVING, OLDER], ids=["full", "moving", "older"])
def test_what_a_property_of_runs_waits_for_is_what_its_sentence_says(model: Cluster) -> None:
    states, seen = nearby(model)
    nodes, expected, names = [], [], []
    assert model.guards.slowness_has_a_budget, "so slow_followers_stay_out asks nothing; test_defects has L-9"
    found_runs = {name: one for name, one in run_properties_of(model).items() if name != "slow_followers_stay_out"}
    for name, found in found_runs.items():
        for one in found.instances(model):
            said = [CLUSTER_RUN_MEANINGS[name](s, *one.bindings.values()) for s in seen]
            for place, node in enumerate((one.when, one.then)):
                wrong = [words for words, right in zip(states, said, strict=True) if not right[place]]
                if node is not None:
                    nodes.append(node)
                    expected.append(Found(len(wrong), min(wrong, default=None)))
                    names.append((str(one), name, place))
    assert {name for _, name, _ in names} == set(CLUSTER_RUN_MEANINGS)
    assert all(0 < found.count < len(states) for found in expected)
    checked = violations_by_machine(model, nodes, states)
    assert dict(zip(names, checked, strict=True)) == dict(zip(names, expected, strict=True))
