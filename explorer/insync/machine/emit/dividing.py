"""Division by a constant as a product and a shift: processors divide slowly, and vectors of numbers not at all."""

from __future__ import annotations

__all__ = ["product_and_shift"]


def product_and_shift(n: int, most: int) -> tuple[int, int] | None:
    """Return m and s such that `x // n` is `(x * m) >> s` for all x from 0 to `most`, and `x * m` stays below 2^63.

    With m = 2^s / n, rounded up by e / n, the product is too large by x * e / n. Its quotient is right as long as that
    does not reach the next multiple, which is at least 2^s / n away: so as long as x * e is less than 2^s.

    Args:
        n: the divisor, from 1.
        most: the largest number that is divided, not negative.

    Returns:
        None where no such product fits: the numbers are too large.
    """
    for s in range(63):
        m = -(-(1 << s) // n)
        if most * m >= 1 << 63:
            return None
        if most * (m * n - (1 << s)) < 1 << s:
            return m, s
    return None
