"""Drawings of states are remembered, and those that were wanted long ago are forgotten first."""

from __future__ import annotations

from typing import Any

import pytest

from insync.explorer import Exploration
from insync.explorer.exploring.steps import offered_steps
from insync.explorer.exploring_page import tabs
from insync.explorer.exploring_page.tabs import StateDrawing
from insync.explorer.pictures.picture import picture_of_state
from insync_toys import DieHard


def test_on_a_long_way_each_step_is_drawn_once_even_where_few_pictures_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[int] = []

    def counted(model: Any, steps: Any, **given: Any) -> Any:
        drawn.append(len(steps))
        return picture_of_state(model, steps, **given)

    monkeypatch.setattr(tabs, "_MOST_PICTURES", 3)
    monkeypatch.setattr(tabs, "picture_of_state", counted)
    exploration = Exploration(DieHard()).again()
    drawing = StateDrawing(exploration.model)
    for step in range(12):
        drawn.clear()
        drawing.html(exploration)
        assert sorted(drawn) == [1, step + 1], "the step, and the whole state for the legend"
        exploration.take(offered_steps(exploration.stepper, exploration.here.codes)[0].number)
