"""However long a verb takes, it gives the same whether anybody listens or not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from insync.explorer import check, diff, graph, liveness, mutate, simulate, why
from insync.explorer.progress import Pulse
from insync.explorer.tables import Shown
from insync_runs import Crossing
from insync_toys import DieHard, TokenRing

VERBS: dict[str, Callable[..., Shown]] = {
    "check": lambda **told: check(DieHard, **told),
    "simulate": lambda **told: simulate(DieHard, walks=50, threads=1, **told),
    "liveness": lambda **told: liveness(Crossing, **told),
    "diff": lambda **told: diff(TokenRing, TokenRing(two_tokens=1), **told),
    "graph": lambda **told: graph(TokenRing, **told),
    "mutate": lambda **told: mutate(TokenRing, **told),
    "why": lambda **told: why(TokenRing, **told),
}


@pytest.mark.slow_for("diff", "mutate")
@pytest.mark.parametrize("verb", VERBS)
def test_what_is_found_does_not_depend_on_who_is_told(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy")
    at_once = repr(VERBS[verb]())
    monkeypatch.setattr(Pulse, "due", lambda _: True)
    monkeypatch.setattr("insync.runtime.watch._TELLING_SECONDS", 0.0)
    told = list[object]()
    assert repr(VERBS[verb]()) == at_once
    assert repr(VERBS[verb](reporter=lambda *said: told.append(said))) == at_once
    assert told
