"""Ports of this machine that a cluster can have."""

from __future__ import annotations

import random
import socket

from insync.runtime.errors import UserError

__all__ = ["LOOPBACK", "free_ports"]

LOOPBACK = "127.0.0.1"
"""The one address that anything listens on here."""

_LOWEST, _HIGHEST = 20000, 32000
"""Above these a port may be taken at any time by a connection that goes out."""
_TRIES = 50


def free_ports(count: int, first: int | None = None) -> list[int]:
    """Return consecutive ports on which no program listens.

    Args:
        count: the number of ports.
        first: the first of them; None looks for some.

    Raises:
        UserError: one of those asked for is taken, or there are none.
    """
    if first is not None:
        if not 1024 <= first <= 65536 - count:
            message = f"--port {first} is out of range: give a number from 1024 to {65536 - count}."
            raise UserError(message)
        ports = list(range(first, first + count))
        taken = next((port for port in ports if not _is_free(port)), None)
        if taken is not None:
            message = (
                f"Port {taken} of this machine is taken, and the cluster needs those from {first} to {ports[-1]}. "
                "Give --port another first one, or leave it out."
            )
            raise UserError(message)
        return ports
    for _ in range(_TRIES):
        start = random.randrange(_LOWEST, _HIGHEST - count)
        ports = list(range(start, start + count))
        if all(map(_is_free, ports)):
            return ports
    message = f"No {count} ports in a row from {_LOWEST} to {_HIGHEST} are free on this machine. Give --port PORT."
    raise UserError(message)


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
