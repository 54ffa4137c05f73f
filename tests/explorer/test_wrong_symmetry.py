"""Models that treat members alike but in one place: wherever some state shows it, they are refused by the name of it.

A model is drawn that is accepted, then one action, property or beginning of it is changed to single a member out. The
judge is the evaluator: it permutes states that are reached, and knows nothing of forms or of z3.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import pytest

from insync.explorer.stepping.stepper import Refused, Stepper
from insync.explorer.symmetry import symmetry_for
from insync.model import Model
from insync.model.evaluator import Codes, evaluate
from insync.model.expressions.graph import Node
from insync.model.symmetry.group import Symmetry
from insync.properties.registry import judge
from insync.runtime.errors import ModelError, UserError
from insync_alike_models import model_of_text, model_text

PLACES = ("guard", "update", "property", "beginning")
ODD = ("site == 0", "site != 1", "site == 2")


def singled_out(text: str, place: str, chance: random.Random) -> tuple[str, str]:
    """Return the text of a model with a member singled out in a place, and what a refusal is to name."""
    lines = text.splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith("    def act")]
    head, condition = chance.choice(heads), chance.choice(ODD)
    name = lines[head].split("def ")[1].split("(")[0]
    if place == "guard":
        lines.insert(head + 1, f"        require({condition})")
        return "\n".join(lines), name
    statements = list(statements_at(lines, chance.choice(heads)))
    if place == "update":
        end = lines.index("", head)
        lines[end:end] = [f"        if {condition}:", *(f"    {line}" for line in statements)]
        return "\n".join(lines), name
    if place == "beginning":
        at = next(number for number, line in enumerate(lines) if line == "    @action")
        lines[at:at] = ["    @initial", "    def odd(self, s):", "        site = Site(1)", *statements, ""]
        return "\n".join(lines), "a member singled out"
    at = next(number for number, line in enumerate(lines) if "def holds0" in line) + 1
    lines[at] = lines[at].replace("for_all(Site, ", "(").removesuffix(")") + ")(Site(1))"
    return "\n".join(lines), "the property holds0"


def statements_at(lines: list[str], head: int) -> Iterator[str]:
    """Yield the statements of an action without what it requires."""
    for line in lines[head + 1 : lines.index("", head)]:
        if "require(" not in line:
            yield line


def shown_by(model: Model, symmetry: Symmetry, conditions: list[Node]) -> bool:
    """Return whether some of the states that are reached tells members apart."""
    stepper, initials = Stepper(model), model.program.initials
    level = list(islice(initials, 20))
    known = set(level)
    for depth in range(4):
        for state in level[:25]:
            for permutation in symmetry.generators():
                image = symmetry.image(state, permutation)
                if not depth and image not in initials:
                    return True
                if any(evaluate(node, state) != evaluate(node, image) for node in conditions):
                    return True
                moved = sorted(
                    (after is None, () if after is None else symmetry.image(after, permutation))
                    for after in reached(stepper, state)
                )
                if moved != sorted((after is None, after or ()) for after in reached(stepper, image)):
                    return True
        found = dict.fromkeys(after for state in level[:25] for after in reached(stepper, state) if after is not None)
        level = [state for state in found if state not in known]
        known.update(level)
    return False


def reached(stepper: Stepper, state: Codes) -> list[Codes | None]:
    """Return the states after each step, None for one that is refused."""
    return [None if isinstance(after, Refused) else after for _, after in stepper.outcomes(state)]


def judged(seed: int, place: str, seen: Counter[str]) -> None:
    """Examine a model and the model that singles a member out, and count what the evaluator says of it."""
    text, chance = model_text(seed), random.Random(seed)
    try:
        model = model_of_text(text)
        if symmetry_for(model, judge(model, None).conditions).symmetry is None:
            return
    except UserError:
        seen["not alike before"] += 1
        return
    changed, name = singled_out(text, place, chance)
    try:
        odd = model_of_text(changed)
        conditions, symmetry = judge(odd, None).conditions, odd.program.symmetry
    except ModelError:
        seen["not traced"] += 1
        return
    assert symmetry is not None
    told_apart = shown_by(odd, symmetry, list(conditions.values()))
    refusal = refusal_of(odd, conditions)
    seen["accepted" if refusal is None else "refused"] += 1
    seen[f"{place}: told apart"] += told_apart
    if told_apart:
        assert refusal is not None, f"seed {seed}, {place}\n{changed}"
        assert name in refusal, f"{refusal}\n{changed}"
        assert "\n" not in refusal


def refusal_of(model: Model, conditions: Mapping[str, Node]) -> str | None:
    """Return why a model is refused."""
    try:
        symmetry_for(model, conditions)
    except UserError as refusal:
        return str(refusal)
    return None


def examined(seeds: Iterable[int], place: str) -> Counter[str]:
    """Return what came of the models of some seeds."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        judged(seed, place, seen)
    return seen


@pytest.mark.slow_for("guard", "update")
@pytest.mark.parametrize("place", PLACES)
def test_a_member_singled_out_is_refused_by_name(place: str) -> None:
    seen = examined(range(4), place)
    assert seen[f"{place}: told apart"] >= 2, seen


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("place", PLACES)
def test_members_singled_out_in_many_models(place: str) -> None:
    seen = examined(range(10, 130), place)
    assert seen[f"{place}: told apart"] >= 15, seen
