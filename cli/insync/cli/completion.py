"""Shell completion: models, their properties and actions, entries of the catalogue, trace files.

It uses click's protocol (see "Shell Completion" in its documentation). Facts about a model come from its class, which
is imported for that; nothing is traced, and neither LLVM nor z3 is loaded.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class

from insync.model import Model
from insync.model.catalogue import BUILT_IN
from insync.runtime.text import in_one_line

__all__ = [
    "MODEL_KEY",
    "Completion",
    "begin_completing",
    "complete_actions",
    "complete_defects",
    "complete_from",
    "complete_lemmas",
    "complete_models",
    "complete_models_and_traces",
    "complete_properties",
    "complete_traces",
    "complete_traces_and_defects",
    "file_names",
    "names",
]

MODEL_KEY = "insync.model"
"""The key of the model's class in the context of a command."""

Completion = CompletionItem
"""One completion; the class is generic in some releases of click."""

Completing = Callable[[click.Context, click.Parameter, str], list[Completion]]

_TRACE_BEGINS = ("insync-trace/", 200)  # occurs within the first 200 bytes of a trace file


def begin_completing() -> None:
    """Register the completion for bash; called only in processes that a shell starts for completion."""
    add_completion_class(_Bash)


_SPACE = r"\\ "  # the shell function of click removes one of the backslashes
_TAKEN = "COMPREPLY+=($value)"
_SPACELESS = "            [[ $value == */ ]] && compopt -o nospace"


class _Bash(BashComplete):
    """Completion for bash, which splits words at `:` and `=` as well and replaces only the last part.

    No space is added after a folder.
    """

    source_template = BashComplete.source_template.replace(_TAKEN, f"{_TAKEN}\n{_SPACELESS}")
    _begun = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        whole: list[str] = []
        for part in (*args, incomplete):
            if whole and (part[:1] in _BREAKS or whole[-1][-1:] in _BREAKS):
                whole[-1] += part
            else:
                whole.append(part)
        self._begun = "".join(whole[-1].rpartition(":")[:2])
        return whole[:-1], whole[-1]

    def format_completion(self, item: Completion) -> str:
        value = str(item.value).removeprefix(self._begun)
        return f"{item.type},{value.replace(' ', _SPACE)}"


_BREAKS = (":", "=")


def names(known: Iterable[str], incomplete: str) -> list[Completion]:
    """Return the names with a prefix, except those with control characters or line breaks."""
    return [CompletionItem(name) for name in known if name.startswith(incomplete) and name == in_one_line(name)]


def file_names(incomplete: str) -> list[Completion]:
    """Return a request that the shell completes names of files."""
    return [CompletionItem(incomplete, type="file")]


def complete_models(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
    """Return the built-in models, and for a Python file its classes that look like models."""
    path, colon, beginning = incomplete.rpartition(":")
    if colon and path.endswith(".py"):
        return names((f"{path}:{name}" for name in _classes(path)), f"{path}:{beginning}")
    return [*names(BUILT_IN, incomplete), *_entries(incomplete, _models_in)]


def _classes(file: str) -> Iterator[str]:
    """Yield the classes of a file whose bases look like models, without running it."""
    try:
        text = Path(file).expanduser().read_bytes()
        tree = ast.parse(text if b"Model" in text else b"")
    except (OSError, SyntaxError, ValueError):
        return
    known: set[str] = set()
    for node in tree.body:
        bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases} if isinstance(node, ast.ClassDef) else ()
        if isinstance(node, ast.ClassDef) and any(base in known or base.endswith("Model") for base in bases):
            known.add(node.name)
            yield node.name


def _models_in(file: str) -> list[str]:
    return [f"{file}:{name}" for name in _classes(file)] if file.endswith(".py") else []


def complete_traces(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
    """Return the trace files and folders in a folder."""
    return [*_entries(incomplete, _if_trace)]


def _if_trace(file: str) -> list[str]:
    mark, size = _TRACE_BEGINS
    try:
        with open(os.path.expanduser(file), "rb") as content:
            return [file] if mark.encode() in content.read(size) else []
    except OSError:
        return []


def _entries(incomplete: str, offered: Callable[[str], Iterable[str]]) -> Iterator[Completion]:
    """Yield `offered` of each file with a path prefix, and the folders; hidden ones are left out."""
    folder, beginning = os.path.split(incomplete)
    try:
        entries = sorted(os.scandir(os.path.expanduser(folder) or "."), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if not entry.name.startswith(beginning) or (entry.name.startswith(".") and not beginning):
            continue
        if entry.name != in_one_line(entry.name):  # it has control characters or line breaks
            continue
        path = os.path.join(folder, entry.name)
        if entry.is_dir():
            yield CompletionItem(f"{path}/")
        else:
            yield from map(CompletionItem, offered(path))


def complete_properties(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
    """Return the properties of the command's model, and `none` if the option may be repeated."""
    from insync.properties.registry import run_properties_of, sentences_of

    kind: type[Model] | None = ctx.meta.get(MODEL_KEY)
    if kind is None:
        return []
    if ctx.info_name == "liveness":
        return names(run_properties_of(kind), incomplete)
    return names([*sentences_of(kind()), *(["none"] if param.multiple else [])], incomplete)


def complete_lemmas(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
    """Return the lemmas of the command's model, and `all`."""
    from insync.properties.registry import lemmas_of

    kind: type[Model] | None = ctx.meta.get(MODEL_KEY)
    return [] if kind is None else names([*lemmas_of(kind()), "all"], incomplete)


def complete_actions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
    """Return the actions of the command's model."""
    from insync.model.language.declarations import action_specs

    kind: type[Model] | None = ctx.meta.get(MODEL_KEY)
    return [] if kind is None else names(action_specs(kind), incomplete)


def complete_models_and_traces(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
    """Return models, trace files and folders."""
    traces = [item for item in complete_traces(ctx, param, incomplete) if not str(item.value).endswith("/")]
    return [*complete_models(ctx, param, incomplete), *traces]


def complete_traces_and_defects(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
    """Return trace files, and the entries of the catalogue that have a trace."""
    from insync.kafka.defects import DEFECTS

    return [*complete_traces(ctx, param, incomplete), *names(DEFECTS, incomplete)]


def complete_defects(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
    """Return the entries of the catalogue."""
    from insync.kafka.defects import all_defects

    return names(all_defects(), incomplete)


def complete_from(known: Callable[[], Iterable[str]]) -> Completing:
    """Return a completion function for names that are computed when needed."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
        return names(known(), incomplete)

    return complete
