"""The model that a trace, a proof, an exported module or a run directory names.

Reading such a file runs nothing. A model that comes with insync is found by its name. Any other model is a Python file,
and importing it runs it, so it is imported only where the caller names it. A class that the process has imported
already may be used.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from insync.model import Model
from insync.model.catalogue import BUILT_IN, as_argument, class_reference, find_model, is_in_file
from insync.runtime.errors import UserError

__all__ = [
    "Naming",
    "UnnamedModel",
    "kinds_of",
    "loaded_kind",
    "opened_kind",
    "same_name",
]


@dataclass(frozen=True, slots=True)
class Naming:
    """A file that names a model.

    Attributes:
        model: the reference to the model, as it stands in the file.
        what: what the file is, in a word: "trace", "proof", "module", "run".
        place: the beginning of messages.
        file: its path, as the model may lie beside it; None if the text is in no file.
    """

    model: str
    what: str
    place: str
    file: Path | None = None

    @property
    def found(self) -> str:
        """The reference with the path of a file that exists: as it stands in the file, or beside that file."""
        path, _, name = self.model.rpartition(":")
        if self.file is None or not path or _is_file(path) or not _is_file(beside := str(self.file.parent / path)):
            return self.model
        return f"{beside}:{name}"

    @property
    def is_there(self) -> bool:
        """Whether the Python file exists."""
        return _is_file(self.found.rpartition(":")[0])

    @property
    def sentence(self) -> str:
        """The sentence that names the file that would run, or says that it is missing."""
        path, _, name = self.found.rpartition(":")
        begun = f"{self.place}: this is a {self.what} of {name}, a model in {path}"
        if not self.is_there:
            return f"{begun}, and there is no such file."
        return f"{begun}. Only the {self.what} names that file, so it was not run."

    @property
    def argument(self) -> str:
        """The argument by which a caller names the model."""
        path, _, name = self.found.rpartition(":")
        return as_argument(self.found if self.is_there else f"path/to/{os.path.basename(path)}:{name}")


class UnnamedModel(UserError):
    """Files name models in Python files, which the caller has not named.

    Attributes:
        said: a sentence for each file that would run.
        advice: the beginning of the sentence that says what to do.
        models: the arguments by which the caller names the models.
    """

    def __init__(self, said: str, advice: str, models: Sequence[str]) -> None:
        self.said, self.advice, self.models = said, advice, tuple(models)
        super().__init__(f"{said} {advice}: model={models[0]!r}, or give the class.")

    def __reduce__(self) -> tuple[type[UnnamedModel], tuple[str, str, tuple[str, ...]]]:
        return type(self), (self.said, self.advice, self.models)


def kinds_of(namings: Sequence[Naming], given: Sequence[str] = ()) -> list[type[Model]]:
    """Return the class of the model of each file, importing no Python file but those of `given`.

    A file gets the given model with the name that the file has. A single given model whose name no file has is used
    for all files.

    Args:
        namings: the files.
        given: the references of the option `--model`.

    Raises:
        UnnamedModel: files name Python files that are not in `given`; nothing was imported.
        UserError: there is no such model.
    """
    chosen = [_given_for(naming, given) for naming in namings]
    if len(given) == 1 and not any(chosen):
        chosen = [given[0]] * len(namings)
    unnamed = [each for each, taken in zip(namings, chosen, strict=True) if taken is None and is_in_file(each.model)]
    if unnamed:
        models = list(dict.fromkeys(each.argument for each in unnamed))
        trusted = "If you trust that file, name it" if len(models) == 1 else "If you trust these files, name them"
        advice = trusted if all(each.is_there for each in unnamed) else "Name the file of the model"
        raise UnnamedModel(" ".join(dict.fromkeys(each.sentence for each in unnamed)), advice, models)
    return [
        _placed(naming) if taken is None else find_model(taken) for naming, taken in zip(namings, chosen, strict=True)
    ]


def opened_kind(naming: Naming) -> type[Model]:
    """Return the class of the model of a file, if it comes with insync or has been imported in this process.

    Raises:
        UnnamedModel: the model is in a Python file.
        UserError: there is no such model.
    """
    return loaded_kind(naming.model) or kinds_of([naming])[0]


def loaded_kind(reference: str) -> type[Model] | None:
    """Return the class of a reference that this process has defined last; None if there is none."""
    if reference in BUILT_IN:
        return find_model(reference)
    here = [kind for kind in _kinds(Model) if class_reference(kind) == reference]
    here = here or [kind for kind in _kinds(Model) if same_name(class_reference(kind), reference)]
    return here[-1] if here else None


def same_name(one: str, other: str) -> bool:
    """Return whether two references have the same class and file name; the file may have been moved."""
    return os.path.basename(one) == os.path.basename(other)


def _class_name(reference: str) -> str:
    """Return the name of the class in a reference, or the name of a model that comes with insync."""
    return reference.rpartition(":")[2]


def _given_for(naming: Naming, given: Sequence[str]) -> str | None:
    """Return the given model whose name a file has; of several, one whose file has the same name as well."""
    exact = [each for each in given if same_name(each, naming.model)]
    alike = [each for each in given if _class_name(each) == _class_name(naming.model)]
    return next(iter([*exact, *alike]), None)


def _placed(naming: Naming) -> type[Model]:
    try:
        return find_model(naming.model)
    except UserError as error:
        message = f"{naming.place}: {error.args[0]}"
        raise UserError(message) from error


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)
    except ValueError:  # a name that no file can have
        return False


def _kinds(base: type[Model]) -> list[type[Model]]:
    """Return all subclasses of a class, those of each class in the order of their definition."""
    return [found for kind in base.__subclasses__() for found in (kind, *_kinds(kind))]
