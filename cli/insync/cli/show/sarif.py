"""Annotations as SARIF 2.1.0 (OASIS, 2020), which code scanning services and editors show.

A property is a rule, a violation a result with its trace as the flow of the code. Paths begin in the root of the
repository, and nothing is said of the machine.
"""

from __future__ import annotations

import hashlib
import json
import os
from importlib import metadata
from urllib.parse import quote

from insync.cli.show.annotations import Annotation, Outcome, PlacedStep, SourcePlace

__all__ = ["sarif_text"]

Object = dict[str, object]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_text(outcome: Outcome) -> str:
    """Return the text of the file for one search; one in which nothing fails has no results."""
    said = outcome.annotations()
    names = [*outcome.sentences(), *dict.fromkeys(a.rule for a in said if not a.fails)]
    run: Object = {
        "tool": {
            "driver": {
                "name": "insync",
                "version": metadata.version("insync"),
                "rules": [_rule(name, outcome) for name in names],
            }
        },
        "automationDetails": {"id": f"insync/{outcome.name}/"},
        "invocations": [{"executionSuccessful": True, "exitCode": outcome.exit_code}],
        "results": [_result(annotation, names.index(annotation.rule), outcome) for annotation in said],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=1) + "\n"


_OTHER_RULES = {
    "incomplete": "The search was stopped before the space was complete, so nothing is proved.",
    "unproved": "A property is neither proved nor refuted.",
    "suspicious": "The model is probably not what its author means.",
}


def _rule(name: str, outcome: Outcome) -> Object:
    sentence = _OTHER_RULES.get(name) or outcome.sentences().get(name) or f"{name} holds."
    return {"id": name, "shortDescription": {"text": sentence}, "help": {"text": sentence}}


def _result(annotation: Annotation, rule: int, outcome: Outcome) -> Object:
    result: Object = {
        "ruleId": annotation.rule,
        "ruleIndex": rule,
        "level": "error" if annotation.fails else "warning",
        "message": {"text": annotation.message},
        "locations": [_location(annotation.place, outcome)],
        "partialFingerprints": {"insync/v1": _fingerprint(annotation, outcome)},
    }
    if annotation.steps:
        flow = [_step(step) for step in annotation.steps]
        result["codeFlows"] = [{"message": {"text": "The shortest trace"}, "threadFlows": [{"locations": flow}]}]
    return result


def _fingerprint(annotation: Annotation, outcome: Outcome) -> str:
    """Return what is the same for the same property of the same model, wherever it moves in its file."""
    said = "" if annotation.fails else annotation.message
    return hashlib.sha256(f"{outcome.name} {annotation.rule} {said}".encode(errors="surrogateescape")).hexdigest()


def _location(place: SourcePlace | None, outcome: Outcome) -> Object:
    named: Object = {"logicalLocations": [{"name": outcome.name, "kind": "type"}]}
    return named if place is None else {**_physical(place), **named}


def _physical(place: SourcePlace) -> Object:
    artifact = {"uri": quote(os.fsencode(place.path)), "uriBaseId": "%SRCROOT%"}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": place.line}}}


def _step(step: PlacedStep) -> Object:
    location: Object = {"message": {"text": step.label}}
    if step.place is not None:
        location |= _physical(step.place)
    state = {name: {"text": value} for name, value in step.changed.items()}
    return {"location": location, **({"state": state} if state else {})}
