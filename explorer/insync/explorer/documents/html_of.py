"""The HTML of each kind of result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import singledispatch

from insync.explorer.agree import Agreement
from insync.explorer.coverage.results import WhyResult
from insync.explorer.documents.drawn import drawing_of, drawing_of_induction
from insync.explorer.documents.html import badge, bars, folded, heading, page, paragraph, table
from insync.explorer.liveness import LivenessResult, RunResult
from insync.explorer.mutate import Fate, MutationResult
from insync.explorer.products.divergence import DiffResult
from insync.explorer.proof_results import BoundedResult, ProofResult
from insync.explorer.results import CheckResult, PropertyResult, Violation
from insync.explorer.runs.state_graph import StateGraph
from insync.explorer.simulate import SimulationResult
from insync.explorer.tables import Shown, plural
from insync.explorer.traces.trace import Trace
from insync.model.catalogue import model_reference
from insync.proofs.results import Query

__all__ = ["html_of"]


@singledispatch
def html_of(result: Shown) -> str:
    """Return a result as self-contained HTML; all text of models is escaped."""
    return page([paragraph(result.summary())])


@html_of.register
def _check(result: CheckResult) -> str:
    lengths = {violation.property: violation.trace_length for violation in result.violations}
    return page(
        [
            heading(result.verdict, result.model, result.bounds),
            _properties(result.properties, lengths),
            paragraph(_searched(result), dim=True),
            *_warnings(result.warnings),
            folded("Levels", bars(result.levels, _levels_caption(result.levels))) if result.levels else "",
            folded("Actions", _actions(result.actions, result.impossible)),
            *_different(violation.trace for violation in result.violations),
        ]
    )


@html_of.register
def _simulation(result: SimulationResult) -> str:
    found = result.violation
    lengths = {} if found is None else {found.property: found.trace_length}
    walked = f"{plural(result.walks, 'walk')} of up to {plural(result.depth, 'step')}, seed {result.seed}"
    shorter = "" if found is None else f"; walk {result.failed_walk:,} fails, and is shown shortened"
    return page(
        [
            heading(result.verdict, result.model, result.bounds),
            _properties(result.properties, lengths),
            paragraph(f"{walked}{shorter}. Walks prove nothing.", dim=True),
            *([] if result.abstract_states is None else [paragraph(f"{result.abstract_states.summary()}.", dim=True)]),
            *_warnings(result.warnings),
            folded("Actions", _actions(result.actions, ())),
            *([] if found is None else [drawing_of(found.trace)]),
        ]
    )


@html_of.register
def _liveness(result: LivenessResult) -> str:
    rows = [
        (run.name, run.verdict.value, run.kind.value, str(run.fairness), run.undecided) for run in result.properties
    ]
    size = f"{plural(result.distinct_states, 'state')}, {plural(result.transitions, 'step')}"
    stopped = "" if result.stopped_by is None else f"; stopped by {result.stopped_by}"
    return page(
        [
            heading(result.verdict, result.model, result.bounds),
            table(("property", "verdict", "kind", "fairness", ""), rows),
            paragraph(size + stopped, dim=True),
            *_warnings(result.warnings),
            *([] if result.refused is None else [drawing_of(result.refused)]),
            *(drawing_of(run.trace) for run in result.properties if run.trace is not None),
        ]
    )


@html_of.register
def _run(result: RunResult) -> str:
    head = f"<p>{badge(result.verdict)} {paragraph(result.name)}</p>"
    return page([head, paragraph(result.sentence), *([] if result.trace is None else [drawing_of(result.trace)])])


@html_of.register
def _proof(result: ProofResult) -> str:
    names = [found.name for found in (*result.properties, *result.lemmas)]
    dropped = folded("Dropped", table(("lemma", "by", "why"), ((d.name, d.by, d.reason) for d in result.dropped)))
    return page(
        [
            heading(result.verdict, model_reference(result.model), result.model.identity),
            paragraph(f"By induction over every step: {', '.join(names) or 'the domains of all fields'}."),
            *_warnings(result.warnings),
            _queries(result.result.queries),
            *([dropped] if result.dropped else []),
            *_different(result.traces),
            *_not_inductive(result),
        ]
    )


@html_of.register
def _bounded(result: BoundedResult) -> str:
    return page(
        [
            heading(result.verdict, model_reference(result.model), result.model.identity),
            paragraph(f"Traces of up to {plural(result.result.depth, 'state')} were looked at, with z3.", dim=True),
            *_warnings(result.warnings),
            _queries(result.result.queries),
            *_different(result.traces),
        ]
    )


@html_of.register
def _agreement(result: Agreement) -> str:
    columns = result._columns("engines")
    differences = (paragraph(text) for text in result.differences)
    rows = zip(*columns.values(), strict=True)
    return page([paragraph(result.summary()), *differences, *_warnings(result.warnings), table(list(columns), rows)])


@html_of.register
def _mutation(result: MutationResult) -> str:
    rows = [(one.name, one.fate.value, ", ".join(one.killed_by)) for one in result.mutants]
    fates = ", ".join(f"{result.count(fate)} {fate}" for fate in Fate)
    return page(
        [
            paragraph(f"{result.model}: {plural(len(result.mutants), 'mutant')}, {fates}"),
            *_warnings(result.warnings),
            table(("mutant", "fate", "noticed by"), rows),
        ]
    )


@html_of.register
def _why(result: WhyResult) -> str:
    lists = {
        "Guards that were never false": [(one.name, g.text) for one in result.actions for g in one.never_false],
        "Guards that were never alone in being false": [
            (one.name, guard.text) for one in result.actions for guard in one.never_alone
        ],
        "Branches of which one side was never taken": [
            (one.name, f"{branch.word} {branch.text}") for one in result.actions for branch in one.one_way
        ],
    }
    near = [(one.name, one.near, one.fails) for one in result.properties]
    taken = [(one.name, one.states, one.steps) for one in result.actions if one.bindings]
    return page(
        [
            paragraph(result.summary()),
            *_warnings(result.warnings),
            table(("action", "states with it enabled", "steps"), taken),
            *(folded(f"{title}: {len(rows)}", table(("action", ""), rows)) for title, rows in lists.items() if rows),
            *([paragraph(f"No step changes {', '.join(result.unchanged)}.")] if result.unchanged else []),
            table(("property", "states near to failing", "states in which it fails"), near),
        ]
    )


@html_of.register
def _diff(result: DiffResult) -> str:
    properties = [
        (one.name, one.first and one.first.value, one.second and one.second.value) for one in result.properties
    ]
    sizes = [("states", result.first.distinct_states, result.second.distinct_states)]
    sizes.append(("steps", result.first.transitions, result.second.transitions))
    heads = ("", result.first.model, result.second.model)
    only = [piece for one in result.only if one for piece in (paragraph("Only one allows:"), drawing_of(one.trace))]
    return page([paragraph(result.summary()), table(heads, properties), table(heads, sizes), *only])


@html_of.register
def _graph(result: StateGraph) -> str:
    sizes = [after - before for before, after in zip(result.starts, result.starts[1:], strict=False)]
    return page([paragraph(result.summary()), bars(sizes, _levels_caption(sizes))])


@html_of.register
def _violation(result: Violation) -> str:
    return page([drawing_of(result.trace)])


@html_of.register
def _trace(result: Trace) -> str:
    return page([drawing_of(result)])


def _not_inductive(result: ProofResult) -> Iterator[str]:
    """Yield the drawings of counterexamples to induction."""
    for query in result.result.queries:
        if query.counterexample is not None:
            yield drawing_of_induction(result.model, query.counterexample)


def _different(traces: Iterable[Trace]) -> Iterator[str]:
    """Yield the drawing of each trace; for one with the steps of an earlier one, a sentence."""
    drawn: list[Trace] = []
    for trace in traces:
        if trace.refused is None and any(trace.steps == earlier.steps for earlier in drawn):
            yield paragraph(f"{trace.property} fails after the same steps.\n{trace.reason}")
        else:
            yield drawing_of(trace)
        drawn.append(trace)


def _properties(properties: Sequence[PropertyResult], lengths: Mapping[str, int]) -> str:
    rows = [(found.name, found.verdict.value, lengths.get(found.name)) for found in properties]
    return table(("property", "verdict", "states of its trace" if lengths else ""), rows)


def _searched(result: CheckResult) -> str:
    states = plural(result.distinct_states, "state")
    if result.representatives is not None:
        states += f" (by {plural(result.representatives, 'representative')})"
    what = f"{states}, {plural(result.transitions, 'step')}, depth {result.depth}"
    if result.stopped_by is not None:
        return f"{what}; stopped by {result.stopped_by}, nothing is known of the rest"
    return what if not result.frontier else f"{what}; the search ended with the level in which a property fails"


def _levels_caption(levels: Sequence[int]) -> str:
    return f"states by depth, 1 to {len(levels)}; the largest level has {max(levels, default=0):,}"


def _actions(actions: Mapping[str, int], impossible: Sequence[str]) -> str:
    ranked = sorted(actions.items(), key=lambda pair: -pair[1])
    return table(
        ("action", "steps", ""),
        ((name, number, "impossible at these bounds" if name in impossible else None) for name, number in ranked),
    )


def _queries(queries: Sequence[Query]) -> str:
    rows = [(query.name, query.verdict.value, f"{query.seconds:.2f} s", query.reason) for query in queries]
    return folded(plural(len(queries), "question") + " to z3", table(("question", "answer", "time", ""), rows))


def _warnings(warnings: Sequence[str]) -> Iterator[str]:
    yield from (paragraph(f"warning: {text}") for text in warnings)
