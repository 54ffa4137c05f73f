"""Drawn refinements, beside the oracle: a drawn model, a changed copy of it, and a mapping of states from one to other.

The copy has the same fields, and other actions or initial states; the mapping is the identity but for some fields. What
must be said of it is found by plain Python, by the definition: which initial states map to none of the copy's, and
which steps lead to a state that is neither the same one under the mapping nor one step of the copy away.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from insync.explorer import Limits, bounded_check, check, liveness, prove
from insync.explorer.replay import replay
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.explorer.traces.trace import Trace
from insync.model import Model
from insync.runtime.errors import UserError
from insync_differential import Differs, expect, model_of
from insync_drawn import drawn
from insync_drawn_data import Action, Described, Run, State
from insync_drawn_spaces import TYPE_OK, Bound, Runs, Space
from insync_drawn_steps import Steps
from insync_drawn_terms import Term, const, meaning, term_text, var
from insync_drawn_text import fairness_text, model_text
from insync_drawn_types import BOOL, NUM, first, fits

__all__ = ["Refined", "compared_refinement", "drawn_refinement"]

NAME = "refined"


@dataclass(frozen=True)
class Refined:
    """A model, another one, the value of each field of the other one, and a run whose fairness is assumed, if any."""

    model: Described
    other: Described
    mapping: Mapping[str, Term]
    fair: Run | None

    @property
    def text(self) -> str:
        """The text of a model file whose class is `Drawn`, with the other model as `Other`."""
        head, own = model_text(self.model).split("class Drawn(Model):\n", 1)
        _, others = model_text(self.other).split("class Drawn(Model):\n", 1)
        body = [f"        other.{name} = {term_text(term)}" for name, term in self.mapping.items()]
        fair = "" if self.fair is None else f", {fairness_text(self.fair)}".rstrip(", ")
        mapping = [f"    @refines(Other{fair})", f"    def {NAME}(self, s, other):", *body, ""]
        return "\n".join([f"{head}class Other(Model):\n{others}\n\nclass Drawn(Model):\n{own}", *mapping])

    @cached_property
    def _values(self) -> list[tuple[Callable[[dict[str, object]], object], Term]]:
        return [(meaning(term), term) for term in self.mapping.values()]

    def image(self, state: State) -> State | None:
        """Return the state that a state maps to; None if a value does not fit its field."""
        values = tuple(value({"s": state}) for value, _ in self._values)
        fitting = [fits(of, value) for (_, of), value in zip(self.other.state.fields, values, strict=True)]
        return values if all(fitting) else None

    def failing(self, space: Space) -> int | None:
        """Return the length of the shortest trace that breaks the refinement; None if nothing that was found does."""
        steps = Steps(self.other)
        begun, known = set(steps.first), dict[State, set[State]]()
        if any(self.image(state) not in begun for state in space.levels[0]):
            return 1
        for depth, level in enumerate(space.levels, start=1):
            for state in level:
                image = self.image(state)
                if image is not None and image not in known:
                    known[image] = {one.after for one in steps.of(image) if one.after is not None} | {image}
                for step in space.steps.get(state, ()):
                    if step.after is None or step.after == state:
                        continue
                    after = self.image(step.after)
                    if image is None or after is None or after not in known[image]:
                        return depth + 1
        return None


def drawn_refinement(seed: int, states: int = 80) -> Refined:
    """Return the refinement of a seed."""
    model, chance = drawn(seed, states), random.Random(f"refinement {seed}")
    runs = [one for one in model.runs if one.kind != "sometimes"]
    model = replace(model, properties=tuple(one for one in model.properties if one.name in model.within), runs=())
    view = var("s", model.state)
    conditions = [one.requires[0] for one in model.actions if one.requires and not one.parameters]
    mapping: dict[str, Term] = {}
    for name, of in model.state.fields:
        same = Term("field", of, (view,), name=name)
        mapping[name] = same
        if chance.random() < 0.25:
            more = Term("add", NUM, (same, const(NUM, 1))) if of.kind == "Int" else const(of, first(of))
            fixed = const(of, first(of))
            options = [more, fixed] if fits(of, first(of)) else [same]
            if conditions:
                options.append(Term("if", of, (chance.choice(conditions), same, fixed)))
            mapping[name] = chance.choice(options)
    other = _changed(model, chance)
    names = {one.name for one in other.actions}
    kept = [one for one in runs if all(set(own) <= names for own, _ in (*one.weak, *one.strong))]
    return Refined(model, replace(other, runs=tuple(kept)), mapping, chance.choice(runs) if runs else None)


def _changed(model: Described, chance: random.Random) -> Described:
    """Return a copy of a model with other actions and perhaps other initial states."""
    actions: list[Action] = []
    for one in model.actions:
        kind = chance.choice(["same", "same", "same", "free", "less", "gone"])
        if kind == "free":
            one = replace(one, requires=(), late=None)
        elif kind == "less":
            denied = Term("not", BOOL, (one.requires[0],)) if one.requires else const(BOOL, False)
            one = replace(one, requires=(*one.requires, denied)) if chance.random() < 0.3 else one
        actions += [] if kind == "gone" and len(model.actions) > 1 else [one]
    made = replace(model, actions=tuple(actions), properties=(), runs=(), within=())
    fewer = replace(made, begins=model.begins[:1])
    return fewer if chance.random() < 0.15 and Steps(fewer).first else made


def compared_refinement(seed: int, states: int = 80) -> Counter[str]:
    """Compare what insync says of a drawn refinement with the oracle; return what it showed.

    Raises:
        Differs: insync says something else, or fails.
    """
    one = drawn_refinement(seed, states)
    space, seen = Space(one.model).search(states), Counter[str]()
    wanted = one.failing(space)
    depth = None if space.whole else len(space.levels)
    try:
        model = model_of(one.text)
        options = {"properties": [NAME], "limits": Limits(depth=depth), "keep_going": True}
        found = check_by_evaluator(model, **options)  # type: ignore[arg-type]
        _expect("evaluator", found.violations, wanted)
        symmetric = bool(one.model.symmetric)
        for threads in (1, 2):
            try:
                result = check(model, symmetry=symmetric and threads == 2, threads=threads, **options)  # type: ignore[arg-type]
            except UserError as error:  # members are told apart by the mapping, or by the copy
                if "symmetric" not in str(error):
                    raise
                seen["not symmetric"] += 1
                continue
            _expect(f"machine code, threads={threads}", result.violations, wanted)
            seen["symmetric"] += result.representatives is not None
            for violation in result.violations:
                if violation.property == NAME:
                    expect("the trace", _breaks(one, violation.trace, space), True)
                    expect("replayed", replay(violation.trace, model=model, place="t").reason, violation.trace.reason)
        if seed % 3 == 0 and TYPE_OK not in space.failing:  # z3 stops at the first depth at which anything fails
            near = min(3, len(space.levels))
            bounded = bounded_check(model, depth=near, properties=[NAME])
            lengths = [trace.length for trace in bounded.traces if trace.property == NAME]
            expect("z3", lengths, [wanted] if wanted is not None and max(wanted - 1, 1) <= near else [])
            proved = prove(model, properties=[NAME]).verdict
            expect(f"z3 proves it: {proved}", proved == "holds" and wanted is not None, False)
            seen[f"z3 {proved}"] += 1
        if space.whole and TYPE_OK not in space.failing and one.other.runs:
            seen += _compared_runs(one, model, space)
    except Differs:
        raise
    except Exception as error:
        if "cells that symmetry cannot permute" in str(error):  # of the drawn model by itself, whatever it refines
            return Counter(["refused"])
        message = f"insync fails: {type(error).__name__}: {error}"
        raise Differs(message) from error
    seen["refines" if wanted is None else "fails at first" if wanted == 1 else "fails"] += 1
    return seen


def _expect(how: str, violations: object, wanted: int | None) -> None:
    lengths = [one.trace_length for one in violations if one.property == NAME]  # type: ignore[attr-defined]
    expect(how, lengths, [] if wanted is None else [wanted])


def _breaks(one: Refined, trace: Trace, space: Space) -> bool:
    """Return whether the end of a trace breaks the refinement by its definition."""
    steps, others = Steps(one.model), Steps(one.other)
    by_text = {str(steps.shown(state)): state for level in space.levels for state in level}
    last = dict(trace.steps[-1].state)
    if len(trace.steps) == 1:
        return one.image(by_text[str(last)]) not in set(others.first)
    first = by_text[str(dict(trace.steps[-2].state))]
    after = next(s.after for s in steps.of(first) if s.after is not None and steps.shown(s.after) == last)
    before, image = one.image(first), one.image(after)
    return image is None or before is None or (image != before and image not in {s.after for s in others.of(before)})


class _MappedRuns(Runs):
    """The runs of a model, as those of the other one that they map to."""

    def __init__(self, one: Refined, space: Space) -> None:
        super().__init__(space)
        self.one, self.others = one, Steps(one.other)

    def view(self, state: State) -> State:
        image = self.one.image(state)
        assert image is not None
        return image

    def keeps(self, own: frozenset[Bound], strong: bool, fair: list[tuple[frozenset[Bound], bool]]) -> bool:
        """Return whether a fairness condition of the other model holds of the runs that fair runs map to."""
        able = {state for state in self.edges if any(self._by(own, self.view(state)))}
        self.loops = {
            state: [edge for edge in edges if not self._takes(own, state, edge.after)]
            for state, edges in self.edges.items()
        }
        states = self.reachable()
        broken = self.some_fair(states, fair, able) if strong else self.some_fair(states & able, fair)
        self.loops = self.edges
        return not broken

    def _by(self, own: frozenset[Bound], image: State) -> Iterator[State]:
        for step in self.others.of(image):
            if (step.action, step.parameters) in own and step.after is not None and step.after != image:
                yield step.after

    def _takes(self, own: frozenset[Bound], before: State, after: State) -> bool:
        return self.view(after) in set(self._by(own, self.view(before)))


def _compared_runs(one: Refined, model: Model, space: Space) -> Counter[str]:
    """Compare the verdicts on the other model's fairness and on its properties of runs."""
    seen: Counter[str] = Counter()
    if any(one.image(state) is None for level in space.levels for state in level):
        return seen
    runs, empty = _MappedRuns(one, space), Run("eventually", "", (), None, const(BOOL, True), (), ())
    of_other = Runs(Space(one.other))
    assumed = one.fair or empty
    found = {result.name: result for result in liveness(model).properties}
    for run in one.other.runs:
        said = found.pop(f"{NAME}_{run.name}")
        own = replace(run, weak=assumed.weak, strong=assumed.strong) if run.kind != "initially_always" else run
        expect(f"{run.name} of the mapped runs", str(said.verdict), "holds" if runs.holds(own) else "violated")
        seen[f"{run.kind} of mapped runs {said.verdict}"] += 1
    sets = [fair for run in one.other.runs for fair in of_other.fair_sets(run)]
    if sets:
        fair = runs.fair_sets(assumed)
        kept = all(runs.keeps(own, strong, fair) for own, strong in sets)
        said = found.pop(f"{NAME}_fairness")
        expect("the fairness of the other model", str(said.verdict), "holds" if kept else "violated")
        seen[f"fairness {said.verdict}"] += 1
        if said.trace is not None:
            expect("replayed", replay(said.trace, model=model, place="t").reason, said.trace.reason)
    expect("other properties of runs", list(found), [])
    return seen
