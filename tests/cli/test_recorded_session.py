"""All that is answered to what is typed on a long way through some models; a change of any answer is seen.

The record has a number for each line. Who means a change records it: with tests/support in PYTHONPATH run this file.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import pytest

from insync.cli.main import run
from insync_meanings import Record

RECORD = Record(Path(__file__).parent / "sessions.json")
SUPPORT = Path(__file__).parents[1] / "support"
MODELS = {
    "jugs": f"{SUPPORT / 'insync_toys.py'}:DieHard",
    "ring": f"{SUPPORT / 'insync_toys.py'}:TokenRing",
    "commit": f"{SUPPORT / 'insync_toys.py'}:Commit",
    "votes": f"{SUPPORT / 'insync_steps.py'}:Votes",
    "kip101": "kip101",
}
TYPED = (
    "help", "names", "why", "1", "1", "walk 3 2", "back 2", "walk 2 5", "undo", "forward 9", "tree", "go 1",
    "state", "props", "walk 40", "back 100", "back", "forward", "start 0", "start 7", "walk 0", "0", "99",
    "1 2", "undo now", "why nothing", "find 1 ==", "wak", "trace", "address", "at nowhere", "trace now", "save",
)  # fmt: skip


def answered(model: str) -> Mapping[str, str]:
    out, real = io.StringIO(), sys.stdin
    sys.stdin = io.StringIO("\n".join([*TYPED, "quit", ""]))
    try:
        with contextlib.redirect_stdout(out):
            run(["explore", model, "--text", "--quiet"])
    finally:
        sys.stdin = real
    parts = out.getvalue().replace(str(SUPPORT), "support").split("\n> ")
    names = ["first", *TYPED, "quit"]
    assert len(parts) == len(names)
    return {
        f"{place:02} {name}": f"{crc32(part.encode()):08x}"
        for place, (name, part) in enumerate(zip(names, parts, strict=True))
    }


@pytest.mark.slow_for("kip101")
@pytest.mark.parametrize("name", MODELS)
def test_every_answer_is_what_it_was(name: str) -> None:
    assert answered(MODELS[name]) == RECORD.known(name)


if __name__ == "__main__":
    for each, one in MODELS.items():
        RECORD.write(each, answered(one))
