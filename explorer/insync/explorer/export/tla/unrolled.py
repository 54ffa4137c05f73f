"""The actions of a program as it is: one operator for each binding of their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from insync.explorer.export.tla.changes import changed_variables
from insync.explorer.export.tla.context import Speaker
from insync.explorer.export.tla.definitions import action_text, comment, condition_text
from insync.explorer.export.tla.module_names import camel
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import combine
from insync.model.tracing.program import BoundAction

__all__ = ["Operator", "bound_operator"]


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator that stands for some bound actions.

    Attributes:
        call: how `Next` calls it, quantifiers included.
        text: its definition.
        numbers: the bound actions.
        check: the condition that its steps assign what their fields can hold; empty where that was shown.
        calls: how each of the bound actions is called.
    """

    call: str
    text: str
    numbers: tuple[int, ...]
    check: str = ""
    calls: dict[int, str] = field(default_factory=dict)


def bound_operator(speaker: Speaker, number: int, action: BoundAction, within: Sequence[Node]) -> Operator:
    """Return the operator of one bound action."""
    said = "_".join([camel(action.name), *action.shown_parameters.values()])
    name = speaker.names.name(action, said)
    guard = [node for node in action.guard if node not in within]
    checks = [check.node for check in action.checks]
    conditions = speaker.conditions(speaker.plain, [*guard, *checks])
    after = speaker.plain.within([*within, *guard, *checks])
    changes, same = changed_variables(speaker.shapes, after, speaker.model.state, dict(action.updates))
    text = action_text(speaker.printer, speaker.terms, name, conditions, changes, same)
    lines = [*comment(action.label), text]
    check = ""
    if checks:
        graph = speaker.model.program.graph
        check = speaker.names.name((action, "check"), f"{said}_fits")
        holds = combine(graph, Op.AND, checks)
        premise = speaker.terms.all_of(
            speaker.conditions(speaker.plain, [*within, *guard])
        )  # TLC checks other states too
        term = speaker.terms.infix("=>", premise, speaker.plain.within([*within, *guard]).condition(holds))
        lines.append(condition_text(speaker.printer, check, term))
    return Operator(name, "\n".join(lines), (number,), check, {number: name})
