"""Logs that move between the directories of a broker, in a run: what the controller is told of them, and nobody sees.

Of the copy nobody sees anything; the controller writes down in which directory a replica is. While a log moves, that is
a change of the partition, to the copy's directory or back, and so it is after a start without the directory of the log.
What becomes of a move after a start the model leaves open.
"""

from __future__ import annotations

from collections.abc import Iterator

from insync.conformance.live.metadata_log import Decision, PartitionAt
from insync.conformance.live.runs.run_events import BrokerRun, Decided, Done
from insync.explorer.stepping.stepper import Refused, Stepper
from insync.kafka.cluster.broker_state import is_elsewhere
from insync.kafka.cluster.model import Cluster
from insync.model.evaluator import Codes

__all__ = ["DirectoryMoves", "moves_in", "named_early", "registers", "told_of_moves"]

_TOLD = ("accept_copy", "hear_directory")
_NAMED = "name_directory"
_UNSEEN = ("copy_record", "swap_log")


def moves_in(run: BrokerRun) -> int:
    """Return how many moves operators have asked for."""
    return sum(isinstance(event, Done) and event.what == "move" for event in run.events)


def told_of_moves(run: BrokerRun) -> dict[int, set[int]]:
    """Return the places of decisions that name another directory of brokers whose logs move or are gone, with those.

    Of a broker that names its directory before it is registered that is the place of its registration (`named_early`).
    """
    return _named_in(run)[0]


def named_early(run: BrokerRun) -> dict[int, bool]:
    """Return the places at which a broker has named its directory and is not registered yet; true where it names it.

    A broker that has started names its directory before it is registered, where the controller still waits for the
    session of its former incarnation to end. In the model a start is a registration, so that is told with it. Up to 4.2
    the controller empties the eligible leader replicas as it learns of the directory, and the model's does so then.
    Source: AssignmentsManager, which sends the broker epoch of the metadata that it has.
    """
    return _named_in(run)[1]


def _named_in(run: BrokerRun) -> tuple[dict[int, set[int]], dict[int, bool]]:
    moving: set[int] = set()
    gone: set[int] = set()
    away: set[int] = set()  # those whose directory is gone, until they are registered
    early: set[int] = set()
    last: PartitionAt | None = None
    found: dict[int, set[int]] = {}
    before: dict[int, bool] = {}
    for event in run.events:
        if isinstance(event, Done) and event.what == "move":
            moving.add(event.broker)
        elif isinstance(event, Done) and event.what == "lose":
            gone.add(event.broker)
            away.add(event.broker)
        elif isinstance(event, Decided):
            registered = {one for one in event.decision.brokers if registers(event.decision, one)}
            moving -= registered
            away -= registered
            named = _named_anew(last, event.decision.partition) & (moving | gone)
            gone -= named
            naming = bool(named & away)
            early |= named & away
            told = (named - away) | (early & registered)
            early -= registered
            if early:
                before[event.decision.offset] = naming
            last = event.decision.partition
            if told:
                found[event.decision.offset] = told
    return found, before


def registers(decision: Decision, broker: int) -> bool:
    """Whether a broker is registered by a decision."""
    return f"registered {broker}" in decision.kinds


def _named_anew(old: PartitionAt | None, new: PartitionAt | None) -> set[int]:
    """Return the replicas whose directory is another one than before."""
    if old is None or new is None:
        return set()
    before, after = (dict(zip(one.replicas, one.directories, strict=False)) for one in (old, new))
    return {broker for broker in before.keys() & after.keys() if before[broker] != after[broker]}


class DirectoryMoves:
    """What becomes of moves in the model beside a run.

    Args:
        run: the run.
        model: the model.
        stepper: of the model.
    """

    def __init__(self, run: BrokerRun, model: Cluster, stepper: Stepper) -> None:
        self._model, self._stepper = model, stepper
        self.told, self._early = told_of_moves(run), named_early(run)

    def empties_elr(self, decision: Decision) -> bool:
        """Whether the controller has emptied the ELR for a directory that the model's controller is told of later."""
        return self._model.features.naming_clears_elr and decision.offset in self._early

    def hidden(self, codes: Codes) -> Iterator[int]:
        """Yield the numbers of the steps that nobody sees: the controller decides nothing anew."""
        if not self._model.b.log_dir_moves:
            return
        enabled = self._stepper.enabled(codes)
        for name in _UNSEEN:
            yield from enabled.get(name, ())
        for name in _TOLD:
            yield from (number for number in enabled.get(name, ()) if not self._is_news(codes, number))

    def told_by(self, broker: str, codes: Codes) -> Iterator[int]:
        """Yield the numbers of the steps with which a broker tells the controller of another directory."""
        enabled = self._stepper.enabled(codes)
        for number in enabled.get(_NAMED, ()):
            if self._stepper.values(number)["replica"] == broker:
                yield number
        for name in _TOLD:
            for number in enabled.get(name, ()):
                if self._stepper.values(number)["replica"] == broker and self._is_news(codes, number):
                    yield number

    def _is_news(self, codes: Codes, number: int) -> bool:
        """Whether the controller takes a log to be elsewhere after a step, or no more."""
        after = self._stepper.attempt(codes, number)
        if after is None or isinstance(after, Refused):
            return False
        name = self._stepper.values(number)["replica"]
        was, is_now = (is_elsewhere(self._model.decode(one)["broker"][name]) for one in (codes, after))
        return bool(was != is_now)
