"""The task of a verb: model, properties and limits; and the work that every verb does first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, TypeVar

from insync.explorer.progress import Reporter, while_compiling, while_reading
from insync.model import Model
from insync.model.catalogue import find_model
from insync.model.expressions.graph import Node
from insync.model.language.presentation import checked_grid
from insync.model.tracing.tracer import traced
from insync.properties.registry import Judged, confined, judge, select
from insync.runtime.errors import UserError, shown
from insync.runtime.oversight import Oversight, read_within
from insync.runtime.watch import Limits, Stopped, StopReason, Watch, limits_of
from insync.runtime.workers import available_cores

if TYPE_CHECKING:
    from insync.explorer.symmetry import UsedSymmetry
    from insync.machine.kernels import Kernels
    from insync.model.tracing.program import Program

__all__ = ["Clock", "ModelLike", "Needs", "Prepared", "Task", "model_of", "trace_to_show"]

ModelLike = Model | type[Model] | str
"""A model: a class, an instance, or a name of the command line, `kip320` or `path/to/file.py:Class`."""

R = TypeVar("R")


class Needs(IntEnum):
    """What a verb works with; each includes those before it."""

    MODEL = 0
    PROGRAM = 1
    PROPERTIES = 2
    SYMMETRY = 3
    KERNELS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The arguments that the verbs share.

    Attributes:
        model: a class, an instance, or a name.
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        properties: names of properties; None is the model's headline.
        within: names of invariants that the work is confined to; None is the confinement of the model's class.
        limits: of tracing, compilation and work.
        threads: the number of threads; None is one per core.
        symmetry: whether representatives may stand for the states that symmetry makes equal.
        reporter: called about once a second with the progress.
        stop: ends the work when it is set.
        limited: returns the limits, or raises UserError for one that the verb does not obey.
    """

    model: ModelLike
    bounds: Mapping[str, int | str] | None = None
    properties: Sequence[str] | None = None
    within: Sequence[str] | None = None
    limits: Limits | None = None
    threads: int | None = None
    symmetry: bool = False
    reporter: Reporter | None = None
    stop: threading.Event | None = None
    limited: Callable[[Limits | None], Limits] = limits_of

    def run(
        self, work: Callable[[Prepared], R], partial: Callable[[Prepared, StopReason], R], needs: Needs = Needs.KERNELS
    ) -> R:
        """Prepare the task and do the work.

        Args:
            work: returns the result.
            partial: returns the result if the preparation is stopped, or if the work raises Stopped; of the task as far
                as it is prepared, and with the limit that was reached.
            needs: how far the task is prepared.

        Raises:
            UserError: an unknown model, bound, property or invariant, limits that are none, or a model that cannot be
                traced.
        """
        watch = Watch(self.limited(self.limits), self.stop)
        with read_within(watch, self.model):
            model = confined(model_of(self.model, self.bounds), self.within)
        prepared = Prepared(self, model, select(model, self.properties), watch)
        try:
            prepared.prepare(needs)
            return work(prepared)
        except Stopped as ended:
            return partial(prepared, ended.reason)


class Clock:
    """Measures the time of each part of the work.

    Attributes:
        seconds: the time of each part that has ended, by its name.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Add the time since the last lap to the time of a part."""
        now = time.perf_counter()
        self.seconds[name], self._last = self.seconds.get(name, 0.0) + now - self._last, now


@dataclass(slots=True)
class Prepared:
    """A task as far as it is prepared.

    Attributes:
        task: the task.
        model: the model under its bounds, confined.
        names: the names of the properties.
        watch: the limits of the task.
        clock: started when the model was found.
        symmetry: what a search may use; None before that is known, and if it may use none.
        known: the properties; None before they are traced.
    """

    task: Task
    model: Model
    names: tuple[str, ...]
    watch: Watch
    clock: Clock = field(default_factory=Clock)
    symmetry: UsedSymmetry | None = None
    known: Judged | None = None
    _kernels: Kernels | None = None

    @property
    def judged(self) -> Judged:
        """The properties."""
        assert self.known is not None, "the task needs properties"
        return self.known

    @property
    def conditions(self) -> Mapping[str, Node]:
        """The conditions of the properties as their author wrote them, by name; none before they are traced."""
        return {} if self.known is None else self.known.written(self.model)

    @property
    def kernels(self) -> Kernels:
        """The compiled program and properties."""
        assert self._kernels is not None, "the task needs kernels"
        return self._kernels

    @property
    def threads(self) -> int:
        """The number of threads that work."""
        return self.task.threads or available_cores()

    def compiling(self) -> AbstractContextManager[None]:
        """Report within the block that the model is being compiled."""
        return self.watch.telling(while_compiling(self.task.reporter, self.watch))

    def reading(self) -> Oversight:
        """Return the context of the model's own code, which is ended at a limit; see `Oversight`."""
        return Oversight(self.watch, while_reading(self.task.reporter, self.watch))

    def prepare(self, needs: Needs) -> None:
        """Trace the model, judge its properties, decide on symmetry, and compile, as far as it is needed.

        Raises:
            Stopped: a limit was reached.
        """
        self.watch.check()
        if needs < Needs.PROGRAM:
            return
        with self.compiling(), self.reading():
            program = trace_to_show(self.model, self.watch.check)
            if needs >= Needs.PROPERTIES:
                with program.graph.asking(self.watch.check):
                    self.known = judge(self.model, self.names)
        if needs >= Needs.SYMMETRY and self.task.symmetry:
            from insync.explorer.symmetry import symmetry_for  # loads the proofs, which few verbs need

            self.symmetry = symmetry_for(self.model, self.judged.conditions, self.watch)
        if needs >= Needs.KERNELS:
            from insync.machine.kernels import compile_kernels  # loads the compiler

            symmetry = None if self.symmetry is None else self.symmetry.symmetry
            with self.compiling():
                self._kernels = compile_kernels(program, self.judged.nodes, watch=self.watch, symmetry=symmetry)


def trace_to_show(model: Model, go_on: Callable[[], None]) -> Program:
    """Return the program of a model whose initial state can be shown: a mistake in `grid` is reported before the work.

    Args:
        model: the model.
        go_on: called again and again; an exception that it raises ends the tracing.

    Raises:
        ModelError: the model cannot be traced, or its `grid` returns no cells.
    """
    program = traced(model, go_on)
    example = program.initials.example
    if example is not None:
        checked_grid(model, model.decode(example))
    return program


def model_of(given: ModelLike, bounds: Mapping[str, int | str] | None = None) -> Model:
    """Return the model under these bounds; a bound that is left out has its default.

    Raises:
        UserError: an unknown model or bound, or an instance with other bounds than these.
    """
    if bounds is not None and not isinstance(bounds, Mapping):
        message = f"bounds={shown(bounds)} is not a dictionary; give the value of each bound by its name."
        raise UserError(message)
    if isinstance(given, Model):
        if bounds and type(given)(**{**given.identity, **bounds}).identity != given.identity:
            message = (
                f"{given.name}: the model was made with the bounds {given.identity}, and {dict(bounds)} is given too. "
                f"Give the class {type(given).__name__} with bounds, or the model without."
            )
            raise UserError(message)
        return given
    kind: object = find_model(given) if isinstance(given, str) else given
    if not (isinstance(kind, type) and issubclass(kind, Model)):
        message = (
            f"{given!r} is not a model; give a subclass of Model, or the name of one, such as 'kip320' or "
            f"'path/to/file.py:ModelName'."
        )
        raise UserError(message)
    return kind(**(bounds or {}))
