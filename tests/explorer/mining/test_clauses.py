"""Candidates are true of the states that they were made from, the smallest that are, and say what their text says."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insync.explorer.check import check
from insync.explorer.exploring.conditions import ConditionReader
from insync.explorer.mining.clauses import (
    Candidate,
    Saying,
    TruthTable,
    reached_from,
    sayings_of,
    text_of,
    true_candidates,
)
from insync.explorer.mining.grammar import atoms_of, prefixes_of
from insync.explorer.stepping.machine_stepper import MachineStepper
from insync.explorer.task import model_of
from insync.model import Array, Bool, Int, Model, Range, Record, SetOf, State, StateView, action
from insync.model.evaluator import Codes, evaluate
from insync.runtime.watch import Watch

EXAMPLES = Path(__file__).parents[3] / "examples"
LOCK = f"{EXAMPLES / 'lock.py'}:FixedLock"
VOTES = f"{EXAMPLES / 'election.py'}:Election"


@pytest.fixture(scope="module")
def said(lock: Model) -> list[Saying]:
    return sayings_of(lock, lock, Watch())


def nothing() -> None:
    """Let all go on."""


def states_of(model: Model, most: int = 500) -> list[Codes]:
    stepper = MachineStepper(model)
    try:
        return reached_from(stepper, model.program.initials, most, Watch())[0]
    finally:
        stepper.close()


@pytest.fixture(scope="module")
def lock() -> Model:
    return model_of(LOCK, {})


def test_a_state_with_a_sort_is_spoken_of_by_one_member_and_by_two(lock: Model) -> None:
    names = [tuple(variable.name for variable in prefix.variables) for prefix in prefixes_of(lock)]
    assert names == [(), ("worker",), ("worker", "a_worker")]
    none, one, _ = prefixes_of(lock)
    assert atoms_of(lock, none) == ["holder == NONE"]
    assert {"doing[worker] == Doing.INSIDE", "holder == worker"} <= set(atoms_of(lock, one))


def test_variables_are_called_like_nothing_else() -> None:
    model = model_of(VOTES, {})  # its fields are called term, role and so on, and a sort Term
    names = {variable.name for prefix in prefixes_of(model) for variable in prefix.variables}
    assert "a_term" in names
    assert not names & {*model.state.present, *model.b}


class Place(Range):
    """A place of a shelf."""

    lo, hi = 0, 3


class Shelves(Model):
    """Places lie within shelves, which lie within rooms, and so do pairs of places."""

    def declare(self, b: object) -> State:
        shelf = Record(full=Array(4, Bool), pairs=SetOf(Record(left=Place, right=Place)))
        return State(room=Record(north=Record(shelf=shelf), lit=Bool), count=Int(0, 1))

    @action
    def fill(self, s: StateView, place: Place) -> None:
        s.room.north.shelf.full[place] = True


def test_what_lies_deep_within_records_is_spoken_of() -> None:
    found = prefixes_of(Shelves())
    assert [len(prefix.variables) for prefix in found] == [0, 1, 2, 3], "a pair has two places, and a third differs"
    assert "room.north.shelf.full[place]" in atoms_of(Shelves(), found[1])


def test_two_votes_of_a_voter_are_spoken_of() -> None:
    model = model_of(VOTES, {"servers": 2, "terms": 1})
    wide = [prefix for prefix in prefixes_of(model) if len(prefix.variables) == 4]
    kinds = [[variable.kind_name for variable in prefix.variables] for prefix in wide]
    assert kinds == [["Server", "Server", "Term", "Term"], ["Server", "Server", "Server", "Term"]]
    said = atoms_of(model, wide[1])
    assert "votes.contains(term=a_term, candidate=server, voter=other_server)" in said


def test_what_a_candidate_says_is_true_where_its_columns_say_so(lock: Model) -> None:
    states = states_of(lock)
    domain = [range(cell.size) for cell in lock.program.schema.cells]
    every = list(product(*domain))
    sayings = sayings_of(lock, lock, Watch())
    table, reader = TruthTable(lock, sayings, Watch()), ConditionReader(lock)
    found = [one for size in (1, 2, 3) for one in true_candidates(sayings, table.failing(states), size, Watch())]
    assert len(found) > 20
    refuted = 0
    for one in found:
        node = reader.node(text_of(sayings[one.saying], one))
        assert all(evaluate(node, codes) for codes in states)
        for codes in every:
            assert bool(one.failures(table.failing([codes]))) == (not evaluate(node, codes))
        refuted += one.failures(table.failing(every)) != 0
    assert refuted > 10, "most candidates say something of states"


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_those_of_which_no_part_is_true_are_all_found(said: list[Saying], data: st.DataObject) -> None:
    sayings = said[:2]
    width = data.draw(st.integers(1, 6))
    failing = [[data.draw(st.integers(0, 2**width - 1)) for _ in range(2 * len(one.atoms))] for one in sayings]

    def holds(fails: list[int], literals: tuple[int, ...]) -> bool:
        together = (1 << width) - 1
        for literal in literals:
            together &= fails[literal]
        return not together

    for size in (1, 2, 3):
        expected = {
            Candidate(number, literals)
            for number, fails in enumerate(failing)
            for literals in combinations(range(len(fails)), size)
            if holds(fails, literals)
            and not any(holds(fails, part) for part in combinations(literals, size - 1) if part)
            and (number == 0 or any(sayings[1].uses[literal // 2] for literal in literals))
            and (size != 2 or literals[0] ^ 1 != literals[1])
        }
        assert set(true_candidates(sayings, failing, size, Watch())) == expected


def test_of_those_that_differ_in_names_alone_one_is_made(lock: Model) -> None:
    sayings = sayings_of(lock, lock, Watch())
    failing = TruthTable(lock, sayings, Watch()).failing(states_of(lock))
    number = next(at for at, one in enumerate(sayings) if len(one.prefix.variables) == 2)
    (exchanged,) = sayings[number].renamed
    found = {one.literals for one in true_candidates(sayings, failing, 3, Watch()) if one.saying == number}
    assert found
    for literals in found:
        others = [exchanged[literal] for literal in literals]
        assert None in others or (same := tuple(sorted(map(int, map(str, others))))) == literals or same not in found


@pytest.mark.parametrize(
    ("literals", "text"),
    [
        ((1,), "for_all(Worker, lambda worker: doing[worker] != Doing.INSIDE)"),
        ((0, 2), "for_all(Worker, lambda worker: Or(doing[worker] == Doing.INSIDE, doing[worker] == Doing.RESTING))"),
        ((3, 4), "for_all(Worker, lambda worker: Implies(doing[worker] == Doing.RESTING, holder == NONE))"),
        ((1, 5), "for_all(Worker, lambda worker: Implies(doing[worker] == Doing.INSIDE, holder != NONE))"),
    ],
)
def test_the_text_of_a_candidate(lock: Model, literals: tuple[int, ...], text: str) -> None:
    saying = sayings_of(lock, lock, Watch())[1]
    assert saying.atoms[:3] == ("doing[worker] == Doing.INSIDE", "doing[worker] == Doing.RESTING", "holder == NONE")
    assert text_of(saying, Candidate(1, literals)) == text


def test_states_are_all_or_a_sample_and_the_same_every_time() -> None:
    model = model_of(VOTES, {"servers": 2})
    stepper = MachineStepper(model)
    every, whole = reached_from(stepper, model.program.initials, 500, Watch())
    assert (len(every), whole) == (sum(check(model, properties=[]).levels), True)
    assert reached_from(stepper, model.program.initials, len(every), Watch()) == (every, True)
    some, whole = reached_from(stepper, model.program.initials, len(every) - 1, Watch())
    assert not whole
    assert set(some) < set(every)
    assert some == reached_from(stepper, model.program.initials, len(every) - 1, Watch())[0]
    stepper.close()
