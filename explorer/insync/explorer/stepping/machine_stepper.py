"""The steps of a model by machine code, which lists all steps of a state at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from functools import cached_property

from insync.explorer.stepping.stepper import Refused, Stepper, remembered
from insync.machine.expander import Edges
from insync.machine.kernels import Part, compile_kernels
from insync.machine.packed import Words
from insync.model import Model
from insync.model.evaluator import Codes
from insync.runtime.watch import Watch

__all__ = ["MachineStepper"]


class MachineStepper(Stepper):
    """The states and steps of a model, from machine code.

    For a state with a step that leaves a field's domain the evaluator is used, which has a message for the step.

    Args:
        model: the model.
        watch: the limits of the first call, which compiles the code and may raise Stopped; None is no limit.
    """

    def __init__(self, model: Model, watch: Watch | None = None) -> None:
        super().__init__(model)
        self._watch = watch
        self._steps: OrderedDict[Codes, Mapping[int, Words] | None] = OrderedDict()
        self._packed: OrderedDict[Codes, Words] = OrderedDict()  # of states that a step has led to

    @cached_property
    def _edges(self) -> Edges:
        return compile_kernels(self.model.program, parts=(Part.EDGES,), watch=self._watch).edges()

    def close(self) -> None:
        """Release all memory; afterwards only remembered states and steps are left."""
        if "_edges" in vars(self):
            self._edges.close()

    def _of(self, codes: Codes) -> Mapping[int, Words] | None:
        """Return the states after the enabled actions, by number; None if one of the steps is refused."""
        return remembered(self._steps, codes, lambda: self._listed(codes))

    def _listed(self, codes: Codes) -> Mapping[int, Words] | None:
        packed = self._packed.get(codes) or self.model.program.schema.pack(codes)
        listed = self._edges.of_one(packed)
        return None if self._edges.take_refused().count else listed

    def _by_name(self, codes: Codes) -> Mapping[str, list[int]]:
        steps = self._of(codes)
        return super()._by_name(codes) if steps is None else self._named(steps)

    def _outcome(self, codes: Codes, number: int) -> Codes | Refused | None:
        steps = self._of(codes)
        if steps is None:
            return super()._outcome(codes, number)
        if number not in steps:
            return None
        after = self.model.program.schema.unpack(steps[number])
        remembered(self._packed, after, lambda: steps[number])
        return after
