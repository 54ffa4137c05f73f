"""A lemma that is stated as a text, in the language of typed conditions: nobody has written a function for it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from insync.explorer.exploring.conditions import ConditionError, ConditionReader
from insync.model import Model
from insync.model.errors import UserError
from insync.model.expressions.graph import Node
from insync.proofs.proof_file import Proof
from insync.properties.invariants import Invariant, kept_for

__all__ = ["StatedLemma", "lemmas_in", "readable", "stated", "texts_of"]


@dataclass(frozen=True, slots=True)
class StatedLemma(Invariant):
    """A lemma and the text that it is read from.

    Attributes:
        text: the condition.
    """

    text: str = ""


def stated(texts: Iterable[str]) -> list[StatedLemma]:
    """Return a lemma for each text; they are called `mined-1` and so on, which no method can be called."""
    return [_lemma(f"mined-{number}", text) for number, text in enumerate(texts, start=1)]


def lemmas_in(proof: Proof, model: Model) -> list[StatedLemma]:
    """Return the lemmas that a proof file states, having read each of them as a condition on the states of a model.

    Raises:
        UserError: one of them means nothing there.
    """
    reader = ConditionReader(model)
    for place, text in enumerate(proof.conditions):
        try:
            reader.node(text)
        except ConditionError as error:
            message = f"{proof.file}: conditions[{place}] is no lemma about {model.name} at these bounds. {error}"
            raise UserError(message) from error
    return stated(proof.conditions)


def texts_of(lemmas: Iterable[Invariant]) -> dict[str, str]:
    """Return the texts of those lemmas that are stated as one, by their names."""
    return {lemma.name: lemma.text for lemma in lemmas if isinstance(lemma, StatedLemma)}


def _lemma(name: str, text: str) -> StatedLemma:
    def node(model: Model) -> Node:
        return kept_for(model, (StatedLemma, text), lambda: ConditionReader(model).node(text))

    return StatedLemma(name, readable(text), node, text=text)


def readable(text: str) -> str:
    """Return a condition as a sentence would have it: `for all worker: doing[worker] == INSIDE => holder == worker`."""
    return _sentence(ast.parse(text.strip(), mode="eval").body)


def _sentence(tree: ast.expr) -> str:
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.keywords:
        match tree.func.id, tree.args:
            case "for_all", [*_, ast.Lambda(args=given, body=body)]:
                return f"for all {', '.join(argument.arg for argument in given.args)}: {_sentence(body)}"
            case "Implies", [premise, conclusion]:
                return f"{_joined(premise)} => {_joined(conclusion)}"
    return _joined(tree)


def _joined(tree: ast.expr) -> str:
    return ast.unparse(_WithPythonsWords().visit(tree))


class _WithPythonsWords(ast.NodeTransformer):
    """Writes `a and b` for `And(a, b)`: typed conditions may have either."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="And" | "Or" as word), args=[_, _, *_] as parts, keywords=[]):
                return ast.BoolOp(ast.And() if word == "And" else ast.Or(), parts)
            case ast.Call(func=ast.Name(id="Not"), args=[part], keywords=[]):
                return ast.UnaryOp(ast.Not(), part)
        return node
