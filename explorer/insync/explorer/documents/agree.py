"""`insync agree` as text, as JSON and as HTML: the result of each engine, and where they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.explorer.agree import Agreement, Opinion
from insync.explorer.documents.document import Document, Style
from insync.explorer.documents.text import STOPPED_BY, confined_lines, plural, seconds, warning_lines
from insync.explorer.traces.grid import Columns, Tone, describe_chosen
from insync.explorer.traces.state_diff import model_behind
from insync.model.language.presentation import cell_text

if TYPE_CHECKING:
    from insync.explorer.documents.json_types.comparisons import AgreementObject, OpinionEntry

__all__ = ["AgreementDocument", "describe_opinion", "html"]


@dataclass(frozen=True, slots=True)
class AgreementDocument(Document):
    """A comparison of engines, with the columns of the state that they treat differently."""

    found: Agreement
    columns: Columns

    def text(self, style: Style) -> str:
        found, paint, width = self.found, style.paint, style.width
        bounds = describe_chosen(found.bounds, model_behind(self.columns))
        lines = [f"{found.model}   {bounds}   properties {', '.join(found.properties) or 'none'}"]
        lines += confined_lines(found.within)
        longest = max(len(opinion.engine) for opinion in found.opinions)
        lines += [f"  {opinion.engine:<{longest}}  {describe_opinion(opinion)}" for opinion in found.opinions]
        lines += warning_lines(found.warnings, paint, width)
        if found.differences:
            lines += ["", paint("The engines differ:", Tone.BAD), *[f"  {text}" for text in found.differences]]
            lines += ["", *_where(found, self.columns)]
        elif found.stopped_by is not None:
            so_far = "the engines do not differ so far" if found.compared > 1 else "nothing is compared yet"
            lines += ["", paint(f"Stopped by Ctrl-C; {so_far}.", Tone.OPEN)]
        elif found.agreed:
            lines += ["", paint("The engines agree.", Tone.GOOD)]
        else:
            lines += ["", paint("Fewer than two engines looked at any state, so nothing was compared.", Tone.BAD)]
        if any(opinion.of_share for opinion in found.opinions):
            lines.append(
                "Each engine has a share of half a minute, and some were stopped at its end. --max-seconds S gives "
                "each of them S seconds instead."
            )
        return "\n".join(lines)

    def data(self) -> AgreementObject:
        found = self.found
        opinions: list[OpinionEntry] = [
            {
                "engine": opinion.engine,
                "verdict": opinion.verdict,
                "depth": opinion.depth,
                "states": opinion.states,
                "steps": opinion.taken,
                "levels": None if opinion.levels is None else list(opinion.levels),
                "actions": None if opinion.actions is None else dict(opinion.actions),
                "failing": dict(opinion.failing),
                "stopped_by": opinion.stopped_by,
                "of_share": opinion.of_share,
                "note": opinion.note,
                "seconds": round(opinion.seconds, 6),
            }
            for opinion in found.opinions
        ]
        state = found.state
        return {
            "model": found.model,
            "bounds": dict(found.bounds),
            "properties": list(found.properties),
            "within": list(found.within),
            "agreed": found.agreed,
            "stopped_by": found.stopped_by,
            "engines": opinions,
            "differences": list(found.differences),
            "warnings": list(found.warnings),
            "state": None if state is None else {"level": state.level, "state": state.state, "why": state.sentence},
        }


def _where(found: Agreement, columns: Columns) -> list[str]:
    if found.state is None and found.stopped_by is not None:
        return ["Stopped by Ctrl-C before the first state was found that they treat differently."]
    if found.state is None:
        text = (
            "Evaluator and machine code take the same steps from every state that the evaluator reaches, so the "
            "difference lies in how states are kept or counted."
        )
        return [text]
    cells = [f"  {name}: {cell_text(cell)}" for name, cell in columns(found.state.state).items()]
    return [f"First in this state, in level {found.state.level}:", *cells, found.state.sentence]


def describe_opinion(opinion: Opinion) -> str:
    """Return the result of an engine as a line."""
    ended = "" if opinion.stopped_by is None else STOPPED_BY[opinion.stopped_by]
    stopped = [f"stopped by {'its share' if opinion.of_share else ended}"] if ended else []
    if opinion.verdict is None:
        return f"did not run: {opinion.note or ''.join(stopped)}"
    parts = [str(opinion.verdict)]
    parts += [f"{name} fails after {plural(length, 'state')}" for name, length in opinion.failing.items()]
    if opinion.levels is not None:
        parts.append(f"{plural(sum(opinion.levels), 'state')}, depth {opinion.depth}")
    elif opinion.states is not None:
        parts.append(f"{plural(opinion.states, 'state')}, depth {opinion.depth}")
    if opinion.taken is not None:
        parts.append(plural(opinion.taken, "step"))
    parts += stopped
    if opinion.note:
        parts.append(opinion.note)
    return f"{', '.join(parts)} ({seconds(opinion.seconds)})"


def html(result: Agreement) -> list[str]:
    """Return the parts of the HTML."""
    from insync.explorer.documents.html import paragraph, table, warned

    columns = result._columns("engines")
    differences = (paragraph(text) for text in result.differences)
    rows = zip(*columns.values(), strict=True)
    return [paragraph(result.summary()), *differences, *warned(result.warnings), table(list(columns), rows)]
