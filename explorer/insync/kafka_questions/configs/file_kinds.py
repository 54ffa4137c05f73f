"""The kind of each file, by its text: what Kafka's tools print, Terraform, YAML, an inventory, or properties."""

from __future__ import annotations

import re
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
from pathlib import Path

from insync.kafka_questions.configs.documents import documents_in, kinds_in
from insync.kafka_questions.configs.entries import (
    BROKERS,
    CLUSTER,
    KRAFTS,
    MANAGED,
    NOTHING,
    OTHER_FILE,
    ZOOKEEPERS,
    Declared,
    Place,
    may_be_kafkas,
    setting_name,
)
from insync.kafka_questions.configs.ini import ini_in, is_ini
from insync.kafka_questions.configs.printed import PartitionsSeen, is_printed, printed_in
from insync.kafka_questions.configs.properties import properties_in
from insync.kafka_questions.configs.remarks import misspelt_of_producers
from insync.kafka_questions.configs.terraform import is_terraform, terraform_in
from insync.kafka_questions.configs.variables import Variables
from insync.runtime.errors import UserError

__all__ = ["declared_in_files"]


def declared_in_files(paths: Sequence[Path], seen: dict[str, PartitionsSeen]) -> list[Declared]:
    """Return the entries of all files, with the variables filled in that one file sets for others."""
    texts = {path: _text_of(path) for path in paths}
    documents = [path for path, text in texts.items() if _is_yaml(path, text.splitlines())]
    variables = Variables({str(path): text for path, text in texts.items()}, {str(path) for path in documents})
    found = {path: list[Declared]() for path in paths}
    for path in sorted(paths, key=lambda path: path not in documents):
        if any(one.place.file == str(path) for of_other in found.values() for one in of_other):
            continue  # read already, as the env_file of a service
        try:
            found[path] = _read(path, texts[path], seen, variables)
        except RecursionError:
            message = f"{path} has too many levels within each other; {_WANTED}."
            raise UserError(message) from None
    return [one for of_file in found.values() for entry in of_file for one in variables.filled_in(entry)]


_OTHERS = (
    (r"\A\s*<", "XML"),
    (r"^#!.*sh\b", "a shell script"),
    (r"^FROM\s+\S+", "a Dockerfile"),
    (r"^\[(?:Unit|Service)\]", "a unit of systemd"),
    (r"^\s*GROUP\s+TOPIC\s+PARTITION", "what kafka-consumer-groups prints"),
    (r"^\s*ClusterId:\s", "what kafka-metadata-quorum prints"),
    (r"^\s*(?:log4j\.|rootLogger|appender\.)", "a configuration of logging"),
    (r"^\s*(?:dataDir|tickTime|initLimit)\s*=", "ZooKeeper's own configuration"),
    (r"^\s*(?:config\.storage\.topic|offset\.storage\.file\.filename)\s*=", "the configuration of a worker of Connect"),
)
"""Kinds of files that are refused, with their names."""
_WANTED = (
    "give server.properties, what Kafka's tools print with --describe, a resource of Strimzi, a compose file, values "
    "of a chart, or Terraform with server_properties"
)


_OF_YAML = (".yaml", ".yml", ".json")
_NO_TEXT = "it is not text in UTF-8 or UTF-16"


def _text_of(path: Path) -> str:
    """Return the text of a file.

    Raises:
        UserError: it cannot be read, or is empty.
    """
    if path.is_dir():
        within = sorted(str(one) for one in path.iterdir() if one.is_file())
        named = "".join(f" --config {one}" for one in within[:3]) + (" and so on" if len(within) > 3 else "")
        message = f"{path} is a folder; give its files one by one{':' if named else ''}{named}."
        raise UserError(message)
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        in_utf_16 = data.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        text = data.decode("utf-16" if in_utf_16 else "utf-8-sig")
    except UnicodeDecodeError:
        text = "\0" if in_utf_16 else data.decode("latin-1")  # as Java reads properties
    except FileNotFoundError:
        message = f"{path}: there is no such file; name one that is there."
        raise UserError(message) from None
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}; {_WANTED}."
        raise UserError(message) from None
    if re.search(r"[\x00-\x08\x0e-\x1a\x7f-\x9f]", text):
        message = f"{path} cannot be read: {_NO_TEXT}; {_WANTED}."
        raise UserError(message)
    if not text.strip():
        message = f"{path} is empty; {_WANTED}."
        raise UserError(message)
    return text


def _read(path: Path, text: str, seen: dict[str, PartitionsSeen], variables: Variables) -> list[Declared]:
    """Return the entries of a file: printed by Kafka's tools, Terraform, YAML, or properties and variables.

    Args:
        path: the file.
        text: its text.
        seen: receives the partitions of each topic.
        variables: the variables of all files; a file that sets one needs no setting of its own.
    """
    lines, file = text.splitlines(), str(path)
    kind = next((name for pattern, name in _OTHERS if re.search(pattern, text, re.MULTILINE)), "")
    if is_printed(lines):
        found = list(printed_in(file, lines, seen))
    elif is_terraform(file, lines):
        found = list(terraform_in(file, text, variables))
    elif kind and path.suffix.lower() not in _OF_YAML:
        message = f"{path} is {kind}, which is not read; {_WANTED}."
        raise UserError(message)
    elif _is_yaml(path, lines):
        found = documents_in(file, text, variables)
        if not found and not variables.helps(file):
            kinds = kinds_in(file, text)
            named = "is JSON" if path.suffix.lower() == ".json" else "is YAML"
            what = f"has resources of kind {', '.join(kinds)}" if kinds else named
            message = f"{path} {what} without a setting of brokers or topics; {_WANTED}."
            raise UserError(message)
    elif is_ini(lines):
        found = list(ini_in(file, lines))
    else:
        found = list(properties_in(file, lines))
    if not found and variables.helps(file):
        return [Declared(None, NOTHING, "", Place(file, 1))]
    if not found:
        message = f"{path} has no settings; {_WANTED}."
        raise UserError(message)
    known = (BROKERS, CLUSTER, KRAFTS, MANAGED, NOTHING, OTHER_FILE, ZOOKEEPERS)
    if not any(may_be_kafkas(one.key) or setting_name(one.key) or one.topic or one.key in known for one in found):
        if variables.helps(file):
            return [Declared(None, NOTHING, "", found[0].place)]
        near = next(misspelt_of_producers(found), "")
        raise UserError(near or f"{path} has no key of Kafka's; its first is {found[0].key!r}; {_WANTED}.")
    return found


def _is_yaml(path: Path, lines: Sequence[str]) -> bool:
    if path.suffix.lower() in _OF_YAML:
        return True
    written = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not written or is_ini(lines):
        return False
    opens = re.compile(r"\s*(?:- )?[\"']?[\w.\-]+[\"']?:\s*")
    return written[0].lstrip().startswith(("---", "{\n", "{ ", '{"', "[", "apiVersion:", "kind:")) or any(
        map(opens.fullmatch, written)
    )
