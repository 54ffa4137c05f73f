"""Exploring by hand: where steps lead is what the evaluator says, and the way back is the way that one came."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.explorer import Exploration, Limits, NoViolation, Verdict, check, explore, read_trace, replay
from insync.explorer.pictures.picture import Outcome, picture
from insync.explorer.traces.trace import EXPLORED
from insync.model import Model, UserError
from insync.model.evaluator import Evaluator
from insync.properties.registry import confined, default_names, invariants_of
from insync_corners import Overflow
from insync_initials import Cabinet
from insync_steps import Counter
from insync_toys import TOYS, Clock, Commit, DieHard, TokenRing

SEVERAL = {type(model).__name__ + str(number): model for number, model in enumerate(TOYS)}
models = st.sampled_from(list(SEVERAL)).map(SEVERAL.__getitem__)


def wander(model: Model, data: st.DataObject, most: int = 12) -> Exploration:
    """An exploration after some steps, each drawn from those that can be taken."""
    made = Exploration(model)
    for _ in range(data.draw(st.integers(0, most), label="steps")):
        possible = [step for step in made.steps if step.after is not None]
        if not possible:
            break
        made.take(data.draw(st.sampled_from(possible)).number)
    return made


@given(models, st.data())
def test_the_steps_are_the_evaluators(model: Model, data: st.DataObject) -> None:
    here = wander(model, data)
    evaluator, codes = Evaluator(model.program), here.here.codes
    assert [step.number for step in here.steps if step.enabled] == evaluator.enabled(codes)
    assert sorted(step.number for step in here.steps) == list(range(len(model.program.actions)))
    for step in here.steps:
        if step.enabled and step.refused is None:
            assert step.after == evaluator.step(step.number, codes)
        elif step.enabled:
            assert evaluator.failing_check(step.number, codes) is not None


@given(models, st.data())
def test_back_after_a_step_is_the_same_state_and_forward_again_the_other(model: Model, data: st.DataObject) -> None:
    here = wander(model, data)
    before = here.here
    possible = [step for step in here.steps if step.after is not None]
    if possible:
        after = here.take(data.draw(st.sampled_from(possible)).number)
        assert here.back() == 1
        assert here.here is before
        assert here.forward() == 1
        assert here.here is after
        assert here.undo()
        assert here.undo()
        assert here.undo()
        assert here.here is before


@given(models, st.data())
def test_going_back_all_the_way_ends_at_an_initial_state(model: Model, data: st.DataObject) -> None:
    here = wander(model, data)
    depth = here.here.depth
    assert here.back(1000) == depth
    assert here.here.codes in model.program.initials
    assert here.forward(1000) == depth


@given(models, st.data())
def test_why_not_names_the_first_condition_of_the_guard_that_is_false(model: Model, data: st.DataObject) -> None:
    here = wander(model, data)
    for step in here.steps:
        why = here.why_not(step.number)
        held = [part.holds for part in why.guard]
        assert (why.first is None) == step.enabled
        if why.first is not None:
            assert held[: why.first] == [True] * why.first
            assert not held[why.first]
            assert why.values
            assert all(f"{path} = {value}" in why.reason for path, value in list(why.values.items())[:8])


@given(models, st.integers(0, 2**32), st.integers(1, 30))
def test_a_walk_of_a_seed_is_always_the_same_and_is_undone_as_one(model: Model, seed: int, steps: int) -> None:
    one, other = Exploration(model), Exploration(model)
    walked = one.walk(steps, seed)
    assert walked == other.walk(steps, seed)
    assert one.moves == other.moves
    assert len(one.moves) == walked.steps + 1
    assert walked.ended or walked.steps == steps
    if walked.steps:
        assert one.undo()
    assert one.here.depth == 0
    assert len(one.visited.states) == 1


def test_a_walk_ends_where_a_watched_property_begins_to_fail() -> None:
    here = Exploration(TokenRing(two_tokens=1))
    walked = here.walk(1000, seed=3)
    assert walked.ended == "exclusive fails"
    assert [one.name for one in here.standings if one.holds is False] == ["exclusive"]
    assert not here.back() or [one.holds for one in here.standings if one.name == "exclusive"] == [True]
    here.forward()
    assert here.walk(1, seed=3).steps == 1, "it failed before, so the walk goes on"


def test_a_walk_ends_where_no_action_is_enabled() -> None:
    here = Exploration(Commit(parties=1), watched=[])
    walked = here.walk(100, seed=1)
    assert walked.ended == "no action is enabled here" or walked.steps == 100
    assert walked.steps < 100 or any(step.enabled for step in here.steps)


@pytest.mark.parametrize("steps", [0, -1, 10**9])
def test_a_walk_of_no_steps_or_of_too_many_is_refused(steps: int) -> None:
    with pytest.raises(UserError, match="take 1 to"):
        Exploration(Clock()).walk(steps)


def test_visited_states_are_a_tree_and_the_same_step_leads_to_the_same_place() -> None:
    here = Exploration(TokenRing())
    first = [step.number for step in here.steps if step.enabled]
    one = here.take(first[0])
    here.back()
    other = here.take(first[1])
    here.back()
    assert here.take(first[0]) is one
    assert [state.number for state in here.visited.after(0)] == [one.number, other.number]
    assert here.go(other.number) is other
    assert here.visited.path_to(other.number)[0].number == 0
    here.back()
    here.forward()
    assert here.here is other, "forward goes where the last visit went"
    with pytest.raises(UserError, match="there are 0 to 2"):
        here.go(3)


def test_undo_forgets_what_the_last_command_made_and_says_when_there_is_nothing_more() -> None:
    here = Exploration(Clock())
    here.take(0)
    here.take(0)
    assert here.undo()
    assert len(here.visited.states) == 2
    assert here.forward() == 0
    assert here.undo()
    assert not here.undo()


def test_a_step_that_is_not_enabled_is_refused_with_the_reason() -> None:
    here = Exploration(TokenRing())
    stop = here.actions_called("stop")[0]
    with pytest.raises(UserError) as refused:
        here.take(stop)
    assert str(refused.value) == ("n1: stop: working contains n1 does not hold, with working = {}.")


def test_of_elements_that_an_index_chooses_the_reason_names_the_chosen_one() -> None:
    here = explore("cluster")
    number = here.actions_called("b2 appends a record")[0]
    assert here.why_not(number).reason == (
        "b2 appends a record: it takes that b2 leads, by its own metadata; "
        "registrations[broker[b2].image_lag].leader == b2 does not hold, "
        "with registrations[0].leader = b1, broker[b2].image_lag = 0."
    )


@pytest.mark.parametrize("model", TOYS, ids=lambda model: type(model).__name__)
def test_each_condition_of_a_guard_is_known_as_it_is_written(model: Model) -> None:
    here = Exploration(model)
    for step in here.steps:
        for part in here.why_not(step.number).guard:
            assert part.written is not None
            file, _, line = part.written.place.partition(":")
            (path,) = [path for path in Path(__file__).parents[2].glob("support/*.py") if path.name == file]
            assert "require" in path.read_text().splitlines()[int(line) - 1]


def test_what_a_model_is_confined_to_is_said_to_forbid_a_step() -> None:
    here = explore(confined(TokenRing(two_tokens=1), ["exclusive"]), violation="exclusive")
    reasons = {here.why_not(step.number).reason for step in here.steps}
    assert not [step for step in here.steps if step.enabled]
    assert all("the search takes no step from a state outside of what it is confined to; " in one for one in reasons)


def test_actions_are_called_by_name_with_parameters_or_by_label() -> None:
    here = Exploration(TokenRing())
    assert len(here.actions_called("hand_on")) == 3
    assert here.actions_called("hand_on(node=n1)") == here.actions_called("n1: hand on")
    with pytest.raises(UserError, match="Did you mean 'hand_on'"):
        here.actions_called("handon")
    with pytest.raises(UserError, match="never enabled under these bounds"):
        here.actions_called("forge")


def test_initial_states_are_chosen_by_number() -> None:
    here = Exploration(Cabinet())
    assert here.starts == len(Cabinet().program.initials)
    assert here.start(7).codes == Cabinet().program.initials[7]
    assert here.back() == 0
    with pytest.raises(UserError, match="there are 0 to 44"):
        here.start(45)


# ------------------------------------------------------------------------------------------------------------ searching


def test_the_nearest_state_is_found_from_where_one_is() -> None:
    here = Exploration(DieHard())
    found = here.find("small == 3 and big == 5")
    assert (len(found.moves or ()), here.here.depth) == (2, 2)
    assert here.step.state == {"small": 3, "big": 5}
    again = here.find("big == 4")
    assert here.step.state["big"] == 4
    assert here.here.depth == 2 + len(again.moves or ())
    assert [one.name for one in here.standings if one.holds is False] == ["never_four"]
    assert here.find("big == 4").moves == ()


def test_what_is_nowhere_is_not_found_after_all_states_from_here_on() -> None:
    here = Exploration(DieHard())
    found = here.find("small == 1 and big == 2")
    assert (found.moves, found.states, found.stopped_by) == (None, 16, None)
    assert here.here.depth == 0


def test_a_search_is_ended_by_its_limits() -> None:
    found = Exploration(DieHard()).find("big == 4", Limits(states=2))
    assert found.moves is None
    assert found.stopped_by == "states"


# ------------------------------------------------------------------------------------------ where an exploration begins


def test_it_begins_at_a_violation_that_a_search_finds() -> None:
    here = explore(TokenRing(two_tokens=1), violation="exclusive")
    assert [one.name for one in here.standings if one.holds is False] == ["exclusive"]
    assert not here.undo()
    with pytest.raises(NoViolation, match="exclusive holds in all") as holds:
        explore(TokenRing(), violation="exclusive")
    assert holds.value.verdict is Verdict.HOLDS
    with pytest.raises(NoViolation, match="before the search was stopped") as ended:
        explore(TokenRing(), violation="exclusive", limits=Limits(states=1))
    assert ended.value.verdict is Verdict.INCOMPLETE


def test_a_saved_trace_of_a_violation_is_one_that_replay_confirms(tmp_path: Path) -> None:
    here = explore(DieHard)
    here.find("not never_four")
    here.save(tmp_path / "out.json")
    confirmed = replay(tmp_path / "out.json", model=DieHard())
    assert confirmed.property == "never_four"
    assert confirmed.length == here.here.depth + 1


@given(models, st.data())
def test_every_exploration_is_a_trace_that_replay_confirms_and_begins_another(
    model: Model, data: st.DataObject
) -> None:
    here = wander(model, data)
    trace = here.trace
    assert replay(trace, model=model).reason == trace.reason
    assert explore(model, trace=trace).moves == here.moves


def test_a_trace_without_a_failing_property_says_that_it_was_explored(tmp_path: Path) -> None:
    here = explore(DieHard)
    here.take(0)
    here.save(tmp_path / "out.json")
    assert read_trace(tmp_path / "out.json").property == EXPLORED
    assert here.trace.reason == "Explored by hand, 1 step; never_four holds at the end."
    drawn = picture(here.trace, here.model)
    assert (drawn.outcome, drawn.question) == (Outcome.GOOD, "Where do these steps of die_hard lead?")
    assert drawn.verdict == "They were explored by hand; this is the state after 1 step."


def test_a_trace_of_other_bounds_is_refused(tmp_path: Path) -> None:
    explore(TokenRing(nodes=4)).save(tmp_path / "out.json")
    with pytest.raises(UserError, match="it was made with nodes=4, and token_ring is explored with nodes=3"):
        explore(TokenRing(), trace=tmp_path / "out.json")


def test_a_trace_of_another_model_is_said_to_be_one(tmp_path: Path) -> None:
    explore("kip320", bounds={"replicas": 2}).save(tmp_path / "out.json")
    with pytest.raises(
        UserError, match=r"out\.json: it is a trace of kip320 and not of .*insync_toys\.py:TokenRing; explore kip320"
    ):
        explore(TokenRing(), trace=tmp_path / "out.json")
    explore(DieHard).save(tmp_path / "jugs.json")
    with pytest.raises(UserError, match=r"trace: it is a trace of .*:DieHard and not of .*:Clock"):
        explore(Clock(hours=2), trace=replace(read_trace(tmp_path / "jugs.json"), bounds={"hours": 2}))


def test_a_trace_of_another_model_with_the_same_bounds_is_said_to_be_one(tmp_path: Path) -> None:
    explore("kip101", bounds={"replicas": 2}).save(tmp_path / "out.json")
    with pytest.raises(UserError, match=r"out\.json: it is a trace of kip101 and not of kip320"):
        explore("kip320", bounds={"replicas": 2}, trace=tmp_path / "out.json")


@pytest.mark.parametrize(
    "beginnings", [{"trace": "a.json", "address": "b"}, {"address": "b", "violation": "never_four"}]
)
def test_there_is_one_beginning(beginnings: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="three places to begin at"):
        explore(DieHard, **beginnings)


# ------------------------------------------------------------------------------------------------- how properties stand


def test_a_property_of_steps_is_about_the_step_that_led_here() -> None:
    found = check(Counter(), properties=["by_one"]).violations[0]
    here = explore(Counter(), properties=["by_one"])
    assert [one.holds for one in here.standings if one.name == "by_one"] == [None]
    here = explore(Counter(), violation="by_one")
    (broken,) = [one for one in here.standings if one.name == "by_one"]
    assert (broken.of_steps, broken.watched, broken.holds, broken.reason) == (True, True, False, found.trace.reason)
    assert here.trace.property == "by_one"
    assert replay(here.trace, model=here.model).reason == found.trace.reason
    here.back()
    assert [one.holds for one in here.standings if one.name == "by_one"] != [False]


def test_a_step_that_leaves_a_domain_is_offered_refused_and_is_a_failure_of_type_ok() -> None:
    here = explore(Overflow(), violation="type_ok")
    (refused,) = [step for step in here.steps if step.refused is not None]
    assert refused.enabled
    (standing,) = [one for one in here.standings if one.name == "type_ok"]
    assert (standing.holds, standing.watched) == (False, True)
    with pytest.raises(UserError, match="this step is refused, type_ok fails here"):
        here.take(refused.number)
    assert here.walk(1).ended.startswith("type_ok fails: ")
    assert here.trace.refused is not None
    assert replay(here.trace, model=here.model).property == "type_ok"


def test_properties_of_runs_are_named_as_not_shown() -> None:
    here = explore("cluster")
    assert "all_acknowledged" in here.not_shown
    assert not {one.name for one in here.standings} & set(here.not_shown)
    assert {one.name for one in here.standings} == {*invariants_of(here.model), "type_ok"}
    assert [one.name for one in here.standings if one.watched] == [*default_names(here.model), "type_ok"]
