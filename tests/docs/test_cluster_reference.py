"""The pages of docs/guide/reference about the cluster are what its code says.

They are about its parts, steps, options, properties, fields, and rules by release.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from enum import Enum
from functools import cache
from pathlib import Path

import pytest

from insync.kafka.cluster.configuration import OPTION_GROUPS, RARE_OPTIONS
from insync.kafka.cluster.former_names import FORMER_NAMES
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import Takes, words_of
from insync.kafka.releases import Release, ReleaseRules, Rules
from insync.kafka.releases.history import CHANGES, OLDEST
from insync.kafka.typed_state import fields_of
from insync.model.define import DEADLOCK_FREE
from insync.model.domains.bounds import choices, default_of, range_of
from insync.model.language.declarations import action_specs
from insync.model.language.parts import HeldPart
from insync.properties import kafka as properties_of_kafka
from insync.properties.invariants import StepInvariant
from insync.properties.registry import invariants_of, run_properties_of

FOLDER = Path(__file__).parents[2] / "docs" / "guide" / "reference"
STEPS = FOLDER / "cluster-steps.md"
TABLE = re.compile(r"(?:\|.*\n)+")
CODE = re.compile(r"\b(?:[A-Z]\w*[a-z]\w*\.[a-z]\w+|[a-z]+[A-Z]\w*|(?:[A-Z][a-z]+){2,})\b")
"""A class of Kafka, a method, or both."""

SMALL: dict[str, int | str] = {"replicas": 3, "records": 1, "isr_shrinks": 2}
WITHOUT_DIRECTORIES = dict.fromkeys(("log_dir_moves", "log_dir_failures"), 0)


def page(title: str, for_whom: str, *lines: str) -> str:
    """The text of a page."""
    return "\n".join([f"# {title}", "", f"{for_whom} The code makes this page: `make records`.", "", *lines, ""])


def steps_page() -> str:
    """Steps by part, each with its label, what it takes, the releases that have it, and Kafka's methods."""
    head = "| step | in words | what it takes | releases | Kafka |", "|---|---|---|---|---|"
    return page("Steps of the cluster model", FOR_STEPS, *head, *rows(releases))


def options_page() -> str:
    """Options by group, with their values, defaults, sentences and former names."""
    former = {now: [name for name, one in FORMER_NAMES.items() if one == now] for now in FORMER_NAMES.values()}
    lines: list[str] = []
    for title, names in {**OPTION_GROUPS, "Rare: `--help-all` shows them": RARE_OPTIONS}.items():
        lines += [f"## {title}", "", "| option | values | default | what it is | was |", "|---|---|---|---|---|"]
        for name in names:
            choice = choices(Cluster)[name]
            values = "the names of `insync defects`" if name == "defect" else range_of(choice)
            was = ", ".join(f"`{one}`" for one in former.get(name, ()))
            lines.append(f"| `{name}` | {values} | {default_of(choice)} | {choice.doc} | {was} |")
        lines.append("")
    return page("Options of the cluster model", FOR_OPTIONS, *lines[:-1])


def releases_page() -> str:
    """What each release changed of the rules of the one before it, and the rules of the oldest one."""
    lines = ["| release | rule | how it is from there on | what the rule says |", "|---|---|---|---|"]
    for release, changed in CHANGES.items():
        for name, value in changed.items():
            lines.append(f"| {release} | `{name}` | {shown(value)} | {Rules.documentation(name)} |")
    lines += ["", f"## {next(iter(Release)).value}", "", "Where its rules are not those of the newest release:", ""]
    newest = Rules()
    lines += ["| rule | how it is | what the rule says |", "|---|---|---|"]
    for name, value in vars_of(OLDEST).items():
        if value != newest.value(name):
            lines.append(f"| `{name}` | {shown(value)} | {Rules.documentation(name)} |")
    return page("Rules of the cluster model by release", FOR_RELEASES, *lines)


def parts_page() -> str:
    """Files by folder, each with the first sentence of its docstring and the classes of Kafka that it cites."""
    lines: list[str] = []
    for folder, title in FOLDERS.items():
        lines += [f"## {title}", "", "| file | what is in it | Kafka |", "|---|---|---|"]
        for path in sorted((CLUSTER / folder).glob("*.py")):
            if path.name != "__init__.py":
                first, cited = said_of(path)
                lines.append(f"| `{path.relative_to(CLUSTER).as_posix()}` | {first} | {cited} |")
        lines.append("")
    return page("Files of the cluster model", FOR_PARTS, *lines[:-1])


def said_of(path: Path) -> tuple[str, str]:
    """The first paragraph of a module's docstring, and the classes of Kafka that it cites behind `Kafka:`."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    cited = " ".join(doc.partition("Kafka: ")[2].split()).split("; ")[0].split(". ")[0]
    named = dict.fromkeys(re.findall(r"\b[A-Z]\w*[a-z]\w*(?:\.\w+)?\b", cited))
    return " ".join(doc.split("\n\n")[0].partition(" Kafka: ")[0].split()), ", ".join(f"`{one}`" for one in named)


def properties_page() -> str:
    """Properties by kind, each with its sentence and the names that TLA+ modules have for it."""
    lines: list[str] = []
    runs, states = run_properties_of(Cluster), invariants_of(Cluster())
    own = {name: kept for name, kept in PROMISES.items() if name in runs or name in states}
    steps = {name for name, one in states.items() if isinstance(one, StepInvariant)}
    kinds: dict[str, Callable[[str], bool]] = {
        "Of states": lambda name: name in states and name not in steps,
        "Of steps: checked by name": lambda name: name in steps,
        "Of runs: `insync liveness cluster`": lambda name: name in runs,
    }
    for title, fits in kinds.items():
        lines += [f"## {title}", "", "| property | means | TLA+ |", "|---|---|---|"]
        for name, function in own.items():
            if fits(name):
                doc = inspect.getdoc(function) or ""
                star = " *" if name in Cluster.headline else ""
                tla = ", ".join(re.findall(r"\b[A-Z]\w+\b", "".join(re.findall(r"TLA\+: ([\w, ]+)", doc))))
                means = " ".join(doc.split("\n\n")[0].split())
                lines.append(f"| `{name}`{star} | {re.sub(r' [(]TLA[+]: .*?[)]', '', means)} | {tla} |")
        lines.append("")
    return page("Properties of the cluster model", FOR_PROPERTIES, *lines[:-1])


def state_page() -> str:
    """Fields by class, each with its sentence and what it depends on: features by name, or rules."""
    lines: list[str] = []
    for kind in classes_of(ClusterState):
        doc = inspect.getdoc(kind) or ""
        lines += [f"## {kind.__name__}", "", " ".join(doc.split("\n\n")[0].split()), ""]
        lines += ["| field | what it is | only with |", "|---|---|---|"]
        for name, one in fields_of(kind).items():
            read: list[str] = []
            one.on(Noting(read, ""))
            lines.append(f"| `{name}` | {one.says} | {' and '.join(f'`{feature}`' for feature in read)} |")
        lines.append("")
    return page("Fields of the cluster model", FOR_STATE, *lines[:-1])


class Noting:
    """Stands for what is in force where all is, and notes what a field depends on."""

    def __init__(self, read: list[str], of: str) -> None:
        self.read, self.of = read, of

    def __getattr__(self, name: str) -> Noting | bool:
        if name in ("rules", "fixes", "guards"):
            return Noting(self.read, f"{name}.")
        self.read.append(f"{self.of}{name}")
        return True


def classes_of(kind: type) -> list[type]:
    """A class of fields, and before it those of its parts, each once."""
    parts = [one.kind for one in fields_of(kind).values() if one.kind is not None]
    return list(dict.fromkeys([*(inner for part in parts for inner in classes_of(part)), kind]))


CLUSTER = FOLDER.parents[2] / "model" / "insync" / "kafka" / "cluster"
FOLDERS = {"": "What all parts share", "controller": "The controller", "broker": "A broker", "clients": "Clients"}
PROMISES = {
    name: value
    for found in sorted(pkgutil.iter_modules(properties_of_kafka.__path__), key=lambda one: one.name)
    if found.name.startswith("cluster") and "reasons" not in found.name
    for name, value in vars(importlib.import_module(f"{properties_of_kafka.__name__}.{found.name}")).items()
    if inspect.isfunction(value) and value.__module__.endswith(found.name)
}
"""The functions beside the model that may be its properties, by name."""

FOR_PARTS = (
    "For readers who know a class of Kafka and look for it in the model: each file, and the classes that it has."
)
FOR_PROPERTIES = (
    "For readers of a result: what each property promises. Those with a star are checked where none is named, and a "
    "property about something that the options leave out holds trivially."
)
FOR_STATE = (
    "For readers of a state or of a part's code: each field, and the feature without which it is not there. "
    "[What was left out](../cluster-state.md) has a page."
)
FOR_STEPS = "For readers of a trace beside Kafka's code: each step, what it takes to happen, and Kafka's methods."
FOR_OPTIONS = (
    "For readers who want to know what can be given to `insync check cluster`: each option is `--option-name` on the "
    "command line and `option_name` in Python."
)
FOR_RELEASES = (
    "For readers who want to know what the model has of a release: a release that is not named has the rules of the "
    "one before it."
)


def shown(value: object) -> str:
    """A value of a rule: yes, no, or the sentence of one of several ways."""
    return str(value.value) if isinstance(value, Enum) else {True: "yes", False: "no"}[bool(value)]


def vars_of(rules: ReleaseRules) -> dict[str, object]:
    return {one.name: getattr(rules, one.name) for one in fields(rules)}


def rows(of: Callable[[str], str | None]) -> Iterator[str]:
    """The rows; without the releases where the function says nothing of them."""
    specs = action_specs(Cluster)
    for held in (one for one in vars(Cluster).values() if isinstance(one, HeldPart)):
        for kind in held.kinds:
            for name, method in vars(kind).items():
                if name in specs:
                    cited = said(method).partition("Kafka: ")[2]
                    named = ", ".join(f"`{one}`" for one in CODE.findall(cited))
                    cells = f"`{name}`", specs[name].label, takes(name), of(name), named
                    yield f"| {' | '.join(cell for cell in cells if cell is not None)} |"


def said(method: object) -> str:
    return " ".join((inspect.getdoc(method) or "").split())


def takes(name: str) -> str:
    """What a step takes, in the words that it always has or in those of the function that looks at the moment."""
    needs = words_of(Cluster, name).needs
    if isinstance(needs, Takes):
        return f"{needs.hardness.value}: {needs.text}"
    return "" if needs is None else (inspect.getdoc(needs) or "").split("\n")[0]


@cache
def live() -> dict[Release, set[str]]:
    """The steps that something can take in each release, where all happens that may."""
    found: dict[Release, set[str]] = {}
    for release in Release:
        if release.same_since is not release:
            found[release] = found[release.same_since]
            continue
        chosen = {**SMALL, "preset": "everything", "release": release.value}
        models = Cluster(**chosen), Cluster(**{**chosen, **WITHOUT_DIRECTORIES})
        found[release] = {action.name for model in models for action in model.program.actions}
    return found


def releases(name: str) -> str:
    """The releases that have a step, as spans; nothing if all have it."""
    order, spans = list(live()), list[list[Release]]()
    for before, release in zip([None, *order], order, strict=False):
        if name in live()[release]:
            if before is None or name not in live()[before]:
                spans.append([])
            spans[-1].append(release)
    if spans == [order]:
        return ""
    said_of = [
        f"{one[0].value} on"
        if one[-1] is order[-1]
        else f"{one[0].value} alone"
        if len(one) == 1
        else f"{one[0].value} to {one[-1].value}"
        for one in spans
    ]
    return ", ".join(said_of) or "none: an entry of the catalogue has it"


def test_the_page_of_steps_has_the_table_that_the_steps_make() -> None:
    (written,) = TABLE.findall(STEPS.read_text())
    without = [[*cells[:3], *cells[4:]] for line in written.splitlines() if (cells := line.strip("| ").split(" | "))]
    assert without[2:] == [line.strip("| ").split(" | ") for line in rows(lambda _: None)], "`make records` writes it"


@pytest.mark.slow
def test_the_guide_names_the_releases_that_have_a_step() -> None:
    assert STEPS.read_text() == steps_page(), "`make records` writes it"


PAGES = {
    "options": options_page,
    "releases": releases_page,
    "parts": parts_page,
    "properties": properties_page,
    "state": state_page,
}


@pytest.mark.parametrize("name", PAGES)
def test_the_other_pages_are_what_the_code_says(name: str) -> None:
    assert (FOLDER / f"cluster-{name}.md").read_text() == PAGES[name](), "`make records` writes it"


def test_each_part_cites_a_class_of_kafka_and_each_property_has_a_row() -> None:
    parts = [path for folder in ("broker", "controller", "clients") for path in (CLUSTER / folder).glob("[!_]*.py")]
    assert len(parts) > 25
    assert [path.name for path in parts if not said_of(path)[1]] == []
    declared = {name for name in invariants_of(Cluster()) if name != DEADLOCK_FREE} | {*run_properties_of(Cluster)}
    assert [name for name in PROMISES if name in declared and f"| `{name}`" not in properties_page()] == []


def test_each_option_and_each_rule_that_a_release_changed_has_a_row() -> None:
    options, rules = options_page(), releases_page()
    assert [name for name in choices(Cluster) if f"| `{name}` |" not in options] == []
    changed = {name for changes in CHANGES.values() for name in changes}
    assert [name for name in changed if f"| `{name}` |" not in rules] == []


if __name__ == "__main__":
    for name, text in {"steps": steps_page, **PAGES}.items():
        (FOLDER / f"cluster-{name}.md").write_text(text(), encoding="utf-8")
