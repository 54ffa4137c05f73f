"""One string where a public function takes a list of names is refused: Python would read it letter by letter.

The parameters are found by their annotations, so a new one that forgets it fails here.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from insync.explorer import InsyncCheck, InsyncTour, check
from insync.explorer.testing import Settings
from insync.model import Bound, Bounds, Condition, Int, Model, State, StateView, action, bound
from insync.model.given_names import NAMED
from insync.runtime.errors import ModelError, UserError

DOORS = ("insync.model", "insync.properties", "insync.explorer", "insync.explorer.hypothesis", "insync.spark_explore")
LISTS = re.compile(r"\b(?:Sequence|Iterable|Collection|Set|list|tuple|set|frozenset)\[(?:str|PropertyLike)\b")
CONSTRUCTED = ("insync.model", "insync.properties", "insync.spark_explore")
"""Doors whose classes users make themselves; those of `insync.explorer` are what its verbs return."""


class Counter(Model):
    """Counts to a bound."""

    bounds = Bounds(top=Bound(2, 1, 9))

    def declare(self, b: Any) -> State:
        return State(count=Int(0, bound("top")))

    @action
    def up(self, s: StateView) -> None:
        """One more."""
        s.count = s.count + 1


def marked(self: Counter, s: StateView) -> Condition:
    """Some property of runs."""
    found: Condition = s.count == 1
    return found


GIVEN: dict[str, Any] = {
    "model": Counter(),
    "kind": Counter,
    "other": Counter,
    "first": Counter,
    "second": Counter,
    "depth": 2,
    "adapter": type("Driver", (), {"up": lambda self: None, "observe": lambda self: {"count": 0}}),
}
"""What the parameters that must be given are given, by name."""

SAID: dict[str, str] = {"Exploration(watched)": "properties"}
"""Parameters that are called otherwise where users meet them."""


def offered() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Each public function, each method of a public class and each class that users make, with a name."""
    for door in DOORS:
        module = importlib.import_module(door)
        for name in module.__all__:
            found = getattr(module, name)
            if not isinstance(found, type):
                if callable(found):
                    yield f"{door}.{name}", found
                continue
            if door in CONSTRUCTED or name in ("Limits", "Exploration"):
                yield f"{door}.{name}", found
            for method, what in vars(found).items():
                if inspect.isfunction(what) and (not method.startswith("_") or method == "__call__"):
                    yield f"{door}.{name}.{method}", what


def asked(function: Callable[..., Any]) -> Iterator[str]:
    """The parameters of a function that take a list of names, and not one name as well."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    for one in found:
        said = str(one.annotation)
        if LISTS.search(said) and not said.startswith("str |"):
            yield one.name


PARAMETERS = sorted({(name, one) for name, function in offered() for one in asked(function)})
FUNCTIONS = dict(offered())


def call(name: str, function: Callable[..., Any], parameter: str, value: object) -> object:
    """Call a function with a value for one parameter and what it needs besides, and use the decorator it returns."""
    if name.endswith(("InsyncCheck.__call__", "InsyncTour.__call__")):
        fixture = InsyncCheck if "InsyncCheck" in name else InsyncTour
        function = fixture(Settings(), lambda: pytest.fail("no trace is written"))
    needed = [
        one.name
        for one in inspect.signature(function).parameters.values()
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]
    made = function(**{one: GIVEN[one] for one in needed if one != parameter}, **{parameter: value})
    return made(marked) if inspect.isfunction(made) else made


def test_the_parameters_that_are_known_to_take_names_are_found() -> None:
    found = {f"{name.rpartition('.')[2]}({parameter})" for name, parameter in PARAMETERS}
    assert {"check(within)", "prove(lemmas)", "why(actions)", "Fairness(weak)", "leads_to(strong)"} <= found
    assert {"state_machine(properties)", "reachable_states(within)", "__call__(within)"} <= found
    assert len(PARAMETERS) > 40


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS, ids=lambda text: text)
def test_one_string_in_place_of_a_list_is_refused(name: str, parameter: str) -> None:
    said = SAID.get(f"{name.rpartition('.')[2]}({parameter})", parameter)
    for value in ("up", "u", ""):
        with pytest.raises(UserError) as raised:
            call(name, FUNCTIONS[name], parameter, value)
        assert f"{said}={value!r} is one string; give a list of names: {said}=[{value!r}]." in str(raised.value)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("word", ["eventually", "leads_to", "always_eventually", "eventually_always"])
def test_a_decorator_in_a_class_names_the_place(word: str) -> None:
    mark = getattr(importlib.import_module("insync.model"), word)
    with pytest.raises(ModelError) as raised:
        mark(weak="up")(marked)
    line = marked.__code__.co_firstlineno
    expected = f"{__file__}:{line}: @{word}: weak='up' is one string; give a list of names: weak=['up']."
    assert str(raised.value) == expected


LISTING = [
    name for name, said in Model.__annotations__.items() if LISTS.search(str(said)) and str(said).startswith("ClassVar")
]


def test_every_attribute_of_a_class_that_lists_names_is_known() -> None:
    assert set(LISTING) == set(NAMED)


@pytest.mark.parametrize("attribute", LISTING)
@pytest.mark.parametrize(("value", "said"), [("up", "is the string 'up'"), (("up", 1), "is ('up', 1)"), (7, "is 7")])
def test_an_attribute_of_a_class_that_is_no_list_of_names_is_refused(attribute: str, value: object, said: str) -> None:
    with pytest.raises(ModelError) as raised:
        type("Counter", (Counter,), {attribute: value})
    assert str(raised.value).startswith(f"{__file__}:")
    assert f": class Counter: {attribute} {said}. Write a tuple of names" in str(raised.value)


@pytest.mark.parametrize("attribute", sorted(set(LISTING) - {"headline"}))
def test_none_lists_no_names_where_there_is_nothing_else_to_check(attribute: str) -> None:
    with pytest.raises(ModelError, match=f"class Counter: {attribute} is None. Write a tuple of names"):
        type("Counter", (Counter,), {attribute: None})


@pytest.mark.parametrize("name", [["counter"], 5, None, ""])
def test_the_name_of_a_model_is_a_text(name: object) -> None:
    with pytest.raises(ModelError) as raised:
        type("Counter", (Counter,), {"name": name})
    assert str(raised.value).startswith(f"{__file__}:")
    assert str(raised.value).endswith(f": Counter: name={name!r} must be a text, such as 'counter'.")


def test_a_bound_that_is_left_open_is_one_of_the_class() -> None:
    with pytest.raises(ModelError, match=r"class Counter: unbounded names 'tip', which is no bound of it\. Did you me"):
        type("Counter", (Counter,), {"unbounded": ("tip",)})
    type("Counter", (Counter,), {"unbounded": ("top",)})


def test_remarks_are_a_list_of_sentences() -> None:
    said = type("Counter", (Counter,), {"remarks": lambda self: "small"})
    with pytest.raises(ModelError, match=r"remarks returns 'small'; it must return a list of sentences\."):
        check(said)
