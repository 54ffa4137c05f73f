"""What is live in a cluster, and why: its features, the rules in force, and the steps that can be taken."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from insync.kafka.cluster.features import Features, deciding, features_asked
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.steps import words_of
from insync.kafka.releases import Rules

__all__ = ["LiveCluster", "LiveFeature", "LiveRule", "LiveStep", "live_cluster"]


@dataclass(frozen=True, slots=True)
class LiveFeature:
    """A feature.

    Attributes:
        name: its name.
        sentence: what it is.
        on: whether it is in force.
        decided_by: the settings, budgets and rules that were read to decide that, with their values; where it is off
            the last one decides.
    """

    name: str
    sentence: str
    on: bool
    decided_by: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LiveRule:
    """A rule in force.

    Attributes:
        name: its name.
        value: how it is.
        sentence: what it says.
        changed: whether the release has it otherwise, so that an entry of the catalogue or a setting has changed it.
    """

    name: str
    value: str
    sentence: str
    changed: bool


@dataclass(frozen=True, slots=True)
class LiveStep:
    """A step of the model.

    Attributes:
        name: the name of its action.
        sentence: what it is.
        kafka: the methods of Kafka that it stands for.
        bindings: for how many values of its parameters something here can take it; 0 if nothing can.
        waits_for: the feature without which there is no such step; empty if it is there.
    """

    name: str
    sentence: str
    kafka: str
    bindings: int
    waits_for: str


@dataclass(frozen=True, slots=True)
class LiveCluster:
    """What is live in a cluster.

    Attributes:
        chosen: the settings and budgets that differ from their defaults, and the release.
        features: all features.
        rules: the rules of the release, and those of other parts that were changed.
        steps: all steps.
    """

    chosen: Mapping[str, int | str]
    features: tuple[LiveFeature, ...]
    rules: tuple[LiveRule, ...]
    steps: tuple[LiveStep, ...]


def live_cluster(model: Cluster) -> LiveCluster:
    """Return what is live in a cluster under its settings and budgets."""
    default = Cluster().identity
    chosen = {name: value for name, value in model.identity.items() if name == "release" or value != default[name]}
    return LiveCluster(chosen, _features(model), _rules(model), _steps(model))


def _features(model: Cluster) -> tuple[LiveFeature, ...]:
    return tuple(
        LiveFeature(
            name,
            _sentence(getattr(Features, name).func),
            on,
            {one: _shown(value) for one, value in read.items()},
        )
        for name, (on, read) in deciding(model.b, model.in_force).items()
    )


def _rules(model: Cluster) -> tuple[LiveRule, ...]:
    released, found = Rules(model.b.settings.release.rules), []
    for name in Rules.names():
        value, changed = model.in_force.value(name), model.in_force.value(name) != released.value(name)
        if changed or hasattr(model.rules, name):
            found.append(LiveRule(name, _shown(value), Rules.documentation(name), changed))
    return tuple(found)


def _steps(model: Cluster) -> tuple[LiveStep, ...]:
    program, found = model.program, []
    taken = [action.name for action in program.actions]
    for name in program.action_names:
        method = getattr(type(model), name)
        kafka = re.search(r"Kafka: (.+)", " ".join((inspect.getdoc(method) or "").split()))
        on, asked = features_asked(words_of(type(model), name).on, model.features)
        cited, waits_for = kafka[1] if kafka else "", "" if on else asked[-1]
        found.append(LiveStep(name, _sentence(method), cited, taken.count(name), waits_for))
    return tuple(found)


def _sentence(documented: object) -> str:
    """Return the first paragraph of a docstring."""
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split())


def _shown(value: object) -> str:
    """Return a value as an option of the command has it; of a rule with several ways the name of the way."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Enum):
        own = str(value.value)
        return own if " " not in own else value.name.lower().replace("_", " ")
    return str(value)
