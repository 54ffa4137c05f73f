"""The page of `insync explore` in a real browser: clicks and keys, reasons, searches, addresses, mistakes, axe-core."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from insync.explorer import Exploration, explore, replay
from insync.explorer.exploring_page.server import PageServer
from insync.explorer.traces.trace_file import write_trace
from insync.kafka.cluster.model import Cluster
from insync.model import BoundValues, Condition, Int, Model, ReadableState, State, StateView, action, invariant, require
from insync.model.language.presentation import GridCell
from insync_initials import Cabinet
from insync_toys import DieHard, TokenRing

LEVEL_AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

MARKUP = "<img src=x onerror=\"document.title='caught'\"><b>&amp;"

Explored = Callable[..., Any]


class Markup(Model):
    """A model whose texts try to be markup."""

    legend: ClassVar[Mapping[str, str]] = {MARKUP: MARKUP}

    def declare(self, b: BoundValues) -> State:
        return State(one=Int(0, 1))

    @action(label=MARKUP)
    def step(self, s: StateView) -> None:
        require(s.one == 0)
        s.one = 1

    @invariant
    def zero(self, s: StateView) -> Condition:
        zero: Condition = s.one == 0
        return zero

    def grid(self, state: ReadableState) -> Mapping[str, GridCell]:
        return {MARKUP: f"{MARKUP} = {state['one']}"}


@pytest.fixture
def explored(browser: Any) -> Iterator[Explored]:
    """Opens the page of a model; a fault in its script is a failure, and so is a request to anywhere else."""
    ends: list[Callable[[], object]] = []
    faults: list[str] = []

    def opens(model: Model | Exploration, mark: str = "", **like: Any) -> Any:
        made = PageServer((model if isinstance(model, Exploration) else Exploration(model)).again)
        server = made.server()
        thread = threading.Thread(target=lambda: server.run(sockets=[made._socket]), daemon=True)
        thread.start()
        allowed = (made.address, "data:", "blob:")
        context = browser.new_context(**like)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: faults.extend([] if asked.url.startswith(allowed) else [asked.url]))

        def end() -> None:
            context.close()
            server.should_exit = True
            thread.join(30)
            made.close()

        ends.append(end)
        page.goto(made.address + mark)
        page.wait_for_selector("#path li")
        return page

    yield opens
    for end in ends:
        end()
    assert faults == []


def place(page: Any) -> str:
    text: str = page.inner_text("#place")
    return text


def wait_for_place(page: Any, text: str) -> None:
    page.locator("#place", has_text=re.compile(f"^{re.escape(text)}$")).wait_for()


def wait_for_message(page: Any, text: str) -> None:
    page.locator("#message", has_text=text).wait_for()


def test_a_click_takes_a_step_and_the_buttons_go_back_and_forth(explored: Explored) -> None:
    page = explored(TokenRing())
    assert place(page) == "State at the start"
    page.click("text=n1: start")
    wait_for_place(page, "After 1 step: n1: start")
    assert "{n1}" in page.inner_text("#drawn")
    page.click("#back")
    wait_for_place(page, "State at the start")
    assert page.inner_text("#enabled li:nth-child(2) .note") == "visited"
    page.click("#forward")
    wait_for_place(page, "After 1 step: n1: start")
    page.click("#path button >> nth=0")
    wait_for_place(page, "State at the start")
    page.click("text=n1: hand on")
    wait_for_place(page, "After 1 step: n1: hand on")
    assert page.is_visible("#tree")
    page.click("#tree button:has-text('n1: start')")
    wait_for_place(page, "After 1 step: n1: start")
    assert page.locator("#tree [aria-current]").inner_text() == "n1: start"


def test_the_keys_do_all_that(explored: Explored) -> None:
    page = explored(TokenRing())
    assert page.locator("#enabled button:focus").inner_text().split() == ["1", "n1:", "hand", "on"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_for_place(page, "After 1 step: n1: start")
    page.keyboard.press("1")
    wait_for_place(page, "After 2 steps: n1: stop")
    page.keyboard.press("ArrowLeft")
    wait_for_place(page, "After 1 step: n1: start")
    page.keyboard.press("ArrowRight")
    wait_for_place(page, "After 2 steps: n1: stop")
    page.keyboard.press("Home")
    wait_for_place(page, "State at the start")
    page.keyboard.press("u")
    wait_for_place(page, "After 2 steps: n1: stop")
    page.keyboard.press("/")
    page.keyboard.type("hand")
    assert page.locator("#enabled li").count() == 1
    assert page.locator("#disabled li").count() == 2
    page.keyboard.press("Escape")
    assert page.locator("#enabled button:focus").count() == 1
    page.keyboard.press("?")
    assert page.is_visible("#helping")
    page.click("#keys")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.wait_for_timeout(200)
    assert place(page) == "After 2 steps: n1: stop", "single keys are off"


def test_why_a_step_is_not_enabled_stands_beside_it_and_the_guard_below(explored: Explored) -> None:
    page = explored(Cluster())
    step = page.locator("#disabled details", has_text="b1 adds b2 to the ISR")
    short = step.locator(".short", has_text="registrations[broker[b1].image_lag].isr contains b2 must not hold")
    short.wait_for()
    step.locator("summary").click()
    guard = step.locator(".guard")
    guard.wait_for()
    assert "FAILS b2 is not in the ISR, by the metadata of b1" in guard.inner_text()
    assert "registrations[0].isr = {b1, b2, b3}" in guard.inner_text()
    assert "written as Not(isr.contains(follower))" in guard.inner_text()


def test_a_search_a_walk_and_a_violation(explored: Explored) -> None:
    page = explored(DieHard())
    page.keyboard.press("f")
    page.keyboard.type("big == 4")
    page.keyboard.press("Enter")
    wait_for_message(page, "Found after 6 steps")
    assert page.inner_text("#watched li:first-child").startswith("fails never_four")
    page.click("#undo")
    wait_for_place(page, "State at the start")
    page.fill("#length", "3")
    page.click("#walk button")
    wait_for_message(page, "Walked 3 of 3 steps, seed 0.")
    page.click("#violation button")
    wait_for_message(page, "The shortest way to a violation of never_four has 6 steps.")


MISTAKES = [
    ("#condition", "big = 4", "#search", "this is no condition"),
    ("#condition", "bgi == 4", "#search", "there is no 'bgi' here. Did you mean 'big'?"),
    ("#condition", "", "#search", "The condition is empty"),
    ("#condition", "<img src=x onerror=alert(1)>", "#search", "this is no condition"),
    ("#states", "many", "#search", "'many' is not a number of states"),
    ("#seconds", "-1", "#search", "'-1' is not a number of seconds"),
    ("#length", "a few", "#walk button", "'a few' is not a number of steps"),
    ("#seed", "x", "#walk button", "'x' is not a seed"),
    ("#address", "<b>here</b>", "#at button", "'<b>here</b>' is not the address of a state"),
    ("#initial", "99", "#start button", "cabinet has no initial state 99; there are 0 to 44."),
]


@pytest.mark.parametrize(("field", "text", "button", "sentence"), MISTAKES)
def test_a_mistake_in_a_field_is_answered_by_a_sentence(
    explored: Explored, field: str, text: str, button: str, sentence: str
) -> None:
    page = explored(Cabinet() if field == "#initial" else DieHard())
    if field in ("#states", "#seconds"):
        page.fill("#condition", "big == 4")
    page.fill(field, text)
    page.click(button)
    wait_for_message(page, sentence)
    assert "error" in page.get_attribute("#message", "class")
    assert place(page).startswith("State at the start")
    if field == "#condition" and text:
        assert page.inner_text("#condition-error").removesuffix("…") == text


def test_a_file_that_is_no_trace_is_answered_by_a_sentence_and_a_trace_leads_to_its_end(
    explored: Explored, tmp_path: Path
) -> None:
    page = explored(DieHard())
    wrong = tmp_path / "<b>wrong.json"
    wrong.write_text("<script>alert(1)</script>")
    page.set_input_files("#file", wrong)
    wait_for_message(page, "<b>wrong.json:1:1: this is not JSON at '<script>alert(1)</sc'")
    right = tmp_path / "right.json"
    write_trace(right, explore(DieHard, violation="never_four").trace)
    page.set_input_files("#file", right)
    wait_for_message(page, "The trace has 6 steps; this is its end.")


def test_a_trace_that_is_saved_is_one_that_replay_confirms(explored: Explored, tmp_path: Path) -> None:
    page = explored(explore(DieHard, violation="never_four"))
    with page.expect_download() as download:
        page.keyboard.press("s")
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name == "die_hard-never_four.json"
    assert replay(file, model=DieHard()).property == "never_four"


def test_the_address_survives_a_reload_and_opens_the_state_elsewhere(explored: Explored) -> None:
    page = explored(TokenRing())
    page.click("text=n1: start")
    wait_for_place(page, "After 1 step: n1: start")
    page.keyboard.press("y")
    wait_for_message(page, "Copied: ")
    address = page.evaluate("() => location.hash.slice(1)")
    assert address == page.get_attribute("#address", "placeholder")
    page.reload()
    wait_for_place(page, "After 1 step: n1: start")
    page.click("#undo")
    wait_for_place(page, "State at the start")
    other = explored(TokenRing(), mark=f"#{address}")
    wait_for_place(other, "After 1 step: n1: start")
    stranger = explored(DieHard(), mark=f"#{address}")
    wait_for_message(stranger, "is of another model, or of die_hard under other bounds")
    other.fill("#address", Exploration(TokenRing()).address)
    other.click("#at button")
    wait_for_place(other, "State at the start")


@pytest.mark.parametrize("mark", ["zzz", "%E0%A4%A"])
def test_an_address_that_is_none_is_answered_by_a_sentence_and_the_page_works(explored: Explored, mark: str) -> None:
    page = explored(TokenRing(), mark=f"#{mark}")
    wait_for_message(page, f"'{mark}' is not the address of a state")
    page.click("text=n1: start")
    wait_for_place(page, "After 1 step: n1: start")
    page.evaluate("(mark) => { location.hash = mark; }", mark)
    wait_for_message(page, f"'{mark}' is not the address of a state")


def test_texts_of_a_model_are_shown_as_text(explored: Explored) -> None:
    page = explored(Markup())
    page.click("#enabled button")
    wait_for_place(page, f"After 1 step: {MARKUP}")
    assert f"{MARKUP} = 1" in page.inner_text("#drawn")
    assert page.locator("img, b").count() == 0
    assert "caught" not in page.title()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1500])
def test_axe_finds_nothing_at_level_aa(
    explored: Explored, judge: Callable[[str], Path], scheme: str, width: int
) -> None:
    here = explore(Cluster())
    here.walk(12, seed=3)
    page = explored(here, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    page.locator("#disabled .short:not(:empty)").first.wait_for()
    page.add_script_tag(path=judge("axe-core/axe.min.js"))
    look = "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}})"
    for prepare in (
        lambda: None,
        lambda: page.locator("summary").evaluate_all("all => all.slice(0, 6).forEach((one) => one.click())"),
        lambda: (page.fill("#condition", "x"), page.click("#search"), page.locator(".error mark").wait_for()),
        lambda: page.click("#help"),
    ):
        prepare()
        found = page.evaluate(look, LEVEL_AA)
        said = [f"{one['id']}: {node['html'][:160]}" for one in found["violations"] for node in one["nodes"]]
        assert said == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
