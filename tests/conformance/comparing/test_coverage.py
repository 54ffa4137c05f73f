"""What conformance counts: steps once each, transitions and gaps by what is different."""

from __future__ import annotations

from insync.conformance.comparing.coverage import Coverage
from insync.conformance.correspondence.known_differences import Missing, NotSchedulable
from insync.explorer.stepping.stepper import Move, Stepper
from insync_toys import Clock


def test_each_different_transition_is_counted_once_and_no_gap_that_was_taken_after_all() -> None:
    coverage = Coverage.of(Stepper(Clock()))
    name = coverage.actions[0]
    moves: list[Move] = [(None, (0, 0)), (0, (1, 0)), (0, (2, 0))]
    coverage.add_step(moves[0][1], moves[1:], own=1, fields=7)
    coverage.add_step(moves[0][1], moves[1:2], own=0, fields=5)
    coverage.add_step(moves[0][1], [], own=0, fields=0)
    assert (coverage.steps, coverage.transitions) == (3, {name: 2})
    assert (coverage.own_steps, coverage.fields) == (1, 12)
    for codes, kind in (((0, 0), "taken"), ((5, 0), "late"), ((6, 0), "late"), ((5, 0), "late"), ((1, 0), "late")):
        coverage.add_gap(codes, 0, NotSchedulable(kind))
    assert coverage.gaps == {(name, "late"): 2}
    assert coverage.unexpected == set()


def test_a_gap_that_nobody_expects_is_told_apart_also_when_it_was_met_elsewhere() -> None:
    whole, part = Coverage.of(Stepper(Clock())), Coverage.of(Stepper(Clock()))
    name = part.actions[0]
    part.add_gap((0, 0), 0, NotSchedulable("late"))
    part.add_gap((1, 0), 0, Missing("gone"))
    whole.add(part)
    assert whole.gaps == {(name, "late"): 1, (name, "gone"): 1}
    assert whole.unexpected == {(name, "gone")}


def test_what_was_compared_in_another_space_is_added_and_no_transition_of_it_is_one_of_this_space() -> None:
    whole, name = Coverage.of(Stepper(Clock())), Stepper(Clock()).actions[0].name
    for space in ("a", "b"):
        part = Coverage.of(Stepper(Clock()))
        part.opened = 2
        part.add_step((0, 0), [(0, (1, 0))], own=1, fields=3)
        part.refused[name] += 1
        whole.add(part, space)
    assert (whole.steps, whole.own_steps, whole.fields, whole.opened) == (2, 2, 6, 4)
    assert (whole.transitions, whole.refused) == ({name: 2}, {name: 2})
