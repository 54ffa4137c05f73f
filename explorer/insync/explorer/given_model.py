"""The first argument of every verb: a model as a class with bounds, an instance, or a name of the command line."""

from __future__ import annotations

from collections.abc import Mapping

from insync.model import Model
from insync.model.catalogue import find_model
from insync.runtime.errors import UserError

__all__ = ["ModelLike", "model_of"]

ModelLike = Model | type[Model] | str
"""A model: a class, an instance, or a name of the command line, `kip320` or `path/to/file.py:Class`."""


def model_of(given: ModelLike, bounds: Mapping[str, int | str] | None = None) -> Model:
    """Return the model under these bounds; a bound that is left out has its default.

    Raises:
        UserError: an unknown model or bound, or an instance with other bounds than these.
    """
    if isinstance(given, Model):
        if bounds and type(given)(**{**given.identity, **bounds}).identity != given.identity:
            message = (
                f"{given.name}: the model was made with the bounds {given.identity}, and {dict(bounds)} is given too. "
                f"Give the class {type(given).__name__} with bounds, or the model without."
            )
            raise UserError(message)
        return given
    kind: object = find_model(given) if isinstance(given, str) else given
    if not (isinstance(kind, type) and issubclass(kind, Model)):
        message = (
            f"{given!r} is not a model; give a subclass of Model, or the name of one, such as 'kip320' or "
            f"'path/to/file.py:ModelName'."
        )
        raise UserError(message)
    return kind(**(bounds or {}))
