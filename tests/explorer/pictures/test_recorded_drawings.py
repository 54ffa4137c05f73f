"""Every way in which traces are shown, of steps of many kinds: a change of what is drawn or written is seen.

The record has a number for each. Who means a change records it: with tests/support in PYTHONPATH run this file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pytest

from insync.explorer.pictures.markup import markdown, mermaid
from insync.explorer.pictures.page import Page, article
from insync.explorer.pictures.picture import picture
from insync.explorer.pictures.svg import svg
from insync.explorer.stepping.stepper import Move, Refused, Stepper
from insync.explorer.traces.grid import render_grid
from insync.explorer.traces.itf import itf_text
from insync.explorer.traces.trace import RefusedStep, Trace, trace_of
from insync.kafka.placement import Placement
from insync.model import Model, find_model
from insync.properties import offset_in, said
from insync_meanings import Record
from insync_pictures import kip101, r13_trace, taken
from insync_runs import Crossing
from insync_toys import Commit

RECORD = Record(Path(__file__).parent / "drawings.json")


def varied(model: Model, length: int, failing: str, reason: str) -> Trace:
    """Return steps of as many actions as there are: the next one is that which was taken least often."""
    stepper, codes, times = Stepper(model), model.program.initials[0], Counter[str]()
    moves: list[Move] = [(None, codes)]
    while len(moves) < length:
        able = [(number, made) for number, made in stepper.outcomes(codes) if not isinstance(made, Refused)]
        if not able:
            break
        number, codes = min(able, key=lambda one: (times[model.program.actions[one[0]].name], -one[0]))
        times[model.program.actions[number].name] += 1
        moves.append((number, codes))
    return trace_of(model, failing, moves, reason)


def published(name: str, **bounds: int) -> tuple[Model, Trace]:
    model = find_model(name)(**bounds)
    lacks = "{leader} leads, and {member} has no record at {offset} and none at 1."
    reason = said(lacks, leader="b1", member="b2", offset=offset_in(0, "b1", "b2"))
    return model, varied(model, 24, "weak_isr", reason)


def crossing(**changes: object) -> tuple[Model, Trace]:
    model = Crossing()
    return model, replace(taken(model, ["p1 asks", "change", "change"], "gets_across", "It repeats."), **changes)  # type: ignore[arg-type]


def refused() -> tuple[Model, Trace]:
    model = Commit()
    step = RefusedStep("learn", {"party": "p1"}, "learn p1", "phase is 7.")
    return model, replace(varied(model, 5, "type_ok", "phase is 7."), refused=step)


FAILS = said("{one} fails, and {other} is 3.", one="b1", other="b3")

TRACES: dict[str, Callable[[], tuple[Model, Trace]]] = {
    "kip101": kip101,
    "kip320": lambda: published("kip320", replicas=2, max_records=2, log_size=2),
    "async_isr": lambda: published("async_isr"),
    "crossing": crossing,
    "crossing for ever": lambda: crossing(loop=1),
    "crossing, a witness": lambda: crossing(witness=True),
    "refused": refused,
    "R-13": r13_trace,
    "placement": lambda: (Placement(), varied(Placement(), 12, "type_ok", FAILS)),
    "the first state": lambda: (Commit(), varied(Commit(), 1, "agreement", "It is wrong from the start.")),
}


def shown(model: Model, trace: Trace) -> Mapping[str, str]:
    drawn = picture(trace, model, file=Path("trace.json"))
    texts = {
        "page": article(Page(drawn, "{}")),
        "page, later": article(Page(replace(drawn, reason=())), 3),
        "svg": svg(drawn),
        "markdown": markdown(drawn),
        "mermaid": mermaid(drawn),
        "itf": itf_text(trace, model.state),
        "grid": render_grid(trace, model.grid),
        "narrow grid": render_grid(trace, model.grid, width=40, header=False),
    }
    return {way: f"{crc32(text.encode()):08x}" for way, text in texts.items()}


@pytest.mark.parametrize("name", TRACES)
def test_each_trace_is_shown_as_it_was(name: str) -> None:
    assert shown(*TRACES[name]()) == RECORD.known(name)


if __name__ == "__main__":
    for each, made in TRACES.items():
        RECORD.write(each, shown(*made()))
