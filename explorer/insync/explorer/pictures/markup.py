"""A picture as Markdown and as a Mermaid sequence diagram, for issues, pull requests and tickets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from insync.explorer.pictures.picture import Picture, PictureStep, in_markdown, in_markdown_code, in_mermaid
from insync.explorer.pictures.step import SYMBOLS
from insync.model import Arrow, Drawn

__all__ = [
    "markdown",
    "mermaid",
]


def markdown(drawn: Picture) -> str:
    """Return a picture as Markdown: question, verdict, table of steps, diagram, settings, and the replay command."""
    rows = [["", "step", *drawn.columns], ["---"] * (2 + len(drawn.columns)), *map(_row, drawn.steps)]
    return "\n".join(
        [
            f"### {in_markdown(drawn.question)}",
            "",
            *([in_markdown(drawn.sentence), ""] if drawn.sentence else []),
            f"**{in_markdown(drawn.verdict)}** {in_markdown(''.join(phrase.text for phrase in drawn.reason))}",
            "",
            *_condition(drawn),
            _line([in_markdown(name) for name in rows[0]]),
            *map(_line, rows[1:]),
            "",
            *_loop(drawn),
            *_demands(drawn),
            *_legend(drawn),
            "```mermaid",
            mermaid(drawn).rstrip(),
            "```",
            "",
            _settings(drawn),
            "",
            f"Replay: {in_markdown_code(drawn.command)}",
            "",
        ]
    )


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _row(step: PictureStep) -> list[str]:
    label = f"{step.label} (refused)" if step.refused else step.label
    cells = [in_markdown_code(f"{cell.shown} {cell.mark}".strip(), cell=True) for cell in step.cells]
    return ["!" if step.refused else str(step.number), in_markdown_code(label, cell=True), *cells]


def _condition(drawn: Picture) -> list[str]:
    condition = drawn.condition
    if condition is None:
        return []
    fault = "does not hold" if condition.must_hold else "must not hold"
    values = ", ".join(
        f"{in_markdown_code(phrase.text)} = {in_markdown_code(value)}" for phrase, value in condition.values
    )
    return [f"{in_markdown_code(condition.text)} {fault}{f', with {values}' if values else ''}.", ""]


def _loop(drawn: Picture) -> list[str]:
    if drawn.loop is None:
        return []
    if drawn.loop == drawn.steps[-1].number:
        return ["It stays like this for ever.", ""]
    return [
        f"Then back to {f'the state after step {drawn.loop}' if drawn.loop else 'the start'}, and so on for ever.",
        "",
    ]


def _demands(drawn: Picture) -> list[str]:
    lines = [
        f"* step {demand.step}: {in_markdown(demand.text)} ({demand.hardness.value})"
        for step in drawn.steps
        for demand in step.demands
    ]
    return ["What it takes:", "", *lines, ""] if lines else []


def _legend(drawn: Picture) -> list[str]:
    said = "; ".join(f"{in_markdown_code(mark)} {in_markdown(meaning)}" for mark, meaning in drawn.legend)
    return [f"Marks: {said}.", ""] if said else []


def _settings(drawn: Picture) -> str:
    chosen = ", ".join(_setting(*one) for one in drawn.settings.items())
    return f"{in_markdown_code(drawn.model)}: {chosen}" if chosen else in_markdown_code(drawn.model)


def _setting(name: str, value: int | str) -> str:
    return f"{in_markdown(name)} {in_markdown(str(value))}"


# Mermaid.


def mermaid(drawn: Picture) -> str:
    """Return a picture as a Mermaid sequence diagram: for each step a numbered note, its messages and its marks."""
    names = {name: f"p{at}" for at, name in enumerate(drawn.lifelines)}
    ends = f"{names[drawn.lifelines[0]]},{names[drawn.lifelines[-1]]}" if len(names) > 1 else names[drawn.lifelines[0]]
    lines = ["sequenceDiagram"]
    lines += [f"    participant {key} as {in_mermaid(name)}" for name, key in names.items()]
    indent = "    "
    for step in drawn.steps[1:]:
        if drawn.loop is not None and step.number == drawn.loop + 1:
            lines.append(f"{indent}loop for ever")
            indent += "    "
        lines += [f"{indent}{line}" for line in _step(step, names, ends)]
    if len(indent) > 4:
        lines.append("    end")
    elif drawn.loop is not None:
        lines.append(f"    Note over {ends}: it stays like this for ever")
    if drawn.loop is None:
        lines.append(f"    Note over {ends}: {in_mermaid(_ending(drawn))}")
    return "\n".join([*lines, ""])


def _ending(drawn: Picture) -> str:
    return "".join(phrase.text for phrase in drawn.reason)


def _step(step: PictureStep, names: dict[str, str], ends: str) -> Iterator[str]:
    label = f"{step.number}. {step.label}{' (refused)' if step.refused else ''}"
    yield f"Note over {ends}: {in_mermaid(label)}"
    yield from _lines(step.drawn, names, ends)


def _lines(drawn: Sequence[Drawn], names: dict[str, str], ends: str) -> Iterator[str]:
    for one in drawn:
        text = in_mermaid(one.text)
        if isinstance(one, Arrow):
            line = {(False, False): "->>", (True, False): "-->>", (False, True): "-x", (True, True): "--x"}
            yield f"{names[one.sender]}{line[one.reply, one.lost]}{names[one.receiver]}: {text}"
        elif one.lifeline in names:
            yield f"Note over {names[one.lifeline]}: {in_mermaid(SYMBOLS[one.kind] + one.text)}"
