"""The pytest fixture `insync_check`, which fails a test unless a search is conclusive, and the text of a failure.

The plugin is `_insync_pytestplugin`, which imports this module when a test uses the fixture.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from insync.explorer.documents import check as documents_of_check
from insync.explorer.documents import simulate as documents_of_simulate
from insync.explorer.pictures.page import write_page
from insync.explorer.results import CheckResult, PropertyResult, Verdict, Violation
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.explorer.stepping.stepper import PropertyLike
from insync.explorer.task import ModelLike, model_of
from insync.explorer.traces.grid import describe_bounds, describe_chosen, render_grid
from insync.explorer.traces.trace import Trace
from insync.explorer.traces.trace_file import replay_command, write_trace
from insync.model import Model
from insync.model.catalogue import BUILT_IN
from insync.model.define import TYPE_OK
from insync.model.given_names import given_list
from insync.properties.registry import confined, default_names, run_properties_of, select
from insync.runtime.errors import UserError, closest
from insync.runtime.memory import physical_memory
from insync.runtime.text import visible
from insync.runtime.watch import Limits, StopReason, limits_of
from insync.runtime.workers import available_cores

__all__ = [
    "ENGINES",
    "Answer",
    "FailedTest",
    "InsyncCheck",
    "PropertyViolated",
    "Settings",
    "SuspiciousModel",
    "UnexpectedVerdict",
    "describe",
    "require_bounds_of_search",
    "save",
    "trace_directory",
]


_DEFAULT = "local"
"""The engine of a test that names none; it decides properties of runs as well."""

WALKS = "walks"
"""The reason `stopped_by` of a simulation that no limit stopped: walks prove nothing."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The defaults of every search, from the command line of pytest.

    Attributes:
        engine: the name of the engine.
        seconds: the time limit of a search.
        memory_bytes: the memory limit of a process; None is nine tenths of the machine, divided by the processes.
        seed: the seed of the engine simulate.
        processes: the number of processes that run tests.
    """

    engine: str = _DEFAULT
    seconds: float | None = None
    memory_bytes: int | None = None
    seed: int = 0
    processes: int = 1


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of an engine; walks, depth and seed apply to the engine simulate."""

    model: Model
    properties: Sequence[PropertyLike] | None
    limits: Limits
    threads: int
    walks: int
    depth: int
    seed: int
    symmetry: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of an engine.

    Attributes:
        verdict: the verdict on all properties together.
        stopped_by: the limit that stopped the search; None if it is complete, or a property fails.
        states: the number of distinct states, or of steps of walks.
        depth: the number of levels, or the most steps of a walk.
        seen: how much was searched, in words.
        properties: the verdict on each property.
        violations: a trace for each property that fails.
        warnings: a sentence for each suspicious fact about the model or its settings.
    """

    verdict: Verdict
    stopped_by: str | None
    states: int
    depth: int
    seen: str
    properties: tuple[PropertyResult, ...]
    violations: tuple[Violation, ...]
    warnings: tuple[str, ...]


class InsyncCheck:
    """The fixture `insync_check`: call it to search a model.

    Attributes:
        answer: the result of the last call; None before the first.
        traces: the trace files of all violations so far.
    """

    def __init__(
        self, settings: Settings, directory: Callable[[], Path], note: Callable[[str, str], None] | None = None
    ) -> None:
        self._settings, self._directory, self._note = settings, directory, note
        self.answer: Answer | None = None
        self.traces: list[Path] = []

    def __call__(
        self,
        model: ModelLike,
        *,
        bounds: Mapping[str, int | str] | None = None,
        properties: Sequence[PropertyLike] | None = None,
        engine: str | None = None,
        limits: Limits | None = None,
        threads: int | None = None,
        walks: int = 10_000,
        depth: int = 100,
        seed: int | None = None,
        symmetry: bool = True,
        within: Sequence[str] | None = None,
        expect: str = Verdict.HOLDS,
        stopped_by: str | Collection[str] = (),
    ) -> Verdict:
        """Search a model and return the verdict. The test fails unless it is the expected one.

        The model's warnings become `SuspiciousModel` warnings of a test that passes.

        Args:
            model: a model class or instance, or a name such as "kip320" or "path/to/file.py:ModelName".
            bounds: its bounds; those left out have their defaults.
            properties: names of properties, and for the engine evaluator functions of the readable state; None is the
                model's default. type_ok is always checked. If all are properties of runs, every fair run is examined.
            engine: "local" (machine code, every state), "evaluator" (plain Python, every state) or "simulate" (random
                walks); None is --insync-engine.
            limits: the limits of the search. The default of seconds is --insync-max-seconds, that of memory
                --insync-memory. Walks have a limit on seconds only.
            threads: worker threads of the engines local and simulate; None is all cores, shared with the other
                processes of xdist.
            walks: the number of walks of the engine simulate.
            depth: the most steps of such a walk.
            seed: the seed of its random numbers; None is --insync-seed.
            symmetry: whether the engine local reduces the space by the declared symmetries.
            within: names of invariants; states in which one fails are checked, and no step is taken from them. None is
                the default of the model's class.
            expect: the verdict with which the test passes, "holds" or "violated".
            stopped_by: the limit, or limits, that may stop the search so that it is incomplete: "depth", "states",
                "time", "memory", or "walks" for simulate.

        Raises:
            PropertyViolated: a property is violated; the message has the trace grid and the replay command.
            UnexpectedVerdict: the search is incomplete, or an expected violation was not found.
            UserError: an unknown model, bound, property, invariant, engine or verdict, or a limit that the engine does
                not support.
        """
        __tracebackhide__ = True
        chosen = engine or self._settings.engine
        seed = self._settings.seed if seed is None else seed
        try:
            bounded = self._limits(limits_of(limits), chosen)
            built = confined(model_of(model, bounds), within)
            meant = _meant(expect, stopped_by)
            properties = _given_properties(built, properties)
            run = _runs if chosen == _DEFAULT and _about_runs(built, properties) else _engine(chosen)
            request = Request(built, properties, bounded, threads or self._threads(), walks, depth, seed, symmetry)
            self.answer = answer = run(request)
            files = self._save(built, answer.violations)
            self._note_down(built, answer, files)
        except UserError as error:
            raise error.with_traceback(None) from None  # a mistake in the test: frames of insync do not help
        if answer.verdict is Verdict.VIOLATED and expect != Verdict.VIOLATED:
            if not answer.violations:
                raise UnexpectedVerdict(_warned(_untraced_text(built, answer), answer))
            first = answer.violations[0].trace
            raise PropertyViolated(_warned(_violated_text(built, answer, files), answer), first, files[0])
        if answer.verdict is Verdict.INCOMPLETE and answer.stopped_by not in meant:
            raise UnexpectedVerdict(_warned(_incomplete_text(built, answer, bounded), answer))
        if answer.verdict is not Verdict.VIOLATED and expect == Verdict.VIOLATED:
            raise UnexpectedVerdict(_warned(_not_violated_text(built, answer), answer))
        for text in answer.warnings:
            warnings.warn(visible(text), SuspiciousModel, stacklevel=2)
        return answer.verdict

    def _note_down(self, model: Model, answer: Answer, files: Sequence[Path]) -> None:
        """Record the result as properties of the test, which `--junitxml` writes."""
        if self._note is None:
            return
        broken = ", ".join(violation.property for violation in answer.violations)
        found = f"violated ({broken})" if broken else str(answer.verdict)
        stopped = f", stopped by {answer.stopped_by}" if answer.stopped_by and not broken else ""
        within = f" ({describe_bounds(model.identity)})" if model.identity else ""
        self._note("insync", f"{model.name}{within}: {found}{stopped}; {answer.seen}")
        for file in files:
            self._note("insync_trace", str(file))

    def _limits(self, given: Limits, engine: str) -> Limits:
        """Return the limits of a test, with the defaults of the command line."""
        seconds = self._settings.seconds if given.seconds is None else given.seconds
        if engine == "simulate":
            return replace(given, seconds=seconds)
        return replace(given, seconds=seconds, memory_bytes=given.memory_bytes or self._memory())

    def _memory(self) -> int:
        return self._settings.memory_bytes or physical_memory() * 9 // 10 // self._settings.processes

    def _threads(self) -> int:
        return max(1, available_cores() // self._settings.processes)

    def _save(self, model: Model, violations: Sequence[Violation]) -> list[Path]:
        files = [save(model, violation.trace, self._directory()) for violation in violations]
        self.traces += files
        return files


def _local(request: Request) -> Answer:
    from insync.explorer.check import check  # loads the compiler, which the evaluator does not need

    names = []
    for given in request.properties or ():
        if not isinstance(given, str):
            message = (
                f"The engine local runs machine code, and {getattr(given, '__name__', given)!r} is a function of the "
                f"readable state, in Python. Write it symbolically, as an @invariant of the model, or use "
                f"engine='evaluator' for a small space, or a Hypothesis state machine."
            )
            raise UserError(message)
        names.append(given)
    asked = None if request.properties is None else names
    found = check(
        request.model,
        properties=asked,
        limits=request.limits,
        threads=request.threads,
        symmetry=request.symmetry,
    )
    return _searched(found)


def _evaluator(request: Request) -> Answer:
    return _searched(check_by_evaluator(request.model, properties=request.properties, limits=request.limits))


def _searched(found: CheckResult) -> Answer:
    return Answer(
        found.verdict,
        found.stopped_by,
        found.distinct_states,
        found.depth,
        documents_of_check.seen(found),
        found.properties,
        found.violations,
        found.warnings,
    )


def _simulate(request: Request) -> Answer:
    from insync.explorer.simulate import simulate

    names = [given for given in request.properties or () if isinstance(given, str)]
    if len(names) < len(request.properties or ()):
        message = (
            "The engine simulate runs machine code, which cannot call Python functions of the readable state. Name "
            "properties of the model, or use a Hypothesis state machine, which takes random walks in Python."
        )
        raise UserError(message)
    asked = None if request.properties is None else names
    found = simulate(
        request.model,
        properties=asked,
        walks=request.walks,
        depth=request.depth,
        seed=request.seed,
        limits=request.limits,
        threads=request.threads,
    )
    stopped = found.stopped_by or (WALKS if found.verdict is Verdict.INCOMPLETE else None)
    violations = () if found.violation is None else (found.violation,)
    return Answer(
        found.verdict,
        stopped,
        found.steps,
        found.depth,
        documents_of_simulate.seen(found),
        found.properties,
        violations,
        found.warnings,
    )


def _about_runs(model: Model, properties: Sequence[PropertyLike] | None) -> bool:
    """Return whether properties are about runs; raise UserError if only some of them are."""
    known = run_properties_of(model)
    named = [given for given in properties or () if isinstance(given, str) and given in known]
    if named and len(named) < len(properties or ()):
        verb = "is" if len(named) == 1 else "are"
        message = f"{', '.join(named)} {verb} about runs, and other properties are about states: write a call for each."
        raise UserError(message)
    return bool(named)


def _runs(request: Request) -> Answer:
    from insync.explorer.documents import liveness as documents_of_liveness
    from insync.explorer.liveness import liveness

    names = [given for given in request.properties or () if isinstance(given, str)]
    found = liveness(request.model, properties=names, limits=request.limits)
    traces = [(each.name, each.trace) for each in found.properties if each.verdict is Verdict.VIOLATED]
    traces += [] if found.refused is None else [(TYPE_OK, found.refused)]
    return Answer(
        found.verdict,
        found.stopped_by,
        found.distinct_states,
        found.depth,
        documents_of_liveness.seen(found),
        tuple(PropertyResult(each.name, each.verdict) for each in found.properties),
        tuple(Violation(name, trace.length, trace) for name, trace in traces if trace is not None),
        found.warnings,
    )


ENGINES: Mapping[str, Callable[[Request], Answer]] = {
    "local": _local,
    "evaluator": _evaluator,
    "simulate": _simulate,
}
"""Every engine that a test may name."""


def _engine(name: str) -> Callable[[Request], Answer]:
    if name not in ENGINES:
        message = f"There is no engine {name!r}. {closest(name, ENGINES)}"
        raise UserError(message)
    return ENGINES[name]


def _meant(expect: str, stopped_by: str | Collection[str]) -> Collection[str]:
    """Return the limits that may stop the search; raise UserError for an unknown one or an unknown verdict."""
    if expect not in (Verdict.HOLDS, Verdict.VIOLATED):
        message = (
            f"expect={expect!r} must be 'holds' or 'violated'; for a search that may be incomplete, name the limit "
            f"that stops it: stopped_by='depth'."
        )
        raise UserError(message)
    return require_bounds_of_search(stopped_by, WALKS)


def require_bounds_of_search(names: str | Collection[str], *more: str) -> Collection[str]:
    """Return the names of limits that may stop a search; raise UserError for an unknown one.

    Args:
        names: one name, or several.
        more: further names that are known.
    """
    meant = [names] if isinstance(names, str) else list(names)
    known = [*(reason.value for reason in StopReason if reason is not StopReason.INTERRUPT), *more]
    for name in meant:
        if name not in known:
            message = f"stopped_by={name!r} is not a bound of a search. {closest(name, known)}"
            raise UserError(message)
    return meant


def _given_properties(model: Model, properties: Sequence[PropertyLike] | None) -> tuple[PropertyLike, ...] | None:
    if properties is not None:
        return given_list("properties", properties)
    if not default_names(model):
        message = (
            f"{model.name} has no properties to check by default and the test names none, so it would check type_ok "
            f"alone. Name some, or say so with properties=[]."
        )
        raise UserError(message)
    return None


def _warned(text: str, answer: Answer) -> str:
    """Return the text of a failure with the warnings below it."""
    return "\n\n".join([text, *(f"warning: {warning}" for warning in answer.warnings)])


def _violated_text(model: Model, answer: Answer, files: Sequence[Path]) -> str:
    names = ", ".join(violation.property for violation in answer.violations)
    grids = [describe(model, v.trace, file) for v, file in zip(answer.violations, files, strict=True)]
    return "\n\n".join([f"{model.name}: {names} violated", *grids])


def _incomplete_text(model: Model, answer: Answer, limits: Limits) -> str:
    given = {"time": limits.seconds, "states": limits.states, "depth": limits.depth, "memory": limits.memory_bytes}
    value = given.get(str(answer.stopped_by))
    by = f"{answer.stopped_by} ({value:g})" if value is not None else str(answer.stopped_by)
    names = ", ".join(found.name for found in answer.properties) or "any property"
    return (
        f"{model.name}   {describe_chosen(model.identity, model)}: incomplete, stopped by {by} after {answer.seen}. "
        f"No violation of {names} so far, but nothing is proved. Raise that limit, or write "
        f"stopped_by={str(answer.stopped_by)!r} if that is intended."
    )


def _untraced_text(model: Model, answer: Answer) -> str:
    names = ", ".join(found.name for found in answer.properties if found.verdict is Verdict.VIOLATED)
    if answer.stopped_by is None:  # a `sometimes` property
        return f"{model.name}   {describe_chosen(model.identity, model)}: violated ({names}), as no state meets it."
    return (
        f"{model.name}   {describe_chosen(model.identity, model)}: violated ({names}), and the search for a trace was "
        f"stopped by {answer.stopped_by}. Raise that limit."
    )


def _not_violated_text(model: Model, answer: Answer) -> str:
    names = ", ".join(found.name for found in answer.properties) or "no property"
    return (
        f"{model.name}   {describe_chosen(model.identity, model)}: the test expects a violation, and the verdict is "
        f"{answer.verdict}: {names} in {answer.seen}."
    )


# The text of a failure: the trace grid, the file, and the replay command.


_PLUGIN = "_insync_pytestplugin"


class FailedTest(AssertionError):
    """The base of failures of tests. Control characters of a model's texts are shown as escapes."""

    def __str__(self) -> str:
        return visible(super().__str__())


class PropertyViolated(FailedTest):
    """A property fails in a reachable state.

    Attributes:
        trace: the steps to that state.
        file: the trace file; None if the trace was not saved.
    """

    def __init__(self, message: str, trace: Trace | None = None, file: Path | None = None) -> None:
        super().__init__(message)
        self.trace, self.file = trace, file


class SuspiciousModel(UserWarning):
    """A suspicious fact about a model or its settings, in a test that passes."""


class UnexpectedVerdict(FailedTest):
    """A search is incomplete, or did not find an expected violation."""


def trace_directory() -> Path:
    """Return the directory for traces of failing tests: pytest's temporary directory, or a new one outside pytest."""
    plugin = sys.modules.get(_PLUGIN)
    directory: Path | None = plugin.trace_directory() if plugin is not None else None
    return directory or Path(tempfile.mkdtemp(prefix="insync-"))


def save(model: Model, trace: Trace, directory: Path) -> Path:
    """Write a trace to a new file in a directory, named after model and property, and return its path."""
    names = (f"{model.name}-{trace.property}{f'-{n}' if n > 1 else ''}.json" for n in itertools.count(1))
    file = next(path for name in names if not (path := directory / name).exists())
    write_trace(file, trace)
    return file


def describe(model: Model, trace: Trace, file: Path) -> str:
    """Write the page of a trace, and return its grid with the lines about page and replay."""
    return f"{render_grid(trace, model.grid)}\n{_page_line(model, trace, file)}\n{_replay_line(model, trace, file)}"


def _page_line(model: Model, trace: Trace, file: Path) -> str:
    """Write the page of a trace beside its file, and return the line that names it."""
    page = file.with_suffix(".html")
    try:
        write_page(page, [(trace, model, file)])
    except Exception as error:  # noqa: BLE001 -- an error in the model's drawing must not hide the violation
        return f"No page: {error}"
    return f"Page: {page}"


def _replay_line(model: Model, trace: Trace, file: Path) -> str:
    kind = type(model)
    try:
        select(model, [] if trace.property in run_properties_of(model) else [trace.property])
    except UserError:
        return f"Trace: {file}\n`insync replay` does not have {trace.property}, a function of this test: run the test."
    if "<locals>" in kind.__qualname__ and kind.name not in BUILT_IN:
        return (
            f"Trace: {file}\nTo replay it, move {kind.__name__} out of the function that it is defined in: "
            f"`insync replay` finds a model by its file and its name there."
        )
    return f"Replay: {replay_command(trace, file)}"
