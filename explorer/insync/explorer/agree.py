"""Several engines on one model: the same counts, verdicts and traces, or the first place at which they differ.

An engine that cannot run here says why and is left out, one that was stopped is compared up to where it got, and z3,
which counts nothing, is compared in what fails first and after how many states.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from insync.explorer.given_model import ModelLike, model_of
from insync.explorer.limits import Limits, StopReason, limits_of
from insync.explorer.opinions import SHARES, Engine, Opinion, own_engines, sharing, states_in_words
from insync.explorer.results import Verdict
from insync.explorer.stepping.difference import Difference, first_difference
from insync.explorer.tables import TableColumns, Tabular, plural
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.errors import UserError
from insync.model.lints import suspicions
from insync.properties.invariants import TYPE_OK, StepInvariant, names_within
from insync.properties.registry import confined, judge, select

__all__ = ["Agreement", "agree"]


@dataclass(frozen=True, slots=True, repr=False)
class Agreement(Tabular):
    """What the engines say, and where they differ.

    Attributes:
        model: the name by which the model is found again.
        bounds: the bounds of the model.
        properties: what was checked, beside type_ok.
        within: the names of the invariants that the engines were confined to.
        opinions: of each engine, in the order given.
        differences: one sentence for each.
        state: the first state that evaluator and machine code treat differently, looked for if the engines differ.
        warnings: what is suspicious in the model, or in its settings; a sentence for each.
        stopped_by: INTERRUPT if somebody stopped it; the opinions then say how far each engine came.
    """

    model: str
    bounds: Mapping[str, int | str]
    properties: tuple[str, ...]
    within: tuple[str, ...]
    opinions: tuple[Opinion, ...]
    differences: tuple[str, ...]
    state: Difference | None
    warnings: tuple[str, ...] = ()
    stopped_by: StopReason | None = None

    @property
    def agreed(self) -> bool:
        """Whether at least two engines have looked at states and none differs."""
        return not self.differences and self.compared > 1

    @property
    def compared(self) -> int:
        """How many engines have looked at states."""
        return sum(opinion.counts for opinion in self.opinions)

    def summary(self) -> str:
        said = "agree" if self.agreed else "differ" if self.differences else "too few to compare"
        return f"{self.model}: {plural(len(self.opinions), 'engine')}, {said}"

    def _tables(self) -> Mapping[str, Callable[[], TableColumns]]:
        """Return the table `engines`."""
        return {"engines": self._engines}

    def _engines(self) -> TableColumns:
        return {
            "engine": [opinion.engine for opinion in self.opinions],
            "verdict": [opinion.verdict and opinion.verdict.value for opinion in self.opinions],
            "depth": [opinion.depth for opinion in self.opinions],
            "states": [None if opinion.levels is None else sum(opinion.levels) for opinion in self.opinions],
            "note": [opinion.note for opinion in self.opinions],
        }


def agree(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    engines: Mapping[str, Engine] | None = None,
    within: Sequence[str] | None = None,
    limits: Limits | None = None,
    reporter: Callable[[Opinion], None] | None = None,
    stop: threading.Event | None = None,
) -> Agreement:
    """Run engines on a model and compare what they say.

    Args:
        model: what to search: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        properties: names of properties; None is the model's headline.
        engines: by name; the first one that runs is what the others are compared with. None is `own_engines`; without
            limits each of them has a share of half a minute.
        within: names of invariants, to states in which they hold every engine is confined. None is what the model's
            class says.
        limits: of each engine, compilation included.
        reporter: called with each opinion when it is there.
        stop: ends the engine at work when it is set; those after it are not asked.

    Raises:
        UserError: an unknown model, bound or property, a model that cannot be traced, or engines without names.
    """
    model = confined(model_of(model, bounds), within)
    names, chosen, limits = select(model, properties), _engines(engines, limits), limits_of(limits)
    opinions = []
    event = stop if stop is not None else threading.Event()
    for name, engine in chosen.items():
        opinions.append(_asked(name, engine, model, names, limits, event))
        if reporter is not None:
            reporter(opinions[-1])
    ran = [opinion for opinion in opinions if opinion.counts]
    steps = {found.name for found in judge(model, names).invariants if isinstance(found, StepInvariant)}
    confined_to = names_within(model)
    found = (text for one, other in _pairs(ran) for text in _differences(one, other, steps))
    differences = tuple(dict.fromkeys(found))
    depth = max((opinion.depth for opinion in ran), default=1)
    state = first_difference(model, properties=names, depth=depth, stop=event) if differences else None
    stopped = StopReason.INTERRUPT if event.is_set() else None
    warnings = suspicions(model, judge(model, names).written(model))
    reference, said = model_reference(model), tuple(opinions)
    return Agreement(reference, model.identity, names, confined_to, said, differences, state, warnings, stopped)


def _engines(given: Any, limits: Limits | None) -> Mapping[str, Engine]:
    own = own_engines()
    if given is None:
        return own if limits is not None else {name: sharing(engine, SHARES[name]) for name, engine in own.items()}
    if not isinstance(given, Mapping) or not all(map(callable, given.values())):
        message = (
            f"engines={given!r} is not a mapping from names to engines; write {{'spark': engine}} with a function "
            f"engine, or leave it out for {', '.join(own)}; own_engines() of insync.explorer.opinions has these by "
            f"name."
        )
        raise UserError(message)
    return given


def _asked(
    name: str, engine: Engine, model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event
) -> Opinion:
    started = time.perf_counter()
    if stop.is_set():
        return Opinion(name, None, 0, None, None, {}, {}, 0.0, stopped_by=StopReason.INTERRUPT)
    try:
        return replace(engine(model, properties, limits, stop), engine=name, seconds=time.perf_counter() - started)
    except UserError as error:
        return Opinion(name, None, 0, None, None, {}, {}, time.perf_counter() - started, str(error.args[0]))


def _pairs(ran: Sequence[Opinion]) -> Iterator[tuple[Opinion, Opinion]]:
    """Yield what is compared: each with the first one, and with the one that got furthest if the first was stopped."""
    counting = [opinion for opinion in ran if opinion.levels is not None]
    first, furthest = ran[:1], max(counting, key=lambda opinion: opinion.depth, default=None)
    for one in [*first, furthest] if first and first[0].stopped_by is not None else first:
        yield from ((one, other) for other in ran[1:] if one is not None and other is not one)


def _differences(one: Opinion, other: Opinion, steps: Collection[str]) -> list[str]:
    """Return a sentence for each thing that two engines say differently, in the levels that both have searched.

    Args:
        one: what the first says.
        other: what the other says.
        steps: the names of the invariants of steps, which are broken by a step from the last level that was searched.
    """
    found = []
    both = min(one.depth, other.depth)
    if one.levels is not None and other.levels is not None:
        pairs = zip(one.levels[:both], other.levels[:both], strict=False)
        uneven = next((level for level, (a, b) in enumerate(pairs, start=1) if a != b), None)
        if uneven is not None:
            counts = f"{one.levels[uneven - 1]} for {one.engine}, {other.levels[uneven - 1]} for {other.engine}"
            found.append(f"Level {uneven} has a different number of states: {counts}.")
        elif Verdict.INCOMPLETE not in (one.verdict, other.verdict) and one.depth != other.depth:
            found.append(f"The depth is {one.depth} for {one.engine} and {other.depth} for {other.engine}.")
    if not found:
        found += _total_differences(one, other)
    if one.actions is not None and other.actions is not None and not found:
        for action in dict.fromkeys([*one.actions, *other.actions]):
            a, b = one.actions.get(action, 0), other.actions.get(action, 0)
            if a != b:
                found.append(f"{one.engine} takes {a} steps of {action}, {other.engine} {b}.")
    return found + _verdict_differences(one, other, steps)


def _total_differences(one: Opinion, other: Opinion) -> list[str]:
    """Return a sentence for each number of two whole searches that differs, where one of them counts no levels."""
    if one.states is None or other.states is None or (one.levels is not None and other.levels is not None):
        return []
    numbers = {
        "states": (one.states, other.states),
        "steps": (one.taken, other.taken),
        "levels": (one.depth, other.depth),
    }
    return [f"{one.engine} has {a} {what}, {other.engine} {b}." for what, (a, b) in numbers.items() if a != b]


def _verdict_differences(one: Opinion, other: Opinion, steps: Collection[str]) -> list[str]:
    found = []
    for name in dict.fromkeys([*one.failing, *other.failing]):
        a, b = one.failing.get(name), other.failing.get(name)
        if (a is None and _ended_before(one, b)) or (b is None and _ended_before(other, a)):
            continue
        least = min(length for length in (a, b) if length is not None)
        if a != b and least - (name in steps) <= min(_looked(one, name), _looked(other, name)):
            said = [f"{o.engine}: {_length(n)}" for o, n in ((one, a), (other, b))]
            found.append(f"{name}: {'; '.join(said)}.")
        elif a == b and name in one.paths and name in other.paths and one.paths[name] != other.paths[name]:
            found.append(f"{name}: {one.engine} and {other.engine} give different traces of {states_in_words(a)}.")
    return found


def _ended_before(opinion: Opinion, length: int | None) -> bool:
    """Return whether an engine stopped at another failure, and so says nothing of traces of this length."""
    return opinion.ends_at_first and length is not None and length >= min(opinion.failing.values(), default=length + 1)


def _looked(opinion: Opinion, name: str) -> int:
    """How long traces to a failure of a property would have been found."""
    if opinion.verdict is Verdict.HOLDS:
        return 1 << 60
    # A search that ended early took no step from its last level, unless it ended because one was refused there.
    unexpanded = name == TYPE_OK and opinion.levels is not None and name not in opinion.failing
    return opinion.depth - unexpanded


def _length(length: int | None) -> str:
    return "no violation" if length is None else f"fails after {states_in_words(length)}"
