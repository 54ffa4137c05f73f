"""What is live in `cluster` or `kraft`, and why: features, the rules in force, and the steps that can be taken.

A feature is a cached property of a class of features, which is made of bounds, settings and rules. What it reads of
these while it is calculated decided it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from insync.kafka.cluster.features import Features
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.steps import words_of
from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.options import QuorumFeatures
from insync.kafka.quorum.part import depends_on
from insync.kafka.quorum.rules import QuorumRules, quorum_rules_of
from insync.kafka.releases import Rules
from insync.model import BoundValues

__all__ = ["LiveFeature", "LiveModel", "LiveRule", "LiveStep", "deciding", "feature_names", "live_rules"]


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
class LiveModel:
    """What is live in a model of Kafka.

    Attributes:
        model: the name of the model.
        chosen: the settings and budgets that differ from their defaults, and the release.
        features: all features.
        rules: the rules of the release, and those of other parts that were changed.
        steps: all steps.
    """

    model: str
    chosen: Mapping[str, int | str]
    features: tuple[LiveFeature, ...]
    rules: tuple[LiveRule, ...]
    steps: tuple[LiveStep, ...]


def live_rules(model: Cluster | Kraft) -> LiveModel:
    """Return what is live in a model under its settings and budgets."""
    release, default = model.b.settings.release, type(model)().identity
    chosen = {name: value for name, value in model.identity.items() if name == "release" or value != default[name]}
    if isinstance(model, Cluster):
        features, rules = _features(Features, model.b, model.in_force), _rules(model.in_force, Rules(release.rules))
    else:
        features, rules = _features(QuorumFeatures, model.b, model.rules), _rules(model.rules, quorum_rules_of(release))
    return LiveModel(model.name, chosen, features, rules, _steps(model))


def feature_names(kind: type) -> tuple[str, ...]:
    """Return the names of all features of a class, in the order in which they are declared."""
    every = vars(kind).items()
    return tuple(name for name, one in every if isinstance(one, cached_property) and not name.startswith("_"))


def deciding(
    kind: type[Features | QuorumFeatures], b: BoundValues, rules: Rules | QuorumRules
) -> Mapping[str, tuple[bool, Mapping[str, object]]]:
    """Return of each feature whether it is in force, and the settings, budgets and rules by which that was decided.

    If a feature is off, the last of them decided it: those before left it open.
    """
    found: dict[str, tuple[bool, Mapping[str, object]]] = {}
    for name in feature_names(kind):
        read: dict[str, object] = {}
        found[name] = getattr(kind(_noting(b, read), _noting(rules, read)), name), read
    return found


def _noting(values: object, read: dict[str, object]) -> Any:
    """Return an object with the attributes of some values, and of groups of values, that notes which are read."""

    def noted(name: str) -> property:
        def get(_: object) -> object:
            value = getattr(values, name)
            if isinstance(value, Mapping) or (is_dataclass(value) and not isinstance(value, Enum)):
                return _noting(value, read)
            read[name] = value
            return value

        return property(get)

    names = {*dir(values), *(values if isinstance(values, Mapping) else ())}
    return type("Noting", (), {name: noted(name) for name in names if not name.startswith("_")})()


def _features(
    kind: type[Features | QuorumFeatures], b: BoundValues, rules: Rules | QuorumRules
) -> tuple[LiveFeature, ...]:
    return tuple(
        LiveFeature(
            name,
            _sentence(getattr(kind, name).func),
            on,
            {one: _shown(value) for one, value in read.items()},
        )
        for name, (on, read) in deciding(kind, b, rules).items()
    )


def _rules(rules: Rules | QuorumRules, released: Rules | QuorumRules) -> tuple[LiveRule, ...]:
    """Return the rules of the release, and those of other parts that differ from what it has."""
    found, of_release = [], {one.name for one in fields(released.release)}
    for name in rules.names():
        value, changed = rules.value(name), rules.value(name) != released.value(name)
        if changed or name in of_release:
            found.append(LiveRule(name, _shown(value), rules.documentation(name), changed))
    return tuple(found)


def _steps(model: Cluster | Kraft) -> tuple[LiveStep, ...]:
    program, found = model.program, []
    taken = [action.name for action in program.actions]
    for name in program.action_names:
        method = getattr(type(model), name)
        kafka = re.search(r"Kafka: ((?:.+\n?)+)", inspect.getdoc(method) or "")
        depends = words_of(type(model), name).on if isinstance(model, Cluster) else depends_on(method)
        on, asked = _asked(depends, model.features)
        cited, waits_for = " ".join(kafka[1].split()) if kafka else "", "" if on else asked[-1]
        found.append(LiveStep(name, _sentence(method), cited, taken.count(name), waits_for))
    return tuple(found)


def _asked(on: Callable[[Any], bool], features: Features | QuorumFeatures) -> tuple[bool, list[str]]:
    """Return whether something is there, and the features that were asked for that, the deciding one last."""
    read: dict[str, object] = {}
    return on(_noting(features, read)), list(read)


def _sentence(documented: object) -> str:
    """Return the first paragraph of a docstring, without what it cites of Kafka."""
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].partition("Kafka: ")[0].split())


def _shown(value: object) -> str:
    """Return a value as an option of the command has it; of a rule with several ways the name of the way."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Enum):
        own = str(value.value)
        return own if " " not in own else value.name.lower().replace("_", " ")
    return str(value)
