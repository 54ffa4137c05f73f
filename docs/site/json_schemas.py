"""JSON Schemas of what `--json` prints and of the files of traces and proofs, made from the types of the code.

`docs/schemas` has them as files, with a page that lists all keys. A test compares the files with these types, and
another one judges real outputs by them.
"""

from __future__ import annotations

import inspect
import json
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from insync.conformance.documents import json_types as kafka
from insync.explorer.documents.json_types import comparisons, models, proofs, searches, traces
from insync.kafka.live_rules import LiveModel
from insync.kafka_questions.documents import json_types as questions
from insync.proofs.proof_file import ProofFile
from navigation import ROOT

__all__ = ["FOLDER", "SCHEMAS", "Schema", "schema_of", "texts", "write_schemas"]

FOLDER = ROOT / "docs" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema, by the name of its file.

    Attributes:
        title: what it is about, as a person writes it.
        objects: the types of the object, of which each fits one case.
        closed: whether no other key is allowed. Of outputs others are, as later versions may add some.
    """

    title: str
    objects: tuple[Any, ...]
    closed: bool = False

    @property
    def heading(self) -> str:
        """The heading on the page."""
        return self.title.removesuffix(" --json")


SCHEMAS: Mapping[str, Schema] = {
    "trace": Schema("Trace file", (traces.TraceFile,), closed=True),
    "proof": Schema("Proof file", (ProofFile,), closed=True),
    "list": Schema("insync list --json", (models.ModelsObject, models.ModelEntry)),
    "check": Schema("insync check --json", (searches.CheckObject,)),
    "simulate": Schema("insync simulate --json", (searches.SimulationObject,)),
    "replay": Schema("insync replay --json", (traces.TraceObject,)),
    "ask": Schema("insync ask --json", (questions.AnswersObject,)),
    "describe": Schema("insync describe --json", (LiveModel,)),
    "defects": Schema(
        "insync defects --json",
        (questions.CatalogueObject, questions.DefectsObject, questions.VerifiedObject, questions.MatchesObject),
    ),
    "prove": Schema("insync prove --json", (proofs.ProofObject, proofs.BoundedObject)),
    "liveness": Schema("insync liveness --json", (searches.LivenessObject,)),
    "why": Schema("insync why --json", (searches.WhyObject,)),
    "diff": Schema("insync diff --json", (comparisons.DiffObject, comparisons.TraceDifferenceObject)),
    "agree": Schema("insync agree --json", (comparisons.AgreementObject,)),
    "mutate": Schema("insync mutate --json", (comparisons.MutationObject,)),
    "export": Schema("insync export --json", (models.ExportObject,)),
    "spark-export": Schema("insync spark export --json", (models.SparkTablesObject,)),
    "kafka-versions": Schema("insync kafka versions --json", (kafka.VersionsObject,)),
    "kafka-fetch": Schema("insync kafka fetch --json", (kafka.FetchedObject,)),
    "kafka-replay": Schema("insync kafka replay --json", (kafka.KafkaReplayObject, kafka.CatalogueRunsObject)),
    "kafka-bisect": Schema("insync kafka bisect --json", (kafka.BisectionObject,)),
    "kafka-claims": Schema("insync kafka claims --json", (kafka.ClaimsObject,)),
    "kafka-conform": Schema("insync kafka conform --json", (kafka.ConformanceObject,)),
    "kafka-cluster": Schema("insync kafka cluster --json", (kafka.ClusterObject,)),
    "kafka-scenario": Schema("insync kafka scenario --json", (kafka.ScenarioObject,)),
    "kafka-patch": Schema("insync kafka patch --json", (kafka.PatchObject, kafka.UnitTestsObject)),
    "kafka-record": Schema("insync kafka record --json", (kafka.RecordedObject,)),
    "kafka-validate": Schema("insync kafka validate --json", (kafka.ValidationObject, kafka.InferredObject)),
}

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_ATTRIBUTE = re.compile(r"^    (\w+(?:, \w+)*): (.*)$")


def schema_of(name: str, *, closed: bool | None = None) -> dict[str, Any]:
    """Return a schema as JSON values.

    Args:
        name: its name in `SCHEMAS`.
        closed: whether other keys are refused; if None, as `SCHEMAS` says.
    """
    schema = SCHEMAS[name]
    made = _Schemas(schema.closed if closed is None else closed)
    roots = [made.object(kind) for kind in schema.objects]
    root = roots[0] if len(roots) == 1 else {"anyOf": [made.reference(kind) for kind in schema.objects]}
    defined = {"$defs": dict(sorted(made.defined.items()))} if made.defined else {}
    return {"$schema": DIALECT, "title": schema.title, **root, **defined}


class _Schemas:
    """Makes the schemas of types; those of objects with a name are collected in `defined`."""

    def __init__(self, closed: bool) -> None:
        self.closed = closed
        self.defined: dict[str, dict[str, Any]] = {}

    def of(self, kind: Any) -> dict[str, Any]:
        """Return the schema of a type."""
        origin, inner = get_origin(kind), get_args(kind)
        if kind in _PLAIN:
            return {"type": _PLAIN[kind]}
        if kind in (Any, object):
            return {}
        if origin is NotRequired:
            return self.of(inner[0])
        if origin is Literal:
            return {"enum": list(inner)} if len(inner) > 1 else {"const": inner[0]}
        if origin in (Union, types.UnionType):
            return self._union([self.of(one) for one in inner])
        if origin is Annotated:
            return self.object(*inner[1:])
        if isinstance(kind, type) and issubclass(kind, Enum):
            return {"type": "string", "enum": [one.value for one in kind]}
        if _is_object(kind):
            return self.reference(kind)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(inner[1])}
        if isinstance(origin, type) and issubclass(origin, Sequence):
            return {"type": "array", "items": self.of(inner[0])}
        message = f"No schema is known for {kind!r}."
        raise TypeError(message)

    def reference(self, kind: type) -> dict[str, Any]:
        """Return a reference to the schema of an object, which is then defined."""
        if kind.__name__ not in self.defined:
            self.defined[kind.__name__] = {}
            self.defined[kind.__name__] = self.object(kind)
        return {"$ref": f"#/$defs/{kind.__name__}"}

    def object(self, *kinds: type) -> dict[str, Any]:
        """Return the schema of an object with the keys of TypedDicts and of dataclasses."""
        properties: dict[str, Any] = {}
        required: list[str] = []
        for kind in kinds:
            _, said = _documented(kind)
            for key, wanted, needed in _fields(kind):
                told = {"description": said[key]} if key in said else {}
                properties[key] = {**self.of(wanted), **told}
                required += [key] if needed else []
        described = {"description": _documented(kinds[0])[0]}
        closed = {"additionalProperties": False} if self.closed else {}
        return {**described, "type": "object", "properties": properties, "required": required, **closed}

    @staticmethod
    def _union(schemas: Sequence[dict[str, Any]]) -> dict[str, Any]:
        if all(list(one) == ["type"] for one in schemas):
            return {"type": [one["type"] for one in schemas]}
        return {"anyOf": list(schemas)}


def _is_object(kind: Any) -> bool:
    return is_typeddict(kind) or is_dataclass(kind)


def _fields(kind: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield each key of an object with its type, and whether it is always there."""
    hints = get_type_hints(kind, include_extras=True)
    optional = frozenset() if is_dataclass(kind) else kind.__optional_keys__
    for key, wanted in hints.items():
        yield key, wanted, get_origin(wanted) is not NotRequired and key not in optional


def _documented(kind: type) -> tuple[str, dict[str, str]]:
    """Return the first sentences of a docstring, and what its section `Attributes` says of each key."""
    head, _, section = (inspect.getdoc(kind) or "").partition("\n\nAttributes:\n")
    said: dict[str, str] = {}
    keys: list[str] = []
    for line in section.splitlines():
        if match := _ATTRIBUTE.match(line):
            keys = match[1].split(", ")
            said |= dict.fromkeys(keys, match[2])
        else:
            said |= {key: f"{said[key]} {line.strip()}" for key in keys}
    return " ".join(head.split()), {key: re.sub(r"\bNone\b", "null", text) for key, text in said.items()}


def texts() -> dict[str, str]:
    """Return the text of each file in the folder of schemas, by name."""
    made = {f"{name}.schema.json": f"{json.dumps(schema_of(name), indent=1)}\n" for name in SCHEMAS}
    return {**made, "README.md": _page()}


def write_schemas(folder: Path) -> None:
    """Write all files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts().items():
        (folder / name).write_text(text, encoding="utf-8")


# ------------------------------------------------------------------------------------------------------------- the page

_HEAD = """\
# The keys of JSON

For readers whose programs read what `--json` prints, or files of traces and proofs: all keys, as lists and as [JSON Schemas](https://json-schema.org).
In the files of traces and proofs no other key is allowed; to an output later versions may add some. This page and the
schemas are made from the types of the code (`make records`).

A validator, here [check-jsonschema](https://github.com/python-jsonschema/check-jsonschema), takes them as they are:

    insync check kip320 --json > found.json
    check-jsonschema --schemafile docs/schemas/check.schema.json found.json

| what | schema |
|---|---|
"""


def _page() -> str:
    """Return the page that lists the keys."""
    lines = [_HEAD.rstrip()]
    for name, schema in SCHEMAS.items():
        anchor, file = schema.heading.lower().replace(" ", "-"), f"{name}.schema.json"
        lines.append(f"| [{schema.heading}](#{anchor}) | [{file}]({file}) |")
    parts: dict[str, type] = {}
    for schema in SCHEMAS.values():
        lines += ["", f"## {schema.heading}"]
        for kind in schema.objects:
            lines += ["", _documented(kind)[0], "", *_table((kind,), parts)]
    lines += ["", "## Parts", "", "Objects within those above."]
    tables: dict[str, list[str]] = {}
    while left := parts.keys() - tables.keys():
        tables |= {name: [*_table((parts[name],), parts)] for name in left}
    for name, table in sorted(tables.items()):
        lines += ["", f"### {name}", "", _documented(parts[name])[0], "", *table]
    return "\n".join([*lines, ""])


def _table(kinds: Sequence[type], parts: dict[str, type]) -> Iterator[str]:
    yield from ("| key | value | |", "|---|---|---|")
    for kind in kinds:
        said = _documented(kind)[1]
        for key, wanted, needed in _fields(kind):
            maybe = "" if needed else "if there is one; "
            yield f"| `{key}` | {maybe}{_words(wanted, parts)} | {said.get(key, '')} |"


def _words(kind: Any, parts: dict[str, type]) -> str:
    """Return a type in words; the objects that it names are added to `parts`."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return {"integer": "number", "string": "text", "boolean": "true or false"}.get(_PLAIN[kind], _PLAIN[kind])
    if kind in (Any, object):
        return "any value"
    if origin is NotRequired:
        return _words(inner[0], parts)
    if origin is Literal:
        return " or ".join(f"`{json.dumps(one)}`" for one in inner)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_words(one, parts) for one in inner))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return ", ".join(f"`{one.value}`" for one in kind)
    if origin is Annotated or _is_object(kind):
        named = inner[1:] if origin is Annotated else (kind,)
        parts |= {one.__name__: one for one in named}
        return " with ".join(f"[{one.__name__}](#{one.__name__.lower()})" for one in named)
    if issubclass(origin, Mapping):
        return f"by name: {_words(inner[1], parts)}"
    return f"list: {_words(inner[0], parts)}"
