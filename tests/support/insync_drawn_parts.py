"""Drawing expressions at random over some variables: values of a domain, numbers, and conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from insync_drawn_domains import Domains
from insync_drawn_terms import Term, const, var
from insync_drawn_types import BOOL, COLLECTED, NUM, Type, any_value, first, number_of_values

__all__ = ["Writer"]

STATES = ("s", "before", "after")


def clamped(number: Term, of: Type) -> Term:
    """Return a number that is within a domain."""
    least = Term("max", NUM, (number, const(of, of.lo)))
    return Term("min", NUM, (least, const(of, of.hi)))


class Writer:
    """Draws expressions over some variables.

    Args:
        domains: of the model.
        roots: the states and the parameters that can be read.
        sloppy: how likely a number is that may not fit.
        careful: whether nothing is written that singles out a member of a symmetric sort.
    """

    def __init__(self, domains: Domains, roots: Sequence[Term], sloppy: float, careful: bool) -> None:
        self.domains, self.roots, self.sloppy, self.careful = domains, tuple(roots), sloppy, careful
        self.chance, self.words = domains.chance, domains.words
        self.paths = [part for root in roots for part in self._parts(root)]

    def beside(self, *more: Term) -> Writer:
        """Return a writer that can read more."""
        return Writer(self.domains, (*self.roots, *more), self.sloppy, self.careful)

    def fresh(self) -> str:
        """Return the name of a variable that is not used."""
        return f"v{sum(one.name[0] == 'v' for one in self.roots)}"

    def among(self, choices: Sequence[Term]) -> Term:
        """Choose."""
        return self.chance.choice(choices)

    def likely(self, probability: float) -> bool:
        """Draw a decision."""
        return self.chance.random() < probability

    def _parts(self, term: Term) -> Iterator[Term]:
        """Yield what can be read in a value; a state is never read as a whole."""
        of = term.type
        if term.name not in STATES:
            yield term
        hidden = self.careful and of.of is not None and self.domains.speaks(of.of)
        if of.kind == "Record":
            for name, part in of.fields:
                yield from self._parts(Term("field", part, (term,), name=name))
        elif of.kind == "Array":
            for index in self._indexes(of):
                yield from self._parts(Term("index", of.inner, (term, index)))
        elif of.kind == "Option" and not hidden:
            yield from self._parts(Term("value", of.inner, (term,)))
        elif of.kind == "Seq" and not hidden:
            yield from self._parts(Term("first", of.inner, (term,)))
            yield Term("last", of.inner, (term,))
            yield Term("place", of.inner, (term, const(NUM, self.chance.randrange(of.most))))
            if "in_place" in self.words:
                yield from self._parts(Term("last", of.inner, (term,)))
                for index in self._places(of):
                    yield from self._parts(Term("place", of.inner, (term, index)))
        elif (of.kind == "Bag" or (of.kind == "SetOf" and of.most)) and not hidden:
            yield from self._parts(Term("place", of.inner, (term, const(NUM, self.chance.randrange(of.most)))))

    def _places(self, of: Type) -> list[Term]:
        """Return some places of a sequence: a constant, and numbers of the state."""
        found = [const(NUM, self.chance.randrange(of.most))]
        for root in self.roots:
            if root.type.kind == "Range" and root.type.lo >= 0 and root.type.hi < of.most:  # a plain number
                found.append(root)
            for name, part in root.type.fields:
                if part.kind in ("Int", "Range") and part.hi < 1 << 20:
                    found.append(Term("field", part, (root,), name=name))
        return found[:3]

    def _indexes(self, of: Type) -> list[Term]:
        """Return some indexes of an array: variables, constants, and scalars of the state."""
        over = of.over
        if over is None:
            found = [const(NUM, self.chance.randrange(of.most))]
        elif over in self.domains.symmetric and self.careful:
            found = []
        else:
            found = [const(over, any_value(self.chance, over))] if number_of_values(over) else []
        for root in self.roots:
            if root.type == over:
                found.append(root)
            if root.type.kind == "Record":
                for name, part in root.type.fields:
                    plain = Term("field", part, (root,), name=name)
                    number = part.kind in ("Int", "Range") and (over is None or over.kind == "Range")
                    if part == over or (number and self.likely(0.5)):
                        found.append(plain)
                    elif number:
                        beside = const(NUM, self.chance.choice([-1, 1, 2]))
                        found.append(Term("add", NUM, (plain, beside)))
        return found

    # ------------------------------------------------------------------------------------------------------ values

    def constant(self, of: Type) -> Term | None:
        """Draw a constant; None if every one would single out a member."""
        for _ in range(20):
            value = any_value(self.chance, of)
            if not self.careful or self.domains.kept(of, value):
                return const(of, value)
        return const(of, first(of)) if self.domains.kept(of, first(of)) else None

    def value(self, of: Type, depth: int, fits: bool = False) -> Term:
        """Draw a value of a domain; a number may be one that does not fit, unless it must."""
        if of.kind == "Bool":
            return self.condition(depth)
        if of.kind in ("Int", "Range") and not (fits and self.likely(0.5)):
            return self.fitting(of, depth, fits)
        paths = [one for one in self.paths if one.type == of]
        if depth and (word := self.by_word(of, depth)) is not None:
            return word
        ways: list[Callable[[], Term | None]] = [lambda: self.constant(of)]
        ways += [lambda: self.among(paths)] * (3 if paths else 0)
        if depth:
            ways += [lambda: self._choice(of, paths, depth), lambda: self._made(of, depth, fits)]
            ways += [lambda: self._made(of, depth, fits)] if of.kind not in ("Int", "Range", "Enum", "Sort") else []
        for _ in range(8):
            if (found := self.chance.choice(ways)()) is not None:
                return found
        if paths:
            return self.among(paths)
        return const(of, first(of))

    def by_word(self, of: Type, depth: int) -> Term | None:
        """Draw a value by one of the words that are wanted; None where there is none."""
        if not self.words or self.likely(0.4):
            return None
        if "or_else" in self.words and of.kind in ("Bool", "Enum", "Set", "Record"):
            options = [one for one in self.paths if one.type.kind == "Option" and one.type.inner == of]
            if options:
                return Term("or_else", of, (self.among(options), self.value(of, depth - 1, fits=True)))
        singled = self.careful and of.of in self.domains.symmetric
        if "choose" in self.words and of.kind == "Option" and of.inner in self.domains.classes and not singled:
            held = [one for one in self.paths if one.type.kind == "Set" and one.type.inner == of.inner]
            members = (self.among(held),) if held and self.likely(0.6) else ()
            one = var(self.fresh(), of.inner)
            over = None if members else of.inner
            return Term("choose", of, (*members, self.beside(one).condition(depth - 1)), one.name, over=over)
        if "filtered" in self.words:
            line = self.filtered(depth, of if of.kind == "Seq" else Type("Seq", of=of))
            if line is not None:
                return line if of.kind == "Seq" else Term(self.chance.choice(["first", "last"]), of, (line,))
        return None

    def filtered(self, depth: int, of: Type) -> Term | None:
        """Draw the elements of a sequence for which a condition holds; None where there is no such sequence."""
        lines = [one for one in self.paths if one.type.kind == "Seq" and one.type.of == of.of]
        lines = [one for one in lines if not of.most or one.type.most == of.most]
        if not lines:
            return None
        line = self.among(lines)
        one = var(self.fresh(), line.type.inner)
        return Term("filtered", line.type, (line, self.beside(one).condition(depth - 1)), one.name)

    def fitting(self, of: Type, depth: int, fits: bool) -> Term:
        """Draw a number for a field."""
        paths = [one for one in self.paths if one.type == of]
        if paths and self.likely(0.25):
            return self.among(paths)
        if self.likely(0.25):
            return const(of, any_value(self.chance, of))
        number = self.number(depth)
        return number if not fits and self.likely(self.sloppy) else clamped(number, of)

    def _choice(self, of: Type, paths: Sequence[Term], depth: int) -> Term | None:
        arms = [self.among(paths) if paths and self.likely(0.6) else self.constant(of) for _ in range(2)]
        if arms[0] is None or arms[1] is None:
            return None
        return Term("if", of, (self.condition(depth - 1), arms[0], arms[1]))

    def _made(self, of: Type, depth: int, fits: bool) -> Term | None:
        """Draw a value that is put together."""
        match of.kind:
            case "Option" if number_of_values(of.inner):
                return Term("given", of, (self.value(of.inner, depth - 1, fits),))
            case "Record":
                return Term("record", of, tuple(self.value(part, depth - 1, fits) for _, part in of.fields))
            case "Set":
                return self._set(of, depth)
            case "Array" if of.over is not None and self.likely(0.7):
                one = var(self.fresh(), of.over)
                return Term("each", of, (self.beside(one).value(of.inner, depth - 1, fits),), one.name, over=of.over)
            case "Array" if of.over not in self.domains.symmetric or not self.careful:
                return Term("list", of, tuple(self.value(of.inner, depth - 1, fits) for _ in range(of.places)))
            case "SetOf" if self.likely(0.5) and not fits:
                paths = [one for one in self.paths if one.type == of]
                if paths:
                    op = self.chance.choice(["union", "meet", "minus"])
                    fits = op == "union"  # what does not fit would come in, and is refused even where it is compared
                    other = self.among([self.among(paths), self.value(of, 0, fits), self._list(of, depth, fits)])
                    return Term(op, of, (self.among(paths), other))
            case "Sort" | "Enum" if number_of_values(of) and not (self.careful and of in self.domains.symmetric):
                one = var(self.fresh(), of)
                return Term("the", of, (self.beside(one).condition(depth - 1),), one.name, over=of)
        return self._list(of, depth, fits) if of.kind in COLLECTED else None

    def _list(self, of: Type, depth: int, fits: bool) -> Term:
        most = min(of.most or 2, 2) if number_of_values(of.inner) else 0
        count = self.chance.randint(0, most)
        return Term("list", of, tuple(self.value(of.inner, max(depth - 1, 0), fits) for _ in range(count)))

    def _set(self, of: Type, depth: int) -> Term:
        paths = [one for one in self.paths if one.type == of]
        members = [one for one in self.paths if one.type == of.of]
        one = Term("set", of, (self.among(members),)) if members else const(of, frozenset())
        if not paths:
            return one
        op = self.chance.choice(["union", "union", "minus", "meet"])
        return Term(op, of, (self.among(paths), one if self.likely(0.7) else self.among(paths)))

    # ---------------------------------------------------------------------------------------- numbers and conditions

    def number(self, depth: int) -> Term:
        """Draw a whole number."""
        paths = [one for one in self.paths if one.type.kind in ("Int", "Range")]
        leaf = self.among(paths) if paths and self.likely(0.7) else const(NUM, self.chance.randint(-2, 4))
        way = self.chance.choice(
            ["leaf", "sum", "product", "divided", "divided", "extreme", "size", "option", "if", "over", "over"]
        )
        if depth <= 0 or way == "leaf":
            return leaf
        less = depth - 1
        match way:
            case "sum":
                step = self.among([const(NUM, 1), const(NUM, 1), self.number(less)])
                return Term(self.chance.choice(["add", "sub"]), NUM, (leaf, step))
            case "product":
                op = self.chance.choice(["mul", "neg", "abs"])
                return Term(op, NUM, (leaf, const(NUM, self.chance.randint(-1, 2))) if op == "mul" else (leaf,))
            case "divided":
                divided = Term("sub", NUM, (leaf, const(NUM, self.chance.randint(0, 3)))) if less else self.number(less)
                divisor = const(NUM, self.chance.choice([1, 2, 2, 3]))
                return Term(self.chance.choice(["div", "mod"]), NUM, (divided, divisor))
            case "extreme":
                return Term(self.chance.choice(["min", "max"]), NUM, (leaf, self.number(less)))
            case "if":
                return Term("if", NUM, (self.condition(less), leaf, self.number(less)))
            case "over":
                return self._counted(less) or leaf
        return self._measured(way) or leaf

    def _measured(self, way: str) -> Term | None:
        """Draw what is read off a value that is no number."""
        found: list[Term] = []
        for one in self.paths:
            of = one.type
            if way == "option":
                if of.kind == "Option" and of.inner.kind in ("Int", "Range"):
                    found.append(Term("or_else", NUM, (one, const(NUM, self.chance.randint(-1, 2)))))
                if of.kind == "Sort" and not (self.careful and of in self.domains.symmetric):
                    found.append(Term("number", NUM, (one,)))
            elif of.kind == "Seq" and "filtered" in self.words and self.likely(0.5):
                line = self.filtered(1, of)
                found += [] if line is None else [Term("length", NUM, (line,))]
            elif of.kind in ("Set", *COLLECTED):
                found.append(
                    Term("size" if of.kind in ("Set", "SetOf") and self.likely(0.5) else "length", NUM, (one,))
                )
                if of.kind == "Bag" and number_of_values(of.inner):
                    found.append(Term("times", NUM, (one, self.value(of.inner, 1))))
        return self.among(found) if found else None

    def _counted(self, depth: int) -> Term | None:
        """Draw a number that a quantifier gives."""
        over, members, element = self._ranged()
        one = var(self.fresh(), element)
        inner = self.beside(one)
        op = self.chance.choice(["count", "count", "sum_of", "max_of", "min_of"])
        if op == "count":
            return Term(op, NUM, (*members, inner.condition(depth)), one.name, over=over)
        body = inner.number(depth)
        default = (const(NUM, self.chance.randint(-1, 2)),) if op != "sum_of" else ()
        return Term(op, NUM, (*members, body, *default), one.name, over=over)

    def _ranged(self) -> tuple[Type | None, tuple[Term, ...], Type]:
        """Draw what a quantifier ranges over: a class or a part of the state, and the type of its members."""
        held = [one for one in self.paths if one.type.kind in ("Set", "Array", *COLLECTED)]
        if held and self.likely(0.7):
            chosen = self.among(held)
            return None, (chosen,), chosen.type.inner
        over = self.chance.choice(self.domains.classes)
        return over, (), over

    def condition(self, depth: int) -> Term:
        """Draw a condition."""
        if depth > 0 and self.likely(0.5):
            less = depth - 1
            match self.chance.choice(["not", "and", "or", "implies", "if", "all", "all", "all"]):
                case "not":
                    return Term("not", BOOL, (self.condition(less),))
                case "if":
                    return Term("if", BOOL, tuple(self.condition(less) for _ in range(3)))
                case "all":
                    over, members, element = self._ranged()
                    one = var(self.fresh(), element)
                    body = self.beside(one).condition(less)
                    return Term(self.chance.choice(["for_all", "exists"]), BOOL, (*members, body), one.name, over=over)
                case op:
                    return Term(op, BOOL, (self.condition(less), self.condition(less)))
        # What a domain without values reads as is the first value of nothing, which is compared with nothing.
        paths = self.paths if "empty" not in self.words else [one for one in self.paths if number_of_values(one.type)]
        return self.about(self.among(paths), depth) if paths else const(BOOL, True)

    def about(self, one: Term, depth: int) -> Term:
        """Draw a condition on a value."""
        of = one.type
        compared = self.chance.choice(["eq", "ne"])
        if depth and (word := self.by_word(of, depth)) is not None:
            if of.kind == "Bool":
                return word
            if of.kind == "Option" and self.likely(0.5):
                return Term(self.chance.choice(["none", "some"]), BOOL, (word,))
            one = word
        match of.kind:
            case "Bool":
                return one
            case "Int" | "Range":
                other = self.number(depth) if self.likely(0.3) else const(of, any_value(self.chance, of))
                return Term(self.chance.choice(["lt", "le", "gt", compared]), BOOL, (one, other))
            case "Enum" if self.likely(0.2):
                some = (const(of, any_value(self.chance, of)) for _ in range(2))
                return Term("one_of", BOOL, (one, *some))
            case "Option" if self.likely(0.5):
                return Term(self.chance.choice(["none", "some"]), BOOL, (one,))
            case "Set" | "Seq" | "Bag" | "SetOf" if self.likely(0.75):
                return self._asked(one, depth)
        if of.kind == "Sort" and not (self.careful and of in self.domains.symmetric) and self.likely(0.3):
            return Term("lt", BOOL, (Term("number", NUM, (one,)), const(NUM, self.chance.randint(0, max(of.hi, 0)))))
        other = self.value(of, depth)
        if other == one:
            other = self.constant(of) or other
        return Term(compared, BOOL, (one, other))

    def _asked(self, one: Term, depth: int) -> Term:
        """Draw a condition on what a collection has."""
        of = one.type
        match self.chance.choice(["in", "in", "in", "empty", "length", "subset"]):
            case "in" if number_of_values(of.inner):
                return Term("in", BOOL, (one, self.value(of.inner, depth if of.kind != "Set" else 0)))
            case "length":
                length = const(NUM, self.chance.randint(0, of.most or 2))
                return Term(self.chance.choice(["lt", "eq"]), BOOL, (Term("length", NUM, (one,)), length))
            case "subset" if of.kind in ("Set", "SetOf"):
                same = [path for path in self.paths if path.type == of]
                if of.kind == "SetOf" and self.likely(0.4):
                    same = [self._list(of, depth, fits=False)]
                return Term("subset", BOOL, (one, self.among(same)))
        return Term("empty", BOOL, (one,))
