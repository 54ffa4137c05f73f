"""A reader of expressions of the TLA+ that insync exports.

It knows exactly the exported subset, and reads columns as TLA+ does: what stands right of a bullet belongs to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["TlaReader", "Tree"]

Tree = tuple[Any, ...]

_TOKEN = re.compile(
    r"\\\*[^\n]*|[A-Za-z_]\w*'?|\d+|<=>|=>|<=|==|\|->|->|\.\.|/\\|\\/|\\(?:AA|[AE]|in|notin|subseteq|cup|cap|div)\b"
    r"|<<|>>|[][{}(),:!.+*%=<>#~\\-]"
)
_STRENGTH = {
    "=>": 1, "<=>": 2, "\\/": 3, "/\\": 3, "=": 5, "#": 5, "<": 5, ">": 5, "<=": 5, "\\in": 5, "\\notin": 5,
    "\\subseteq": 5, "\\cup": 8, "\\cap": 8, "\\": 8, "..": 9, "+": 10, "%": 10, "-": 11, "*": 13, "\\div": 13,
}  # fmt: skip


@dataclass
class _Token:
    text: str
    line: int
    column: int


class TlaReader:
    def __init__(self, text: str) -> None:
        self.tokens: list[_Token] = []
        for number, line in enumerate(text.splitlines()):
            for match in _TOKEN.finditer(line):
                if match[0].startswith("\\*"):
                    break
                self.tokens.append(_Token(match[0], number, match.start()))
        self.at, self.limit = 0, -1

    @property
    def next(self) -> str:
        if self.at >= len(self.tokens) or self.tokens[self.at].column <= self.limit:
            return ""
        return self.tokens[self.at].text

    def take(self, wanted: str | None = None) -> str:
        found = self.next
        assert found, f"something is missing before {self.tokens[self.at : self.at + 3]}"
        assert wanted in (None, found), f"{wanted} is expected, not {self.tokens[self.at : self.at + 4]}"
        self.at += 1
        return found

    def maybe(self, wanted: str) -> bool:
        if self.next != wanted:
            return False
        self.at += 1
        return True

    def expression(self, strength: int = 0) -> Tree:
        left = self.prefix()
        while (operator := self.next) in _STRENGTH and _STRENGTH[operator] > strength:
            self.take()
            right = self.expression(_STRENGTH[operator])
            left = (operator, left, right)
        return left

    def prefix(self) -> Tree:
        word = self.next
        if word in ("/\\", "\\/"):
            return self.bullets(word)
        rule = _PREFIX.get(word)
        if rule is not None:
            self.take()
            return rule(self)
        return self.postfix(self.atom())

    def bullets(self, bullet: str) -> Tree:
        column, before, items = self.tokens[self.at].column, self.limit, []
        while self.next == bullet and self.tokens[self.at].column == column:
            self.take()
            self.limit = column
            items.append(self.expression())
            self.limit = before
        found = items[0]
        for item in items[1:]:
            found = (bullet, found, item)
        return found

    def atom(self) -> Tree:
        word = self.take()
        if word.isdigit():
            return ("number", int(word))
        if word == "(":
            found = self.expression()
            self.take(")")
            return found
        if word == "{":
            return self.braces()
        if word == "[":
            return self.brackets()
        if word == "<<":
            self.take(">>")
            return ("record", [])
        assert re.match(r"[A-Za-z_]", word), f"{word} at {self.tokens[self.at - 1]}"
        return ("call", word, self.listed(")")) if self.maybe("(") else ("name", word)

    def postfix(self, found: Tree) -> Tree:
        while True:
            if self.maybe("."):
                found = ("field", found, self.take())
            elif self.next == "[":
                self.take()
                found = ("index", found, self.expression())
                self.take("]")
            else:
                return found

    def listed(self, closing: str) -> list[Tree]:
        found: list[Tree] = []
        while not self.maybe(closing):
            found.append(self.expression())
            self.maybe(",")
        return found

    def braces(self) -> Tree:
        if self.maybe("}"):
            return ("set", [])
        begin = self.at
        if re.match(r"[A-Za-z_]", self.take()) and self.maybe("\\in"):
            name, over = self.tokens[begin].text, self.expression(5)
            if self.maybe(":"):
                found = ("filter", name, over, self.expression())
                self.take("}")
                return found
        self.at = begin
        first = self.expression()
        if self.maybe(":"):
            name = self.take()
            self.take("\\in")
            found = ("map", name, self.expression(), first)
            self.take("}")
            return found
        self.maybe(",")
        return ("set", [first, *self.listed("}")])

    def brackets(self) -> Tree:
        begin = self.at
        name = self.take()
        if self.next in ("|->", ":"):
            self.at = begin
            return self.fields()
        if self.maybe("\\in"):
            over = self.expression()
            self.take("|->")
            found: Tree = ("function", name, over, self.expression())
            self.take("]")
            return found
        self.at = begin
        first = self.expression()
        if self.maybe("->"):
            found = ("functions", first, self.expression())
            self.take("]")
            return found
        self.take("EXCEPT")
        changes = []
        while not self.maybe("]"):
            changes.append(self.change())
            self.maybe(",")
        return ("except", first, changes)

    def fields(self) -> Tree:
        found: list[tuple[str, Tree]] = []
        kind = ""
        while not self.maybe("]"):
            name = self.take()
            kind = self.take()
            found.append((name, self.expression()))
            self.maybe(",")
        return ("record" if kind == "|->" else "records", found)

    def change(self) -> tuple[list[Tree], Tree]:
        self.take("!")
        path: list[Tree] = []
        while not self.maybe("="):
            if self.maybe("."):
                path.append(("text", self.take()))
            else:
                self.take("[")
                path.append(self.expression())
                self.take("]")
        return path, self.expression()

    def choice(self) -> Tree:
        condition = self.expression()
        self.take("THEN")
        then = self.expression()
        self.take("ELSE")
        return ("if", condition, then, self.expression())

    def let(self) -> Tree:
        defined = []
        while not self.maybe("IN"):
            name = self.take()
            self.take("==")
            defined.append((name, self.expression()))
        return ("let", defined, self.expression())

    def quantifier(self, form: str) -> Tree:
        bound: list[tuple[str, Tree]] = []
        while True:
            names = [self.take()]
            while self.maybe(","):
                names.append(self.take())
            self.take("\\in")
            over = self.expression(5)
            bound += [(name, over) for name in names]
            if not self.maybe(","):
                break
        self.take(":")
        found = self.expression()
        for name, over in reversed(bound):
            found = (form, name, over, found)
        return found

    def unchanged(self) -> Tree:
        self.take("<<")
        return ("unchanged", [name[1] for name in self.listed(">>")])


_PREFIX: Mapping[str, Callable[[TlaReader], Tree]] = {
    "IF": TlaReader.choice,
    "LET": TlaReader.let,
    "\\A": lambda reader: reader.quantifier("all"),
    "\\E": lambda reader: reader.quantifier("some"),
    "~": lambda reader: ("not", reader.expression(4)),
    "-": lambda reader: ("number", -int(reader.take())),
    "SUBSET": lambda reader: ("subsets", reader.expression(8)),
    "UNION": lambda reader: ("union", reader.expression(8)),
    "UNCHANGED": TlaReader.unchanged,
}
