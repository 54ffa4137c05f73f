"""Spin as an engine of `agree` (differential testing: McKeeman 1998): finds it, runs it on an export, reads its report.

Spin makes a C program of the exported Promela, which searches breadth first and stores whole states.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from insync.explorer.agree import Engine, Opinion
from insync.explorer.export.promela import promela_files
from insync.explorer.results import Verdict
from insync.explorer.tlc import opinion_within
from insync.model import Model
from insync.properties.invariants import TYPE_OK, StepInvariant
from insync.properties.registry import judge
from insync.runtime.child_processes import ProgramRunner, Ran
from insync.runtime.errors import InternalError, UserError
from insync.runtime.memory import available_memory
from insync.runtime.watch import Limits, StopReason

__all__ = ["SpinTools", "find_spin", "spin_engine", "spin_opinion"]

_MEGABYTE = 1 << 20
_DEEPEST = 100_000
_LONG = 100_000


@dataclass(frozen=True, slots=True)
class SpinTools:
    """The paths of Spin and of a C compiler."""

    spin: str
    compiler: str


def find_spin() -> SpinTools:
    """Find Spin and a C compiler on the PATH.

    Raises:
        UserError: one of them is missing.
    """
    spin = shutil.which("spin")
    if spin is None:
        message = "The engine spin needs Spin, and there is none on the PATH; install it (Debian's package is spin)."
        raise UserError(message)
    named = os.environ.get("CC")
    compiler = shutil.which(named) if named else shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        what = f"CC names {named}, which is not there" if named else "there is none on the PATH"
        message = f"The engine spin needs a C compiler, and {what}; install gcc, or name another one in CC."
        raise UserError(message)
    return SpinTools(spin, compiler)


def spin_engine(tools: SpinTools) -> Engine:
    """Return the engine that searches with Spin. It counts the states of each level and the steps of each action."""

    def engine(model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None) -> Opinion:
        (text,) = promela_files(model, properties, model.name).values()
        return spin_opinion(tools, model, properties, text, limits, stop)

    return engine


def spin_opinion(
    tools: SpinTools,
    model: Model,
    properties: Sequence[str],
    text: str,
    limits: Limits,
    stop: threading.Event | None = None,
) -> Opinion:
    """Search a model in Promela with Spin, and return its result in terms of the model.

    Args:
        tools: Spin and a compiler.
        model: the model.
        properties: the names of the properties in the text.
        text: the Promela.
        limits: the limits of compilation and search together.
        stop: stops both when it is set.

    Raises:
        InternalError: Spin or the compiler rejects the text, or the counts differ from those of Spin.
    """

    def ask(runner: ProgramRunner) -> Opinion:
        return _Report.of(_searched(runner, tools, text, limits)).opinion(model, properties, limits)

    return opinion_within("spin", limits, stop, ask)


def _searched(runner: ProgramRunner, tools: SpinTools, text: str, limits: Limits) -> Ran:
    runner.write("model.pml", text)
    made = runner.run([tools.spin, "-a", "model.pml"])
    if made.code != 0:
        message = f"Spin refuses the exported model: {_end_of(made.output)}"
        raise InternalError(message)
    most = limits.memory_bytes or available_memory() * 9 // 10
    defined = {
        "MEMLIM": most // _MEGABYTE,
        "VECTORSZ": max(1024, 8 * text.count("\nint ") + text.count("\nbyte ") + 16 * text.count("\nc_state ") + 256),
    }
    if limits.depth is not None:
        defined["MOST_DEPTH"] = min(limits.depth, _DEEPEST - 1)
    if limits.states is not None:
        defined["MOST_STATES"] = limits.states
    effort = "-O1" if len(text) < _LONG else "-O0"  # for long texts compilation takes longer than the search
    flags = [effort, "-w", "-DSAFETY", "-DNOREDUCE", "-DBFS", "-DCOUNT", *(f"-D{k}={v}" for k, v in defined.items())]
    compiled = runner.run([tools.compiler, *flags, "-o", "pan", "pan.c"])
    if compiled.code != 0:
        message = f"The C compiler refuses the exported model: {_end_of(compiled.output)}"
        raise InternalError(message)
    return runner.run(["./pan", f"-m{_DEEPEST}", "-w18", "-E", "-n"])


@dataclass(frozen=True, slots=True)
class _Report:
    """The output of the search.

    Attributes:
        levels: the number of states of each level, without those outside of `within`.
        outside: the number of states of each level outside of `within`.
        steps: the number of steps of each bound action.
        failing: for each property, type_ok last, the level in which it first fails; 0 if none.
        stored: the number of states that Spin stored.
        transitions: the number of steps that Spin took.
        until: what stopped the search: a violation, or a limit; empty for the whole space.
        seconds: the CPU time of the search alone.
    """

    levels: tuple[int, ...]
    outside: tuple[int, ...]
    steps: tuple[int, ...]
    failing: tuple[int, ...]
    stored: int
    transitions: int
    until: str
    seconds: float

    @classmethod
    def of(cls, ran: Ran) -> _Report:
        """Parse the output of the search."""
        counted = dict(re.findall(r"^counted (levels|outside|steps|failing)((?: \d+)*)$", ran.output, re.MULTILINE))
        stored = re.search(r"^\s*(\d+) states, stored", ran.output, re.MULTILINE)
        transitions = re.search(r"^\s*(\d+) transitions ", ran.output, re.MULTILINE)
        until = re.search(r"^counted until (\w+)$", ran.output, re.MULTILINE)
        if len(counted) != 4 or stored is None or transitions is None:
            message = f"The search that Spin made prints no counts: {_end_of(ran.output)}"
            raise InternalError(message)
        numbers = {name: tuple(map(int, text.split())) for name, text in counted.items()}
        early = until[1] if until else "memory" if "MEMLIM" in ran.output else ""
        return cls(
            **numbers, stored=int(stored[1]), transitions=int(transitions[1]), until=early, seconds=ran.cpu_seconds
        )

    def opinion(self, model: Model, properties: Sequence[str], limits: Limits) -> Opinion:
        """Return the result in terms of the model."""
        failing = self._failing(model, properties, limits)
        reason = None if failing or self.until in ("", "violation") else StopReason(self.until)
        complete = not failing and reason is None
        if complete:
            self._require_consistent(len(model.program.initials))
        otherwise = Verdict.HOLDS if complete else Verdict.INCOMPLETE
        levels = self.levels[:-1] if self.levels and not self.levels[-1] else self.levels
        taken = dict.fromkeys(model.program.action_names, 0)
        for action, steps in zip(model.program.actions, self.steps, strict=True):
            taken[action.name] += steps
        return Opinion(
            engine="spin",
            verdict=Verdict.VIOLATED if failing else otherwise,
            depth=len(levels),
            levels=levels,
            actions=taken if complete else None,
            failing=failing,
            paths={},
            seconds=self.seconds,
            stopped_by=reason,
            states=sum(self.levels) if complete else None,
            taken=sum(self.steps) if complete else None,
        )

    def _failing(self, model: Model, properties: Sequence[str], limits: Limits) -> Mapping[str, int]:
        """Return the length of the trace of each property that fails in the first level with a violation."""
        judged = judge(model, properties).invariants
        first = min((level for level in self.failing if level), default=0)
        found = {
            invariant.name: first + isinstance(invariant, StepInvariant)
            for invariant, level in zip(judged, self.failing, strict=False)
            if level == first > 0
        }
        refused_late = limits.depth is not None and first == limits.depth  # no search takes steps from its last level
        return found or ({TYPE_OK: first} if first and not refused_late else {})

    def _require_consistent(self, initials: int) -> None:
        """Raise InternalError unless the counts, with the state before the initial ones, equal those of Spin."""
        counted = 1 + sum(self.levels) + sum(self.outside), 1 + initials + sum(self.steps)
        if counted != (self.stored, self.transitions):
            message = (
                f"The exported model counts {counted[0]} states and {counted[1]} steps, and Spin stored {self.stored} "
                f"and took {self.transitions}."
            )
            raise InternalError(message)


def _end_of(output: str) -> str:
    return output.strip()[-600:] or "it says nothing"
