"""`conform`: the model `cluster` beside Kafka's classes, over many steps, until they differ."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial

from insync.conformance.classes.subject import Subject
from insync.conformance.comparing.handed_out import HandedOut
from insync.conformance.comparing.under_way import Comparison, Conformance, Conforming, Telling, traced
from insync.conformance.comparing.walking_process import AskedWalks, WalkingProcess
from insync.conformance.comparing.walks import Divergence
from insync.conformance.steps.forbidden import forbidden_of
from insync.conformance.steps.pair import Pair
from insync.explorer.progress import WalkReporter
from insync.explorer.stepping.machine_stepper import MachineStepper
from insync.explorer.stepping.stepper import Stepper
from insync.kafka.cluster.model import Cluster
from insync.runtime.watch import Limits, StopReason, Watch
from insync.runtime.workers import Team

__all__ = ["EVERYTHING", "TOUR", "WALKS", "Conformance", "Conforming", "conform_tour", "conform_walks"]

WALKS: Mapping[str, int | str] = {
    "replicas": 3,
    "records": 3,
    "power_failures": 1,
    "crashes": 1,
    "controlled_shutdowns": 1,
    "fencings": 1,
    "isr_shrinks": 1,
    "preferred_elections": 1,
    "reassignments": 1,
    "delete_records": 1,
    "config_changes": 1,
    "unclean_leader_election": "on",
    "late_fetch_responses": "on",
    "late_alter_partition_responses": "on",
    "flush": "sometimes",
}
"""The bounds of the random walks: most of what the harness can bring about, once."""

EVERYTHING: Mapping[str, int | str] = {
    **WALKS,
    "isr_shrinks": 2,
    "reassignments": 2,
    "replica_order_changes": 1,
    "delete_records": 2,
    "stale_checkpoints": "on",
    "fetch_sessions": "on",
    "lost_fetch_responses": 1,
    "consumer": "follower",
    "retries": 1,
    "producer_restarts": 1,
    "lost_alter_partition_responses": 1,
    "fetch_failures": 1,
    "log_dir_moves": 1,
    "log_dir_failures": 2,
}
"""The bounds of random walks with all that the harness can bring about, at once.

Two of what the second does more than the first: it drops several from the ISR, takes a reassignment back, or deletes
while an operator waits for an answer.
"""

TOUR: Mapping[str, int | str] = {
    "replicas": 2,
    "records": 1,
    "min_insync_replicas": 1,
    "power_failures": 1,
    "fencings": 1,
    "isr_shrinks": 1,
}
"""The bounds of the tour: what goes wrong in most traces, once."""


def conform_walks(
    model: Cluster,
    *subjects: Subject,
    walks: int,
    beside: Sequence[WalkingProcess] = (),
    seed: int = 0,
    depth: int = 60,
    forbidden: bool = False,
    limits: Limits | None = None,
    reporter: WalkReporter | None = None,
    stop: threading.Event | None = None,
    new_pair: Callable[[Stepper, Subject], Pair] = Pair,
) -> Conformance:
    """Take random walks on the model and on Kafka, up to the first difference, which is then shortened.

    Args:
        model: the model.
        subjects: who take the commands; several of one release take walks at once, which changes nothing but the time.
        walks: how many.
        beside: processes that take walks as well, with a Kafka of the same release each.
        seed: of the random numbers; walk number n of a seed is the same whatever the number of walks.
        depth: most steps of a walk.
        forbidden: whether Kafka is also asked for what the model forbids, which it must refuse.
        limits: a limit on the seconds.
        reporter: is told about once a second how far it is.
        stop: ends the work when it is set; the result is that of the steps taken by then.
        new_pair: makes what walks: the model and Kafka, side by side.
    """
    watch = Watch(limits or Limits(), stop)
    traced(model, reporter, watch)
    asked = forbidden_of(model) if forbidden else []
    with ExitStack() as opened, Team(len(subjects) + len(beside)) as team:
        steppers = [opened.enter_context(closing(MachineStepper(model, watch))) for _ in subjects]
        each = [
            Comparison(stepper, subject.version, watch, partial(new_pair, stepper, subject), asked, reporter)
            for stepper, subject in zip(steppers, subjects, strict=True)
        ]
        for process in beside:
            process.begin(AskedWalks(model.identity, seed, depth, forbidden))
        tell, handed_out = Telling(reporter, watch, [*(one.coverage for one in each), *beside]), HandedOut(walks)

        def work(place: int) -> None:
            def take(number: int) -> Divergence | None:
                def stopped() -> StopReason | None:
                    return handed_out.needless(number) or tell.stopped(place)

                if place >= len(each):
                    return beside[place - len(each)].take(number, stopped)
                return taking[place].random(seed, number, stopped)

            handed_out.work(take)

        taking = [one.walks(depth) for one in each]
        team.run(work)
        first, *others = each
        for compared in (*(other.coverage for other in others), *(process.coverage() for process in beside)):
            if compared is not None:
                first.coverage.add(compared)
        ended = first.ended(handed_out.found, handed_out.stopped_by, walks=handed_out.walks)
        return replace(ended, seed=seed).with_gaps(first.coverage.gaps)


def conform_tour(
    model: Cluster,
    subject: Subject,
    *,
    limits: Limits | None = None,
    reporter: WalkReporter | None = None,
    stop: threading.Event | None = None,
    new_pair: Callable[[Stepper, Subject], Pair] = Pair,
) -> Conformance:
    """Take every step of a small space on Kafka, in as few walks as can be, up to the first difference.

    Args:
        model: the model.
        subject: who takes the commands.
        limits: a limit on the seconds, and one on the states of the space.
        reporter: is told about once a second how far it is.
        stop: ends the work when it is set; the result is that of the steps taken by then.
        new_pair: makes what walks: the model and Kafka, side by side.

    Raises:
        UserError: the extra `graph` is not installed.
    """
    watch = Watch(limits or Limits(), stop)
    with closing(MachineStepper(traced(model, reporter, watch), watch)) as stepper:
        beside = Comparison(stepper, subject.version, watch, partial(new_pair, stepper, subject), reporter=reporter)
        return beside.tour(Telling(reporter, watch, [beside.coverage]), limits, stop)
