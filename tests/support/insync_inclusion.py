"""Whether all that one model shows another shows as well: inclusion of traces, of what can be observed of a state.

A step that changes nothing observable counts as none. What the larger model has in its place may have been decided
otherwise before: of each state of the one, all states of the other are kept that look alike so far (a subset
construction), so no step of the one need be matched by a certain step of the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from insync.kafka.cluster.broker_state import FailedLogDir
from insync.kafka.cluster.model import Cluster
from insync.model.evaluator import Codes, Evaluator
from insync_evaluator import successors

__all__ = ["Inclusion", "as_brokers_and_clients_see", "inclusion"]

Seen = Callable[[Codes], Codes]
Pair = tuple[int, frozenset[int]]
_OFFLINE = list(FailedLogDir).index(FailedLogDir.LOG)
Before = dict[Pair, tuple[Pair, int] | None]


@dataclass(frozen=True, slots=True)
class Inclusion:
    """What came of a comparison.

    Attributes:
        states: of the smaller model, and of the larger one.
        pairs: the states of the one, each with the states of the other that look alike so far.
        only: the labels of a shortest trace that the larger model does not show; none if there is none.
    """

    states: tuple[int, int]
    pairs: int
    only: tuple[str, ...]


def as_brokers_and_clients_see(model: Cluster) -> Seen:
    """Return what reads of a state what brokers and clients know; of what is on its way, nothing.

    A broker that runs knows its view of the partition: leader, epoch and replicas, and ISR and min.insync.replicas if
    it leads by that.
    """
    cells = [cell.path for cell in model.program.schema.cells]
    number = {path: place for place, path in enumerate(cells)}
    elsewhere = (
        "controller.",
        "quorum.",
        "registrations[",
        "spent.",
        "alter_partition",
        "acked_under",
        "reassigned_under",
    )
    kept = [n for n, path in enumerate(cells) if not path.startswith(elsewhere) and not path.endswith("].image_lag")]

    def of_change(place: int, *, leads: bool) -> list[int]:
        own = re.compile(r"isr|minimum_is_one" if leads else r"leader|epoch|replicas")
        return [
            n for n, path in enumerate(cells) if re.fullmatch(rf"registrations\[{place}\]\.({own.pattern}).*", path)
        ]

    places = range(model.b.metadata_lag + 1)
    shared, led = [[of_change(p, leads=leads) for p in places] for leads in (False, True)]
    leader = [number[f"registrations[{place}].leader"] for place in places]
    names = [(b + 1, f"broker[b{b + 1}]") for b in range(model.b.replicas)]
    failed = {b: number[f"{n}.failed_log_dir"] for b, n in names if model.features.directories_fail}
    brokers = [(b, number[f"{n}.running"], number[f"{n}.image_lag"], failed.get(b)) for b, n in names]

    def seen(codes: Codes) -> Codes:
        found = [codes[n] for n in kept]
        for broker, running, lag, directory in brokers:
            if codes[running] and (directory is None or codes[directory] != _OFFLINE):
                place = codes[lag]
                leads = codes[leader[place]] == broker
                found += [codes[n] for n in (*shared[place], *(led[place] if leads else ()))]
        return tuple(found)

    return seen


class _Space:
    """The reachable states of a model by numbers, how each looks, and the steps between them."""

    def __init__(self, model: Cluster, looks: dict[Codes, int]) -> None:
        evaluator, see = Evaluator(model.program), as_brokers_and_clients_see(model)
        first = model.program.initials[0]
        known, states = {first: 0}, [first]
        self.steps: list[list[tuple[int, int]]] = []
        for state in states:  # which grows meanwhile
            out = []
            for action, after in successors(evaluator, state):
                if after not in known:
                    known[after] = len(states)
                    states.append(after)
                out.append((action, known[after]))
            self.steps.append(out)
        self.looks = [looks.setdefault(see(state), len(looks)) for state in states]

    def unseen(self, some: Iterable[int]) -> frozenset[int]:
        """Some states that look alike, and those to which unobservable steps lead from there."""
        found = set(some)
        open_ = list(found)
        while open_:
            state = open_.pop()
            for _, after in self.steps[state]:
                if self.looks[after] == self.looks[state] and after not in found:
                    found.add(after)
                    open_.append(after)
        return frozenset(found)


def inclusion(smaller: Cluster, larger: Cluster) -> Inclusion:
    """Compare the traces of two models, whose states have the same cells as far as brokers and clients go."""
    looks: dict[Codes, int] = {}
    one, other = _Space(smaller, looks), _Space(larger, looks)
    start, sizes = (0, other.unseen([0])), (len(one.steps), len(other.steps))
    before: Before = {start: None}
    reached: dict[tuple[frozenset[int], int], frozenset[int]] = {}
    open_ = [start]
    for pair in open_:  # which grows meanwhile
        state, alike = pair
        for action, after in one.steps[state]:
            look = one.looks[after]
            if look == one.looks[state]:
                matched = alike
            else:
                if (alike, look) not in reached:
                    ends = (end for kept in alike for _, end in other.steps[kept] if other.looks[end] == look)
                    reached[alike, look] = other.unseen(ends)
                matched = reached[alike, look]
            if (after, matched) in before:
                continue
            before[after, matched] = (pair, action)
            if not matched:
                return Inclusion(sizes, len(before), _labels(smaller, before, (after, matched)))
            open_.append((after, matched))
    return Inclusion(sizes, len(before), ())


def _labels(model: Cluster, before: Before, last: Pair) -> tuple[str, ...]:
    labels: list[str] = []
    while (step := before[last]) is not None:
        last, action = step
        labels.append(model.program.actions[action].label)
    return tuple(reversed(labels))
