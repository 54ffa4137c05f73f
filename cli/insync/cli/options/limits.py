"""The limits of a search: each has one option, and what it stops differs from command to command."""

from __future__ import annotations

from insync.cli.options.groups import Decorator, gathered, option
from insync.cli.options.values import Seconds, Size, Whole
from insync.cli.show.figures import memory as show_memory
from insync.explorer.limits import Limits
from insync.machine.memory import resident_memory
from insync.model.errors import UserError

__all__ = ["limit_options", "require_more_than_now"]


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


def require_more_than_now(limit: int) -> None:
    """Raise UserError if the process takes more than `limit` bytes before the search begins."""
    if limit <= (taken := resident_memory()):
        message = (
            f"--memory: {show_memory(limit)} is too little, as insync takes {show_memory(taken)} before the search "
            f"begins; give more, such as {max(300, 2 * taken >> 20)}M."
        )
        raise UserError(message)
