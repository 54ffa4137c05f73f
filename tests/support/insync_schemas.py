"""Schemas of a protocol that is no one's: two jars with a request, its response, and two records of metadata."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.wire.message_schemas import MessageSchemas

ASK = """{
  // What is asked; version 1 is flexible.
  "apiKey": 7, "type": "request", "name": "AskRequest", "validVersions": "0-1", "flexibleVersions": "1+",
  "fields": [
    { "name": "Name", "type": "string", "versions": "0+", "about": "a text // that is no comment" },
    { "name": "Count", "type": "int32", "versions": "1+", "default": "-1" },
    { "name": "Old", "type": "bool", "versions": "0" },
    { "name": "Parts", "type": "[]Part", "versions": "0+", "fields": [
      { "name": "Id", "type": "uuid", "versions": "0+" },
      { "name": "Ends", "type": "[]int64", "versions": "0+", "nullableVersions": "0+", "default": "null" },
      { "name": "Data", "type": "bytes", "versions": "1+", "nullableVersions": "1+", "default": "null" }
    ]},
    { "name": "Inner", "type": "Shared", "versions": "1+", "nullableVersions": "1+", "default": "null" },
    { "name": "Weight", "type": "float64", "versions": "1+", "taggedVersions": "1+", "tag": 3 }
  ],
  "commonStructs": [ { "name": "Shared", "versions": "1+", "fields": [
    { "name": "Small", "type": "int8", "versions": "1+" } ] } ]
}"""
ANSWER: dict[str, Any] = {
    "apiKey": 7,
    "type": "response",
    "name": "AskResponse",
    "validVersions": "0-1",
    "flexibleVersions": "1+",
    "fields": [{"name": "ErrorCode", "type": "int16", "versions": "0+"}],
}
NOTE: dict[str, Any] = {
    "apiKey": 3,
    "type": "metadata",
    "name": "NoteRecord",
    "validVersions": "0",
    "flexibleVersions": "0+",
    "fields": [{"name": "Text", "type": "string", "versions": "0+"}],
}


def schema_jars(folder: Path) -> JarSet:
    """Make the jars of the release 9.9.9."""
    clients, metadata = folder / "kafka-clients-9.9.9.jar", folder / "kafka-metadata-9.9.9.jar"
    with zipfile.ZipFile(clients, "w") as jar:
        jar.writestr("common/message/AskRequest.json", ASK)
        jar.writestr("common/message/AskResponse.json", json.dumps(ANSWER))
    with zipfile.ZipFile(metadata, "w") as jar:
        jar.writestr("common/metadata/NoteRecord.json", json.dumps(NOTE))
    return JarSet("9.9.9", (clients, metadata), ("", ""))


def schemas(folder: Path) -> MessageSchemas:
    """Read them."""
    return MessageSchemas.of_jars(schema_jars(folder))
