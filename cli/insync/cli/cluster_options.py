"""The options for the bounds of the cluster model: names where a bound has names, numbers elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from insync.cli.values import Whole
from insync.kafka.cluster.settings import BOUNDS

__all__ = ["cluster_options"]


def cluster_options(*left_out: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds an option for every bound of the cluster but these; an unused one gives None."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for name, bound in reversed(list(BOUNDS.items())):
            if name not in left_out:
                kind = click.Choice(bound.names) if bound.names else Whole(bound.lowest, bound.highest)
                default = bound.show(bound.default)
                option = click.option(
                    f"--{name.replace('_', '-')}", name, type=kind, help=f"{bound.doc} [default: {default}]"
                )
                command = option(command)
        return command

    return add
