"""How a process of Java has ended that nobody has ended, in words."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

__all__ = ["by_signal", "how_it_ended"]

_BY_SIGNAL = 128
_SIGNALS = {int(one) for one in signal.Signals}
_FAULT = re.compile(r" (ERROR|FATAL) |^(Exception in thread|Caused by|Error: |[\w.$]+(Exception|Error)\b)")
"""A line that says what went wrong; other lines may name an exception as well, such as a setting that is deprecated."""


def by_signal(code: int) -> signal.Signals | None:
    """Return the signal that ended a process, which its exit code names below 0 or above 128; None if none did."""
    number = -code if code < 0 else code - _BY_SIGNAL
    return signal.Signals(number) if number in _SIGNALS else None


def how_it_ended(code: int, written: Sequence[str]) -> str:
    """Return how a process ended that insync did not end, and the probable reason.

    Args:
        code: its exit code.
        written: the lines that it has written.
    """
    if number := by_signal(code):
        reason = "as the system does where memory is short" if number is signal.SIGKILL else "by somebody else"
        return f"was ended by {number.name}, {reason}. Start it again when nobody else ends it, and memory is free."
    fault = next((line.strip() for line in written if _FAULT.search(line)), "")
    said = fault or (written[-1].strip() if written else "")
    return f"has ended with exit code {code}. {f'It says: {said[:300]}' if said else 'It says nothing.'}"
