"""What a result claims is true of the whole space, or says that it is not about the whole space."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from insync.explorer import CheckResult, Limits, check
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.model import StateView, action, require
from insync.model.catalogue import find_model
from insync_corners import Late
from insync_toys import TokenRing

ENGINES: list[Callable[..., CheckResult]] = [check, check_by_evaluator]


class RefusedTwice(Late):
    """Two actions that are enabled and always refused; the trace shows one of them."""

    @action
    def worse(self, s: StateView) -> None:
        require(s.x >= 4)
        s.y = s.x


def verdicts(result: CheckResult) -> dict[str, str]:
    return {found.name: str(found.verdict) for found in result.properties}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_search_that_a_refused_step_ends_claims_nothing_of_the_rest(engine: Callable[..., CheckResult]) -> None:
    """The third level is not expanded as a whole, and what holds and what is enabled after it is not known."""
    ended = engine(Late())
    assert (ended.verdict, verdicts(ended)) == ("violated", {"ok": "incomplete", "type_ok": "violated"})
    assert (ended.levels, ended.frontier) == ((1, 1, 1), 1)
    assert (ended.never_enabled, ended.not_enabled_yet) == ((), ("late",))
    assert dict(ended.actions) == {"inc": 2, "bad": 0, "late": 0}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_search_that_goes_on_knows_the_whole_space(engine: Callable[..., CheckResult]) -> None:
    whole = engine(Late(), keep_going=True)
    assert verdicts(whole) == {"ok": "violated", "type_ok": "violated"}
    assert (whole.distinct_states, whole.frontier) == (21, 0)
    assert (whole.never_enabled, whole.not_enabled_yet) == ((), ())
    assert dict(whole.actions) == {"inc": 20, "bad": 0, "late": 1}
    assert engine(Late(), properties=[]).violations == whole.violations[:1]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_action_that_is_always_refused_is_enabled(engine: Callable[..., CheckResult]) -> None:
    whole = engine(RefusedTwice(), keep_going=True)
    assert dict(whole.actions) == {"inc": 20, "bad": 0, "late": 1, "worse": 0}
    assert (whole.never_enabled, whole.not_enabled_yet) == ((), ())


@pytest.mark.parametrize("engine", ENGINES)
def test_only_a_complete_search_knows_what_is_never_enabled(engine: Callable[..., CheckResult]) -> None:
    whole = engine(TokenRing(), properties=[])
    assert (whole.never_enabled, whole.not_enabled_yet) == (("forge",), ())
    limited = engine(TokenRing(), properties=[], limits=Limits(depth=2))
    assert limited.never_enabled == ()
    assert "forge" in limited.not_enabled_yet


@pytest.mark.parametrize("engine", ENGINES)
def test_a_property_that_fails_ends_the_search_before_its_level_is_expanded(
    engine: Callable[..., CheckResult],
) -> None:
    model = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    ended = engine(model, properties=["weak_isr", "leader_in_isr"])
    assert verdicts(ended) == {"weak_isr": "incomplete", "leader_in_isr": "violated"}
    assert (ended.frontier, ended.never_enabled) == (ended.levels[-1], ())
    assert ended.not_enabled_yet == tuple(ended.actions)
