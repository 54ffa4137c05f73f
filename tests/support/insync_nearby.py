"""States that a model reaches, and those beside them: where a property just holds, and where it just does not."""

from __future__ import annotations

import random
from collections.abc import Iterator

from insync.model import Model
from insync.model.evaluator import Codes, Evaluator

__all__ = ["neighbours", "walked"]


def walked(model: Model, chance: random.Random, walks: int, steps: int) -> Iterator[tuple[Codes, int, Codes]]:
    """Yield the steps of random walks: the state before, the number of the action, the state after."""
    evaluator = Evaluator(model.program)
    for _ in range(walks):
        codes = model.program.initials[0]
        for _ in range(steps):
            enabled = evaluator.enabled(codes)
            if not enabled:
                break
            number = chance.choice(enabled)
            after = evaluator.step(number, codes)
            yield codes, number, after
            codes = after


def neighbours(model: Model, chance: random.Random, walks: int, steps: int, each: int) -> list[Codes]:
    """Return states of random walks, and some beside each, in which one, two or three cells have any other code."""
    sizes = [cell.size for cell in model.program.schema.cells]
    states = list(dict.fromkeys(after for _, _, after in walked(model, chance, walks, steps)))
    found = dict.fromkeys(states)
    for codes in states:
        for changes in chance.choices((1, 2, 3), weights=(6, 2, 1), k=each):
            other = list(codes)
            for cell in chance.sample(range(len(sizes)), changes):
                other[cell] = chance.randrange(sizes[cell])
            found[model.encode(model.decode(tuple(other)))] = None  # what is None has no value besides
    return list(found)
