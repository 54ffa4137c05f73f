from __future__ import annotations

import pytest

from insync.explorer.breadth_first.backtrack import traced_back
from insync.model.errors import InternalError
from insync_toys import DieHard


def test_a_state_that_nothing_leads_to_is_our_mistake() -> None:
    model = DieHard()
    target = model.program.schema.pack((3, 0))
    with pytest.raises(InternalError, match=r"No state of level 1 leads to"):
        traced_back(model, target, 2, lambda state, level: None)


def test_a_way_that_does_not_begin_at_the_start_is_our_mistake() -> None:
    model = DieHard()
    pack = model.program.schema.pack
    with pytest.raises(InternalError, match="not the initial state"):
        traced_back(model, pack((3, 0)), 2, lambda state, level: pack((3, 5)))
    with pytest.raises(InternalError, match="knows no such step"):
        traced_back(model, pack((1, 1)), 2, lambda state, level: pack((0, 0)))
