"""Which parts of what is written out are named in a LET: those that would be written twice."""

from __future__ import annotations

import pytest

from insync.explorer.export.tla.printing import Printer
from insync.explorer.export.tla.terms import Form, Lets, Term, Terms


@pytest.fixture
def terms() -> Terms:
    return Terms()


def name(terms: Terms, text: str) -> Term:
    return terms.make(Form.NAME, text=text)


def total(terms: Terms, *parts: Term) -> Term:
    return terms.make(Form.INFIX, parts, "+")


def test_what_is_written_for_itself_and_within_something_else_is_named(terms: Terms) -> None:
    part = total(terms, name(terms, "a" * 30), name(terms, "b" * 30))
    whole, other = total(terms, part, name(terms, "c")), total(terms, name(terms, "d" * 40), name(terms, "e" * 40))
    assert Lets(set()).shared([part, whole, other]) == [part]
    assert Lets(set()).shared([whole, part, other]) == [part]
    assert Lets(set()).shared([whole, other]) == []
    assert Lets(set()).shared([total(terms, part, part)]) == [part]


def test_what_is_short_or_has_a_name_already_is_not_named(terms: Terms) -> None:
    short = total(terms, name(terms, "a"), name(terms, "b"))
    assert Lets(set()).shared([short, total(terms, short, short)]) == []
    part = total(terms, name(terms, "a" * 30), name(terms, "b" * 30))
    lets = Lets(set())
    with lets.opened([total(terms, part, part)]) as found:
        assert [term for _, term in found] == [part]
        assert lets.shared([part, total(terms, part, part)]) == []
    assert lets.shared([total(terms, part, part)]) == [part]


def test_a_definition_is_broken_where_its_name_leaves_no_room(terms: Terms) -> None:
    part = terms.make(Form.INFIX, [name(terms, letter * 15) for letter in "abc"], "/\\")
    printer = Printer(set(), width=60)
    assert len(printer.lines(part, printer.width)) == 1
    with printer.lets.opened([total(terms, part, part)]) as found:
        lines = printer.let_lines(found, printer.width)
    assert len(lines) > 1
    assert max(map(len, lines)) <= printer.width
