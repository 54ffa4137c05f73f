from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from insync.explorer.pictures.picture import Outcome, Picture, Place, picture, picture_of_state, references
from insync.explorer.traces.state_diff import Box, CellChange, LogDrawing, Piece, ShownCell
from insync.explorer.traces.trace import RefusedStep
from insync.kafka.placement import Placement
from insync.kafka.published import AsyncIsr
from insync.model import Arrow, BoundValues, Index, Mark, MarkKind, Model, ModelError, State, StateView, Taken, action
from insync.properties import said
from insync_pictures import defect_trace, kip101, r13_trace, taken
from insync_runs import Crossing


def r13() -> Picture:
    model, trace = r13_trace()
    return picture(trace, model)


def of_kip101() -> Picture:
    model, trace = kip101()
    return picture(trace, model)


def test_a_number_in_a_path_is_a_place_in_a_log_only_where_the_path_leads_into_it() -> None:
    log = LogDrawing(
        tuple(Box(f"r{at}", "0", committed=False) for at in range(3)), 0, False, Piece("", ""), Piece("", "")
    )
    cell = ShownCell("n1", "[r0 r1 r2]", "", log=log)
    told = said("{sent} is r1 and {log} is 3", sent="server[n1].sent[2]", log="server[n1].log[2]")
    assert {one.text: one.places for one in references(told, [cell]) if one.places} == {
        "server[n1].sent[2]": (Place("n1"),),
        "server[n1].log[2]": (Place("n1", 2),),
    }


def test_a_picture_says_what_was_asked_and_what_came_of_it() -> None:
    model, trace = kip101()
    drawn = picture(trace, model)
    assert drawn.question == "Does weak_isr hold in every state of kip101?"
    assert drawn.sentence.startswith("Every record that a replica which believes it leads has committed")
    assert drawn.verdict == "No: it fails after 10 steps."
    assert drawn.outcome is Outcome.BAD
    assert drawn.command == "insync replay kip101-weak_isr.json"
    assert dict(drawn.settings) == {}
    assert dict(drawn.all_settings) == {"replicas": 3, "log_size": 2, "max_records": 2, "max_leader_epoch": 2}


def test_the_command_names_the_file_where_there_is_one() -> None:
    model, trace = kip101()
    assert picture(trace, model, file=Path("my traces/a.json")).command == "insync replay 'my traces/a.json'"


def test_those_settings_are_told_that_are_no_default() -> None:
    drawn = r13()
    assert dict(drawn.settings) == {
        "release": "4.1",
        "defect": "R-13",
        "min_insync_replicas": 1,
        "records": 1,
        "power_failures": 0,
    }
    assert len(drawn.all_settings) > 20


def test_messages_are_arrows_between_lifelines() -> None:
    drawn = r13()
    assert drawn.lifelines == ("clients", "b1", "b2", "b3", "controller")
    assert drawn.steps[0].drawn == ()
    assert drawn.steps[1].drawn == (Mark("b2", "fenced", MarkKind.FENCED), Mark("controller", "ISR b1 b3"))
    assert drawn.steps[2].drawn == (Arrow("b1", "controller", "ISR b1 b2"),)
    assert drawn.steps[7].drawn == (Arrow("b3", "b1", "fetch at 0"), Arrow("b1", "b3", "r0@0", reply=True))
    assert drawn.steps[8].drawn[-1] == Arrow("b1", "clients", "acks r0", reply=True)


def test_a_reply_comes_from_who_was_asked_whoever_leads_now() -> None:
    labels = (
        "b1 appends a record",
        "controller elects b3",
        "b3 applies metadata",
        "b3 appends a record",
        "b1 applies metadata",
        "b1 fetches from b3",
        "controller elects b2",
        "b1 applies metadata",
        "b1 receives the response",  # that their logs part
    )
    model, trace = defect_trace("R-20", labels, "no_divergence", "made by hand")
    assert picture(trace, model).steps[-1].drawn[0] == Arrow("b3", "b1", "cut to 0", reply=True)


def test_a_log_is_boxes_with_the_high_watermark_between_them() -> None:
    model, trace = kip101()
    cell = picture(trace, model).steps[9].cells[0]
    assert cell.log is not None
    assert [(box.record, box.epoch, box.committed, box.change) for box in cell.log.boxes] == [
        ("r0", "2", True, CellChange.SAME)
    ]
    assert (cell.log.watermark, cell.log.moved, cell.log.before.text) == (1, True, "L2")
    assert (cell.text, cell.shown) == ("L2 [r0@2 |]", "L2 [r0@2 |]")


def test_records_that_are_cut_off_stay_as_boxes_that_are_gone() -> None:
    last = of_kip101().failing.cells[2]
    assert last.log is not None
    assert [box.change for box in last.log.boxes] == [CellChange.GONE]
    assert last.shown == "F1 [|]"


def test_a_cell_that_a_step_does_not_change_is_still_there() -> None:
    cells = of_kip101().failing.cells
    assert [cell.changed for cell in cells] == [False, False, True, False]
    assert all(cell.text for cell in cells)


def test_the_reason_points_at_the_boxes_that_it_talks_of() -> None:
    drawn = r13()
    pointing = {phrase.text: phrase.places for phrase in drawn.reason if phrase.places}
    assert pointing == {
        "b2": (Place("b2"),),
        "r0": (Place("b1", 0), Place("b3", 0)),
        "offset 0": (Place("b2", 0), Place("b1", 0), Place("b3", 0)),
    }
    assert "".join(phrase.text for phrase in drawn.reason) == "b2 lacks r0 at offset 0."


def test_the_condition_that_fails_has_its_values() -> None:
    condition = of_kip101().condition
    assert condition is not None
    assert (condition.text, condition.must_hold) == ("replica[b3].leo > 0", True)
    assert [(phrase.text, phrase.places, value) for phrase, value in condition.values] == [
        ("replica[b3].leo", (Place("b3"),), "0")
    ]


def test_the_legend_has_the_marks_that_occur_alone() -> None:
    assert [mark for mark, _ in r13().legend] == ["r@e", "|", "L#", "F#", "~#", "-b#"]
    assert [mark for mark, _ in of_kip101().legend] == ["r@e", "|", "L#", "F#", "-"]


def test_a_lifeline_is_down_until_it_is_up_again() -> None:
    model = Placement()
    drawn = picture(taken(model, ["b1 fails", "b1 returns", "b2 fails"], "type_ok", ""), model)
    assert [step.down for step in drawn.steps] == [frozenset(), {"b1"}, frozenset(), {"b2"}]
    assert drawn.steps[1].drawn == (Mark("b1", "fails", MarkKind.DOWN),)


def test_a_step_that_is_refused_is_drawn_without_a_state_of_its_own() -> None:
    model, trace = kip101()
    refused = RefusedStep("leader_write", {}, "b1 writes r1", "leo is 3")
    drawn = picture(replace(trace, property="type_ok", refused=refused), model)
    assert drawn.verdict == "No: a step from the state after 10 steps does not."
    assert drawn.steps[-1].refused
    assert drawn.failing.number == 10
    assert not any(cell.changed for cell in drawn.steps[-1].cells)


def test_a_run_that_goes_on_for_ever_says_where_it_goes_back_to() -> None:
    model = Crossing()
    trace = taken(model, ["p1 asks", "change", "change"], "gets_across", "it repeats")
    round_and_round = picture(replace(trace, loop=1), model)
    assert round_and_round.question == "Does every fair run of crossing fulfil gets_across?"
    assert round_and_round.verdict == "No: a run goes round for ever, from step 1 to step 3 and back."
    assert (round_and_round.loop, round_and_round.condition) == (1, None)
    assert picture(replace(trace, loop=3), model).verdict == "No: after 3 steps a run stays as it is for ever."


def test_a_witness_is_good() -> None:
    model = Crossing()
    trace = taken(model, ["p1 asks", "p2 asks"], "everybody_waits", "it is reached")
    drawn = picture(replace(trace, witness=True), model)
    assert drawn.question == "Is there a state of crossing with everybody_waits?"
    assert (drawn.verdict, drawn.outcome) == ("Yes: it is reached after 2 steps.", Outcome.GOOD)


def test_the_leader_of_async_isr_speaks_with_the_controller() -> None:
    model = AsyncIsr()
    trace = taken(model, ["b1 asks to drop b3", "controller accepts ISR {b1, b2}", "b1 learns v1"], "type_ok", "")
    assert [one for step in picture(trace, model).steps for one in step.drawn] == [
        Arrow("b1", "controller", "drop b3"),
        Mark("controller", "ISR b1 b2"),
        Arrow("controller", "b1", "v1: ISR b1 b2"),
    ]


def test_a_state_is_drawn_alone_as_it_is_in_a_picture() -> None:
    model, trace = kip101()
    whole = picture(trace, model)
    assert [picture_of_state(model, trace.steps[: n + 1]) for n in range(trace.length)] == list(whole.steps)


class Node(Index):
    label = "n"
    size = 2


class Post(Model):
    """A model that says nothing of how it is drawn."""

    def declare(self, b: BoundValues) -> State:
        from insync.model import Array, Bool

        return State(on=Array(Node, Bool))

    @action(label="{sender} wakes {receiver}")
    def wake(self, s: StateView, receiver: Node, sender: Node) -> None:
        s.on[receiver] = True

    @action(label="{node}: sleep")
    def sleep(self, s: StateView, node: Node) -> None:
        s.on[node] = False

    @action(label="all sleep")
    def sleep_all(self, s: StateView) -> None:
        for node in self.all(Node):
            s.on[node] = False


def test_a_model_that_says_nothing_is_drawn_by_the_parameters_of_its_actions() -> None:
    model = Post()
    drawn = picture(taken(model, ["n2 wakes n1", "n1: sleep", "all sleep", "n1 wakes n1"], "type_ok", ""), model)
    assert drawn.lifelines == ("n1", "n2")
    assert [one for step in drawn.steps for one in step.drawn] == [
        Arrow("n2", "n1", "wakes"),
        Mark("n1", "sleep"),
        Mark("", "all sleep"),
        Mark("n1", "wakes n1"),
    ]


class Odd(Post):
    def step_drawing(self, steps: Sequence[Taken], label: str) -> list[Arrow | Mark]:
        return [Arrow("n1", "the moon", "hello")]


class OddLifelines(Post):
    def lifelines(self) -> Sequence[str]:
        return 3  # type: ignore[return-value]


@pytest.mark.parametrize("model", [Odd(), OddLifelines()])
def test_a_model_that_draws_nonsense_is_told_so(model: Model) -> None:
    trace = taken(model, ["n1: sleep"], "type_ok", "")
    with pytest.raises(ModelError, match=r"test_picture.py:\d+: (step_drawing|lifelines) returns .+; it must return"):
        picture(trace, model)
