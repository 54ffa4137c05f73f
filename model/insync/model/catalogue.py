"""The catalogue: finds models by name, or in a user's own file."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import os
import re
import sys
import traceback
import zlib
from enum import Enum
from pathlib import Path
from types import ModuleType

from insync.model.define import Model
from insync.model.domains.sorts import Index, Range
from insync.model.domains.symbolic import cure_of_call
from insync.runtime.errors import UserError, closest

__all__ = ["BUILT_IN", "as_argument", "class_reference", "find_model", "is_in_file", "model_reference"]

BUILT_IN: dict[str, str] = {
    "truncate_to_high_watermark": "insync.kafka.published.replication:TruncateToHighWatermark",
    "kip101": "insync.kafka.published.replication:Kip101",
    "kip279": "insync.kafka.published.replication:Kip279",
    "kip320_first_try": "insync.kafka.published.replication:Kip320FirstTry",
    "kip320": "insync.kafka.published.replication:Kip320",
    "async_isr": "insync.kafka.published.async_isr:AsyncIsr",
    "kraft_published": "insync.kafka.published.quorum.kraft_published:KraftPublished",
    "kraft": "insync.kafka.quorum.kraft:Kraft",
    "cluster": "insync.kafka.cluster.model:Cluster",
    "placement": "insync.kafka.placement:Placement",
    "consumer_group": "insync.kafka.groups.consumer_group:ConsumerGroup",
}
"""Module and class of every model that comes with insync, by the model's name."""

_FORMER: dict[str, str] = {
    "kraft_996": "kraft --release 4.1",
    "kraft_996_published": "kraft --release 4.1",
    "kraft_853": "kraft --spare-servers 1 --additions 1",
    "kraft_853_published": "kraft --spare-servers 1 --additions 1",
}
"""Models of the release before, with what took their place."""


def find_model(reference: str) -> type[Model]:
    """Return the model class that a name or a `path/to/file.py:ClassName` refers to.

    Raises:
        UserError: there is no such model; the message names the nearest one.
    """
    if reference in BUILT_IN:
        module, _, name = BUILT_IN[reference].partition(":")
        found = getattr(importlib.import_module(module), name)
        assert isinstance(found, type)
        assert issubclass(found, Model)
        return found
    path, colon, name = reference.rpartition(":")
    if colon and path.endswith(".py"):
        return _from_file(Path(path), name)
    if reference.endswith(".py"):
        model = _named_in_a_file(reference.removesuffix(".py")) or f"{reference}:ModelName"
        message = f"{reference} names a file but no model in it; write {model}."
        raise UserError(message)
    if reference in _FORMER:
        message = f"The model {reference} is gone; use {_FORMER[reference]} in its place."
        raise UserError(message)
    beside = _named_in_a_file(re.sub(r"\.py::|\.py\.|\.(?=\w+$)", ":", reference, count=1))
    hint = f"Did you mean {beside!r}?" if beside else closest(reference, BUILT_IN)
    message = f"There is no model {reference!r}. {hint} Name a model of your own as path/to/file.py:ModelName."
    raise UserError(message)


def _named_in_a_file(reference: str) -> str:
    """Return the reference to a model for a reference that lacks `.py`; empty where there is no such file.

    The file is read and not run. Of several classes, the result has the one with the name of the file, else the first
    that has a state, else the first.
    """
    name, _, wanted = reference.partition(":")
    path = Path(f"{name}.py")
    try:
        found = [node for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.ClassDef) and node.bases]
    except (OSError, ValueError, SyntaxError, RecursionError):  # there is none, or it is not Python
        return ""
    plain = (wanted or path.stem.replace("_", "")).lower()
    methods = {node.name: {getattr(member, "name", "") for member in node.body} for node in found}
    found.sort(key=lambda node: (node.name.lower() != plain, "declare" not in methods[node.name]))
    return f"{path}:{found[0].name}" if found else ""


def model_reference(model: Model) -> str:
    """Return a reference to the class for `find_model`; a file below the current directory has its relative path."""
    return class_reference(type(model))


def class_reference(kind: type[Model]) -> str:
    """Return a reference to a class for `find_model`; the name alone for a class that is in no file."""
    if BUILT_IN.get(kind.name) == f"{kind.__module__}:{kind.__name__}":
        return kind.name
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if not file:
        return kind.name
    path = Path(file).resolve()
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return f"{shown}:{kind.__name__}"


def is_in_file(reference: str) -> bool:
    """Return whether `find_model` would import a Python file for a reference."""
    return reference not in BUILT_IN and reference.rpartition(":")[0].endswith(".py")


def as_argument(path: str) -> str:
    """Return a path or reference as an argument of a command, which is no option though it may begin with a hyphen."""
    return f"./{path}" if path.startswith("-") else path


def _from_file(path: Path, name: str) -> type[Model]:
    try:
        there = path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        there = False
    if not there:
        what = "this is a directory" if _is_directory(path) else "there is no such file"
        message = f"{path}: {what}; give the path of the Python file that defines {name or 'the model'}."
        raise UserError(message)
    module = _load(path)
    models = {
        k: v
        for k, v in vars(module).items()
        if isinstance(v, type) and issubclass(v, Model) and v.__module__ == module.__name__
    }
    if name not in models:
        other = vars(module).get(name)
        hint = closest(name, models) if models else "A model is a class with the base Model: class Lock(Model)."
        if isinstance(other, type) and issubclass(other, (Index, Range, Enum)):
            hint = f"{name} there is a kind of value for fields. {hint}"
        elif isinstance(other, type):
            hint = f"{name} there is " + (
                f"imported; name the file of {other.__module__}."
                if issubclass(other, Model)
                else f"a class without the base Model; write `class {name}(Model):`."
            )
        message = f"{path} defines no model {name!r}. {hint}"
        raise UserError(message)
    return models[name]


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _load(path: Path) -> ModuleType:
    """Return the module of a file as it is now. An edited file becomes another module; old classes keep the old one."""
    try:
        text = path.read_bytes()
    except OSError as error:
        message = f"{path} cannot be loaded: {type(error).__name__}: {error}"
        raise UserError(message) from error
    _require_text(path, text)
    # The name is the same in every process, so that what is pickled in one is found in another.
    marks = f"{zlib.crc32(os.fsencode(path.resolve())):08x}_{zlib.crc32(text):08x}"
    module_name = f"insync_user_{path.stem}_{marks}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    folder, here = str(path.resolve().parent), os.getcwd()
    sys.path.insert(0, folder)  # so that the file can import its neighbours, as a script can
    try:
        # Python's own cache of compiled files misses an edit of the same second and size.
        exec(compile(text, spec.origin or str(path), "exec", dont_inherit=True), vars(module))  # noqa: S102 -- a module is its text
    except UserError:
        del sys.modules[module_name]
        raise
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        line, said = _line(error, path), str(error)
        if isinstance(error, SyntaxError) and Path(error.filename or "").resolve() == path.resolve():
            line, said = error.lineno, error.msg
        place = str(path) if line is None else f"{path}:{line}:"
        message = f"{place} cannot be loaded: {type(error).__name__}: {said}"
        cure = cure_of_call(error)
        message += f".{cure}" if cure else ""
        raise UserError(message) from error
    except BaseException:  # Ctrl-C, or a limit on time
        del sys.modules[module_name]
        raise
    finally:
        with contextlib.suppress(ValueError):  # the file has taken it out
            sys.path.remove(folder)
        os.chdir(here)  # the file may have changed it; paths of the command line are relative to `here`
    return module


def _require_text(path: Path, content: bytes) -> None:
    """Raise UserError for a file that is not text in the encoding that it declares, or in UTF-8."""
    wrong = _not_utf8(content)
    if wrong is None and 0 in content:
        zero = f"byte {content.find(0)} is 0, so it is no Python"
        message = f"{path} cannot be loaded: {zero}; name the file of the model."
        raise UserError(message)
    try:
        importlib.util.decode_source(content)
    except (UnicodeDecodeError, SyntaxError, LookupError) as error:
        at = f"byte {wrong or 0} is not UTF-8 text"  # 0 where the declared encoding does not exist
        message = f"{path} cannot be loaded: {at}; save the file as UTF-8, or name the one with the model."
        raise UserError(message) from error


def _not_utf8(content: bytes) -> int | None:
    """Return the number of the first byte that is not UTF-8; None if all are."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


def _line(error: BaseException, path: Path) -> int | None:
    """Return the line on which a file that was being loaded raised an error; None for a syntax error."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f.lineno for f in frames if Path(f.filename).resolve() == path.resolve()]
    return lines[-1] if lines else None
