"""The limits of a search: each has one option, and what it stops differs from command to command."""

from __future__ import annotations

from insync.cli.options.groups import Decorator, gathered, option
from insync.cli.options.values import Seconds, Size, Whole
from insync.explorer.limits import Limits

__all__ = ["limit_options"]


def limit_options(
    *,
    depth: str | None = None,
    states: str | None = None,
    seconds: str | None = None,
    memory: str | None = None,
) -> Decorator:
    """Return a decorator that gives a command limits, which it gets as `limits`.

    Args:
        depth: what --max-depth does, as the help text says it; None leaves the option out, here and below.
        states: what --max-states does.
        seconds: what --max-seconds does.
        memory: what --memory does.
    """
    sentences = {"depth": depth, "states": states, "seconds": seconds, "memory_bytes": memory}
    known = {
        "depth": option("--max-depth", type=Whole(1), metavar="N", help=depth),
        "states": option("--max-states", type=Whole(1), metavar="N", help=states),
        "seconds": option("--max-seconds", type=Seconds(), metavar="S", help=seconds),
        "memory_bytes": option("--memory", type=Size(), metavar="SIZE", help=memory),
    }
    return gathered("limits", Limits, **{name: known[name] for name, said in sentences.items() if said is not None})
