"""What must happen in the end: a rolling restart finishes, and a dead leader is replaced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from insync.explorer.liveness import liveness
from insync.explorer.results import Verdict
from insync.explorer.traces.trace import Trace
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.question import CALM, Question
from insync.properties.kafka import cluster_runs

__all__ = ["ENDINGS", "Ended", "Ending", "endings"]


@dataclass(frozen=True, slots=True)
class Ending:
    """Something that must happen in every run.

    Attributes:
        words: what always happens, as a clause.
        meaning: what that means, as a clause; empty if the words say it.
        never: what happens in the other case, as a sentence.
        property: the property of runs that says so.
        budget: what happens before it: as many as there are replicas, or one.
        each: whether it happens to each broker in turn.
    """

    words: str
    meaning: str
    never: str
    property: str
    budget: str
    each: bool

    def sentence(self) -> str:
        """Return what always happens, with what that means."""
        return f"{self.words}: {self.meaning}." if self.meaning else f"{self.words}."


ENDINGS = (
    Ending(
        "A rolling restart always finishes",
        "no partition stays under-replicated, as each broker that was stopped is in the ISR again, or nobody leads",
        "A rolling restart may never finish: a partition stays under-replicated, as a broker that runs again stays out "
        "of the ISR for ever.",
        cluster_runs.running_is_back_in_isr.__name__,
        "controlled_shutdowns",
        each=True,
    ),
    Ending(
        "A dead leader is always replaced while another member of the ISR runs",
        "",
        "A dead leader may stay for ever, although another member of the ISR runs.",
        cluster_runs.a_dead_leader_is_replaced.__name__,
        "crashes",
        each=False,
    ),
)
"""The questions of liveness."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What was found of an ending.

    Attributes:
        ending: the ending.
        model: the cluster.
        verdict: whether it comes in every fair run.
        trace: a run in which it never comes: a stem and a loop.
    """

    ending: Ending
    model: Cluster
    verdict: Verdict
    trace: Trace | None


def endings(question: Question) -> Iterator[Ended]:
    """Yield for each of `ENDINGS` whether it comes in every fair run of the cluster."""
    replicas = question.model.b.replicas
    for ending in ENDINGS:
        budgets = {ending.budget: min(replicas, 3) if ending.each else 1, "metadata_lag": 1}
        model = Cluster(**{**CALM, **question.settings, **budgets})
        if question.began is not None:
            question.began(ending.words)
        limits = None if question.limits is None else replace(question.limits, seconds=question.watch().left)
        runs = liveness(
            model, properties=[ending.property], limits=limits, reporter=question.reporter, stop=question.stop
        )
        (decided,) = runs.properties
        yield Ended(ending, model, decided.verdict, decided.trace)
