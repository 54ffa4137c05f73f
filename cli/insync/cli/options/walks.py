"""Options of random walks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from insync.cli.options.task import Decorator, Option, Whole, gathered, option

if TYPE_CHECKING:
    from insync.explorer.search.walks import Walks

__all__ = ["walk_options"]


def walk_options(count: int, depth: int, deepest: int, *, strategies: bool = False) -> Decorator:
    """Return a decorator that adds `--walks`, `--depth` and `--seed`, which the command receives as `walks`.

    Args:
        count: the default of `--walks`.
        depth: the default of `--depth`, the most steps of a walk.
        deepest: the greatest value of `--depth`.
        strategies: whether to add `--strategy` and the options on abstract states.
    """
    more = {"strategy": _STRATEGY, **_ABSTRACT} if strategies else {}
    return gathered(
        "walks",
        _walks,
        count=_number("--walks", Whole(1), count, "How many walks to take."),
        depth=_number("--depth", Whole(1, deepest), depth, "Most steps of a walk."),
        seed=_number("--seed", Whole(0, (1 << 64) - 1), 0, "Of the random numbers: same seed, same walks."),
        **more,
    )


def _walks(**given: Any) -> Walks:
    """Return the settings of the walks.

    Raises:
        UsageError: there are too few walks for `--until-saturated`.
    """
    from insync.explorer.search.walks import Walks
    from insync.machine.walker import Strategy

    if "strategy" in given:
        given["strategy"] = Strategy(given["strategy"])
    patience, count = given.get("until_saturated"), given["count"]
    if patience is not None and patience >= count:
        message = (
            f"--until-saturated {patience} cannot come about in --walks {count}, as the first walk always sees a new "
            f"abstract state; give a lower number, or more walks."
        )
        raise click.UsageError(message)
    return Walks(**given)


_STRATEGIES = ("mixed", "names", "tastes", "uniform")
"""The members of `Strategy`, whose module would be imported for them."""

_STRATEGY = option(
    "--strategy",
    type=click.Choice(_STRATEGIES),
    default=_STRATEGIES[0],
    show_default=True,
    help="How walks choose among the enabled actions.",
)

_ABSTRACT = {
    "abstract_states": option(
        "--abstract-states",
        is_flag=True,
        help="Count the abstract states that the walks see, by what the model's `abstraction` names.",
    ),
    "until_saturated": option(
        "--until-saturated",
        type=Whole(1),
        metavar="N",
        help="End after N walks in a row without a new abstract state, and count these.",
    ),
}


def _number(name: str, values: Whole, default: int, words: str) -> Option:
    return option(name, type=values, default=default, show_default=True, metavar="N", help=words)
