"""Definitions of a module: an operator with its comment, as a condition or as an action.

TLC takes a disjunction among the conjuncts of an action for a choice of steps, wherever it hides: below a conjunction,
in an arm of IF, or behind a name of LET. `Holds` makes a condition one value there.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from insync.explorer.export.tla.printing import Printer, hung
from insync.explorer.export.tla.terms import Form, Term, Terms

__all__ = ["HOLDS", "NewValue", "action_text", "comment", "condition_text", "one_value"]

HOLDS = "Holds"


@dataclass(frozen=True, slots=True)
class NewValue:
    """What a variable becomes."""

    variable: str
    value: Term


def comment(text: str, width: int = 110) -> list[str]:
    """Return the lines of a comment."""
    return [f"\\* {line}" for line in textwrap.wrap(text, width)]


def condition_text(printer: Printer, head: str, term: Term) -> str:
    """Return the definition of a condition or a value."""
    printer.lets.begin()
    with printer.lets.opened([term]) as found:
        lines = [*printer.let_lines(found, printer.width), *printer.lines(term, printer.width)]
    if len(lines) == 1 and len(head) + len(lines[0]) < printer.width:
        return f"{head} == {lines[0]}"
    return "\n".join([f"{head} ==", *hung("  ", lines)])


def action_text(
    printer: Printer, terms: Terms, head: str, guard: Sequence[Term], changes: Sequence[NewValue], same: Sequence[str]
) -> str:
    """Return the definition of an action: what enables it, what it changes, and what stays the same."""
    lets = printer.lets
    lets.begin()
    wrapped = [one_value(terms, term) for term in guard]
    shared = set(lets.shared([*wrapped, *(change.value for change in changes)]))
    conjuncts = [("", terms.call(HOLDS, term) if term in shared else term) for term in wrapped]
    conjuncts += [(f"{change.variable}' = ", change.value) for change in changes]
    pending = lets.shared([*(term for _, term in conjuncts)])
    lines, depth = [], 0
    for head_of_one, term in conjuncts:
        wanted = _needed(term, pending)
        room = printer.width - 2 - 3 * depth
        if wanted:
            found = lets.define(wanted)
            pending = [one for one in pending if one not in wanted]
            lines += hung("   " * depth + "/\\ ", printer.let_lines(found, room))
            depth += 1
        inside = room - 3 - len(head_of_one)
        written = printer.given(term, inside) if head_of_one else printer.lines(term, inside)
        lines += hung("   " * depth + "/\\ " + head_of_one, written)
    if same:
        listed = textwrap.wrap(f"UNCHANGED <<{', '.join(same)}>>", printer.width - 3 * depth, subsequent_indent="  ")
        lines += hung("   " * depth + "/\\ ", listed)
    return "\n".join([f"{head} ==", *hung("  ", lines)])


def _needed(term: Term, pending: Sequence[Term]) -> list[Term]:
    """Return those of some terms that a term mentions, in their order."""
    inside: set[Term] = set()
    stack = [term]
    while stack:
        one = stack.pop()
        if one not in inside:
            inside.add(one)
            stack += one.args
    return [one for one in pending if one in inside]


def one_value(terms: Terms, term: Term) -> Term:
    """Return a conjunct of an action that TLC takes for one value."""
    return terms.call(HOLDS, term) if _chooses(term) else term


def _chooses(term: Term) -> bool:
    """Return whether TLC would see a choice of steps in a conjunct."""
    if term.form is Form.INFIX:
        if term.text == "=>":
            return _chooses(term.args[1])
        return term.text == "\\/" or (term.text == "/\\" and any(map(_chooses, term.args)))
    if term.form is Form.IF:
        return any(map(_chooses, term.args[1:]))
    return term.form is Form.EXISTS or (term.form is Form.FOR_ALL and _chooses(term.args[1]))
