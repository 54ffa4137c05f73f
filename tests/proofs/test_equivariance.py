"""Steps that other members take alike are not asked about, and no step that tells members apart is taken for one."""

from __future__ import annotations

from collections import Counter

import pytest

from insync.model import (
    Array,
    BoundValues,
    Condition,
    Implies,
    Index,
    Int,
    Model,
    Not,
    Set,
    State,
    StateView,
    action,
    for_all,
    invariant,
    require,
)
from insync.model.catalogue import find_model
from insync.properties.invariants import Invariant
from insync.properties.registry import judge, lemmas_of
from insync_cluster_proofs import cluster, with_lemmas
from insync_symmetric import Partial

pytest.importorskip("z3")

from insync.proofs.houdini import infer
from insync.proofs.obligations import Preservation, enabled_actions
from insync.proofs.results import ALIKE, ProofVerdict

WRONG = "followers_trail_the_high_watermark"


class Robber(Index):
    """Who takes coins; the sort is not declared symmetric."""

    size = 3


class Robbery(Model):
    """Robbers take coins from a bag: all alike, but that the last one may take more than there are."""

    headline = ("no_more_than_there_were",)

    def declare(self, b: BoundValues) -> State:
        return State(left=Int(0, 4), taken=Array(Robber, Int(0, 8)), done=Set(Robber))

    def initial(self, s: StateView) -> None:
        s.left = 4

    @action
    def take(self, s: StateView, robber: Robber) -> None:
        require(s.left > 0, s.taken[robber] < 4, Not(s.done.contains(robber)))
        s.left -= 1
        s.taken[robber] += 1

    @action
    def leave(self, s: StateView, robber: Robber) -> None:
        require(Not(s.done.contains(robber)))
        s.done |= {robber}
        if robber == 2:
            s.taken[robber] += 1

    @invariant
    def no_more_than_there_were(self, s: StateView) -> Condition:
        total: Condition = sum((s.taken[robber] for robber in self.all(Robber)), start=s.left) <= 4
        return total

    @invariant
    def the_first_stays(self, s: StateView) -> Condition:
        return Implies(s.done.contains(Robber(0)), for_all(self.all(Robber), s.done.contains))


def conditions(model: Model) -> list[Invariant]:
    return [*judge(model).invariants, *(lemma for name, lemma in lemmas_of(model).items() if name != WRONG)]


def asked(steps: Preservation) -> Counter[str]:
    """Return of how many bound actions z3 is asked."""
    actions = steps.model.program.actions
    return Counter(action.name for number, action in enumerate(actions) if number not in steps.spared)


def verdicts(model: Model, conditions: list[Invariant], spared: frozenset[int] | None) -> dict[str, ProofVerdict]:
    steps = Preservation(model, conditions)
    if spared is not None:
        steps.__dict__["spared"] = spared
    return {name: steps.ask(name).verdict for name in enabled_actions(model)}


def test_one_replica_of_kip320_stands_for_all_and_epochs_do_not() -> None:
    model = find_model("kip320")()
    steps = Preservation(model, conditions(model))
    several = {"become_leader": 3, "leader_write": 2, "become_follower": 3}
    assert asked(steps) == {name: several.get(name, 1) for name in enabled_actions(model)}
    alike = steps.likeness()
    assert alike is not None
    assert (alike.name, alike.verdict, alike.cases) == (ALIKE, ProofVerdict.PROVED, len(steps.spared))


def test_brokers_of_a_cluster_are_alike_in_good_states_also_where_the_first_one_is_elected() -> None:
    model = cluster(replicas=2, records=1, metadata_lag=1, fencings=1, power_failures=1)
    with_all = asked(Preservation(model, with_lemmas(model)))
    assert (with_all["fence"], with_all["unfence"], with_all["register"]) == (1, 1, 1)
    without = [one for one in with_lemmas(model) if one.name != "nobody_leads_without_an_isr"]
    assert asked(Preservation(model, without))["unfence"] == 2


def test_who_does_something_else_is_asked_about() -> None:
    model = Robbery()
    steps = Preservation(model, judge(model).invariants)
    assert asked(steps) == {"take": 1, "leave": 2}
    assert steps.ask("take").verdict is ProofVerdict.PROVED
    assert steps.ask("leave").verdict is ProofVerdict.REFUTED


def test_where_a_condition_singles_out_a_member_everybody_is_asked_about() -> None:
    model = Robbery()
    steps = Preservation(model, judge(model, ["the_first_stays"]).invariants)
    assert asked(steps) == {"take": 3, "leave": 3}
    assert steps.likeness() is None


def test_of_two_good_states_in_a_row_everybody_is_asked_about() -> None:
    model = Robbery()
    assert Preservation(model, judge(model).invariants, k=2).likeness() is None


@pytest.mark.parametrize("way", range(9))
def test_no_verdict_depends_on_what_is_spared(way: int) -> None:
    model = Partial(way=way)
    for names in (["somebody_waits"], ["first_first"]):
        given = list(judge(model, names).invariants)
        assert verdicts(model, given, None) == verdicts(model, given, frozenset())


def test_an_inference_says_that_members_are_alike() -> None:
    model = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    assert ALIKE in [query.name for query in infer(model, conditions(model)).induction.queries]
