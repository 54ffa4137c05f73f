"""What stands in the margin of the author's source: the counts of each line, over all actions that come to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from insync.explorer.coverage.results import ActionCoverage, WhyResult
from insync.explorer.coverage.source_text import argument_line

__all__ = ["Margin", "hottest", "margins"]


@dataclass(slots=True)  # not frozen: it adds up what several actions say
class Margin:
    """One entry in the margin of a line.

    Attributes:
        kind: action, require, If, when, assign, Implies or for_all.
        text: what it is about, where a line has several entries.
        counts: what is counted, by what it is called; the first is what the line is coloured by.
        parts: the same for each action that comes to the line.
    """

    kind: str
    text: str
    counts: dict[str, int]
    parts: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, action: str, counts: dict[str, int]) -> None:
        """Add what one action says."""
        for name, number in counts.items():
            self.counts[name] = self.counts.get(name, 0) + number
        self.parts[action] = counts

    @property
    def cold(self) -> tuple[str, ...]:
        """What never was so, in words."""
        counts = self.counts
        match self.kind:
            case "action":
                return ("never enabled",) if counts["bindings"] and not counts["states"] else ()
            case "require":
                if not counts["asked"]:
                    return ()
                return ("never false",) if not counts["false"] else () if counts["alone"] else ("never alone",)
            case "If" | "when":
                sides = ("true", "false") if counts["asked"] else ()
                return tuple(f"never {side}" for side in sides if not counts[side])
            case "assign":
                return ("never",) if not counts["steps"] else ()
            case _:
                return ("never true",) if not counts["true"] else ()


def margins(result: WhyResult) -> dict[str, dict[int, list[Margin]]]:
    """Return the entries of each line, by file and line."""
    found: dict[str, dict[int, dict[tuple[str, str], Margin]]] = {}
    for file, line, kind, text, action, counts in _entries(result):
        entries = found.setdefault(file, {}).setdefault(line, {})
        entries.setdefault((kind, text), Margin(kind, text, {})).add(action, counts)
    return {file: {line: list(one.values()) for line, one in sorted(lines.items())} for file, lines in found.items()}


_Entry = tuple[str, int, str, str, str, dict[str, int]]


def _entries(result: WhyResult) -> Iterator[_Entry]:
    for action in result.actions:
        yield from _of_action(action)
    for one in result.properties:
        for premise in one.premises:
            spot = premise.spot
            yield spot.file, spot.line, premise.word, premise.text, one.name, {"true": premise.true}


def _of_action(action: ActionCoverage) -> Iterator[_Entry]:
    name = action.name
    taken = {"steps": action.steps, "states": action.states, "bindings": action.bindings}
    yield action.file, action.line, "action", name, name, taken
    for guard in action.guards:
        asked = 0 if guard.decided else action.chances
        counts = {"false": guard.false, "alone": guard.alone, "rules out": guard.ruled_out, "asked": asked}
        line = argument_line(guard.spot, guard.place)
        yield guard.spot.file, line, "require", guard.text, name, counts
    for branch in action.branches if action.steps else ():
        sides = {"true": branch.true, "false": branch.false, "asked": 0 if branch.decided else action.steps}
        yield branch.spot.file, branch.spot.line, branch.word, branch.text, name, sides
    for one in action.assignments if action.steps else ():
        yield one.spot.file, one.spot.line, "assign", " ".join(one.spot.source.split()), name, {"steps": one.steps}


def hottest(entries: Sequence[Margin]) -> int:
    """Return the largest count that a line is coloured by."""
    return max((next(iter(one.counts.values())) for one in entries), default=0)
