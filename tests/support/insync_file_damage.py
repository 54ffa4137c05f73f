"""Damage to the files of a folder, by a seed: bytes and lines that change, and files that are cut, swapped or replaced.

A test copies a folder, damages the copy, and reads it: see `Trial`. Each damage changes what is read from some file.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from insync.runtime.errors import UserError

__all__ = ["Damage", "Trial", "damages"]


@dataclass(frozen=True, slots=True)
class Damage:
    """A change to one or two files of a folder.

    Attributes:
        said: what is done, for the message of a test that fails.
        files: the names of the files that change, relative to the folder.
        inflict: changes them, given the folder.
        whole: whether they are whole files from elsewhere, which others may contradict: any file may be blamed then.
    """

    said: str
    files: tuple[str, ...]
    inflict: Callable[[Path], object]
    whole: bool = False


def damages(folder: Path, seed: int, count: int, others: Sequence[Path] = ()) -> Iterator[Damage]:
    """Draw damages to the files of a folder; the same seed draws the same.

    Files whose names differ in digits only are of one kind. All kinds are drawn equally often.

    Args:
        folder: a folder that stays as it is.
        seed: of the draw.
        count: how many damages.
        others: folders of the same kind, such as those of other runs, whose files may be put in the place of these.
    """
    drawn = random.Random(seed)
    names = _names(folder)
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(re.sub(r"\d+", "#", name), []).append(name)
    made = 0
    while made < count:
        name = drawn.choice(drawn.choice(list(kinds.values())))
        damage = drawn.choice(_WAYS)(_Draw(drawn, folder, name, others))
        if damage is not None:
            made += 1
            yield damage


@dataclass(slots=True)
class Trial:
    """Reads damaged copies of a folder: each is refused with a sentence, or gives what the whole folder gives.

    Args:
        folder: what is copied; it stays as it is.
        scratch: a folder for the copies.
        read: reads a copy, and returns what is compared.
        matters: says of a file by its name whether it has to be refused when it has changed.

    Attributes:
        expected: what the folder gives that is not damaged.
        outcomes: how many copies were `refused`, and how many gave the `same`.
    """

    folder: Path
    scratch: Path
    read: Callable[[Path], object]
    matters: Callable[[str], bool]
    expected: object = None
    outcomes: Counter[str] = field(default_factory=Counter)
    _copies: int = 0

    def __post_init__(self) -> None:
        self.expected = self.read(self._copy())

    def attempt(self, damage: Damage) -> None:
        """Read a damaged copy.

        Raises:
            AssertionError: it is accepted although a file that matters has changed, or the sentence names no such file.
            Exception: whatever else reading raises, which is a fault, too.
        """
        copy = self._copy()
        damage.inflict(copy)
        try:
            found = self.read(copy)
        except UserError as error:
            self._require_sentence(damage, copy, str(error))
            self.outcomes["refused"] += 1
        else:
            assert found == self.expected, damage.said
            assert not any(map(self.matters, damage.files)), f"accepted: {damage.said}"
            self.outcomes["same"] += 1
        shutil.rmtree(copy)

    def _require_sentence(self, damage: Damage, copy: Path, message: str) -> None:
        """Require one line that names a file which has changed, or one that a file from elsewhere contradicts."""
        assert "\n" not in message, (damage.said, message)
        names = [*damage.files, *([f"{copy}/"] if damage.whole else [])]
        assert any(name in message for name in names), (damage.said, message)

    def _copy(self) -> Path:
        self._copies += 1
        return shutil.copytree(self.folder, self.scratch / f"copy-{self._copies}")


def _names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@dataclass(frozen=True, slots=True)
class _Draw:
    """The file that a damage is drawn for."""

    drawn: random.Random
    folder: Path
    name: str
    others: Sequence[Path]

    @property
    def content(self) -> bytes:
        return (self.folder / self.name).read_bytes()

    def range(self) -> tuple[int, int]:
        """Draw a range of bytes, which is empty in an empty file: some are few, some are a sector of a disk."""
        size = len(self.content)
        start = self.drawn.randrange(max(1, size))
        return start, min(size, start + self.drawn.choice([1, 2, 8, 16, 64, 512]))

    def written(self, said: str, content: bytes, whole: bool = False) -> Damage | None:
        """Return the damage that writes another content; None if it is the same."""
        name = self.name

        def inflict(folder: Path) -> None:
            (folder / name).write_bytes(content)

        return None if content == self.content else Damage(f"{said} of {name}", (name,), inflict, whole)


def _put(before: bytes, place: int, piece: bytes) -> bytes:
    return before[:place] + piece + before[place + len(piece) :]


def _flip(draw: _Draw) -> Damage | None:
    drawn, before = draw.drawn, draw.content
    if not before:
        return None
    size = len(before)
    near_start, near_end = drawn.randrange(min(size, 24)), size - 1 - drawn.randrange(min(size, 48))
    place, bit = drawn.choice([drawn.randrange(size), near_start, near_end]), drawn.randrange(8)
    return draw.written(f"flip bit {bit} of byte {place}", _put(before, place, bytes([before[place] ^ 1 << bit])))


def _overwrite(draw: _Draw) -> Damage | None:
    start, end = draw.range()
    piece = draw.drawn.choice([bytes(end - start), draw.drawn.randbytes(end - start)])
    return draw.written(f"overwrite bytes {start} to {end}", _put(draw.content, start, piece))


def _cut(draw: _Draw) -> Damage | None:
    size = len(draw.content)
    end = draw.drawn.choice([0, max(0, size - 1), draw.drawn.randrange(size + 1)])
    return draw.written(f"keep {end} bytes", draw.content[:end])


def _grow(draw: _Draw) -> Damage | None:
    before, some = draw.content, draw.drawn.randbytes(draw.drawn.randint(1, 600))
    more = draw.drawn.choice([b"\0", b"\n", some, before, before[-24:]])
    return draw.written(f"append {len(more)} bytes", before + more)


def _leave_out(draw: _Draw) -> Damage | None:
    start, end = draw.range()
    return draw.written(f"leave out bytes {start} to {end}", draw.content[:start] + draw.content[end:])


def _repeat(draw: _Draw) -> Damage | None:
    start, end = draw.range()
    return draw.written(f"repeat bytes {start} to {end}", draw.content[:end] + draw.content[start:])


def _swap_ranges(draw: _Draw) -> Damage | None:
    drawn, before = draw.drawn, draw.content
    sizes = [size for size in (1, 8, 24, 64, 512) if 2 * size <= len(before)]
    if not sizes:
        return None
    size = drawn.choice(sizes)
    first, second = (drawn.randrange(len(before) - size + 1) for _ in range(2))
    if abs(first - second) < size:
        return None
    content = _put(_put(before, first, before[second : second + size]), second, before[first : first + size])
    return draw.written(f"swap {size} bytes at {first} and {second}", content)


def _edit_text(draw: _Draw) -> Damage | None:
    """Change a text so that it often stays in its format: a number, a line, two lines."""
    drawn, before = draw.drawn, draw.content
    try:
        text = before.decode("ascii")
    except UnicodeDecodeError:
        return None
    lines, numbers = text.splitlines(keepends=True), list(re.finditer(r"(?<=[ \[])\d+", text))
    one, two = (drawn.randrange(max(1, len(lines))) for _ in range(2))
    if numbers and drawn.random() < 0.6:
        found = drawn.choice(numbers)
        other = drawn.choice(["0", "-1", str(int(found[0]) + 1), "null", "1e3", '"7"', "9" * 30, "9" * 5000, "true"])
        said, changed = f"write {other[:40]} for {found[0]}", text[: found.start()] + other + text[found.end() :]
    elif drawn.random() < 0.5:
        said, changed = f"leave out line {one}", "".join(lines[:one] + lines[one + 1 :])
    else:
        order = list(range(len(lines)))
        order[one : one + 1], order[two : two + 1] = order[two : two + 1], order[one : one + 1]
        said, changed = f"swap lines {one} and {two}", "".join(lines[line] for line in order)
    return draw.written(said, changed.encode())


def _replace(draw: _Draw) -> Damage | None:
    """Put another file in its place: of this folder, or of another one under the same or another name."""
    drawn, source = draw.drawn, draw.drawn.choice([draw.folder, *draw.others])
    there = _names(source)
    is_same_name = source is not draw.folder and draw.name in there and drawn.random() < 0.7
    other = draw.name if is_same_name else drawn.choice(there)
    return draw.written(f"put {source.name}/{other} in the place", (source / other).read_bytes(), whole=True)


def _exchange(draw: _Draw) -> Damage | None:
    name, other = draw.name, draw.drawn.choice(_names(draw.folder))
    if draw.content == (draw.folder / other).read_bytes():
        return None

    def inflict(folder: Path) -> None:
        first, second = (folder / name).read_bytes(), (folder / other).read_bytes()
        (folder / name).write_bytes(second)
        (folder / other).write_bytes(first)

    return Damage(f"exchange {name} and {other}", (name, other), inflict, whole=True)


def _something_else(draw: _Draw) -> Damage | None:
    """Leave no file there, or what is none: a folder, a link to nothing, to itself or to another file, a pipe."""
    name, other = draw.name, draw.drawn.choice(_names(draw.folder))
    ways = [
        "nothing",
        "a folder",
        "a link to nothing",
        "a link to itself",
        "a link to another",
        "a pipe",
        "a closed file",
    ]
    what = draw.drawn.choice(ways)
    if what == "a link to another" and draw.content == (draw.folder / other).read_bytes():
        return None
    if what == "a closed file" and os.geteuid() == 0:  # who may read every file
        return None

    def inflict(folder: Path) -> None:
        path = folder / name
        if what == "a closed file":
            path.chmod(0)
            return
        path.unlink()
        if what == "a folder":
            path.mkdir()
        elif what == "a pipe":
            os.mkfifo(path)
        elif what.startswith("a link"):
            targets = {"a link to nothing": folder / "gone", "a link to itself": path}
            path.symlink_to(targets.get(what, folder / other))

    return Damage(f"put {what} in the place of {name}", (name,), inflict, whole=what == "a link to another")


_WAYS: tuple[Callable[[_Draw], Damage | None], ...] = (
    *(_flip, _overwrite, _cut, _grow, _leave_out, _repeat, _swap_ranges),
    *(_edit_text, _edit_text, _edit_text, _replace, _replace, _exchange, _something_else),
)
