"""How a node of Kafka has ended that nobody has ended, in words."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

__all__ = ["how_it_ended"]

_BY_SIGNAL = 128
_SIGNALS = {int(one) for one in signal.Signals}
_FAULT = re.compile(r" (ERROR|FATAL) |^(Exception in thread|Caused by|Error: |[\w.$]+(Exception|Error)\b)")
"""A line that says what went wrong; other lines may name an exception as well, such as a setting that is deprecated."""


def how_it_ended(code: int, written: Sequence[str]) -> str:
    """Return how a node ended that nobody has ended, and what is known of the reason.

    Args:
        code: its exit code; below 0, or above 128, it is the number of a signal.
        written: the lines that it has written.
    """
    number = -code if code < 0 else code - _BY_SIGNAL
    if number in _SIGNALS:
        reason = "as the system does where memory is short" if number == signal.SIGKILL else "by somebody else"
        name = signal.Signals(number).name
        return f"was ended by {name}, {reason}. Start it again when nobody else ends it, and memory is free."
    fault = next((line.strip() for line in written if _FAULT.search(line)), "")
    said = fault or (written[-1].strip() if written else "")
    return f"has ended with exit code {code}. {f'It says: {said[:300]}' if said else 'It says nothing.'}"
