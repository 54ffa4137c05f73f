"""What a model's methods of drawing return: a wrong answer is one sentence with the place of the method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from insync.model import Arrow, Bool, BoundValues, LogCell, LogRecord, Mark, Model, State, Taken
from insync.model.language.presentation import checked_drawing, checked_grid, checked_lifelines, checked_marks
from insync.runtime.errors import ModelError


class Drawn(Model):
    answer: Any = None
    names: Sequence[str] = ("n1", "n2")

    def declare(self, b: BoundValues) -> State:
        return State(on=Bool)

    def grid(self, state: Any) -> Any:
        return self.answer

    def step_marks(self, before: Any, after: Any) -> Any:
        return self.answer

    def lifelines(self) -> Any:
        return self.names

    def step_drawing(self, steps: Sequence[Taken], label: str) -> Any:
        return self.answer


def drawn(answer: Any, names: Any = ("n1", "n2")) -> Drawn:
    model = Drawn()
    model.answer, model.names = answer, names
    return model


LOGS: list[Any] = [
    LogCell((3,), watermark="x"),  # type: ignore[arg-type]
    LogCell((LogRecord(3),), watermark=-5),  # type: ignore[arg-type]
    LogCell((), True),
]


@pytest.mark.parametrize(
    "wrong", [3, "text", {"a": 3}, {1: "a"}, {"a": {"b": 3}}, {"a": {3: "b"}}, {"a": ["b"]}, [("a", "b")]]
)
def test_a_grid_has_texts(wrong: object) -> None:
    with pytest.raises(
        ModelError, match=r"presentation\.py:\d+: grid returns .+; it must return a dict with the text of "
    ):
        checked_grid(drawn(wrong), {})


def test_what_a_grid_may_have() -> None:
    cells = {"a": "b", "c": {"d": "e"}, "f": ("g",), "h": LogCell((LogRecord("r0", "1"),), 3)}
    assert checked_grid(drawn(cells), {}) == cells


@pytest.mark.parametrize("wrong", LOGS)
def test_a_log_in_a_grid_has_records_and_a_watermark(wrong: LogCell) -> None:
    with pytest.raises(ModelError, match=r"grid returns \{'a': LogCell.+; it must return .+ the watermark a whole num"):
        checked_grid(drawn({"a": wrong}), {})


@pytest.mark.parametrize("wrong", [3, None, {"a": 3}, {1: "a"}, ["a"]])
def test_marks_are_texts(wrong: object) -> None:
    with pytest.raises(
        ModelError, match=r"presentation\.py:\d+: step_marks returns .+; it must return a dict with a text "
    ):
        checked_marks(drawn(wrong), {}, {})


@pytest.mark.parametrize("wrong", [3, None, [1, None], "abc", ["a", "a"], [""], {"a": "b"}])
def test_lifelines_are_names_each_once(wrong: object) -> None:
    with pytest.raises(
        ModelError, match=r"presentation\.py:\d+: lifelines returns .+; it must return a list of names, each"
    ):
        checked_lifelines(drawn(None, wrong))


@pytest.mark.parametrize("wrong", [None, 5, "n1: sleep", [3], [Mark("n1", "x"), None]])
def test_a_drawing_has_arrows_and_marks(wrong: object) -> None:
    with pytest.raises(
        ModelError, match=r"presentation\.py:\d+: step_drawing returns .+ for 'go'; it must return a list of"
    ):
        checked_drawing(drawn(wrong), [], "go")


@pytest.mark.parametrize(
    "wrong",
    [Mark(3, 4), Arrow("m", None, 5), Mark("n1", "x", "down")],  # type: ignore[arg-type]
)
def test_arrows_and_marks_have_texts(wrong: object) -> None:
    with pytest.raises(
        ModelError, match=r"step_drawing returns \[.+\] for 'go'; .+ whose lifelines and texts are texts"
    ):
        checked_drawing(drawn([wrong]), [], "go")


@pytest.mark.parametrize("wrong", [Mark("moon", "hello"), Arrow("n1", "moon", "hello")])
def test_arrows_and_marks_are_on_lifelines(wrong: object) -> None:
    with pytest.raises(ModelError, match=r"the lifelines that there are, n1, n2: 'moon' is none of them\."):
        checked_drawing(drawn([wrong]), [], "go")


def test_what_is_between_nobody_is_a_note_on_all() -> None:
    assert checked_drawing(drawn([Mark("b9", "fails"), Arrow("b8", "b9", "x")], []), [], "go") == (
        Mark("", "fails"),
        Mark("", "x"),
    )
    assert checked_drawing(drawn([Mark("", "all"), Arrow("n1", "n2", "x")]), [], "go")[0] == Mark("", "all")
