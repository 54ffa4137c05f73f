"""Fetches of a run beside the model: requests and responses.

A frame says what held when it was made, and is seen later: its sender may have gone on meanwhile, and frames on two
connections may pass in another order than that in which they were made. So a state in which a frame could be made is
remembered until the frame is seen, as the frame's mark on the states that follow. A follower makes a request after the
answer to the one before; a leader refuses one at any time between the request and the refusal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from insync.conformance.live.runs.run_events import FetchAnswered, FetchAsked, RunEvent
from insync.conformance.live.runs.run_steps import RunSteps
from insync.model import ReadableState
from insync.model.evaluator import Codes

__all__ = ["Fetches"]

_OUT_OF_RANGE = 1


class Fetches:
    """What the fetches of a run say of the states of the model.

    Args:
        steps: takes the steps of the model.
        numbers: the numbers of the records in the model.
    """

    def __init__(self, steps: RunSteps, numbers: Mapping[str, int]) -> None:
        self._steps, self._numbers = steps, numbers
        self._on_their_way: dict[int, FetchAsked | FetchAnswered] = {}

    def look_ahead(self, later: Sequence[RunEvent], first: int) -> None:
        """Learn which frames may have been made by now, of those that are seen later.

        Args:
            later: the events that come.
            first: the number of the first of them.
        """
        self._on_their_way, met = {}, set()
        for number, event in enumerate(later, first):
            if isinstance(event, (FetchAsked, FetchAnswered)) and (event.follower, event.leader) not in met:
                met.add((event.follower, event.leader))
                if isinstance(event, FetchAsked) or _is_refusal(event):
                    self._on_their_way[number] = event

    def marks(self, codes: Codes, known: frozenset[int]) -> frozenset[int]:
        """Return the numbers of the frames on their way that could be made in this state, or in one before it.

        Args:
            codes: the state.
            known: those that could be made before.
        """
        state = self._steps.state(codes)
        made = {
            number
            for number, event in self._on_their_way.items()
            if number not in known
            and (self._could_ask(event, state) if isinstance(event, FetchAsked) else self._could_refuse(event, codes))
        }
        return frozenset(made | (known & self._on_their_way.keys()))

    def asked(self, event: FetchAsked, codes: Codes, *, made_before: bool) -> Iterator[Codes]:
        """The leader counts a fetch when it comes, and answers later if it has nothing.

        Where the follower has gone on since, the model has no such fetch any more: only a leader that does not lead in
        that epoch takes no notice of it.
        """
        state = self._steps.state(codes)
        if not self._could_ask(event, state):
            if made_before and not self._leads(event, state):
                yield codes
            return
        yield codes
        for after in self._fetched(event, codes):
            response = self._response(event, after)
            if response["record"] is None and not response["diverging"]:
                yield after

    def answered(self, event: FetchAnswered, codes: Codes, *, made_before: bool) -> Iterator[Codes]:
        """A leader answers what was asked, and refuses only what it has to."""
        if _is_refusal(event):
            if made_before or self._could_refuse(event, codes):
                yield codes
        elif not self._follows(event, self._steps.state(codes)):  # the follower will not use it
            yield codes
        elif self._waits(event, codes):
            if self._is_answer(event, codes):
                yield codes
        else:
            yield from self._with_records(event, codes)

    def _could_ask(self, event: FetchAsked, state: ReadableState) -> bool:
        follower = state["broker"][self._steps.names[event.follower]]
        return (
            self._follows(event, state)
            and not follower["fetch_response"]["waiting"]
            and follower["leo"] == event.offset
        )

    def _could_refuse(self, event: FetchAnswered, codes: Codes) -> bool:
        state = self._steps.state(codes)
        if self._waits(event, codes) or not self._follows(event, state):
            return not self._leads(event, state)
        return not any(self._fetched(event, codes))

    def _waits(self, event: FetchAnswered, codes: Codes) -> bool:
        return bool(self._response(event, codes)["waiting"])

    def _with_records(self, event: FetchAnswered, codes: Codes) -> Iterator[Codes]:
        """An answer has any number of records, and the model's has one: it is as many fetches."""
        for after in self._fetched(event, codes):
            if not self._is_answer(event, after):
                continue
            rest = event.records[1:]
            if not rest:
                yield after
                continue
            taken = self._steps.taken("receive", {"follower": self._steps.names[event.follower]}, after)
            if taken is not None:
                leader = self._steps.state(taken)["broker"][self._steps.names[event.leader]]
                watermark = max(event.watermark, leader["hw"])
                next_ = FetchAnswered(
                    event.at, event.follower, event.leader, event.epoch, 0, watermark, rest, event.end
                )
                yield from self._with_records(next_, taken)

    def _is_answer(self, event: FetchAnswered, codes: Codes) -> bool:
        response = self._response(event, codes)
        if event.error == _OUT_OF_RANGE:
            return bool(response["diverging"])
        if event.end is not None:
            return bool(response["diverging"]) and response["end"] == event.end
        first = event.records[0] if event.records else None
        if response["diverging"] or response["hw"] != event.watermark:
            return False
        if first is None:
            return response["record"] is None
        return bool(response["offset"] == first[0] and response["record"] == f"r{self._numbers.get(first[1], -1)}")

    def _follows(self, event: FetchAsked | FetchAnswered, state: ReadableState) -> bool:
        """Whether the follower runs and is in the epoch in which it has asked, with the same leader."""
        return self._is_in_epoch(event, state, event.follower)

    def _leads(self, event: FetchAsked | FetchAnswered, state: ReadableState) -> bool:
        """Whether the leader runs and is in the epoch in which the follower has asked."""
        return self._is_in_epoch(event, state, event.leader)

    def _is_in_epoch(self, event: FetchAsked | FetchAnswered, state: ReadableState, number: int) -> bool:
        broker = state["broker"][self._steps.names[number]]
        view, leader = state["registrations"][broker["image_lag"]], self._steps.names[event.leader]
        return bool(broker["running"] and view["leader"] == leader and view["epoch"] == str(event.epoch))

    def _fetched(self, event: FetchAsked | FetchAnswered, codes: Codes) -> Iterator[Codes]:
        names = self._steps.names
        after = self._steps.taken("fetch", {"follower": names[event.follower], "leader": names[event.leader]}, codes)
        if after is not None:
            yield after

    def _response(self, event: FetchAsked | FetchAnswered, codes: Codes) -> Any:
        return self._steps.state(codes)["broker"][self._steps.names[event.follower]]["fetch_response"]


def _is_refusal(event: FetchAnswered) -> bool:
    return event.error not in (0, _OUT_OF_RANGE)
