"""A disk that loses power: what a folder may hold then, given what was written, flushed, renamed and removed by now.

A file that was flushed has what it had at that time. One that was written since may have all of it, a part of it, zeros
or nothing. A name is what it was when the folder was flushed, or what it became since: each by itself.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

__all__ = ["LosingDisk"]

Forgets = Callable[[str], bool]


@dataclass
class LosingDisk:
    """Watches what a process does to one folder and those in it, by the calls of `os`.

    That these folders are there is taken to survive; the files in them may not.

    Args:
        folder: the folder.
        forgets: says of what is flushed, the name of a file, or of a folder with a slash at its end, whether the flush
            is lost, too.
        after: is called after each call, with this disk.

    Attributes:
        calls: what was done, in order: "open", "flush", "rename" or "remove", and a name.
    """

    folder: Path
    forgets: Forgets = lambda name: False
    after: Callable[[LosingDisk], None] = lambda disk: None
    calls: list[tuple[str, str]] = field(default_factory=list)
    _files: dict[int, str | int] = field(default_factory=dict)  # by descriptor: a folder, or the number of a file
    _names: dict[str, int] = field(default_factory=dict)
    _flushed: dict[int, bytes] = field(default_factory=dict)
    _kept_names: dict[str, int] = field(default_factory=dict)
    _count: int = 0

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Begin, until the patch is undone."""
        opened, replaced, removed = os.open, os.replace, os.unlink

        def named(path: str | Path) -> str:
            return Path(path).relative_to(self.folder).as_posix()

        def open_it(path: str | Path, flags: int, *given: object, **more: object) -> int:
            descriptor = opened(path, flags, *given, **more)  # type: ignore[arg-type]
            self._files.pop(descriptor, None)
            if not Path(path).is_relative_to(self.folder):
                return descriptor
            name = named(path)
            if flags & os.O_DIRECTORY:
                self._files[descriptor] = f"{name}/"
            elif flags & os.O_CREAT and name != "lock":
                self._count += 1
                self._files[descriptor] = self._names[name] = self._count
                self._did("open", name)
            elif name in self._names:
                self._files[descriptor] = self._names[name]
            return descriptor

        def flush_it(descriptor: int) -> None:
            file = self._files.get(descriptor)
            if file is None:
                return
            name = file if isinstance(file, str) else next(name for name, at in self._names.items() if at == file)
            if not self.forgets(name):
                if isinstance(file, str):
                    inside = {*self._names, *self._kept_names}
                    for each in (each for each in inside if f"{Path(each).parent}/" == name):
                        if each in self._names:
                            self._kept_names[each] = self._names[each]
                        else:
                            del self._kept_names[each]
                else:
                    self._flushed[file] = (self.folder / name).read_bytes()
            self._did("flush", name)

        def replace_it(source: Path, target: Path) -> None:
            replaced(source, target)
            if Path(target).is_relative_to(self.folder):
                self._names[named(target)] = self._names.pop(named(source))
                self._did("rename", named(target))

        def remove_it(path: Path, **more: object) -> None:
            removed(path, **more)  # type: ignore[arg-type]
            if Path(path).is_relative_to(self.folder) and self._names.pop(named(path), None) is not None:
                self._did("remove", named(path))

        for name, patched in (("open", open_it), ("fsync", flush_it), ("replace", replace_it), ("unlink", remove_it)):
            patch.setattr(os, name, patched)

    def image(self, place: Path, drawn: random.Random) -> Path:
        """Write what the folder may hold if the power is lost now, to a new folder."""
        place.mkdir()
        share = drawn.choice([0.0, 0.5, 1.0])  # of the names that have become what they are now
        for name in sorted({*self._names, *self._kept_names}):
            file = (self._names if drawn.random() < share else self._kept_names).get(name)
            if file is not None:
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(self._content(file, drawn))
        return place

    def _content(self, file: int, drawn: random.Random) -> bytes:
        if file in self._flushed:
            return self._flushed[file]
        name = next((name for name, each in self._names.items() if each == file), None)
        content = b"" if name is None else (self.folder / name).read_bytes()
        return drawn.choice([b"", content[: len(content) // 2], bytes(len(content)), content])

    def _did(self, what: str, name: str) -> None:
        self.calls.append((what, name))
        self.after(self)
