"""The result of `why` as an HTML page: the author's source with counts in its margin, without network or script."""

from __future__ import annotations

import ast
import linecache
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from importlib import resources

from insync.explorer.coverage.results import ActionCoverage, WhyResult
from insync.model.expressions.source import Spot

__all__ = [
    "Margin",
    "argument_text",
    "hottest",
    "margins",
    "premise_text",
    "why_page",
]


_HEATS = 5
_AROUND = 8
_SHORTEST = 20  # characters of a condition that tells the entries of a line apart


def why_page(result: WhyResult) -> str:
    """Return the page as HTML."""
    found = margins(result)
    names = _names(found)
    every = [one for lines in found.values() for entries in lines.values() for one in entries]
    most = {guards: hottest([one for one in every if (one.kind == "require") is guards]) for guards in (True, False)}
    style = resources.files("insync.explorer.coverage").joinpath("source_page.css").read_text(encoding="utf-8")
    title = f"What the search of {result.model} exercised"
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{style}</style></head><body>",
            f"<header><h1>{escape(title)}</h1>{_facts(result)}</header><main>",
            *_summary(result, names),
            *(line for file, lines in found.items() for line in _file(file, names[file], lines, most)),
            "</main></body></html>",
            "",
        ]
    )


def _names(files: Mapping[str, object]) -> dict[str, str]:
    """Return a unique name for each file: the shortest end of its path that no other file has."""
    names: dict[str, str] = {}
    for file in files:
        parts = file.split(os.sep)
        for length in range(1, len(parts) + 1):
            name = "/".join(parts[-length:])
            if sum(other.endswith("/" + name) or other == name for other in files) <= 1:
                break
        names[file] = name
    return names


def _facts(result: WhyResult) -> str:
    bounds = ", ".join(f"{name} {value}" for name, value in result.bounds.items())
    counted = f"Counted in {result.states:,} states, depth {result.depth}"
    if result.stopped_by is not None:
        counted += f"; <strong>incomplete: a limit ended the search ({escape(result.stopped_by)})</strong>"
    within = f" Within {escape(', '.join(result.within))}." if result.within else ""
    return (
        f"<p>{counted}.{within}</p><details><summary>Bounds and settings</summary><p>{escape(bounds)}</p></details>"
        "<p>The margin counts. Of a condition of <code>require</code>: how often it was false, over all states and all "
        "values of the action's parameters, and how often it was the only false one. Of a branch: the steps that went "
        "either way. Of an assignment: the steps that took it. The stronger the colour, the larger the first number. "
        '<b class="cold">Boxed words</b> mark what never happened.</p>'
    )


def _summary(result: WhyResult, names: Mapping[str, str]) -> Iterator[str]:
    yield '<section aria-labelledby="actions"><h2 id="actions">Actions</h2><div class="wide"><table>'
    yield (
        '<thead><tr><th scope="col">action</th><th scope="col">states with it enabled</th><th scope="col">steps</th>'
        '<th scope="col">not exercised</th></tr></thead><tbody>'
    )
    for one in [action for action in result.actions if action.bindings]:
        place = f"{_anchor(names[one.file])}-{one.line}"
        yield (
            f'<tr><th scope="row"><a href="#{place}">{escape(one.name)}</a></th><td>{one.states:,}</td>'
            f"<td>{one.steps:,}</td><td>{escape('; '.join(_lacks(one)))}</td></tr>"
        )
    yield "</tbody></table></div>"
    impossible = ", ".join(one.name for one in result.actions if not one.bindings)
    if impossible:
        yield f"<p>Impossible at these bounds and settings: <code>{escape(impossible)}</code></p>"
    if result.unchanged:
        yield f"<p>Fields that no step changes: <code>{escape(', '.join(result.unchanged))}</code></p>"
    yield "</section>"
    if result.properties:
        yield '<section aria-labelledby="properties"><h2 id="properties">Properties</h2><ul>'
        for found in result.properties:
            near = "a property of steps" if found.near is None else f"near to failing in {_count(found.near, 'state')}"
            fails = f"; fails in {_count(found.fails, 'state')}" if found.fails else ""
            yield f"<li><code>{escape(found.name)}</code>: {near}{fails}</li>"
        yield "</ul></section>"


def _lacks(one: ActionCoverage) -> list[str]:
    if not one.states:
        return ["never enabled"]
    idle = sum(not assigned.steps for assigned in one.assignments)
    found = {
        f"{_count(len(one.never_false), 'guard')} never false": one.never_false,
        f"{_count(len(one.never_alone), 'guard')} never alone": one.never_alone,
        f"{_count(len(one.one_way), 'branch')} one-sided": one.one_way,
        f"{_count(idle, 'assignment')} never made": idle,
    }
    return [words for words, there in found.items() if there]


def _count(number: int, noun: str) -> str:
    ending = "" if number == 1 else "es" if noun.endswith("ch") else "s"
    return f"{number:,} {noun}{ending}"


def _file(file: str, name: str, lines: Mapping[int, Sequence[Margin]], most: Mapping[bool, int]) -> Iterator[str]:
    anchor = _anchor(name)
    yield f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{escape(name)}</h2>'
    yield f'<div class="wide" tabindex="0" role="region" aria-label="{escape(name)}"><table class="source">'
    yield '<thead><tr><th scope="col">line</th><th scope="col">counts</th><th scope="col">source</th></tr></thead>'
    yield "<tbody>"
    source, shown = linecache.getlines(file), _shown(sorted(lines))
    last = 0
    for number in [one for one in shown if one <= len(source)]:
        yield from _left_out(last + 1, number - 1)
        entries, text, last = lines.get(number, ()), source[number - 1], number
        heat = _heat(hottest(entries), most[entries[0].kind == "require"]) if entries else ""
        yield (
            f'<tr id="{anchor}-{number}"{heat}><td class="number">{number}</td>'
            f"<td>{''.join(_entry(one, len(entries) > 1) for one in entries)}</td>"
            f"<td><code>{escape(text.rstrip())}</code></td></tr>"
        )
    yield from _left_out(last + 1, len(source))
    yield "</tbody></table></div></section>"


def _shown(counted: Sequence[int]) -> list[int]:
    """Return the lines to show: those with counts, and `_AROUND` lines before and after each."""
    near = {line for one in counted for line in range(one - _AROUND, one + _AROUND + 1) if line > 0}
    return sorted(near)


def _left_out(first: int, last: int) -> Iterator[str]:
    if first <= last:
        lines = f"line {first}" if first == last else f"lines {first} to {last}"
        yield f'<tr class="left"><td></td><td></td><td>{lines}, without counts</td></tr>'


def _heat(number: int, most: int) -> str:
    if number < 1:
        return ' class="h0"'
    return f' class="h{1 + round((_HEATS - 1) * math.log(number) / math.log(max(most, 2)))}"'


def _entry(one: Margin, several: bool) -> str:
    said = _said(one)
    cold = "".join(f' <b class="cold">{escape(word)}</b>' for word in one.cold)
    about = f"{one.kind} {one.text}" if one.kind != "action" else one.text
    parts = [f"{action}: {_listed(counts)}" for action, counts in one.parts.items()] if len(one.parts) > 1 else []
    title = escape("\n".join([about, *parts]), quote=True)
    what = f"<i>{escape(_short(one.text))}</i> " if several else ""
    return f'<div title="{title}">{what}{escape(said)}{cold}</div>'


def _said(one: Margin) -> str:
    counts = one.counts
    match one.kind:
        case "action" if not counts["bindings"]:
            return "impossible at these bounds"
        case "action":
            return f"{_count(counts['steps'], 'step')}, {_count(counts['states'], 'state')}"
        case "require":
            rules = f"rules out {_count(counts['rules out'], 'binding')}" if counts["rules out"] else ""
            false = f"false {counts['false']:,}, alone {counts['alone']:,}" if counts["asked"] else ""
            return "; ".join(filter(None, (false, rules))) or "the settings decide it"
        case "If" | "when":
            decided = "" if counts["asked"] else "; the settings decide it"
            return f"true {counts['true']:,}, false {counts['false']:,}{decided}"
        case "assign":
            return f"{counts['steps']:,}"
        case _:
            return f"true in {counts['true']:,}"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.items())


def _short(text: str) -> str:
    return text if len(text) <= _SHORTEST else f"{text[: _SHORTEST - 3]}..."


def _anchor(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)


# ------------------------------------------------------------------------------------------------------------ margins
#
# The counts of each line, added up over the actions that reach it.


@dataclass(slots=True)  # not frozen: counts of several actions are added
class Margin:
    """One entry in the margin of a line.

    Attributes:
        kind: action, require, If, when, assign, Implies or for_all.
        text: the condition or assignment, to tell several entries of a line apart.
        counts: the counts by name; the first determines the colour of the line.
        parts: the same for each action that reaches the line.
    """

    kind: str
    text: str
    counts: dict[str, int]
    parts: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, action: str, counts: dict[str, int]) -> None:
        """Add the counts of one action."""
        for name, number in counts.items():
            self.counts[name] = self.counts.get(name, 0) + number
        self.parts[action] = counts

    @property
    def cold(self) -> tuple[str, ...]:
        """What never happened, in words."""
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
    """Return the largest first count of some entries, which determines the colour of a line."""
    return max((next(iter(one.counts.values())) for one in entries), default=0)


# ------------------------------------------------------------------------------------------- the source text of calls


def argument_text(spot: Spot, place: int = 0) -> str:
    """Return an argument of a call as it is written, in one line.

    The result is the whole call if the arguments are not written one by one, as in `require(*conditions)`. It is the
    line if the call is not found: in a `with` of several calls, or in a file that was changed since it was imported.

    Args:
        spot: the span of the call, or of the `with` statement that it opens.
        place: the index of the argument.
    """
    call = _call(spot)
    if call is None:
        return linecache.getline(spot.file, spot.line).strip()
    argument = _argument(call, place)
    return ast.unparse(call if argument is None else argument)


def argument_line(spot: Spot, place: int) -> int:
    """Return the line in which an argument of a call begins, or the call if arguments are not written one by one."""
    call = _call(spot)
    argument = None if call is None else _argument(call, place)
    return spot.line if argument is None else argument.lineno


def premise_text(spot: Spot) -> tuple[str, str]:
    """Return the word with a premise, and the premise as it is written, which is the whole call for `for_all`."""
    call = _call(spot)
    name = None if call is None else getattr(call.func, "attr", getattr(call.func, "id", None))
    if name == "for_all":
        return "for_all", " ".join(spot.source.split())
    return "Implies", argument_text(spot)


def _argument(call: ast.Call, place: int) -> ast.expr | None:
    given = call.args[: place + 1]
    alone = len(given) > place and not any(isinstance(one, ast.Starred) for one in given)
    return given[place] if alone else None


def _call(spot: Spot) -> ast.Call | None:
    linecache.checkcache(spot.file)  # so that a model that was edited is read again
    known = _calls("".join(linecache.getlines(spot.file)))
    return known.get((spot.line, spot.column, spot.end_line, spot.end_column))


@lru_cache(maxsize=64)
def _calls(source: str) -> dict[tuple[int, int, int | None, int | None], ast.Call]:
    """Return the calls in a file by their span; those that open a `with` also by the span of that statement."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # changed since it was imported
        return {}
    found: dict[tuple[int, int, int | None, int | None], ast.Call] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found[_span(node)] = node
        elif isinstance(node, ast.With) and len(node.items) == 1 and isinstance(node.items[0].context_expr, ast.Call):
            found[_span(node)] = node.items[0].context_expr
    return found


def _span(node: ast.Call | ast.With) -> tuple[int, int, int | None, int | None]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
