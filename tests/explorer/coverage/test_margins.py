"""What stands in the margin of a model's source: the counts of `why`, line by line, and what never was so."""

from __future__ import annotations

import re

import pytest

from insync.explorer import why
from insync.explorer.coverage.source_page import Margin, hottest, margins, why_page
from insync.model import BoundValues, Int, Model, State, StateView, action, require, when
from insync_worksite import Worksite


@pytest.mark.parametrize(
    ("kind", "counts", "cold"),
    [
        ("action", {"steps": 3, "states": 2, "bindings": 1}, ()),
        ("action", {"steps": 0, "states": 0, "bindings": 1}, ("never enabled",)),
        ("action", {"steps": 0, "states": 0, "bindings": 0}, ()),
        ("require", {"false": 2, "alone": 1, "rules out": 0, "asked": 5}, ()),
        ("require", {"false": 2, "alone": 0, "rules out": 0, "asked": 5}, ("never alone",)),
        ("require", {"false": 0, "alone": 0, "rules out": 0, "asked": 5}, ("never false",)),
        ("require", {"false": 0, "alone": 0, "rules out": 4, "asked": 0}, ()),
        ("If", {"true": 1, "false": 1, "asked": 2}, ()),
        ("If", {"true": 0, "false": 2, "asked": 2}, ("never true",)),
        ("when", {"true": 2, "false": 0, "asked": 2}, ("never false",)),
        ("when", {"true": 0, "false": 0, "asked": 2}, ("never true", "never false")),
        ("when", {"true": 0, "false": 2, "asked": 0}, ()),
        ("assign", {"steps": 1}, ()),
        ("assign", {"steps": 0}, ("never",)),
        ("Implies", {"true": 1}, ()),
        ("for_all", {"true": 0}, ("never true",)),
    ],
)
def test_what_never_was_so_is_said_unless_it_could_not_be(
    kind: str, counts: dict[str, int], cold: tuple[str, ...]
) -> None:
    assert Margin(kind, "what", counts).cold == cold


def test_a_line_has_the_sum_of_what_actions_say_of_it() -> None:
    lines = {line: entries for file in margins(why(Worksite)).values() for line, entries in file.items()}
    assert list(lines) == sorted(lines)
    for entries in lines.values():
        assert hottest(entries) == max(next(iter(one.counts.values())) for one in entries)
        for one in entries:
            for name, number in one.counts.items():
                assert number == sum(counts[name] for counts in one.parts.values())


class Gate(Model):
    """A gate that opens halfway, would be locked if it came further, and is too strong to be broken."""

    strength = 3

    def declare(self, b: BoundValues) -> State:
        return State(angle=Int(0, 2))

    def turn(self, s: StateView, start: int) -> None:
        require(s.angle == start)
        s.angle = 1

    @action
    def open(self, s: StateView) -> None:
        """It opens."""
        self.turn(s, 0)

    @action
    def lock(self, s: StateView) -> None:
        """It is locked where it never comes."""
        self.turn(s, 2)
        with when(s.angle == 0):
            s.angle = 2

    @action
    def smash(self, s: StateView) -> None:
        """It breaks, if it is weak."""
        require(self.strength < 3)
        self.turn(s, 0)


def test_what_the_bounds_rule_out_is_impossible_and_what_no_state_allows_is_never_enabled() -> None:
    result = why(Gate)
    of_actions = {one.text: one for file in margins(result).values() for ones in file.values() for one in ones
                  if one.kind == "action"}  # fmt: skip
    assert {name: one.cold for name, one in of_actions.items()} == {
        "open": (),
        "lock": ("never enabled",),
        "smash": (),
    }
    (shared,) = (one for file in margins(result).values() for ones in file.values() for one in ones
                 if len(one.parts) > 1 and one.kind == "require")  # fmt: skip
    assert set(shared.parts) == {"open", "lock"}, "what is asked in a method is asked by each action that calls it"
    kinds = {(name, one.kind) for file in margins(result).values() for ones in file.values() for one in ones
             for name in one.parts}  # fmt: skip
    assert kinds == {
        ("open", "action"), ("open", "require"), ("open", "assign"), ("lock", "action"), ("lock", "require"),
        ("smash", "action"), ("smash", "require"),
    }, "of what was never taken nobody counts branches and assignments"  # fmt: skip
    said = re.findall(r'<div title="(\w+)">([^<]*)(?: <b class="cold">([^<]*)</b>)?</div>', why_page(result))
    assert {name: (text, cold) for name, text, cold in said if name in of_actions} == {
        "open": ("1 step, 1 state", ""),
        "lock": ("0 steps, 0 states", "never enabled"),
        "smash": ("impossible at these bounds", ""),
    }
