"""The initial states and the properties as definitions; properties of runs come with their fairness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from insync.explorer.export.tla.actions import Operator
from insync.explorer.export.tla.context import Speaker, Values
from insync.explorer.export.tla.printing import comment, condition_text, one_value
from insync.explorer.export.tla.state import PathStep, PlacedCell, Shapes
from insync.explorer.export.tla.terms import Form, Term, field_name
from insync.explorer.export.tla.translation import OpaqueTerm, Translation
from insync.explorer.export.tla.values import PLAIN, Kind, Kinds, What
from insync.model.domains.bounds import BoundValues
from insync.model.expressions.graph import Node, Op, reachable
from insync.model.tracing.initial_states import Beginning
from insync.properties.invariants import DEADLOCK_FREE, TYPE_OK, TYPE_OK_SENTENCE, Invariant, StepInvariant
from insync.properties.refinement import Refinement
from insync.properties.temporal import Due, Instance, RunKind, RunProperty, fair_sets
from insync.runtime.errors import UserError

__all__ = [
    "Said",
    "init_text",
    "said_of_refinement",
    "said_of_runs",
    "said_of_states",
    "said_of_types",
]


@dataclass(frozen=True, slots=True)
class Said:
    """A property in the module.

    Attributes:
        text: its definition, and those that it needs.
        line: its line in the .cfg.
        specification: the specification with its fairness; empty if it needs none.
    """

    text: str
    line: str
    specification: str = ""


def said_of_states(speaker: Speaker, found: Invariant) -> Said:
    """Return an invariant of states or of steps."""
    name = speaker.names.name(("property", found.name), found.name)
    speaker.terms.scope.clear()
    if found.name == DEADLOCK_FREE:
        outside = "~Within \\/ " if speaker.model.program.within else ""
        return Said(_with_sentence(found.sentence, f"{name} == {outside}ENABLED Next"), f"INVARIANT {name}")
    if isinstance(found, StepInvariant):
        called = speaker.names.name(("step", found.name), f"{name}_step")
        formula = speaker.printer.text(speaker.terms.name(f"[][{called}]_vars"))
        step = condition_text(speaker.printer, called, _of_two_states(speaker, found))
        return Said(_with_sentence(found.sentence, step, f"{name} == {formula}"), f"PROPERTY {name}")
    text = condition_text(speaker.printer, name, speaker.translation.condition(speaker.traced(found.node)))
    return Said(_with_sentence(found.sentence, text), f"INVARIANT {name}")


def said_of_refinement(speaker: Speaker, found: Refinement, module: str) -> Said:
    """Return a refinement: the specification of the other module, with its variables replaced by the mapping.

    Args:
        speaker: the context of the module.
        found: the refinement.
        module: the name of the other model's module.
    """
    name = speaker.names.name(("property", found.name), found.name)
    mapped = found.mapped(speaker.model)
    terms, other = speaker.terms, mapped.other
    terms.scope.clear()
    kinds = Kinds(BoundValues({**other.b, **speaker.model.b}), speaker.names.name)
    kinds.named, kinds.sorts = speaker.kinds.named, speaker.kinds.sorts
    shapes = Shapes(terms, kinds, other.state)
    values = Values(shapes, speaker.plain, speaker.model.state)
    texts, pairs = [], []
    for field, domain in other.state.fields.items():
        if shapes.live(domain):
            offset = other.state.offsets[field]
            value = values.value(domain, mapped.cells[offset : offset + domain.width])
            mapping = speaker.names.name((found.name, "mapping", field), f"{name}_{field}")
            texts.append(condition_text(speaker.printer, mapping, value))
            pairs.append(f"{field_name(field)} <- {mapping}")
    instance = speaker.names.name((found.name, "instance"), type(other).__name__)
    texts.append(f"{instance} == INSTANCE {module} WITH {', '.join(pairs)}")
    fits = f" /\\ []{instance}!TypeOK" if mapped.fits else ""
    return Said(_with_sentence(found.sentence, *texts, f"{name} == {instance}!Spec{fits}"), f"PROPERTY {name}")


def said_of_types(speaker: Speaker, operators: Sequence[Operator]) -> Said:
    """Return the property that steps assign values within the fields' domains."""
    checks = [f"  /\\ {operator.check}" for operator in operators if operator.check]
    within = " Within =>" if speaker.model.program.within else ""  # TLC also checks states outside of `within`
    text = "\n".join([f"{TYPE_OK} =={within}", *checks]) if checks else f"{TYPE_OK} == TRUE"
    return Said(_with_sentence(TYPE_OK_SENTENCE, text), f"INVARIANT {TYPE_OK}")


_FORMULAS = {Due.ONCE: "<>", Due.RECURRENT: "[]<>", Due.PERSISTENT: "<>[]", Due.ALWAYS: "[]"}
"""The operators of a condition that is due from the start."""

_AFTER = {Due.ONCE: "~> ", Due.RECURRENT: "~> []<>", Due.PERSISTENT: "~> <>[]", Due.ALWAYS: "=> []"}
"""The operators between a condition and one that is due after it."""
assert set(_FORMULAS) == set(_AFTER) == set(Due)


def said_of_runs(speaker: Speaker, found: RunProperty, operators: Sequence[Operator]) -> Said:
    """Return a property of runs, with the specification that states its fairness."""
    if found.kind is RunKind.REFINES:
        message = (
            f"{speaker.model.name}: {found.name} is about the fairness of the model that it refines, which TLC cannot "
            f"decide under a mapping. Leave it out, and decide it with `insync liveness`."
        )
        raise UserError(message)
    name = speaker.names.name(("property", found.name), found.name)
    texts, parts = [], []
    instances = speaker.traced(found.instances)
    for number, instance in enumerate(instances, 1):
        then = speaker.names.name((found.name, number, "then"), _numbered(f"{name}_then", number, instances))
        texts.append(_condition(speaker, then, instance.then, str(instance)))
        if instance.when is not None:
            when = speaker.names.name((found.name, number, "when"), _numbered(f"{name}_when", number, instances))
            texts.append(_condition(speaker, when, instance.when, str(instance)))
            parts.append(f"({when} {_AFTER[instance.due]}{then})")
        else:
            parts.append(f"~{then}" if found.kind is RunKind.SOMETIMES else f"{_FORMULAS[instance.due]}{then}")
    if found.kind is RunKind.SOMETIMES:  # a counterexample of TLC is a witness; each instance has one
        never = [_numbered(f"{name}_never", number, instances) for number in range(1, len(instances) + 1)]
        texts += [f"{one} ==\n  /\\ {part}" for one, part in zip(never, parts, strict=True)]
        return Said(_with_sentence(found.sentence, *texts), "\n".join(f"INVARIANT {one}" for one in never))
    texts.append("\n".join([f"{name} ==", *(f"  /\\ {part}" for part in parts)]))
    fair, specification = _fairness(speaker, found, name, operators)
    return Said(_with_sentence(found.sentence, *texts, *fair), f"PROPERTY {name}", specification)


def _numbered(name: str, number: int, instances: Sequence[Instance]) -> str:
    return "_".join([name, *instances[number - 1].bindings.values()]) if len(instances) > 1 else name


def _condition(speaker: Speaker, name: str, node: object, about: str) -> str:
    text = condition_text(speaker.printer, name, speaker.translation.condition(node))  # type: ignore[arg-type]
    return "\n".join([*comment(about), text])


def _fairness(speaker: Speaker, found: RunProperty, name: str, operators: Sequence[Operator]) -> tuple[list[str], str]:
    """Return the definitions of the fair sets of actions and of the specification, and the name of the latter."""
    texts, terms = [], []
    for number, fair in enumerate(fair_sets(speaker.model, found.fairness), 1):
        calls = [call for operator in operators for call in _calls(operator, fair.numbers)]
        if calls:
            demand = speaker.names.name((found.name, "fair", number), f"{name}_fair_{number}")
            lines = [f"{demand} ==", *(f"  \\/ {call}" for call in calls)]
            texts.append("\n".join([*comment(fair.name), *lines]))
            terms.append(f"{'SF' if fair.strong else 'WF'}_vars({demand})")
    specification = speaker.names.name((found.name, "specification"), f"Spec_{name}")
    lines = ["/\\ Init", "/\\ [][Next]_vars", *(f"/\\ {term}" for term in terms)]
    return [*texts, "\n".join([f"{specification} ==", *(f"  {line}" for line in lines)])], specification


def _calls(operator: Operator, numbers: Set[int]) -> list[str]:
    """Return the calls of an operator for some bound actions: the general call if they are all of its own."""
    mine = [number for number in operator.numbers if number in numbers]
    return [operator.call] if len(mine) == len(operator.numbers) else [operator.calls[number] for number in mine]


def _of_two_states(speaker: Speaker, found: StepInvariant) -> Term:
    """Return the condition of a step invariant; variables of the state after the step have a prime."""
    cells = speaker.shapes.cells
    after = [PlacedCell((PathStep(f"{cell.steps[0].name}'"), *cell.steps[1:]), cell.kind) for cell in cells]
    translation = Translation(speaker.terms, [*cells, *after], {})
    return translation.condition(found.pair(speaker.model))


def _with_sentence(sentence: str, *texts: str) -> str:
    return "\n".join([*comment(sentence), *texts])


# Init.


def init_text(speaker: Speaker) -> str:
    """Return the definition of Init, and those that it needs: one for each initial method."""
    beginnings = speaker.model.program.initials.beginnings
    if len(beginnings) == 1:
        return condition_text(speaker.printer, "Init", _term(speaker, beginnings[0]))
    texts, calls = [], []
    for beginning in beginnings:
        labels = "_".join(["Init", beginning.name, *(str(value) for _, value in beginning.parameters)])
        name = speaker.names.name(beginning, labels)
        calls.append(speaker.terms.name(name))
        text = condition_text(speaker.printer, name, _term(speaker, beginning))
        texts.append("\n".join([*comment(beginning.label), text]))
    texts.append(condition_text(speaker.printer, "Init", speaker.terms.any_of(calls)))
    return "\n\n".join(texts)


def _term(speaker: Speaker, beginning: Beginning) -> Term:
    """Return the initial states of a method, with an existential quantifier for each of its variables."""
    terms, shapes, state = speaker.terms, speaker.shapes, speaker.model.state
    opaque = _variables(speaker, beginning)
    translation = Translation(terms, (), opaque)

    def leaf(number: int, kind: Kind) -> Term:
        return translation.value(beginning.cells[number], kind)

    # `Holds` keeps TLC's count of generated states: a bare disjunction would generate a state for each of its arms.
    parts = [one_value(terms, translation.condition(node)) for node in beginning.conditions]
    for name in speaker.variables:
        value = shapes.value(state.fields[name], state.offsets[name], leaf)
        parts.append(terms.infix("=", terms.state_variable(name), value))
    found = terms.all_of(parts)
    for one in reversed(list(opaque.values())):
        found = terms.binding(Form.EXISTS, one.term.text, one.kind.extent(terms), found)
    return found


def _variables(speaker: Speaker, beginning: Beginning) -> Mapping[int, OpaqueTerm]:
    """Return terms for the variables of an initial method, with the kinds of the fields that they are assigned to."""
    found: dict[int, OpaqueTerm] = {}
    read = reachable([*beginning.conditions, *beginning.cells])
    kinds: dict[int, Kind] = {}
    for cell, node in zip(speaker.shapes.cells, beginning.cells, strict=True):
        for number in _assigned_cells(node):
            if beginning.graph.cell_sizes[number] == cell.kind.size:
                kinds.setdefault(number, cell.kind)
    masks = {arg.cell for node in read if node.op in _OF_MASKS for arg in node.args if arg.op is Op.CELL}
    for number in sorted(node.cell for node in read if node.op is Op.CELL):
        size = beginning.graph.cell_sizes[number]
        kind = Kind(What.NUMBER, size, low=PLAIN.low)
        if number in masks:
            kind = Kind(What.SET, size, of=Kind(What.NUMBER, size.bit_length() - 1))
        found[number] = OpaqueTerm(speaker.terms.variable_name(_name(found)), kinds.get(number, kind))
    return found


_OF_MASKS = (Op.BITAND, Op.BITOR, Op.BITDIFF, Op.COUNT)
"""The operations whose arguments are sets."""


def _assigned_cells(node: Node) -> Iterator[int]:
    """Yield the variables that a value is made of without arithmetic, so that they have its kind."""
    seen, stack = {node}, [node]
    while stack:
        one = stack.pop()
        if one.op is Op.CELL:
            yield one.cell
        elif one.op in (Op.ITE, Op.SELECT, Op.BITAND, Op.BITOR, Op.BITDIFF):
            more = set(one.args[one.op in (Op.ITE, Op.SELECT) :]) - seen
            seen |= more
            stack += more


def _name(found: Mapping[int, OpaqueTerm]) -> str:
    return f"any{len(found) + 1}"
