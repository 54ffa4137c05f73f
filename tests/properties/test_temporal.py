from __future__ import annotations

import re
from typing import Any

import pytest

from insync.explorer import liveness
from insync.kafka.published import AsyncIsr, Kip320
from insync.model import And, Condition, Model, ModelError, StateView, UserError
from insync.model.evaluator import evaluate
from insync.properties import Fairness, eventually, leads_to, sometimes
from insync.properties.invariants import DEADLOCK_FREE
from insync.properties.registry import judge, run_properties_of, select, select_run_properties
from insync.properties.temporal import RunKind, fair_sets
from insync_runs import Crossing, Person


def test_kafka_models_have_the_library_s_properties_of_runs() -> None:
    found = run_properties_of(Kip320())
    assert {name for name, one in found.items() if one.kind is RunKind.SOMETIMES} == {
        "agreed_leader",
        "all_records_committed",
        "committed_everywhere",
        "two_leaders",
        "logs_diverge",
    }
    assert {name for name, one in found.items() if one.kind is RunKind.LEADS_TO} == {
        "back_in_isr",
        "accepted_is_settled",
        "acknowledged_is_everywhere",
    }
    assert [name for name, one in found.items() if one.kind is RunKind.EVENTUALLY] == ["partition_gets_a_leader"]
    assert all(one.sentence for one in found.values())
    assert run_properties_of(AsyncIsr()) == {}


def test_a_property_has_an_instance_for_each_binding() -> None:
    model = Crossing(people=3)
    instances = run_properties_of(model)["gets_across"].instances(model)
    assert [str(one) for one in instances] == ["who = p1", "who = p2", "who = p3"]
    codes = model.encode({"green": False, "waiting": ["p2"], "closed": False, "asked": 1})
    assert [bool(one.when is not None and evaluate(one.when, codes)) for one in instances] == [False, True, False]
    assert [bool(evaluate(one.then, codes)) for one in instances] == [True, False, True]


def test_properties_are_selected_by_name() -> None:
    names = ["turns_green", "gets_across", "turns_green"]
    assert [one.name for one in select_run_properties(Crossing(), names)] == ["turns_green", "gets_across"]
    assert len(select_run_properties(Crossing())) == 4
    with pytest.raises(UserError, match=r"crossing has no property of runs 'turn_green'\. Did you mean 'turns_green'"):
        select_run_properties(Crossing(), ["turn_green"])


def test_check_is_told_where_a_property_of_runs_is_decided() -> None:
    with pytest.raises(
        UserError,
        match="turns_green is about runs, not about states: `insync liveness` with the same mo",
    ):
        select(Crossing(), ["turns_green"])


def test_what_a_property_of_runs_returns_is_said_with_its_place() -> None:
    class Watched(Crossing):
        """For two mistakes."""

    def once(model: Watched, s: StateView) -> Any:
        return s.green

    def twice(model: Watched, s: StateView) -> Any:
        return s.green, s.green

    here = [f"{__file__}:{one.__code__.co_firstlineno}: {one.__name__} returns" for one in (once, twice)]
    leads_to(Watched)(once)
    eventually(Watched)(twice)
    model = Watched()
    for name, message in (
        ("once", f"{here[0]} this condition; a leads_to property returns two conditions"),
        ("twice", f"{here[1]} (this condition, this condition), which is of type tuple; it must return a condition"),
    ):
        with pytest.raises(ModelError, match=re.escape(message)):
            run_properties_of(model)[name].instances(model)


@pytest.mark.parametrize("given", [None, "a", "", "aaa", ["a", "a"]], ids=repr)
def test_a_leads_to_property_returns_two_conditions_neither_more_nor_fewer(given: Any) -> None:
    """Each letter stands for a condition."""

    class Watched(Crossing):
        """For one more mistake."""

    @leads_to(Watched)
    def follows(model: Watched, s: StateView) -> Any:
        return tuple(s.green for _ in given) if isinstance(given, str) else given and [s.green for _ in given]

    model = Watched()
    with pytest.raises(
        ModelError, match=r"test_temporal\.py:\d+: follows returns .*; a leads_to property returns two cond"
    ):
        run_properties_of(model)["follows"].instances(model)


def test_fairness_is_of_the_whole_action_of_some_parameters_or_of_each_binding() -> None:
    model = Kip320(replicas=2)
    for text, names in {
        "follower_fetch": ["follower_fetch"],
        "follower_fetch(follower)": ["follower_fetch(follower=b1)", "follower_fetch(follower=b2)"],
        "become_leader( * )": [
            f"become_leader(leader={leader}, epoch={epoch})" for leader in ("b1", "b2") for epoch in (0, 1, 2)
        ],
    }.items():
        found = fair_sets(model, Fairness(weak=(text,)))
        assert [one.name for one in found] == names
        assert not any(one.strong for one in found)
        action = text.split("(")[0]
        numbers = {number for number, bound in enumerate(model.program.actions) if bound.name == action}
        assert set().union(*(one.numbers for one in found)) == numbers
        assert sum(len(one.numbers) for one in found) == len(numbers)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("follower_fech", "Fairness: kip320 has no action 'follower_fech'. Did you mean 'follower_fetch'?"),
        ("follower_fetch(folower)", "follower_fetch has no parameter 'folower'. Did you mean 'follower'?"),
        ("follower_fetch(", "The fairness 'follower_fetch(' is not understood; write action, action(parameter, ...)"),
        ("", "The fairness '' is not understood"),
    ],
)
def test_a_mistake_in_a_fairness_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError) as raised:
        fair_sets(Kip320(), Fairness(strong=(text,)))
    assert sentence in str(raised.value)


@pytest.mark.parametrize(
    ("text", "names", "sizes"),
    [
        ("ask | cross", ["ask | cross"], [4]),
        ("ask(who)|cross(who)", ["ask | cross(who=p1)", "ask | cross(who=p2)"], [2, 2]),
        ("ask(*) | cross(who) ", ["ask | cross(who=p1)", "ask | cross(who=p2)"], [2, 2]),
        ("change | ask | cross", ["change | ask | cross"], [5]),
    ],
)
def test_of_several_actions_any_one_will_do(text: str, names: list[str], sizes: list[int]) -> None:
    found = fair_sets(Crossing(), Fairness(weak=(text,)))
    assert [one.name for one in found] == names
    assert [len(one.numbers) for one in found] == sizes


def test_several_actions_are_fair_for_the_same_parameters() -> None:
    with pytest.raises(
        UserError, match=r"'ask\(who\) \| cross' is about any of several actions, so each of them needs"
    ):
        fair_sets(Crossing(), Fairness(weak=("ask(who) | cross",)))


def test_an_action_that_no_binding_enables_makes_no_demand() -> None:
    assert fair_sets(Kip320(replicas=1), Fairness(weak=("follower_fetch(follower)",))) == []
    (only,) = fair_sets(Kip320(replicas=1), Fairness(weak=("follower_fetch(follower) | become_leader(leader)",)))
    assert only.name == "follower_fetch | become_leader(leader=b1)"


class NobodyAsks(Crossing):
    """A crossing without a step that a property takes for granted, and another that stands for either of two."""

    look = None  # type: ignore[assignment]
    ask = None  # type: ignore[assignment]


@eventually(NobodyAsks, weak=("change", "look", "ask(who) | cross(who)"), strong=("ask(*)",))
def is_green(model: NobodyAsks, s: StateView) -> Condition:
    """The light is green some time."""
    return s.green


def test_a_removed_action_leaves_its_fairness_with_it() -> None:
    assert str(run_properties_of(NobodyAsks)["is_green"].fairness) == "weak change, cross(who)"
    found = {one.name: one for one in liveness(NobodyAsks(), properties=["is_green", "gets_across"]).properties}
    assert [one.verdict for one in found.values()] == ["holds", "holds"]
    with pytest.raises(UserError, match="Fairness: nobody_asks has no action 'ask'"):
        fair_sets(NobodyAsks(), Fairness(weak=("ask(who)",)))


def test_a_fairness_is_shown() -> None:
    assert str(Fairness()) == "none"
    assert str(Fairness(("change",), ("cross(who)", "ask"))) == "weak change; strong cross(who), ask"


def test_parameters_need_a_sort_and_a_leads_to_needs_two_conditions() -> None:
    with pytest.raises(ModelError, match=r"'who' of the sometimes property 'lonely' is annotated with 'int'; annotate"):

        @sometimes(Model)
        def lonely(model: Model, s: StateView, who: int) -> Condition:
            """Never made."""
            return True

    class Other(Crossing):
        """A model of its own, for what follows to be registered for."""

    @leads_to(Other)
    def one_only(model: Other, s: StateView, who: Person) -> Condition:
        """Returns one condition."""
        return And(s.waiting.contains(who))

    model = Other()
    with pytest.raises(ModelError, match=r"one_only returns .*; a leads_to property returns two conditions"):
        run_properties_of(model)["one_only"].instances(model)


def test_deadlock_is_a_property_of_every_model() -> None:
    model = Crossing(people=1)
    (node,) = judge(model, [DEADLOCK_FREE]).nodes
    assert evaluate(node, model.program.initials[0])
