"""What the page asks and is answered: moving about, mistakes, tabs, and searches that are stopped."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from insync.explorer import Exploration, replay
from insync.explorer.exploring_page.tabs import Tabs
from insync.explorer.traces.trace_file import parse_trace
from insync.model import Demand, Hardness, Model
from insync.model.catalogue import find_model
from insync.model.language.presentation import Taken
from insync_toys import Clock, DieHard, TokenRing


class Page:
    """A tab, as the page has it: every answer is JSON."""

    def __init__(self, tabs: Tabs, **opened: object) -> None:
        self.tabs = tabs
        self.tab = ""
        self.told = self.ask("open", **opened)
        self.tab = self.told["tab"]

    def ask(self, command: str, **arguments: object) -> dict[str, Any]:
        asked = json.loads(json.dumps({"tab": self.tab, "command": command, **arguments}))
        answer: dict[str, Any] = json.loads(json.dumps(self.tabs.answer(asked)))
        return answer


def page_of(model: Model) -> Page:
    return Page(Tabs(Exploration(model).again))


def test_a_page_is_told_all_that_it_shows() -> None:
    told = page_of(TokenRing()).told
    assert told["model"]["name"] == "token_ring"
    assert ["nodes", "3"] in told["model"]["settings"]
    assert (told["depth"], told["label"], told["path"], told["ahead"], told["undo"]) == (0, "start", [0], False, False)
    assert told["tree"] == {"from": 0, "states": [[None, "start"]], "total": 1}
    assert [step["label"] for step in told["steps"] if step["enabled"]] == ["n1: hand on", "n1: start"]
    assert told["properties"][0]["name"] == "exclusive"
    assert told["properties"][0]["holds"] is True
    assert "<table><caption>The state</caption>" in told["state"]


class Demanding(DieHard):
    """Jugs that are hard to fill."""

    def demands(self, steps: Sequence[Taken]) -> list[Demand]:
        fills = [number for number, step in enumerate(steps) if step.action == "fill"]
        return [Demand(number, Hardness.OPERATION, f"<b>fill</b> {number}") for number in fills]


def test_what_the_way_takes_stands_below_the_state() -> None:
    page = page_of(Demanding())
    takes = '<p class="takes">Takes: &lt;b&gt;fill&lt;/b&gt; {} (operation).</p>'
    assert "takes" not in page.told["state"]
    numbers = {step["label"]: step["number"] for step in page.told["steps"]}
    told = page.ask("take", number=numbers["fill (small false)"])
    assert takes.format(1) in told["state"]
    assert "took before" not in told["state"]
    told = page.ask("take", number=numbers["fill (small true)"])
    assert takes.format(2) in told["state"]
    before = "What earlier steps took: 1</summary><ul><li>step 1: &lt;b&gt;fill&lt;/b&gt; 1 (operation)</li>"
    assert before in told["state"]


def test_steps_back_forward_undo_and_the_tree() -> None:
    page = page_of(TokenRing())
    step = page.told["steps"][1]["number"]
    after = page.ask("take", number=step, known=1)
    assert (after["depth"], after["label"]) == (1, "n1: start")
    assert after["tree"] == {"from": 1, "states": [[0, "n1: start"]], "total": 2}
    back = page.ask("back")
    assert back["state"] == page.told["state"]
    assert [one["visited"] for one in back["steps"] if "visited" in one] == [1]
    assert back["ahead"]
    assert page.ask("forward")["address"] == after["address"]
    assert page.ask("go", number=0)["depth"] == 0
    for _ in range(4):
        undone = page.ask("undo", known=2)
    assert undone["tree"]["total"] == 1
    assert page.ask("undo")["message"] == "Nothing to undo."
    assert page.ask("back")["message"] == "This is the start."


def test_why_steps_are_not_enabled_is_told_of_all_or_of_one() -> None:
    page = page_of(TokenRing())
    every = page.ask("why")
    assert every["of"] == page.told["address"]
    assert {why["number"] for why in every["reasons"]} == {
        step["number"] for step in page.told["steps"] if not step["enabled"]
    }
    (one,) = page.ask("why", number=every["reasons"][0]["number"])["reasons"]
    assert one == every["reasons"][0]
    assert one["reason"] == "token contains n2 does not hold, with token = {n1}."
    assert one["guard"][one["first"]][:2] == ["token contains n2", False]
    assert one["values"] == [["token", "{n1}"]]


def test_a_search_a_walk_and_the_trace_of_it() -> None:
    page = page_of(DieHard())
    found = page.ask("find", condition="big == 4", states="", seconds="20")
    assert found["message"].startswith("Found after 6 steps")
    assert found["properties"][0]["holds"] is False
    saved = page.ask("save")
    assert saved["file"] == "die_hard-never_four.json"
    trace = parse_trace("saved", saved["content"])
    assert replay(trace, model=DieHard()).property == "never_four"
    again = page_of(DieHard())
    assert again.ask("load", name="x.json", content=saved["content"])["address"] == found["address"]
    assert again.ask("walk", steps="5", seed="1")["message"] == "Walked 5 of 5 steps, seed 1."
    assert again.ask("violation", name="never_four")["message"] == (
        "The shortest way to a violation of never_four has 6 steps."
    )
    assert page_of(Clock()).ask("violation", name="shows_an_hour")["message"].startswith("shows_an_hour holds in all")


def test_a_trace_of_another_model_is_not_loaded() -> None:
    saved = page_of(find_model("kip101")(replicas=2)).ask("save")["content"]
    told = page_of(find_model("kip320")(replicas=2)).ask("load", name="x.json", content=saved)
    assert told["error"].startswith("x.json: it is a trace of kip101 and not of kip320")


MISTAKES: list[tuple[dict[str, object], str]] = [
    ({"command": "take", "number": 99}, "die_hard has no action of the number 99; they are 0 to 5."),
    ({"command": "take", "number": "x"}, "'x' is not the number of a step; give a whole number from 0 to"),
    ({"command": "take", "number": -1}, "'-1' is not the number of a step"),
    ({"command": "take", "number": True}, "'True' is not the number of a step"),
    ({"command": "take"}, "'None' is not the number of a step"),
    ({"command": "take", "number": "9" * 400}, "is not the number of a step"),
    ({"command": "go", "number": 5}, "No state of the number 5 was visited; there are 0 to 0."),
    ({"command": "back", "steps": 0}, "0 is not a number of steps"),
    ({"command": "walk", "steps": ""}, "'' is not a number of steps"),
    ({"command": "walk", "steps": "x"}, "'x' is not a number of steps; give a whole number from 1 to 10,000."),
    ({"command": "walk", "steps": "-5"}, "'-5' is not a number of steps; give a whole number from 1 to 10,000."),
    ({"command": "walk", "steps": 0}, "'0' is not a number of steps; give a whole number from 1 to 10,000."),
    (
        {"command": "walk", "steps": 10**9},
        "'1000000000' is not a number of steps; give a whole number from 1 to 10,000.",
    ),
    (
        {"command": "find", "condition": "big == 4", "states": 0},
        "'0' is not a number of states; give a whole number from 1 to 100,000,000.",
    ),
    ({"command": "walk", "steps": 1, "seed": "-"}, "'-' is not a seed"),
    ({"command": "at", "address": "nowhere"}, "'nowhere' is not the address of a state"),
    ({"command": "at", "address": 5}, "address=5 is not a text; give one."),
    ({"command": "start", "number": 1}, "die_hard has no initial state 1; there is one, 0."),
    ({"command": "find", "condition": "big = 4"}, "'= 4', character 5: this is no condition"),
    ({"command": "find", "condition": "big == 4", "states": "many"}, "'many' is not a number of states"),
    ({"command": "find", "condition": "big == 4", "seconds": 99999}, "'99999' is not a number of seconds"),
    ({"command": "violation", "name": "x"}, "die_hard has no property 'x'."),
    ({"command": "load", "name": "x", "content": "{"}, "x:1:2: the trace file is cut off here."),
    ({"command": "load", "name": "<b>", "content": "<script>"}, "<b>:1:1: this is not JSON at '<script>'"),
    ({"command": "why", "number": 77}, "die_hard has no action of the number 77"),
    ({"command": "dance"}, "There is no command 'dance'."),
    ({}, "command=None is not a text; give one."),
]


@pytest.mark.parametrize(("asked", "sentence"), MISTAKES, ids=[sentence for _, sentence in MISTAKES])
def test_a_mistake_is_answered_by_a_sentence_and_changes_nothing(asked: dict[str, object], sentence: str) -> None:
    page = page_of(DieHard())
    told = page.tabs.answer({"tab": page.tab, **asked})
    assert sentence in told["error"]
    assert "state" not in told
    assert page.ask("undo")["address"] == page.told["address"]


@pytest.mark.parametrize("asked", [None, 5, [], "back"])
def test_what_is_no_command_is_answered_as_well(asked: object) -> None:
    assert page_of(DieHard()).tabs.answer(asked)["error"].startswith("A command is an object")


def test_a_wrong_condition_is_pointed_at() -> None:
    told = page_of(DieHard()).ask("find", condition="small == 3 and tiny == 1")
    assert (told["at"], told["length"]) == (15, 4)


def test_tabs_are_apart_and_a_page_that_is_loaded_again_has_its_own() -> None:
    tabs = Tabs(Exploration(DieHard()).again)
    one, other = Page(tabs), Page(tabs)
    after = one.ask("take", number=0)
    assert other.ask("undo")["depth"] == 0
    again = one.ask("open", address=after["address"])
    assert (again["tab"], again["undo"]) == (one.tab, True)
    moved = Page(tabs, address=after["address"])
    assert moved.tab not in (one.tab, other.tab)
    assert (moved.told["address"], moved.told["undo"]) == (after["address"], False)
    wrong = Page(tabs, address="nonsense")
    assert "is not the address of a state" in wrong.told["error"]
    assert wrong.told["depth"] == 0
    one.tab = "gone"
    assert "The server no longer has the states of this tab" in one.ask("back")["error"]


def test_the_tabs_that_are_kept_are_the_last_ones() -> None:
    tabs = Tabs(Exploration(Clock()).again)
    pages = [Page(tabs) for _ in range(51)]
    assert "error" in pages[0].ask("take", number=0)
    assert "error" not in pages[1].ask("take", number=0)


def test_what_may_take_long_is_known_before_it_is_answered() -> None:
    tabs = Tabs(Exploration(DieHard()).again)
    assert [one for one in ("take", "back", "why", "stop", "progress") if tabs.takes_long({"command": one})] == []
    assert all(tabs.takes_long({"command": one}) for one in ("open", "find", "violation", "walk", "load", "at"))
    assert not tabs.takes_long([])


def test_a_search_is_stopped_and_asked_how_far_it_is_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(DieHard())
    at_work = threading.Event()

    def long(exploration: Exploration, condition: str, limits: object, stop: threading.Event, told: object) -> Any:
        at_work.set()
        assert stop.wait(30)
        return real(exploration, condition)

    real = Exploration.find
    monkeypatch.setattr(Exploration, "find", long)
    monkeypatch.setattr("insync.explorer.exploring_page.tabs._PATIENCE", 0.05)
    answers: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: answers.append(page.ask("find", condition="big == 4")))
    thread.start()
    assert at_work.wait(30)
    assert page.ask("progress") == {"searching": True, "states": 0, "level": 0}
    assert "A search is at work" in page.ask("back")["error"]
    assert page.ask("stop") == {"message": "Stopping."}
    thread.join(30)
    assert answers[0]["depth"] == 6
    assert page.ask("progress") == {"searching": False}
    assert page.ask("stop") == {"message": "No search is at work."}
