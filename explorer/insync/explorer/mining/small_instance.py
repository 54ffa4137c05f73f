"""A model at small bounds, where candidates for lemmas are tried before z3 is asked about large ones."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from insync.explorer.check import check
from insync.explorer.limits import Limits
from insync.model import Model
from insync.proofs.houdini import Dropped
from insync.properties.invariants import Invariant, names_within
from insync.properties.registry import confined

__all__ = ["refuted_candidates", "small_bounds", "small_instance"]


def small_bounds(model: Model) -> dict[str, int]:
    """Return bounds at which the model can be searched: each at most its default."""
    return {name: min(getattr(model.b, name), bound.default) for name, bound in model.bounds.items()}


def small_instance(model: Model, bounds: Mapping[str, int] | None = None) -> Model:
    """Return the model under other bounds, with the settings that it has; None is `small_bounds`."""
    small = type(model)(**{**model.identity, **(small_bounds(model) if bounds is None else bounds)})
    return confined(small, names_within(model))


def refuted_candidates(
    model: Model,
    candidates: Sequence[Invariant],
    *,
    bounds: Mapping[str, int] | None = None,
    seconds: float = 60,
    stop: threading.Event | None = None,
) -> list[Dropped]:
    """Return the candidates that fail in some reachable state of the model at small bounds.

    Args:
        model: the model; its class is searched, under other bounds.
        candidates: properties and lemmas alike.
        bounds: what to search; None is `small_bounds`.
        seconds: when to stop. A search that is not complete refutes what it found and says nothing of the rest.
        stop: ends the search when it is set.

    There are none if the small model has more initial states than a search can begin with: z3 refutes them as well.
    """
    small = small_instance(model, bounds)
    if not small.program.initials.enumerated:
        return []
    names = [candidate.name for candidate in candidates]
    result = check(small, properties=names, limits=Limits(seconds=seconds), keep_going=True, symmetry=False, stop=stop)
    where = f"a reachable state ({', '.join(f'{name} {value}' for name, value in small.identity.items())})"
    return [Dropped(v.property, where, v.trace.reason) for v in result.violations if v.property in names]
