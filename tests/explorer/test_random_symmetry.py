"""Random models whose sites are declared alike: refused, or searched as without symmetry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice, product

import pytest

from insync.explorer import Limits, check
from insync.explorer.alike import symmetry_for
from insync.explorer.check_by_evaluator import check_by_evaluator
from insync.explorer.evaluator.stepping import Refused, Stepper
from insync.model.errors import ModelError, UserError
from insync.model.evaluator import Codes
from insync_drawn_models import model_of_text, model_text

DEPTH = Limits(depth=4)

FEW, MANY = range(12), range(12, 150)


def compared(seeds: Iterable[int]) -> Counter[str]:
    """Compare searches with and without symmetry on the models of some seeds; return how often they show something."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        text = model_text(seed, alike=True)
        model = model_of_text(text)
        try:
            program = model.program
        except ModelError:
            seen["not traced"] += 1
            continue
        try:
            found = check(model, limits=DEPTH, keep_going=True, threads=1)
        except UserError:
            seen["refused"] += 1
            continue
        plain = check(model, limits=DEPTH, keep_going=True, threads=1, symmetry=False)
        if plain.distinct_states < 2_000:
            defined = check_by_evaluator(model, limits=DEPTH, keep_going=True)
            assert found.levels == defined.levels, f"seed {seed}\n{text}"
        assert (found.levels, found.actions) == (plain.levels, plain.actions), f"seed {seed}\n{text}"
        assert (found.deadlocks, found.stopped_by) == (plain.deadlocks, plain.stopped_by), f"seed {seed}\n{text}"
        assert found.properties == plain.properties, f"seed {seed}\n{text}"
        lengths = [[(v.property, v.trace_length) for v in one.violations] for one in (found, plain)]
        assert lengths[0] == lengths[1], f"seed {seed}\n{text}"
        assert program.symmetry is not None
        assert found.representatives is not None
        seen["searched"] += 1
        seen["in order"] += bool(program.symmetry.arranged)
        seen["several levels"] += len(found.levels) > 2
        seen["fewer states"] += 2 * found.representatives < found.distinct_states
        seen["fewer states in order"] += bool(program.symmetry.arranged) and (
            2 * found.representatives < found.distinct_states
        )
        seen["fails later"] += any(v.trace_length > 1 for v in found.violations)
    return seen


def permuted(seeds: Iterable[int]) -> int:
    """Compare the steps of states with those of permuted states; return of how many states they were not refused."""
    count = 0
    for seed in seeds:
        text = model_text(seed, alike=True)
        model = model_of_text(text)
        try:
            symmetry = symmetry_for(model, {}).symmetry
        except UserError:
            continue
        assert symmetry is not None
        stepper, level = Stepper(model), list(islice(model.program.initials, 20))
        known = set(level)
        for _ in range(4):
            for state, permutation in product(level[:30], symmetry.generators()):
                image = symmetry.image(state, permutation)
                steps = sorted(symmetry.image(after, permutation) for after in reached(stepper, state))
                assert sorted(reached(stepper, image)) == steps, f"seed {seed}: {state}\n{text}"
                count += 1
            found = dict.fromkeys(after for state in level[:30] for after in reached(stepper, state))
            level = [state for state in found if state not in known]
            known.update(level)
    return count


def reached(stepper: Stepper, state: Codes) -> list[Codes]:
    """Return the states after each step that is not refused."""
    return [after for _, after in stepper.outcomes(state) if not isinstance(after, Refused)]


def test_steps_of_permuted_states_are_the_permuted_steps() -> None:
    assert permuted(range(20)) > 200


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_steps_of_many_permuted_states_are_the_permuted_steps() -> None:
    assert permuted(range(40, 400)) > 5_000


def test_random_models_are_refused_or_counted_as_without_symmetry() -> None:
    seen = compared(FEW)
    assert [name for name in ("searched", "in order", "several levels", "fewer states") if not seen[name]] == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_random_models_are_refused_or_counted_as_without_symmetry() -> None:
    seen = compared(MANY)
    assert seen["searched"] > len(MANY) / 2
    shown = ("in order", "several levels", "fewer states", "fewer states in order", "fails later", "refused")
    assert [name for name in shown if seen[name] < len(MANY) / 20] == []
