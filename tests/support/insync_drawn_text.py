"""The text of drawn models, as insync is given them."""

from __future__ import annotations

from collections.abc import Sequence

from insync_drawn_data import Action, Described, Parameters, Run, Statement
from insync_drawn_terms import Term, term_text
from insync_drawn_types import Type, domain_text, literal

__all__ = ["fairness_text", "model_text"]


def model_text(model: Described) -> str:
    """Return the text of a model file, whose class is `Drawn`."""
    lines = ["from __future__ import annotations", "", "import enum", "", "from insync.model import *", "", ""]
    for one in model.classes:
        lines += _class_lines(one, one.name in model.symmetric, model.bounded)
    lines += ["class Drawn(Model):"]
    if model.bounded:
        sizes = {one.name: one.hi + (one.kind == "Sort") for one in model.classes}
        given = ", ".join(f'{name.lower()}s=Bound({sizes[name]}, 0, 9, "how many")' for name in ("Site", "Turn"))
        lines += [f"    bounds = Bounds({given})"]
    if model.within:
        lines += [f"    within = {model.within!r}"]
    lines += ["", "    def declare(self, b):"]
    lines += [f"        return State({', '.join(f'{name}={domain_text(of)}' for name, of in model.state.fields)})", ""]
    for begin in model.begins:
        body = [f"s.{name} = ANY" for name in begin.anything] + _body_lines(begin.body)
        lines += _method("@initial", begin.name, begin.parameters, [*body, *_require_lines(begin.requires)])
    if model.plain:
        assigned = [f"s.{name} = {literal(model.state.field(name)[1], value)}" for name, value in model.plain]
        lines += ["    def initial(self, s):", *(f"        {line}" for line in assigned), ""]
    for action in model.actions:
        body = [_choice_line(action, *one) for one in action.local]
        body += [*_require_lines(action.requires), *_body_lines(action.body[:1])]
        body += [f"require({term_text(action.late)})"] if action.late is not None else []
        signature = action.parameters[: len(action.parameters) - len(action.local)]
        lines += _method("@action", action.name, signature, [*body, *_body_lines(action.body[1:])])
    for found in model.properties:
        word, views = ("step_invariant", ("before", "after")) if found.of_steps else ("invariant", ("s",))
        returned = [f"return {term_text(found.condition)}"]
        lines += _method(f"@{word}", found.name, found.parameters, returned, views)
    for run in model.runs:
        then = f"{run.tail}({term_text(run.then)})" if run.tail else term_text(run.then)
        both = [then] if run.when is None else [term_text(run.when), then]
        lines += _method(_decorator(run), run.name, run.parameters, [f"return {', '.join(both)}"])
    return "\n".join(lines)


def _class_lines(of: Type, symmetric: bool, bounded: bool) -> list[str]:
    alike, named = ", symmetric=True" if symmetric else "", f'bound("{of.name.lower()}s")'
    size, last = (named, named) if bounded and of.name in ("Site", "Turn") else (of.hi + 1, of.hi)
    body = {
        "Sort": (f"Index{alike}", [f"size = {size}"]),
        "Range": ("Range", [f"lo, hi = {of.lo}, {last}"]),
        "Enum": ("enum.Enum", [f"{name} = {number}" for number, name in enumerate(of.names)]),
    }[of.kind]
    return [f"class {of.name}({body[0]}):", *(f"    {line}" for line in body[1]), "", ""]


def _method(
    word: str, name: str, parameters: Parameters, body: Sequence[str], views: Sequence[str] = ("s",)
) -> list[str]:
    given = ", ".join(["self", *views, *(f"{own}: {_kind_text(of)}" for own, of in parameters)])
    return [f"    {word}", f"    def {name}({given}):", *(f"        {line}" for line in body or ["pass"]), ""]


def _choice_line(action: Action, name: str, held: Term | None) -> str:
    members = _kind_text(dict(action.parameters)[name]) if held is None else term_text(held)
    return f"{name} = any_of({members}, {name!r})"


def _kind_text(of: Type) -> str:
    return "bool" if of.kind == "Bool" else of.name


def _decorator(run: Run) -> str:
    given = fairness_text(run)
    return f"@{run.kind}({given})" if given else f"@{run.kind}"


def fairness_text(run: Run) -> str:
    """Return the fairness of a property of runs as arguments of its decorator."""
    parts = [(word, sets) for word, sets in (("weak", run.weak), ("strong", run.strong)) if sets]
    return ", ".join(f"{word}=({', '.join(repr(_fair_text(*one)) for one in sets)},)" for word, sets in parts)


def _fair_text(actions: tuple[str, ...], parameters: tuple[str, ...]) -> str:
    apart = f"({', '.join(parameters)})" if parameters else ""
    return " | ".join(f"{name}{apart}" for name in actions)


def _require_lines(requires: Sequence[Term]) -> list[str]:
    return [f"require({term_text(one)})" for one in requires]


AUGMENTED = {"add": "+=", "sub": "-=", "union": "|=", "minus": "-=", "meet": "&="}


def _body_lines(body: Sequence[Statement]) -> list[str]:
    lines = []
    for one in body:
        path = term_text(one.path) if one.path is not None else ""
        terms = [term_text(term) for term in one.terms]
        inner = [f"    {line}" for line in _body_lines(one.body) or ["pass"]]
        match one.kind:
            case "assign":
                word = AUGMENTED.get(one.terms[0].op)
                if word is not None and one.terms[0].args[0] == one.path:
                    lines += [f"{path} {word} {term_text(one.terms[0].args[1])}"]
                else:
                    lines += [f"{path} = {terms[0]}"]
            case "alias":
                lines += [f"{one.name} = {terms[0]}"]
            case "when":
                lines += [f"with when({terms[0]}):", *inner]
            case "each":
                assert one.over is not None
                lines += [f"for {one.name} in self.all({one.over.name}):", *inner]
            case "let":
                whole = one.terms[0].type.kind in ("Record", "Array", "Seq", "Bag", "SetOf", "Option")
                lines += [f"{one.name} = {f'snapshot({terms[0]})' if whole else terms[0]}"]
            case "put":
                lines += [f"{path}[{terms[0]}] = {terms[1]}"]
            case _:
                taken = f"{one.name} = " if one.name else ""
                lines += [f"{taken}{path}.{one.kind}({', '.join(terms)})"]
    return lines
