"""Expressions of TLA+ in a closed set of forms, their common subexpressions for LET, and the names of a module.

Terms are hash-consed (Ershov 1958): equal terms of one maker are one object, so subterms that occur twice are found by
identity. `printing` writes them as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain, count

__all__ = ["INFIX", "UPPER_PRECEDENCE", "Form", "Lets", "Names", "Term", "Terms", "camel", "field_name"]


class Form(Enum):
    """Every form of an expression. The printer and the parser of the tests have one rule for each."""

    NUMBER = "number"  # text: the digits
    NAME = "name"  # text: the name of a variable, a constant or a parameter; of a bound variable if there are fields
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
"""The infix operators with the lower end of their precedence; equal ones are never mixed without parentheses."""

UPPER_PRECEDENCE: Mapping[str, int] = {**INFIX, "%": 11}
"""The upper end of their precedence: an operand without parentheses binds more tightly than that."""

_OPPOSITE = {"=": "#", "#": "=", "\\in": "\\notin", "\\notin": "\\in"}
_BINDING = (Form.FILTER, Form.MAP, Form.FOR_ALL, Form.EXISTS, Form.FUNCTION)


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """One form applied to terms; made by `Terms` only.

    Attributes:
        form: the form.
        args: its arguments.
        text: a name, a number or an operator; see `Form`.
        fields: names of fields, or paths of changes.
        bound: the bound variables that occur free in it.
        binds: the variables that are bound in it.
        size: its approximate length in characters.
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
        taken: the names that the module defines.
        calculated: the names of the sets whose members are used in arithmetic, so that they must be numbers;
            `UNKNOWN` if the set could not be determined.
        scope: the parameters and variables in scope of the term that is being made.
        variables: the names of all parameters and bound variables so far.
    """

    taken: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    calculated: set[str] = field(default_factory=set)
    scope: list[str] = field(default_factory=list)
    _made: dict[object, Term] = field(default_factory=dict)

    def make(self, form: Form, args: Sequence[Term] = (), text: str = "", fields: Sequence[str] = ()) -> Term:
        """Return the term with this form and these arguments, the same object each time."""
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
        """Return a name for a variable around some terms that is not bound in them or in scope."""
        binds = self.taken.union(self.scope, *(term.binds for term in inside))
        wanted = _ascii(wanted)
        others = (f"{wanted}{number}" for number in count(2))
        found = next(name for name in chain((wanted, wanted[0]), others) if name not in binds and _is_name(name))
        self.variables.add(found)
        return found

    def number(self, value: int) -> Term:
        """Return a number."""
        return self.make(Form.NUMBER, text=str(value))

    def name(self, text: str) -> Term:
        """Return a name."""
        return self.make(Form.NAME, text=text)

    def state_variable(self, field: str) -> Term:
        """Return the variable of a field of the state; a prime after the field stays."""
        return self.name(field_name(field.removesuffix("'")) + "'" * field.endswith("'"))

    def variable_name(self, text: str) -> Term:
        """Return the name of a bound variable. A term that contains it is never moved out of its binder by a LET."""
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
        """Return the negation of a condition, without ~ where there is an opposite operator."""
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
        """Return IF condition THEN then ELSE otherwise, simplified."""
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
        """Return the sum of a term and a constant."""
        if by == 0:
            return term
        return self.infix("+" if by > 0 else "-", term, self.number(abs(by)))


# Common subexpressions of a definition, and their names in LET.


_SHORT = 48  # terms up to about this many characters are repeated instead
_ATOMS = (Form.NAME, Form.NUMBER)


class Lets:
    """The names that the open LETs define.

    Args:
        taken: the names that the module defines.
    """

    def __init__(self, taken: Set[str]) -> None:
        self._taken = taken
        self._names: dict[Term, str] = {}
        self._variables: list[str] = []
        self._number = 0

    def begin(self) -> None:
        """Begin a new definition, with no open LET."""
        self._names, self._variables, self._number = {}, [], 0

    def name_of(self, term: Term) -> str | None:
        """Return the name of a term; None if no open LET defines it."""
        return self._names.get(term)

    @contextmanager
    def opened(self, roots: Sequence[Term], variable: str | None = None) -> Iterator[list[tuple[str, Term]]]:
        """Open a LET around some terms, inside the binder of a variable; yield its names and terms, in order."""
        number = self._number
        self._variables += [] if variable is None else [variable]
        found = self.define(self.shared(roots))
        try:
            yield found
        finally:
            for _, term in found:
                del self._names[term]
            self._number = number
            if variable is not None:
                self._variables.pop()

    def define(self, shared: Sequence[Term]) -> list[tuple[str, Term]]:
        """Give terms names until the definition or the surrounding LET ends."""
        found = []
        for term in shared:
            found.append((self._new_name(_word(term)), term))
        self._names.update((term, name) for name, term in found)
        return found

    def _new_name(self, word: str) -> str:
        while True:
            self._number += 1
            if (name := f"{word}{self._number}") not in self._taken:
                return name

    @contextmanager
    def unnamed(self, term: Term) -> Iterator[None]:
        """Suspend the name of a term while its definition is written."""
        name = self._names.pop(term)
        try:
            yield
        finally:
            self._names[term] = name

    def shared(self, roots: Sequence[Term]) -> list[Term]:
        """Return the unnamed subterms that occur more than once and are long enough, in topological order."""
        order, uses = self._counted(roots)
        scope = set(self._variables)
        return [term for term in order if uses[term] > 1 and _worth_it(term) and term.bound <= scope]

    def _counted(self, roots: Sequence[Term]) -> tuple[list[Term], dict[Term, int]]:
        order: list[Term] = []
        uses: dict[Term, int] = dict.fromkeys(roots, 1)
        seen: set[Term] = set()
        stack = [(root, False) for root in reversed(roots)]
        while stack:
            term, done = stack.pop()
            if done:
                order.append(term)
            elif term not in seen and term not in self._names:
                seen.add(term)
                stack.append((term, True))
                for arg in reversed(term.args):
                    uses[arg] = uses.get(arg, 0) + 1
                    stack.append((arg, False))
        return order, uses


def _worth_it(term: Term) -> bool:
    return term.form not in _ATOMS and term.size > _SHORT


def _word(term: Term) -> str:
    """Return the stem of a name for a term: the field that it reads, or a letter."""
    while term.form is Form.INDEX:
        term = term.args[0]
    return f"{term.text}_" if term.form is Form.FIELD else "v_"


# The names of a module: unique, and no reserved words.


_WORDS = frozenset({
    "ACTION", "ASSUME", "ASSUMPTION", "AXIOM", "BOOLEAN", "BY", "CASE", "CHOOSE", "CONSTANT", "CONSTANTS",
    "COROLLARY", "DEF", "DEFINE", "DEFS", "DOMAIN", "ELSE", "ENABLED", "EXCEPT", "EXTENDS", "FALSE", "HAVE", "HIDE",
    "IF", "IN", "INSTANCE", "LAMBDA", "LEMMA", "LET", "LOCAL", "MODULE", "NEW", "OBVIOUS", "OMITTED", "ONLY",
    "OTHER", "PICK", "PROOF", "PROPOSITION", "PROVE", "QED", "RECURSIVE", "SF_", "STATE", "STRING", "SUBSET",
    "SUFFICES", "TAKE", "TEMPORAL", "THEN", "THEOREM", "TRUE", "UNCHANGED", "UNION", "USE", "VARIABLE", "VARIABLES",
    "WF_", "WITH", "WITNESS", "Nat", "Int", "Real", "Seq", "Append", "Head", "Tail", "Len", "SubSeq", "SelectSeq",
    "Cardinality", "IsFiniteSet", "Permutations", "Min", "Max", "Holds", "Init", "Next", "Spec", "Within", "TypeOK",
    "Symmetry", "vars", "None", "Any", "Assert", "JavaTime", "Print", "PrintT", "RandomElement", "SortSeq", "TLCEval",
    "TLCGet", "TLCSet", "ToString", "INIT", "NEXT", "SPECIFICATION", "INVARIANT", "INVARIANTS", "PROPERTY",
    "PROPERTIES", "CONSTRAINT", "CONSTRAINTS", "ACTION_CONSTRAINT", "ACTION_CONSTRAINTS", "SYMMETRY", "VIEW", "ALIAS",
    "CHECK_DEADLOCK", "POSTCONDITION", "TYPE", "TYPE_CONSTRAINT",
})  # fmt: skip
"""Reserved words of TLA+ and of configurations, names of the extended modules, and names that every export defines."""

_PREFIXES = ("WF_", "SF_")
"""What no name may begin with: they are operators of fairness."""


def _ascii(name: str) -> str:
    """Return a name with its letters outside of ASCII as their code points."""
    return re.sub(r"[^\x00-\x7f]", lambda found: f"u{ord(found[0]):x}", name)


def _is_name(name: str) -> bool:
    """Return whether TLA+ takes a word of letters, digits and underscores for a name that is not reserved."""
    return name not in _WORDS and not name.startswith(_PREFIXES) and re.search("[A-Za-z]", name) is not None


def field_name(field: str) -> str:
    """Return the name of a field of the state or of a record: its own, with an underscore if that is reserved.

    Different fields have different names, as an underscore is also added to names that differ from a reserved one by
    underscores at the end alone.
    """
    name = _ascii(field)
    name = f"f{name}" if name.startswith(_PREFIXES) or not re.search("[A-Za-z]", name) else name
    return f"{name}_" if name.rstrip("_") in _WORDS else name


def camel(name: str) -> str:
    """Return a snake-case name in camel case: controller_elect_leader becomes ControllerElectLeader."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


class Names:
    """The names of a module.

    Args:
        fields: the fields of the state, whose names are taken from the start.

    Attributes:
        taken: the names that the module defines, and the reserved ones.
        variables: the names of parameters and bound variables, which no later definition may have.
    """

    def __init__(self, fields: Iterable[str]) -> None:
        self.taken = {*_WORDS, *map(field_name, fields)}
        self.variables: set[str] = set()
        self._known: dict[object, str] = {}

    def __contains__(self, what: object) -> bool:
        return what in self._known

    def name(self, what: object, wanted: str) -> str:
        """Return the unique name of a thing, the same each time: the wanted one, with a suffix if it is taken."""
        if what not in self._known:
            base = re.sub(r"\W", "_", wanted, flags=re.ASCII)
            plain = re.search("[A-Za-z]", base) and not base.startswith(_PREFIXES)
            name = base = base if plain else f"x{base}"
            number = 1
            while name in self.taken or name in self.variables:
                number += 1
                name = f"{base}_{number}"
            self.taken.add(name)
            self._known[what] = name
        return self._known[what]
