"""`insync.explorer` is the door to every verb: light to open, and a verb stays a verb whatever is imported."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from types import ModuleType

import pytest

import insync.explorer

VERBS = ("agree", "ask", "check", "graph", "liveness", "mutate", "prove", "replay", "simulate")
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


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "imports",
    [
        "import insync.explorer.{0}\nfrom insync.explorer import {0} as verb",
        "from insync.explorer import {0} as verb\nimport insync.explorer.{0}",
        "from insync.explorer.{0} import {0} as verb",
    ],
    ids=["module first", "verb first", "out of the module"],
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


@pytest.mark.parametrize("verb", sorted({*VERBS, "bounded_check"}))
def test_everything_after_the_model_is_said_by_name(verb: str) -> None:
    first, *rest = inspect.signature(getattr(insync.explorer, verb)).parameters.values()
    assert first.name == {"replay": "trace", "ask": "bounds"}.get(verb, "model")
    assert {parameter.kind for parameter in rest} == {inspect.Parameter.KEYWORD_ONLY}
    if verb != "replay":
        assert {"bounds", "limits", "reporter", "stop"} <= {parameter.name for parameter in (first, *rest)}
