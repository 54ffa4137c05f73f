"""`simulate` takes the walks that the evaluator takes, and sees the abstract states that it sees."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from insync.explorer import SimulationResult, simulate
from insync.explorer.search.walks import Walks
from insync.machine.walker import Strategy
from insync.model import Model
from insync.model.abstraction import abstraction_of
from insync.model.catalogue import find_model
from insync.model.domains.values import Bool, Num
from insync.model.language.views import StateView
from insync.properties.invariants import DEADLOCK_FREE, TYPE_OK
from insync.properties.registry import confined, judge, sentences_of
from insync.runtime.errors import ModelError, UserError
from insync_corners import Late
from insync_differential import model_of
from insync_drawn import drawn as drawn_model
from insync_drawn_text import model_text
from insync_expressions import Tree, conditions, made, numbers
from insync_initials import Cabinet
from insync_random_models import random_model, written
from insync_toys import TOYS, Commit, DieHard, Overflow, TokenRing, Votes
from insync_walks import by_hand, growth_of, until_saturated

Chosen = tuple[str, dict[str, int | str]]

QUICK: list[Chosen] = [
    ("kip320", {"replicas": 1}),
    ("kip101", {"replicas": 2, "log_size": 1, "max_records": 2, "max_leader_epoch": 1}),
]
KAFKA: list[Chosen] = [
    ("kip279", {"replicas": 3, "log_size": 2, "max_records": 1, "max_leader_epoch": 0}),
    ("truncate_to_high_watermark", {"replicas": 2, "log_size": 2}),
    ("async_isr", {"replicas": 2, "max_version": 0}),
    ("cluster", {"replicas": 2, "records": 1}),
    ("cluster", {"replicas": 3, "spares": 1, "reassignments": 1, "retries": 1, "release": "3.9"}),
    ("kraft_published", {"servers": 1}),
    ("kraft", {"servers": 2, "restarts": 1}),
    ("kraft", {"servers": 2, "spare_servers": 1, "additions": 1}),
]


def same(
    model: Model,
    names: Sequence[str] | None,
    count: int,
    depth: int,
    seed: int,
    strategy: Strategy,
    threads: int = 1,
    patience: int | None = None,
) -> SimulationResult:
    """Compare the two, and return what `simulate` says."""
    found = simulate(
        model,
        properties=names,
        walks=count,
        depth=depth,
        seed=seed,
        strategy=strategy,
        threads=threads,
        abstract_states=True,
        until_saturated=patience,
    )
    share = Walks(count, depth, seed).per_share
    nodes, abstraction = judge(model, names).nodes, abstraction_of(model)
    hand = by_hand(model, nodes, abstraction, seed, range(count), depth, strategy, share)
    if patience is not None:
        ends = until_saturated(hand.first_seen, patience, sum(hand.lengths.values()))
        if ends is not None and (hand.failed is None or ends <= hand.failed):
            hand = by_hand(model, nodes, abstraction, seed, range(ends), depth, strategy, share)
            assert found.stopped_by == "saturation"
            assert hand.failed is None
        else:
            assert found.stopped_by is None
    taken = {name: hand.steps[name] for name in model.program.action_names}
    assert (found.walks, dict(found.actions)) == (sum(hand.lengths.values()), taken)
    lengths = found.lengths
    assert (lengths.shortest, lengths.longest, lengths.stuck) == (min(hand.lengths), max(hand.lengths), hand.stuck)
    assert (found.failed_walk, found.violation is None) == (hand.failed, hand.failed is None)
    seen = found.abstract_states
    assert seen is not None
    assert (seen.distinct, seen.last_new) == (len(hand.first_seen), max(hand.first_seen.values()))
    assert seen.growth == growth_of(hand.first_seen, found.walks)
    return found


def id_of(value: object) -> str:
    return "-".join(map(str, value.values())) if isinstance(value, Mapping) else str(getattr(value, "name", value))


@pytest.mark.parametrize("strategy", list(Strategy))
@pytest.mark.parametrize("model", [*TOYS, Late(), Overflow(), Cabinet()], ids=id_of)
def test_walks_through_toys_are_those_of_the_evaluator(model: Model, strategy: Strategy) -> None:
    same(model, [], 40, 12, 2**63 + 5, strategy)


@pytest.mark.parametrize(
    ("name", "bounds"), [*QUICK, *(pytest.param(*one, marks=pytest.mark.slow) for one in KAFKA)], ids=id_of
)
def test_walks_through_kafka_are_those_of_the_evaluator(name: str, bounds: dict[str, int | str]) -> None:
    model = find_model(name)(**bounds)
    for number, strategy in enumerate(Strategy):
        same(model, None, 6, 25, number, strategy)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_walks_through_many_random_models_are_those_of_the_evaluator() -> None:
    """Models with fields of every domain, confined to some of their invariants now and then."""
    shown: Counter[str] = Counter()
    for seed in range(150):
        drawn = random.Random(seed)
        model = model_of(model_text(drawn_model(seed, alike=seed % 3 == 0)))
        names = [name for name in sentences_of(model) if name not in (TYPE_OK, DEADLOCK_FREE)]
        within = drawn.sample(names, min(len(names), seed % 2))
        try:
            model = confined(model, within)
            if not model.program.actions:
                continue
        except (ModelError, UserError):  # it can never do what an action does, or begins outside
            continue
        count, depth, strategy = drawn.randint(1, 300), drawn.randint(1, 30), drawn.choice(list(Strategy))
        found = same(model, drawn.choice([[], names]), count, depth, drawn.getrandbits(64), strategy)
        assert found.abstract_states is not None
        shown["fails"] += found.failed_walk is not None and found.steps > 0
        shown["confined"] += bool(found.within) and found.steps > 100
        shown["several"] += found.abstract_states.distinct > 5
    assert all(shown[name] > 10 for name in ("fails", "confined", "several")), shown


WALKED = [DieHard(), TokenRing(two_tokens=1), Commit(), Late(), Cabinet(), Votes()]
Naming = Callable[[StateView], dict[str, object]]


def naming(trees: Sequence[Tree]) -> Naming:
    """What names the numbers and conditions that trees are."""

    def named(s: StateView) -> dict[str, object]:
        nodes = [made(s.a.node.graph, tree) for tree in trees]
        return {"all": [Bool(node) if node.is_bool else Num(node) for node in nodes], "a": s.a}

    return named


def some_cells(model: Model, chosen: int) -> Naming:
    """What names some cells: those of the bits that are set, and the sum of the others."""
    cells = [Num(cell) for cell in model.program.graph.cells()]
    others = [cell for number, cell in enumerate(cells) if not chosen >> number & 1]
    rest = others[0] - sum(others[1:], start=others[0]) if others else 0
    return lambda s: {"some": [cell for number, cell in enumerate(cells) if chosen >> number & 1], "rest": rest}


@st.composite
def modelled(draw: st.DrawFn) -> tuple[Model, Naming, list[str]]:
    """A model, what its abstraction names, and the properties that are checked."""
    if draw(st.integers(0, 3)) == 0:
        model = random_model(draw(written()))
        return (
            model,
            naming(draw(st.lists(numbers(2) | conditions(1), max_size=3))),
            draw(st.sampled_from([[], ["low"]])),
        )
    model = draw(st.sampled_from(WALKED))
    names = draw(st.sampled_from([[], [], list(sentences_of(model))]))
    return model, some_cells(model, draw(st.integers(0, 255))), names


def test_random_walks_see_the_abstract_states_that_the_evaluator_sees() -> None:
    """In shares of a few walks, of which several threads have one each, so that they come out of order."""
    shown: Counter[str] = Counter()
    puzzle = DieHard()
    parts: tuple[Model, Naming, list[str]] = puzzle, some_cells(puzzle, 3), []

    @example(parts, 60, 3, 2, Strategy.NAMES, (2, 7), 5)  # it is saturated
    @example(parts, 60, 2, 1, Strategy.MIXED, (3, 2), None)  # it grows
    @example((puzzle, parts[1], ["never_four"]), 60, 60, 1, Strategy.UNIFORM, (2, 5), None)  # it fails
    @given(
        modelled(),
        st.sampled_from([2, 30, 50, 60]),
        st.sampled_from([1, 5, 9, 12]),
        st.integers(0, 2**64 - 1),
        st.sampled_from(list(Strategy)),
        st.tuples(st.sampled_from([1, 2, 3]), st.sampled_from([1, 2, 5, 7])),
        st.sampled_from([None, 1, 3, 5, 9]),
    )
    @settings(max_examples=70)
    def law(
        drawn: tuple[Model, Naming, list[str]],
        count: int,
        depth: int,
        seed: int,
        strategy: Strategy,
        shared: tuple[int, int],
        patience: int | None,
    ) -> None:
        model, named, names = drawn
        patience = None if patience is None else min(patience, count - 1)
        threads, share = shared
        sharing = patch.multiple("insync.explorer.search.walks", _SHARE_LEAST=share, _SHARE_MOST=share)
        with sharing, patch.object(type(model), "abstraction", lambda _, s: named(s)):
            found = same(model, names, count, depth, seed, strategy, threads, patience)
        assert found.abstract_states is not None
        shown["saturated"] += found.stopped_by == "saturation"
        shown["saturated within a share"] += found.stopped_by == "saturation" and found.walks % share > 0
        shown["fails"] += found.failed_walk is not None and found.steps > 0
        shown["several"] += found.abstract_states.distinct > 5
        shown["grows"] += (found.abstract_states.last_new or 0) > share

    law()
    wanted = ("saturated", "saturated within a share", "fails", "several", "grows")
    assert all(shown[name] for name in wanted), shown
