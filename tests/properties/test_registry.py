from __future__ import annotations

import pytest

from insync.explorer.check import check
from insync.kafka.published import AsyncIsr, Kip101, Kip320
from insync.model import UserError
from insync.model.evaluator import evaluate
from insync.properties.invariants import TYPE_OK
from insync.properties.registry import invariants_of, judge, select, sentences_of
from insync_evaluator import conditions
from insync_lamp import Lamp


def test_kafka_models_have_the_library_s_properties() -> None:
    shared = ["deadlock_free", TYPE_OK]
    assert list(sentences_of(Kip320())) == ["weak_isr", "strong_isr", "leader_in_isr", "well_formed_log", *shared]
    assert list(sentences_of(AsyncIsr())) == ["valid_high_watermark", *shared]


def test_a_model_s_own_invariants_are_properties() -> None:
    known = sentences_of(Lamp())
    assert set(known) - {"deadlock_free", TYPE_OK} == set(conditions(Lamp()))
    assert all(known.values())


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "weak_isr",
            (
                "Every record that a replica which believes it leads has committed is on all members of the ISR that "
                "it knows."
            ),
        ),
        (
            "strong_isr",
            "Every record that a replica which believes it leads has committed is on all replicas that may be elected.",
        ),
        ("leader_in_isr", "The partition has a leader, and the controller's ISR contains it."),
        ("well_formed_log", "Every log has a record at each offset below its end, and none from there on."),
        (TYPE_OK, "Every step assigns values that their fields can hold, at places that their arrays have."),
    ],
)
def test_a_property_says_what_it_means(name: str, sentence: str) -> None:
    assert sentences_of(Kip320())[name] == sentence


def test_valid_high_watermark_says_what_it_means() -> None:
    sentence = "Every member of the controller's ISR has replicated up to the leader's high watermark."
    assert sentences_of(AsyncIsr())["valid_high_watermark"] == sentence


def test_the_headline_properties_are_the_default() -> None:
    assert select(Kip101()) == ("weak_isr", "strong_isr")
    assert select(AsyncIsr()) == ("valid_high_watermark",)


class Silent(Lamp):
    """Does not say which of its properties are checked when none is named."""

    headline = None  # type: ignore[assignment]  # the lamp's has one name


class Quiet(Lamp):
    """Has no property checked when none is named."""

    headline = ()  # type: ignore[assignment]  # the lamp's has one name


def test_of_a_class_without_headline_every_invariant_is_checked() -> None:
    assert set(select(Silent())) == set(conditions(Lamp()))
    assert check(Silent(), keep_going=True).verdict == "violated"
    assert select(Quiet()) == ()


class Confined(Silent):
    """Is searched where an invariant of it holds."""

    within = ("never_on",)


def test_what_a_model_is_confined_to_is_not_checked_unless_it_is_named() -> None:
    assert set(select(Confined())) == set(conditions(Lamp())) - {"never_on"}


def test_properties_are_selected_once_and_in_the_order_given() -> None:
    names = ["strong_isr", "weak_isr", "strong_isr"]
    assert select(Kip101(), names) == ("strong_isr", "weak_isr")
    assert select(Kip101(), []) == ()


@pytest.mark.parametrize(
    ("name", "hint"),
    [("strong_irs", "Did you mean 'strong_isr'?"), ("colour", "Known: ")],
)
def test_an_unknown_property_is_a_user_error(name: str, hint: str) -> None:
    with pytest.raises(UserError) as raised:
        select(Kip320(), [name])
    assert f"kip320 has no property '{name}'. {hint}" in str(raised.value)


def test_a_property_is_traced_into_the_model_s_graph_once() -> None:
    model = Kip320()
    (node,) = judge(model, ["weak_isr"]).nodes
    assert invariants_of(model)["weak_isr"].node(model) is node
    assert evaluate(node, model.program.initials[0])


def test_type_ok_can_be_named_and_is_no_invariant() -> None:
    judged = judge(Kip320(), [TYPE_OK, "weak_isr"])
    assert judged.names == (TYPE_OK, "weak_isr")
    assert [found.name for found in judged.invariants] == ["weak_isr"]
    assert len(judged.nodes) == 1
    assert TYPE_OK not in invariants_of(Kip320())
