"""Terms and definitions as text, with the fewest parentheses and with line breaks.

TLC takes a disjunction among the conjuncts of an action for a choice of steps, wherever it occurs: below a conjunction,
in an arm of IF, or behind a name of LET. `Holds` makes such a condition one value.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from insync.explorer.export.tla.terms import INFIX, UPPER_PRECEDENCE, Form, Lets, Term, Terms, field_name

__all__ = [
    "HOLDS",
    "NewValue",
    "Printer",
    "action_text",
    "comment",
    "condition_text",
    "one_value",
]


_WIDTH = 110
_ASSOCIATIVE = {"/\\", "\\/", "+", "*", "\\cup", "\\cap"}
_LISTS = {"/\\", "\\/"}
_QUANTIFIERS = {Form.FOR_ALL: "\\A", Form.EXISTS: "\\E"}
_POSTFIX = (Form.NAME, Form.NUMBER, Form.INDEX, Form.FIELD, Form.SET, Form.FILTER, Form.MAP, Form.RECORD)
_BRACKETED = (*_POSTFIX, Form.FUNCTION, Form.EXCEPT, Form.RECORDS, Form.FUNCTIONS)


def hung(prefix: str, lines: Sequence[str]) -> list[str]:
    """Return lines with a prefix before the first, and the others indented by its length."""
    room = " " * len(prefix)
    return [prefix + lines[0], *(room + line for line in lines[1:])]


def _fields(path: str) -> str:
    """Return a path such as `.log.length` with the names that the fields have in the module."""
    return ".".join(field_name(name) if name else "" for name in path.split("."))


def _headed(term: Term, mark: str) -> list[tuple[str, Term]]:
    """Return the parts of a record, or of a set of records, each with its field and the mark between the two."""
    return [(field_name(name) + mark, part) for name, part in zip(term.fields, term.args, strict=True)]


class Printer:
    """Writes terms, with a LET for common subexpressions.

    Args:
        taken: the names that the module defines.
        width: the greatest length of a line, in characters.
    """

    def __init__(self, taken: Set[str], width: int = _WIDTH) -> None:
        self.width = width
        self.lets = Lets(taken)

    # ---------------------------------------------------------------------------------------------------- one line

    def text(self, term: Term) -> str:
        """Return a term on one line."""
        name = self.lets.name_of(term)
        return name if name is not None else _TEXTS[term.form](self, term)

    def _inside(self, term: Term, strength: int, operator: str = "") -> str:
        """Return a term on one line as an operand, in parentheses if the operator binds as tightly or more."""
        text = self.text(term)
        if self.lets.name_of(term) is not None or term.form in _BRACKETED:
            return text
        if term.form is Form.INFIX:
            same = term.text == operator and operator in _ASSOCIATIVE
            return text if same or INFIX[term.text] > strength else f"({text})"
        if term.form is Form.CALL:
            return text if term.text not in _PREFIX or strength < _PREFIX_STRENGTH else f"({text})"
        return text if term.form is Form.NOT and strength < _NOT_STRENGTH else f"({text})"

    def _plain(self, term: Term) -> str:
        return term.text if not term.text.startswith("-") else f"({term.text})"

    def _infix(self, term: Term) -> str:
        space = "" if term.text == ".." else " "
        strength = UPPER_PRECEDENCE[term.text]
        return f"{space}{term.text}{space}".join(self._inside(arg, strength, term.text) for arg in term.args)

    def _not(self, term: Term) -> str:
        return f"~{self._inside(term.args[0], 100)}"

    def _if(self, term: Term) -> str:
        condition, then, otherwise = map(self.text, term.args)
        return f"IF {condition} THEN {then} ELSE {otherwise}"

    def _index(self, term: Term) -> str:
        return f"{self._inside(term.args[0], 100)}[{self.text(term.args[1])}]"

    def _field(self, term: Term) -> str:
        return f"{self._inside(term.args[0], 100)}.{field_name(term.text)}"

    def _set(self, term: Term) -> str:
        return "{" + ", ".join(map(self.text, term.args)) + "}"

    def _filter(self, term: Term) -> str:
        return f"{{{term.text} \\in {self.text(term.args[0])} : {self._body(term)}}}"

    def _map(self, term: Term) -> str:
        return f"{{{self._body(term)} : {term.text} \\in {self.text(term.args[0])}}}"

    def _quantifier(self, term: Term) -> str:
        head, last = self._quantifier_head(term)
        return f"{head} {self._body(last)}"

    def _quantifier_head(self, term: Term) -> tuple[str, Term]:
        """Join nested quantifiers of one form. Return the text up to the colon, and the innermost quantifier."""
        groups: list[tuple[list[str], Term]] = []
        last = term
        while True:
            if groups and groups[-1][1] is last.args[0]:
                groups[-1][0].append(last.text)
            else:
                groups.append(([last.text], last.args[0]))
            inner = last.args[1]
            bound = {name for names, _ in groups for name in names}
            if inner.form is not term.form or self.lets.name_of(inner) is not None or inner.args[0].bound & bound:
                break
            last = inner
        ranges = ", ".join(f"{', '.join(names)} \\in {self.text(over)}" for names, over in groups)
        return f"{_QUANTIFIERS[term.form]} {ranges} :", last

    def _function(self, term: Term) -> str:
        return f"[{term.text} \\in {self.text(term.args[0])} |-> {self._body(term)}]"

    def _body(self, term: Term) -> str:
        """Return the body of a binding form, with a LET for its common subexpressions."""
        with self.lets.opened([term.args[1]], term.text) as found:
            lets = []
            for name, one in found:
                with self.lets.unnamed(one):
                    lets.append(f"{name} == {self.text(one)}")
            body = self.text(term.args[1])
        return f"LET {' '.join(lets)} IN {body}" if lets else body

    def _record(self, term: Term) -> str:
        found = ", ".join(head + self.text(value) for head, value in _headed(term, " |-> "))
        return f"[{found}]" if found else "<<>>"  # the record without fields

    def _records(self, term: Term) -> str:
        found = ", ".join(head + self.text(value) for head, value in _headed(term, ": "))
        return f"[{found}]" if found else "{<<>>}"

    def _functions(self, term: Term) -> str:
        return f"[{self.text(term.args[0])} -> {self.text(term.args[1])}]"

    def _call(self, term: Term) -> str:
        if term.text in _PREFIX:
            return f"{term.text} {self._inside(term.args[0], _PREFIX_STRENGTH)}"
        return f"{term.text}({', '.join(map(self.text, term.args))})" if term.args else term.text

    def _except(self, term: Term) -> str:
        changes = [f"{place} = {self._inside_equals(value)}" for place, value in self._changes(term)]
        return f"[{self.text(term.args[0])} EXCEPT {', '.join(changes)}]"

    def _inside_equals(self, term: Term) -> str:
        return self._inside(term, INFIX["="]) if term.form is Form.INFIX else self.text(term)

    def _changes(self, term: Term) -> list[tuple[str, Term]]:
        """Return the place and the new value of each change of an EXCEPT."""
        rest = iter(term.args[1:])
        found = []
        for path in term.fields:
            head, *more = path.split("[]")
            place = "!" + _fields(head) + "".join(f"[{self.text(next(rest))}]{_fields(part)}" for part in more)
            found.append((place, next(rest)))
        return found

    # ------------------------------------------------------------------------------------------------- many lines

    def lines(self, term: Term, room: int) -> list[str]:
        """Return a term in lines of about `room` characters; long names may exceed it."""
        rule = _LINES.get(term.form)
        if rule is None or room < 20 or self._may_fit(term, room):
            text = self.text(term)
            if rule is None or len(text) <= room or room < 20 or self.lets.name_of(term) is not None:
                return [text]
        return rule(self, term, room)

    def _may_fit(self, term: Term, room: int) -> bool:
        """Return whether the names and numbers of a term alone take at most `room` characters."""
        stack = [term]
        while stack and room >= 0:
            one = stack.pop()
            name = self.lets.name_of(one)
            room -= len(name) if name is not None else len(one.text) + sum(map(len, one.fields))
            stack += one.args if name is None else ()
        return room >= 0

    def _listed(self, term: Term, room: int) -> list[str]:
        if term.text in _LISTS:
            return [line for arg in term.args for line in hung(f"{term.text} ", self.lines(arg, room - 3))]
        strength = UPPER_PRECEDENCE[term.text]
        first = self.operand(term.args[0], strength, room - 3)
        if len(first) == 1 and len(first[0]) <= room // 3:
            head = f"{first[0]} {term.text} "
            return hung(head, self.operand(term.args[1], strength, room - len(head)))
        return [*first, *hung(f"{term.text} ", self.operand(term.args[1], strength, room - 3))]

    def given(self, term: Term, room: int) -> list[str]:
        """Return the right side of an equals sign, in lines."""
        return self.operand(term, INFIX["="], room) if term.form is Form.INFIX else self.lines(term, room)

    def operand(self, term: Term, strength: int, room: int) -> list[str]:
        """Return an operand in lines, in parentheses where it needs them."""
        text = self._inside(term, strength)
        if len(text) <= room:
            return [text]
        lines = self.lines(term, room - 2)
        called = term.form is Form.CALL and term.text not in _PREFIX
        if term.form in _BRACKETED or called or self.lets.name_of(term) is not None:
            return lines
        lines = hung("(", lines)
        return [*lines[:-1], lines[-1] + ")"]

    def _if_lines(self, term: Term, room: int) -> list[str]:
        words = zip(("IF ", "THEN ", "ELSE "), term.args, strict=True)
        return [line for word, arg in words for line in hung(word, self.lines(arg, room - len(word)))]

    def _quantifier_lines(self, term: Term, room: int) -> list[str]:
        head, last = self._quantifier_head(term)
        return [head, *hung("  ", self._body_lines(last, room - 2))]

    def _body_lines(self, term: Term, room: int) -> list[str]:
        with self.lets.opened([term.args[1]], term.text) as found:
            lets = self.let_lines(found, room)
            return [*lets, *self.lines(term.args[1], room)]

    def let_lines(self, found: Sequence[tuple[str, Term]], room: int) -> list[str]:
        """Return the lines of a LET up to IN; none if it defines nothing."""
        lines: list[str] = []
        for word, (name, term) in zip(["LET ", *["    "] * len(found)], found, strict=False):
            head = f"{word}{name} == "
            with self.lets.unnamed(term):
                lines += hung(head, self.lines(term, room - len(head)))
        return [*lines[:-1], f"{lines[-1]} IN"] if lines else []

    def _record_lines(self, term: Term, room: int) -> list[str]:
        return self._bracketed("[", "]", _headed(term, " |-> "), room)

    def _records_lines(self, term: Term, room: int) -> list[str]:
        return self._bracketed("[", "]", _headed(term, ": "), room)

    def _set_lines(self, term: Term, room: int) -> list[str]:
        return self._bracketed("{", "}", [("", value) for value in term.args], room)

    def _functions_lines(self, term: Term, room: int) -> list[str]:
        head = f"[{self.text(term.args[0])} -> "
        lines = hung(head, self.lines(term.args[1], room - len(head) - 1))
        return [*lines[:-1], lines[-1] + "]"]

    def _function_lines(self, term: Term, room: int) -> list[str]:
        head = f"[{term.text} \\in {self.text(term.args[0])} |->"
        lines = [head, *hung("  ", self._body_lines(term, room - 2))]
        return [*lines[:-1], lines[-1] + "]"]

    def _except_lines(self, term: Term, room: int) -> list[str]:
        head = f"[{self.text(term.args[0])} EXCEPT "
        changes = [(f"{place} = ", value) for place, value in self._changes(term)]
        if len(head) > room // 2:
            return [head.rstrip(), *hung("  ", self._bracketed("", "]", changes, room - 2))]
        return self._bracketed(head, "]", changes, room)

    def _call_lines(self, term: Term, room: int) -> list[str]:
        if term.text in _PREFIX:
            return hung(f"{term.text} ", self.operand(term.args[0], _PREFIX_STRENGTH, room - len(term.text) - 1))
        return self._bracketed(f"{term.text}(", ")", [("", arg) for arg in term.args], room)

    def _not_lines(self, term: Term, room: int) -> list[str]:
        return hung("~", self.operand(term.args[0], 100, room - 1))

    def _part(self, head: str, value: Term, room: int) -> list[str]:
        """Return a value after its head: on the same line, or below where there is too little room."""
        write = self.given if head.endswith(" = ") else self.lines
        beside = write(value, room - len(head))
        if len(beside) == 1 or len(head) <= room // 3:
            return hung(head, beside) if head else beside
        return [head.rstrip(), *hung("  ", write(value, room - 2))]

    def _bracketed(self, opening: str, closing: str, parts: Sequence[tuple[str, Term]], room: int) -> list[str]:
        """Return parts between brackets, one below the other."""
        found: list[str] = []
        for number, (head, value) in enumerate(parts):
            lines = self._part(head, value, room - len(opening) - 1)
            lines[-1] += closing if number == len(parts) - 1 else ","
            found += lines
        return hung(opening, found) if opening else found


_PREFIX = {"SUBSET", "UNION", "DOMAIN"}
_PREFIX_STRENGTH = 8
_NOT_STRENGTH = 4

_TEXTS: Mapping[Form, Callable[[Printer, Term], str]] = {
    Form.NUMBER: Printer._plain,
    Form.NAME: Printer._plain,
    Form.INFIX: Printer._infix,
    Form.NOT: Printer._not,
    Form.IF: Printer._if,
    Form.INDEX: Printer._index,
    Form.FIELD: Printer._field,
    Form.SET: Printer._set,
    Form.FILTER: Printer._filter,
    Form.MAP: Printer._map,
    Form.FOR_ALL: Printer._quantifier,
    Form.EXISTS: Printer._quantifier,
    Form.RECORD: Printer._record,
    Form.FUNCTION: Printer._function,
    Form.RECORDS: Printer._records,
    Form.FUNCTIONS: Printer._functions,
    Form.CALL: Printer._call,
    Form.EXCEPT: Printer._except,
}
assert set(_TEXTS) == set(Form)

_LINES: Mapping[Form, Callable[[Printer, Term, int], list[str]]] = {
    Form.INFIX: Printer._listed,
    Form.NOT: Printer._not_lines,
    Form.IF: Printer._if_lines,
    Form.FOR_ALL: Printer._quantifier_lines,
    Form.EXISTS: Printer._quantifier_lines,
    Form.SET: Printer._set_lines,
    Form.RECORD: Printer._record_lines,
    Form.RECORDS: Printer._records_lines,
    Form.FUNCTION: Printer._function_lines,
    Form.FUNCTIONS: Printer._functions_lines,
    Form.EXCEPT: Printer._except_lines,
    Form.CALL: Printer._call_lines,
}
"""The forms that can be broken over several lines."""


# Definitions: conditions and actions.


HOLDS = "Holds"


@dataclass(frozen=True, slots=True)
class NewValue:
    """The new value of a variable."""

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
    """Return the definition of an action: its guard, the new values, and the unchanged variables."""
    lets = printer.lets
    lets.begin()
    wrapped = [one_value(terms, term) for term in guard]
    shared = set(lets.shared([*wrapped, *(change.value for change in changes)]))
    conjuncts = [("", terms.call(HOLDS, term) if term in shared else term) for term in wrapped]
    conjuncts += [(f"{field_name(change.variable)}' = ", change.value) for change in changes]
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
        listed = textwrap.wrap(
            f"UNCHANGED <<{', '.join(map(field_name, same))}>>", printer.width - 3 * depth, subsequent_indent="  "
        )
        lines += hung("   " * depth + "/\\ ", listed)
    return "\n".join([f"{head} ==", *hung("  ", lines)])


def _needed(term: Term, pending: Sequence[Term]) -> list[Term]:
    """Return the pending terms that occur in a term, in their order."""
    inside: set[Term] = set()
    stack = [term]
    while stack:
        one = stack.pop()
        if one not in inside:
            inside.add(one)
            stack += one.args
    return [one for one in pending if one in inside]


def one_value(terms: Terms, term: Term) -> Term:
    """Return a conjunct of an action, inside `Holds` if TLC would take it for a choice of steps."""
    return terms.call(HOLDS, term) if _chooses(term) else term


def _chooses(term: Term) -> bool:
    """Return whether TLC would take a conjunct for a choice of steps."""
    if term.form is Form.INFIX:
        if term.text == "=>":
            return _chooses(term.args[1])
        return term.text == "\\/" or (term.text == "/\\" and any(map(_chooses, term.args)))
    if term.form is Form.IF:
        return any(map(_chooses, term.args[1:]))
    return term.form is Form.EXISTS or (term.form is Form.FOR_ALL and _chooses(term.args[1]))
