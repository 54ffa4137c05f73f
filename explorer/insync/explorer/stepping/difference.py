"""The first state that the evaluator and the machine code treat differently."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from insync.explorer.stepping.stepper import Refused, Stepper, claims_of
from insync.machine.kernels import Kernels, compile_kernels
from insync.machine.packed import PackedRows
from insync.model import Model, ReadableState
from insync.model.evaluator import Codes
from insync.properties.condition_text import plain
from insync.properties.registry import judge
from insync.runtime.watch import Stopped, Watch

__all__ = ["Difference", "first_difference"]

_BUFFER_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Difference:
    """A state that evaluator and machine code treat differently.

    Attributes:
        level: of the state.
        state: the state.
        sentence: the difference in words.
    """

    level: int
    state: ReadableState
    sentence: str


def first_difference(
    model: Model, *, properties: Sequence[str], depth: int, stop: threading.Event | None = None
) -> Difference | None:
    """Return the first difference in successors or properties of a state, in breadth-first order up to a level.

    The states are the evaluator's, so this is slow. None means that evaluator and machine code agree in all of them,
    so that a difference between searches lies in how states are kept and counted; or that `stop` was set before.
    """
    judged, claims = judge(model, properties), claims_of(model, properties)

    watch = Watch(stop=stop)
    try:
        kernels = compile_kernels(model.program, judged.nodes, watch=watch)
    except Stopped:
        return None
    comparison = _Comparison(model, kernels)
    try:
        for level, codes in _states(model, depth):
            if watch.stopped:
                return None
            sentence = comparison.of_successors(codes)
            if sentence is None and judged.nodes:
                truths = [(claim.name, claim.holds(codes)) for claim in claims]
                sentence = comparison.of_properties(codes, truths)
            if sentence is not None:
                return Difference(level, model.decode(codes), sentence)
    finally:
        comparison.close()
    return None


def _states(model: Model, depth: int) -> Iterator[tuple[int, Codes]]:
    """Yield the evaluator's states with their levels, breadth first."""
    stepper = Stepper(model)
    frontier = list(model.program.initials)
    seen = set(frontier)
    for level in range(1, depth + 1):
        after = []
        for codes in frontier:
            yield level, codes
            for _, following in stepper.outcomes(codes):
                if not isinstance(following, Refused) and following not in seen:
                    seen.add(following)
                    after.append(following)
        frontier = after


class _Comparison:
    """The machine code, one state at a time."""

    def __init__(self, model: Model, kernels: Kernels) -> None:
        self.model = model
        self.stepper = Stepper(model)
        self.initial = model.program.initials.words(0)
        self.expander = kernels.expander(1, _BUFFER_BYTES, self.initial)
        self.checker = kernels.checker()

    def close(self) -> None:
        """Release all memory."""
        self.expander.close()
        self.checker.close()

    def of_successors(self, codes: Codes) -> str | None:
        """Return a sentence on a successor that only one of the two finds; None if there is none."""
        schema = self.model.program.schema
        row = self._row(codes)
        self.expander.clear()
        self.expander.forget()
        self.expander.expand(row.address, 1)
        machine = {schema.unpack(words) for words in self.expander.states(0)}
        refuses = self.expander.take_refused().count
        expected: dict[Codes, str] = {}
        refused = []
        for number, after in self.stepper.outcomes(codes):
            label = self.model.program.actions[number].label
            if isinstance(after, Refused):
                refused.append(label)
            elif schema.pack(after) != self.initial:  # the search need not find this one again
                expected.setdefault(after, label)
        for after, label in expected.items():
            if after not in machine:
                return f"The evaluator takes the step {label!r}; the machine code has no step to the state after it."
        if machine - set(expected):
            changed = self._changed(codes, min(machine - set(expected)))
            return f"The machine code takes a step that changes {changed}; the evaluator has no such step."
        if len(refused) != refuses:
            return f"The evaluator refuses {len(refused)} steps for type_ok, the machine code {refuses}."
        return None

    def _changed(self, before: Codes, after: Codes) -> str:
        """The fields that differ, with their values in the second state; "nothing" if there are none."""
        state = self.model.decode(after)
        cells = zip(self.model.state.leaves(), before, after, strict=True)
        changed = [leaf for leaf, old, new in cells if old != new]
        return ", ".join(f"{leaf.after('')} to {plain(leaf.read(state))}" for leaf in changed) or "nothing"

    def of_properties(self, codes: Codes, truths: Sequence[tuple[str, bool]]) -> str | None:
        """Return a sentence on a property that only one of the two finds violated; None if there is none."""
        row = self._row(codes)
        self.checker.check(row.address, 1)
        for found, (name, holds) in zip(self.checker.take(), truths, strict=True):
            if (found.count == 0) != holds:
                says = "holds" if holds else "fails"
                return f"By the evaluator {name} {says} here; by the machine code it is the other way round."
        return None

    def _row(self, codes: Codes) -> PackedRows:
        return PackedRows([self.model.program.schema.pack(codes)])
