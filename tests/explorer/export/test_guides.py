"""The guides show what is exported."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from insync.explorer.export import export

GUIDES = Path(__file__).parents[3] / "docs" / "guide"
BLOCKS = [
    pytest.param(block, id=f"{name}-{number}")
    for name in ("export", "kip320")
    for number, block in enumerate(re.findall(r"^```tla\n(.*?)^```$", (GUIDES / f"{name}.md").read_text(), re.M | re.S))
]
KIP320 = export("kip320", bounds={"replicas": 2, "max_leader_epoch": 1})["kip320.tla"]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_of_a_guide_is_part_of_the_export(block: str) -> None:
    assert block.rstrip() in KIP320


def test_the_exported_module_is_as_long_as_the_guide_says() -> None:
    lines = KIP320.rstrip("\n").splitlines()
    code = [line for line in lines if line.strip() and not re.match(r" *\\\*|--|==", line)]
    assert f"{len(lines)} lines, {len(code)} without comments" in (GUIDES / "kip320.md").read_text()
