"""Unified diffs, as `git diff` and `diff -u` write them, applied to texts: every line of context must be there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from insync.runtime.errors import UserError

__all__ = ["FileDiff", "Hunk", "patched_text", "read_diff"]

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that stand together.

    Attributes:
        line: the number of the first of them in the text before.
        old: the lines before.
        new: the lines after.
    """

    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What changes in one file.

    Attributes:
        path: the file, without the first folder, `a` or `b`.
        hunks: what changes, from the top.
    """

    path: str
    hunks: tuple[Hunk, ...]


def read_diff(text: str, place: str) -> tuple[FileDiff, ...]:
    """Return what a diff changes; what comes before the first file is a comment.

    Args:
        text: the diff.
        place: what messages call it.

    Raises:
        UserError: it is no diff, or one that makes or removes files.
    """
    lines = text.splitlines()
    files: list[FileDiff] = []
    number = 0
    while number < len(lines):
        if lines[number].startswith("--- ") and number + 1 < len(lines) and lines[number + 1].startswith("+++ "):
            path = lines[number + 1].removeprefix("+++ ").split("\t")[0].partition("/")[2]
            number += 2
            hunks: list[Hunk] = []
            while number < len(lines) and (match := _HUNK.match(lines[number])):
                hunk, number = _hunk(lines, number, match, place)
                hunks.append(hunk)
            files.append(FileDiff(path, tuple(hunks)))
        else:
            number += 1
    if not files or not all(file.hunks for file in files):
        message = f"{place}: expected a unified diff, as `git diff` writes it, with something to change in each file."
        raise UserError(message)
    return tuple(files)


def _hunk(lines: Sequence[str], start: int, match: re.Match[str], place: str) -> tuple[Hunk, int]:
    left, right = (int(count) if count else 1 for count in (match[2], match[3]))
    old: list[str] = []
    new: list[str] = []
    number = start + 1
    while (len(old) < left or len(new) < right) and number < len(lines):
        mark, line = lines[number][:1], lines[number][1:]
        if mark not in ("", " ", "-", "+"):
            break
        if mark != "+":
            old.append(line)
        if mark != "-":
            new.append(line)
        number += 1
    if (len(old), len(new)) != (left, right):
        message = (
            f"{place}: line {start + 1} says {left} lines before and {right} after; it has {len(old)}, {len(new)}."
        )
        raise UserError(message)
    return Hunk(int(match[1]), tuple(old), tuple(new)), number


def patched_text(text: str, diff: FileDiff, place: str) -> str:
    """Return a text with a diff applied; a hunk may have moved, if its lines stand in one place alone.

    Args:
        text: the text before.
        diff: what changes.
        place: what messages call the text.

    Raises:
        UserError: lines that the diff expects are not there.
    """
    lines = text.splitlines()
    moved = 0
    for hunk in diff.hunks:
        at = _found(lines, hunk, hunk.line - 1 + moved)
        if at is None:
            message = (
                f"{place}: the lines that the patch expects from line {hunk.line} on are not there, or in several "
                "places. Name the release that it is for."
            )
            raise UserError(message)
        lines[at : at + len(hunk.old)] = hunk.new
        moved = at - (hunk.line - 1) + len(hunk.new) - len(hunk.old)
    return "\n".join(lines) + "\n"


def _found(lines: Sequence[str], hunk: Hunk, expected: int) -> int | None:
    size = len(hunk.old)

    def stands(at: int) -> bool:
        return tuple(lines[at : at + size]) == hunk.old

    if expected >= 0 and stands(expected):
        return expected
    places = [at for at in range(len(lines) - size + 1) if stands(at)]
    return places[0] if len(places) == 1 else None
