from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.runtime.errors import UserError
from insync.runtime.text import in_one_line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x07\r\x9b\x7f\x00", r"\x07\x0d\x9b\x7f\x00"),
        ("\u202eabc\u2069\u2028\u200f\u061c", r"\u202eabc\u2069\u2028\u200f\u061c"),
        ("two\n\tlines, Ωμέγα, 日本, é, \\x1b", "two\n\tlines, Ωμέγα, 日本, é, \\x1b"),
    ],
)
def test_what_a_terminal_obeys_is_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert in_one_line(text) == shown.replace("\n", "\\n")
    assert str(UserError(text)) == shown
    assert UserError(text).args == (text,)


@given(st.text())
def test_no_control_character_and_no_mark_of_direction_is_left(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    for character in shown:
        assert character in "\n\t" or unicodedata.category(character) not in ("Cc", "Zl", "Zp")
        assert unicodedata.bidirectional(character) not in (
            "LRE",
            "RLE",
            "LRO",
            "RLO",
            "PDF",
            "LRI",
            "RLI",
            "FSI",
            "PDI",
        )
    assert len(in_one_line(text).splitlines()) <= 1
