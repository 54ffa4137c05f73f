"""`insync prove` as text, as JSON and as HTML: the verdict, each query with its time, and counterexamples."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from insync.explorer.documents.document import Document, Style
from insync.explorer.documents.text import (
    STOPPED_BY,
    confined_lines,
    describe_choices,
    describe_traces,
    plural,
    seconds,
    warning_lines,
)
from insync.explorer.documents.traces import violation_entry
from insync.explorer.mining.clauses import StatedLemma, texts_of
from insync.explorer.prove import induction_trace
from insync.explorer.results import Verdict
from insync.explorer.traces.grid import Tone, render_grid
from insync.model.catalogue import as_argument, is_in_file, model_reference
from insync.proofs.results import BoundedVerdict, ProofVerdict
from insync.proofs.smt import z3_version
from insync.properties.invariants import TYPE_OK, names_within

if TYPE_CHECKING:
    from insync.explorer.documents.json_types.proofs import (
        BoundedObject,
        InductionEntry,
        InductionStep,
        MinedEntry,
        ProofObject,
        ProveHead,
        QueryEntry,
    )
    from insync.explorer.documents.json_types.traces import ViolationEntry
    from insync.explorer.mining.synthesis import Mined
    from insync.explorer.proof_results import BoundedResult, ProofResult
    from insync.explorer.traces.grid import Paint
    from insync.explorer.traces.trace import Trace
    from insync.model import Model
    from insync.proofs.results import CounterexampleToInduction, Induction, Query
    from insync.properties.invariants import Invariant

__all__ = ["BoundedDocument", "ProofDocument", "answer_of", "html"]


_FEW_MINED = 12
"""The most mined lemmas that are shown without a proof."""


@dataclass(frozen=True, slots=True)
class BoundedDocument(Document):
    """A bounded check, with the files of its traces."""

    search: BoundedResult
    files: Sequence[Path | None] = ()

    def text(self, style: Style) -> str:
        search, paint, width = self.search, style.paint, style.width
        result, names = search.result, ", ".join(p.name for p in search.properties) or TYPE_OK
        lines = describe_choices(model_reference(search.model), search.model.identity, search.model, width)
        if result.verdict is BoundedVerdict.VIOLATED:
            lengths = ", ".join(f"{t.property} (trace of {plural(t.length, 'state')})" for t in search.traces)
            lines.append(paint(f"violated: {lengths}", Tone.BAD) + "; there is no shorter trace")
        elif result.stopped_by is not None:
            by = STOPPED_BY[result.stopped_by]
            lines.append(paint(f"incomplete: stopped by {by} at depth {result.depth + 1}", Tone.OPEN))
            lines.append(f"  no violation of {names} up to depth {result.depth}; longer traces were not looked at")
        elif result.verdict is BoundedVerdict.UNKNOWN:
            reason = result.queries[-1].reason
            lines.append(paint(f"incomplete: unknown at depth {result.depth + 1}", Tone.OPEN) + f" ({reason})")
            lines.append(f"  no violation of {names} up to depth {result.depth}; longer traces were not looked at")
        else:
            lines.append(paint(f"incomplete: no violation of {names} up to depth {result.depth}", Tone.OPEN))
            lines.append("  longer traces were not looked at, and nothing is proved of them")
        lines += confined_lines(names_within(search.model))
        lines += warning_lines(search.warnings, paint, width)
        lines += _used(search.lemmas, "assuming, having proved them,", width)
        lines += ["", *_queries(result.queries), f"z3 {seconds(result.seconds)}"]
        lines += describe_traces(search.traces, search.model.grid, self.files, paint, width)
        return "\n".join(lines)

    def data(self) -> BoundedObject:
        search = self.search
        result = search.result
        stopped_by = {BoundedVerdict.NONE_WITHIN: "depth", BoundedVerdict.UNKNOWN: "unknown"}.get(result.verdict)
        return {
            **_head(search, search.model.identity),
            "method": "bmc",
            "verdict": search.verdict,
            "stopped_by": result.stopped_by or stopped_by,
            "complete_depth": result.depth,
            "queries": [_query_entry(search, query) for query in result.queries],
            "violations": _violations(search.traces, self.files),
            "seconds": round(result.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class ProofDocument(Document):
    """An induction, with the file of the proof and the files of the traces of initiation."""

    attempt: ProofResult
    saved: Path | None = None
    files: Sequence[Path | None] = ()

    def text(self, style: Style) -> str:
        attempt, paint, width = self.attempt, style.paint, style.width
        lines = describe_choices(model_reference(attempt.model), attempt.identity, attempt.model, width)
        lines += _verdict(attempt, paint)
        lines += confined_lines(names_within(attempt.model))
        lines += [f"  tried: {way}" for way in attempt.tried]
        lines += _mined(attempt, width)
        lines += _unanswered(attempt.result, width)
        lines += warning_lines(attempt.warnings, paint, width)
        lines += _used(*_told(attempt), width)
        lines += ["", *_without_lost(attempt, width), *_queries(attempt.result.queries)]
        lines.append(f"z3 {seconds(attempt.result.seconds)}")
        if attempt.dropped:
            lines += ["", "dropped:"]
            for dropped in attempt.dropped:
                text = f"{dropped.name}, by {dropped.by}: {dropped.reason}"
                lines += textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ")
        lines += describe_traces(attempt.traces, attempt.model.grid, self.files, paint, width)
        before = f"{plural(attempt.result.k, 'good state')} that need not be reachable"
        for query in attempt.result.queries:
            if query.counterexample is not None:
                lines += ["", _counterexample(attempt, query, query.counterexample, before, paint, width)]
        last = attempt.mined.open if attempt.mined is not None else None
        if last is not None and last.counterexample is not None and attempt.result.counterexample is None:
            before = "a good state that all candidates allow"
            lines += ["", _counterexample(attempt, last, last.counterexample, before, paint, width)]
        shown = attempt.result.counterexample or (None if last is None else last.counterexample)
        if shown is not None and is_in_file(model_reference(attempt.model)):
            lines += ["", "If state 0 cannot be reached, say why as another @invariant, and prove both."]
        if self.saved is not None:
            says = "Check again" if attempt.verdict is Verdict.HOLDS else f"Not proved yet, see {self.saved}. Try again"
            lines += ["", f"{says}: {_again(model_reference(attempt.model), self.saved)}"]
        return "\n".join(lines)

    def data(self) -> ProofObject:
        attempt = self.attempt
        result = attempt.result
        return {
            **_head(attempt, attempt.identity),
            "method": "induction",
            "verdict": attempt.verdict,
            "induction": result.verdict.value,
            "k": result.k,
            "stopped_by": result.stopped_by,
            "queries": [_query_entry(attempt, query) for query in result.queries],
            "unanswered": list(result.unanswered),
            "ways": list(attempt.tried),
            "unbounded": list(attempt.unbounded),
            "conditions": texts_of(attempt.lemmas),
            "mined": None if attempt.mined is None else _mined_entry(attempt, attempt.mined),
            "not_proved": list(attempt.lost),
            "dropped": [{"name": d.name, "by": d.by, "reason": d.reason} for d in attempt.dropped],
            "violations": _violations(attempt.traces, self.files),
            "proof": None if self.saved is None else str(self.saved),
            "seconds": round(result.seconds, 3),
        }


def _again(reference: str, saved: Path) -> str:
    """Return the command that checks a saved proof again. It names a user's own model, as a proof runs no file."""
    named = [as_argument(reference)] if is_in_file(reference) else []
    return shlex.join(["insync", "prove", *named, "--lemmas", as_argument(str(saved))])


def _verdict(attempt: ProofResult, paint: Paint) -> list[str]:
    names = ", ".join([*(p.name for p in attempt.properties), *attempt.lost]) or TYPE_OK
    result, by = attempt.result, f" by {attempt.result.k}-induction" if attempt.result.k > 1 else " by induction"
    if attempt.verdict is Verdict.HOLDS:
        return [paint(f"holds: {names}", Tone.GOOD) + f"{_reach(attempt)},{by}", *_for_every(attempt)]
    if attempt.traces:
        lengths = ", ".join(f"{t.property} (trace of {plural(t.length, 'state')})" for t in attempt.traces)
        return [paint(f"violated: {lengths}", Tone.BAD) + ", found by initiation"]
    if result.stopped_by is not None and result.verdict is not ProofVerdict.REFUTED:
        return [paint(f"incomplete: {names} not proved", Tone.OPEN)]
    if attempt.lost:
        first = paint(f"incomplete: {', '.join(attempt.lost)} not proved", Tone.OPEN)
        kept = ", ".join(p.name for p in attempt.properties)
        if not kept or result.verdict is not ProofVerdict.PROVED:
            return [first]
        return [f"{first}; kept by every step{', with the lemmas below' if attempt.lemmas else ''}: {kept}"]
    if result.verdict is ProofVerdict.REFUTED:
        first = paint(f"incomplete: {names} not proved", Tone.OPEN) + "; the conditions are not inductive"
        return [first, "  a step from a good state leads to a bad one; whether such a state is reachable is not known"]
    unknown = next(q for q in result.queries if q.verdict is ProofVerdict.UNKNOWN)
    first = paint(f"incomplete: {names} not proved", Tone.OPEN) + f"; {unknown.name} is unknown ({unknown.reason})"
    return [first, *_for_every(attempt)]


def _for_every(attempt: ProofResult) -> list[str]:
    """Return the line about bounds that were left open."""
    if not attempt.unbounded:
        return []
    names = ", ".join(attempt.unbounded)
    if attempt.verdict is Verdict.HOLDS:
        return [f"  for every value of {names}"]
    return [f"  tried for every value of {names}; what is not proved may hold all the same"]


def _reach(attempt: ProofResult) -> str:
    within = names_within(attempt.model)
    return f" within {', '.join(within)} in every state that is reached" if within else " in every reachable state"


def _unanswered(result: Induction, width: int) -> list[str]:
    """Return the line about the queries that had no answer when the proof was stopped."""
    if result.stopped_by is None:
        return []
    text = f"stopped by {STOPPED_BY[result.stopped_by]} before an answer to: {', '.join(result.unanswered)}"
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ")


def _mined(attempt: ProofResult, width: int) -> list[str]:
    """Return the line about mined candidates, and the states that they were tried on."""
    mined = attempt.mined
    if mined is None:
        return []
    where = ", ".join(f"{name} {value}" for name, value in mined.bounds.items())
    of = f"{'all ' if mined.all_states else ''}{mined.states} reachable states{f' ({where})' if where else ''}"
    text = f"mined: {plural(mined.candidates, 'candidate')}, true of {of}; {mined.fallen:,} are broken by steps"
    if not mined.states:
        stopped = attempt.result.stopped_by is not None
        why = "for lack of time" if stopped else "as there are more initial states than a search can begin with"
        text = f"mined: nothing, {why}"
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ")


def _told(attempt: ProofResult) -> tuple[Sequence[Invariant], str]:
    """Return the lemmas to show, and the words before them: all lemmas of a proof, else a few of many."""
    mined = [lemma for lemma in attempt.lemmas if isinstance(lemma, StatedLemma)]
    if attempt.verdict is Verdict.HOLDS or len(mined) <= _FEW_MINED:
        return attempt.lemmas, "with"
    others = [lemma for lemma in attempt.lemmas if lemma not in mined]
    more = len(mined) - _FEW_MINED
    return [*others, *mined[:_FEW_MINED]], f"with {more} more mined lemmas that --json lists, and with these"


def _used(lemmas: Sequence[Invariant], words: str, width: int) -> list[str]:
    if not lemmas:
        return []
    texts = texts_of(lemmas)
    named = ", ".join(lemma.name for lemma in lemmas if lemma.name not in texts)
    first = f"{words} {plural(len(lemmas), 'lemma')}: {named}".rstrip()
    lines = textwrap.wrap(first, width, initial_indent="  ", subsequent_indent="    ")
    for lemma in lemmas:
        if lemma.name in texts:
            text = f"{lemma.name}: {lemma.sentence}"
            lines += textwrap.wrap(text, width, initial_indent="    ", subsequent_indent="      ")
    return lines


def answer_of(query: Query) -> str:
    """Return the answer of a query in a word: for a depth whether it has a violation, else the verdict."""
    if not query.name.startswith("depth "):
        return query.verdict.value
    return {ProofVerdict.PROVED: "none", ProofVerdict.REFUTED: "violation", ProofVerdict.UNKNOWN: "unknown"}[
        query.verdict
    ]


def _without_lost(attempt: ProofResult, width: int) -> list[str]:
    """Return the line that says what the queries are about where a property that was asked for was dropped."""
    if not attempt.lost or not attempt.result.queries:
        return []
    kept = [p.name for p in attempt.properties]
    kept += [plural(len(attempt.lemmas), "lemma")] if attempt.lemmas else []
    about = ", ".join(kept) or "whether values stay in their domains"
    return textwrap.wrap(f"queries without {', '.join(attempt.lost)}, about {about}:", width)


def _queries(queries: Sequence[Query]) -> list[str]:
    """Return a line for each query: its name, answer, time and number of cases."""
    width = max((len(query.name) for query in queries), default=0)
    lines = []
    for query in queries:
        cases = f"  {plural(query.cases, 'case')}" if query.cases > 1 else ""
        reason = f"  {query.reason}" if query.reason else ""
        lines.append(
            f"  {query.name:<{width}}  {answer_of(query):<9}  {seconds(query.seconds):>8}{cases}{reason}".rstrip()
        )
    return lines


def _counterexample(
    attempt: ProofResult, query: Query, found: CounterexampleToInduction, before: str, paint: Paint, width: int
) -> str:
    head = f"{query.name}, after {before}, breaks {', '.join(found.failing)}:"
    trace = induction_trace(attempt.model, found)
    grid = render_grid(trace, attempt.model.grid, width=width, paint=paint, header=False)
    return f"{textwrap.fill(head, width)}\n\n{grid}"


def _head(tried: ProofResult | BoundedResult, bounds: Mapping[str, int | str]) -> ProveHead:
    """Return the keys that both ways of proving have, before those of their own."""
    return {
        "model": model_reference(tried.model),
        "bounds": bounds,
        "engine": "z3",
        "engine_version": z3_version(),
        "properties": [p.name for p in tried.properties],
        "lemmas": [lemma.name for lemma in tried.lemmas],
        "within": list(names_within(tried.model)),
        "warnings": list(tried.warnings),
    }


def _mined_entry(attempt: ProofResult, mined: Mined) -> MinedEntry:
    return {
        "candidates": mined.candidates,
        "fallen": mined.fallen,
        "states": mined.states,
        "all_states": mined.all_states,
        "bounds": dict(mined.bounds),
        "questions": mined.questions,
        "open": None if mined.open is None else _query_entry(attempt, mined.open),
    }


def _query_entry(tried: ProofResult | BoundedResult, query: Query) -> QueryEntry:
    found = query.counterexample
    counterexample: InductionEntry | None = None
    if found is not None:
        trace = induction_trace(tried.model, found)
        steps: list[InductionStep] = [
            {"action": s.action, "parameters": dict(s.parameters), "state": s.state} for s in trace.steps
        ]
        counterexample = {"failing": list(found.failing), "reason": found.reason, "steps": steps}
    return {
        "name": query.name,
        "verdict": query.verdict.value,
        "seconds": round(query.seconds, 3),
        "cases": query.cases,
        "reason": query.reason,
        "counterexample": counterexample,
    }


def _violations(traces: Sequence[Trace], files: Sequence[Path | None]) -> list[ViolationEntry]:
    return [violation_entry(trace, file) for trace, file in zip(traces, files, strict=True)]


def html(result: ProofResult | BoundedResult) -> list[str]:
    """Return the parts of the HTML."""
    from insync.explorer.documents.html import different, folded, heading, paragraph, table, warned
    from insync.explorer.proof_results import BoundedResult

    if isinstance(result, BoundedResult):
        return [
            heading(result.verdict, model_reference(result.model), result.model.identity),
            paragraph(f"Traces of up to {plural(result.result.depth, 'state')} were looked at, with z3.", dim=True),
            *warned(result.warnings),
            _queries_html(result.result.queries),
            *different(result.traces),
        ]
    names = [found.name for found in (*result.properties, *result.lemmas)]
    dropped = folded("Dropped", table(("lemma", "by", "why"), ((d.name, d.by, d.reason) for d in result.dropped)))
    return [
        heading(result.verdict, model_reference(result.model), result.model.identity),
        paragraph(f"By induction over every step: {', '.join(names) or 'the domains of all fields'}."),
        *warned(result.warnings),
        _queries_html(result.result.queries),
        *([dropped] if result.dropped else []),
        *different(result.traces),
        *_not_inductive(result),
    ]


def _not_inductive(result: ProofResult) -> Iterator[str]:
    """Yield the drawings of counterexamples to induction."""
    for query in result.result.queries:
        if query.counterexample is not None:
            yield _drawing_of_induction(result.model, query.counterexample)


def _drawing_of_induction(model: Model, found: CounterexampleToInduction) -> str:
    """Return a counterexample to induction as HTML: a good state, and the step from it to a bad one."""
    from insync.explorer.documents.html import picture_html
    from insync.explorer.pictures.picture import picture

    drawn = picture(induction_trace(model, found), model)
    asked = f"Does every step from a good state of {model.name} keep {', '.join(found.failing)}?"
    said = "No: this one does not. Whether its first state is ever reached is not known."
    return picture_html(replace(drawn, question=asked, verdict=said, command=""))


def _queries_html(queries: Sequence[Query]) -> str:
    from insync.explorer.documents.html import folded, table

    rows = [(query.name, query.verdict.value, f"{query.seconds:.2f} s", query.reason) for query in queries]
    return folded(plural(len(queries), "question") + " to z3", table(("question", "answer", "time", ""), rows))
