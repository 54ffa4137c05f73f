"""The option `--watch`: run a command again whenever its model's file, or a file that it imports, is saved."""

from __future__ import annotations

import ast
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from insync.cli.options.model import ModelCommand, first_look
from insync.cli.options.output import file_of_reference, outputs_of, refuse_same
from insync.cli.options.values import Decorator
from insync.cli.terminal import ExitCode, clear_status, emit_error, emit_status, has_status_line
from insync.explorer.documents.text import plural

__all__ = [
    "WatchedCommand",
    "watch_option",
    "watched_files",
]


_LOOK_SECONDS = 0.1
_PATIENCE = 0.6  # seconds until a command that does not end is killed
_COMMAND = [sys.executable, "-P", "-c", "from insync.cli.start import main; main()"]

Stamps = dict[Path, tuple[int, int, int] | None]


def watched_files(file: Path) -> set[Path]:
    """Return a file and all files in its folder that its imports may refer to, transitively.

    The files need not exist. Existing ones are parsed and not run; a syntax error hides the imports of a file.
    """
    folder, found, left = file.parent, set[Path](), [file]
    while left:
        each = left.pop()
        if each not in found:
            found.add(each)
            left += [module for name in _imported(each) for module in _modules(folder, name)]
    return found


def _imported(file: Path) -> Iterator[str]:
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _modules(folder: Path, name: str) -> Iterator[Path]:
    """Yield the files that a module and its packages may have below a folder."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        path = folder.joinpath(*parts[:count])
        yield from (path.with_name(path.name + ".py"), path / "__init__.py")


def rerun_when_saved(file: Path, arguments: Sequence[str]) -> int:
    """Run `insync` with some arguments, and again whenever a watched file is saved, until Ctrl-C.

    Each run is a process of its own, which imports the file anew. A running one is ended first.
    """
    process: subprocess.Popen[bytes] | None = None
    try:
        with _ended_in_order():
            while True:
                stamps = _stamps(watched_files(file))
                process = subprocess.Popen([*_COMMAND, *arguments], stdin=subprocess.DEVNULL)  # noqa: S603
                _wait(process, stamps)
                _end(process)
                if has_status_line():
                    emit_status("")  # overwrites the last status line of the process
                emit_error(f"\n{file.name} was saved: checking again.\n")
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    finally:
        clear_status()
        if process is not None:
            _end(process, told=True)


def _wait(process: subprocess.Popen[bytes], stamps: Stamps) -> None:
    """Wait until a file is saved, and show that after the process has ended."""
    said = False
    while _stamps(stamps) == stamps:
        time.sleep(_LOOK_SECONDS)
        if not said and process.poll() is not None:
            said = True
            there = plural(sum(stamp is not None for stamp in stamps.values()), "file")
            emit_status(f"Watching {there}; Ctrl-C ends it.")
    now = _stamps(stamps)
    while True:  # an editor may save in several steps
        time.sleep(_LOOK_SECONDS)
        before, now = now, _stamps(stamps)
        if before == now:
            return


def _stamps(files: Iterable[Path]) -> Stamps:
    return {file: _stamp(file) for file in files}


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _end(process: subprocess.Popen[bytes], told: bool = False) -> None:
    """End a process. If `told`, it has received the signal already, such as Ctrl-C from the terminal."""
    if not told:
        process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block for SIGTERM, so that its child processes are ended."""

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# The option.


_OPTION = "--watch"
_WATCHED = "insync.watched"


class WatchedCommand(ModelCommand):
    """A command about a model with the option `--watch`.

    With the option the rest of the command line is not parsed here: each run reports mistakes in it and in the model,
    and the user can save the file again.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if _OPTION not in args or ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        look = first_look(self, args)
        if look.help:
            return super().parse_args(ctx, args)
        path, colon, _ = (look.model or "").rpartition(":")
        if not colon or not path.endswith(".py"):
            given = "no model is named" if look.model is None else f"{look.model} has none of yours"
            message = f"{_OPTION} waits for a file to be saved, and {given}. Name path/to/file.py:ModelName."
            raise click.UsageError(message, ctx)
        refuse_same(outputs_of(self, look.values), file_of_reference(look.model or ""), ctx)
        ctx.meta[_WATCHED] = (Path(path), [argument for argument in args if argument != _OPTION])
        return []

    def invoke(self, ctx: click.Context) -> object:
        if _WATCHED not in ctx.meta:
            return super().invoke(ctx)
        file, arguments = ctx.meta[_WATCHED]
        return rerun_when_saved(file, [*ctx.command_path.split()[1:], *arguments])


def watch_option() -> Decorator:
    """Return a decorator that adds the option to a `WatchedCommand`."""
    option: Decorator = click.option(
        _OPTION,
        is_flag=True,
        expose_value=False,
        help="Run again whenever the model's file, or what it imports from its folder, is saved; until Ctrl-C.",
    )
    return option
