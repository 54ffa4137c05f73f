"""Variables that one file sets and another one takes: what fills in a template of Ansible, Spring or Terraform.

Such a template is one variable, perhaps with a default: `{{ name | default(2) }}`, `${name:2}`, `var.name`. It stands
for the value that the files set, or else for its default. A template that computes something stays one, and so does one
whose variable the files set to several values, as no file says which of them counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from insync.kafka_questions.configs.compose import variables_in, variables_named
from insync.kafka_questions.configs.entries import DEFAULTED, Declared, of_default, setting_name

__all__ = ["Variables"]

_PLAIN = r"-?\d[\w.]*|[Tt]rue|[Ff]alse"
_JINJA = re.compile(
    r"\{\{-?\s*(?P<name>[A-Za-z_]\w*)\s*"
    rf"(?:\|\s*d(?:efault)?\s*\(\s*(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\"|(?P<plain>{_PLAIN}))\s*(?:,[^()]*)?\)\s*)?"
    r"(?:\|\s*(?:bool|int|lower|string|trim)\s*)*-?\}\}"
)
_ENVIRONMENT = re.compile(r"\$\{(?P<name>[\w.-]+?)(?::?-(?P<shell>[^${}]*)|:(?P<spring>[^?+=${}][^${}]*))?\}")
_TERRAFORM = re.compile(r"(?:\$\{\s*)?var\.(?P<name>\w+)(?:\s*\})?")
_NAMED = re.compile(r"(?:\{\{-?\s*|\$\{\s*(?:var\.)?|\bvar\.)(\w+)")
_BLOCK = re.compile(r"^variable\s+\"?(?P<name>\w+)\"?\s*\{(?P<within>[^{}\n]*\}|.*?^\})", re.DOTALL | re.MULTILINE)
_DEFAULT = re.compile(r"^\s*default\s*=\s*\"?(?!null\b)(?P<value>[\w.+-]+)\"?\s*(?:[#}].*)?$", re.MULTILINE)


class Variables:
    """The variables of some files.

    Attributes:
        texts: the files, by name.
        documents: the names of those that are YAML or JSON.
        of_environment: the last value of each variable of the others, by which Compose fills in its files.
        defaults: the values that Terraform's own blocks give to variables.
    """

    def __init__(self, texts: Mapping[str, str], documents: Collection[str]) -> None:
        self.texts, self.documents = texts, documents
        self.of_environment = {
            name: value
            for file, text in texts.items()
            if file not in documents
            for name, value in variables_in(text).items()
        }
        self.defaults = {
            block["name"]: found["value"]
            for text in texts.values()
            for block in _BLOCK.finditer(text)
            if (found := _DEFAULT.search(block["within"])) is not None
        }
        self._named = {name for text in texts.values() for name in (*_NAMED.findall(text), *variables_named(text))}

    def helps(self, file: str) -> bool:
        """Return whether a file sets a variable that a template takes, or gives it a default."""
        text = self.texts[file]
        blocks = {block["name"] for block in _BLOCK.finditer(text)}
        return any(name in blocks or next(_values(text, name), None) is not None for name in self._named)

    def file_named(self, name: str, beside: str) -> str:
        """Return the file that another one names, by a path from its own folder or by its name; empty if none is."""
        exact = [file for file in self.texts if Path(file).resolve() == (Path(beside).parent / name).resolve()]
        alike = [file for file in self.texts if Path(file).name == Path(name).name]
        return next(iter(exact or (alike if len(alike) == 1 else [])), "")

    def filled_in(self, entry: Declared) -> Iterator[Declared]:
        """Yield an entry with the value of its variable, and one that names a default that was taken."""
        value, default = self.value_of(entry.value)
        if entry.key == "acks" and entry.value.endswith(":-1}"):  # a shell takes 1, and Spring -1, which is all
            value, default = None, ""
        yield entry if value is None else replace(entry, value=value)
        if default and setting_name(entry.key) is not None:
            yield Declared(None, DEFAULTED, default, entry.place)

    def value_of(self, template: str) -> tuple[str | None, str]:
        """Return the value of a template, None if it has none; and if the value is a default, a clause that says so."""
        text = template.strip()
        if (found := _JINJA.fullmatch(text)) is not None:
            files = [file for file in self.texts if not file.endswith(".tf")]
            default = next((one for one in found.group("single", "double", "plain") if one is not None), None)
        elif (found := _TERRAFORM.fullmatch(text)) is not None:
            files = [file for file in self.texts if file.endswith(".tfvars")]
            default = self.defaults.get(found["name"])
        elif (found := _ENVIRONMENT.fullmatch(text)) is not None:
            files = [file for file in self.texts if file not in self.documents and not file.endswith(".tf")]
            default = next((one for one in found.group("shell", "spring") if one is not None), None)
        else:
            return None, ""
        values = {value for file in files for value in _values(self.texts[file], found["name"])}
        if values:
            return (values.pop() or None if len(values) == 1 else None), ""
        return default, "" if default is None else of_default(found["name"], default)


def _values(text: str, name: str) -> Iterator[str]:
    """Yield each value that a text gives to a variable; empty for one that is no plain word."""
    given = re.compile(
        rf"(?<!\$\{{)(?<![\w.-]){re.escape(name)}[\"']?[ \t]*(?:=|:[ \t])[ \t]*[\"']?(?P<value>[^\s,}}\"'#]*)"
    )
    for line in text.splitlines():
        if not line.lstrip().startswith(("#", "//")):
            for found in given.finditer(line):
                yield found["value"] if re.fullmatch(r"[\w.+-]+", found["value"]) else ""
