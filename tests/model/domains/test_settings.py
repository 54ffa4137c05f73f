"""Settings: members of enumerations, by what they are called everywhere outside the process."""

from __future__ import annotations

import copy
import pickle
from enum import Enum

import pytest

from insync.model import Bound, Bounds, BoundValues, Model, ModelError, Setting, Settings, Switch, UserError
from insync.model.domains.bounds import choose


class Speed(Enum):
    SLOW = "slow"
    FAST = "as fast as can be"


DECLARED = Settings(speed=Setting(Speed.SLOW, "how fast"), guard=Switch.OFF)
SIZES = Bounds(n=Bound(1, 0, 3))


def chosen(**given: object) -> BoundValues:
    return choose("m", DECLARED, SIZES, given)


def test_a_setting_is_a_member_of_its_enumeration() -> None:
    assert chosen().settings.speed is Speed.SLOW
    assert chosen(speed="as fast as can be").settings.speed is Speed.FAST
    assert chosen(speed=Speed.FAST).settings["speed"] is Speed.FAST
    assert dict(chosen(n=2)) == {"n": 2}, "the bounds are numbers alone"
    assert list(chosen().settings) == ["speed", "guard"]


def test_another_spelling_may_stand_for_a_member() -> None:
    speed = Setting(Speed.SLOW, also=lambda given: Speed.FAST if given == "quick" else None)
    assert choose("m", Settings(speed=speed), SIZES, {"speed": "quick"}).settings.speed is Speed.FAST
    assert (speed.member("slow"), speed.member("slwo")) == (Speed.SLOW, None)
    with pytest.raises(UserError, match="Did you mean 'slow'"):
        choose("m", Settings(speed=speed), SIZES, {"speed": "slwo"})


def test_a_switch_is_true_or_false() -> None:
    assert not chosen().settings.guard
    assert chosen(guard="on").settings.guard
    assert len(chosen().settings) == 2


def test_a_setting_cannot_be_calculated_with() -> None:
    with pytest.raises(TypeError):
        chosen().settings.guard + 1
    with pytest.raises(TypeError):
        min(chosen().settings.speed, Speed.FAST)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"speed": "slwo"}, r"m: speed='slwo' is unknown\. Did you mean 'slow'\?"),
        ({"speed": 0}, r"m: the setting speed=0 is of type int; it must be a member of Speed, or one of slow, as fast"),
        ({"guard": True}, r"m: the setting guard=True is of type bool; it must be a member of Switch, or one of off"),
        ({"guard": Speed.SLOW}, r"the setting guard=<Speed.SLOW: 'slow'> is of type Speed"),
        ({"sped": "slow"}, r"m has no bound or setting 'sped'\. Did you mean 'speed'\?"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_allowed(given: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        chosen(**given)


def test_a_declaration_that_means_nothing_is_refused_at_its_line() -> None:
    class Number(Enum):
        ONE = 1

    with pytest.raises(ModelError, match=r"test_settings\.py:\d+: Setting\('fast'\): the default must be a member of"):
        Settings(speed="fast")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"the value of Number.ONE is 1; it must be a string"):
        Setting(Number.ONE)
    with pytest.raises(ModelError, match=r"test_settings\.py:\d+: a setting cannot be named 'items'"):
        Settings(items=Switch.ON)
    with pytest.raises(ModelError, match=r"a setting cannot be named 'settings'"):
        Settings(settings=Switch.ON)
    with pytest.raises(ModelError, match=r"test_settings\.py:\d+: Both: 'n' is a bound and a setting; rename one"):

        class Both(Model):
            bounds = SIZES
            settings = Settings(n=Switch.ON)

    with pytest.raises(ModelError, match=r"Wrong: settings={'a': 1} must be Settings\(name=Setting"):

        class Wrong(Model):
            settings = {"a": 1}  # type: ignore[assignment]  # noqa: RUF012


def test_an_unknown_setting_in_a_model_names_the_line_and_the_nearest() -> None:
    with pytest.raises(ModelError, match=r"test_settings\.py:\d+: the model has no setting 'sped'\. Did you mean 'spe"):
        _ = chosen().settings.sped


def test_what_is_chosen_survives_pickling_and_copying() -> None:
    values = chosen(speed="as fast as can be", n=3)
    for again in (pickle.loads(pickle.dumps(values)), copy.deepcopy(values)):  # noqa: S301 -- our own bytes
        assert (again, again.settings.speed) == (values, Speed.FAST)


def test_the_identity_of_a_model_makes_it_again() -> None:
    class Vehicle(Model):
        bounds = SIZES
        settings = DECLARED

    made = Vehicle(speed=Speed.FAST, n=2)
    assert made.identity == {"speed": "as fast as can be", "guard": "off", "n": 2}
    assert Vehicle(**made.identity).identity == made.identity


def test_a_subclass_may_add_a_setting() -> None:
    class Base(Model):
        settings = Settings(speed=Speed.SLOW)

    class Guarded(Base):
        settings = Settings(**Base.settings, guard=Switch.ON)

    assert Guarded().identity == {"speed": "slow", "guard": "on"}
