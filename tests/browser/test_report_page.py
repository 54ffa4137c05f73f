from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import check
from insync.explorer.pictures.page import Page, html_page
from insync.explorer.pictures.picture import picture
from insync.explorer.pictures.step import epochs_of, state_table
from insync.explorer.traces.trace import Trace
from insync.explorer.traces.trace_file import trace_text
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.model import Model
from insync.runtime.text import visible
from insync_pictures import HOSTILE, hostile_trace, kip101, r13_trace, taken
from insync_runs import Crossing

Opened = Callable[..., Any]
Judge = Callable[[str], Path]

PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
WIDE = {"viewport": {"width": 1500, "height": 900}}
LEVEL_AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def page_of(*shown: tuple[Model, Trace]) -> str:
    return html_page([Page(picture(trace, model), trace_text(trace)) for model, trace in shown])


def looping() -> tuple[Model, Trace]:
    model = Crossing()
    trace = taken(model, ["p1 asks", "change", "change"], "gets_across", "it repeats")
    return model, replace(trace, loop=1)


def there_and_back() -> tuple[Model, Trace]:
    """States of which each next one has lost what the one before had: boxes that are gone, and a lower bar."""
    model, trace = kip101()
    return model, replace(trace, steps=(*trace.steps, *trace.steps[-2::-1]))


def picked(page: Any) -> str:
    text: str = page.locator("li.picked .number").first.inner_text()
    return text


def test_the_last_step_is_shown_first_and_the_arrow_keys_move(opened: Opened) -> None:
    page = opened(page_of(kip101()), **WIDE)
    assert picked(page) == "10"
    page.keyboard.press("ArrowDown")
    assert picked(page) == "10"
    moves = {"ArrowUp": "9", "Home": "0", "ArrowLeft": "0", "ArrowDown": "1", "j": "2", "k": "1", "End": "10"}
    for key, number in moves.items():
        page.keyboard.press(key)
        assert picked(page) == number
    assert page.locator("[aria-current=step]").count() == 1
    assert page.locator("li.picked .state").is_visible()
    assert page.locator(".state:visible").count() == 1


def test_a_step_is_shown_by_a_click_and_by_its_address(opened: Opened) -> None:
    page = opened(page_of(kip101()), **WIDE)
    page.get_by_role("button", name="b1 writes r0").click()
    assert picked(page) == "7"
    page.goto(f"{page.url}#t0-s3")
    page.reload()
    assert picked(page) == "3"


@pytest.mark.parametrize("like", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_step_that_is_shown_is_on_the_screen_with_its_state(opened: Opened, like: dict[str, Any]) -> None:
    page = opened(page_of(kip101()), **like)
    inside = "e => { const b = e.getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight }"
    for key in ("Home", "End", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
        assert page.locator(".picked .pick").evaluate(inside), key
        assert page.locator(".picked .state").evaluate(inside), key


def test_what_the_reason_talks_of_is_pointed_at(opened: Opened) -> None:
    page = opened(page_of(kip101()), **WIDE)
    page.keyboard.press("Home")
    page.get_by_role("link", name="offset 0").click()
    assert picked(page) == "10"
    assert page.locator(".picked .pointed").count() == 2
    assert page.locator(".picked .gone.pointed").inner_text() == "r0@2"
    page.get_by_role("link", name="offset 0").hover()
    assert page.locator(".named").count() == 2


@pytest.mark.parametrize("made", [kip101, r13_trace, there_and_back, looping, hostile_trace])
def test_each_state_is_completed_from_the_steps_before(opened: Opened, made: Callable[[], tuple[Model, Trace]]) -> None:
    model, trace = made()
    drawn = picture(trace, model)
    tables = [state_table(step, "", epochs=epochs_of(drawn.steps)) for step in drawn.steps]
    rows = """tables => tables.map(table => [...table.querySelectorAll("tr")].map(row => [
        row.className, [...row.cells].map(cell => cell.textContent.trim()),
        [...row.querySelectorAll(".box, .piece, .watermark")].map(one => one.className.replace(" pointed", ""))]))"""
    expected = opened(f"<main>{''.join(tables)}</main>", "whole.html").locator("table").evaluate_all(rows)
    page = opened(page_of((model, trace)), **WIDE)
    page.keyboard.press("Home")
    for number, whole in enumerate(expected[:-1]):
        assert page.locator("li.picked table").evaluate_all(rows) == [whole], number
        page.keyboard.press("ArrowDown")


def test_what_is_said_aloud_of_a_step_is_what_it_changes(opened: Opened) -> None:
    page = opened(page_of(kip101()), **WIDE)
    page.get_by_role("button", name="b1 writes r0").click()
    assert page.locator(".said-aloud").text_content().startswith("7, b1 writes r0. b1: writes r0. b1: L2")


def test_after_the_last_step_of_a_loop_comes_its_first(opened: Opened) -> None:
    page = opened(page_of(looping()), **WIDE)
    assert page.get_by_text("and so on for ever").is_visible()
    assert page.locator("li.round").count() == 2
    seen = [picked(page)]
    for _ in range(3):
        page.keyboard.press("ArrowDown")
        seen.append(picked(page))
    assert seen == ["3", "2", "3", "2"]
    page.get_by_role("link", name="the state after step 1").click()
    assert picked(page) == "1"


def test_the_keys_move_in_the_picture_that_was_used_last(opened: Opened) -> None:
    page = opened(page_of(kip101(), looping()), **WIDE)
    page.locator("article").nth(1).get_by_role("button", name="p1 asks").click()
    page.keyboard.press("ArrowDown")
    assert [page.locator("li.picked .number").nth(at).inner_text() for at in (0, 1)] == ["10", "2"]


def test_a_picture_whose_steps_stand_above_has_none_to_move_in(opened: Opened) -> None:
    model, trace = kip101()
    page = opened(page_of((model, trace), (model, replace(trace, property="strong_isr"))), **WIDE)
    page.get_by_role("link", name="weak_isr").focus()
    for key in ("Home", "ArrowDown"):
        page.keyboard.press(key)
    assert picked(page) == "1"
    page.locator("article").nth(1).get_by_role("link", name="offset 0").click()
    assert picked(page) == "10"


@pytest.mark.parametrize("like", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_at_level_aa(opened: Opened, judge: Judge, like: dict[str, Any], scheme: str) -> None:
    text = page_of(kip101(), looping(), hostile_trace())
    page = opened(text, **like, color_scheme=scheme, bypass_csp=True)
    page.add_script_tag(path=judge("axe-core/axe.min.js"))
    found = page.evaluate("tags => axe.run(document, {runOnly: {type: 'tag', values: tags}})", LEVEL_AA)
    shown = [(one["id"], [node["html"][:200] for node in one["nodes"]][:3]) for one in found["violations"]]
    assert shown == []
    assert len(found["passes"]) > 10


def test_dark_is_dark_and_light_is_light(opened: Opened) -> None:
    brightness = "() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    light, dark = (opened(page_of(kip101()), color_scheme=one).evaluate(brightness) for one in ("light", "dark"))
    assert min(light) > 240
    assert max(dark) < 40


@pytest.mark.parametrize("width", [320, 360, 768, 1100, 1500])
def test_the_page_is_no_wider_than_the_screen(opened: Opened, width: int) -> None:
    page = opened(page_of(kip101(), looping(), hostile_trace()), viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [320, 360, 600, 1500])
def test_no_lifeline_has_a_broken_name(opened: Opened, width: int) -> None:
    page = opened(page_of(r13_trace()), viewport={"width": width, "height": 800})
    lines = (
        "spans => spans.map(span => [span.textContent, new Set([...function* () { const range = new Range(); "
        "for (let at = 0; at < span.firstChild.length; at++) { range.setStart(span.firstChild, at); "
        "range.setEnd(span.firstChild, at + 1); yield Math.round(range.getBoundingClientRect().top) } }()]).size])"
    )
    heads = page.locator(".heads span").evaluate_all(lines)
    assert heads == [["clients", 1], ["b1", 1], ["b2", 1], ["b3", 1], ["controller", 1]]


@pytest.mark.parametrize("width", [320, 1500])
def test_no_mark_of_a_state_is_torn_at_its_hyphen(opened: Opened, width: int) -> None:
    page = opened(page_of(r13_trace()), viewport={"width": width, "height": 800})
    page.get_by_role("button", name="b1 drops b3 from the ISR").click()
    words = "spans => spans.map(span => [span.textContent, span.getClientRects().length])"
    assert page.locator("#t0-s2 .after .whole").evaluate_all(words) == [["-b3", 1]]


def test_on_paper_every_step_has_what_it_changes(opened: Opened) -> None:
    page = opened(page_of(kip101()), **WIDE)
    page.emulate_media(media="print")
    assert page.locator(".state:visible").count() == 11
    assert page.locator("#t0-s7 tr:visible").count() == 1
    assert page.locator("#t0-s9 .state tr:visible").locator(".box").inner_text() == "r0@2"
    assert page.locator("#t0-s10 tr:visible").count() == 4
    assert not page.locator(".keys").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_nothing_is_asked_of_any_network(opened: Opened) -> None:
    page = opened(page_of(kip101(), hostile_trace()))
    page.keyboard.press("ArrowUp")
    assert page.asked == [page.url]


def test_strings_of_a_trace_are_text_and_never_markup(opened: Opened) -> None:
    page = opened(page_of(hostile_trace()))
    assert page.title() != "caught"
    assert page.locator("img, b, iframe, object").count() == 0
    assert page.locator("script").count() == 1
    assert " ".join(visible(HOSTILE).split()) in " ".join(page.locator("body").inner_text().split())


def test_the_trace_can_be_saved_from_the_page(opened: Opened) -> None:
    model, trace = kip101()
    page = opened(page_of((model, trace)))
    with page.expect_download() as saved:
        page.get_by_role("link", name="The trace as a file").click()
    assert saved.value.suggested_filename == "kip101-weak_isr.json"
    assert Path(saved.value.path()).read_text(encoding="utf-8") == trace_text(trace)


def test_without_its_script_the_page_shows_all_that_it_says(opened: Opened) -> None:
    page = opened(page_of(kip101()), **WIDE, java_script_enabled=False)
    assert page.locator(".picked .state").is_visible()
    assert page.locator("svg.strip").count() == 11


def test_the_longest_trace_of_the_catalogue_opens_in_half_a_second(opened: Opened) -> None:
    longest = max(DEFECTS.values(), key=lambda defect: defect.length)
    model = Cluster(**longest.witness)
    found = {one.property: one.trace for one in check(model, properties=[longest.breaks]).violations}
    trace = found[longest.breaks]
    assert trace.length == longest.length
    opens_in_half_a_second(opened, page_of((model, trace)))


def test_a_page_of_two_hundred_steps_opens_in_half_a_second(opened: Opened) -> None:
    model, trace = r13_trace()
    long = replace(trace, steps=(trace.steps * 30)[:201], demands=())
    opens_in_half_a_second(opened, page_of((model, long)))


def opens_in_half_a_second(opened: Opened, text: str) -> None:
    assert len(text.encode()) < 300_000
    page = opened(text, **WIDE)
    opening = "() => performance.getEntriesByType('navigation')[0].loadEventEnd"
    painted = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity"
    times = []
    for _ in range(5):
        page.reload()
        while page.evaluate(painted) == float("inf"):
            page.wait_for_timeout(20)
        times.append(max(page.evaluate(opening), page.evaluate(painted)))
    assert min(times) < 500, times
