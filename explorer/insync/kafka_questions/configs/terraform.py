"""Terraform: `server_properties` of Amazon MSK, and topics of providers for Kafka. A small part of HCL is read.

The reader accepts blocks, assignments, objects and lists of objects, texts of several lines (heredocs), and
`local.NAME` if the file itself defines that local.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from insync.kafka_questions.configs.entries import (
    BROKERS,
    KRAFTS,
    LEFT_OPEN,
    MANAGED,
    NOTHING,
    VERSION,
    ZOOKEEPERS,
    Declared,
    Place,
    Source,
    kafka_key,
    may_be_kafkas,
    setting_name,
)
from insync.kafka_questions.configs.properties import properties_in, properties_within
from insync.kafka_questions.configs.variables import Variables
from insync.runtime.errors import UserError

__all__ = ["is_terraform", "terraform_in"]

_BLOCK = re.compile(r"\s*(?P<kind>resource|module|variable|locals|data|provider|terraform|output)\b.*\{\s*")
_TOKEN = re.compile(
    r"(?P<skip>[ \t\r]+|#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z))"
    r'|<<-?"?(?P<tag>\w+)"?[ \t\r]*\n(?P<heredoc>.*?)(?:^[ \t]*(?P=tag)\b|\Z)'
    r'|(?P<quoted>"(?:\\.|\$\{[^}]*\}|[^"\\\n])*")'
    r'|(?P<line>\n)|(?P<mark>[{}\[\](),:]|=(?![=>]))|(?P<word>[^\s{}\[\](),=:"]+|.)',
    re.DOTALL | re.MULTILINE,
)
_LOCAL = re.compile(r"local\.(\w+)|join\(.*\bin\s+local\.(\w+)\s*:.*\)", re.DOTALL)
"""A local, or its keys and values joined to lines."""
_SIZES = ("replication_factor", "replication", "replicas")
_TOPIC_NAMES = ("name", "topic_name", "topic")
_TOPIC_CONFIGS = ("config", "configs", "configuration", "topic_config", "settings")
_PROPERTIES = ("server_properties", "configuration_server_properties")
_VERSIONS = ("kafka_version", "kafka_versions")
_OF_CLUSTERS = (*_VERSIONS, "number_of_broker_nodes", "storage_mode")
_VARIABLE = re.compile(r"var\.\w+")


def is_terraform(file: str, lines: Sequence[str]) -> bool:
    """Return whether a file is Terraform's, by its name or its blocks."""
    return file.endswith((".tf", ".tfvars", ".hcl")) or any(_BLOCK.fullmatch(line) for line in lines)


def terraform_in(file: str, text: str, variables: Variables) -> Iterator[Declared]:
    """Yield the properties in `server_properties`, the version, and the topics with their settings.

    Args:
        file: the name of the file.
        text: its text.
        variables: those of all files.

    Raises:
        UserError: `server_properties` is computed, so that its lines are not in the file.
    """
    items = tuple(_Parser(text).items(""))
    own = [one for item in items if item.labels == ("locals",) for one in item.within]
    reader = _Reader(file, {one.key: one for one in own}, variables, of_msk="msk" in text.lower())
    yield from reader.all_of([item for item in items if item.labels != ("locals",)])
    yield from reader.all_of([one for one in own if one.key not in reader.used])


@dataclass(frozen=True, slots=True)
class _Item:
    """An assignment, an object of a list, or a block.

    Attributes:
        labels: the key alone; of a block its type and its names; empty for an object of a list.
        line: the number of the line that it begins on.
        value: the text of an expression that is no object; empty for others.
        within: what is in the braces, or the objects of a list.
        is_heredoc: whether `value` is a text of several lines, which begins on the next line.
    """

    labels: tuple[str, ...]
    line: int
    value: str = ""
    within: tuple[_Item, ...] = ()
    is_heredoc: bool = False

    @property
    def key(self) -> str:
        """The key, or the type of a block; empty for an object of a list."""
        return self.labels[0] if self.labels else ""

    @property
    def texts(self) -> dict[str, str]:
        """The expressions within, by their keys."""
        return {one.key: one.value.strip('"') for one in self.within if len(one.labels) == 1 and one.value}


class _Parser:
    """Reads the tokens of a text of HCL one after another."""

    def __init__(self, text: str) -> None:
        self.tokens = [one for one in _TOKEN.finditer(text) if one.lastgroup != "skip"]
        self.text, self.at = text, 0

    def items(self, closing: str) -> Iterator[_Item]:
        """Yield all items up to a closing brace, which is passed."""
        labels: list[str] = []
        line = 0
        while (token := self._next()) is not None:
            if closing and token[0] == closing:
                return
            if token[0] in ("=", ":") and labels:
                yield self._value((labels[-1],), line)
                labels = []
            elif token[0] == "{":
                line = line if labels else self._line(token)
                yield _Item(tuple(labels), line, within=tuple(self.items("}")))
                labels = []
            elif token[0] in ("\n", ","):
                labels = []
            else:
                line = line if labels else self._line(token)
                labels.append(token[0].strip('"'))

    def _value(self, labels: tuple[str, ...], line: int) -> _Item:
        """Return an assignment with the value that comes next, which is passed."""
        first = self._peek()
        if first is None:
            return _Item(labels, line)
        if first["heredoc"] is not None:
            self.at += 1
            return _Item(labels, line, first["heredoc"], is_heredoc=True)
        if first[0] == "{" and self._word_ahead() != "for":
            self.at += 1
            return _Item(labels, line, within=tuple(self.items("}")))
        if first[0] == "[" and self._word_ahead() == "{":
            self.at += 1
            return _Item(labels, line, within=tuple(self.items("]")))
        depth, start, end = 0, first.start(), first.start()
        while (token := self._peek()) is not None:
            if depth == 0 and token[0] in ("\n", ",", "}", "]"):
                break
            depth += (token[0] in ("{", "[", "(")) - (token[0] in ("}", "]", ")"))
            end = token.end()
            self.at += 1
        return _Item(labels, line, self.text[start:end].strip())

    def _word_ahead(self) -> str:
        """Return the token after the next one, on whatever line; empty at the end."""
        later = (self.tokens[at][0] for at in range(self.at + 1, len(self.tokens)))
        return next((word for word in later if word != "\n"), "")

    def _peek(self) -> re.Match[str] | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _next(self) -> re.Match[str] | None:
        token = self._peek()
        self.at += 1
        return token

    def _line(self, token: re.Match[str]) -> int:
        return 1 + self.text.count("\n", 0, token.start())


class _Reader:
    """Reads the items of one file."""

    def __init__(self, file: str, of_file: dict[str, _Item], variables: Variables, *, of_msk: bool) -> None:
        self.file, self.locals, self.variables, self.of_msk = file, of_file, variables, of_msk
        self.used, self.open = set[str](), set[str]()

    def all_of(self, items: Sequence[_Item], topic: str | None = None, scope: str = "") -> Iterator[Declared]:
        """Yield the entries of items and of all within them."""
        for item in items:
            if item.key == "resource" and len(item.labels) > 2:
                yield from self._resource(item)
            elif topic is None and (name := self._names_topic(item)):
                yield from self._topic(item, name, scope)
            elif item.is_heredoc:
                yield from self._text(item, topic, scope)
            elif item.within:
                yield from self.all_of(item.within, topic, scope)
            elif item.value:
                yield from self._pair(item, topic, scope)

    def _resource(self, item: _Item) -> Iterator[Declared]:
        _, kind, name, *_ = item.labels
        scope = f"{kind}.{name}"
        if "kafka_topic" in kind:
            named = next((text for key in _TOPIC_NAMES if (text := item.texts.get(key))), name)
            computed = not re.fullmatch(r"[\w.\-]+", named) or named.startswith(("each.", "var.", "local."))
            yield from self._topic(item, name if computed else named, scope)
            return
        if kind.startswith("aws_msk"):
            yield Declared(None, MANAGED, "", self._place(item), scope=scope)
        yield from self.all_of(item.within, None, scope)

    @staticmethod
    def _names_topic(item: _Item) -> str:
        """Return the name of the topic that an object of some configuration describes; empty if it describes none."""
        texts = item.texts
        sized = any(key in texts for key in _SIZES) and ("partitions" in texts or _SIZES[0] in texts)
        if not sized:
            return ""
        of_key = item.key if len(item.labels) == 1 else ""
        return next((texts[key] for key in _TOPIC_NAMES if texts.get(key)), of_key)

    def _topic(self, item: _Item, name: str, scope: str) -> Iterator[Declared]:
        texts = item.texts
        if not any(key in texts for key in _SIZES):
            yield Declared(name, NOTHING, "", self._place(item), Source.TOPIC)
        for one in item.within:
            if one.key in _SIZES and one.value:
                yield Declared(name, "ReplicationFactor", one.value.strip('"'), self._place(one), Source.TOPIC, scope)
            elif one.key in _TOPIC_CONFIGS and one.value:
                known = self._known(one)
                if known is None:
                    said = f"{one.key} of topic {name} is computed, so the answer lacks what it says"
                    yield Declared(name, LEFT_OPEN, said, self._place(one), Source.TOPIC)
                else:
                    yield from self._of_local(known, name, scope)
            elif one.within:
                yield from self.all_of(one.within, name, scope)

    def _known(self, item: _Item) -> _Item | None:
        """Return the local of the file that an expression names; None if it names none."""
        found = _LOCAL.fullmatch(item.value)
        if found is None or (name := found[1] or found[2]) in self.open:
            return None
        self.used.add(name)
        return self.locals.get(name)

    def _of_local(self, local: _Item, topic: str | None, scope: str) -> Iterator[Declared]:
        """Yield the entries of a local; where it names itself within, it is not read again."""
        self.open.add(local.key)
        yield from self.all_of([local] if local.is_heredoc else local.within, topic, scope)
        self.open.discard(local.key)

    def _text(self, item: _Item, topic: str | None, scope: str) -> Iterator[Declared]:
        """Yield the properties of a text of several lines."""
        lines, first = item.value.splitlines(), item.line + 1
        if item.key in _PROPERTIES:
            yield from properties_in(self.file, lines, first=first, scope=scope)
        else:
            yield from properties_within(self.file, item.value, topic, first)

    def _pair(self, item: _Item, topic: str | None, scope: str) -> Iterator[Declared]:
        key, value, place = item.key, item.value, self._place(item)
        if key in _OF_CLUSTERS:
            value = _VARIABLE.sub(lambda found: self.variables.value_of(found[0])[0] or found[0], value)
        plain = value.strip('"')
        if key in _PROPERTIES:
            if (known := self._known(item)) is not None:
                yield from self._of_local(known, topic, scope)
                return
            if not value.startswith('"'):
                raise _computed(place, key)
            for entry in properties_in(self.file, plain.replace("\\n", "\n").splitlines(), scope=scope):
                yield replace(entry, place=place)
        elif key == "storage_mode":
            yield Declared(None, MANAGED, plain, place, scope=scope)
        elif key == "number_of_broker_nodes" and plain.isdecimal():
            yield Declared(None, BROKERS, plain, place, scope=scope)
        elif key == "source" and "msk" in plain:  # a module that makes a cluster of Amazon MSK
            yield Declared(None, MANAGED, "", place, scope=scope)
        elif key in _VERSIONS and (found := re.search(r"\d+\.\d+(?:\.\d+)*", value)):
            yield Declared(None, VERSION, found[0], place, scope=scope)
            without = [one for one in re.findall(r"\d+\.[\w.]+", value) if not one.endswith(".kraft")]
            if not self.of_msk:
                return
            if without:
                yield Declared(None, ZOOKEEPERS, f"{key} has {', '.join(without)} without .kraft", place, scope=scope)
            else:
                yield Declared(None, KRAFTS, plain, place, scope=scope)
        elif key == "kafka_version" and "null" not in value:
            said = f"{key} is {plain}, which no file says; give --release"
            yield Declared(None, LEFT_OPEN, said, place, scope=scope)
        elif setting_name(known_key := key if "." in key else kafka_key(key) or "") or (
            "." in key and may_be_kafkas(key)
        ):
            yield Declared(topic, known_key, plain, place, Source.in_file(topic), scope)

    def _place(self, item: _Item) -> Place:
        return Place(self.file, item.line)


def _computed(place: Place, key: str) -> UserError:
    return UserError(
        f"{place}: {key} is computed, so its lines are not here; give the text that comes of it, as "
        "`terraform console` prints it."
    )
