"""insync beside the oracle: every engine's answers on a drawn model, each compared with what plain Python finds."""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from insync.explorer import CheckResult, Limits, bounded_check, check, graph, liveness, prove
from insync.explorer.export.tla.module import tla_files
from insync.explorer.search import beyond_memory, breadth_first
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.explorer.tlc import Tlc, find_tlc, tlc_opinion, tlc_opinion_of_runs
from insync.explorer.traces.trace import Trace
from insync.model import Model
from insync.properties.registry import confined
from insync.runtime.errors import UserError
from insync.runtime.watch import Watch
from insync_drawn_data import Described, State
from insync_drawn_spaces import (
    DEADLOCK_FREE,
    TYPE_OK,
    Bound,
    Lasso,
    Runs,
    Space,
    alike,
    begins_alike,
    orbits,
    outside_of,
    stuck,
    taken,
    within_reach,
)
from insync_drawn_steps import Step, Steps, bindings, holds_for_all
from insync_drawn_text import model_text
from insync_drawn_types import shown

__all__ = ["Differs", "compared", "turn"]


class Differs(AssertionError):
    """insync says something else than the oracle."""


def expect(what: str, said: object, expected: object) -> None:
    """Raise Differs unless insync says what the oracle says."""
    if said != expected:
        message = f"{what}: insync says {said!r}, the oracle {expected!r}"
        raise Differs(message)


def model_of(text: str) -> Model:
    """Return the model of a text; raises ModelError where it cannot be traced."""
    scope: dict[str, Any] = {"__name__": "drawn_model"}
    exec(compile(text, "drawn_model.py", "exec", dont_inherit=True), scope)  # noqa: S102 -- a text made here
    model: Model = scope["Drawn"]()
    return model


class Compared:
    """One model and its oracle.

    Args:
        drawn: the model as data.
        states: how many states the oracle looks for; with more the first levels are compared.
    """

    def __init__(self, drawn: Described, states: int) -> None:
        self.drawn, self.text = drawn, model_text(drawn)
        self.space = Space(drawn).search(states)
        self.steps = Steps(drawn)
        self.names = [one.name for one in drawn.properties if one.name not in drawn.within]
        self.seen: Counter[str] = Counter()
        self.traces: dict[tuple[bool, int | None], list[Trace]] = {}
        self.model = model_of(self.text)

    # ------------------------------------------------------------------------------------------------ searches

    def expected(self, names: Sequence[str], depth: int | None, keep_going: bool) -> dict[str, object]:
        """Return what a search must say, by the oracle."""
        space, failing, expanded, last = self.space, dict[str, int](), 0, 0
        stopped = False
        for last in range(1, len(space.levels) + 1):
            failing |= {name: last for name in names if space.failing.get(name) == last}
            if failing and not keep_going:
                break
            if last == depth:
                stopped = True
                break
            if space.failing.get(TYPE_OK) == last:
                failing[TYPE_OK] = last
                if not keep_going:
                    break
            expanded = last
        assert stopped or space.whole or failing, "the oracle has to see as much as the search"
        of_steps = {one.name for one in self.drawn.properties if one.of_steps}
        otherwise = "holds" if expanded == last else "incomplete"
        return {
            "levels": tuple(within_reach(space, last)),
            "steps": taken(space, expanded),
            "deadlocks": stuck(space, expanded),
            "outside": outside_of(space, last),
            "stopped by": "depth" if stopped else None,
            "verdict": "violated" if failing else otherwise,
            "failing": {name: level + (name in of_steps) for name, level in failing.items()},
            "visited": last,
        }

    def searched(
        self, how: str, result: CheckResult, names: Sequence[str], depth: int | None, keep_going: bool
    ) -> None:
        """Compare the result of a search with the oracle."""
        expected = self.expected(names, depth, keep_going)
        last = expected.pop("visited")
        assert isinstance(last, int)
        said = {
            "levels": result.levels,
            "steps": dict(result.actions),
            "deadlocks": result.deadlocks,
            "outside": result.outside,
            "stopped by": None if result.stopped_by is None else str(result.stopped_by),
            "verdict": str(result.verdict),
            "failing": {one.property: one.trace_length for one in result.violations},
        }
        for what, wanted in expected.items():
            expect(f"{what} ({how})", said[what], wanted)
        expect(f"states ({how})", result.distinct_states, sum(result.levels))
        broken = {one.name for one in result.properties if one.verdict == "violated"}
        expect(f"properties ({how})", broken, set(said["failing"]))  # type: ignore[call-overload]
        if result.representatives is not None:
            expect(f"representatives ({how})", result.representatives, orbits(self.space, last))
            self.seen["fewer visited"] += result.representatives < result.distinct_states
        for violation in result.violations:
            self.replayed(f"{how}: {violation.property}", violation.trace)
        self.seen["violated" if broken else "not violated"] += 1

    def replayed(self, how: str, trace: Trace) -> None:
        """Execute a trace by the oracle, and see that its end breaks the property."""
        states, bounds = self.executed(how, trace)
        if trace.property == TYPE_OK:
            assert trace.refused is not None
            wrong = [named(self.drawn, one) for one in self.steps.of(states[-1]) if one.after is None]
            expect(f"{how}: refused", (trace.refused.action, dict(trace.refused.parameters)) in wrong, True)
        elif trace.property == DEADLOCK_FREE:
            expect(f"{how}: steps of the last state", len(list(self.steps.of(states[-1]))), 0)
        elif trace.loop is not None:
            run = next(one for one in self.drawn.runs if one.name == trace.property)
            lasso = Lasso(tuple(states), tuple(bounds), trace.loop)
            expect(f"{how}: a fair run that breaks it", self.runs.breaks(run, lasso), True)
        elif trace.witness:
            run = next(one for one in self.drawn.runs if one.name == trace.property)
            then, levels = holds_for_all(run.then, ()), self.runs.space.levels
            first = []
            for values in bindings(run.parameters):
                reached = [
                    number for number, level in enumerate(levels, 1) if any(then({"s": s, **values}) for s in level)
                ]
                first.append(reached[0])
            expect(f"{how}: length of the witness", trace.length, max(first))
            holds = [then({"s": states[-1], **values}) for values in bindings(run.parameters)]
            expect(f"{how}: a witness", any(holds), True)
        else:
            found = next(one for one in self.drawn.properties if one.name == trace.property)
            holds_there = holds_for_all(found.condition, found.parameters)
            views = {"before": states[-2], "after": states[-1]} if found.of_steps else {"s": states[-1]}
            expect(f"{how}: the last state is good", holds_there(views), False)

    def executed(self, how: str, trace: Trace) -> tuple[list[State], list[Bound]]:
        """Return the states of a trace and the actions with their parameters, each step taken by the oracle."""
        states = [state for state in self.steps.first if self.steps.shown(state) == dict(trace.steps[0].state)]
        expect(f"{how}: initial states like the first", len(states), 1)
        bounds: list[Bound] = []
        for number, step in enumerate(trace.steps[1:], start=1):
            ways = [
                one
                for one in self.steps.of(states[-1])
                if named(self.drawn, one) == (step.action, dict(step.parameters)) and one.after is not None
            ]
            expect(f"{how}: ways to take step {number}", len(ways), 1)
            assert ways[0].after is not None
            expect(f"{how}: state {number}", dict(step.state), self.steps.shown(ways[0].after))
            states.append(ways[0].after)
            bounds.append((ways[0].action, ways[0].parameters))
        return states, bounds

    # ------------------------------------------------------------------------------------------ what is compared

    def by(self, engines: Sequence[str], folder: Path, states: int) -> Counter[str]:
        """Compare what some engines say; return what it showed."""
        self.by_evaluator()
        if "machine code" in engines:
            self.by_machine_code(folder / "run")
        if "disk" in engines:
            self.on_disk(folder / "full")
        if "graph" in engines:
            self.by_graph(states)
        if "z3" in engines:
            self.by_z3()
        if "tlc" in engines:
            self.by_tlc(find_tlc())
        self.seen["models"] += 1
        self.seen["whole"] += self.space.whole
        self.seen["states"] += sum(map(len, self.space.levels))
        return self.seen

    def by_evaluator(self) -> None:
        """Compare the search of the evaluator, to its end, to the first violation, and cut off."""
        whole = None if self.space.whole else len(self.space.levels)
        cut = min(2, len(self.space.levels))
        names = [*self.names, DEADLOCK_FREE]
        for keep_going, depth in ((True, whole), (False, whole), (False, cut)):
            result = check_by_evaluator(self.model, properties=names, limits=Limits(depth=depth), keep_going=keep_going)
            self.searched(f"evaluator, keep_going={keep_going}, depth={depth}", result, names, depth, keep_going)
            self.traces[keep_going, depth] = [one.trace for one in result.violations]

    def by_machine_code(self, folder: Path) -> None:
        """Compare the search of machine code: threads, symmetry, a cut, and going on with a run."""
        whole = None if self.space.whole else len(self.space.levels)
        cut = min(2, len(self.space.levels))
        symmetric, names = bool(self.drawn.symmetric), [*self.names, DEADLOCK_FREE]
        if symmetric:
            try:
                check(self.model, properties=names, limits=Limits(depth=1), threads=1)
            except UserError as error:
                begins = [word for word in ("member singled out", "single a member out") if word in str(error)]
                expect(f"initial states are alike, but {error}", bool(begins) and begins_alike(self.space), False)
                symmetric = False
                self.seen["not symmetric for insync"] += 1
            else:
                expect("members are alike", True, alike(self.space))
                self.seen["symmetric"] += 1
        ways = [(1, False, True, whole), (2, True, symmetric, whole), (2, True, True, cut)]
        if symmetric and self.drawn.seed % 3 == 0:
            ways += [(2, False, False, whole)]
        for threads, keep_going, asked, depth in ways:
            how = f"machine code, threads={threads}, keep_going={keep_going}, symmetry={asked}, depth={depth}"
            options: dict[str, Any] = {"properties": names, "threads": threads, "keep_going": keep_going}
            options |= {"limits": Limits(depth=depth), "symmetry": asked and symmetric}
            result = check(self.model, **options)
            self.searched(how, result, names, depth, keep_going)
            same = self.traces.get((keep_going, depth))
            if same is not None and result.representatives is None:
                expect(f"traces ({how})", [one.trace for one in result.violations], same)
        options = {"properties": names, "threads": 1, "keep_going": True, "symmetry": symmetric, "run_dir": folder}
        check(self.model, limits=Limits(depth=1), **options)
        resumed = check(self.model, limits=Limits(depth=whole), resume=True, **options)
        self.searched("machine code, resumed", resumed, names, whole, True)
        with patch.object(breadth_first, "MOST_WHOLE", 1):
            coded = check(self.model, limits=Limits(depth=whole), properties=names, threads=1, symmetry=symmetric)
        self.searched("machine code, states as codes", coded, names, whole, False)
        self.seen["machine code"] += 1

    def on_disk(self, folder: Path) -> None:
        """Compare the search that goes on with files when it says that the memory is full."""
        whole = None if self.space.whole else len(self.space.levels)
        names = [*self.names, DEADLOCK_FREE]
        calls, may_use = itertools.count(), Watch.may_use

        def seldom(watch: Watch, size: int) -> bool:
            return next(calls) != 4 and may_use(watch, size)

        with patch.object(Watch, "may_use", seldom), patch.object(beyond_memory, "LEAST_ROWS", 1):
            options: dict[str, Any] = {"properties": names, "symmetry": False, "threads": 1, "keep_going": True}
            found = check(self.model, limits=Limits(depth=whole), run_dir=folder, **options)
        self.seen[f"kept as {found.kept}"] += 1
        self.searched("machine code, on disk", found, names, whole, True)

    def by_graph(self, states: int) -> None:
        """Compare all states, steps and properties of runs, with machine code and the graph of all states."""
        if not self.drawn.runs:
            return
        everywhere = Space(self.drawn, confined=False).search(states)
        if everywhere.whole and self.drawn.seed % 2 == 0:
            self._same_graph(everywhere)
        space = self.space
        if not space.whole:
            return
        self.runs = Runs(space)
        result = liveness(self.model)
        expect("a step that does not fit", result.refused is not None, TYPE_OK in space.failing)
        if result.refused is not None:
            expect("steps to what does not fit", result.refused.length, space.failing[TYPE_OK])
            self.replayed("liveness", result.refused)
            self.seen["runs not defined"] += 1
            return
        expect("states of the graph", result.distinct_states, sum(map(len, space.levels)))
        for run, found in zip(self.drawn.runs, result.properties, strict=True):
            expect(f"{run.name}", str(found.verdict), "holds" if self.runs.holds(run) else "violated")
            if found.trace is not None:
                self.replayed(run.name, found.trace)
            self.seen[f"{run.kind} {found.verdict}"] += 1
            self.seen[f"leads_to {run.tail} {found.verdict}"] += bool(run.tail)
            self.seen[f"confined: {found.verdict}"] += bool(self.drawn.within)

    def _same_graph(self, space: Space) -> None:
        found = graph(self.model, within=())
        readable = [repr(found.readable(number)) for number in range(len(found))]
        ours = {state: repr(self.steps.shown(state)) for level in space.levels for state in level}
        expect("states of the graph", sorted(readable), sorted(ours.values()))
        bound = [(action.name, dict(action.shown_parameters)) for action in found.actions]
        steps = zip(found.source, found.action, found.target, strict=True)
        theirs = sorted(repr((readable[a], bound[number], readable[b])) for a, number, b in steps)
        wanted = [(ours[state], one) for state, steps_of in space.steps.items() for one in steps_of]
        told = sorted(repr((a, named(self.drawn, one), ours[one.after])) for a, one in wanted if one.after is not None)
        expect("steps of the graph", theirs, told)
        self.seen["graphs"] += 1

    def by_tlc(self, tlc: Tlc) -> None:
        """Compare what TLC says of the states and of the properties of runs in the exported module."""
        if not self.space.whole or TYPE_OK in self.space.failing:
            return
        runs, model = Runs(self.space), confined(self.model)
        try:
            files = tla_files(model, [run.name for run in self.drawn.runs], "Drawn")
            searched = tla_files(model, [*self.names, TYPE_OK], "Drawn")
        except UserError:
            self.seen["TLC: not exported"] += 1
            return
        found = tlc_opinion(tlc, model, searched, Limits(seconds=60))
        failing = {name: level for name, level in self.space.failing.items() if name in self.names}
        expect("verdict (TLC)", str(found.verdict), "violated" if failing else "holds")
        if not failing and not self.drawn.within:
            expect("states (TLC)", found.states, sum(map(len, self.space.levels)))
        self.seen[f"TLC: {found.verdict}"] += 1
        for run in self.drawn.runs:
            if run.kind != "sometimes":
                try:
                    said, _ = tlc_opinion_of_runs(tlc, model, files, run.name, Limits(seconds=60))
                except UserError as error:  # TLC refuses properties that every run has
                    if "Temporal formula is a tautology" not in str(error):
                        raise
                    expect(f"{run.name} (a tautology for TLC)", runs.holds(run), True)
                    continue
                expect(f"{run.name} (TLC)", str(said.verdict), "holds" if runs.holds(run) else "violated")
                self.seen[f"TLC: {run.kind} {run.tail}".strip()] += 1
                self.seen[f"TLC, confined: {said.verdict}"] += bool(self.drawn.within)

    def by_z3(self) -> None:
        """See that what z3 proves holds, and that its counterexamples are real and the shortest."""
        levels = len(self.space.levels)
        depth = min(3, levels)
        if not self.names or not depth:
            return
        failing = self.expected(self.names, None if self.space.whole else levels, True)["failing"]
        assert isinstance(failing, dict)
        if not self.space.whole and self._refuses_at_the_end():  # z3 looks at the steps of the last level, too
            failing.setdefault(TYPE_OK, levels)
        bounded = bounded_check(self.model, depth=depth, properties=self.names)
        for trace in bounded.traces:
            self.replayed("z3", trace)
            expect(f"z3: length of {trace.property}", trace.length, failing.get(trace.property))
            self.seen["z3 counterexamples"] += 1
        of_steps = {one.name for one in self.drawn.properties if one.of_steps}
        near = any(length - (name in of_steps) <= depth for name, length in failing.items() if name != TYPE_OK)
        if near and bounded.verdict != "violated":
            expect("z3: verdict within the bound", str(bounded.verdict), "violated")
        for name in self.names:
            proved = prove(self.model, properties=[name])
            if proved.verdict == "holds":
                expect(f"z3 proves {name}, which fails at", failing.get(name), None)
            elif proved.verdict == "violated":
                expect(f"z3 refutes {name}: it fails", {name, TYPE_OK}.isdisjoint(failing), False)
            self.seen[f"z3 {proved.verdict}"] += 1

    def _refuses_at_the_end(self) -> bool:
        """Whether a state of the last level has a refused step, also where the oracle has not expanded that level."""
        inside = (state for state in self.space.levels[-1] if not self.space.outside(state))
        return any(step.after is None for state in inside for step in self.steps.of(state))


def named(drawn: Described, step: Step) -> tuple[str, dict[str, str]]:
    """Return the action of a step and its parameters as traces name them."""
    kinds = dict(next(action.parameters for action in drawn.actions if action.name == step.action))
    labels = {name: shown(kinds[name], value) for name, value in step.parameters}
    return step.action, {
        name: str(label).lower() if label in (True, False) and kinds[name].kind == "Bool" else str(label)
        for name, label in labels.items()
    }


def turn(drawn: Described) -> tuple[str, ...]:
    """Return what a model is compared with besides the evaluator, which costs least: this or that by its seed."""
    number, place = divmod(drawn.seed, 5)
    symmetric = bool(drawn.symmetric) and place in (1, 3)
    chosen = {
        "machine code": place == 0 or symmetric,
        "disk": place == 0 and number % 4 == 0,
        "graph": place in (0, 4) and bool(drawn.runs),
        "z3": place == 2 and number % 2 == 0,
    }
    return tuple(name for name, asked in chosen.items() if asked)


def compared(drawn: Described, *, states: int, engines: Sequence[str]) -> Counter[str]:
    """Compare insync with the oracle on one model; return what it showed.

    Args:
        drawn: the model.
        states: how many states the oracle looks for at most.
        engines: of "machine code", "disk", "graph", "z3" and "tlc" those that are asked besides the evaluator.

    Raises:
        Differs: insync says something else, or fails.
    """
    try:
        one = Compared(drawn, states)
        with tempfile.TemporaryDirectory() as folder:
            return one.by(engines, Path(folder), states)
    except Differs:
        raise
    except Exception as error:
        message = f"insync fails: {type(error).__name__}: {error}"
        raise Differs(message) from error
