"""Multiset forms of sorted containers, with which symmetry compares them.

The codes of a bag after an addition depend on the order of elements, and so on the numbers of members. Two bags are
compared by the operations that made them (`Made`): additions, removals and joins, in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from insync.model.domains.sorted_arrays import made_of, under
from insync.model.expressions.graph import Made, Node, Op, fold
from insync.model.expressions.simplify import apply
from insync.model.symmetry.group import Arranged, Kind, Symmetry
from insync.model.symmetry.presence import Known, Presence
from insync.model.symmetry.renaming import NormalForms, NotRenamed, Renaming

__all__ = ["Element", "Form", "Gathering", "element_of", "placed"]


_MOST_CHOICES = 200


@dataclass(frozen=True, slots=True)
class Element:
    """The layout of an element of a container; its cells are numbered from 0.

    Attributes:
        kinds: the kind of members that the code of each cell names.
        guards: for each cell its guard and the number that the guard exceeds where the cell is present, or None.
        targets: for each cell the cell that its code moves to.
        inner: for each sorted container in the element its cells, the target of its first cell, and its elements.
        once: whether the elements of the container are distinct.
    """

    kinds: tuple[Kind | None, ...]
    guards: tuple[tuple[int, int] | None, ...]
    targets: tuple[int, ...]
    inner: tuple[tuple[tuple[int, ...], int, Element], ...]
    once: bool

    def settled(self) -> Element:
        """Return this layout with every cell as its own target."""
        inner = tuple((cells, cells[0], lying.settled()) for cells, _, lying in self.inner)
        return replace(self, targets=tuple(range(len(self.targets))), inner=inner)


@dataclass(frozen=True, slots=True)
class Form:
    """The multiset form of a container.

    Attributes:
        base: the form before the changes, or another key of the container.
        how: whether elements were `added` or `removed`.
        what: the forms of these elements with their conditions, and how often each occurs.
    """

    base: Hashable
    how: str = "added"
    what: frozenset[tuple[Hashable, int]] = frozenset()

    def changed(self, how: str, elements: Counter[Hashable], once: bool) -> Form:
        """Return the form with some elements added or removed; their order does not matter."""
        base, total = (self.base, Counter(dict(self.what))) if self.how == how or not self.what else (self, Counter())
        total += elements
        return Form(base, how, frozenset((one, 1 if once else times) for one, times in total.items()))


def element_of(group: Arranged, instance: int, symmetry: Symmetry, presence: Presence, renaming: Renaming) -> Element:
    """Return the layout of the elements of one container of an orbit."""
    length, row = group.lengths[instance], group.rows[instance][0]
    return _element(row, length, group.once, symmetry, presence, renaming)


def _element(
    row: tuple[int, ...], length: int, once: bool, symmetry: Symmetry, presence: Presence, renaming: Renaming
) -> Element:
    moved = [renaming.place(cell) for cell in row]
    first = min(moved)
    inner = []
    for group in symmetry.arranged:
        for own, rows in zip(group.lengths, group.rows, strict=True):
            if own in row:
                cells = (row.index(own), *(row.index(cell) for each in rows for cell in each))
                lying = _element(rows[0], own, group.once, symmetry, presence, renaming)
                inner.append((cells, renaming.place(own) - first, lying))
    guards = [presence.guard(cell) for cell in row]
    return Element(
        kinds=tuple(renaming.kind(cell) for cell in row),
        guards=tuple((row.index(g[0]), g[1]) if g is not None and g[0] != length else None for g in guards),
        targets=tuple(cell - first for cell in moved),
        inner=tuple(inner),
        once=once,
    )


def placed(code: Node, guard: Node | None, above: int, kind: Kind | None, renaming: Renaming | None) -> Node:
    """Return the code of a cell with its members renamed, and 0 where its guard makes the cell absent.

    Raises:
        NotRenamed: the code uses members as numbers.
    """
    if guard is None or guard.lo > above:
        return code if renaming is None else renaming.named(code, kind)
    if guard.hi <= above:
        return code.graph.const(0)
    if guard.op is not Op.ITE:
        return code if renaming is None else renaming.named(code, kind)
    condition, *guards = guard.args
    codes = code.args[1:] if code.op is Op.ITE and code.args[0] is condition else (code, code)
    parts = [placed(one, own, above, kind, renaming) for one, own in zip(codes, guards, strict=True)]
    return apply(Op.ITE, condition if renaming is None else renaming.named(condition, None), *parts)


class Gathering:
    """Multiset forms of sorted containers, under one permutation of members.

    Args:
        forms: the normal forms of expressions.
        presence: shows that cells are present.
        renaming: permutes the members; None where they keep their names.
    """

    def __init__(self, forms: NormalForms, presence: Presence, renaming: Renaming | None) -> None:
        self._forms, self._presence, self._renaming = forms, presence, renaming
        self._choices = 0
        self._ordered: dict[Node, bool] = {}

    def form(self, element: Element, codes: Sequence[Node], known: Known) -> Form:
        """Return the form of a container. Equal forms imply equal containers.

        Args:
            element: the layout of its elements.
            codes: the length, and the codes of all elements.
            known: the known ranges of guard cells.

        Raises:
            NotRenamed: these rules find no form.
        """
        self._choices = 0
        return self._form(element, tuple(codes), known, {})

    def _form(self, element: Element, codes: tuple[Node, ...], known: Known, assumed: dict[Node, bool]) -> Form:
        made = made_of(codes)
        if made is None:
            codes = tuple(under(code, assumed) for code in codes)
            made = made_of(codes)
        if made is not None:
            return self._made(element, made, known, assumed)
        if codes[0].op is Op.CONST:
            width = len(element.kinds)
            if codes[0].lo * width >= len(codes):  # more elements than there is room for: such a step is refused
                raise NotRenamed
            elements = [codes[1 + i * width :][:width] for i in range(codes[0].lo)]
            return Form("empty").changed("added", Counter(self._one(element, e, known) for e in elements), element.once)
        if not any(map(self._compares, codes)):
            return self._unmade(element, codes, known)
        choices = [code.args[0] for code in codes if code.op is Op.ITE and not self._compares(code.args[0])]
        if not choices:
            raise NotRenamed
        return self._chosen(element, choices[0], (codes, codes), known, assumed)

    def _made(self, element: Element, made: Made, known: Known, assumed: dict[Node, bool]) -> Form:
        if made.condition is not None:
            return self._chosen(element, made.condition, (made.first, made.other), known, assumed)
        first = self._form(element, made.first, known, assumed)
        if made.how in ("joined", "met", "without"):
            both = first, self._form(element, made.other, known, assumed)
            return Form((made.how, both if made.how == "without" else frozenset(both)))
        return first.changed(made.how, Counter([self._one(element, made.other, known)]), element.once)

    def _chosen(
        self,
        element: Element,
        condition: Node,
        sides: tuple[tuple[Node, ...], tuple[Node, ...]],
        known: Known,
        assumed: dict[Node, bool],
    ) -> Form:
        """Return the form of a choice between containers; elements that only one has are there under the condition."""
        if condition in assumed:
            return self._form(element, sides[not assumed[condition]], known, assumed)
        self._choices += 1
        if self._choices > _MOST_CHOICES:
            raise NotRenamed
        one, other = (
            self._form(element, side, self._assumed(known, condition, holds), {**assumed, condition: holds})
            for side, holds in zip(sides, (True, False), strict=True)
        )
        number = self._number(condition, None, known)
        for more, less, holds in ((one, other, True), (other, one, False)):
            if more.base == less:
                return _conditional(less, more.how, Counter(dict(more.what)), (number, holds), element.once)
            if more.base == less.base and (more.how == less.how or not less.what) and less.what <= more.what:
                added = Counter(dict(more.what - less.what))
                return _conditional(less, more.how, added, (number, holds), element.once)
        return Form(("chosen", number, one, other))

    def _unmade(self, element: Element, codes: tuple[Node, ...], known: Known) -> Form:
        """Return the form of a container that is only read or filtered, so that no code compares elements."""
        width, length, found = len(element.kinds), codes[0], list[Hashable]()
        for place in range((len(codes) - 1) // width):
            there = apply(Op.LT, length.graph.const(place), length)
            here = self._assumed(known, there, True)
            own = codes[1 + place * width :][:width]
            for cell, code in enumerate(own):
                inner = element.guards[cell]
                guard, above = (length, place) if inner is None else (own[inner[0]], inner[1])
                number = self._placed(code, guard, above, element.kinds[cell], here)
                found.append((place, element.targets[cell], number))
        return Form(("read", self._number(length, None, known), frozenset(found)))

    def _one(self, element: Element, codes: tuple[Node, ...], known: Known) -> Hashable:
        """Return the form of an element."""
        inside = {cell for cells, _, _ in element.inner for cell in cells}
        parts: list[Hashable] = []
        for cell, (code, kind, own) in enumerate(zip(codes, element.kinds, element.guards, strict=True)):
            if cell not in inside:
                guard, above = (None, 0) if own is None else (codes[own[0]], own[1])
                parts.append((element.targets[cell], self._placed(code, guard, above, kind, known)))
        for cells, target, lying in element.inner:
            if not any(cells[0] in other[1:] for other, _, _ in element.inner):
                parts.append((target, self._form(lying, tuple(codes[cell] for cell in cells), known, {})))
        return frozenset(parts), frozenset[Hashable]()

    # ---------------------------------------------------------------------------------------------------------- codes

    def _placed(self, code: Node, guard: Node | None, above: int, kind: Kind | None, known: Known) -> int:
        if self._compares(code):
            raise NotRenamed
        code, guard = self._presence.trimmed(code), None if guard is None else self._presence.trimmed(guard)
        if self._renaming is not None:
            there = (
                self._presence.reads_what_is_there(code, known)
                if guard is None
                else self._presence.code_is_there(code, guard, above, known)
            )
            if not there:
                raise NotRenamed
        return self._forms.of(placed(code, guard, above, kind, self._renaming))

    def _number(self, code: Node, kind: Kind | None, known: Known) -> int:
        return self._placed(code, None, 0, kind, known)

    def _assumed(self, known: Known, condition: Node, holds: bool) -> Known:
        return self._presence.assumed(known, [condition], holds)

    def _compares(self, code: Node) -> bool:
        """Return whether a code depends on the order of elements."""
        if code not in self._ordered:
            orders = code.graph.orders
            fold([code], lambda each, args: each in orders or any(args), self._ordered)
        return self._ordered[code]


def _conditional(form: Form, how: str, elements: Counter[Hashable], condition: tuple[int, bool], once: bool) -> Form:
    """Return a form with elements added or removed under a condition."""
    changed: Counter[Hashable] = Counter()
    for element, times in elements.items():
        assert isinstance(element, tuple)
        what, conditions = element
        changed[what, conditions | {condition}] += times
    return form.changed(how, changed, once)
