"""Properties of runs that a model's class marks are those that may be declared beside it."""

# mypy: disable-error-code="no-redef,assignment,call-overload,arg-type"

from __future__ import annotations

from typing import Any

import pytest

from insync.explorer import check, liveness
from insync.model import Condition, Model, ModelError, StateView, UserError, eventually, invariant, leads_to, sometimes
from insync.properties import leads_to as leads_to_beside
from insync.properties.registry import run_properties_of
from insync.properties.temporal import RunKind
from insync_runs import Crossing, Person


class Watched(Crossing):
    """The crossing, with what its people hope for."""

    @sometimes
    def two_wait(self, s: StateView) -> Condition:
        """Two wait at once."""
        two: Condition = s.waiting.length == 2
        return two

    @eventually(weak=("change",))
    def green(self, s: StateView) -> Condition:
        """The light is green some time."""
        return s.green

    @eventually
    def green_by_itself(self, s: StateView) -> Condition:
        return s.green

    @leads_to(weak=("change",), strong=("cross(who)",))
    def crosses(self, s: StateView, who: Person) -> tuple[Condition, Condition]:
        """Who waits is across some time."""
        return s.waiting.contains(who), self.across(s, who)

    def across(self, s: StateView, who: Person) -> Condition:
        return ~s.waiting.contains(who)  # type: ignore[no-any-return]


class Patient(Watched):
    """Nobody hopes for green, and crossing takes nothing for granted."""

    green = None

    @leads_to
    def crosses(self, s: StateView, who: Person) -> tuple[Condition, Condition]:
        return s.waiting.contains(who), self.across(s, who)


OWN = ["two_wait", "green", "green_by_itself", "crosses"]


def verdicts(model: Model, properties: list[str]) -> dict[str, str]:
    return {found.name: str(found.verdict) for found in liveness(model, properties=properties).properties}


def test_they_are_decided_with_the_fairness_that_the_mark_says() -> None:
    pytest.importorskip("scipy")
    assert verdicts(Watched(), OWN) == {
        "two_wait": "holds",
        "green": "holds",
        "green_by_itself": "violated",
        "crosses": "holds",
    }
    assert verdicts(Patient(), ["crosses"]) == {"crosses": "violated"}


def test_they_are_found_by_name_with_those_beside_the_class() -> None:
    found = run_properties_of(Watched)
    assert {name: found[name].kind for name in OWN} == dict(
        zip(OWN, [RunKind.SOMETIMES, RunKind.EVENTUALLY, RunKind.EVENTUALLY, RunKind.LEADS_TO], strict=True)
    )
    assert "everybody_waits" in found, "declared beside the class that this one is a kind of"
    assert found["crosses"].sentence == "Who waits is across some time."
    assert str(found["crosses"].fairness) == "weak change; strong cross(who)"
    assert len(found["crosses"].instances(Watched(people=3))) == 3
    assert "green" not in run_properties_of(Patient)
    assert str(run_properties_of(Patient)["crosses"].fairness) == "none"
    with pytest.raises(UserError, match="crosses is about runs, not about states: `insync liveness` with the same"):
        check(Watched(), properties=["crosses"])


def test_the_class_goes_before_what_stands_beside_it() -> None:
    class Said(Watched):
        """Has a property of a name that is marked already."""

    @leads_to_beside(Said)
    def crosses(model: Said, s: StateView) -> tuple[Condition, Condition]:
        """Never asked for."""
        return True, False

    assert run_properties_of(Said)["crosses"].sentence == "Who waits is across some time."


def mistake(body: dict[str, Any]) -> str:
    with pytest.raises(ModelError) as caught:
        type(Watched)("Wrong", (Watched,), body)  # type: ignore[misc]
    return str(caught.value)


def test_mistakes_are_told_with_what_to_do() -> None:
    def across(self: Any, s: Any) -> bool:
        return True

    assert "'crosses' hides the property of runs at" in mistake({"crosses": across})
    assert "write @sometimes, @eventually or @leads_to above it, or crosses = None" in mistake({"crosses": across})
    with pytest.raises(ModelError, match=r"beside the class write @leads_to\(Watched\) of insync\.properties"):
        leads_to(Watched)
    with pytest.raises(ModelError, match="must take self, the state and then its parameters"):
        sometimes(lambda: True)
    with pytest.raises(ModelError, match="'who' of the eventually property 'towards' has no annotation"):

        @eventually(weak=("change",))
        def towards(self: Any, s: Any, who) -> bool:  # type: ignore[no-untyped-def]
            return True

    with pytest.raises(ModelError, match="two properties of runs are named 'again'"):

        class Twice(Crossing):
            @sometimes
            def again(self, s: StateView) -> Condition:
                return True

            @eventually
            def again(self, s: StateView) -> Condition:  # noqa: F811  (the mistake)
                return True

    with pytest.raises(ModelError, match="a property of runs and an invariant are named 'again'"):

        class Both(Crossing):
            @sometimes
            def again(self, s: StateView) -> Condition:
                return True

            @invariant
            def again(self, s: StateView) -> Condition:  # noqa: F811  (the mistake)
                return True
