"""The objects of `insync list`, `insync export` and `insync spark export`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from insync.properties.temporal import RunKind

__all__ = ["Bounds", "ExportObject", "ModelEntry", "ModelsObject", "SparkTablesObject"]


Bounds = Mapping[str, int | str]


class Among(TypedDict, total=False):
    """The values that a choice can have."""

    values: Sequence[str]
    lowest: int
    highest: int


class ChoiceEntry(Among):
    """A bound or a setting.

    Attributes:
        values: the names that a setting may have.
        lowest: of a bound.
        highest: of a bound.
    """

    name: str
    default: int | str
    sentence: str


class ListedProperty(TypedDict):
    """A property of a model.

    Attributes:
        headline: whether it is checked when none is named.
    """

    name: str
    sentence: str
    headline: bool


class ListedAction(TypedDict):
    """An action of a model."""

    name: str
    sentence: str


class ListedRunProperty(TypedDict):
    """A property of runs of a model."""

    name: str
    kind: RunKind
    sentence: str


class ModelEntry(TypedDict):
    """A model, as `insync list MODEL` prints it."""

    name: str
    sentence: str
    bounds: Sequence[ChoiceEntry]
    properties: Sequence[ListedProperty]
    actions: Sequence[ListedAction]
    run_properties: Sequence[ListedRunProperty]


class ModelsObject(TypedDict):
    """The models that come with insync, and the engines."""

    models: Sequence[ModelEntry]
    engines: Sequence[str]


class ExportObject(TypedDict):
    """What `insync export` made: the texts of its files, by name."""

    model: str
    bounds: Bounds
    files: Mapping[str, str]


class ParquetTable(TypedDict):
    """A table in Parquet files, and its number of rows."""

    table: str
    rows: int


class SparkTablesObject(TypedDict):
    """What `insync spark export` wrote."""

    model: str
    bounds: Bounds
    states: ParquetTable
    transitions: ParquetTable
