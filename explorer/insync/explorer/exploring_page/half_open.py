"""Connections to the page's server whose request has not arrived: they are few, and none of them is there for long.

A request that never ends costs its sender nothing. Without a limit, some such connections fill a server until it
answers nobody else (the attack called Slowloris). So the headers of a request have a time to arrive in, and where too
many connections wait for theirs, the one that has waited longest is closed for the new one.
"""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["HalfOpen"]

_MOST = 256  # many fewer than the files that a process may open, which is 1,024 as a rule
_SECONDS = 10.0  # a browser on this machine sends its headers at once

Address = tuple[str, int]


class HalfOpen:
    """The connections that wait for a request, by the address of their other end, the oldest first.

    Args:
        most: how many there may be.
        seconds: how long each may wait.
    """

    def __init__(self, most: int = _MOST, seconds: float = _SECONDS) -> None:
        self._most, self._seconds = most, seconds
        self._waiting: dict[Address, tuple[asyncio.Transport, asyncio.TimerHandle]] = {}

    def began(self, transport: asyncio.Transport) -> None:
        """Note a new connection, and close the oldest one that waits if there are too many."""
        address = _other_end(transport)
        if address is None:  # it is gone by now
            return
        if len(self._waiting) >= self._most:
            self._end(next(iter(self._waiting)))
        deadline = asyncio.get_running_loop().call_later(self._seconds, self._end, address)
        self._waiting[address] = (transport, deadline)

    def arrived(self, address: Any) -> None:
        """Note that a request has arrived on a connection, or that it has ended."""
        waiting = self._waiting.pop(tuple(address), None) if address is not None else None
        if waiting is not None:
            waiting[1].cancel()

    def ended(self, transport: asyncio.Transport) -> None:
        """Note that a connection has ended."""
        self.arrived(_other_end(transport))

    def _end(self, address: Address) -> None:
        transport, deadline = self._waiting.pop(address)
        deadline.cancel()
        transport.abort()


def _other_end(transport: asyncio.Transport) -> Address | None:
    found = transport.get_extra_info("peername")
    return None if found is None else (str(found[0]), int(found[1]))
