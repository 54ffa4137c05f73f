"""Internal: the verb `export`, which writes a model in the language of another tool.

`formats` is the table of formats, with the graphs of small spaces. `promela` writes a model for Spin, and `tla` a TLA+
module for people, TLC and Apalache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from insync.explorer.export.formats import FORMATS, require_format
from insync.explorer.task import ModelLike, model_of
from insync.model.given_names import given_names
from insync.properties.registry import confined, run_properties_of, select

__all__ = ["FORMATS", "export"]


def export(
    model: ModelLike,
    *,
    to: str = "tla",
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    within: Sequence[str] | None = None,
    name: str | None = None,
) -> dict[str, str]:
    """Return a model as files of another tool: the text of each by its name, the main file first.

    Args:
        model: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        to: the format, one of `FORMATS`.
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        properties: names of the properties to export, of states and of runs; None names those that `check` checks.
        within: names of invariants that confine the model; None is the default of its class.
        name: the name of the main file, without its suffix; None is the model's name.

    Raises:
        UserError: an unknown format, model, bound or property, or something that cannot be written in the format.
    """
    form = require_format(to)
    made = confined(model_of(model, bounds), within)
    names = None if properties is None else given_names("properties", properties)
    runs = [one for one in names or () if one in run_properties_of(made)]
    states = None if names is None else [one for one in names if one not in runs]
    return form(made, [*select(made, states), *runs], name or made.name)
