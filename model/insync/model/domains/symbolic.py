"""The base of symbolic values, and the messages about Python that does not work on them.

Tracing runs an author's Python before values are known. `Symbolic` refuses what Python cannot do then, such as an `if`;
the message names the author's line and says what to write instead.
"""

from __future__ import annotations

import inspect
import linecache
import opcode
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from enum import Enum
from types import FunctionType, GeneratorType, MethodType, ModuleType, NoneType
from typing import TYPE_CHECKING, ClassVar, NoReturn

from insync.runtime.errors import ModelError, author_frame, shown, user_frame

if TYPE_CHECKING:
    from insync.model.domains.sorts import Subset
    from insync.model.domains.values import Bool

__all__ = [
    "Symbolic",
    "cure_of_call",
    "for_condition",
    "for_member",
    "for_number",
    "mistaken_call",
    "mistyped",
    "refuse_argument",
]


_LOOKING_FOR = {"CONTAINS_OP", "BINARY_SUBSCR"}
"""The instructions of `x in found` and `found[x]`; other instructions make a set."""
_NB_SUBSCR = 26
"""The argument of the instruction BINARY_OP that is `found[x]` since Python 3.14."""


class Symbolic:
    """A value that is known only when the model runs: no Python `if`, `and`, `not`, `in` or `range` can use it."""

    __slots__ = ()
    compares_last: ClassVar[bool] = False
    """Whether the other operand of `==` leaves the comparison to this value, as to an option or a choice."""

    def _error(self, message: str) -> ModelError:
        """Return the error for Python that needs this value now."""
        return ModelError(message)

    def _undecided(self) -> None:
        """Raise Undecided if the value depends on variables alone, such as parameters, so that Python may need it."""

    def __bool__(self) -> NoReturn:
        frame = author_frame()
        line = "" if frame is None else linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        message = (
            f"{user_frame()}: Python decides `if`, `and`, `or`, `not` and chains such as `a < b < c` while the model "
            f"is traced, before {self!r} has a value. {in_place_of_python(line)}"
        )
        raise self._error(message)

    def __hash__(self) -> int:
        """Return a hash for making a set, as in `s.isr | {s.leader}`; refuse a look-up in a set or dict.

        Python calls this method in both cases; only the current instruction of the caller tells them apart.

        Raises:
            ModelError: the value is looked up. It has no value yet, so it would never be found.
        """
        caller = sys._getframe(1)
        code, at = caller.f_code.co_code, caller.f_lasti
        instruction = opcode.opname[code[at]]
        subscript = instruction == "BINARY_OP" and code[at + 1] == _NB_SUBSCR
        if not subscript and instruction not in _LOOKING_FOR:
            # Two members in one set may be equal, and Python may count them.
            if instruction != "BUILD_SET" or code[at + 1] != 1:
                self._undecided()
            return object.__hash__(self)
        message = (
            f"{user_frame()}: Python looks into its sets and dicts while the model is traced, before {self!r} has a "
            f"value. Compare it with each member, as in Or(x == a, x == b); an array of the state is for looking up."
        )
        raise self._error(message)

    def __index__(self) -> NoReturn:
        message = (
            f"{user_frame()}: {self!r} has no value while the model is traced, so it cannot be an index of a Python "
            f"list or an end of range(). Index an array of the state with it, or quantify over all members and compare."
        )
        raise self._error(message)

    def _refuse(self, word: str) -> NoReturn:
        """Refuse an operator or a method that this value does not have."""
        cure = instead_of(type(self), word)
        known = f" {cure}" if cure else " It is known only when the model runs."
        what = f"attribute {word[1:]!r}" if word.startswith(".") else f"`{word}`"
        said = f"no part of {self!r} can be deleted" if word == "del" else f"{self!r} has no {what}"
        message = f"{user_frame()}: {said}.{known}"
        raise self._error(message)

    def __copy__(self) -> NoReturn:
        message = (
            f"{user_frame()}: {self!r} cannot be copied, and need not be: what was read from a field stays what it was "
            f"when the field is assigned anew. Read the fields that you need before you assign them."
        )
        raise self._error(message)

    def __deepcopy__(self, _: object) -> NoReturn:
        self.__copy__()

    def in_subset(self, subset: Subset) -> Bool:
        """Return whether this member is in a set that is known while the model is traced; see `Subset.contains`."""
        mistyped("A member of a sort", self, "Where it may be none, write .or_else(default) or .value.")


_OPERATORS = {
    "+": ("add", "radd"), "-": ("sub", "rsub", "neg"), "*": ("mul", "rmul"), "/": ("truediv", "rtruediv"),
    "//": ("floordiv", "rfloordiv"), "%": ("mod", "rmod"), "**": ("pow", "rpow"), "@": ("matmul", "rmatmul"),
    "&": ("and", "rand"), "|": ("or", "ror"), "^": ("xor", "rxor"), "<<": ("lshift", "rlshift"),
    ">>": ("rshift", "rrshift"), "~": ("invert",), "abs()": ("abs",), "round()": ("round",), "len()": ("len",),
    "<": ("lt",), "<=": ("le",), ">": ("gt",), ">=": ("ge",), "[...]": ("getitem", "setitem"),
    "del": ("delitem", "delattr"),
}  # fmt: skip
"""The names of Python's methods for each operator; a subclass that has the operator overrides them."""


def _refusing(word: str) -> Callable[..., NoReturn]:
    return lambda self, *_: self._refuse(word)


for _word, _names in _OPERATORS.items():
    for _name in _names:
        setattr(Symbolic, f"__{_name}__", _refusing(_word))


def mistyped(wanted: str, found: object, fix: str, field: str = "") -> NoReturn:
    """Raise ModelError for a value of the wrong type, which is assigned to a field if one is given."""
    kind, cure, where = type(found), getattr(type(found), "cure", fix), f"for {field}" if field else "here"
    message = f"{user_frame()}: {wanted} is needed {where}, but {shown(found)} is of type {kind.__name__}. {cure}"
    raise found._error(message) if isinstance(found, Symbolic) else ModelError(message)


def refuse_argument(word: str, wanted: str, found: object, cure: str) -> NoReturn:
    """Raise ModelError for an argument of the wrong type of a word of the language, such as `Implies` or `count`."""
    message = f"{user_frame()}: {word} needs {wanted}, but {shown(found)} is of type {type(found).__name__}. {cure}"
    raise ModelError(message)


# ---------------------------------------------------------------- what to write instead: the last sentence of a message


_NUMBERS = "Numbers have no bits here: // and % by a constant take them apart, and conditions join by And and Or."
_ORDER = "It has no order: compare it by == and !=, or declare a range, whose numbers have one."
_ADD_ONE, _TAKE_ONE = "Write the_set |= {member}.", "Write the_set -= {member}."
_IS_THERE = "It is always there: write it without, or declare Option(...) where it may be none."

_INSTEAD: dict[str, dict[str, str]] = {
    "Bool": {
        **dict.fromkeys(("+", "-", "*", "//", "%"), "Conditions become numbers by If(condition, 1, 0)."),
        **dict.fromkeys(("<", "<=", ">", ">="), "Write Implies(a, b), And, Or, == or !=."),
        "^": "Write a != b.",
    },
    "Num": {
        **dict.fromkeys(("&", "|", "^", "~", "<<", ">>"), _NUMBERS),
        **dict.fromkeys((".value", ".or_else", ".is_none", ".is_some"), _IS_THERE),
        "**": "Write x * x.",
    },
    "EnumValue": {
        **dict.fromkeys((".value", ".name"), "Compare it with a member, as in x == Colour.RED."),
        **dict.fromkeys((".or_else", ".is_none", ".is_some"), _IS_THERE),
        **dict.fromkeys(("<", "<=", ">", ">="), _ORDER),
    },
    "SetValue": {
        "+": "Write a | b, or the_set |= {member} to add one.",
        "^": "Write (a - b) | (b - a).",
        **dict.fromkeys(("<", "<="), "Write a.is_subset(b)."),
        **dict.fromkeys((">", ">="), "Write b.is_subset(a)."),
        **dict.fromkeys(("len()", ".size"), "Write the_set.count()."),
        **dict.fromkeys((".add", ".update"), _ADD_ONE),
        **dict.fromkeys((".remove", ".discard"), _TAKE_ONE),
        **dict.fromkeys((".union", ".intersection", ".difference"), "Write a | b, a & b and a - b."),
        **dict.fromkeys((".issubset", ".issuperset"), "Write a.is_subset(b)."),
        ".clear": "Write the_set = set().",
        **dict.fromkeys(("[...]", ".pop"), "A set has no order: the(the_set, lambda x: ...) chooses a member."),
    },
    "OptionValue": dict.fromkeys(("[...]", "len()", "-", "abs()", "**"), "It may be none: write .value first."),
    "RecordView": {
        "[...]": "The fields of a record are attributes: write .name.",
        "del": "Fields stay: assign another value, NONE where it is declared Option(...).",
    },
    "ArrayView": {
        **dict.fromkeys(("+", "*"), "An array keeps its places: assign to one of them, or a list to all."),
        "del": "An array keeps its places: assign another value.",
    },
    "SeqView": {"+": "append(element) adds one at the end.", "del": "take(place) and take_first() take one away."},
    "BagView": {
        "+": "add(element) adds one.",
        "del": "remove(element) takes one away.",
        "[...]": "A bag has no order: remove(element), then add(another), changes one.",
    },
    "SetOfView": {
        "+": "Write a | b, or add(element) for one.",
        **dict.fromkeys(("<", "<="), "Write a.is_subset(b)."),
        **dict.fromkeys((">", ">="), "Write b.is_subset(a)."),
        "^": "Write (a - b) | (b - a).",
        "del": "remove(element) takes one away.",
        "[...]": "A set has no order: remove(element), then add(another), changes one.",
    },
}
"""What to write in place of each operator or method that a class does not have."""


def instead_of(kind: type, word: str) -> str:
    """Return what to write in place of an operator, or of a method such as ".add"; empty where nothing fits."""
    return next((_INSTEAD[one.__name__][word] for one in kind.__mro__ if word in _INSTEAD.get(one.__name__, {})), "")


_PYTHONS_OWN = (
    (r"\b(?:max|min|sorted)\(", "Write maximum(a, b) or minimum(a, b), or max_of and min_of of several members."),
    (
        r"\b(?:any|all)\(",
        "Write exists(members, lambda x: ...) or for_all(...), or Or(*conditions) and And(*conditions).",
    ),
    (r"\bin\s*[\[(]", "Write one_of(x, a, b)."),
    (r"^assert\b", "Write require(condition) for a guard; what must hold is a property, which returns its condition."),
    (r"\bif\b.*\belse\b", "Write If(condition, then, otherwise)."),
    (
        r"^(?:if|elif|while|match|case)\b",
        "Write `with when(condition):` around assignments, or require(condition); in a property Implies(a, b).",
    ),
    (r"[<>]=?(?:(?!\b(?:and|or|not|if|else)\b)[^<>=,():])+[<>]=?", "Write And(a < b, b < c) for `a < b < c`."),
    (r"\band\b", "Write And(a, b) for `a and b`."),
    (r"\bor\b", "Write Or(a, b) for `a or b`."),
    (r"(?<!\bis )\bnot\b(?! in\b)", "Write Not(a) for `not a`, and a.is_none() where a is optional."),
)
"""Python that decides, as it stands in a line, and what to write instead."""


_NO_CODE = r"\"[^\"]*\"|'[^']*'|->|#.*"
"""Texts, the sign of what a function returns, and comments."""


def in_place_of_python(line: str) -> str:
    """Return what to write in place of the Python in a line that decides on a value of the state."""
    general = "Use If(condition, then, otherwise), And(...), Or(...), Not(...), require(...) or `with when(...):`."
    code = re.sub(_NO_CODE, "", line.strip())
    return next((cure for pattern, cure in _PYTHONS_OWN if re.search(pattern, code)), general)


def for_number(found: object) -> str:
    """Return what to write in place of a value that is neither a number nor a member of a sort."""
    fits: list[tuple[type | tuple[type, ...], str]] = [
        (slice, "Places are read one at a time, as in x[0]; take_first() takes the first element of a Seq away."),
        (tuple, "Of an array of arrays write x[a][b]."),
        (Enum, f"A field that is to hold it is declared {type(found).__name__}."),
        (str, "A text is no value of a model: names are the members of a Python enumeration."),
        (float, "Numbers of a model are whole."),
        (NoneType, "Only what is declared Option(...) can be none."),
    ]
    general = "Conditions become numbers by If(condition, 1, 0)."
    if not isinstance(found, bool) and type(found).__name__ != "Bool":
        general = "Give a whole number, a member, or a field that holds one."
    return next((cure for kinds, cure in fits if isinstance(found, kinds)), general)


def for_member(kind: type[Enum], found: object) -> str:
    """Return what to write in place of a value that is no member of an enumeration: the member that it stands for."""
    for one in kind if type(found) in (int, str) else ():
        if found == one.name or (type(found) is type(one.value) and found == one.value):
            return f"Write {kind.__name__}.{one.name}."
    names = [f"{kind.__name__}.{one.name}" for one in kind]
    first, more = ", ".join(names[:_FEW_MEMBERS]), ", ..." if len(names) > _FEW_MEMBERS else ""
    return f"Its member is {first}." if len(names) == 1 else f"Its members are {first}{more}."


_FEW_MEMBERS = 4
"""The most members of an enumeration that a message lists."""


def for_condition(found: object) -> str:
    """Return what to write in place of a value that is not a condition."""
    if isinstance(found, (list, tuple, set, frozenset, GeneratorType, Iterator)):
        return "Give conditions one by one, as in Or(*conditions), or write exists(members, lambda x: ...) or for_all."
    if isinstance(found, str):
        return "A text is no condition, and conditions have no message: leave it out."
    if isinstance(found, MethodType):
        given = "" if isinstance(found.__self__, Symbolic) else "s"
        return f"Call it: {found.__name__}({given})."
    if isinstance(found, FunctionType):
        return "Write the condition itself, without lambda." if found.__name__ == "<lambda>" else "Call it."
    if hasattr(type(found), "is_none"):
        return "Write .is_some() or .is_none(), or compare it."
    if hasattr(type(found), "is_empty"):
        return "Write .is_empty() or .contains(...), or compare it."
    return "Compare it, as in x == 1 or x > 0."


_CALLS = (
    (
        r"\w+\.__init__\(\) got an unexpected keyword argument '(?:init|initial|default|value|start)'",
        "A field's first value is assigned in `def initial(self, s):`, as in s.field = value.",
    ),
    (r"(?:Boolean|Bool)\.__init__\(\) ", "A field is declared as Bool, without parentheses."),
    (r"Bound\.__init__\(\) ", "Write Bound(default, lowest, highest, doc)."),
    (r"Not\(\) takes", "Not(a) is of one condition; of several write Not(And(a, b)) or Not(Or(a, b))."),
    (
        r"If\(\) missing",
        "Say what it is otherwise: If(condition, then, otherwise); around assignments write when(...).",
    ),
    (r"Implies\(\) ", "Implies(premise, conclusion) is of two conditions."),
    (r"Array\.__init__\(\) takes", "An array is over one sort: nest them, as in Array(Row, Array(Column, Bool))."),
    (r"Listed\.__init__\(\) missing", "Say how many elements there can be at once, as in Seq(Message, 4)."),
    (r"'(?:Num|Bool|EnumValue|\w+View|\w+Value)' object is not callable", "It is no method: write it without ()."),
    (r"(?P<word>\w+)\(\) missing .*'function'", "Write @{word} without parentheses."),
    (r"(?P<word>\w+)\(\) missing .*'kind'", "Name the model class that it is about, as in @{word}(Lock)."),
)
"""The beginning of Python's message about a wrong call of a word of the language, and what to write instead."""


def mistaken_call(error: TypeError) -> str | None:
    """Return the message for a call of a word of the language with wrong arguments, with its place.

    It is None for any other TypeError. Python raises this one in the line of the call, before the word itself runs.
    """
    called = re.match(r"(?P<word>\w+)(?:\.(?P<method>\w+))?\(\) (?:takes|missing|got)\b", str(error))
    frames = list(traceback.walk_tb(error.__traceback__))
    if called is None or not frames or str(frames[-1][0].f_globals.get("__name__")).startswith(_LANGUAGE):
        return None
    (frame, line), word, method = frames[-1], called["word"], called["method"] or "__init__"
    if not str(getattr(frame.f_globals.get(word), "__module__", _LANGUAGE)).startswith(_LANGUAGE):
        return None  # the user's own class or function, of the same name
    found = frame.f_globals.get(word)
    found = next((vars(one)[word] for one in _modules() if word in vars(one)), None) if found is None else found
    if method != "__init__":
        word, found = method, getattr(found, method, None)
    if not callable(found):
        return None
    if word == "Listed":  # the base of these
        written = re.search(r"\b(Seq|Bag|SetOf)\(", linecache.getline(frame.f_code.co_filename, line))
        word = written[1] if written else word
    cure = cure_of_call(error) or f" Write {word}({_arguments(found)})."
    return f"{frame.f_code.co_filename}:{line}: {word} is called with other arguments than it has.{cure}"


_LANGUAGE = "insync.model."


def _modules() -> list[ModuleType]:
    """Return the loaded modules of the language, the public one first: others may have a function of the same name."""
    inner = [one for name, one in list(sys.modules.items()) if name.startswith(_LANGUAGE)]
    return [sys.modules[_LANGUAGE.rstrip(".")], *inner]


_STARS = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}


def _arguments(function: Callable[..., object]) -> str:
    """Return the parameters of a function as they are written in a call."""
    return ", ".join(
        f"{_STARS.get(one.kind.name, '')}{one.name}{'' if one.default is one.empty else '=...'}"
        for one in inspect.signature(function).parameters.values()
        if one.name not in ("self", "place")  # the place is insync's own
    )


def cure_of_call(error: BaseException) -> str:
    """Return what to write in place of the call that raised an error, after a blank; empty for any other error."""
    for pattern, cure in _CALLS if isinstance(error, TypeError) else ():
        found = re.match(pattern, str(error))
        if found is not None:
            return f" {cure.format(**found.groupdict())}"
    return ""
