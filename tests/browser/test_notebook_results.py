"""Results as a notebook shows them, in a real browser: readable in light and dark, and a trace is never a script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import Trace, check, graph, liveness, simulate, why
from insync.explorer.tables import Shown
from insync_runs import Crossing
from insync_toys import DieHard, TokenRing

Opened = Callable[..., Any]
Judge = Callable[[str], Path]

LEVEL_AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
PAPER = {"light": "background: #ffffff; color: #1c1c1c", "dark": "background: #111111; color: #e6e6e6"}


def page_of(results: list[Shown], scheme: str) -> str:
    """A page that has colours of its own, as a notebook has, with results in it."""
    shown = "".join(f"<section>{result._repr_html_()}</section>" for result in results)
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>results</title></head>'
        f'<body style="{PAPER[scheme]}"><main><h1>results</h1>{shown}</main></body></html>'
    )


def trace() -> Trace:
    return check(DieHard).violations[0].trace


@pytest.mark.parametrize("scheme", PAPER)
def test_axe_finds_nothing_at_level_aa(opened: Opened, judge: Judge, scheme: str) -> None:
    results: list[Shown] = [check(DieHard), check(TokenRing), liveness(Crossing), simulate(DieHard, walks=50)]
    results += [graph(TokenRing), why(TokenRing), trace()]
    page = opened(page_of(results, scheme), color_scheme=scheme)
    page.evaluate("() => document.querySelectorAll('details').forEach(one => one.open = true)")
    page.add_script_tag(path=judge("axe-core/axe.min.js"))
    found = page.evaluate("tags => axe.run(document, {runOnly: {type: 'tag', values: tags}})", LEVEL_AA)
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]][:3]) for one in found["violations"]] == []
    assert len(found["passes"]) > 5


def test_every_picture_is_drawn_and_nothing_is_asked_for(opened: Opened) -> None:
    page = opened(page_of([check(DieHard), liveness(Crossing)], "light"))
    sizes = page.evaluate("() => [...document.images].map(one => [one.complete, one.naturalWidth])")
    assert len(sizes) >= 2
    assert all(complete and width > 300 for complete, width in sizes)
    assert [address for address in page.asked if not address.startswith(("file:", "data:"))] == []


def test_a_trace_with_a_script_in_it_shows_it_as_text(opened: Opened) -> None:
    bad = "<script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">"
    known = trace()
    steps = tuple(replace(step, label=f"{step.label} {bad}") for step in known.steps)
    drawn, listed = replace(known, steps=steps, reason=bad), replace(known, steps=steps, reason=bad, model=bad)
    page = opened(page_of([drawn, listed], "light"))
    assert page.title() == "results"
    assert bad in page.locator("pre").last.inner_text()
