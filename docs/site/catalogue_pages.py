"""The catalogue of defects as pages: what each entry says, and its shortest trace, found as the page is written."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from enum import Enum
from html import escape
from pathlib import Path

from insync.conformance.documents.seen import seen_at_length
from insync.explorer.pictures.page import Page, captioned, html_page
from insync.explorer.pictures.picture import Picture, picture
from insync.explorer.pictures.svg import svg
from insync.explorer.traces.grid import render_grid
from insync.explorer.traces.trace import Trace
from insync.explorer.traces.trace_file import trace_text
from insync.kafka.defects import DEFECTS, LEFT_OUT, Defect
from insync.kafka.releases import Rules
from insync.kafka_questions.defects import DefectFound, caption_of_defect, search_defect
from insync.kafka_questions.question import with_shown_bounds
from insync.runtime.text import plural

__all__ = ["entry_page", "index_page", "write_catalogue", "write_pictures"]

_HEADS = "| entry | what goes wrong | steps | KIP, ticket |"
_KINDS = {
    "R": "Published defects",
    "N": "Defects found with the model",
    "M": "Guards left out",
    "L": "What never happens",
    "C": "Settings, and limits of the protocol",
}


def write_catalogue(folder: Path, beside: Path, *, traces: bool = True) -> None:
    """Write a page for each entry, with its picture, and one that lists them.

    Args:
        folder: where the sources of the site are.
        beside: the folder that is copied to the site as it is: for the pictures and the pages to step through.
        traces: whether the entries are searched; without that their pages name the command that does.
    """
    for path in (folder, beside):
        path.mkdir(parents=True)
    (folder / "index.md").write_text(index_page())
    if not traces:
        for defect in DEFECTS.values():
            (folder / f"{defect.name}.md").write_text(entry_page(defect, None))
        return
    with ThreadPoolExecutor(2) as workers:
        for defect, found in zip(DEFECTS.values(), workers.map(search_defect, DEFECTS.values()), strict=True):
            (folder / f"{defect.name}.md").write_text(entry_page(defect, found))
            write_pictures(beside, defect, found)


def write_pictures(folder: Path, defect: Defect, found: DefectFound) -> None:
    """Write the picture of an entry's trace, and the page to step through, if it has a trace."""
    for drawn, trace in _pictures(defect, found):
        (folder / f"{defect.name}.svg").write_text(svg(replace(drawn, question=f"{defect.name}: {defect.title}.")))
        page = Page(drawn, trace_text(trace), drawn.question)
        (folder / f"{defect.name}-trace.html").write_text(html_page([page]))


def _pictures(defect: Defect, found: DefectFound) -> list[tuple[Picture, Trace]]:
    """Return the picture of the trace of an entry, with its name in place of the property, if it has one."""
    file = Path(f"{defect.name}.json")
    command = f"insync defects {defect.name} --trace {file}"
    drawn = [replace(picture(trace, found.model, file=file), command=command) for trace in found.traces]
    caption = caption_of_defect(defect, found)
    return [(captioned(one, caption), trace) for one, trace in zip(drawn, found.traces, strict=True)]


def index_page() -> str:
    """Return the page that lists the entries, by their kind."""
    lines = ["# The catalogue of defects", "", "What went wrong in Kafka's replication, or could, each with a shortest"]
    lines += ["trace found by a search of [the model `cluster`](../guide/cluster.md) as this page was made.", ""]
    for letter, title in _KINDS.items():
        entries = [defect for defect in DEFECTS.values() if defect.name.startswith(letter)]
        lines += [f"## {title}", "", _HEADS, "|---|---|---|---|"]
        lines += [f"| [{d.name}]({d.name}.md) | {d.title} | {_steps(d)} | {d.ticket} |" for d in entries]
        lines.append("")
    lines += ["## Not modelled", "", "| entry | what goes wrong | why |", "|---|---|---|"]
    lines += [f"| {entry.name} | {entry.title} ({entry.ticket}) | {entry.reason} |" for entry in LEFT_OUT]
    names = "\n".join(DEFECTS)
    return "\n".join(lines) + f"\n\n```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{names}\n```\n"


def _steps(defect: Defect) -> str:
    return "no harm" if defect.harmless else str(defect.length - 1)


def entry_page(defect: Defect, found: DefectFound | None) -> str:
    """Return the page of an entry, with what a search for it found; None where nobody has searched."""
    lines = [f"# {defect.name}: {defect.title}", "", f"{defect.ticket}; affected: {defect.affected}", ""]
    lines += [defect.story, "", f"**Fix.** {defect.fix[:1].upper()}{defect.fix[1:]}.", ""]
    lines += [_rule(defect, name) for name in defect.rules]
    if defect.rules:
        lines.append("")
    lines += [f"- {said[:1].upper()}{said[1:]}" for said in seen_at_length(defect.name)]
    lines += ["", "## A shortest trace", "", *_trace(defect, found), ""]
    lines += ["## See it yourself", "", f"    insync defects {defect.name}"]
    if defect.name.startswith(("N", "R")):
        lines.append(f"    insync kafka bisect {defect.name}")
    return "\n".join(lines) + "\n"


def _rule(defect: Defect, name: str) -> str:
    value, fixed = defect.rules[name], defect.base.get(name, Rules().value(name))
    if isinstance(value, Enum) and isinstance(fixed, Enum):
        return f"- The rule `{name}`: {value.value}; fixed: {fixed.value}"
    return f"- {'With' if value else 'Without'} the rule `{name}`: {Rules.documentation(name)}"


def _trace(defect: Defect, found: DefectFound | None) -> list[str]:
    """Return the picture, the way to the page to step through, and the grid, for who reads text."""
    if found is None:
        return ["This page was made without the trace; the command below finds it."]
    if found.trace is None:
        return [f"None: `{defect.breaks}` holds in all {plural(found.distinct_states, 'state')} at these bounds."]
    ((drawn, trace),) = _pictures(defect, found)
    grid = render_grid(with_shown_bounds(trace, found.model), found.model.grid, width=110)
    said, name = escape(f"{defect.name}: {defect.title}. {drawn.verdict}"), defect.name
    return [
        "``````{raw} html",
        f'<div class="picture"><a href="{name}-trace.html"><img src="{name}.svg" alt="{said}"></a></div>',
        f'<p><a href="{name}-trace.html">As a page to step through, to print or to send</a></p>',
        f"<details><summary>As text</summary><pre>{escape(grid)}</pre></details>",
        "``````",
    ]
