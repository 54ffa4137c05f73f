"""Random models as text in which every action is about one of three sites, declared alike and mostly treated so.

A model is text so that it can be changed in one place, read, kept and tried by hand. It is a function of its seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from insync.model import BoundValues, Model
from insync.model.domains.composite import as_domain

__all__ = ["model_of_text", "model_text"]

MOST_BEGINNINGS = 20
"""How many values a field may have that begins with any of them."""

PREAMBLE = """from __future__ import annotations

import enum

from insync.model import *


class Site(Index, symmetric=True):
    size = 3


class Kind(enum.Enum):
    ASK = 0
    TELL = 1


"""


@dataclass(frozen=True, slots=True)
class Type:
    """A domain: its kind, the domain inside, the fields of a record, and how many elements there can be."""

    kind: str
    of: Type | None = None
    fields: tuple[tuple[str, Type], ...] = ()
    most: int = 0

    @property
    def names_sites(self) -> bool:
        """Whether a value of it can name a site."""
        inner = [of for _, of in self.fields] if self.of is None else [self.of]
        return self.kind in ("Site", "Set") or any(of.names_sites for of in inner)

    @property
    def begins_with_a_site(self) -> bool:
        """Whether its first value names the first site."""
        inner = [of for _, of in self.fields]
        if self.kind == "Array" and self.of:
            inner = [self.of]
        return self.kind == "Site" or any(of.begins_with_a_site for of in inner)

    @property
    def text(self) -> str:
        """How the domain is declared."""
        inner = self.of.text if self.of else ""
        match self.kind:
            case "record":
                return f"Record({', '.join(f'{name}={of.text}' for name, of in self.fields)})"
            case "Int":
                return "Int(-1, 1)"
            case "Set":
                return "Set(Site)"
            case "Array":
                return f"Array(Site, {inner})"
            case "Seq" | "Bag":
                return f"{self.kind}({inner}, {self.most})"
            case "SetOf":
                return f"SetOf({inner}, {self.most})" if self.most else f"SetOf({inner})"
            case "Option":
                return f"Option({inner})"
        return self.kind


COLLECTED = ("Seq", "Bag", "SetOf")
BOOL, INT, KIND, SITE, SET = (Type(kind) for kind in ("Bool", "Int", "Kind", "Site", "Set"))
RECORD = Type("record", fields=(("a", KIND), ("b", SITE)))
WIDE = Type("record", fields=(("a", BOOL), ("b", Type("Option", SITE)), ("c", Type("record", fields=(("d", INT),)))))
SCALARS = (BOOL, INT, KIND, SITE, SET, Type("Option", INT), Type("Option", SITE))
ELEMENTS = (INT, KIND, SITE, Type("Option", KIND), RECORD, RECORD, Type("Option", RECORD))
TYPES: tuple[Type, ...] = (
    *SCALARS,
    RECORD,
    WIDE,
    Type("Option", RECORD),
    *(Type("Array", of) for of in (BOOL, INT, RECORD)),
    *(Type("Seq", of, most=2) for of in ELEMENTS),
    *(Type("Bag", of, most=2) for of in ELEMENTS),
    *(Type("SetOf", of, most=2) for of in ELEMENTS),
    *(Type("SetOf", of) for of in ELEMENTS),
    Type("Seq", WIDE, most=1),
    Type("Seq", Type("record", fields=(("log", Type("Seq", KIND, most=1)), ("to", SITE))), most=1),
    Type("Array", Type("Seq", SITE, most=1)),
)


ALL = ("Site(0)", "Site(1)")


def literal(chance: random.Random, of: Type, sites: Sequence[str] = ALL) -> str:
    """Return a constant, in which sites have these names."""
    match of.kind:
        case "Bool":
            return chance.choice(["False", "True"])
        case "Int":
            return chance.choice(["-1", "0", "1"])
        case "Kind":
            return chance.choice(["Kind.ASK", "Kind.TELL"])
        case "Site":
            return chance.choice(sites)
        case "Set":
            return chance.choice(["set()", f"{{{sites[0]}}}", f"{{{', '.join(sites)}}}"])
        case "Option":
            assert of.of
            return "NONE" if chance.random() < 0.4 else literal(chance, of.of, sites)
        case "record":
            return f"record({', '.join(f'{name}={literal(chance, part, sites)}' for name, part in of.fields)})"
        case "Array":
            assert of.of
            if sites is not ALL:
                return f"[{literal(chance, of.of, sites)}] * 3"
            return f"[{literal(chance, of.of, sites)}, {literal(chance, of.of, sites)}]"
    assert of.of
    return f"[{literal(chance, of.of, sites)}]" if chance.random() < 0.5 else "[]"


def parts(
    path: str, of: Type, *, whole: bool, indexes: Sequence[str] = ("0", "site"), careful: bool = False
) -> Iterator[tuple[str, Type]]:
    """Yield what can be read in a field, or with `whole` what can be assigned; `careful` leaves out who may be none."""
    yield path, of
    if of.kind == "record":
        for name, part in of.fields:
            yield from parts(f"{path}.{name}", part, whole=whole, indexes=indexes, careful=careful)
    elif of.kind == "Array" and of.of:
        for index in indexes:
            yield from parts(f"{path}[{index}]", of.of, whole=whole, indexes=indexes, careful=careful)
    elif of.of and of.names_sites and careful:
        return  # who is not there is the first site, and who is first depends on who is who
    elif of.kind == "Option" and of.of:
        if not whole or of.of.kind == "record":
            yield from list(parts(f"{path}.value", of.of, whole=whole))[whole:]
    elif of.kind == "Seq" and of.of:
        yield f"{path}[{of.most - 1}]", of.of
        if not whole:
            yield from parts(f"{path}.first", of.of, whole=False)
            yield f"{path}.last", of.of
    elif of.kind in ("Bag", "SetOf") and of.of and of.most and not whole:
        yield from parts(f"{path}[0]", of.of, whole=False)


class Writer:
    """Writes expressions over fields and parameters.

    Args:
        chance: makes the choices.
        fields: the fields of the state.
        alike: whether no site is named but by a parameter.
        careful: whether nobody is read where there may be none.
    """

    def __init__(
        self, chance: random.Random, fields: dict[str, Type], alike: bool = False, careful: bool = False
    ) -> None:
        self.chance, self.sites = chance, ("site",) if alike else ALL
        indexes = ("site",) if alike else ("0", "site")
        self.readable, self.writable = (
            [
                one
                for name, of in fields.items()
                for one in parts(f"s.{name}", of, whole=whole, indexes=indexes, careful=careful)
            ]
            for whole in (False, True)
        )
        self.collected = [one for one in self.readable if one[1].kind in COLLECTED]

    def among(self, choices: Sequence[Any]) -> Any:
        """Choose."""
        return self.chance.choice(choices)

    def value(self, of: Type, depth: int) -> str:
        """Return a value of a domain; a number may be one too large or too small for it."""
        paths = [path for path, own in self.readable if own == of]
        if of == SITE:
            paths.append("site")
        ways = ["literal", *(["path"] * 3 if paths else []), *(["If", "more"] if depth else [])]
        match self.among(ways):
            case "path":
                return str(self.among(paths))
            case "If":
                return f"If({self.condition(depth - 1)}, {self.value(of, depth - 1)}, {self.value(of, depth - 1)})"
            case "more" if of == INT and paths:
                return f"({self.among(paths)} {self.among(['+', '-'])} 1)"
            case "more" if of.kind in ("Set", "SetOf") and paths:
                return f"({self.among(paths)} {self.among(['|', '&', '-'])} {self.value(of, 0)})"
        return literal(self.chance, of, self.sites)

    def condition(self, depth: int, element: Type | None = None) -> str:
        """Return a condition, of an element `m` too where one is given."""
        known = [*self.readable, *([*parts("m", element, whole=False)] * 3 if element else [])]
        path, of = self.among(known)
        plain = element is not None and path == "m" and of.kind in ("Bool", "Int", "Kind", "Site")
        if depth and self.among([True, False]):
            return self._joined(depth - 1, element)
        match of.kind:
            case "Bool":
                return path if not plain else "m"
            case "Int":
                return f"({path} {self.among(['<', '==', '!='])} {self.value(INT, 0)})"
            case "Option":
                return f"{path}.{self.among(['is_none', 'is_some'])}()"
            case "Set":
                return f"{path}.contains(site)"
            case "Seq" | "Bag" | "SetOf":
                asked = [
                    f"{path}.is_empty()",
                    f"({path}.length < 2)",
                    f"{path}.contains({self.value(of.of or BOOL, 0)})",
                ]
                return str(self.among([*asked, f"({path} == {literal(self.chance, of, self.sites)})"]))
        return f"({path} {self.among(['==', '!='])} {literal(self.chance, of, self.sites)})"

    def _joined(self, depth: int, element: Type | None) -> str:
        way = self.among(["Not", "And", "Or", "exists", "for_all", "count"])
        if way == "Not":
            return f"Not({self.condition(depth, element)})"
        if way in ("And", "Or") or not self.collected or element is not None:
            return (
                f"{'Or' if way == 'Or' else 'And'}({self.condition(depth, element)}, {self.condition(depth, element)})"
            )
        path, of = self.among(self.collected)
        inner = self.condition(0, of.of)
        counted = f"(count({path}, lambda m: {inner}) < 2)"
        return counted if way == "count" else f"{way}({path}, lambda m: {inner})"

    def statement(self, depth: int) -> list[str]:
        """Return the lines of a statement."""
        if depth and self.among([True, False, False]):
            inner = [line for _ in range(self.among([1, 2])) for line in self.statement(depth - 1)]
            return [f"with when({self.condition(1)}):", *(f"    {line}" for line in inner)]
        own = [one for one in self.writable if one[1].kind in COLLECTED]
        if own and self.among([True, True, False]):
            path, of = self.among(own)
            assert of.of
            element = self.value(of.of, 1)
            names = ["append", "append", "take_first"] if of.kind == "Seq" else ["add", "add", "remove"]
            match self.among([*names, "clear"]):
                case ("take_first" | "clear") as name:
                    return [f"{path}.{name}()"]
                case name:
                    call = f"{path}.{name}({element})"
                    return [f"with when({path}.length < 2):", f"    {call}"] if self.among([True, False]) else [call]
        path, of = self.among(self.writable)
        return [f"{path} = {self.value(of, 2)}"]


def model_text(seed: int) -> str:
    """Return the text of a random model, whose class is `Drawn`."""
    chance = random.Random(seed)
    types = [of for of in TYPES if _can_be_alike(of)]
    fields = {f"f{number}": chance.choice(types) for number in range(chance.randint(1, 3))}
    way = chance.random()
    writer = Writer(chance, fields, way < 0.85, way < 0.6)
    declared = ", ".join(f"{name}={of.text}" for name, of in fields.items())
    lines = ["class Drawn(Model):", '    headline = ("holds0", "holds1")', "", "    def declare(self, b):"]
    lines += [f"        return State({declared})", ""]
    drawn = [name for name, of in fields.items() if chance.random() < 0.35 and _few_values(of)]
    begun = [name for name, of in fields.items() if name in drawn or of.begins_with_a_site]
    if begun:
        lines += ["    @initial", "    def begins(self, s):", *(f"        s.{name} = ANY" for name in begun), ""]
    for number in range(chance.randint(3, 5)):
        lines += ["    @action", f"    def act{number}(self, s, site: Site):"]
        if chance.random() < 0.4:
            lines.append(f"        require({writer.condition(1)})")
        for _ in range(chance.randint(1, 2)):
            lines += [f"        {line}" for line in writer.statement(2)]
        lines.append("")
    for number in range(2):
        condition = f"for_all(Site, lambda site: Or({', '.join(writer.condition(2) for _ in range(3))}))"
        lines += ["    @invariant", f"    def holds{number}(self, s):", f"        return {condition}", ""]
    return PREAMBLE + "\n".join(lines)


def _can_be_alike(of: Type) -> bool:
    """Return whether sites that are alike may be in a field, which then begins with any of them."""
    return of.names_sites and (_few_values(of) or not of.begins_with_a_site)


def _few_values(of: Type) -> bool:
    """Return whether a model may begin with any value of a domain."""
    scope: dict[str, Any] = {}
    exec(compile(PREAMBLE, "random_model.py", "exec", dont_inherit=True), scope)  # noqa: S102 -- a text made here
    domain = as_domain(eval(of.text, scope))  # noqa: S307
    return domain.bind(BoundValues({})).number_of_values() <= MOST_BEGINNINGS


def model_of_text(text: str) -> Model:
    """Return the model of a text; raises ModelError where it cannot be traced."""
    scope: dict[str, Any] = {"__name__": "random_model"}
    exec(compile(text, "random_model.py", "exec", dont_inherit=True), scope)  # noqa: S102 -- a text made here
    model: Model = scope["Drawn"]()
    return model
