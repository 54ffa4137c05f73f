"""Models as text and as JSON: settings, bounds, actions and properties."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from insync.model import Model, Setting
from insync.model.catalogue import BUILT_IN, find_model, model_reference
from insync.model.domains.bounds import Choice, choices, default_of, range_of
from insync.model.language.declarations import action_specs
from insync.properties.invariants import sentence_of
from insync.properties.registry import default_names, run_properties_of, sentences_of

if TYPE_CHECKING:
    from insync.explorer.documents.json_types.models import Among, ChoiceEntry, ModelEntry, ModelsObject

__all__ = ["built_in_models", "describe_model", "describe_models", "model_entry", "model_properties", "models_json"]


def built_in_models() -> list[type[Model]]:
    """Return the models that come with insync, in the order in which they are listed."""
    return [find_model(name) for name in BUILT_IN]


def model_properties(kind: type[Model]) -> list[tuple[str, str, bool]]:
    """Return name and sentence of each property of a model, and whether it is checked by default."""
    model = kind()
    default = default_names(model)
    return [(name, sentence, name in default) for name, sentence in sentences_of(model).items()]


def describe_models(engines: tuple[str, ...]) -> str:
    """Return the list of all models, a few lines each."""
    lines = []
    for kind in built_in_models():
        names = [f"{name}{'*' if default else ''}" for name, _, default in model_properties(kind)]
        lines += [*_head(kind), *_choice_lines(choices(kind), "    ")]
        lines += [f"    properties: {', '.join(names)}", ""]
    lines.append("After each bound its default and range. A property with a star is checked when none is named.")
    lines.append(f"Engines: {', '.join(engines)}. More about one model: insync list MODEL")
    return "\n".join(lines)


def describe_model(kind: type[Model]) -> str:
    """Return the settings, bounds, actions and properties of a model, each with its sentence."""
    properties = {f"{name}{'*' if default else ''}": text for name, text, default in model_properties(kind)}
    runs = {found.name: f"{found.kind}: {found.sentence}" for found in run_properties_of(kind).values()}
    sections = {
        "settings (default, names)": _choice_lines(kind.settings, "  "),
        "bounds (default, range)": _choice_lines(kind.bounds, "  "),
        "actions": _rows(_actions(kind)),
        "properties (* checked by default)": _rows(properties),
        "properties of runs": _rows(runs),
    }
    lines = _head(kind)
    for title, rows in sections.items():
        if rows:
            lines += ["", f"{title}:", *rows]
    return "\n".join(lines)


def models_json(engines: tuple[str, ...]) -> str:
    """Return the object for all models."""
    made: ModelsObject = {"models": [model_entry(kind) for kind in built_in_models()], "engines": list(engines)}
    return json.dumps(made, ensure_ascii=False)


def model_entry(kind: type[Model]) -> ModelEntry:
    """Return the entry of a model."""
    return {
        "name": model_reference(kind()),
        "sentence": _sentence(kind),
        "bounds": [_choice_entry(name, choice) for name, choice in choices(kind).items()],
        "properties": [
            {"name": name, "sentence": sentence, "headline": default}
            for name, sentence, default in model_properties(kind)
        ],
        "actions": [{"name": name, "sentence": sentence} for name, sentence in _actions(kind).items()],
        "run_properties": [
            {"name": found.name, "kind": found.kind, "sentence": found.sentence}
            for found in run_properties_of(kind).values()
        ],
    }


def _choice_entry(name: str, choice: Choice) -> ChoiceEntry:
    among: Among = (
        {"values": list(choice.names)}
        if isinstance(choice, Setting)
        else {"lowest": choice.lowest, "highest": choice.highest}
    )
    return {"name": name, "default": default_of(choice), **among, "sentence": choice.doc}


def _actions(kind: type[Model]) -> dict[str, str]:
    """Return the first paragraph of each action's docstring; empty if there is none."""
    texts = {name: inspect.getdoc(getattr(kind, name)) or "" for name in action_specs(kind)}
    return {name: " ".join(text.split("\n\n")[0].split()) for name, text in texts.items()}


def _head(kind: type[Model]) -> list[str]:
    sentence = _sentence(kind)
    return [model_reference(kind()), *([f"  {sentence}"] if sentence else [])]


def _sentence(kind: type[Model]) -> str:
    """Return the sentence of a model's class or of its bases, except the one that all models share."""
    return "" if inspect.getdoc(kind) == inspect.getdoc(Model) else sentence_of(kind)


def _choice_lines(shown: Mapping[str, Choice], indent: str) -> list[str]:
    width = max((len(name) for name in shown), default=0)
    return [
        f"{indent}{name:<{width}}  {f'{default_of(choice)} ({range_of(choice)})':<11}  {choice.doc}".rstrip()
        for name, choice in shown.items()
    ]


def _rows(texts: Mapping[str, str]) -> list[str]:
    width = max((len(name) for name in texts), default=0)
    return [f"  {name:<{width}}  {text}".rstrip() for name, text in texts.items()]
