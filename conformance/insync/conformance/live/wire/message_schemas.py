"""The schemas of Kafka's requests, responses and metadata records, from the jars of a release.

Kafka generates its own protocol classes from these files, so they are right for exactly this release, also where no
client speaks the message. Source: `common/message/*.json` of kafka-clients, `common/metadata/*.json` of kafka-metadata.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from insync.conformance.jars.jar_set import JarSet
from insync.runtime.errors import UserError

__all__ = ["Field", "Message", "MessageSchema", "MessageSchemas", "Span"]

Message = dict[str, Any]
"""A message that was decoded, by the names of its fields as the schemas write them."""

_FOLDERS = (("kafka-clients-", "common/message/"), ("kafka-metadata-", "common/metadata/"))
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*')
_KINDS = ("request", "response", "metadata")


@dataclass(frozen=True, slots=True)
class Span:
    """The versions from `first` to `last`, both included; none where `last` is less."""

    first: int
    last: int

    @classmethod
    def of(cls, text: str | None) -> Span:
        """Read it as the schemas write it: `3`, `1-4`, `2+` or `none`; nothing at all means all versions."""
        if text is None:
            return cls(0, 32767)
        if text == "none":
            return cls(1, 0)
        if text.endswith("+"):
            return cls(int(text[:-1]), 32767)
        first, _, last = text.partition("-")
        return cls(int(first), int(last or first))

    def __contains__(self, version: int) -> bool:
        return self.first <= version <= self.last


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message.

    Attributes:
        name: its name.
        kind: its type: of an array that of the elements.
        is_array: whether it is an array of these.
        versions: those that have it.
        nullable: those in which it may be null.
        tagged: those in which it stands among the tagged fields.
        tag: its tag there.
        compact: whether its length is written in the short form where the message is flexible.
        default: what it is where nothing is said, as the schema writes it.
        fields: the fields of a structure; empty for what is none.
    """

    name: str
    kind: str
    is_array: bool
    versions: Span
    nullable: Span
    tagged: Span
    tag: int
    compact: bool
    default: Any
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class MessageSchema:
    """A message: its name and key, its versions, those with tagged fields, and its fields."""

    name: str
    key: int
    versions: Span
    flexible: Span
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class MessageSchemas:
    """The messages of one release.

    Attributes:
        version: the release.
        requests: by key.
        responses: by key.
        records: metadata records, by key.
        by_name: requests and responses, such as `FetchRequest`.
    """

    version: str
    requests: Mapping[int, MessageSchema]
    responses: Mapping[int, MessageSchema]
    records: Mapping[int, MessageSchema]
    by_name: Mapping[str, MessageSchema]

    @classmethod
    def of_jars(cls, jars: JarSet) -> MessageSchemas:
        """Read them from the jars of a release.

        Raises:
            UserError: a jar is missing or broken.
        """
        found: dict[str, dict[int, MessageSchema]] = {kind: {} for kind in _KINDS}
        for text in _texts(jars):
            told = json.loads(_COMMENT.sub(lambda match: match[1] or "", text))
            if told.get("type") in _KINDS and "apiKey" in told:
                schema = _schema(told)
                found[told["type"]][schema.key] = schema
        named = {schema.name: schema for kind in _KINDS[:2] for schema in found[kind].values()}
        return cls(jars.version, found["request"], found["response"], found["metadata"], named)


def _texts(jars: JarSet) -> list[str]:
    texts = []
    for prefix, folder in _FOLDERS:
        path = next((path for path in jars.paths if re.match(rf"{prefix}\d", path.name)), None)
        if path is None:
            message = f"The jars of Kafka {jars.version} have no {prefix}VERSION.jar. Name its whole folder libs."
            raise UserError(message)
        try:
            with zipfile.ZipFile(path) as jar:
                names = [name for name in jar.namelist() if name.startswith(folder) and name.endswith(".json")]
                texts += [jar.read(name).decode() for name in names]
        except (OSError, zipfile.BadZipFile) as error:
            message = f"{path}: this is no jar that can be read ({error}). Remove it, and fetch it again."
            raise UserError(message) from error
    return texts


def _schema(told: Mapping[str, Any]) -> MessageSchema:
    common = {one["name"]: one["fields"] for one in told.get("commonStructs", ())}
    fields = tuple(_field(one, common) for one in told.get("fields", ()))
    return MessageSchema(
        told["name"], told["apiKey"], Span.of(told["validVersions"]), Span.of(told.get("flexibleVersions")), fields
    )


def _field(told: Mapping[str, Any], common: Mapping[str, Sequence[Mapping[str, Any]]]) -> Field:
    is_array = told["type"].startswith("[]")
    kind = told["type"].removeprefix("[]")
    inner: Sequence[Mapping[str, Any]] = told.get("fields") or common.get(kind) or ()
    return Field(
        name=told["name"],
        kind=kind,
        is_array=is_array,
        versions=Span.of(told.get("versions")),
        nullable=Span.of(told.get("nullableVersions", "none")),
        tagged=Span.of(told.get("taggedVersions", "none")),
        tag=int(told.get("tag", -1)),
        compact=told.get("flexibleVersions") != "none",
        default=told.get("default"),
        fields=tuple(_field(one, common) for one in inner),
    )
