"""`insync.explorer` is the door to every verb: light to open, and a verb stays a verb whatever is imported."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import insync.explorer
import insync.kafka_questions
from insync.explorer import Limits, agree, check, graph, liveness, mutate, prove, simulate
from insync.model import UserError
from insync_toys import TokenRing

VERBS = ("agree", "check", "liveness", "mutate", "prove", "replay", "simulate")
HEAVY = ("llvmlite", "z3", "hypothesis", "pyspark", "numpy", "scipy", "networkx", "pytest")


def printed(code: str) -> str:
    """What Python prints that has imported nothing yet."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_opening_the_door_loads_nothing_heavy() -> None:
    code = f"import sys, insync.explorer; print([name for name in {HEAVY} if name in sys.modules])"
    assert printed(code) == "[]"


def test_a_verb_is_loaded_without_the_libraries_of_the_others() -> None:
    code = (
        "import sys\nfrom insync.explorer import Limits, agree, check, graph, liveness, mutate, replay, simulate\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    assert printed(code) == "[]"


ORDERS = {
    "module first": "import insync.explorer.{0}\nfrom insync.explorer import {0} as verb",
    "verb first": "from insync.explorer import {0} as verb\nimport insync.explorer.{0}",
    "out of the module": "from insync.explorer.{0} import {0} as verb",
}


@pytest.mark.slow_for(
    "agree-module first",
    "check-module first",
    "check-verb first",
    "check-out of the module",
    "liveness-module first",
    "mutate-module first",
    "prove-module first",
    "simulate-module first",
)
@pytest.mark.parametrize(
    ("verb", "imports"),
    [
        pytest.param(verb, imports, id=f"{verb}-{order}", marks=[] if fast else pytest.mark.slow)
        for verb in VERBS
        for order, imports in ORDERS.items()
        for fast in [order == "module first" or verb == "check"]
    ],
)
def test_a_verb_is_not_hidden_by_its_module(verb: str, imports: str) -> None:
    code = imports.format(verb) + f"\nimport insync.explorer\nassert insync.explorer.{verb} is verb\nprint(type(verb))"
    assert printed(code) == "<class 'function'>"


def test_every_name_of_the_door_is_there() -> None:
    assert set(insync.explorer.__all__) <= set(dir(insync.explorer))
    for name in insync.explorer.__all__:
        assert not isinstance(getattr(insync.explorer, name), ModuleType), name


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'insync\.explorer' has no attribute 'chek'"):
        insync.explorer.chek  # type: ignore[attr-defined]  # noqa: B018


def test_a_verb_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(insync.explorer.check)) is insync.explorer.check  # noqa: S301 -- our own


@pytest.mark.parametrize("verb", sorted({*VERBS, "bounded_check", "graph"}))
def test_everything_after_the_model_is_said_by_name(verb: str) -> None:
    first, *rest = inspect.signature(getattr(insync.explorer, verb)).parameters.values()
    assert first.name == {"replay": "trace"}.get(verb, "model")
    assert {parameter.kind for parameter in rest} == {inspect.Parameter.KEYWORD_ONLY}
    if verb != "replay":
        assert {"bounds", "limits", "reporter", "stop"} <= {parameter.name for parameter in (first, *rest)}


ASKING = {verb.__name__: verb for verb in (agree, check, liveness, mutate, prove, simulate)}
LIMITED = {**ASKING, "graph": graph}


def sentence(raised: pytest.ExceptionInfo[UserError]) -> str:
    """The message, which must be one sentence for people."""
    text = str(raised.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text


@pytest.mark.parametrize("verb", LIMITED.values(), ids=LIMITED)
@pytest.mark.parametrize("given", [{"seconds": 2}, {}, 5])
def test_limits_of_another_type_are_a_mistake_in_one_sentence(verb: Callable[..., object], given: object) -> None:
    with pytest.raises(UserError) as raised:
        verb(TokenRing(), limits=given)
    assert f"limits={given!r} is not a Limits; write limits=Limits(seconds=60)" in sentence(raised)


@pytest.mark.parametrize("verb", ASKING.values(), ids=ASKING)
def test_one_string_in_place_of_several_names_is_a_mistake_in_one_sentence(verb: Callable[..., object]) -> None:
    with pytest.raises(UserError) as raised:
        verb(TokenRing(), properties="worker_has_token")
    assert sentence(raised) == (
        "properties='worker_has_token' is one string; give a list of names: properties=['worker_has_token']."
    )
    with pytest.raises(UserError) as raised:
        verb(TokenRing(), properties=5)
    assert "properties=5 is not a list of names" in sentence(raised)


def test_other_names_are_lists_as_well() -> None:
    with pytest.raises(UserError, match=r"actions='pass_on' is one string; give a list of names: actions=\['pass_"):
        mutate(TokenRing(), actions="pass_on")
    with pytest.raises(UserError, match=r"lemmas='all' is one string; give a list of names: lemmas=\['all'\]"):
        prove(TokenRing(), lemmas="all")


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"seconds": -1}, "Limits(seconds=-1) is not a time; give a number of seconds"),
        ({"seconds": float("nan")}, "Limits(seconds=nan) is not a time"),
        ({"seconds": "5"}, "Limits(seconds='5') is not a time"),
        ({"depth": 0}, "Limits(depth=0) is out of range; give a whole number of at least 1."),
        ({"states": 1.5}, "Limits(states=1.5) is out of range; give a whole number of at least 1."),
        ({"memory_bytes": True}, "Limits(memory_bytes=True) is out of range"),
    ],
)
def test_limits_that_limit_nothing_are_a_mistake_in_one_sentence(limits: dict[str, Any], expected: str) -> None:
    with pytest.raises(UserError) as raised:
        Limits(**limits)
    assert expected in sentence(raised)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"walks": 0}, "walks=0 is out of range; give a whole number of at least 1."),
        ({"depth": 0}, "depth=0 is out of range; give a whole number of at least 1."),
        ({"seed": -1}, "seed=-1 is out of range; give a whole number from 0 to 18446744073709551615."),
        ({"seed": 2**64}, "seed=18446744073709551616 is out of range"),
    ],
)
def test_walks_that_there_are_not_are_a_mistake_in_one_sentence(given: dict[str, Any], expected: str) -> None:
    with pytest.raises(UserError) as raised:
        simulate(TokenRing(), **given)
    assert expected in sentence(raised)


@pytest.mark.parametrize("given", [["local-1", "z3"], "local-1", {"local-1": 1}], ids=str)
def test_engines_without_names_are_a_mistake_in_one_sentence(given: Any) -> None:
    with pytest.raises(UserError) as raised:
        agree(TokenRing(), engines=given)
    assert f"engines={given!r} is not a mapping from names to engines; write " in sentence(raised)


def test_the_former_place_of_ask_answers_with_the_new_one() -> None:
    with pytest.warns(DeprecationWarning, match=r"from insync\.kafka_questions import ask"):
        assert insync.explorer.ask is insync.kafka_questions.ask  # type: ignore[attr-defined]
