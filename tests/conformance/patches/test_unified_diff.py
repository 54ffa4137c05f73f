"""Diffs: what is read, what is applied, and what is refused."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.conformance.patches.unified_diff import patched_text, read_diff
from insync.runtime.errors import UserError

BEFORE = "".join(f"line {number}\n" for number in range(1, 21))
AFTER = BEFORE.replace("line 4\n", "four\nand more\n").replace("line 17\n", "")


def diff_of(before: str, after: str, context: int = 1) -> str:
    lines = (before.splitlines(keepends=True), after.splitlines(keepends=True))
    return "".join(difflib.unified_diff(*lines, "a/core/A.java", "b/core/A.java", n=context))


def applied(before: str, diff: str) -> str:
    (file,) = read_diff(diff, "x.patch")
    return patched_text(before, file, "A.java")


def test_a_diff_gives_the_text_after() -> None:
    (file,) = read_diff("Why.\n\n" + diff_of(BEFORE, AFTER), "x.patch")
    assert (file.path, len(file.hunks)) == ("core/A.java", 2)
    assert patched_text(BEFORE, file, "A.java") == AFTER


def test_lines_may_have_moved() -> None:
    assert applied("new\n" * 7 + BEFORE, diff_of(BEFORE, AFTER)) == "new\n" * 7 + AFTER


def test_lines_that_stand_in_two_places_are_looked_for_as_far_away_as_those_before_them() -> None:
    before = "one\ntwo\nthree\np\nq\nr\nmid\np\nq\nr\nend\n"
    after = before.replace("two\n", "2\nand\n").replace("q\nr\nend", "Q\nr\nend")
    for more in range(1, 6):
        moved = "new\n" * more
        assert applied(moved + before, diff_of(before, after)) == moved + after


@given(st.sets(st.integers(1, 40), min_size=3), st.sampled_from([1, 3]))
def test_where_all_lines_are_alike_each_change_goes_where_the_diff_says(changed: set[int], context: int) -> None:
    before = "same\n" * 42
    after = "".join("same\nnew\n" if number in changed else "same\n" for number in range(42))
    assert applied(before, diff_of(before, after, context)) == after
    assert applied(after, diff_of(after, before, context)) == before


def test_lines_that_are_not_there_are_named() -> None:
    with pytest.raises(UserError, match=r"^A.java: the lines that the patch expects from line 3 on are not there"):
        applied(BEFORE.replace("line 4\n", "other\n"), diff_of(BEFORE, AFTER))


def test_lines_that_have_moved_must_stand_in_one_place() -> None:
    with pytest.raises(UserError, match=r"or in several places"):
        applied("new\n" + BEFORE + BEFORE, diff_of(BEFORE, AFTER))


@pytest.mark.parametrize("text", ["", "no diff\n", "--- a/x\n+++ b/x\n"])
def test_what_is_no_diff_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"^x.patch: expected a unified diff"):
        read_diff(text, "x.patch")


def test_a_hunk_that_is_cut_off_is_refused() -> None:
    with pytest.raises(UserError, match=r"^x.patch: line 3 says 2 lines before and 2 after; it has 1, 0"):
        read_diff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-one\n", "x.patch")


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=12), st.lists(st.sampled_from("abc"), min_size=1, max_size=12)
)
def test_what_difflib_writes_leads_from_one_text_to_the_other(before: list[str], after: list[str]) -> None:
    first, second = ("".join(f"{line}\n" for line in lines) for lines in (before, after))
    diff = diff_of(first, second, context=3)
    assert (applied(first, diff) if diff else first) == second
