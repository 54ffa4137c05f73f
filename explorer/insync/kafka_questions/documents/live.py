"""`insync describe`: what is live in a model of Kafka and why, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from insync.explorer.documents.document import Document, Style
from insync.explorer.documents.text import wrapped
from insync.explorer.traces.grid import Tone
from insync.kafka.live_rules import LiveFeature, LiveModel

__all__ = ["LiveDocument"]


@dataclass(frozen=True, slots=True)
class LiveDocument(Document):
    """What is live in a model of Kafka.

    Attributes:
        live: its features, rules and steps.
    """

    live: LiveModel

    def text(self, style: Style) -> str:
        live = self.live
        taken = [step for step in live.steps if step.bindings]
        sections = {
            "In force, and by what": _features(live.features, on=True),
            "Rules of the release": [
                (one.name, f"{one.value}: {one.sentence}") for one in live.rules if not one.changed
            ],
            "Rules that differ from those of the release": [
                (one.name, f"{one.value}: {one.sentence}") for one in live.rules if one.changed
            ],
            f"Steps that can be taken ({len(taken)} of {len(live.steps)})": [
                (step.name, f"{step.sentence} Kafka: {step.kafka}" if step.kafka else step.sentence) for step in taken
            ],
            "Not in force, and by what": _features(live.features, on=False),
        }
        lines = [f"{live.model}   {' '.join(f'{name}={value}' for name, value in live.chosen.items())}"]
        for title, rows in sections.items():
            if rows:
                lines += ["", style.paint(title, Tone.HEADING), *_aligned(rows, style.width)]
        off = [f"{step.name} ({step.waits_for})" for step in live.steps if step.waits_for]
        others = [step.name for step in live.steps if not step.bindings and not step.waits_for]
        titled = {
            "Steps that need a feature that is not in force, each with that feature": off,
            "Other steps that cannot be taken": others,
        }
        for title, names in titled.items():
            if names:
                listed = wrapped(", ".join(names), style.width, "  ")
                lines += ["", style.paint(title, Tone.HEADING), *listed]
        return "\n".join(lines)

    def data(self) -> Mapping[str, Any]:
        return asdict(self.live)


def _features(features: Iterable[LiveFeature], *, on: bool) -> list[tuple[str, str]]:
    """Rows of the features that are in force, or are not, each with what decided that: of one that is off the last."""
    found = []
    for one in features:
        if one.on is on:
            read = [f"{name}={value}" for name, value in one.decided_by.items()]
            found.append((one.name, f"{one.sentence} ({', '.join(read if on else read[-1:])})"))
    return found


def _aligned(rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    rows = list(rows)
    left = max(len(name) for name, _ in rows)
    for name, text in rows:
        first, *others = wrapped(text, max(width - left - 4, 40), rest="") or [""]
        yield f"  {name:<{left}}  {first}"
        yield from (f"  {'':<{left}}  {line}" for line in others)
