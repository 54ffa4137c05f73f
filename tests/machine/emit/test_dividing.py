"""Division by a constant: the product and shift that stand for it, and what machine code makes of all of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.machine.emit.lowering import product_and_shift


@pytest.mark.parametrize("n", range(1, 40))
def test_every_small_number_is_divided_rightly(n: int) -> None:
    for most in (0, 1, n - 1, n, 5 * n + 1, 300):
        found = product_and_shift(n, most)
        assert found is not None
        m, s = found
        assert all(x * m >> s == x // n for x in range(most + 1))


@given(st.integers(1, 2**62), st.integers(0, 2**62), st.data())
def test_large_numbers_are_divided_rightly_where_they_can_be(n: int, most: int, data: st.DataObject) -> None:
    found = product_and_shift(n, most)
    if found is not None:
        m, s = found
        assert most * m < 2**63
        ends = st.sampled_from([0, most, most // n * n, max(most // n * n - 1, 0)])
        for x in (most, data.draw(st.integers(0, most)), data.draw(ends)):
            assert x * m >> s == x // n


def test_all_numbers_of_thirty_bits_are_divided_by_a_product() -> None:
    assert all(product_and_shift(n, 2**30) for n in (*range(1, 2000), 2**29 + 1, 2**30 - 1))
    assert product_and_shift(7, 2**62) is None
    assert (product_and_shift(1, 2**63 - 1), product_and_shift(1, 2**63)) == ((1, 0), None), "63 bits and no more"
