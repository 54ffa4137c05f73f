from __future__ import annotations

import copy
import pickle
import re

import pytest

from insync.model.domains.bounds import Bound, Bounds, BoundValues, Settings, choose
from insync.runtime.errors import ModelError, UserError

SIZES = Bounds(replicas=Bound(3, 1, 7, "replicas of the partition"), log_size=Bound(2, 1, 8))


def test_a_bound_that_is_not_given_has_its_default() -> None:
    values = choose("kip320", Settings(), SIZES, {"log_size": 5})
    assert dict(values) == {"replicas": 3, "log_size": 5}
    assert (values.replicas, values["log_size"], len(values)) == (3, 5, 2)


def test_bounds_are_a_mapping_in_the_order_of_declaration() -> None:
    assert list(SIZES) == ["replicas", "log_size"]
    assert (SIZES["replicas"].highest, len(SIZES)) == (7, 2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"replica": 3}, "kip320 has no bound 'replica'. Did you mean 'replicas'?"),
        ({"zzz": 3}, "kip320 has no bound 'zzz'. Known: log_size, replicas."),
        ({"replicas": 8}, "kip320: the bound replicas=8 is out of range; it must be from 1 to 7."),
        ({"replicas": 0}, "kip320: the bound replicas=0 is out of range; it must be from 1 to 7."),
        (
            {"replicas": "3"},
            "kip320: the bound replicas='3' is of type str; it must be a whole number from 1 to 7.",
        ),
        ({"replicas": 2.0}, "kip320: the bound replicas=2.0 is of type float; it must be a whole number from 1 to 7."),
        ({"replicas": True}, "kip320: the bound replicas=True is of type bool; it must be a whole number from 1 to 7."),
    ],
)
def test_a_wrong_bound_is_named_with_what_is_allowed(given: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=f"^{re.escape(message)}$"):
        choose("kip320", Settings(), SIZES, given)


def test_an_unknown_bound_in_a_model_names_the_line_and_the_nearest() -> None:
    values = choose("kip320", Settings(), SIZES, {})
    with pytest.raises(ModelError, match=r"test_bounds\.py:\d+: the model has no bound 'replcas'\. .*'replicas'\?"):
        _ = values.replcas


@pytest.mark.parametrize("numbers", [(9, 1, 7), (0, 1, 7), (3, 7, 1)])
def test_a_default_outside_its_range_is_refused(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(ModelError, match=rf"test_bounds\.py:\d+: Bound: the default {numbers[0]} is outside"):
        Bound(*numbers)


def test_a_bound_that_is_no_number_is_refused() -> None:
    with pytest.raises(ModelError, match=r"test_bounds\.py:\d+: Bound\(.*\) takes whole numbers, not '3'"):
        Bound("3", 1, 7)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"the bound size=3 must be Bound\("):
        Bounds(size=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["items", "values", "keys", "get", "_size"])
def test_a_bound_that_could_not_be_read_as_an_attribute_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match=f"a bound cannot be named '{name}'"):
        Bounds(**{name: Bound(1, 1, 2)})


def test_bounds_survive_pickling_and_copying() -> None:
    values = choose("kip320", Settings(), SIZES, {"replicas": 5})
    for again in (pickle.loads(pickle.dumps(values)), copy.deepcopy(values)):  # noqa: S301 -- our own bytes
        assert isinstance(again, BoundValues)
        assert (again, again.replicas) == (values, 5)
    declared = pickle.loads(pickle.dumps(SIZES))  # noqa: S301 -- our own bytes
    assert dict(declared) == dict(SIZES)
    assert list(declared) == list(SIZES)
