"""All that a page is answered on a long way through some models; a change of any answer is seen.

The record has a number for each answer. Who means a change records it: with tests/support in PYTHONPATH run this file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import pytest

from insync.explorer import Exploration
from insync.explorer.exploring_page import tabs
from insync.explorer.exploring_page.tabs import Tabs
from insync.model import Model
from insync.model.catalogue import find_model
from insync_initials import SelfStabilizing
from insync_meanings import Record
from insync_steps import Votes
from insync_toys import Commit, DieHard, TokenRing

RECORD = Record(Path(__file__).parent / "answers.json")
MODELS: dict[str, Model] = {
    "die_hard": DieHard(),
    "token_ring": TokenRing(),
    "two_tokens": TokenRing(two_tokens=1),
    "commit": Commit(),
    "votes": Votes(),
    "kip101": find_model("kip101")(replicas=2),
    "stabilizing": SelfStabilizing(nodes=3, most=4),
}
WAY: list[dict[str, object]] = [
    {"command": "why"},
    {"command": "walk", "steps": 3, "seed": 2},
    {"command": "why"},
    {"command": "back", "steps": 2},
    {"command": "walk", "steps": 2, "seed": 5, "known": 2},
    {"command": "undo"},
    {"command": "forward", "steps": 9},
    {"command": "go", "number": 1},
    {"command": "start", "number": 1},
    {"command": "take", "number": 0},
    {"command": "walk", "steps": 40},
    {"command": "walk", "steps": 40, "known": 3},
    {"command": "save"},
    {"command": "back", "steps": 100},
    {"command": "back"},
    {"command": "forward"},
    {"command": "progress"},
    {"command": "stop"},
]


def answered(model: Model) -> Mapping[str, str]:
    tabs = Tabs(Exploration(model).again)
    told = tabs.answer({"tab": "", "command": "open"})
    tab, answers = told.pop("tab"), [told]
    answers += [tabs.answer({"tab": tab, **asked}) for asked in WAY]
    texts = [json.dumps({key: value for key, value in answer.items() if key != "seconds"}) for answer in answers]
    texts = [re.sub(r"(?<=\.py):\d+", "", text) for text in texts]  # where a condition stands moves with every line
    return {f"{place:02}": f"{crc32(text.encode()):08x}" for place, text in enumerate(texts)}


@pytest.mark.parametrize("name", MODELS)
def test_every_answer_is_what_it_was(name: str) -> None:
    assert answered(MODELS[name]) == RECORD.known(name)


@pytest.mark.parametrize(("most", "told"), [(4, True), (3, False)])
def test_the_tree_is_told_as_long_as_it_is_small(monkeypatch: pytest.MonkeyPatch, most: int, told: bool) -> None:
    monkeypatch.setattr(tabs, "_MOST_VISITED", most)
    open_tabs = Tabs(Exploration(DieHard()).again)
    tab = open_tabs.answer({"tab": "", "command": "open"})["tab"]
    answer = open_tabs.answer({"tab": tab, "command": "walk", "steps": 3, "seed": 2})
    assert (answer["tree"] is not None, answer["path"] is not None) == (told, told)


if __name__ == "__main__":
    for each, one in MODELS.items():
        RECORD.write(each, answered(one))
