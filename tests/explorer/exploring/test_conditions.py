"""Conditions that somebody types: what they mean, and the sentence about what means nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.explorer.exploring.conditions import ConditionError, ConditionNames, read_condition
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.model import BoundValues, Index, Int, Model, State, StateView, action
from insync.model.evaluator import Codes, evaluate
from insync_toys import Commit, DieHard, TokenRing
from insync_walk import shared_cluster


def states(model: Model) -> list[Codes]:
    """Every state that a small model reaches."""
    found = set(model.program.initials)
    fresh = list(found)
    from insync.explorer.stepping.stepper import Refused, Stepper

    stepper = Stepper(model)
    while fresh:
        codes = fresh.pop()
        for _, after in stepper.outcomes(codes):
            if not isinstance(after, Refused) and after not in found:
                found.add(after)
                fresh.append(after)
    return sorted(found)


COMMIT, RING = Commit(parties=2), TokenRing(two_tokens=1)

SAME = [
    (COMMIT, "phase[p1] == PREPARED", lambda s: s["phase"]["p1"] == "PREPARED"),
    (COMMIT, "phase[p1] == Phase.PREPARED", lambda s: s["phase"]["p1"] == "PREPARED"),
    (COMMIT, "s.phase[p2] != 'WORKING'", lambda s: s["phase"]["p2"] != "WORKING"),
    (COMMIT, "phase[p1] in (COMMITTED, ABORTED)", lambda s: s["phase"]["p1"] in ("COMMITTED", "ABORTED")),
    (COMMIT, "decision is None", lambda s: s["decision"] is None),
    (COMMIT, "decision.is_some() and decision.value.commit", lambda s: bool(s["decision"] and s["decision"]["commit"])),
    (COMMIT, "decision.value.voters == {p1, p2}", lambda s: bool(s["decision"]) and len(s["decision"]["voters"]) == 2),
    (COMMIT, "exists(Party, lambda p: phase[p] == ABORTED)", lambda s: "ABORTED" in s["phase"].values()),
    (COMMIT, "for_all(Party, Party, lambda p, q: phase[p] == phase[q])", lambda s: len(set(s["phase"].values())) == 1),
    (
        COMMIT,
        "count(Party, lambda p: phase[p] == WORKING) == 1",
        lambda s: list(s["phase"].values()).count("WORKING") == 1,
    ),
    (COMMIT, "not agreement or phase[p1] == WORKING", lambda s: s["phase"]["p1"] == "WORKING"),
    (RING, "1 <= token.count() < 2", lambda s: len(s["token"]) == 1),
    (RING, "n1 in token and n2 not in working", lambda s: "n1" in s["token"] and "n2" not in s["working"]),
    (RING, "(token | working).count() == nodes", lambda s: len({*s["token"], *s["working"]}) == 3),
    (RING, "token - {n1} == working", lambda s: set(s["token"]) - {"n1"} == set(s["working"])),
    (RING, "last == n2", lambda s: s["last"] == "n2"),
    (RING, "exclusive", lambda s: len(s["working"]) < 2),
    (
        RING,
        "(1 if n1 in token else 0) + token.length * 2 > 3",
        lambda s: ("n1" in s["token"]) + 2 * len(s["token"]) > 3,
    ),
    (DieHard(), "small + big == 4 or big // 2 == 2", lambda s: s["small"] + s["big"] == 4 or s["big"] // 2 == 2),
    (
        DieHard(),
        "  -small < -2\n and max_of([small, big], lambda x: x) == 5",
        lambda s: s["small"] == 3 and s["big"] == 5,
    ),
]


@pytest.mark.parametrize(("model", "text", "meaning"), SAME, ids=[text for _, text, _ in SAME])
def test_a_condition_means_what_it_looks_like(model: Model, text: str, meaning: object) -> None:
    node = read_condition(model, text)
    values = [bool(evaluate(node, codes)) for codes in states(model)]
    assert callable(meaning)
    assert values == [meaning(model.decode(codes)) for codes in states(model)]


WRONG = [
    ("", "The condition is empty"),
    ("small =  3", "Write == to compare"),
    ("smal == 3", "'smal', character 1: there is no 'smal' here. Did you mean 'small'?"),
    ("small == 3 and tiny == 1", "'tiny', character 16: there is no 'tiny' here. The fields are small, big."),
    ("small", "'small', character 1 is a number, and a condition is needed"),
    ("1 < 2", "is true in every state"),
    ("small > 7", "is false in every state"),
    ("small == 'three'", "nothing is called 'three' here"),
    ("small == 1.5", "is no whole number"),
    ("small ** 2 == 4", "is not an operator of conditions"),
    ("small[0] == 1", "has no `[...]`"),
    ("small.node == 1", "a number has no 'node'"),
    ("s.__class__ == 1", "there is no field '__class__'"),
    ("__import__('os')", "'__import__' is no word that can be called"),
    ("exists(small, lambda x: x == 1)", "has no members"),
    ("And(small == 1, *[big == 1])", "one by one"),
    ("[x for x in small]", "is not a part of conditions"),
    ("(x := 3) == small", "is not a part of conditions"),
    ("small == 1 if big", "this is no condition"),
    ("small == 1; big == 2", "this is no condition"),
    ("(" * 900, "no condition"),
    ("small == 1 and " * 90 + "big == 1", "at most 1000 are read"),
    ("(lambda x: x)(small == 1)", "nothing that can be called"),
    ("never_four()", "'never_four' is no word that can be called"),
    ("small.count", "a number has no 'count'"),
    ("big == None", "big == None"),
    ("'\ud800' == small", "This is no condition"),
]


@pytest.mark.parametrize(("text", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_a_wrong_condition_gets_a_sentence_that_points_at_the_place(text: str, sentence: str) -> None:
    with pytest.raises(ConditionError) as refused:
        read_condition(DieHard(), text)
    message = str(refused.value)
    assert sentence in message
    assert "\n" not in message
    assert ".py" not in message
    assert 0 <= refused.value.at <= len(text)


def test_a_condition_that_asks_about_too_much_is_refused() -> None:
    text = "phase[p1] == WORKING"
    for number in range(17):
        text = f"exists(Party, lambda x{number}: {text})"
    with pytest.raises(ConditionError, match="too many combinations"):
        read_condition(Commit(parties=5), text)


def test_a_field_that_is_absent_under_these_settings_is_said_to_be() -> None:
    with pytest.raises(
        ConditionError, match=r"no field 'failed_log_dir' in broker\[b1\] under these bounds and settings"
    ):
        read_condition(shared_cluster(), "broker[b1].failed_log_dir")


@given(st.text(alphabet="smalbig=<>!+-*/%()[]{}. 0123,:'\"&|~\\lambda", max_size=25))
def test_whatever_is_typed_is_a_condition_or_gets_a_sentence(text: str) -> None:
    said = "."
    try:
        read_condition(DieHard(), text)
    except ConditionError as error:
        said = str(error)
    assert said.endswith((".", "?"))


def test_reading_a_condition_leaves_the_model_as_it_was() -> None:
    model = Commit(parties=2)
    before = check_by_evaluator(model)
    read_condition(model, "not agreement")
    assert check_by_evaluator(model).levels == before.levels


class Desk(Index):
    """A place to work at."""

    label = "d{n}"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 2


class _Shelf(Desk):
    """What the author keeps to himself."""


class Office(Model):
    """Work is done somewhere."""

    def declare(self, b: BoundValues) -> State:
        return State(done=Int(0, 1))

    @action
    def work(self, s: StateView, desk: Desk, shelf: _Shelf) -> None:
        """Work is done."""
        s.done = 1


def test_a_name_that_is_the_authors_own_is_not_offered() -> None:
    names = ConditionNames(Office())
    assert "Desk" in names.kinds
    assert "_Shelf" not in [*names.kinds, *names.used, *names.known()]
