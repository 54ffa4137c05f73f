"""Drawing whole models: a seed gives fields, first states, actions and properties, as data that is text and oracle.

A model that does next to nothing is drawn again, and so is a property that fails at once, by what the oracle finds.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from insync_drawn_data import Action, Begin, Described, Parameters, Property, Run, State, Statement
from insync_drawn_domains import Domains
from insync_drawn_parts import Writer
from insync_drawn_spaces import TYPE_OK, Runs, Space
from insync_drawn_steps import Steps, aliased, holds_for_all
from insync_drawn_terms import Term, const, var
from insync_drawn_types import BOOL, COLLECTED, NUM, Type, any_value, first, number_of_values

__all__ = ["WORDS", "changed_in_place", "drawn"]

MOST_BEGINNINGS = 24
"""How many first states an initial method may have."""

UNFAIR = ("sometimes", "initially_always")
"""The kinds of properties of runs on which fairness has no effect."""

KINDS = (*UNFAIR, "eventually", "always_eventually", "eventually_always", *3 * ("leads_to",))
"""The kinds of properties of runs, the more often the more forms they have."""

ATTEMPTS, ENOUGH = 6, (4, 10)
"""How often a model is drawn, of which that with the most levels is taken, and how many levels and states suffice."""


WORDS = ("in_place", "or_else", "empty", "filtered", "choose", "any_of")
"""Words that are drawn where they are wanted: elements changed in place, defaults of options that are no numbers, sorts
without members, and functions of the same names."""


def drawn(seed: int, states: int = 150, alike: bool | None = None, words: frozenset[str] = frozenset()) -> Described:
    """Return the model of a seed.

    Args:
        seed: the choices.
        states: how far the oracle looks whether a model does something.
        alike: whether a sort is symmetric, and its members treated alike; None leaves it to the seed.
        words: of `WORDS` those that the model is to have.
    """
    chance, best = random.Random(seed), (-1, -1)
    chosen: tuple[_Drawing, Space] | None = None
    for _ in range(ATTEMPTS):
        drawing = _Drawing(chance, seed, alike, words)
        model = drawing.moving()
        if not 0 < len(Steps(model).first) <= 4 * MOST_BEGINNINGS:
            continue
        space = Space(model).search(states)
        found = min(len(space.levels), 5), min(sum(map(len, space.levels)), 30)
        if found > best:
            best, chosen = found, (drawing, space)
        if best >= ENOUGH:
            break
    assert chosen is not None
    return chosen[0].judged(chosen[1])


class _Drawing:
    """Draws one model."""

    def __init__(self, chance: random.Random, seed: int, alike: bool | None, words: frozenset[str]) -> None:
        self.chance, self.seed, self.words = chance, seed, words
        self.alike = chance.random() < 0.4 if alike is None else alike
        self.careful = self.alike and (chance.random() < 0.9 or alike is True)
        self.domains = Domains(chance, self.alike, words)
        self.sloppy = 0.3 if chance.random() < 0.3 else 0.0
        fields = []
        for number in range(chance.choice([1, 2, 2, 3, 3, 4])):
            of = self.domains.field()
            while not self.domains.kept(of, first(of)) and number_of_values(of) > MOST_BEGINNINGS:
                of = self.domains.field()
            fields.append((f"f{number}", of))
        for word in sorted(words):
            of_word = self.domains.of_word(word)
            if of_word is not None and self.domains.kept(of_word, first(of_word)):
                fields.append((f"f{len(fields)}", of_word))
        self.state = Type("Record", fields=tuple(fields))

    def likely(self, probability: float) -> bool:
        """Draw a decision."""
        return self.chance.random() < probability

    def writer(self, *roots: Term) -> Writer:
        """Return what draws expressions over some variables."""
        return Writer(self.domains, roots, self.sloppy, self.careful)

    def view(self, name: str = "s") -> Term:
        """Return the state as a variable."""
        return var(name, self.state)

    def parameters(self, most: int) -> Parameters:
        """Draw the parameters of an action or a property."""
        kinds = [self.domains.site, self.domains.site, self.domains.node, self.domains.kind, self.domains.turn, BOOL]
        count = self.chance.choice([0, *range(1, most + 1), 1])
        chosen = [self.chance.choice(kinds) for _ in range(count)]
        if self.careful:  # who is nobody's parameter could be named by a constant only
            chosen = [*self.domains.symmetric, *chosen[1:]]
        return tuple((f"p{number}", of) for number, of in enumerate(chosen))

    def moving(self) -> Described:
        """Draw a model without properties."""
        actions = tuple(self.action(number) for number in range(self.chance.choice([2, 2, 3, 4])))
        plain, begins = self.beginnings()
        symmetric = tuple(one.name for one in self.domains.symmetric)
        classes, bounded = self.domains.classes, self.likely(0.5)
        return Described(self.seed, classes, symmetric, self.state, plain, begins, actions, (), (), (), bounded)

    def judged(self, space: Space) -> Described:
        """Draw properties of a model whose states are known: some hold, and few fail at once."""
        model, states = space.model, [state for level in space.levels for state in level[:40]][:80]
        properties = []
        for number in range(self.chance.choice([1, 2, 2])):
            properties.append(self.invariant(f"holds{number}", states, fails=self.likely(0.4)))
        within: tuple[str, ...] = ()
        if self.likely(0.3):
            bounded = self.invariant("bounded", states, fails=self.likely(0.9))
            holds = holds_for_all(bounded.condition, bounded.parameters)
            if any(holds({"s": state}) for state in space.levels[0]):  # else it would be refused
                properties.append(bounded)
                within = ("bounded",)
        if self.likely(0.4):
            properties.append(self.step_invariant(space))
        runs = tuple(self.telling(number, space) for number in range(self.chance.choice([0, 1, 2, 2, 3])))
        return replace(model, properties=tuple(properties), within=within, runs=runs)

    # ------------------------------------------------------------------------------------------------ first states

    def beginnings(self) -> tuple[tuple[tuple[str, object], ...], tuple[Begin, ...]]:
        """Draw what the plain initial method assigns, and the initial methods."""
        writer, plain = self.writer(self.view()), []
        must = [name for name, of in self.state.fields if not self.domains.kept(of, first(of))]
        for name, of in self.state.fields:
            if name not in must and self.likely(0.25) and (value := writer.constant(of)) is not None:
                plain.append((name, value.value))
        count = self.chance.choice([0, 0, 1, 1, 2]) or bool(must)
        return tuple(plain), tuple(self.begin(number, must) for number in range(count))

    def begin(self, number: int, must: list[str]) -> Begin:
        """Draw an initial method, in which some fields are anything."""
        anything, total = list(must), 1
        for name, of in self.state.fields:
            total *= number_of_values(of) if name in must else 1
        for name, of in self.state.fields:
            size = number_of_values(of)
            if name not in must and self.likely(0.4) and total * size <= MOST_BEGINNINGS:
                anything.append(name)
                total *= size
        given = self.parameters(1) if self.likely(0.5) else ()
        writer = self.writer(self.view(), *(var(*one) for one in given))
        body = []
        if self.likely(0.5):
            name, of = self.chance.choice(self.state.fields)
            path = Term("field", of, (self.view(),), name=name)
            if name not in must:
                body.append(Statement("assign", path, (writer.value(of, 1, fits=True),)))
        requires = (writer.condition(2),) if self.likely(0.4) else ()
        return Begin(f"begins{number}", given, tuple(anything), tuple(body), requires)

    # ----------------------------------------------------------------------------------------------------- actions

    def action(self, number: int) -> Action:
        """Draw an action."""
        given = self.parameters(2)
        given, local = self.local(given) if "any_of" in self.words else (given, ())
        writer = self.writer(self.view(), *(var(*one) for one in given))
        requires = [writer.condition(1) for _ in range(self.chance.choice([0, 1, 1, 2]))]
        body: list[Statement] = []
        late = None
        numbers = [one for one in self.state.fields if one[1].kind == "Int"]
        if numbers and self.likely(0.15):
            name, of = self.chance.choice(numbers)
            path = Term("field", of, (self.view(),), name=name)
            body.append(Statement("assign", path, (writer.fitting(of, 1, fits=False),)))
            late = Term(self.chance.choice(["lt", "gt"]), BOOL, (path, const(of, any_value(self.chance, of))))
        for _ in range(self.chance.choice([1, 1, 2, 3])):
            for one in self.statements(writer, 2):
                body.append(one)
        return Action(f"act{number}", given, tuple(requires), tuple(body), late, local)

    def local(self, given: Parameters) -> tuple[Parameters, tuple[tuple[str, Term | None], ...]]:
        """Draw choices beside some parameters; return both, and the set of each choice."""
        chosen: list[tuple[str, Type]] = []
        local: list[tuple[str, Term | None]] = []
        sets = [one for one in self.writer(self.view()).paths if one.type.kind == "Set"]
        for number in range(self.chance.choice([1, 1, 2])):
            name, held = f"c{number}", None
            if sets and self.likely(0.5):
                held = self.chance.choice(sets)
                of = held.type.inner
            else:
                of = self.chance.choice([self.domains.site, self.domains.kind, self.domains.turn, BOOL])
            chosen.append((name, of))
            local.append((name, held))
        return (*given[:1], *chosen), tuple(local)

    def statements(self, writer: Writer, depth: int) -> Iterator[Statement]:
        """Draw a statement, with what comes before it."""
        if depth and self.likely(0.25):
            inner = tuple(one for _ in range(self.chance.choice([1, 2])) for one in self.statements(writer, depth - 1))
            yield Statement("when", terms=(writer.condition(2),), body=inner)
            return
        if depth and self.likely(0.1):
            sort = self.chance.choice([self.domains.site, self.domains.node])
            one = var(writer.fresh(), sort)
            body = tuple(self.statements(writer.beside(one), 0))
            yield Statement("each", body=body, name=one.name, over=sort)
            return
        if "in_place" in self.words and self.likely(0.7) and (changed := list(self.in_place(writer))):
            yield from changed
            return
        if self.likely(0.3) and (bumped := self.bumped(writer)) is not None:
            yield bumped
            return
        if depth and self.likely(0.15) and (sent := self.sent(writer)) is not None:
            yield sent
            return
        live = [
            path for path in writer.paths if _assignable(path) and path.type.kind in ("Record", "Array", *COLLECTED)
        ]
        if live and self.likely(0.15):
            path = writer.among(live)
            one = aliased(writer.fresh(), path)
            yield Statement("alias", terms=(path,), name=one.name)
            writer = writer.beside(one)
        if self.likely(0.1):
            held = writer.among([path for path in writer.paths if path.op not in ("var",)])
            one = var(writer.fresh(), held.type)
            yield Statement("let", terms=(held,), name=one.name)
            writer = writer.beside(one)
        yield from self.written(writer)

    def bumped(self, writer: Writer) -> Statement | None:
        """Draw that a number goes up or round."""
        numbers = [one for one in writer.paths if _assignable(one) and one.type.kind in ("Int", "Range")]
        if not numbers:
            return None
        path = writer.among(numbers)
        of = path.type
        more = Term("add", NUM, (path, const(NUM, 1)))
        if self.likely(0.4):
            turned = Term("mod", NUM, (Term("sub", NUM, (more, const(NUM, of.lo))), const(NUM, of.hi - of.lo + 1)))
            return Statement("assign", path, (Term("add", NUM, (turned, const(NUM, of.lo))),))
        call = Statement("assign", path, (more,))
        room = Term("lt", BOOL, (path, const(NUM, of.hi)))
        return call if self.likely(self.sloppy) else Statement("when", terms=(room,), body=(call,))

    def in_place(self, writer: Writer) -> Iterator[Statement]:
        """Draw that a part of an element of a sequence is changed; nothing where there is none."""
        inside = [one for one in writer.paths if _assignable(one, in_place=True) and not _assignable(one)]
        if not inside:
            return
        path = writer.among(inside)
        if path.type.kind in COLLECTED and (path.op in ("first", "last") or self.likely(0.7)):
            changed = list(self.changed(writer, path))
        else:
            changed = [Statement("assign", path, (writer.value(path.type, 1),))]
        if self.likely(self.sloppy):
            yield from changed
            return
        conditions = list(_inside(path))
        whole = conditions[0]
        for one in conditions[1:]:
            whole = Term("and", BOOL, (whole, one))
        yield Statement("when", terms=(whole,), body=tuple(changed))

    def sent(self, writer: Writer) -> Statement | None:
        """Draw that the first element of a sequence goes to another collection."""
        held = [one for one in writer.paths if _assignable(one) and one.type.kind in COLLECTED]
        pairs = [(one, to) for one in held for to in held if one.type.kind == "Seq" and one.type.of == to.type.of]
        pairs = [(one, to) for one, to in pairs if one != to]
        if not pairs:
            return None
        line, other = self.chance.choice(pairs)
        taken = var(writer.fresh(), line.type.inner)
        some = Term("gt", BOOL, (Term("length", NUM, (line,)), const(NUM, 0)))
        room = Term("lt", BOOL, (Term("length", NUM, (other,)), const(NUM, other.type.most or 99)))
        put = Statement("append" if other.type.kind == "Seq" else "add", other, (taken,))
        body = (Statement("take_first", line, name=taken.name), put)
        return Statement("when", terms=(Term("and", BOOL, (some, room)),), body=body)

    def written(self, writer: Writer) -> Iterator[Statement]:
        """Draw an assignment or a change of a collection."""
        held = [path for path in writer.paths if _assignable(path) and path.type.kind in COLLECTED]
        arrays = [path for path in writer.paths if _assignable(path) and path.type.kind == "Array"]
        if held and self.likely(0.6):
            yield from self.changed(writer, writer.among(held))
        elif (arrays := [one for one in arrays if one.type.places]) and self.likely(0.1):
            path = writer.among(arrays)
            over = path.type.over
            if over is None or (over.kind == "Range" or over not in self.domains.symmetric):
                at = const(
                    over or NUM, self.chance.choice(range(path.type.lowest, path.type.lowest + path.type.places))
                )
                yield Statement("clear_from", path, (at,))
        else:
            path = writer.among([one for one in writer.paths if _assignable(one) and one.op != "alias"])
            yield Statement("assign", path, (writer.value(path.type, 2),))

    def changed(self, writer: Writer, path: Term) -> Iterator[Statement]:
        """Draw a change of a collection."""
        of = path.type
        names = {
            "Seq": ["append", "append", "append", "take_first", "take", "put", "clear"],
            "Bag": ["add", "add", "add", "remove", "remove", "clear"],
            "SetOf": ["add", "add", "add", "remove", "clear"],
        }[of.kind]
        kind = self.chance.choice(names if number_of_values(of.inner) else ["clear"])
        guarded, length = not self.likely(self.sloppy), Term("length", NUM, (path,))
        room = of.most and guarded
        match kind:
            case "append" | "add":
                call = Statement(kind, path, (writer.value(of.inner, 2),))
                full = Term("lt", BOOL, (length, const(NUM, of.most)))
                yield Statement("when", terms=(full,), body=(call,)) if room else call
            case "remove":
                yield Statement(kind, path, (writer.value(of.inner, 1),))
            case "take_first":
                call = Statement(kind, path)
                some = Term("gt", BOOL, (length, const(NUM, 0)))
                yield Statement("when", terms=(some,), body=(call,)) if guarded else call
            case "take" | "put":
                at = const(NUM, self.chance.randrange(of.most))
                numbers = [one for one in writer.paths if one.type.kind == "Int" and one.op == "field"]
                place = writer.among(numbers) if numbers and self.likely(0.4) else at
                terms = (place, writer.value(of.inner, 1)) if kind == "put" else (place,)
                call = Statement(kind, path, terms)
                zero = Term("le", BOOL, (const(NUM, 0), place))
                inside = Term("and", BOOL, (zero, Term("lt", BOOL, (place, length))))
                yield Statement("when", terms=(inside,), body=(call,)) if guarded else call
            case _:
                yield Statement(kind, path)

    # -------------------------------------------------------------------------------------------------- properties

    def invariant(self, name: str, states: list[State], fails: bool) -> Property:
        """Draw an invariant that seldom fails in the first state, and fails in another one or not."""
        for _ in range(12):
            given = self.parameters(1)
            writer = self.writer(self.view(), *(var(*one) for one in given))
            condition = writer.condition(2)
            for _ in range(self.chance.choice([0, 1, 2])):
                condition = Term("or", BOOL, (condition, writer.condition(2)))
            holds = holds_for_all(condition, given)
            there = [holds({"s": state}) for state in states]
            if (there[0] and all(there) != fails) or self.likely(0.02):
                break
        return Property(name, given, condition)

    def step_invariant(self, space: Space) -> Property:
        """Draw a condition on the states before and after a step, which some step breaks or none."""
        wanted = self.likely(0.5)
        pairs = [
            (state, step.after)
            for level in space.levels
            for state in level[:40]
            for step in space.steps[state]
            if step.after is not None and step.after != state
        ][:150]
        for _ in range(10):
            found = self.step_condition()
            holds = holds_for_all(found.condition, found.parameters)
            if all(holds({"before": before, "after": after}) for before, after in pairs) == wanted:
                break
        return found

    def step_condition(self) -> Property:
        """Draw a condition on two states."""
        given = self.parameters(1)
        before, after = self.view("before"), self.view("after")
        writer = self.writer(before, after, *(var(*one) for one in given))
        condition = writer.condition(2)
        name, of = self.chance.choice(self.state.fields)
        paths = tuple(Term("field", of, (view,), name=name) for view in (before, after))
        ordered = ["le", "lt"] if of.kind in ("Int", "Range") else []
        beside = Term(self.chance.choice(["eq", "ne", "ne", *ordered]), BOOL, paths)
        return Property("kept", given, Term("or", BOOL, (condition, beside)), of_steps=True)

    def telling(self, number: int, space: Space) -> Run:
        """Draw a property of runs, of a few the one for which it matters most what is fair, and how."""
        told, drawing = Runs(space), space.whole and TYPE_OK not in space.failing
        best: tuple[int, Run] | None = None
        for _ in range(8 if drawing else 1):
            run, worth = self.run(number, space.model.actions), 0
            both = run.weak + run.strong
            if drawing and both:
                weak, strong = (
                    told.holds(replace(run, weak=both, strong=())),
                    told.holds(replace(run, weak=(), strong=both)),
                )
                worth = 2 * (weak != strong) + (not told.holds(run)) + self.likely(0.3)
            if best is None or worth > best[0]:
                best = worth, run
            if run.kind in UNFAIR or worth > 2:
                break
        assert best is not None
        return best[1]

    def run(self, number: int, actions: tuple[Action, ...]) -> Run:
        """Draw a property of runs."""
        kind = self.chance.choice(KINDS)
        given = self.parameters(1)
        writer = self.writer(self.view(), *(var(*one) for one in given))
        then = writer.condition(2)
        when = writer.condition(1) if kind in ("leads_to", "initially_always") else None
        tail = self.chance.choice(["", "always_eventually", "eventually_always"]) if kind == "leads_to" else ""
        sets: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {"weak": [], "strong": []}
        if kind not in UNFAIR:
            for action in actions:
                if self.likely(0.75):
                    sets[self.chance.choice(["weak", "strong"])].append(self.fair(action, actions))
        return Run(kind, f"run{number}", given, when, then, tuple(sets["weak"]), tuple(sets["strong"]), tail)

    def fair(self, action: Action, actions: tuple[Action, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Draw a fair set of which an action is a part."""
        names = [name for name, _ in action.parameters]
        apart: tuple[str, ...] = ()
        if names and self.likely(0.6):
            apart = ("*",) if self.likely(0.4) else (self.chance.choice(names),)
        beside = [one.name for one in actions if one != action and one.parameters == action.parameters]
        if beside and apart != ("*",) and self.likely(0.5):
            return (action.name, self.chance.choice(beside)), apart
        return (action.name,), apart


def changed_in_place(model: Described) -> bool:
    """Return whether some statement of a model changes a part of an element of a sequence."""
    todo = [one for action in model.actions for one in action.body]
    while todo:
        one = todo.pop()
        todo += one.body
        if one.path is not None and not _assignable(one.path):
            return True
    return False


PLACES = ("place", "first", "last")
"""The operations that read an element of a sequence."""


def _inside(path: Term) -> Iterator[Term]:
    """Yield the conditions that the elements of sequences in a path are there."""
    while path.args:
        if path.op in PLACES and path.args[0].type.kind == "Seq":
            length = Term("length", NUM, (path.args[0],))
            if path.op == "place":
                yield Term("le", BOOL, (const(NUM, 0), path.args[1]))
                yield Term("lt", BOOL, (path.args[1], length))
            else:
                yield Term("gt", BOOL, (length, const(NUM, 0)))
        path = path.args[0]


def _assignable(path: Term, in_place: bool = False) -> bool:
    """Return whether a path is a part of the state that can be assigned; with `in_place` also one in a sequence."""
    whole = path
    while path.op in ("field", "index", "value", *(PLACES if in_place else ())):
        named = path is whole and path.op != "place" and path.type.kind not in COLLECTED
        if path.op in PLACES and (path.args[0].type.kind != "Seq" or named):
            return False
        if path.op == "value" and (path.type.kind != "Record" or path is whole):
            return False
        path = path.args[0]
    return path.op == "alias" or (path.op == "var" and path.name == "s")
