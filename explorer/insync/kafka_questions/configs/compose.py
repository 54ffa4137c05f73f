"""Compose files: their services, the variables that are filled in, and how many brokers they run.

A value such as ${MIN:-2} is what a file of variables sets, or else its default (Compose file reference, chapter
Interpolation). A variable of the shell would be stronger; no file has those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from insync.kafka_questions.configs.entries import of_default
from insync.kafka_questions.configs.nodes import fields_of, items_of, text_of

if TYPE_CHECKING:
    from typing import Any

__all__ = ["brokers_in", "filled_in", "services_in", "variables_in", "variables_named"]

_VARIABLE = re.compile(r"(?<!\$)\$(?:\{(?P<name>\w+)(?:(?P<how>:?[-+?])(?P<other>[^${}]*))?\}|(?P<plain>[A-Za-z_]\w*))")
_NAMED = re.compile(r"(?<!\$)\$\{?(\w+)")
_SET = re.compile(r"^[ \t]*(?:export[ \t]+)?(?P<name>\w+)[ \t]*=[ \t]*(?P<value>[^\n]*)$", re.MULTILINE)
_OF_BROKERS = re.compile(
    r"KAFKA_(?:CFG_)?(?:NODE_ID|BROKER_ID|PROCESS_ROLES|ZOOKEEPER_CONNECT|(?:ADVERTISED_)?LISTENERS)"
)
_IMAGE = re.compile(r"(?:\S*/)?(?:kafka|cp-kafka|cp-server|cp-enterprise-kafka|kafka-native)(?::\S*)?")


def variables_in(text: str) -> dict[str, str]:
    """Return the variables that a file such as .env sets."""
    return {one["name"]: one["value"].split(" #", 1)[0].strip().strip("\"'") for one in _SET.finditer(text)}


def variables_named(text: str) -> list[str]:
    """Return the variables that a compose file takes values from; none of another text."""
    if re.search(r"^services:", text, re.MULTILINE) is None:
        return []
    return [one["name"] or one["plain"] for one in _VARIABLE.finditer(text)]


def services_in(root: Any) -> list[Any]:
    """Return the services of a compose file; none of another document."""
    return [service for service in fields_of(fields_of(root).get("services")).values() if service.id == "mapping"]


def filled_in(root: Any, variables: Mapping[str, str]) -> dict[int, str]:
    """Fill in the variables of all texts of a document, and return the defaults that were taken, by their lines.

    A variable without a value or a default stays.
    """
    variables = _without_circles(variables)
    taken: dict[int, str] = {}

    def value_of(line: int, found: re.Match[str]) -> str:
        name, how, other = found["name"] or found["plain"], found["how"] or "", found["other"] or ""
        value = variables.get(name)
        if how.startswith(":") and not value:
            value = None
        if how.endswith("+"):
            return "" if value is None else other
        if value is None and how.endswith("-"):
            taken[line] = of_default(name, other)
            return other
        return found[0] if value is None else value

    root.value = [(key, value) for key, value in root.value if not text_of(key).startswith("x-")]  # only for anchors
    for service in services_in(root):
        _pass_through(service)
    for node in _texts(root, set()):
        line, before = node.start_mark.line + 1, ""
        while before != node.value:  # a default may have variables of its own
            before = node.value
            node.value = _VARIABLE.sub(partial(value_of, line), before)
    return taken


def _without_circles(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables but for those that would be filled in with themselves, such as PATH=$PATH:/opt."""
    within = {name: set(_NAMED.findall(value)) for name, value in variables.items()}

    def reached_from(name: str) -> set[str]:
        reached, left = set[str](), [name]
        while left:
            new = within.get(left.pop(), set()) - reached
            reached |= new
            left += new
        return reached

    return {name: value for name, value in variables.items() if name not in reached_from(name)}


def _pass_through(service: Any) -> None:
    """Give each variable KAFKA_... of a service without a value that of the variable with its name, as Compose does."""
    environment = fields_of(service).get("environment")
    for name, value in fields_of(environment).items():
        if value.tag == "tag:yaml.org,2002:null" and name.startswith("KAFKA_"):
            value.tag, value.value = "tag:yaml.org,2002:str", f"${{{name}}}"
    for item in items_of(environment):
        if re.fullmatch(r"KAFKA_\w+", text_of(item)):
            item.value = f"{item.value}=${{{item.value}}}"


def _texts(node: Any, seen: set[int]) -> Iterator[Any]:
    """Yield each node that is a text once, also one that aliases put in several places."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if node.id == "scalar":
        yield node
    for one in items_of(node):
        yield from _texts(one, seen)
    for _, value in node.value if node.id == "mapping" else ():
        yield from _texts(value, seen)


def brokers_in(services: list[Any]) -> int:
    """Return how many brokers some services run; 0 if nothing shows it."""
    return sum(_brokers_of(one) for one in services)


def _brokers_of(service: Any) -> int:
    fields = fields_of(service)
    variables = dict(_pairs(fields.get("environment")))
    roles = [value for name, value in variables.items() if name.endswith("_PROCESS_ROLES")]
    of_kafka = _IMAGE.fullmatch(text_of(fields.get("image")).strip()) is not None
    runs = any(_OF_BROKERS.fullmatch(name) for name in variables) or not {"command", "entrypoint"} & fields.keys()
    if not (of_kafka and runs) or (roles and "broker" not in roles[0]):
        return 0
    count = text_of(fields_of(fields.get("deploy")).get("replicas", fields.get("scale")))
    return int(count) if count.isdecimal() else 1


def _pairs(node: Any) -> Iterator[tuple[str, str]]:
    """Yield the variables of a service, which are a mapping or a list."""
    for item in items_of(node):
        name, _, value = text_of(item).partition("=")
        yield name, value
    yield from ((name, text_of(value)) for name, value in fields_of(node).items())
