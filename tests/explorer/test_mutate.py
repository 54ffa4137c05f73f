from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable

import pytest

from insync.explorer.check import check
from insync.explorer.mutants import Change, Mutant, mutants_of, same_steps, weakened
from insync.explorer.mutate import MOST_STATES, Fate, MutationResult, mutate
from insync.explorer.results import CheckResult
from insync.kafka.published import AsyncIsr, Kip101, Kip320
from insync.model import (
    And,
    Array,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Int,
    Model,
    Not,
    Or,
    Range,
    Record,
    SetOf,
    State,
    StateView,
    UserError,
    action,
    for_all,
    invariant,
    require,
)
from insync.model.evaluator import Evaluator, evaluate
from insync.model.expressions.graph import Graph, Op
from insync.model.expressions.simplify import apply, combine
from insync.model.tracing.program import Program
from insync.runtime.watch import Limits
from insync_lamp import Lamp
from insync_post import Post
from insync_runs import Crossing
from insync_toys import TOYS

SMALL = Kip320(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
Codes = tuple[int, ...]


def reachable(program: Program) -> dict[Codes, set[object]]:
    """Each state with its steps; those that change nothing are left out, those that are refused are marked."""
    evaluator = Evaluator(program)
    found: dict[Codes, set[object]] = {}
    open_ = [program.initials[0]]
    while open_:
        codes = open_.pop()
        if codes in found:
            continue
        found[codes] = set()
        for number in evaluator.enabled(codes):
            if evaluator.failing_check(number, codes) is not None:
                found[codes].add((number, "refused"))
            elif (after := evaluator.step(number, codes)) != codes:
                found[codes].add((number, after))
                open_.append(after)
    return found


def names(mutants: Iterable[Mutant]) -> list[str]:
    return [mutant.name for mutant in mutants]


class Gate(Model):
    """Whoever is careful waits until the gate is open."""

    def declare(self, b: BoundValues) -> State:
        return State(open=Bool, through=Int(0, 3))

    @action
    def go(self, s: StateView, careful: bool) -> None:
        """Go through the gate."""
        require(s.through < 3)
        if careful:
            require(s.open)
        s.through += 1


def test_a_condition_of_some_bindings_alone_can_be_left_out() -> None:
    assert [(mutant.name, len(mutant.replaced)) for mutant in mutants_of(Gate())] == [
        ("go does not require through < 3", 2),
        ("go does not require open == careful", 1),
        ("go does not assign through", 2),
    ]


class Amount(Range):
    lo, hi = 1, 3


class Jar(Model):
    """Whoever takes some knocks once, whatever the number of what is taken."""

    def declare(self, b: BoundValues) -> State:
        return State(left=Int(0, 9), knocks=Int(0, 2))

    @action
    def take(self, s: StateView, amount: Amount) -> None:
        """Take some out of the jar."""
        require(s.knocks == 1, s.left > 2)
        s.left -= 1


def test_a_number_is_not_named_for_a_parameter_that_happens_to_have_it() -> None:
    assert names(mutants_of(Jar())) == [
        "take does not require knocks == 1",
        "take does not require left > 2",
        "take does not assign left",
    ]


class Wide(Model):
    """A condition that is too long to be shown, on as many fields as the bound says."""

    bounds = Bounds(fields=Bound(5, 1, 9))

    def declare(self, b: BoundValues) -> State:
        return State(**{f"a_field_with_a_long_name_{number}": Int(0, 3) for number in range(b.fields)})

    @action
    def act(self, s: StateView) -> None:
        """Wait for a sum."""
        fields = [getattr(s, f"a_field_with_a_long_name_{number}") for number in range(self.b.fields)]
        require(sum((number + 2) * field for number, field in enumerate(fields)) == 3)
        s.a_field_with_a_long_name_0 = 0


@pytest.mark.parametrize(("fields", "shown", "more"), [(5, 5, ""), (6, 5, ", ...")])
def test_of_a_long_condition_the_fields_are_named_up_to_five(fields: int, shown: int, more: str) -> None:
    (guard, *_) = mutants_of(Wide(fields=fields))
    listed = ", ".join(f"a_field_with_a_long_name_{number}" for number in range(shown))
    assert guard.name == f"act does not require a condition on {listed}{more}"


def test_what_is_written_once_is_one_mutant_in_the_words_of_the_model() -> None:
    assert names(mutants_of(Kip320(), ["follower_fetch"])) == [
        "follower_fetch does not require replica[leader].leader == leader",
        "follower_fetch does not require replica[follower].leo < replica[leader].leo",
        "follower_fetch does not require replica[follower].leader == leader",
        "follower_fetch does not require replica[follower].epoch == replica[leader].epoch",
        "follower_fetch does not assign replica[follower].log[]",
        "follower_fetch does not assign replica[follower].leo",
        "follower_fetch does not assign replica[follower].hw",
    ]
    assert {len(mutant.replaced) for mutant in mutants_of(Kip320(), ["follower_fetch"])} == {6}
    assert names(mutants_of(Crossing(), ["cross"]))[1:] == [
        "cross does not require waiting contains who",
        "cross does not assign waiting",
    ]


def test_of_several_alternatives_it_is_the_last_one_that_loses_a_part() -> None:
    graph = Graph([2, 2, 2, 2, 2])
    a, b, c, d, e = (apply(Op.EQ, graph.cell(place), graph.const(1)) for place in range(5))
    first, last = combine(graph, Op.AND, [a, b]), combine(graph, Op.AND, [c, d])
    made = list(weakened({0: {0: combine(graph, Op.OR, [first, last, e])}}))
    expected = [(None, []), (c, [combine(graph, Op.OR, [first, d, e])]), (d, [combine(graph, Op.OR, [first, c, e])])]
    assert [(one.part, one.left[0]) for one in made] == expected


def test_a_condition_within_a_quantifier_is_taken_away_by_itself() -> None:
    weaker = [m for m in mutants_of(Kip320(), ["leader_advance_high_watermark"]) if m.change is Change.WEAKER]
    assert "(replica[leader].hw + 1) <= replica[member].leo (of each member)" in [mutant.without for mutant in weaker]
    assert "replica[leader].epoch == replica[member].epoch (of each member)" in [mutant.without for mutant in weaker]


class Lamps(Model):
    """Two lamps, which are on where three things hold of each."""

    headline = ()

    def declare(self, b: BoundValues) -> State:
        return State(spare=Bool, lamp=Array(2, Record(bulb=Bool, cable=Bool, switch=Bool)), lit=Bool)

    def parts(self, s: StateView, number: int) -> list[Condition]:
        lamp = s.lamp[number]
        return [lamp.bulb, lamp.cable, lamp.switch]

    @action
    def light_all(self, s: StateView) -> None:
        """All are on."""
        require(for_all(range(2), lambda number: And(*self.parts(s, number))))
        s.lit = True

    @action
    def light_one(self, s: StateView) -> None:
        """The first is on, or there is a spare one."""
        require(Or(s.spare, And(*self.parts(s, 0))))
        s.lit = True


def test_without_one_part_of_a_condition_the_others_are_still_required() -> None:
    model = Lamps()
    weaker = {mutant.name: mutant for mutant in mutants_of(model) if mutant.change is Change.WEAKER}
    things, seen = ("bulb", "cable", "switch"), set()
    for codes in itertools.product((0, 1), repeat=len(model.program.schema.cells)):
        state = model.decode(codes)
        for gone in things:
            rest = [all(lamp[thing] for thing in things if thing != gone) for lamp in state["lamp"]]
            enabled = {
                f"light_all does not require lamp[number].{gone} == true (of each number)": all(rest),
                f"light_one does not require lamp[0].{gone} == true (in an alternative)": state["spare"] or rest[0],
            }
            for name, wanted in enabled.items():
                (action_without,) = weaker[name].replaced.values()
                assert all(evaluate(node, codes) for node in action_without.guard) == wanted, name
                seen.add(name)
    assert seen == set(weaker)


def test_without_a_guard_what_it_excluded_is_checked_again() -> None:
    (mutant,) = [m for m in mutants_of(SMALL) if m.name == "leader_write does not require replica[leader].leo < 1"]
    checks = {check.message.split(": ", 1)[1] for action in mutant.replaced.values() for check in action.checks}
    assert "this assigns outside replica[b1].log[...], which has 1 place." in checks


class Tank(Model):
    """A tank whose valve says in time that it is full: it never runs over, which its guard does not show."""

    def declare(self, b: BoundValues) -> State:
        return State(level=Int(0, 2), full=Bool)

    @action
    def fill(self, s: StateView) -> None:
        """Pour into it."""
        require(Not(s.full))
        s.full = s.level == 1
        s.level += 1


def test_without_a_guard_what_was_checked_beside_it_is_checked_as_before() -> None:
    model = Tank()
    (mutant,) = [m for m in mutants_of(model) if m.change is Change.GUARD]
    over = (2, 1)
    assert reachable(model.program).keys() == {(0, 0), (1, 0), over}
    assert Evaluator(mutant.program(model.program)).failing_check(0, over) is not None
    assert Evaluator(mutant.program(model.program)).failing_check(0, (1, 0)) is None


def test_mutants_of_every_kind_of_model_can_be_made_and_run() -> None:
    models: list[Model] = [*TOYS, AsyncIsr(max_version=1), Lamp()]
    for model in models:
        for mutant in mutants_of(model):
            program = mutant.program(model.program)
            evaluator = Evaluator(program)
            for number in evaluator.enabled(program.initials[0]):
                if evaluator.failing_check(number, program.initials[0]) is None:
                    codes = evaluator.step(number, program.initials[0])
                    sizes = [cell.size for cell in program.schema.cells]
                    assert all(0 <= code < size for code, size in zip(codes, sizes, strict=True)), mutant.name


@pytest.mark.slow
def test_equivalence_is_that_of_states_and_steps() -> None:
    whole = reachable(SMALL.program)
    equivalent = 0
    for mutant in mutants_of(SMALL)[::3]:
        same = reachable(mutant.program(SMALL.program)) == whole
        condition = same_steps(SMALL.program, mutant)
        assert same == all(evaluate(condition, codes) for codes in whole), mutant.name
        equivalent += same
    assert equivalent > 3


def fates(result: MutationResult) -> dict[str, Fate]:
    return {mutant.name: mutant.fate for mutant in result.mutants}


def test_mutants_are_killed_equivalent_or_survive() -> None:
    result = mutate(SMALL, actions=["follower_fetch", "become_leader"], threads=1)
    assert result.properties[:2] == ("weak_isr", "strong_isr")
    assert result.failing == ("leader_in_isr",)
    found = fates(result)
    assert found["become_leader does not assign replica[leader].epoch"] is Fate.KILLED
    assert found["follower_fetch does not assign replica[follower].hw"] is Fate.SURVIVED
    assert found["follower_fetch does not require replica[leader].leader == leader"] is Fate.EQUIVALENT
    killed, survived = result.count(Fate.KILLED), result.count(Fate.SURVIVED)
    assert result.score == killed / (killed + survived)
    for mutant in result.mutants:
        assert (mutant.fate is Fate.KILLED) == bool(mutant.killed_by)
        assert mutant.fate is not Fate.EQUIVALENT or mutant.distinct_states == result.distinct_states


def test_the_properties_of_runs_notice_what_the_others_cannot() -> None:
    properties = ["weak_isr", "strong_isr"]
    result = mutate(SMALL, properties=properties, actions=["leader_expand_isr"], runs=True, threads=1)
    by_name = {mutant.name: mutant for mutant in result.mutants}
    kept_out = by_name["leader_expand_isr does not assign quorum.isr"]
    assert kept_out.fate is Fate.KILLED
    assert "back_in_isr" in kept_out.killed_by
    assert "back_in_isr" in result.properties


class Traced(Model):
    """Counts how often its action is traced."""

    times = 0

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 9))

    @action
    def count(self, s: StateView) -> None:
        type(self).times += 1
        require(s.n < 3)
        s.n += 1

    @invariant
    def small(self, s: StateView) -> Condition:
        return Not(s.n == 9)


def test_the_model_is_traced_no_more_often_than_by_one_check() -> None:
    check(Traced(), threads=1)
    by_one_check, Traced.times = Traced.times, 0
    assert len(mutate(Traced(), threads=1).mutants) >= 2
    assert Traced.times == by_one_check


@pytest.mark.slow
def test_a_search_that_is_too_long_leaves_a_mutant_undecided() -> None:
    result = mutate(
        SMALL, properties=["weak_isr"], actions=["controller_elect_leader"], limits=Limits(states=278), threads=1
    )
    undecided = [mutant for mutant in result.mutants if mutant.fate is Fate.UNDECIDED]
    assert undecided
    assert {mutant.stopped_by for mutant in undecided} == {"states"}


@pytest.mark.parametrize("limits", [Limits(states=20), Limits(depth=3), Limits(seconds=1e-6)], ids=str)
def test_of_a_model_that_is_not_searched_to_its_end_no_mutant_is_judged(limits: Limits) -> None:
    result = mutate(SMALL, limits=limits, runs=True, threads=1)
    assert (result.mutants, result.score) == ((), None)
    (given,) = [name for name in ("states", "depth", "seconds") if getattr(limits, name) is not None]
    assert result.stopped_by == {"seconds": "time"}.get(given, given)
    assert result.distinct_states < 277


def test_mistakes_are_one_sentence() -> None:
    with pytest.raises(UserError, match="kip320 has no action 'follower_fech'"):
        mutate(SMALL, actions=["follower_fech"])
    with pytest.raises(UserError, match="kip320 has no property 'weak'"):
        mutate(SMALL, properties=["weak"])
    with pytest.raises(UserError, match="lamp itself breaks type_ok; fix that first"):
        mutate(Lamp(switches=1, presses=1), threads=1)


@pytest.mark.slow
def test_properties_that_fail_of_the_model_do_not_judge() -> None:
    result = mutate(Kip101(replicas=2), actions=["leader_write"], threads=1)
    assert result.failing == ("weak_isr", "strong_isr", "leader_in_isr")
    assert result.properties == ("well_formed_log", "type_ok")


def test_mutants_of_operations_on_messages_are_named_by_the_field() -> None:
    names = [mutant.name for mutant in mutants_of(Post(homes=3))]
    assert "ask does not require queue.length < 2" in names
    assert [name for name in names if "not assign" in name] == [
        "ask does not assign queue",
        "ask does not assign asked",
        "fetch does not assign queue",
        "fetch does not assign bag",
        "deliver does not assign bag",
        "deliver does not assign heard",
        "forget does not assign asked",
    ]
    assert "forget does not require (some letter: heard contains letter)" in names


class Way(Range):
    lo, hi = 0, 1


class Doors(Model):
    """A literal and a parameter that have the same value in the first binding."""

    def declare(self, b: BoundValues) -> State:
        return State(open=Array(Way, Bool), locked=SetOf(Record(way=Way, wide=Bool)))

    @action
    def enter(self, s: StateView, way: Way, wide: bool) -> None:
        require(Not(s.locked.contains(way=way, wide=False)))
        require(Or(s.open[way], s.locked.contains(way=1, wide=wide)))
        s.open[way] = wide


def test_a_literal_is_not_called_by_a_parameter_of_its_value() -> None:
    lacking = [one.without for one in mutants_of(Doors()) if one.change is Change.GUARD]
    assert lacking[0] == "not locked contains (way=0, wide=false)"
    assert "locked contains (way=1, wide=wide)" in lacking[1]


@pytest.mark.parametrize(
    ("given", "taken"), [(None, MOST_STATES), (Limits(seconds=9), MOST_STATES), (Limits(states=7), 7)]
)
def test_a_mutant_that_never_ends_is_left_undecided_some_time(
    monkeypatch: pytest.MonkeyPatch, given: Limits | None, taken: int
) -> None:
    states: set[int | None] = set()

    def searched(model: Model, *, limits: Limits, **rest: object) -> CheckResult:
        states.add(limits.states)
        return check(model, limits=limits, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(sys.modules["insync.explorer.mutate"], "check", searched)
    mutate(SMALL, properties=["weak_isr"], actions=["become_leader"], limits=given, threads=1)
    assert states == {taken}


class Grows(Model):
    """A number that grows, and begins again once in a while."""

    def declare(self, b: BoundValues) -> State:
        return State(number=Int(0, 50))

    @action
    def grow(self, s: StateView) -> None:
        require(s.number < 50)
        s.number += 1

    @action
    def begin_again(self, s: StateView) -> None:
        require(s.number == 3)
        s.number = 0

    @invariant
    def small(self, s: StateView) -> Condition:
        """The number is small."""
        return Not(s.number > 3)

    @invariant
    def never_ten(self, s: StateView) -> Condition:
        """The number is never 10."""
        return Not(s.number == 10)


def test_mutants_are_confined_as_the_model_is() -> None:
    """Beyond the confinement every mutant would reach 10."""
    result = mutate(Grows(), properties=["never_ten"], within=["small"], threads=1)
    assert (result.within, result.failing, result.count(Fate.KILLED)) == (("small",), (), 0)
    assert result.count(Fate.SURVIVED)
