"""Sorts whose size a bound gives, and ranges: as parameters, as domains, and what is refused."""

# What mypy would find in these lines is what the tests want to see refused.
# mypy: disable-error-code="arg-type,operator,call-arg"
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from insync.model import (
    Array,
    Bound,
    Bounds,
    BoundValues,
    Index,
    Int,
    Model,
    ModelError,
    Range,
    Set,
    State,
    action,
    bound,
)
from insync.model.domains.bounds import value_of
from insync_ballots import Ballot, Mood, Seat, Voter, Votes

BOUNDS = BoundValues({"voters": 2, "more": 3})


def test_the_size_of_a_sort_is_a_bound_or_a_number() -> None:
    assert [str(voter) for voter in Voter.members(BOUNDS)] == ["voter1", "voter2"]
    assert [str(seat) for seat in Seat.members(BOUNDS)] == ["seat0", "seat1"]

    class Smaller(Voter):
        size = bound("voters") - 1

    assert [str(voter) for voter in Smaller.members(BOUNDS)] == ["voter1"]


def test_terms_over_bounds_are_calculated() -> None:
    voters, more = bound("voters"), bound("more")
    terms = [voters + 1, 1 + voters, voters - more, 10 - more, 2 * voters, voters * more, (voters + more) // 2]
    assert [value_of(term, BOUNDS) for term in terms] == [3, 3, -1, 7, 4, 6, 2]
    assert repr((voters + 1) * 2) == "(bound('voters') + 1) * 2"


def test_the_members_of_a_range_are_plain_numbers() -> None:
    model = Votes(voters=2, more=1)
    assert model.all(Ballot) == [1, 2, 3]
    assert {type(ballot) for ballot in model.all(Ballot)} == {int}
    assert model.all(Mood) == list(Mood)


def test_a_range_is_a_parameter_and_a_domain() -> None:
    model = Votes(voters=2, more=1)
    promises = [a.shown_parameters for a in model.program.actions if a.name == "promise"]
    assert promises[:2] == [{"voter": "voter1", "ballot": "1"}, {"voter": "voter1", "ballot": "2"}]
    assert len(promises) == 2 * 3
    first = model.decode(model.program.initials[0])
    assert first == {
        "promised": {"voter1": None, "voter2": None},
        "last": 1,
        "mood": {"seat0": "CALM", "seat1": "CALM"},
        "turn": 0,
        "hand": 0,
        "half": -2,
    }
    assert model.encode({**first, "last": 3}) != model.program.initials[0]


def test_a_set_of_the_numbers_of_a_range() -> None:
    class Small(Range):
        hi = bound("most")

    class Kept(Model):
        bounds = Bounds(most=Bound(2, 1, 5))

        def declare(self, b: BoundValues) -> State:
            return State(kept=Set(Small), more=Array(2, Int(0, bound("most") - 1)))

        @action
        def keep(self, s: Any, small: Small) -> None:
            s.kept |= {small}

    model = Kept()
    assert [a.shown_parameters["small"] for a in model.program.actions] == ["0", "1", "2"]
    assert [cell.size for cell in model.program.schema.cells] == [8, 2, 2]


def sized(given: Any) -> Callable[[], object]:
    return lambda: type("Worker", (Index,), {"size": given})


def ranging(**given: Any) -> Callable[[], object]:
    return lambda: type("Ballot", (Range,), given)


SIZE = r"Worker\.size is .+; write a whole number from 0, bound\('name'\) with the name of a bound of the model, or"
ENDS = r"the range Ballot goes from .+ to .+; each of them must be a whole number or bound\(\"name\"\)\."


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (sized("workers"), SIZE),
        (sized(-1), SIZE),
        (sized(True), SIZE),
        (sized(None), SIZE),
        (sized(Bound(2, 1, 3)), SIZE),
        (ranging(), r"the range Ballot has no last number; write `lo, hi = 0, bound\(\"name\"\)`\."),
        (ranging(lo=1), "the range Ballot has no last number"),
        (ranging(hi="ballots"), ENDS),
        (ranging(lo=None, hi=1), ENDS),
        (ranging(lo=False, hi=1), ENDS),
        (ranging(lo=3, hi=2), "goes from 3 to 2; its first number must not be above its last"),
        (lambda: bound(3), r"bound\(3\): a bound is given by its name, as in bound\('workers'\)\."),
        (lambda: bound("n") + "1", r"bound\('n'\) is calculated with whole numbers; give one in place of '1'\."),
        (lambda: bound("n") // 0, r"bound\('n'\) can be divided by a whole number from 1, not by 0\."),
        (lambda: range(bound("n")), r"bound\('n'\) has no value before the bounds are chosen"),
        (lambda: 1 if bound("n") > 2 else 0, r"bound\('n'\) has no value before the bounds are chosen"),
        (lambda: Int("0", bound("n")), r"Int\('0', bound\('n'\)\) needs two whole numbers; '0' is not one"),
        (lambda: Set(Int(1, bound("n"))), r"the elements of a set are the members of a sort or Int\(0, n\)"),
        (
            lambda: Array(bool, Int(0, 1)),
            "give a sort, a range, an enumeration or a number of places",
        ),
    ],
)
def test_a_mistake_in_a_declaration_is_named_with_its_line(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(ModelError, match=rf"test_kinds\.py:\d+: .*{message}"):
        wrong()


def declaring(domain: Any) -> Model:
    class Wrong(Model):
        bounds = Bounds(voters=Bound(2, 1, 3))

        def declare(self, b: BoundValues) -> State:
            return State(x=domain)

    return Wrong()


def test_what_is_wrong_under_the_chosen_bounds_is_named_where_it_is_written() -> None:
    class Wrong(Index):
        size = bound("voterz")

    class Less(Index):
        size = bound("voters") - 2

    class Empty(Range):
        lo, hi = 3, bound("voters")

    with pytest.raises(
        ModelError, match=r"test_kinds\.py:\d+: bound\('voterz'\): the model has no bound 'voterz'. Did"
    ):
        _ = declaring(Wrong).program
    with pytest.raises(
        ModelError, match=r"test_kinds\.py:\d+: Empty goes from 3 to 2 under {'voters': 2}, so it has no"
    ):
        _ = declaring(Empty).program
    with pytest.raises(
        ModelError, match=r"the sort Less has no member under .+ a state needs one\. Declare it Option\(Less\)"
    ):
        _ = declaring(Less).program


def test_a_range_without_a_number_binds_no_action() -> None:
    class Empty(Range):
        lo, hi = 1, bound("most")

    class Idle(Model):
        bounds = Bounds(most=Bound(0, 0, 1))

        def declare(self, b: BoundValues) -> State:
            return State(x=Int(0, 1))

        @action
        def go(self, s: Any, number: Empty) -> None:
            s.x = number

    assert [len(Idle(most=most).program.actions) for most in (0, 1)] == [0, 1]


def test_a_parameter_that_is_a_number_must_say_which() -> None:
    with pytest.raises(ModelError, match=r"'n' of the action 'go' is annotated with 'int'; annotate it"):

        class Wrong(Model):
            @action
            def go(self, s: Any, n: int) -> None:
                s.n = n


def test_the_range_of_no_numbers_in_particular_is_none() -> None:
    with pytest.raises(ModelError, match=r"'n' of the action 'go' is annotated with 'Range'; annotate it with a sort"):

        class Wrong(Model):
            @action
            def go(self, s: Any, n: Range) -> None:
                s.n = n

    with pytest.raises(ModelError, match=r": Range is not a domain; use Bool, Int, Enum, a sort, a range, Option"):
        _ = declaring(Range).program


def test_a_bound_by_name_is_for_declarations() -> None:
    class Wrong(Votes):
        @action
        def go(self, s: Any) -> None:
            s.last = s.last + bound("more")

    with pytest.raises(ModelError, match=r"test_kinds\.py:\d+: A number .+ bound\('more'\) is .+ write self\.b\."):
        _ = Wrong().program
