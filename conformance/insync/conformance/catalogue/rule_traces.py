"""Traces that show a rule at work in which releases differ, where no entry of the catalogue does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from insync.conformance.catalogue.entry_traces import Bounds, EntryTrace, NamedSteps, steps_again
from insync.kafka.releases import StaleReply

__all__ = ["RULE_TRACES", "RuleTrace", "rule_trace"]


@dataclass(frozen=True, slots=True)
class RuleTrace:
    """Steps that end otherwise where a rule has another value.

    Attributes:
        rule: the rule.
        value: its value in the model of the steps.
        shows: what is to be seen, as a sentence.
        bounds: what the model is made with; its release has that value.
        steps: the steps.
        default_elr: whether eligible leader replicas are as new clusters of a version have them, whatever the model
            says.
    """

    rule: str
    value: object
    shows: str
    bounds: Bounds
    steps: NamedSteps
    default_elr: bool = False


_B1_TO_B2 = {"follower": "b2", "leader": "b1"}
_MOVING: Bounds = {
    "release": "3.7.1",
    "replicas": 2,
    "records": 1,
    "log_dir_moves": 1,
    "log_dir_failures": 1,
    "fencings": 0,
    "power_failures": 0,
    "isr_shrinks": 0,
    "min_insync_replicas": 1,
}

RULE_TRACES: Mapping[str, RuleTrace] = {
    one.rule: one
    for one in (
        RuleTrace(
            rule="drop_stale_reply",
            value=StaleReply.OTHER_LEADER,
            shows="a response to a fetch of an earlier epoch, from a leader that leads again, brings its record",
            bounds={
                "release": "3.9",
                "records": 2,
                "preferred_elections": 2,
                "late_fetch_responses": "on",
                "power_failures": 0,
                "fencings": 0,
                "isr_shrinks": 0,
                "min_insync_replicas": 1,
            },
            steps=(
                ("write", {"leader": "b1"}),
                ("fetch", _B1_TO_B2),
                ("receive", {"follower": "b2"}),  # a follower without an epoch in its cache drops what is late anyway
                ("write", {"leader": "b1"}),
                ("fetch", _B1_TO_B2),
                ("elect", {"replica": "b3"}),
                ("elect", {"replica": "b1"}),
                ("apply_metadata", {"replica": "b2", "place": "0"}),
                ("receive", {"follower": "b2"}),
            ),
        ),
        RuleTrace(
            rule="dropped_copy_is_taken_back",
            value=True,
            shows="a broker that drops a copy that the controller has accepted names the directory of its log",
            bounds=_MOVING,
            steps=(
                ("start_move", {"replica": "b2"}),
                ("accept_copy", {"replica": "b2"}),
                ("cancel_move", {"replica": "b2"}),
                ("name_directory", {"replica": "b2"}),
            ),
        ),
        RuleTrace(
            rule="start_takes_accepted_copy",
            value=True,
            shows="a broker that dies with an accepted copy that lacks a record starts without it",
            bounds={**_MOVING, "crashes": 1},
            steps=(
                ("start_move", {"replica": "b2"}),
                ("accept_copy", {"replica": "b2"}),
                ("write", {"leader": "b1"}),
                ("fetch", _B1_TO_B2),
                ("crash", {"replica": "b2", "spared": "1"}),
                ("register", {"replica": "b2"}),
            ),
        ),
        RuleTrace(
            rule="unclean_leaves_elr",
            value=True,
            shows="a member of the ELR that is killed and registers again is not in the ELR any more",
            bounds={
                "release": "3.8",
                "elr": "on",
                "replicas": 2,
                "records": 1,
                "fencings": 1,
                "crashes": 1,
                "power_failures": 0,
                "isr_shrinks": 0,
            },
            steps=(
                ("fence", {"replica": "b2"}),
                ("crash", {"replica": "b2", "spared": "0"}),
                ("register", {"replica": "b2"}),
            ),
        ),
        RuleTrace(
            rule="clean_stop_is_noticed",
            value=True,
            shows="a member of the ELR that is stopped in order and registers again is still in the ELR",
            bounds={
                "release": "3.8",
                "elr": "on",
                "replicas": 2,
                "records": 1,
                "controlled_shutdowns": 1,
                "fencings": 0,
                "power_failures": 0,
                "isr_shrinks": 0,
            },
            steps=(
                ("begin_stop", {"replica": "b2"}),
                ("stop", {"replica": "b2"}),
                ("register", {"replica": "b2"}),
            ),
        ),
        RuleTrace(
            rule="unclean_is_honoured",
            value=True,
            shows="a replica outside the ISR is elected when no member lives, if the topic allows that",
            bounds={
                "release": "3.9",
                "replicas": 2,
                "records": 1,
                "fencings": 1,
                "crashes": 1,
                "power_failures": 0,
                "isr_shrinks": 0,
                "min_insync_replicas": 1,
                "unclean_leader_election": "on",
                "elr": "off",
            },
            steps=(
                ("fence", {"replica": "b2"}),
                ("crash", {"replica": "b1", "spared": "0"}),
                ("fence", {"replica": "b1"}),
                ("unfence", {"replica": "b2"}),
            ),
        ),
        RuleTrace(
            rule="elr_by_default",
            value=True,
            shows="in a new cluster, who is fenced while the ISR is too small stays eligible",
            bounds={"release": "4.1", "fencings": 2, "power_failures": 0, "isr_shrinks": 0, "records": 1},
            steps=(("fence", {"replica": "b2"}), ("fence", {"replica": "b3"})),
            default_elr=True,
        ),
        RuleTrace(
            rule="last_leader_when_leaderless",
            value=True,
            shows="the leader is fenced, who is left in the ISR may not lead, and who led last is known",
            bounds={
                "release": "4.1.1",
                "replicas": 2,
                "records": 1,
                "fencings": 2,
                "log_dir_failures": 1,
                "power_failures": 0,
                "isr_shrinks": 0,
                "min_insync_replicas": 1,
            },
            steps=(
                ("fence", {"replica": "b2"}),
                ("apply_metadata", {"replica": "b1", "place": "0"}),
                ("unfence", {"replica": "b2"}),
                ("fetch", _B1_TO_B2),
                ("expand_isr", _B1_TO_B2),
                ("fail_directory", {"replica": "b2"}),
                ("report_directory", {"replica": "b2"}),
                ("accept_alter_partition", {}),
                ("apply_metadata", {"replica": "b1", "place": "0"}),
                ("fence", {"replica": "b1"}),
                ("unfence", {"replica": "b1"}),  # nobody leads, as b2 is in its way, which is what N-14 does
            ),
        ),
    )
}
"""By rule."""


@cache
def rule_trace(rule: str) -> EntryTrace:
    """Return the steps of a rule as a trace of their model."""
    shown = RULE_TRACES[rule]
    return steps_again(shown.bounds, shown.steps, "")
