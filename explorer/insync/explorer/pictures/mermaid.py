"""A picture as Mermaid's sequenceDiagram: for tickets, and for pages that render it, as GitHub and GitLab do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from insync.explorer.pictures.picture import Picture, PictureStep, in_mermaid
from insync.explorer.pictures.step import SYMBOLS
from insync.model import Arrow, Drawn

__all__ = ["mermaid"]


def mermaid(drawn: Picture) -> str:
    """Return the text of the diagram. Each step has a note with its number, and what is drawn of it."""
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
