"""Expressions of TLA+: the closed set of forms that an export uses, made here and printed in `printing`.

Equal terms of one maker are the same object, so that what is used twice can be seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain, count

__all__ = ["INFIX", "Form", "Term", "Terms"]


class Form(Enum):
    """Every form of an expression; the printer has one rule for each, and so has the reader of the tests."""

    NUMBER = "number"  # text: the digits
    NAME = "name"  # text: the name of a variable, a constant or a parameter; with fields, that of a bound variable
    INFIX = "infix"  # text: one of `INFIX`; two arguments, and for /\ and \/ two or more
    NOT = "not"
    IF = "if"  # (condition, then, otherwise)
    INDEX = "index"  # (function, argument)
    FIELD = "field"  # text: the name of the field; (record)
    SET = "set"  # the members
    FILTER = "filter"  # text: the variable; (set, condition)
    MAP = "map"  # text: the variable; (set, value): the set of the values
    FOR_ALL = "for all"  # text: the variable; (set, condition)
    EXISTS = "exists"  # text: the variable; (set, condition)
    RECORD = "record"  # fields: the names; their values
    FUNCTION = "function"  # text: the variable; (set, value)
    RECORDS = "records"  # fields: the names; the set of values of each
    FUNCTIONS = "functions"  # (set of arguments, set of values)
    CALL = "call"  # text: the operator; its arguments
    EXCEPT = (
        "except"  # fields: a path for each change, `.name` and `[]`; (function, then for each its indexes and value)
    )


INFIX: Mapping[str, int] = {
    "=>": 1, "<=>": 2, "\\/": 3, "/\\": 3, "=": 5, "#": 5, "<": 5, "<=": 5, "\\in": 5, "\\notin": 5, "\\subseteq": 5,
    "\\cup": 8, "\\cap": 8, "\\": 8, "..": 9, "+": 10, "-": 11, "*": 13, "\\div": 13, "%": 10,
}  # fmt: skip
"""The infix operators, and how tightly each binds; those of one strength are never mixed without parentheses."""

_OPPOSITE = {"=": "#", "#": "=", "\\in": "\\notin", "\\notin": "\\in"}
_BINDING = (Form.FILTER, Form.MAP, Form.FOR_ALL, Form.EXISTS, Form.FUNCTION)


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """One form applied to terms; made by `Terms` only.

    Attributes:
        form: the form.
        args: the terms that it is applied to.
        text: a name, a number or an operator; see `Form`.
        fields: names of fields, or paths of changes.
        bound: the variables bound around it that it mentions.
        binds: the variables that are bound in it.
        size: about how many characters it takes, written out.
    """

    form: Form
    args: tuple[Term, ...] = ()
    text: str = ""
    fields: tuple[str, ...] = ()
    bound: frozenset[str] = frozenset()
    binds: frozenset[str] = frozenset()
    size: int = 0


@dataclass(slots=True)
class Terms:
    """The maker of terms.

    Attributes:
        taken: the names that mean something in the whole module.
        calculated: the sets of members with whose numbers something is calculated; `UNKNOWN` where that is.
        scope: the parameters and variables around what is being made.
    """

    taken: set[str] = field(default_factory=set)
    calculated: set[str] = field(default_factory=set)
    scope: list[str] = field(default_factory=list)
    _made: dict[object, Term] = field(default_factory=dict)

    def make(self, form: Form, args: Sequence[Term] = (), text: str = "", fields: Sequence[str] = ()) -> Term:
        """Return the one term of a form."""
        key = (form, text, tuple(fields), tuple(map(id, args)))
        found = self._made.get(key)
        if found is None:
            bound: frozenset[str] = frozenset().union(*(arg.bound for arg in args))
            binds: frozenset[str] = frozenset().union(*(arg.binds for arg in args))
            if form is Form.NAME and fields:
                bound |= {text}
            if form in _BINDING:
                bound -= {text}
                binds |= {text}
            size = sum(arg.size for arg in args) + len(text) + sum(map(len, fields)) + 2 * len(args)
            found = self._made[key] = Term(form, tuple(args), text, tuple(fields), bound, binds, size)
        return found

    def variable(self, wanted: str, *inside: Term) -> str:
        """Return the name of a variable to be bound around some terms, in which nothing of that name is bound."""
        binds = self.taken.union(self.scope, *(term.binds for term in inside))
        others = (f"{wanted}{number}" for number in count(2))
        return next(name for name in chain((wanted, wanted[0]), others) if name not in binds)

    def number(self, value: int) -> Term:
        """Return a number."""
        return self.make(Form.NUMBER, text=str(value))

    def name(self, text: str) -> Term:
        """Return a name."""
        return self.make(Form.NAME, text=text)

    def variable_name(self, text: str) -> Term:
        """Return the name of a bound variable: terms that mention it must stay inside what binds it."""
        return self.make(Form.NAME, text=text, fields=("bound",))

    def truth(self, value: bool) -> Term:
        """Return TRUE or FALSE."""
        return self.name("TRUE" if value else "FALSE")

    def infix(self, operator: str, *args: Term) -> Term:
        """Return an infix operator applied to terms."""
        return self.make(Form.INFIX, args, operator)

    def call(self, operator: str, *args: Term) -> Term:
        """Return a defined operator applied to terms."""
        return self.make(Form.CALL, args, operator)

    def all_of(self, parts: Sequence[Term]) -> Term:
        """Return the conjunction of conditions."""
        return self._joined("/\\", parts, self.truth(True), self.truth(False))

    def any_of(self, parts: Sequence[Term]) -> Term:
        """Return the disjunction of conditions."""
        return self._joined("\\/", parts, self.truth(False), self.truth(True))

    def _joined(self, operator: str, parts: Sequence[Term], neutral: Term, absorbing: Term) -> Term:
        flat: dict[int, Term] = {}
        for part in parts:
            same = part.form is Form.INFIX and part.text == operator
            flat.update((id(one), one) for one in (part.args if same else (part,)) if one is not neutral)
        kept = list(flat.values())
        if absorbing in kept:
            return absorbing
        return neutral if not kept else kept[0] if len(kept) == 1 else self.infix(operator, *kept)

    def negated(self, term: Term) -> Term:
        """Return the negation of a condition, written without ~ where an opposite operator is at hand."""
        if term.form is Form.NOT:
            return term.args[0]
        if term.form is Form.NAME and term.text in ("TRUE", "FALSE"):
            return self.truth(term.text == "FALSE")
        if term.form is Form.INFIX and term.text in _OPPOSITE:
            return self.infix(_OPPOSITE[term.text], *term.args)
        if term.form is Form.INFIX and term.text in ("<", "<="):
            return self.infix("<=" if term.text == "<" else "<", *reversed(term.args))
        return self.make(Form.NOT, (term,))

    def chosen(self, condition: Term, then: Term, otherwise: Term) -> Term:
        """Return one of two terms by a condition."""
        if condition.form is Form.NAME and condition.text in ("TRUE", "FALSE"):
            return then if condition.text == "TRUE" else otherwise
        return then if then is otherwise else self.make(Form.IF, (condition, then, otherwise))

    def set_of(self, members: Sequence[Term]) -> Term:
        """Return the set of these members."""
        return self.make(Form.SET, members)

    def binding(self, form: Form, variable: str, over: Term, body: Term) -> Term:
        """Return a quantifier, a filter or a function."""
        return self.make(form, (over, body), variable)

    def shifted(self, term: Term, by: int) -> Term:
        """Return a number more or less by a constant."""
        if by == 0:
            return term
        return self.infix("+" if by > 0 else "-", term, self.number(abs(by)))
