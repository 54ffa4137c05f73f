from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Event

import pytest

from insync.explorer import Limits, Verdict, check
from insync.explorer.agree import (
    SHARES,
    Agreement,
    Engine,
    Opinion,
    agree,
    evaluator_engine,
    local_engine,
    opinion_of,
    own_engines,
    symmetric_engine,
    z3_engine,
)
from insync.explorer.mutants import mutants_of
from insync.explorer.stepping.difference import first_difference
from insync.kafka.published import Kip101, Kip320
from insync.machine import kernels
from insync.model import (
    Array,
    Bool,
    BoundValues,
    Index,
    Int,
    Model,
    State,
    StateView,
    UserError,
    action,
    invariant,
    require,
    step_invariant,
)
from insync.model.catalogue import BUILT_IN, find_model
from insync_lamp import Lamp
from insync_post import Post
from insync_runs import Crossing
from insync_toys import TOYS, DieHard, Overflow

ENGINES: dict[str, Engine] = {"evaluator": evaluator_engine, "local-1": local_engine(1), "local-2": local_engine(2)}
PUBLISHED = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
SMALL: dict[str, Mapping[str, int | str]] = {
    "truncate_to_high_watermark": PUBLISHED,
    "kip101": PUBLISHED,
    "kip279": PUBLISHED,
    "kip320_first_try": PUBLISHED,
    "kip320": PUBLISHED,
    "async_isr": {"replicas": 2, "max_version": 1, "max_offset": 1},
    "kraft_published": {"servers": 1},
    "kraft": {"servers": 2, "records": 0, "elections": 1, "restarts": 0},
    "cluster": {"replicas": 2, "records": 1, "power_failures": 0},
    "consumer_group": {"topic_partitions": 1, "records": 1},
    "placement": {"brokers": 3, "topic_partitions": 2, "replicas": 2},
}


def small(name: str) -> Model:
    return find_model(name)(**SMALL[name])


def agreed(model: Model, properties: Sequence[str] | None = None, limits: Limits | None = None) -> Agreement:
    found = agree(model, engines=ENGINES, properties=properties, limits=limits)
    assert found.differences == ()
    assert found.agreed
    return found


@pytest.mark.slow_for(
    "truncate_to_high_watermark",
    "kip101",
    "kip320_first_try",
    "kraft",
    "cluster",
)
@pytest.mark.parametrize("name", BUILT_IN)
def test_the_engines_agree_on_every_small_model(name: str) -> None:
    agreed(small(name))


@pytest.mark.slow_for("grid")
@pytest.mark.parametrize("model", [*TOYS, Crossing(people=3)], ids=lambda model: str(model.name))
def test_the_engines_agree_on_toys(model: Model) -> None:
    agreed(model, limits=Limits(depth=8))


def test_the_engines_agree_where_type_ok_fails() -> None:
    found = agreed(Lamp(switches=2, presses=2), ["broken_lamps_are_dark"])
    assert {opinion.verdict for opinion in found.opinions} == {Verdict.VIOLATED}


@pytest.mark.parametrize("depth", [3, 4, 5])
def test_no_engine_takes_steps_from_the_last_level_of_a_limit(depth: int) -> None:
    """A step that is refused there, after as many states as the limit allows, is nobody's to find."""
    pytest.importorskip("z3")
    engines = {"local": local_engine(1), "z3": z3_engine(8)}
    found = agree(Post(room=1, careful=0), engines=engines, limits=Limits(depth=depth))
    assert found.agreed, found.differences
    assert {opinion.verdict for opinion in found.opinions} == {Verdict.VIOLATED if depth == 5 else Verdict.INCOMPLETE}


class Counting(Model):
    """A number that is counted beyond its domain, and properties that fail as early as that."""

    def declare(self, b: BoundValues) -> State:
        return State(x=Int(0, 2))

    @action
    def count(self, s: StateView) -> None:
        s.x += 1

    @invariant
    def below_two(self, s: StateView) -> object:
        return s.x < 2

    @invariant
    def below_one(self, s: StateView) -> object:
        return s.x < 1

    @action
    def begin_again(self, s: StateView) -> None:
        require(s.x == 2)
        s.x = 0

    @step_invariant
    def never_falls(self, before: StateView, after: StateView) -> object:
        return after.x >= before.x


@pytest.mark.parametrize("name", ["below_one", "below_two", "never_falls"])
def test_a_search_that_ends_at_another_failure_says_nothing_of_steps_from_its_last_level(name: str) -> None:
    pytest.importorskip("z3")
    engines = {"local": local_engine(1), "z3": z3_engine(8)}
    found = agree(Counting(), properties=[name], engines=engines)
    assert found.agreed, found.differences
    assert [name in opinion.failing for opinion in found.opinions] == [True, True]


@pytest.mark.parametrize("depth", [3, 4])
def test_a_refused_step_that_a_search_should_have_found_is_a_difference(depth: int) -> None:
    """Of levels that it expanded, and of one that it found a refused step in, a search says all."""
    pytest.importorskip("z3")
    refused = replace(opinion_of(check(Counting(), properties=[])), engine="local")
    other = replace(refused, failing={}, depth=depth, levels=(1,) * depth, verdict=Verdict.INCOMPLETE)
    engines: dict[str, Engine] = {"local": lambda *_: refused, "other": lambda *_: other}
    assert agree(Counting(), properties=[], engines=engines).agreed == (depth == 3)


@pytest.mark.parametrize(
    ("model", "length"),
    [(DieHard(), 7), pytest.param(Kip101(replicas=2), 12, marks=pytest.mark.slow)],
    ids=["die_hard", "kip101"],
)
def test_z3_finds_the_violation_after_as_many_states(model: Model, length: int) -> None:
    pytest.importorskip("z3")
    found = agree(model, engines={"local": local_engine(1), "z3": z3_engine(length)})
    assert found.agreed, found.differences
    local, z3 = found.opinions
    assert local.failing == z3.failing
    assert set(z3.failing.values()) == {length}
    shallow = agree(model, engines={"local": local_engine(1), "z3": z3_engine(4)})
    assert shallow.agreed, "z3 has not looked far enough to differ"


def lying(change: Callable[[Opinion], Opinion]) -> Mapping[str, Engine]:
    def engine(model: Model, properties: Sequence[str], limits: Limits, stop: Event | None = None) -> Opinion:
        return change(opinion_of(check(model, properties=properties, limits=limits, threads=1)))

    return {"local": local_engine(1), "liar": engine}


LIES: list[tuple[str, Callable[[Opinion], Opinion]]] = [
    (
        "Level 3 has a different number of states: 16 for local, 17 for liar.",
        lambda o: replace(o, levels=(*o.levels[:2], 17, *o.levels[3:]) if o.levels else None),
    ),
    ("The depth is 12 for local and 11 for liar.", lambda o: replace(o, depth=11, levels=(o.levels or ())[:11])),
    (
        "local takes 27 steps of leader_write, liar 0.",
        lambda o: replace(o, actions={**(o.actions or {}), "leader_write": 0}),
    ),
    ("weak_isr: local: fails after 10 states; liar: no violation.", lambda o: replace(o, failing={"strong_isr": 10})),
    (
        "weak_isr: local and liar give different traces of 10 states.",
        lambda o: replace(o, paths={"weak_isr": ("start",)}),
    ),
    (
        "weak_isr: local: fails after 10 states; liar: fails after 5 states.",
        lambda o: replace(o, failing={"weak_isr": 5}),
    ),
]


@pytest.mark.slow_for(
    "Level 3 has a different number of states: 16 for local, 17 for liar.",
    "weak_isr: local: fails after 10 states; liar: no violation.",
    "weak_isr: local and liar give different traces of 10 states.",
    "weak_isr: local: fails after 10 states; liar: fails after 5 states.",
)
@pytest.mark.parametrize(("sentence", "change"), LIES, ids=[sentence for sentence, _ in LIES])
def test_a_difference_is_one_sentence(sentence: str, change: Callable[[Opinion], Opinion]) -> None:
    if "weak_isr" in sentence:
        model: Model = find_model("truncate_to_high_watermark")(
            replicas=2, log_size=2, max_records=2, max_leader_epoch=1
        )
        sentence = sentence.replace("10", str(check(model, properties=["weak_isr"], threads=1).depth))
    else:
        model = Kip320(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
        taken = check(model, threads=1)
        sentence = sentence.replace("27", str(taken.actions["leader_write"])).replace("16", str(taken.levels[2]))
    found = agree(model, engines=lying(change), properties=["weak_isr"])
    assert sentence in found.differences
    assert not found.agreed
    assert found.state is None, "evaluator and machine code do not differ"


def test_engines_that_saw_nothing_do_not_agree() -> None:
    found = agree("kip320", engines={"one": local_engine(1), "two": local_engine(2)}, limits=Limits(seconds=0))
    assert [(one.verdict, one.stopped_by) for one in found.opinions] == [(Verdict.INCOMPLETE, "time")] * 2
    assert (found.agreed, found.compared, found.differences) == (False, 0, ())


def test_an_engine_that_was_stopped_is_compared_as_far_as_it_got() -> None:
    shallow = local_engine(1)

    def stopped(model: Model, properties: Sequence[str], limits: Limits, stop: Event | None = None) -> Opinion:
        return shallow(model, properties, Limits(depth=4), stop)

    found = agree(Kip320(replicas=2), engines={"local": local_engine(1), "shallow": stopped})
    assert found.agreed
    assert found.opinions[1].stopped_by == "depth"
    violated = agree(Kip101(replicas=2), engines={"local": local_engine(1), "shallow": stopped})
    assert violated.agreed


def few(model: Model, properties: Sequence[str], limits: Limits, stop: Event | None = None) -> Opinion:
    return evaluator_engine(model, properties, Limits(depth=2), stop)


def test_where_the_first_engine_was_stopped_the_others_are_compared_beyond() -> None:
    honest = local_engine(1)

    def liar(model: Model, properties: Sequence[str], limits: Limits, stop: Event | None = None) -> Opinion:
        said = honest(model, properties, limits, stop)
        return replace(said, levels=(*(said.levels or ())[:5], 99))

    assert agree(small("kip320"), engines={"few": few, "liar": liar}).differences == ()
    found = agree(small("kip320"), engines={"few": few, "local": honest, "liar": liar})
    (difference,) = found.differences
    assert re.fullmatch(r"Level 6 has a different number of states: \d+ for local, 99 for liar\.", difference)


def test_a_default_run_gives_each_engine_a_share(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = {name: Limits(states=9) if name == "evaluator" else Limits(depth=3) for name in SHARES}
    monkeypatch.setattr(sys.modules["insync.explorer.agree"], "SHARES", shares)
    opinions = {opinion.engine: opinion for opinion in agree(small("kip320")).opinions}
    assert {name: opinion.of_share for name, opinion in opinions.items() if opinion.counts} == {
        name: name == "evaluator" for name in opinions if opinions[name].counts
    }
    assert (opinions["evaluator"].stopped_by, opinions["local-1"].depth) == ("states", 3)
    whole = agree(small("kip320"), limits=Limits(seconds=100))
    assert {opinion.of_share for opinion in whole.opinions} == {False}
    assert whole.opinions[0].verdict is Verdict.HOLDS


def test_the_shares_of_a_default_run_are_half_a_minute() -> None:
    assert set(SHARES) == set(own_engines())
    assert sum(share.seconds or math.inf for share in SHARES.values()) <= 30


def test_who_stops_it_is_told_what_the_engines_said_by_then() -> None:
    stop, model = Event(), small("kip320")
    found = agree(model, engines=ENGINES, reporter=lambda opinion: stop.set(), stop=stop)
    first, *others = found.opinions
    assert (found.stopped_by, found.agreed, first.verdict) == ("interrupt", False, Verdict.HOLDS)
    assert [(one.verdict, one.stopped_by) for one in others] == [(None, "interrupt")] * 2
    heard = Event()
    heard.set()
    depth = check(model, threads=1).depth
    assert evaluator_engine(model, ["weak_isr"], Limits(), heard).depth < depth
    assert local_engine(1)(model, ["weak_isr"], Limits(), heard).depth < depth
    assert first_difference(model, properties=["weak_isr"], depth=20, stop=heard) is None


def test_an_engine_that_cannot_run_here_says_why() -> None:
    def missing(model: Model, properties: Sequence[str], limits: Limits, stop: Event | None = None) -> Opinion:
        message = "It is not installed."
        raise UserError(message)

    heard: list[str] = []
    model = Kip320(replicas=1)
    found = agree(model, engines={"local": local_engine(1), "far": missing}, reporter=lambda o: heard.append(o.engine))
    assert heard == ["local", "far"]
    assert not found.agreed, "one engine alone agrees with nobody"
    assert found.opinions[1].note == "It is not installed."
    assert found.differences == ()


CHANGES = "The machine code takes a step that changes {}; the evaluator has no such step."
BECOMES = "replica[b2].epoch to 0, replica[b2].leader to b2"


@pytest.mark.slow
def test_the_first_state_that_differs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine code is compiled from a mutant, as if the compiler had forgotten a condition."""
    model = Kip320(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    assert first_difference(model, properties=["weak_isr"], depth=20) is None
    mutants = {mutant.name: mutant for mutant in mutants_of(model)}
    honest = kernels.compile_kernels
    for name, level, sentence in [
        ("leader_write does not assign next_record", 3, "The evaluator takes the step 'b1 writes r0'; the machine"),
        ("leader_write does not require next_record == 0", 6, "refuses 0 steps for type_ok, the machine code 1"),
        ("become_leader does not require replica[leader].epoch < 0", 3, CHANGES.format("nothing")),
        ("become_leader does not require requests[epoch].leader == leader", 1, CHANGES.format(BECOMES)),
    ]:
        program = mutants[name].program(model.program)
        monkeypatch.setattr(
            "insync.explorer.stepping.difference.compile_kernels", lambda _, nodes, p=program, **__: honest(p, nodes)
        )
        found = first_difference(model, properties=["weak_isr"], depth=20)
        assert found is not None
        assert sentence in found.sentence
        assert found.level == level
        assert first_difference(model, properties=["weak_isr"], depth=level) == found
        assert first_difference(model, properties=["weak_isr"], depth=level - 1) is None
    overflow = Overflow()
    actions = [
        replace(one, guard=(*one.guard, *(c.node for c in one.checks)), checks=()) for one in overflow.program.actions
    ]
    tame = replace(overflow.program, actions=tuple(actions))
    monkeypatch.setattr(
        "insync.explorer.stepping.difference.compile_kernels", lambda _, nodes, **__: honest(tame, nodes)
    )
    found = first_difference(overflow, properties=[], depth=20)
    assert found is not None
    assert found.sentence == "The evaluator refuses 1 steps for type_ok, the machine code 0."
    strong = honest(model.program, [model.program.graph.false])
    monkeypatch.setattr("insync.explorer.stepping.difference.compile_kernels", lambda *_, **__: strong)
    found = first_difference(model, properties=["weak_isr"], depth=20)
    assert found is not None
    assert found.level == 1
    assert found.sentence == "By the evaluator weak_isr holds here; by the machine code it is the other way round."
    weak = honest(model.program, [model.program.graph.true])
    monkeypatch.setattr("insync.explorer.stepping.difference.compile_kernels", lambda *_, **__: weak)
    found = first_difference(model, properties=["leader_in_isr"], depth=20)
    assert found is not None
    assert found.sentence.startswith("By the evaluator leader_in_isr fails here; ")


@pytest.mark.parametrize("engines", [{"mine": 3}, {"mine": evaluator_engine, "yours": 3}, [evaluator_engine]])
def test_each_engine_that_is_given_is_a_function_with_a_name(engines: Mapping[str, Engine]) -> None:
    with pytest.raises(UserError, match="is not a mapping from names to engines; write"):
        agree(Overflow(), engines=engines)


def test_all_are_compared_with_the_first_alone_where_it_was_not_stopped() -> None:
    def further(levels: int) -> Engine:
        def engine(model: Model, properties: Sequence[str], limits: Limits, stop: Event | None) -> Opinion:
            found = evaluator_engine(model, properties, limits, stop)
            assert found.levels is not None
            return replace(found, levels=(*found.levels, *[1] * levels), depth=found.depth + levels)

        return engine

    engines = {"first": evaluator_engine, "second": further(1), "third": further(2)}
    sentences = agree(Overflow(), engines=engines).differences
    assert all("first" in sentence for sentence in sentences)
    assert {name for name in engines if any(name in sentence for sentence in sentences)} == set(engines)


def test_symmetry_needs_two_members() -> None:
    class Alone(Index, symmetric=True):
        size = 1

    class Single(Model):
        def declare(self, b: BoundValues) -> State:
            return State(up=Array(Alone, Bool))

        @action
        def rise(self, s: StateView, one: Alone) -> None:
            s.up[one] = True

    with pytest.raises(UserError, match="declared symmetric and has two members or more, and this model has none"):
        symmetric_engine(Single(), [], Limits())
