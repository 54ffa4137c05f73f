"""A model of the quorum beside Kafka's own Raft client, over many steps, until they differ: walks, and tours."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import replace
from functools import partial

from insync.conformance.comparing.handed_out import HandedOut
from insync.conformance.comparing.under_way import Comparison, Conformance, Telling, traced
from insync.conformance.quorum.quorum_harness import QuorumSubject
from insync.conformance.quorum.quorum_pair import QuorumPair
from insync.explorer.progress import WalkReporter
from insync.explorer.stepping.machine_stepper import MachineStepper
from insync.model import Model
from insync.runtime.watch import Limits, Watch

__all__ = ["conform_quorum", "tour_quorum"]


def conform_quorum(
    model: Model,
    subject: QuorumSubject,
    *,
    walks: int,
    seed: int = 0,
    depth: int = 60,
    limits: Limits | None = None,
    reporter: WalkReporter | None = None,
    stop: threading.Event | None = None,
) -> Conformance:
    """Take random walks on the model and on Kafka's quorum, up to the first difference, which is then shortened.

    Args:
        model: the model.
        subject: who takes the commands.
        walks: how many.
        seed: of the random numbers; walk number n of a seed is the same whatever the number of walks.
        depth: most steps of a walk.
        limits: a limit on the seconds.
        reporter: is told about once a second how far it is.
        stop: ends it when it is set, with the result so far.
    """
    watch = Watch(limits or Limits(), stop)
    with closing(MachineStepper(traced(model, reporter, watch), watch)) as stepper:
        beside = Comparison(stepper, subject.version, watch, partial(QuorumPair, stepper, subject), reporter=reporter)
        tell, handed_out = Telling(reporter, watch, [beside.coverage]), HandedOut(walks)
        taking = beside.walks(depth)
        handed_out.work(lambda number: taking.random(seed, number, tell.stopped))
        ended = beside.ended(handed_out.found, handed_out.stopped_by, walks=handed_out.walks)
        return replace(ended, seed=seed).with_gaps(beside.coverage.gaps)


def tour_quorum(
    model: Model,
    subject: QuorumSubject,
    *,
    limits: Limits | None = None,
    reporter: WalkReporter | None = None,
    stop: threading.Event | None = None,
) -> Conformance:
    """Take every step of a small space on Kafka's quorum, in as few walks as can be, up to the first difference.

    Args:
        model: the model.
        subject: who takes the commands.
        limits: a limit on the seconds, and one on the states of the space.
        reporter: is told about once a second how far it is.
        stop: ends it when it is set, with the result so far.

    Raises:
        UserError: the extra `graph` is not installed.
    """
    watch = Watch(limits or Limits(), stop)
    with closing(MachineStepper(traced(model, reporter, watch), watch)) as stepper:
        beside = Comparison(stepper, subject.version, watch, partial(QuorumPair, stepper, subject), reporter=reporter)
        return beside.tour(Telling(reporter, watch, [beside.coverage]), limits, stop)
