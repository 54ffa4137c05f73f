"""Random models mean the same to every engine: states, levels, steps, verdicts, and the traces of what fails."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence

import pytest

from insync.explorer import Limits, check
from insync.explorer.agree import agree
from insync.explorer.check_by_evaluator import check_by_evaluator
from insync.explorer.opinions import Engine, Opinion, opinion_of, z3_engine
from insync.model import Model
from insync.model.errors import ModelError
from insync_drawn_models import model_of_text, model_text

DEPTH = 3

FEW, MANY = range(10), range(10, 150)


def _evaluator(model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None) -> Opinion:
    return opinion_of(check_by_evaluator(model, properties=properties, limits=limits, keep_going=True))


def _machine(model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None) -> Opinion:
    return opinion_of(check(model, properties=properties, limits=limits, threads=1, keep_going=True))


ENGINES: dict[str, Engine] = {"evaluator": _evaluator, "machine": _machine, "z3": z3_engine(DEPTH)}


def traced(seed: int) -> Model | None:
    """Return the model of a seed; None where insync says that it can never do what an action does."""
    model = model_of_text(model_text(seed))
    try:
        return model if model.program.actions else None
    except ModelError:
        return None


def compared(seeds: Sequence[int]) -> Counter[str]:
    """Compare the engines on the models of some seeds; return how often the models show something."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        model = traced(seed)
        if model is None:
            seen["not traced"] += 1
            continue
        agreement = agree(model, engines=ENGINES, limits=Limits(depth=DEPTH + 1))
        assert agreement.agreed, f"seed {seed}: {agreement.differences}\n{model_text(seed)}"
        said = agreement.opinions[0]
        assert said.levels is not None
        seen["several states"] += sum(said.levels) > 3
        seen["several levels"] += len(said.levels) > 1
        seen["fails at once"] += 1 in said.failing.values()
        seen["fails later"] += any(length > 1 for length in said.failing.values())
        seen["does not fit"] += "type_ok" in said.failing
        seen["holds"] += not said.failing
    return seen


def test_random_models_mean_the_same_to_every_engine() -> None:
    seen = compared(FEW)
    shown = ("several states", "several levels", "fails at once", "does not fit", "holds")
    assert [name for name in shown if not seen[name]] == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_random_models_mean_the_same_to_every_engine() -> None:
    seen = compared(MANY)
    assert seen["not traced"] < len(MANY) / 10
    shown = ("several states", "several levels", "fails at once", "fails later", "does not fit", "holds")
    assert [name for name in shown if seen[name] < len(MANY) / 20] == []
