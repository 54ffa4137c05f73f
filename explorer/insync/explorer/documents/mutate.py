"""`insync mutate` as text, as JSON and as HTML: the fate of each mutant, and the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.explorer import Fate, MutantResult, MutationResult
from insync.explorer.documents.document import Document, Style
from insync.explorer.documents.text import STOPPED_BY, confined_lines, plural, seconds, warning_lines
from insync.explorer.traces.grid import Tone, describe_chosen
from insync.model import Model

if TYPE_CHECKING:
    from insync.explorer.documents.json_types.comparisons import MutantEntry, MutationObject

__all__ = ["MutationDocument", "html", "mutant_line"]


@dataclass(frozen=True, slots=True)
class MutationDocument(Document):
    """The mutants of a model by their fate, and the score."""

    result: MutationResult
    model: Model

    def text(self, style: Style) -> str:
        result, paint, width = self.result, style.paint, style.width
        bounds = describe_chosen(result.bounds, self.model)
        lines = [f"{result.model}   {bounds}   {plural(result.distinct_states, 'state')}"]
        judged = "judged by" if result.mutants or result.stopped_by is None else "no mutant was judged by"
        lines.append(f"{judged} {', '.join(result.properties)}")
        if result.failing:
            lines.append(f"left out, as they fail for the unchanged model already: {', '.join(result.failing)}")
        lines += confined_lines(result.within)
        lines += warning_lines(result.warnings, paint, width)
        for fate, tone in ((Fate.SURVIVED, Tone.BAD), (Fate.UNDECIDED, Tone.BAD), (Fate.KILLED, Tone.GOOD)):
            chosen = [mutant for mutant in result.mutants if mutant.fate is fate and not _not_tried(mutant)]
            if chosen:
                lines += ["", paint(f"{len(chosen)} {fate}", tone), *[f"  {mutant_line(mutant)}" for mutant in chosen]]
        equivalent = [mutant for mutant in result.mutants if mutant.fate is Fate.EQUIVALENT]
        if equivalent:
            lines += ["", f"{len(equivalent)} equivalent: from every reachable state the same steps"]
            lines += [f"  {mutant.name}" for mutant in equivalent]
        if result.stopped_by is not None:
            left, by = sum(map(_not_tried, result.mutants)), STOPPED_BY[result.stopped_by]
            what = f"{left} not tried" if result.mutants else "no mutant was tried"
            lines += ["", paint(what, Tone.BAD) + f", stopped by {by}"]
            if result.stopped_by != "interrupt":
                lines.append("The unchanged model was not searched to its end; take smaller bounds or larger limits.")
        killed, survived = result.count(Fate.KILLED), result.count(Fate.SURVIVED)
        if result.score is None:
            lines += ["", f"no score: no mutant was killed and none survived, in {seconds(result.seconds)}"]
        else:
            score = f"score {result.score:.0%}: {killed} of {killed + survived} noticed"
            lines += ["", f"{score}, in {seconds(result.seconds)}"]
        return "\n".join(lines)

    def data(self) -> MutationObject:
        result = self.result
        mutants: list[MutantEntry] = [
            {
                "name": mutant.name,
                "action": mutant.action,
                "change": mutant.change,
                "without": mutant.without,
                "fate": mutant.fate,
                "killed_by": dict(mutant.killed_by),
                "distinct_states": mutant.distinct_states,
                "stopped_by": mutant.stopped_by,
            }
            for mutant in result.mutants
        ]
        return {
            "model": result.model,
            "bounds": dict(result.bounds),
            "properties": list(result.properties),
            "left_out": list(result.failing),
            "within": list(result.within),
            "distinct_states": result.distinct_states,
            "stopped_by": result.stopped_by,
            "score": result.score,
            "mutants": mutants,
            "warnings": list(result.warnings),
            "seconds": round(result.seconds, 6),
        }


def _not_tried(mutant: MutantResult) -> bool:
    return mutant.stopped_by == "interrupt"


def mutant_line(mutant: MutantResult) -> str:
    """Return the fate of a mutant as a line."""
    lengths = {name: f"trace of {plural(n, 'state')}" if n else "not reached" for name, n in mutant.killed_by.items()}
    by = ", ".join(f"{name} ({length})" for name, length in lengths.items())
    ends = {
        "killed": f": by {by}",
        "survived": f": with {plural(mutant.distinct_states or 0, 'state')}",
        "undecided": f", stopped by {STOPPED_BY.get(mutant.stopped_by or '', mutant.stopped_by)}",
        "equivalent": "",
    }
    return f"{mutant.fate:<10}  {mutant.name}{ends[mutant.fate]}"


def html(result: MutationResult) -> list[str]:
    """Return the parts of the HTML."""
    from insync.explorer.documents.html import paragraph, table, warned

    rows = [(one.name, one.fate.value, ", ".join(one.killed_by)) for one in result.mutants]
    fates = ", ".join(f"{result.count(fate)} {fate}" for fate in Fate)
    return [
        paragraph(f"{result.model}: {plural(len(result.mutants), 'mutant')}, {fates}"),
        *warned(result.warnings),
        table(("mutant", "fate", "noticed by"), rows),
    ]
