from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from insync.kafka.published import AsyncIsr, Kip320
from insync.model import GridCell
from insync.model.language.presentation import cell_text


def texts(cells: Mapping[str, GridCell]) -> dict[str, str]:
    return {name: cell_text(cell) for name, cell in cells.items()}


def entry(text: str | None) -> dict[str, str] | None:
    if text is None:
        return None
    name, _, epoch = text.partition("@")
    return {"id": name, "epoch": epoch}


def replica(log: list[str | None], hw: int, epoch: str | None = "3", leader: str | None = "b1") -> dict[str, Any]:
    entries = [entry(text) for text in log]
    length = sum(text is not None for text in log)
    return {"log": entries, "leo": length, "hw": hw, "epoch": epoch, "leader": leader, "isr": ["b1"]}


def state(**replicas: dict[str, Any]) -> dict[str, Any]:
    return {
        "replica": replicas,
        "quorum": {"leader": "b2", "isr": ["b1", "b2"]},
        "next_record": 1,
        "next_epoch": 4,
        "requests": {},
    }


@pytest.mark.parametrize(
    ("log", "high_watermark", "text"),
    [
        ([None, None], 0, "L3 [|]"),
        (["r0@3", None], 0, "L3 [| r0@3]"),
        (["r0@3", None], 1, "L3 [r0@3 |]"),
        (["r0@2", "r1@3"], 1, "L3 [r0@2 | r1@3]"),
        (["r0@2", "r1@3"], 2, "L3 [r0@2 r1@3 |]"),
        (["r0@2", None], 2, "L3 [r0@2 - |]"),
    ],
)
def test_a_log_is_drawn_with_the_high_watermark_as_a_bar(log: list[str | None], high_watermark: int, text: str) -> None:
    assert texts(Kip320().grid(state(b1=replica(log, high_watermark))))["b1"] == text


def test_role_and_epoch_stand_before_the_log() -> None:
    cells = Kip320().grid(
        state(b1=replica([], 0), b2=replica([], 0, epoch="0"), b3=replica([], 0, epoch=None, leader=None))
    )
    assert texts(cells) == {"b1": "L3 [|]", "b2": "F0 [|]", "b3": "-  [|]", "controller": "b2 @3  ISR b1 b2"}


def test_a_controller_without_leader() -> None:
    nobody = {**state(), "quorum": {"leader": None, "isr": []}, "next_epoch": 0}
    assert Kip320().grid(nobody) == {"controller": "no leader  ISR empty"}
    assert Kip320().grid({**nobody, "next_epoch": 2}) == {"controller": "no leader @1  ISR empty"}


@pytest.mark.parametrize(("next_epoch", "shown"), [(0, "b2"), (1, "b2 @0"), (2, "b2 @1")])
def test_the_epoch_of_a_leader_is_shown_from_the_first_one_on(next_epoch: int, shown: str) -> None:
    assert Kip320().grid({**state(), "next_epoch": next_epoch}) == {"controller": f"{shown}  ISR b1 b2"}


def test_a_row_of_three_replicas_fits_a_terminal() -> None:
    full = replica(["r0@0", "r1@1", "r2@2"], 1)
    cells = Kip320().grid(state(b1=full, b2=full, b3=full))
    assert len("  ".join(["99", "controller drops b1", *texts(cells).values()])) <= 120


def test_the_model_draws_itself() -> None:
    model = Kip320(replicas=2)
    cells = model.grid(model.decode(model.program.initials[0]))
    assert texts(cells) == {"b1": "-  [|]", "b2": "-  [|]", "controller": "no leader  ISR b1 b2"}


def test_async_isr_shows_offsets_and_both_views_of_the_isr() -> None:
    model = AsyncIsr()
    start = model.decode(model.program.initials[0])
    assert model.grid(start) == {
        "b1": "offset 0",
        "b2": "offset 0",
        "b3": "offset 0",
        "leader's view": "v0 HW 0  ISR b1 b2 b3",
        "controller": "v0  ISR b1 b2 b3",
    }
    leader = {"isr": ["b1", "b2"], "version": "v1", "pending_isr": ["b1", "b2", "b3"], "pending_version": "v1"}
    asked = {**start, "leader": {**leader, "offset": {"b1": 2, "b2": 2, "b3": 1}}}
    assert model.grid(asked)["leader's view"] == "v1 HW 1  ISR b1 b2 + b3"
    shrinking = {**leader, "isr": ["b1", "b2", "b3"], "pending_isr": ["b1", "b2"]}
    dropped = {**start, "leader": {**shrinking, "offset": {"b1": 2, "b2": 2, "b3": 1}}}
    assert model.grid(dropped)["leader's view"] == "v1 HW 1  ISR b1 b2 b3 asked"
