from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from insync.explorer.pictures.markup import mermaid
from insync.explorer.pictures.picture import picture
from insync.explorer.pictures.svg import svg
from insync.explorer.traces.trace import RefusedStep, Trace
from insync.kafka.placement import Placement
from insync.model import Model
from insync_pictures import hostile_trace, kip101, taken
from insync_runs import Crossing


def refused() -> tuple[Model, Trace]:
    model, trace = kip101()
    step = RefusedStep("leader_write", {}, "b1 writes r1", "leo is 3")
    return model, replace(trace, property="type_ok", refused=step)


def looping(loop: int) -> tuple[Model, Trace]:
    model = Crossing()
    return model, replace(taken(model, ["p1 asks", "change", "change"], "gets_across", "the end"), loop=loop)


def words_of_mermaid() -> tuple[Model, Trace]:
    model, trace = kip101()
    words = ["end", "loop x", "Note over a: b", "a->>b: c", "%% hidden", "a;b", "#35;", "autonumber", "rect rgb(0,0,0)"]
    steps = tuple(replace(step, label=word) for step, word in zip(trace.steps, [*words, "", "par"], strict=True))
    return model, replace(trace, steps=steps, reason="end\nend")


DIAGRAMS: list[tuple[str, Callable[[], tuple[Model, Trace]]]] = [
    ("kip101", kip101),
    ("hostile", hostile_trace),
    ("refused", refused),
    ("from the first step", lambda: looping(1)),
    ("from the start", lambda: looping(0)),
    ("stays", lambda: looping(3)),
    ("words of the language", words_of_mermaid),
    ("placement", lambda: (Placement(), taken(Placement(), ["b1 fails", "b1 returns"], "type_ok", ""))),
]


@pytest.mark.parametrize("made", [made for _, made in DIAGRAMS], ids=[name for name, _ in DIAGRAMS])
def test_mermaid_reads_the_diagram(
    opened: Callable[..., Any], judge: Callable[[str], Path], made: Callable[[], tuple[Model, Trace]]
) -> None:
    model, trace = made()
    page = opened("<!DOCTYPE html><title>diagram</title><div id=here></div>")
    page.add_script_tag(path=judge("mermaid/dist/mermaid.min.js"))
    text = mermaid(picture(trace, model))
    assert page.evaluate("text => mermaid.parse(text)", text)["diagramType"] == "sequence"
    page.evaluate("async text => { here.innerHTML = (await mermaid.render('drawn', text)).svg }", text)
    assert page.locator("#here svg").count() == 1
    assert page.title() == "diagram"


def test_mermaid_shows_the_texts_as_they_are(opened: Callable[..., Any], judge: Callable[[str], Path]) -> None:
    model, trace = words_of_mermaid()
    page = opened("<!DOCTYPE html><title>diagram</title><div id=here></div>")
    page.add_script_tag(path=judge("mermaid/dist/mermaid.min.js"))
    text = mermaid(picture(trace, model))
    page.evaluate("async text => { here.innerHTML = (await mermaid.render('drawn', text)).svg }", text)
    shown = page.locator("#here").text_content()
    for word in ("1. loop x", "2. Note over a: b", "3. a->>b: c", "4. %% hidden", "5. a;b", "6. #35;"):
        assert word in shown


@pytest.mark.parametrize("made", [made for _, made in DIAGRAMS], ids=[name for name, _ in DIAGRAMS])
def test_the_drawing_is_xml_that_a_browser_shows(
    opened: Callable[..., Any], made: Callable[[], tuple[Model, Trace]]
) -> None:
    model, trace = made()
    text = svg(picture(trace, model))
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 -- it is our own
    page = opened(text, "drawing.svg")
    assert page.locator("svg.strip").count() >= trace.length
    assert page.locator("script, img, a").count() == 0
