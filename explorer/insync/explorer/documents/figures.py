"""Numbers for people: with thousands separators, units of memory and time, and nouns."""

from __future__ import annotations

from insync.explorer.tables import plural

__all__ = ["brief", "count", "memory", "plural", "rate", "seconds"]


def count(number: int) -> str:
    """Return a whole number with thousands separators: 737,794."""
    return f"{number:,}"


def brief(number: float) -> str:
    """Return a number in about three digits: 950, 64.2 k, 1.9 M, 25.0 G."""
    for factor, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= factor * 0.9995:
            return f"{number / factor:.{0 if number >= 100 * factor else 1}f}{letter}"
    return f"{number:.0f}"


def memory(size: int) -> str:
    """Return a number of bytes in MiB or GiB."""
    return f"{size / (1 << 20):.0f} MiB" if size < 1 << 30 else f"{size / (1 << 30):.2f} GiB"


def seconds(time: float) -> str:
    """Return a time with the digits that matter: 0.21 s, 12.3 s, 5 min 20 s, 2 h 05 min."""
    if time < 10:
        return f"{time:.2f} s"
    if time < 120:
        return f"{time:.1f} s"
    whole = round(time)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def rate(number: float, noun: str) -> str:
    """Return a number per second: 18.2 million states/s, 950,000 states/s."""
    return f"{number / 1e6:.1f} million {noun}/s" if number >= 1e6 else f"{number:,.0f} {noun}/s"
