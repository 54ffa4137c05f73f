"""What may happen to a cluster, with names: each is searched alone, as a pair with another, or beside all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from insync.explorer.results import Verdict
from insync.kafka.cluster.configuration import BOUNDS, ISR_ASKED_SINCE, Acks
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.question import (
    CALM,
    FEWEST_RECORDS,
    LOSS,
    Given,
    Question,
    Searched,
    is_promised,
    replication_factor,
)
from insync.runtime.errors import UserError, closest

__all__ = ["DISTURBANCES", "Disturbance", "Row", "bounds_of", "chosen", "narrowed", "searched"]

Budgets = Callable[[int], Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Disturbance:
    """An event of a cluster's life.

    Attributes:
        name: as operators give it to `--against`.
        label: what happens, as a noun.
        words: what happens, as a clause.
        likelihood: how often clusters see it, in words.
        budgets: the budgets of the model that allow it, by the number of replicas.
        concerns: whether it can happen in a cluster.
        fails: whether something fails in it; else an operator or the cluster does it on purpose.
        far: up to how many replicas it is searched further than others, as far as that decides it.
        brokers: of how many brokers it is, where the search of all would take too long; None is all.
        alone: the label and the words for a partition with one replica; empty if they are the same.
    """

    name: str
    label: str
    words: str
    likelihood: str
    budgets: Budgets
    concerns: Callable[[Cluster], bool] = lambda model: True
    fails: bool = True
    far: int = 0
    brokers: Callable[[int], int | None] = lambda replicas: None
    alone: tuple[str, str] | None = None

    def among(self, replicas: int) -> str:
        """Return how many of the brokers it is of, as a suffix; empty if it is of all."""
        brokers = self.brokers(replicas)
        return "" if brokers is None else f" ({brokers} of {replicas} brokers)"


def _in_turn(replicas: int) -> int | None:
    """Return how many brokers of a large cluster restart: two after each other, in every order; None for all."""
    return None if replicas <= _MOST_IN_TURN else 2


_MOST_IN_TURN = 3
_MOST_FAR = 4
"""With more replicas a loss of power has too many orders of events for an answer in seconds."""


def _several(model: Cluster) -> bool:
    return replication_factor(model) > 1


def _reassigns(model: Cluster) -> bool:
    return (
        not model.b.settings.release.is_before(ISR_ASKED_SINCE)
        and replication_factor(model) < BOUNDS["replicas"].highest
    )


DISTURBANCES: Mapping[str, Disturbance] = {
    one.name: one
    for one in (
        Disturbance("broker", "broker killed", "a broker is killed", "common", lambda n: {"crashes": 1}),
        Disturbance(
            "two-brokers",
            "two brokers killed",
            "two brokers are killed",
            "uncommon",
            lambda n: {"crashes": 2},
            _several,
        ),
        Disturbance(
            "rack",
            "rack power loss",
            "a rack loses power (all brokers but one)",
            "uncommon",
            lambda n: {"power_failures": max(1, n - 1)},
            far=_MOST_FAR,
            alone=("power loss of the broker", "the broker loses power"),
        ),
        Disturbance(
            "rolling",
            "rolling restart that does not wait for the ISR",
            "brokers restart one after another, the next before the ISR is full",
            "at upgrades without a wait",
            lambda n: {"controlled_shutdowns": _in_turn(n) or n},
            fails=False,
            far=5,
            brokers=_in_turn,
        ),
        Disturbance(
            "controller",
            "broker cut off from the controller",
            "a broker is cut off from the controller",
            "common",
            lambda n: {"fencings": 1},
        ),
        Disturbance("slow", "slow follower", "a follower is slow", "common", lambda n: {"isr_shrinks": 1}, _several),
        Disturbance(
            "reassignment",
            "reassignment",
            "a partition is reassigned",
            "at every change of brokers",
            lambda n: {"replicas": n + 1, "spares": 1, "reassignments": 1},
            _reassigns,
            fails=False,
        ),
        Disturbance(
            "min-insync",
            "min.insync.replicas changed",
            "min.insync.replicas is lowered and set back",
            "by hand",
            lambda n: {"config_changes": 2},
            lambda model: bool(model.b.min_insync_replicas > 1 and model.acks is Acks.ALL),
            fails=False,
        ),
        Disturbance(
            "election",
            "preferred election",
            "the preferred leader is elected",
            "every few minutes at most",
            lambda n: {"preferred_elections": 1},
            _several,
            fails=False,
        ),
        Disturbance(
            "everyday",
            "slow follower + expired session + power loss of one broker",
            "a follower is slow, a session expires and a broker loses power",
            "sooner or later",
            lambda n: {"power_failures": 1, "fencings": 1, "isr_shrinks": 1 if n > 1 else 0},
            far=_MOST_FAR,
            alone=("expired session + power loss of the broker", "a session expires and the broker loses power"),
        ),
        Disturbance(
            "cluster",
            "power loss of the whole cluster",
            "the whole cluster loses power",
            "rare",
            lambda n: {"power_failures": n},
        ),
    )
}
"""The disturbances by name, in the order of tables: what is simple comes first, and is the cause that is named."""


def chosen(names: Sequence[str], *, pairs: bool = False) -> list[tuple[Disturbance, ...]]:
    """Return what is searched: each disturbance alone, pairs such as `rack+slow`, or with `pairs` all of two.

    Args:
        names: names of disturbances, or pairs with `+` between; none is all alone.
        pairs: whether all pairs of them are searched as well.

    Raises:
        UserError: an unknown name.
    """
    wanted = [_named(name) for name in names] or [(one,) for one in DISTURBANCES.values()]
    if pairs:
        single = [one for group in wanted for one in group if one.name != "everyday"]
        wanted += [pair for pair in combinations(dict.fromkeys(single), 2) if pair not in wanted]
    return wanted


def _named(name: str) -> tuple[Disturbance, ...]:
    parts = name.split("+")
    for part in parts:
        if part not in DISTURBANCES:
            message = f"No disturbance is named {part!r}. {closest(part, DISTURBANCES)}"
            raise UserError(message)
    return tuple(DISTURBANCES[part] for part in parts)


@dataclass(frozen=True, slots=True)
class Row:
    """A disturbance, or several at a time, and what was found.

    Attributes:
        disturbances: what happens.
        searched: the search; None if this cannot happen in the cluster.
        narrowed: what was narrower in that search than in the cluster, so that it says only what is broken.
    """

    disturbances: tuple[Disturbance, ...]
    searched: Searched | None
    narrowed: Given = field(default_factory=dict)

    @property
    def name(self) -> str:
        """As operators give it to `--against`."""
        return "+".join(one.name for one in self.disturbances)

    @property
    def label(self) -> str:
        """What happens, as a noun."""
        return " + ".join(f"{self._said(one)[0]}{self._among(one)}" for one in self.disturbances)

    @property
    def words(self) -> str:
        """What happens, as a clause."""
        return " and ".join(f"{self._said(one)[1]}{self._among(one)}" for one in self.disturbances)

    def _said(self, one: Disturbance) -> tuple[str, str]:
        single = self.searched is not None and replication_factor(self.searched.model) == 1
        return one.alone if single and one.alone is not None else (one.label, one.words)

    def _among(self, one: Disturbance) -> str:
        return "" if self.searched is None else one.among(replication_factor(self.searched.model))

    @property
    def stops_every_broker(self) -> bool:
        """Whether the whole cluster loses power in it."""
        return any(one.name == "cluster" for one in self.disturbances)

    @property
    def steps(self) -> int:
        """The number of steps within which every order of events was searched."""
        return 0 if self.searched is None else max(0, self.searched.result.depth - 1)

    @property
    def decided(self) -> bool:
        """Whether a record is lost, or every promise was decided."""
        if self.searched is None or LOSS in self.searched.broken:
            return True
        return self.searched.complete and not self.narrowed

    @property
    def stopped_by(self) -> str:
        """What ended its search; empty if nothing did."""
        return "" if self.searched is None else str(self.searched.result.stopped_by or "")

    def outcome(self, promise: str) -> str:
        """Return what becomes of a promise: safe, lost or broken in n steps, not searched, not promised."""
        if self.searched is None:
            return "cannot happen"
        model, result = self.searched.model, self.searched.result
        if not is_promised(promise, model):
            return "not promised"
        if promise in self.searched.broken:
            steps = self.searched.broken[promise].trace_length - 1
            word = "lost" if promise == LOSS else "broken"
            return f"{word} in {steps} step{'' if steps == 1 else 's'}"
        if self.narrowed or model.b.records < FEWEST_RECORDS.get(promise, 1):
            return "not searched"
        verdicts = {each.name: each.verdict for each in result.properties}
        return "safe" if verdicts.get(promise) is Verdict.HOLDS else "not searched"


def bounds_of(disturbances: Sequence[Disturbance], settings: Given) -> dict[str, int | str]:
    """Return the bounds of a search in which these happen and nothing else does."""
    model = Cluster(**settings)
    found: dict[str, int | str] = {**CALM, **settings}
    for one in disturbances:
        for name, value in one.budgets(replication_factor(model)).items():
            sized = name in ("replicas", "spares")
            found[name] = value if sized else min(int(found.get(name, 0)) + value, BOUNDS[name].highest)
    return found


def searched(question: Question, disturbances: Sequence[Disturbance], *, far: bool = False) -> Row:
    """Search for what happens to the promises with these disturbances.

    Args:
        question: the question.
        disturbances: what happens.
        far: whether those that most losses come from are searched further than others.
    """
    row = Row(tuple(disturbances), None)
    if not all(one.concerns(question.model) for one in disturbances):
        return row
    far = far and len(disturbances) == 1 and replication_factor(question.model) <= disturbances[0].far
    return replace(row, searched=question.search(bounds_of(disturbances, question.settings), row.words, far=far))


def narrowed(question: Question, row: Row) -> Row:
    """Search a row that has too many states again, for a lost record where all brokers apply changes as they are made.

    Only records that were not flushed are looked for in this way. The row is returned as it is if none is lost.
    """
    found = row.searched
    if found is None or LOSS in found.broken or row.stopped_by != "states":
        return row
    if not found.model.b.power_failures or replication_factor(found.model) > _MOST_FAR:
        return row
    narrow: Given = {"metadata_lag": 0}
    again = question.search({**bounds_of(row.disturbances, question.settings), **narrow}, row.words)
    return replace(row, searched=again, narrowed=narrow) if LOSS in again.broken else row
