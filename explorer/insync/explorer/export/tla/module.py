"""A model as a TLA+ module, to be read beside the Python, and its configurations for TLC."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from insync.explorer.export.tla.actions import Operator, bound_operator, general_operator
from insync.explorer.export.tla.context import Speaker
from insync.explorer.export.tla.printing import HOLDS, comment, condition_text
from insync.explorer.export.tla.properties import (
    Said,
    init_text,
    said_of_refinement,
    said_of_runs,
    said_of_states,
    said_of_types,
)
from insync.explorer.export.tla.reads import Levels, read_before
from insync.explorer.export.tla.terms import Terms, field_name
from insync.explorer.export.tla.values import UNKNOWN, What
from insync.explorer.symmetry import symmetry_for
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.expressions.graph import Node, Op, reachable
from insync.model.tracing.grounding import lifted_actions
from insync.properties.invariants import TYPE_OK, StepInvariant
from insync.properties.registry import judge, refinement_behind, run_properties_of
from insync.runtime.errors import UserError

__all__ = ["HEADER", "tla_files", "unrolled_tla_files"]

HEADER = "Exported by insync from"
"""The start of the line that names the model; readers of traces find the model by it."""

_SAFE = (1 << 31) - 1  # TLC's numbers have 32 bits
_CALCULATING = (Op.ADD, Op.SUB, Op.MUL)

_HELPERS = {
    "Min": "Min({a}, {b}) == IF {a} < {b} THEN {a} ELSE {b}",
    "Max": "Max({a}, {b}) == IF {a} > {b} THEN {a} ELSE {b}",
    HOLDS: "\\* A condition as one value: TLC would take a disjunction in an action for a choice of steps.\n"
    f"{HOLDS}({{p}}) == {{p}} = TRUE",
}
"""The helpers, and their parameters in braces."""


def unrolled_tla_files(model: Model, properties: Sequence[str], name: str) -> dict[str, str]:
    """Return the files of `tla_files` with an operator for each bound action of the program."""
    return tla_files(model, properties, name, unrolled=True)


def tla_files(
    model: Model, properties: Sequence[str], name: str, *, unrolled: bool = False, numbered: bool = False
) -> dict[str, str]:
    """Return the module of a model, its .cfg, a .cfg for each property of runs, and the modules that it refines.

    Args:
        model: the model.
        properties: names of properties of states and of runs.
        name: the name of the module.
        unrolled: whether each bound action of the program is an operator; else the operators have parameters.
        numbered: whether members of sorts are numbers even where TLC may treat them as symmetric.

    Raises:
        UserError: no field has two values, a number is too large for TLC, or an expression cannot be written in TLA+.
    """
    speaker = Speaker.about(model)
    if not speaker.variables:
        message = (
            f"{model.name} has no field with more than one value under {model.identity}, and a TLA+ module needs a "
            f"variable. Use larger bounds."
        )
        raise UserError(message)
    _require_small(speaker)
    within = model.program.within
    operators = list(_operators(speaker, unrolled=unrolled))
    run_properties = run_properties_of(model)
    judged = judge(model, [one for one in properties if one not in run_properties])
    refined = {
        one.name: found for one in judged.invariants if (found := refinement_behind(model, one.name)) is not None
    }
    said = [
        said_of_refinement(speaker, refined[one.name], f"{name}_{one.name}")
        if one.name in refined
        else said_of_states(speaker, one)
        for one in judged.invariants
    ]
    said += [said_of_types(speaker, operators)] if TYPE_OK in judged.names else []
    runs = {one: said_of_runs(speaker, run_properties[one], operators) for one in properties if one in run_properties}
    body = [*_init_and_types(speaker), *_steps(speaker, operators), *(one.text for one in said)]
    body += [one.text for one in runs.values()]
    # Modules that are instances of one another have the same values, so members are numbers there.
    alike = [] if numbered or refined else list(_alike(speaker, judged.conditions))
    values = [f"CONSTANT {member} = {member}" for called in alike for member in speaker.kinds.named[called]]
    given = [*values, *(["CONSTRAINT Within"] if within else [])]
    asked = [*given, *(one.line for one in said)]
    text = "\n\n".join([*_head(speaker, name, "\n".join(body), alike), *body])
    files = {f"{name}.tla": f"{text}\n\n{'=' * 40}\n", f"{name}.cfg": _configuration(asked)}
    if alike and not any(isinstance(found, StepInvariant) for found in judged.invariants):
        files[f"{name}.symmetric.cfg"] = _configuration([*asked, "SYMMETRY Symmetry"])
    for one, found in refined.items():
        called = f"{name}_{one}"
        modules = tla_files(found.mapped(model).other, [], called, unrolled=unrolled, numbered=True)
        files[f"{called}.tla"] = modules[f"{called}.tla"]
    return {**files, **{f"{name}.{run}.cfg": _run_configuration(one, given) for run, one in runs.items()}}


def _alike(speaker: Speaker, conditions: Mapping[str, Node]) -> Iterator[str]:
    """Yield the names of the sorts that TLC may treat as symmetric: shown to be so, and never used in arithmetic."""
    named, calculated = speaker.kinds.named, speaker.terms.calculated
    symmetry = speaker.model.program.symmetry
    sorts = [called for called, sort in speaker.kinds.sorts.items() if symmetry and sort in symmetry.sorts]
    plain = [called for called in sorts if called not in calculated and all(map(str.isidentifier, named[called]))]
    if not plain or UNKNOWN in calculated:
        return
    try:
        shown = symmetry_for(speaker.model, conditions).symmetry
    except UserError:  # the declared symmetry does not hold; a search reports that
        return
    if shown is not None:
        yield from plain


def _operators(speaker: Speaker, *, unrolled: bool) -> Iterator[Operator]:
    """Yield the operators of the actions."""
    program = speaker.model.program
    if unrolled:
        for number, action in enumerate(program.actions):
            yield bound_operator(speaker, number, action, program.within)
        return
    levels = Levels(speaker.model.state)
    for lifted in lifted_actions(speaker.model, speaker.graph):
        if lifted.name not in program.impossible and not lifted.is_impossible:
            yield general_operator(speaker, read_before(speaker.graph, levels, lifted))


def _require_small(speaker: Speaker) -> None:
    """Raise UserError if a number could exceed the 32 bits of TLC."""
    program, kind = speaker.model.program, speaker.plain.kind
    for cell, placed in zip(program.schema.cells, speaker.shapes.cells, strict=True):
        if placed.kind.what is What.NUMBER and max(-placed.kind.low, placed.kind.low + placed.kind.size) > _SAFE:
            message = (
                f"{speaker.model.name}: {cell.path} can have a value beyond 2^31, and TLC's numbers have 32 bits. Use "
                "smaller domains."
            )
            raise UserError(message)
    roots = [node for action in program.actions for node in (*action.guard, *(node for _, node in action.updates))]
    for node in reachable(roots):
        number = node.op in _CALCULATING and kind(node) is None
        if number and (node.lo < -_SAFE or node.hi > _SAFE):
            message = (
                f"{speaker.model.name}: a number can be from {node.lo} to {node.hi}, and TLC's have 32 bits. Use "
                f"smaller domains."
            )
            raise UserError(message)


def _head(speaker: Speaker, name: str, body: str, alike: Sequence[str]) -> Iterator[str]:
    """Yield the head of the module: title, EXTENDS, constants, variables, sorts, and the helpers that `body` uses."""
    model = speaker.model
    title = f" MODULE {name} "
    yield f"{'-' * 20}{title}{'-' * 20}"
    chosen = ", ".join(f"{key} = {value}" for key, value in model.identity.items()) or "nothing to choose"
    doc = (type(model).__doc__ or model.name).strip().split("\n\n")[0]
    yield "\n".join([*comment(" ".join(doc.split())), *comment(f"{HEADER} {model_reference(model)} with {chosen}.")])
    yield "EXTENDS Integers, FiniteSets, TLC" if alike else "EXTENDS Integers, FiniteSets"
    for called in alike:
        listed = ", ".join(speaker.kinds.named[called])
        yield f"\\* The members of {called} are treated alike.\nCONSTANTS {listed}\n{called} == {{{listed}}}"
    if alike:
        yield "Symmetry == " + " \\cup ".join(f"Permutations({called})" for called in alike)
    listed = ", ".join(map(field_name, speaker.variables))
    yield f"VARIABLES {listed}\nvars == <<{listed}>>"
    for called, members in speaker.kinds.named.items():
        if called in alike:
            continue
        if _mentioned(body, called) or any(_mentioned(body, member) for member in members):
            yield "\n".join(_sort(called, members))
    if _mentioned(body, "None"):
        yield "\\* The absence of a number.\nNone == -1"
    parameters = {wanted: Terms(taken=speaker.names.taken).variable(wanted) for wanted in "abp"}
    yield from (text.format(**parameters) for helper, text in _HELPERS.items() if f"{helper}(" in body)


def _mentioned(body: str, name: str) -> bool:
    found = body.find(name)
    while found >= 0:
        before, after = body[found - 1 : found], body[found + len(name) : found + len(name) + 1]
        if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
            return True
        found = body.find(name, found + 1)
    return False


def _sort(called: str, members: Sequence[str]) -> Iterator[str]:
    """Yield the definitions of a sort. Members are numbers; those whose label is an identifier get a name."""
    yield from (f"{member} == {number}" for number, member in enumerate(members) if member.isidentifier())
    yield f"{called} == 0..{len(members) - 1}"


def _init_and_types(speaker: Speaker) -> Iterator[str]:
    terms, state = speaker.terms, speaker.model.state
    parts = [
        terms.infix("\\in", terms.state_variable(name), speaker.shapes.extent(state.fields[name]))
        for name in speaker.variables
    ]
    yield condition_text(speaker.printer, "TypeOK", terms.all_of(parts))
    yield init_text(speaker)


def _steps(speaker: Speaker, operators: Sequence[Operator]) -> Iterator[str]:
    """Yield the definitions of `Within`, the actions, `Next` and `Spec`."""
    within = speaker.model.program.within
    if within:
        condition = speaker.terms.all_of([speaker.plain.condition(node) for node in within])
        confined = comment("Steps are taken only from states like this.")
        yield "\n".join([*confined, condition_text(speaker.printer, "Within", condition)])
    yield from (operator.text for operator in operators)
    calls = [f"  \\/ {operator.call}" for operator in operators]
    yield "\n".join(["Next ==", *calls]) if calls else "Next == FALSE"
    yield "Spec == Init /\\ [][Next]_vars"


def _configuration(asked: Sequence[str]) -> str:
    return "\n".join(["INIT Init", "NEXT Next", *asked, "CHECK_DEADLOCK FALSE", ""])


def _run_configuration(said: Said, values: Sequence[str]) -> str:
    if not said.specification:
        return _configuration([*values, said.line])
    return "\n".join([f"SPECIFICATION {said.specification}", *values, said.line, "CHECK_DEADLOCK FALSE", ""])
