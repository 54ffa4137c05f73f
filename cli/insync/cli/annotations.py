"""A result as annotations of source lines, for GitHub Actions and in SARIF 2.1.0.

Violations, unproved properties and warnings are placed at the line of the property, action or class that they concern.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from insync.explorer.documents.text import plural
from insync.explorer.pictures.picture import Picture, induction_picture
from insync.model.language.declarations import place_of_function
from insync.proofs.results import ProofVerdict
from insync.properties.invariants import TYPE_OK, TYPE_OK_SENTENCE
from insync.properties.registry import invariants_of, lemmas_of, run_properties_of
from insync.runtime.text import in_one_line, visible

if TYPE_CHECKING:
    from insync.explorer.proof_results import ProofResult
    from insync.explorer.traces.trace import RefusedStep, Trace
    from insync.model import Model
    from insync.properties.invariants import Invariant
    from insync.properties.temporal import RunProperty

__all__ = [
    "Finding",
    "Outcome",
    "github_lines",
    "inductions",
    "mistake",
    "sarif_text",
    "unproved",
]


_LINE = re.compile(r"(?P<file>[^\n]*?\.py):(?P<line>\d+): ")
_LOADED = re.compile(r"(?P<file>[^\n]*?\.py) cannot be loaded: .*[(, ]line (?P<line>\d+)\)", re.DOTALL)
_PLACED = re.compile(r"(?P<place>[^\n]*?\.py:\d+): ")


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A line of a file in the repository; the path begins at its root and has `/` between its parts."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class PlacedStep:
    """A step of a trace, the place of its action in the source, and the fields that it changed, as JSON."""

    label: str
    place: SourcePlace | None
    changed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation.

    Attributes:
        rule: the property that fails; or `incomplete`, `unproved`, `suspicious` or `mistake`.
        message: one or two sentences.
        place: the place; None if it is not in the repository, such as that of a model that comes with insync.
        fails: whether it is an error, such as a property that fails; else it is a warning.
        steps: the trace of a violation.
    """

    rule: str
    message: str
    place: SourcePlace | None
    fails: bool
    steps: Sequence[PlacedStep] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What a trace shows, in the words of its command in place of those of its property.

    Attributes:
        rule: a name for it.
        message: one or two sentences.
        place: the file and the line that it concerns, with a colon between; empty if there is none.
    """

    rule: str
    message: str
    place: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The part of a result that annotations show.

    Attributes:
        model: the model.
        traces: one for each property that fails with a trace.
        asked: the names of the properties that were checked.
        stopped_by: the limit that stopped the search, in words; empty if none did, or a property fails.
        warnings: sentences.
        exit_code: the exit code of the command.
        never: the names of `sometimes` properties that fail, as no state satisfies them.
        unproved: the reasons why properties are neither proved nor refuted, by name.
        findings: what each trace shows; none where the properties say it.
    """

    model: Model
    traces: Sequence[Trace]
    asked: Sequence[str]
    stopped_by: str
    warnings: Sequence[str]
    exit_code: int
    never: Sequence[str] = ()
    unproved: Mapping[str, str] = field(default_factory=dict)
    findings: Sequence[Finding] = ()

    @property
    def name(self) -> str:
        """The name of the model's class, which is the same on every machine."""
        return in_one_line(type(self.model).__name__)

    def annotations(self) -> list[Annotation]:
        """Return the annotations, violations first, with control characters as escapes."""
        return [_shown(each) for each in self._annotations()]

    def _annotations(self) -> list[Annotation]:
        root = repository()
        said = [self._failure(trace, root, found) for trace, found in zip_longest(self.traces, self.findings)]
        for name in self.never:
            message = f"{self.name}: {name} fails: no state satisfies it."
            said.append(Annotation(name, message, self._written_at(name, root), fails=True))
        if self.stopped_by:
            message = f"{self.name}: the search was stopped by {self.stopped_by}, so nothing is proved."
            said.append(Annotation("incomplete", message, _of_class(self.model, root), fails=False))
        for name, reason in self.unproved.items():
            message = f"{self.name}: {name} is not proved. {reason}"
            said.append(Annotation("unproved", message, self._written_at(name, root), fails=False))
        return [*said, *(self._suspicion(warning, root) for warning in self.warnings)]

    def sentences(self) -> dict[str, str]:
        """Return the sentence of each property that was checked or fails, by name."""
        known = {TYPE_OK: TYPE_OK_SENTENCE}
        known |= {name: found.sentence for name, found in _written(self.model).items()}
        known |= {found.rule: found.message for found in self.findings}
        fail = [found.rule for found in self.findings] or [trace.property for trace in self.traces]
        names = dict.fromkeys([*self.asked, *fail, *self.never])
        return {in_one_line(name): visible(known.get(name, "")) for name in names}

    def _failure(self, trace: Trace, root: Path, found: Finding | None) -> Annotation:
        steps = list(_steps(type(self.model), trace, root))
        if found is not None:
            place = _below(found.place, root) if found.place else None
            return Annotation(found.rule, found.message, place, fails=True, steps=steps)
        settings = ", ".join(f"{name} {value}" for name, value in trace.bounds.items())
        after = "" if trace.loop is not None else f" after {plural(trace.length - 1, 'step')}"
        under = f" ({settings})" if settings else ""
        message = f"{self.name}: {trace.property} fails{after}{under}. {trace.reason}".rstrip()
        return Annotation(trace.property, message, self._place(trace, root), fails=True, steps=steps)

    def _place(self, trace: Trace, root: Path) -> SourcePlace | None:
        if trace.refused is not None:
            return _of_refused(type(self.model), trace.refused, root)
        return self._written_at(trace.property, root)

    def _written_at(self, name: str, root: Path) -> SourcePlace | None:
        written = _written(self.model).get(name)
        place = _below(written.place, root) if written is not None and written.place else None
        return place or _of_class(self.model, root)

    def _suspicion(self, warning: str, root: Path) -> Annotation:
        """Return the annotation of a warning, at the place in its first words if it has one."""
        placed = _PLACED.match(warning)
        if placed is None:
            return Annotation("suspicious", f"{self.name}: {warning}", _of_class(self.model, root), fails=False)
        return Annotation("suspicious", warning[placed.end() :], _below(placed["place"], root), fails=False)


def mistake(message: str) -> Annotation:
    """Return the annotation of a mistake in a model, at the line that the message names."""
    root, named = repository(), _LINE.match(message)
    if named is not None:
        place = _below(f"{named['file']}:{named['line']}", root)
        return _shown(
            Annotation("mistake", message[named.end() :] if place is not None else message, place, fails=True)
        )
    loaded = _LOADED.match(message)
    place = None if loaded is None else _below(f"{loaded['file']}:{loaded['line']}", root)
    return _shown(Annotation("mistake", message, place, fails=True))


def _shown(said: Annotation) -> Annotation:
    """Return an annotation with the control characters in its texts as escapes."""
    steps = [
        PlacedStep(
            in_one_line(step.label), step.place, {visible(name): visible(text) for name, text in step.changed.items()}
        )
        for step in said.steps
    ]
    return replace(said, rule=in_one_line(said.rule), message=visible(said.message), steps=steps)


def repository() -> Path:
    """Return the folder that paths are relative to: the root of the repository, else the current folder."""
    here = Path.cwd()
    given = os.environ.get("GITHUB_WORKSPACE")
    if given and here.is_relative_to(Path(given).resolve()):
        return Path(given).resolve()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def _written(model: Model) -> dict[str, Invariant | RunProperty]:
    return {**lemmas_of(model), **invariants_of(model), **run_properties_of(model)}


def _steps(kind: type[Model], trace: Trace, root: Path) -> Iterator[PlacedStep]:
    before: Mapping[str, object] = {}
    for step in trace.steps:
        changed = {name: value for name, value in step.state.items() if name not in before or before[name] != value}
        written = {name: json.dumps(value, ensure_ascii=False, default=str) for name, value in changed.items()}
        yield PlacedStep(step.label, None if step.action is None else _of_action(kind, step.action, root), written)
        before = step.state
    refused = trace.refused
    if refused is not None:
        yield PlacedStep(f"{refused.label}: {refused.message}", _of_action(kind, refused.action, root), {})


def _of_action(kind: type[Model], name: str, root: Path) -> SourcePlace | None:
    return _below(place_of_function(getattr(kind, name)), root)


def _of_refused(kind: type[Model], refused: RefusedStep, root: Path) -> SourcePlace | None:
    """Return the line that the message names if it is in the file of the action, else that of the action."""
    action = _of_action(kind, refused.action, root)
    named = _LINE.match(refused.message)
    if action is None or named is None or Path(action.path).name != named["file"]:
        return action
    return SourcePlace(action.path, int(named["line"]))


def _of_class(model: Model, root: Path) -> SourcePlace | None:
    """Return the place of a model's class; None if its source is not available."""
    try:
        file, (_, line) = inspect.getsourcefile(type(model)), inspect.getsourcelines(type(model))
    except (OSError, TypeError):
        return None
    return _below(f"{file}:{line}", root)


def _below(place: str, root: Path) -> SourcePlace | None:
    """Return a `file:line` as a place in the repository; None if it is outside, such as in an installed package."""
    path, _, line = place.rpartition(":")
    file = Path(path).resolve()
    inside = file.is_relative_to(root) and not _INSTALLED & set(file.relative_to(root).parts)
    return SourcePlace(file.relative_to(root).as_posix(), int(line)) if inside else None


_INSTALLED = {"site-packages", "dist-packages"}


# Annotations as workflow commands of GitHub Actions, one a line, escaped as GitHub's own toolkit does.


_IN_MESSAGES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTIES = {**_IN_MESSAGES, ord(":"): "%3A", ord(","): "%2C"}


def github_lines(annotations: Iterable[Annotation]) -> str:
    """Return annotations as workflow commands, one a line."""
    return "\n".join(map(_line, annotations))


def _line(annotation: Annotation) -> str:
    properties = {"title": f"insync: {annotation.rule}"}
    if annotation.place is not None:
        properties = {"file": annotation.place.path, "line": str(annotation.place.line), **properties}
    written = ",".join(f"{name}={visible(value).translate(_IN_PROPERTIES)}" for name, value in properties.items())
    steps = [f"{number:>3}  {step.label}" for number, step in enumerate(annotation.steps)]
    text = "\n".join([annotation.message, *steps]).translate(_IN_MESSAGES)
    return f"::{'error' if annotation.fails else 'warning'} {written}::{text}"


# Annotations as SARIF 2.1.0 (OASIS, 2020), which code scanning services and editors show.
#
# A property is a rule, and a violation a result with its trace as a code flow. Paths are relative to the root of the
# repository, so the file does not depend on the machine.


Object = dict[str, object]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_text(outcome: Outcome) -> str:
    """Return a result as the text of a SARIF file."""
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
    "suspicious": "The model is probably not what its author intends.",
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
    """Return a digest that stays the same for a property of a model when its line in the file changes."""
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


# Inductions that fail.


def unproved(attempt: ProofResult) -> dict[str, str]:
    """Return for each unproved property the reason: a step that breaks it, or a query that z3 cannot decide."""
    if attempt.traces:
        return {}
    reasons = dict.fromkeys(attempt.lost, "A step breaks it, so induction cannot prove it.")
    for query in attempt.result.queries:
        for name in () if query.counterexample is None else query.counterexample.failing:
            said = f"{query.name} breaks it in a step from a good state, which may be one that is never reached."
            reasons.setdefault(name, said)
        if query.verdict is ProofVerdict.UNKNOWN:
            said = f"z3 cannot decide whether {query.name} keeps it{f' ({query.reason})' if query.reason else ''}."
            for found in attempt.properties:
                reasons.setdefault(found.name, said)
    return reasons


def inductions(attempt: ProofResult, command: str) -> list[Picture]:
    """Return the counterexamples to induction as pictures; `command` is the command that finds them again."""
    from insync.explorer.prove import induction_trace  # needs z3, which only a proof has

    return [
        induction_picture(induction_trace(attempt.model, found), attempt.model, query.name, found.failing, command)
        for query in attempt.result.queries
        if (found := query.counterexample) is not None
    ]
