"""What insync can print reads as its pages do: every sentence of the sources, collected for a reader and held to rules.

`build/messages.md` has all of them, package by package: this file writes it when it is run, and so does `make slow`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

from insync.model.catalogue import BUILT_IN

ROOT = Path(__file__).parents[2]
COLLECTED = ROOT / "build" / "messages.md"

PACKAGES = (
    "cli/insync/cli",
    "explorer/insync/kafka_questions",
    "explorer/insync/explorer",
    "explorer/insync/machine",
    "spark_explore/insync/spark_explore",
    "properties/insync/properties",
    "properties/insync/proofs",
    "model/insync/model",
    "model/insync/runtime",
    "conformance/insync/conformance",
    "model/insync/kafka",
)
SPEECH_OF_KAFKA = re.compile(
    r"model/insync/kafka/|properties/insync/properties/kafka/|"
    r"conformance/insync/conformance/(?:catalogue|comparing|live|quorum|steps)/"
)
"""Sentences about brokers and controllers, which ask and are told in Kafka's own speech."""

PRINTED = re.compile(r"(?:\w+_)?command|group|invariant|lemma|step_invariant|sometimes|leads_to|eventually")
"""Decorators of the functions whose docstrings users read."""

MODELS = {reference.partition(":")[2] for reference in BUILT_IN.values()}
"""Classes whose docstrings users read."""

NOT_PROSE = re.compile(
    r"[;{]\n|\{ [a-z-]+:|\$\{|\(\?|\\[\[\\(wsdSb/]|\[\^|:=|\blabel %|^import |^\{\n|\[\]\[|\bfunction \w*\(\w*\) ?\{"
)
"""Regular expressions, and programs in the languages that insync writes."""

MARKUP = re.compile(r"</?[a-z][^<>]*>")
CODE = re.compile(r"`[^`]*`|\w+=\w+|^ {4,}.*$|^ +insync .*$", re.MULTILINE)
VALUE = re.compile(r"\{[^{}]*\}")
WORD = re.compile(r"[A-Za-z]{2,}")
FEWEST = 4
"""Words that make a text a sentence; a shorter one is a label or a part."""

LONGEST = 40
DIALECT = re.compile(r"\b(?:whoever|so (?:many|much)|cannot be told)\b", re.IGNORECASE)
LIKE_PEOPLE = re.compile(r"\b(?:knows?|knew|hears?|heard|asks?|asked|wants?|wanted|tells?|told)\b", re.IGNORECASE)

MISTAKES = {"ConditionError", "ModelError", "NoViolation", "ReplayError", "UnnamedModel", "UsageError", "UserError"}
INSTRUCTION = (
    "add|assign|begin|build|call|change|check|choose|compare|copy|correct|count|declare|decide|define|delete|did|do|"
    "drop|end|expected|explore|fetch|fix|give|go|install|keep|known|leave|let|list|load|lower|make|mend|move|name|open|"
    "prove|put|quantify|raise|read|record|remove|rename|repeat|replace|require|resume|return|run|save|say|search|see|"
    "set|spell|start|state|take|test|treat|try|turn|use|wait|write"
)
WHAT_TO_DO = re.compile(
    rf"(?:^|[.;:,?]\s+|\b(?:and|or|so)\s+|X\s*)(?:{INSTRUCTION})\b|"
    r"\b(?:must|needs?|is needed|only|such as|as in|write)\b|"
    r", (?:not (?:on |by )?|which is )X|;[^;.]*\bX\b[^;.]*\.?$|[.:] X\.?$|X$",
    re.IGNORECASE,
)
"""What a message says that ends well: an instruction, what was expected, or the values that there are."""


@dataclass(frozen=True)
class Message:
    """A text that users may read, with where it stands in the sources."""

    path: str
    line: int
    text: str

    def sentences(self) -> Iterator[str]:
        """The sentences, without code and markup; a value in it counts as a word."""
        text = re.sub(r"\x08\n(?:.+\n?)*", lambda found: found[0].replace("\n", "\n\n"), self.text)
        plain = VALUE.sub("X", MARKUP.sub(" ", CODE.sub("X", text.replace("\b", ""))))
        for part in re.split(r"(?<=[.!?])\s+|(?<=:)\s+(?=[A-Z`])|\n\s*\n|\n(?=  )", plain):
            if part.strip():
                yield " ".join(part.split())

    def breaks(self) -> Iterator[str]:
        """The rules that it breaks, each with the sentence."""
        for sentence in self.sentences():
            if len(sentence.split()) > LONGEST:
                yield f"split it, as it has {len(sentence.split())} words: {sentence}"
            forbidden = DIALECT.search(sentence) or (
                None if SPEECH_OF_KAFKA.match(self.path) else LIKE_PEOPLE.search(sentence)
            )
            if forbidden is not None:
                yield f"say it without {forbidden[0]!r}: {sentence}"


def read(path: str, tree: ast.Module) -> Iterator[Message]:
    """The texts of a file: literals that are sentences, and the docstrings that are printed."""
    for node in nodes(tree):
        text = None
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and is_printed(node):
            text = ast.get_docstring(node)
        elif isinstance(node, ast.expr):
            text = written(node)
        if text is not None and is_prose(text):
            yield Message(path, node.lineno, text)


def is_printed(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether a command of insync prints the docstring."""
    return node.name in MODELS or any(PRINTED.fullmatch(_name(one)) for one in node.decorator_list)


def nodes(root: ast.AST, *, enter: bool = True) -> Iterator[ast.stmt | ast.expr]:
    """Statements and expressions below a node, but docstrings and the literal parts of an f-string.

    Args:
        root: the node.
        enter: whether to go into functions and classes.
    """
    left = [root]
    while left:
        node = left.pop()
        for one in ast.iter_child_nodes(node):
            documents = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
            part = isinstance(one, ast.Constant) and isinstance(node, ast.JoinedStr)
            if isinstance(one, ast.Name | ast.expr_context | ast.operator) or documents or part:
                continue
            if isinstance(one, ast.stmt | ast.expr):
                yield one
            if enter or not isinstance(one, ast.FunctionDef | ast.ClassDef):
                left.append(one)


def written(node: ast.AST) -> str | None:
    """The text of a literal, with the source of each value in braces."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_part(part) for part in node.values)
    return None


def _part(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    assert isinstance(part, ast.FormattedValue)
    source = ast.unparse(part.value).replace("{", "(").replace("}", ")")
    return f"{{{source if len(source) <= LONGEST else source[:LONGEST] + '...'}}}"


def is_prose(text: str) -> bool:
    words = [word for word in VALUE.sub("", MARKUP.sub(" ", text)).split() if WORD.search(word)]
    return len(words) >= FEWEST and not NOT_PROSE.search(text)


def _name(node: ast.expr) -> str:
    called = node.func if isinstance(node, ast.Call) else node
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def errors(path: str, tree: ast.Module) -> Iterator[Message]:
    """The messages of errors that a user's mistake raises, where the message is a literal of the same function."""
    for function in nodes(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        inside = [one for one in nodes(function, enter=False) if isinstance(one, ast.Assign | ast.Raise)]
        said: dict[str, str] = {}
        for node in sorted(inside, key=lambda one: one.lineno):
            if isinstance(node, ast.Assign):
                text = written(node.value)
                said |= {one.id: text for one in node.targets if isinstance(one, ast.Name) and text is not None}
            elif isinstance(node.exc, ast.Call) and _name(node.exc) in MISTAKES and node.exc.args:
                given = node.exc.args[0]
                text = said.get(given.id) if isinstance(given, ast.Name) else written(given)
                if text is not None:
                    yield Message(path, node.lineno, text)


def says_what_to_do(text: str) -> bool:
    return WHAT_TO_DO.search(VALUE.sub("X", text)) is not None


@cache
def sources(package: str) -> tuple[tuple[str, ast.Module], ...]:
    paths = sorted((ROOT / package).rglob("*.py"))
    return tuple((path.relative_to(ROOT).as_posix(), ast.parse(path.read_text())) for path in paths)


@cache
def messages(package: str) -> tuple[Message, ...]:
    return tuple(one for path, tree in sources(package) for one in sorted(read(path, tree), key=lambda one: one.line))


def collected(found: Iterable[Message]) -> str:
    """The messages for a reader: a heading for each file, and each message with its line."""
    parts = ["# What insync can print\n"]
    for path, of_file in groupby(found, key=lambda one: one.path):
        parts.append(f"\n## {path}\n")
        parts += [f"\n{one.line}:\n\n{one.text.strip()}\n" for one in of_file]
    return "".join(parts)


def write() -> None:
    COLLECTED.parent.mkdir(exist_ok=True)
    COLLECTED.write_text(collected(one for package in PACKAGES for one in messages(package)))


@pytest.mark.slow
def test_every_sentence_is_collected_in_one_file() -> None:
    write()
    text = COLLECTED.read_text()
    assert all(f"\n## {package}/" in text for package in PACKAGES)
    assert "Every record that was acknowledged to a producer" in text, "what a property means"


def test_the_sentences_of_a_package_are_collected() -> None:
    text = collected(messages(PACKAGES[0]))
    assert "Search every state of MODEL, breadth first" in text, "the help of a command"
    assert "--run-dir begins a run and --resume goes on with one; give one of them." in text, "an error"


@pytest.mark.parametrize("package", PACKAGES)
def test_messages_read_as_the_pages_do(package: str) -> None:
    broken = [f"{one.path}:{one.line}: {said}" for one in messages(package) for said in one.breaks()]
    mute = [
        f"{one.path}:{one.line}: end with what to do: {one.text}"
        for path, tree in sources(package)
        for one in errors(path, tree)
        if not says_what_to_do(one.text)
    ]
    assert not broken + mute, "\n".join(broken + mute)


def test_what_the_page_on_failures_quotes_is_printed() -> None:
    page = (ROOT / "docs" / "guide" / "installing.md").read_text().partition("## When something fails")[2]
    quoted = {part for row in re.findall(r"^\| (.*?) \|", page, re.MULTILINE) for part in re.findall(r"`(.+?)`", row)}
    printed = VALUE.sub("N", "\n".join(" ".join(one.text.split()) for package in PACKAGES for one in messages(package)))
    printed += (ROOT / "Makefile").read_text()
    others = {"insync: command not found", "No module named 'insync'", "fixture 'insync_check' not found"}
    assert {one for one in quoted if one not in printed} == others, "of the shell and of pytest"


@pytest.mark.parametrize(
    ("path", "text", "broken"),
    [
        ("cli/a.py", "The search does not know what to do.", "'know'"),
        ("model/insync/kafka/a.py", "b1 asks the controller for an ISR.", ""),
        ("model/insync/kafka/a.py", "Whoever leads next has every record.", "'Whoever'"),
        ("cli/a.py", "Run `insync ask --config FILE` for an answer.", ""),
        ("cli/a.py", "The end of it cannot be told yet.", "'cannot be told'"),
        ("cli/a.py", "A word " * 20 + "more.", "41 words"),
        ("cli/a.py", "A word " * 19 + "more. Another sentence begins here.", ""),
    ],
)
def test_rules_find_what_they_forbid(path: str, text: str, broken: str) -> None:
    said = " ".join(Message(path, 1, text).breaks())
    assert (broken in said) if broken else not said


@pytest.mark.parametrize(
    ("error", "good"),
    [
        ("There is no model {name!r}.", False),
        ("There is no model {name!r}. Name one that insync list shows.", True),
        ("{place}: {value} is out of range; it must be below {most}.", True),
        ("No run is here; the folder is empty.", False),
    ],
)
def test_an_error_without_what_to_do_is_found(error: str, good: bool) -> None:
    source = f"def f(name, place, value, most):\n    message = f{error!r}\n    raise UserError(message)\n"
    assert [says_what_to_do(one.text) for one in errors("a.py", ast.parse(source))] == [good]


if __name__ == "__main__":
    write()
