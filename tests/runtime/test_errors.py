from __future__ import annotations

import pickle

import pytest

from insync.model.evaluator import Evaluator
from insync.runtime import errors
from insync.runtime.errors import DomainError, UserError, closest, shown, user_frame
from insync_toys import Overflow


def test_a_value_is_shown_without_its_address() -> None:
    assert [shown(value) for value in (3, "x", None, (1, "x"), int)] == ["3", "'x'", "None", "(1, 'x')", "int"]
    assert [shown(value) for value in (shown, (x for x in "ab"), lambda: 1, [shown])] == [
        "the function shown",
        "this generator",
        "this function",
        "[the function shown]",
    ]


@pytest.mark.parametrize("name", ["UserError", "ModelError", "GuardError", "DomainError", "InternalError"])
def test_every_error_survives_pickling(name: str) -> None:
    error = getattr(errors, name)("b1: the value 3 does not fit.")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own bytes
    assert type(again) is type(error)
    assert str(again) == str(error)


def test_what_a_user_did_is_a_user_error_and_what_insync_did_is_not() -> None:
    assert issubclass(errors.ModelError, UserError)
    assert issubclass(errors.GuardError, UserError)
    assert issubclass(errors.DomainError, UserError)
    assert not issubclass(errors.InternalError, UserError)


def test_a_domain_error_has_the_check_that_failed_and_travels_without_it() -> None:
    model = Overflow(last=1)
    evaluator = Evaluator(model.program)
    full = model.encode({"count": 1, "end": 0, "items": [0, 0]})
    with pytest.raises(DomainError) as caught:
        evaluator.step(0, full)
    check = caught.value.check
    assert check is not None
    assert str(caught.value) == check.message
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 -- our own bytes
    assert (str(again), again.check) == (check.message, None)


def test_closest_names_the_nearest_or_all() -> None:
    assert closest("strong_irs", ["strong_isr", "weak_isr"]) == "Did you mean 'strong_isr'?"
    assert closest("xyz", ["strong_isr", "leader"]) == "Known: leader, strong_isr."
    assert closest("xyz", []) == "None is known."


def test_the_place_is_outside_the_modelling_package_even_in_a_file_beside_it() -> None:
    beside = errors.__file__.replace("/errors.py", "_of_mine/errors.py")
    for name in (beside, "/somewhere/insync/model_of_mine.py", "script.py"):
        found: dict[str, str] = {}
        exec(compile("place = user_frame()", name, "exec"), {"user_frame": user_frame}, found)  # noqa: S102
        assert found["place"] == f"{name}:1"
