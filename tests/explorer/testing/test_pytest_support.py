from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from insync.explorer.replay import replay
from insync.explorer.simulate import simulate
from insync.explorer.testing import ENGINES, InsyncCheck, PropertyViolated, Settings, SuspiciousModel, UnexpectedVerdict
from insync.explorer.traces.trace_file import read_trace
from insync.model import (
    And,
    Condition,
    Drawn,
    Not,
    ReadableState,
    StateView,
    Taken,
    action,
    eventually,
    invariant,
    sometimes,
)
from insync.model.catalogue import class_reference
from insync.runtime.errors import UserError
from insync.runtime.text import visible
from insync.runtime.watch import Limits
from insync_confined import Plane
from insync_corners import Late
from insync_lamp import Lamp
from insync_odd import NASTY, Odd
from insync_suspicious import Inert, Nobody
from insync_toys import DieHard

SMALL = {"replicas": 2, "log_size": 1, "max_records": 2, "max_leader_epoch": 1}


class Unlit(Inert):
    """Nothing can happen, and it is not as it must be."""

    headline = ("lit",)

    @invariant
    def lit(self, s: StateView) -> Condition:
        """It is on."""
        return s.on


class Blinking(Inert):
    """It goes on and off for ever."""

    name = "blinking"

    @action
    def press(self, s: StateView) -> None:
        """Press the button."""
        s.on = Not(s.on)

    @eventually(weak=("press",))
    def shines(self, s: StateView) -> Condition:
        """It is on."""
        return s.on

    @eventually
    def ever_shines(self, s: StateView) -> Condition:
        """It is on, though nothing demands it."""
        return s.on

    @sometimes
    def both(self, s: StateView) -> Condition:
        """It is on and off."""
        return And(s.on, Not(s.on))


@pytest.fixture
def search(tmp_path: Path) -> InsyncCheck:
    return InsyncCheck(Settings(), lambda: tmp_path)


@pytest.mark.parametrize("engine", ["local", "evaluator"])
def test_a_property_that_holds_passes(search: InsyncCheck, engine: str) -> None:
    assert search("kip320", bounds=SMALL, engine=engine) == "holds"
    assert search.answer is not None
    assert (search.answer.states, search.traces) == (325, [])
    assert search.answer.seen == f"325 states, depth {search.answer.depth}"


def test_a_property_of_runs_is_decided_with_a_trace_and_a_page(search: InsyncCheck, tmp_path: Path) -> None:
    assert search(Blinking, properties=["shines"]) == "holds"
    assert search.answer is not None
    assert (search.answer.states, search.answer.properties[0].name) == (2, "shines")
    with pytest.raises(PropertyViolated, match="blinking: ever_shines violated\n\never_shines fails in ") as caught:
        search(Blinking, properties=["shines", "ever_shines"])
    file = tmp_path / "blinking-ever_shines.json"
    assert (caught.value.file, file.with_suffix(".html").exists()) == (file, True)
    assert str(caught.value).endswith(f"Replay: insync replay {file} --model {class_reference(Blinking)}")
    assert search(Blinking, properties=["ever_shines"], expect="violated") == "violated"
    with pytest.raises(UnexpectedVerdict, match=r"violated \(both\), as no state meets it\."):
        search(Blinking, properties=["both"])


def test_properties_of_runs_have_a_call_of_their_own(search: InsyncCheck) -> None:
    with pytest.raises(UserError, match="shines, both are about runs, and other properties are about states"):
        search(Blinking, properties=["shines", "both", "type_ok"])
    with pytest.raises(UserError, match="shines is about runs, not about states"):
        search(Blinking, properties=["shines"], engine="simulate")
    with pytest.raises(UserError, match=r"has no property .shine.\. Did you mean .shines."):
        search(Blinking, properties=["shine"])


class Scribbled(Lamp):
    name = "lamp"

    def step_drawing(self, steps: Sequence[Taken], label: str) -> Sequence[Drawn]:
        message = "no pencil"
        raise RuntimeError(message)


def test_a_drawing_that_fails_does_not_hide_the_violation(search: InsyncCheck, tmp_path: Path) -> None:
    with pytest.raises(PropertyViolated) as caught:
        search(Scribbled, bounds={"switches": 2}, properties=["never_on"])
    assert "\nNo page: no pencil\n" in str(caught.value)
    assert caught.value.trace is not None


@pytest.mark.parametrize("engine", list(ENGINES))
def test_a_property_that_fails_shows_grid_and_replay_and_leaves_a_trace(
    search: InsyncCheck, engine: str, tmp_path: Path
) -> None:
    with pytest.raises(PropertyViolated) as caught:
        search(Lamp, bounds={"switches": 2}, properties=["never_on"], engine=engine)
    file = tmp_path / "lamp-never_on.json"
    shown = str(caught.value)
    assert shown.startswith("lamp: never_on violated\n\nnever_on fails after 1 step ")
    assert " is pressed  ON " in shown
    page = file.with_suffix(".html")
    assert shown.endswith(f"\nPage: {page}\nReplay: insync replay {file} --model {class_reference(Lamp)}")
    assert "Does never_on hold" in page.read_text(encoding="utf-8").replace("<wbr>", "")
    assert (caught.value.file, search.traces) == (file, [file])
    assert caught.value.trace == replay(read_trace(file), model=Lamp(), place=str(file))


@pytest.mark.parametrize("engine", list(ENGINES))
def test_a_search_is_confined_as_the_test_or_the_class_says(search: InsyncCheck, engine: str) -> None:
    meant: dict[str, Any] = {"engine": engine, "stopped_by": "walks" if engine == "simulate" else (), "walks": 200}
    search(Plane, **meant)
    assert search.answer is not None
    if engine != "simulate":
        assert search.answer.states == 10
        search(Plane, within=["near", "flat"], **meant)
        assert search.answer.states == 7
    assert search(Plane, within=[], properties=["below_five"], expect="violated", engine=engine) == "violated"
    with pytest.raises(UserError, match=r"plane has no invariant 'nera' to be within\. Did you mean 'near'"):
        search(Plane, within=["nera"], **meant)


@pytest.mark.parametrize("engine", ["local", "evaluator"])
def test_the_answer_claims_nothing_of_levels_that_were_not_searched(search: InsyncCheck, engine: str) -> None:
    assert search(Late, engine=engine, expect="violated") == "violated"
    assert search.answer is not None
    assert {found.name: found.verdict for found in search.answer.properties} == {
        "ok": "incomplete",
        "type_ok": "violated",
    }


@pytest.mark.parametrize("engine", list(ENGINES))
def test_what_is_suspicious_in_a_model_is_said_whatever_becomes_of_the_test(search: InsyncCheck, engine: str) -> None:
    limit = {"stopped_by": "walks"} if engine == "simulate" else {}
    with pytest.warns(SuspiciousModel) as caught:
        search(Nobody, engine=engine, **limit)  # type: ignore[arg-type]
    assert [str(one.message) for one in caught] == list(search.answer.warnings if search.answer else ())
    assert any("Python decides `s.owner is None`" in str(one.message) for one in caught)
    assert {one.filename for one in caught} == {__file__}
    with pytest.raises(UnexpectedVerdict) as failed:
        search(Nobody, engine=engine, expect="violated")
    assert str(failed.value).count("warning: ") == 3
    with pytest.raises(PropertyViolated) as violated:
        search(Unlit, engine=engine)
    assert str(violated.value).endswith(
        "\n\nwarning: unlit has no action, so nothing ever happens after the initial state."
    )


def test_each_trace_has_a_file_of_its_own(search: InsyncCheck, tmp_path: Path) -> None:
    for _ in range(2):
        assert search(Lamp, properties=["never_on"], expect="violated") == "violated"
    assert [file.name for file in search.traces] == ["lamp-never_on.json", "lamp-never_on-2.json"]


@pytest.mark.parametrize(
    ("limits", "by"),
    [(Limits(depth=3), "depth (3)"), (Limits(states=9), "states (9)"), (Limits(seconds=1e-9), "time (1e-09)")],
)
def test_an_incomplete_search_is_no_pass(search: InsyncCheck, limits: Limits, by: str) -> None:
    with pytest.raises(UnexpectedVerdict) as caught:
        search("kip320", bounds=SMALL, limits=limits)
    shown = str(caught.value)
    assert f": incomplete, stopped by {by} after " in shown
    assert "No violation of weak_isr, strong_isr so far, but nothing is proved." in shown
    name = by.split()[0]
    assert shown.endswith(f"or write stopped_by={name!r} if that is intended.")
    assert search("kip320", bounds=SMALL, stopped_by=name, limits=limits) == "incomplete"


def test_being_stopped_by_another_bound_than_the_one_that_is_meant_is_no_pass(search: InsyncCheck) -> None:
    with pytest.raises(UnexpectedVerdict, match="stopped by states"):
        search("kip320", bounds=SMALL, limits=Limits(states=9, depth=30), stopped_by="depth")
    assert search("kip320", bounds=SMALL, limits=Limits(states=9), stopped_by=("depth", "states")) == "incomplete"


def test_a_bound_that_is_meant_and_not_reached_is_a_pass(search: InsyncCheck) -> None:
    assert search("kip320", bounds=SMALL, limits=Limits(depth=1000), stopped_by="depth") == "holds"


def test_random_walks_prove_nothing(search: InsyncCheck) -> None:
    with pytest.raises(UnexpectedVerdict, match=r"incomplete, stopped by walks after [0-9,]+ steps of random walks"):
        search("kip320", bounds=SMALL, engine="simulate", walks=10)
    assert search("kip320", bounds=SMALL, engine="simulate", walks=10, stopped_by="walks", seed=3) == "incomplete"


@pytest.mark.parametrize("seed", [None, 3])
def test_the_seed_of_a_test_is_that_of_its_walks(search: InsyncCheck, seed: int | None) -> None:
    steps = simulate("kip320", bounds=SMALL, walks=10, seed=seed or 0).steps
    with pytest.raises(UnexpectedVerdict, match=f"stopped by walks after {steps:,} steps of random walks"):
        search("kip320", bounds=SMALL, engine="simulate", walks=10, seed=seed, threads=1)


def test_a_violation_that_is_expected_and_not_there_is_no_pass(search: InsyncCheck) -> None:
    with pytest.raises(UnexpectedVerdict, match="the verdict is holds: weak_isr, strong_isr in 325 states"):
        search("kip320", bounds=SMALL, expect="violated")
    with pytest.raises(UnexpectedVerdict, match="expects a violation, and the verdict is incomplete"):
        search("kip320", bounds=SMALL, limits=Limits(depth=2), stopped_by="depth", expect="violated")


def dark(state: ReadableState) -> bool:
    """It is dark."""
    return bool(state["light"] == "OFF")


def test_the_replay_of_a_function_is_not_promised(search: InsyncCheck) -> None:
    with pytest.raises(PropertyViolated, match="`insync replay` does not have dark, a function of this test"):
        search(Lamp, properties=[dark], engine="evaluator")


@pytest.mark.parametrize("engine", ["local", "simulate"])
def test_machine_code_knows_no_python(search: InsyncCheck, engine: str) -> None:
    with pytest.raises(UserError, match=r"machine code.* function[s]? of the readable state.*Hypothesis state machine"):
        search(Lamp, properties=[dark], engine=engine)


def test_a_model_within_a_function_cannot_be_replayed_and_the_message_says_so(search: InsyncCheck) -> None:
    class Local(Lamp):
        """Nobody finds it."""

    with pytest.raises(PropertyViolated, match="To replay it, move Local out of the function"):
        search(Local, properties=["never_on"])


def test_names_and_texts_of_a_model_move_no_cursor_in_what_pytest_shows(search: InsyncCheck) -> None:
    with pytest.raises(PropertyViolated) as caught:
        search(Short)
    shown = "".join(traceback.format_exception_only(caught.value))
    assert visible(shown) == shown
    assert "\\x1b" in shown
    with pytest.raises(UserError) as wrong:
        search(Short, properties=[NASTY])
    assert visible(str(wrong.value)) == str(wrong.value)


class Short(Odd):
    """Has a name that a file can have."""

    name = "short"


class Idle(Lamp):
    """Says nothing about what is checked of it."""

    headline = ()  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"engine": "z4"}, "There is no engine 'z4'. Known: evaluator, local, simulate."),
        ({"expect": "hold"}, "expect='hold' must be 'holds' or 'violated'; for a search that may be incomplete"),
        ({"expect": "incomplete"}, "expect='incomplete' must be 'holds' or 'violated'"),
        ({"stopped_by": "dept"}, "stopped_by='dept' is not a bound of a search. Did you mean 'depth'?"),
        ({"stopped_by": "interrupt"}, "stopped_by='interrupt' is not a bound of a search."),
        ({"properties": ["strong"]}, "lamp has no property 'strong'."),
        ({"bounds": {"switch": 1}}, "lamp has no bound 'switch'. Did you mean 'switches'?"),
        ({"model": "kip32"}, "There is no model 'kip32'. Did you mean 'kip320'?"),
        ({"model": Idle}, "idle has no properties to check by default and the test names none"),
    ],
)
def test_a_mistake_is_one_sentence_without_a_traceback(
    search: InsyncCheck, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError) as caught:
        search(**{"model": Lamp, **arguments})  # type: ignore[arg-type]
    assert str(caught.value).startswith(message)
    frames = [entry.name for entry in caught.traceback]
    assert frames[-1] == "__call__", frames


def test_a_model_without_headline_can_be_checked_for_its_types_alone(search: InsyncCheck) -> None:
    search(Idle, properties=[], expect="violated")
    assert [file.name for file in search.traces] == ["idle-type_ok.json"]


def test_processes_share_cores_and_memory(tmp_path: Path) -> None:
    alone = InsyncCheck(Settings(), lambda: tmp_path)
    shared = InsyncCheck(Settings(processes=4), lambda: tmp_path)
    assert shared._memory() == pytest.approx(alone._memory() / 4, rel=0.01)
    assert shared._threads() == max(1, alone._threads() // 4)
    assert InsyncCheck(Settings(memory_bytes=5, processes=4), lambda: tmp_path)._memory() == 5


def test_a_model_without_bounds_is_noted_by_its_name_alone(tmp_path: Path) -> None:
    noted: list[tuple[str, str]] = []
    InsyncCheck(Settings(), lambda: tmp_path, lambda *said: noted.append(said))(DieHard, properties=["type_ok"])
    ((name, said),) = noted
    assert name == "insync"
    assert said.startswith("die_hard: holds; ")
