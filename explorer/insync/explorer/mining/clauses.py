"""Candidates for lemmas: universally quantified clauses of at most three literals, and the states that refute them.

A literal is an atom of the grammar or its negation. Candidates are tried on reachable states of a small instance. Only
minimal clauses are kept: if a part of a clause is true everywhere, the part says more.
"""

from __future__ import annotations

import ast
import random
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, itemgetter

from insync.explorer.check import check
from insync.explorer.exploring.conditions import ConditionError, ConditionReader
from insync.explorer.mining.grammar import MOST_ATOMS, Binding, Prefix, atoms_of, prefixes_of
from insync.explorer.stepping.stepper import Refused, Stepper
from insync.model import Model
from insync.model.domains.sorts import Parameter
from insync.model.evaluator import Codes, evaluate, evaluate_each
from insync.model.expressions.graph import Node, Op, reachable
from insync.model.expressions.simplify import apply
from insync.model.tracing.tracer import traced
from insync.proofs.houdini import Dropped
from insync.proofs.proof_file import Proof
from insync.properties.invariants import Invariant, kept_for, names_within
from insync.properties.registry import confined
from insync.runtime.errors import UserError
from insync.runtime.oversight import Oversight
from insync.runtime.watch import Limits, Stopped, Watch

__all__ = [
    "Candidate",
    "Saying",
    "StatedLemma",
    "TruthTable",
    "lemmas_in",
    "reached_from",
    "readable",
    "refuted_candidates",
    "sayings_of",
    "small_bounds",
    "small_instance",
    "stated",
    "text_of",
    "texts_of",
    "true_candidates",
    "weakened",
]


_OPPOSITE = {" == ": " != ", " <= ": " > ", " >= ": " < "}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A clause: for all members of the variables, one of the literals holds.

    Attributes:
        saying: the index of the `Saying` with the variables and atoms.
        literals: the literals, in order.
    """

    saying: int
    literals: tuple[int, ...]

    def failures(self, failing: Sequence[Sequence[int]]) -> int:
        """Return the bits where the clause fails, given the bits where each literal of each saying fails."""
        own = failing[self.saying]
        return reduce(and_, (own[literal] for literal in self.literals))


def true_candidates(
    sayings: Sequence[Saying], failing: Sequence[Sequence[int]], size: int, watch: Watch
) -> Iterator[Candidate]:
    """Yield the candidates of `size` literals that fail nowhere and have no part that fails nowhere.

    Args:
        sayings: the prefixes with their atoms.
        failing: for each saying and literal the bits where it fails; see `TruthTable.failing`.
        size: the number of literals, from 1 to 3.
        watch: raises Stopped when the work must stop.
    """
    for number, (saying, fails) in enumerate(zip(sayings, failing, strict=True)):
        for literals in _sets(fails, size, watch):
            if _speaks_of_all(saying, literals) and _comes_first(saying, literals):
                yield Candidate(number, literals)


def weakened(saying: Saying, candidate: Candidate, failing: Sequence[Sequence[int]]) -> Iterator[Candidate]:
    """Yield the candidates with one literal more than a refuted one that `failing` does not refute."""
    mine, together = candidate.literals, candidate.failures(failing)
    for literal, where in enumerate(failing[candidate.saying]):
        if not together & where and literal not in mine and literal ^ 1 not in mine:
            literals = tuple(sorted((*mine, literal)))
            yield Candidate(candidate.saying, min([literals, *_exchanged(saying, literals)]))


def _sets(fails: Sequence[int], size: int, watch: Watch) -> Iterator[tuple[int, ...]]:
    """Yield the minimal sets of `size` literals such that in every known state at least one of them holds."""
    open_ones = [literal for literal, where in enumerate(fails) if where]
    if size == 1:
        yield from ((literal,) for literal, where in enumerate(fails) if not where)
        return
    pairs: dict[int, set[int]] = {literal: set() for literal in open_ones}
    for at, one in enumerate(open_ones):
        mine = fails[one]
        pairs[one] = {other for other in open_ones[at + 1 :] if not mine & fails[other]}
    if size == 2:
        yield from ((one, other) for one, others in pairs.items() for other in sorted(others) if one ^ 1 != other)
        return
    for at, one in enumerate(open_ones):
        watch.check()
        mine, mine_alone = fails[one], pairs[one]
        rest = [literal for literal in open_ones[at + 1 :] if literal not in mine_alone]
        for place, other in enumerate(rest):
            both, its_own = mine & fails[other], pairs[other]
            for third in rest[place + 1 :]:
                if not both & fails[third] and third not in its_own:
                    yield one, other, third


def _speaks_of_all(saying: Saying, literals: Sequence[int]) -> bool:
    """Return whether the literals depend on each variable; else they are a candidate of another prefix."""
    used = 0
    for literal in literals:
        used |= saying.uses[literal // 2]
    return used == (1 << len(saying.prefix.variables)) - 1


def _comes_first(saying: Saying, literals: tuple[int, ...]) -> bool:
    """Return whether literals are the first of those that variables exchanged make of them."""
    return all(others >= literals for others in _exchanged(saying, literals))


def _exchanged(saying: Saying, literals: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the same literals with variables exchanged, for each exchange whose results are literals."""
    for renamed in saying.renamed:
        others = [to for literal in literals if (to := renamed[literal]) is not None]
        if len(others) == len(literals):
            yield tuple(sorted(others))


def text_of(saying: Saying, candidate: Candidate) -> str:
    """Return a candidate in the language of typed conditions."""
    premises = [saying.atoms[literal // 2] for literal in candidate.literals if literal % 2]
    conclusions = [saying.atoms[literal // 2] for literal in candidate.literals if not literal % 2]
    if not conclusions:
        last = next((text for text in reversed(premises) if _opposite(text) is not None), premises[-1])
        premises.remove(last)
        conclusions.append(_opposite(last) or f"Not({last})")
    said = _call_text("Or", conclusions)
    return saying.prefix.said_of_all(f"Implies({_call_text('And', premises)}, {said})" if premises else said)


def _call_text(word: str, parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{word}({', '.join(parts)})"


def _opposite(text: str) -> str | None:
    """Return the opposite of a comparison; None if a condition is no comparison."""
    signs = [sign for sign in _OPPOSITE if sign in text]
    return text.replace(signs[0], _OPPOSITE[signs[0]]) if len(signs) == 1 and "lambda" not in text else None


# ------------------------------------------------------------------------------------------- atoms as columns of bits
#
# An atom is a column of bits, one for each choice of members and each state, so all states are tried at once.


_FEW = 8
"""The most states for which caching by the cells that a condition reads does not pay."""


@dataclass(frozen=True, slots=True)
class Saying:
    """The atoms over the variables of one prefix.

    Attributes:
        prefix: the variables.
        atoms: the atoms as texts; literal 2n is atom n, and literal 2n + 1 its negation.
        uses: for each atom a mask of the variables that it depends on.
        renamed: for each exchange of variables of one kind the literal that each literal becomes; None if it becomes
            none.
    """

    prefix: Prefix
    atoms: tuple[str, ...]
    uses: tuple[int, ...]
    renamed: tuple[tuple[int | None, ...], ...]


def sayings_of(model: Model, small: Model, watch: Watch) -> list[Saying]:
    """Return the prefixes with the atoms that can be read both in a model and in the same model at small bounds.

    Args:
        model: the model.
        small: the model at small bounds; it may be the same instance.
        watch: raises Stopped when the work must stop.
    """
    reader, other = ConditionReader(model), ConditionReader(small)
    found = []
    for prefix in prefixes_of(model):
        bindings = prefix.bindings(model)
        distinct: dict[tuple[Node, ...], str] = {}
        for text in atoms_of(model, prefix):
            watch.check()
            nodes = _read(reader, text, bindings)
            negated = nodes and tuple(apply(Op.NOT, node) for node in nodes)
            if nodes is None or negated in distinct or all(node.op is Op.CONST for node in nodes):
                continue
            if small is model or _read(other, text, prefix.bindings(small)) is not None:
                distinct.setdefault(nodes, text)
            if len(distinct) == MOST_ATOMS:
                break
        found.append(_saying(prefix, bindings, distinct))
    return found


def _read(reader: ConditionReader, text: str, bindings: Sequence[Binding]) -> tuple[Node, ...] | None:
    try:
        return tuple(reader.node(text, binding) for binding in bindings)
    except ConditionError:
        return None


def _saying(prefix: Prefix, bindings: Sequence[Binding], distinct: dict[tuple[Node, ...], str]) -> Saying:
    place = {tuple(binding.values()): number for number, binding in enumerate(bindings)}
    number = {nodes: 2 * at for at, nodes in enumerate(distinct)}
    number |= {tuple(apply(Op.NOT, node) for node in nodes): literal + 1 for nodes, literal in number.items()}
    renamed = []
    for names in prefix.renamings():
        order = [place[tuple(binding[names[name]] for name in binding)] for binding in bindings]
        moved = [number.get(tuple(nodes[at] for at in order)) for nodes in distinct]
        renamed.append(tuple(None if to is None else to ^ off for to in moved for off in (0, 1)))
    uses = tuple(_used(prefix, bindings, nodes) for nodes in distinct)
    return Saying(prefix, tuple(distinct.values()), uses, tuple(renamed))


def _used(prefix: Prefix, bindings: Sequence[Binding], nodes: Sequence[Node]) -> int:
    """Return the mask of the variables that a condition depends on."""
    mask = 0
    for at, variable in enumerate(prefix.variables):
        groups: dict[tuple[Parameter, ...], set[Node]] = {}
        for binding, node in zip(bindings, nodes, strict=True):
            groups.setdefault(tuple(v for name, v in binding.items() if name != variable.name), set()).add(node)
        mask |= any(len(group) > 1 for group in groups.values()) << at
    return mask


class TruthTable:
    """The truth of all atoms in states of one model.

    Args:
        model: the model.
        sayings: the prefixes with their atoms.
        watch: raises Stopped when the work must stop.
    """

    def __init__(self, model: Model, sayings: Sequence[Saying], watch: Watch) -> None:
        self.sayings, self.watch = sayings, watch
        reader = ConditionReader(model)
        self.nodes: list[list[list[Node]]] = []
        for saying in sayings:
            bindings = saying.prefix.bindings(model)
            self.nodes.append([])
            for text in saying.atoms:
                watch.check()
                self.nodes[-1].append([reader.node(text, binding) for binding in bindings])
        every = {node.index: node for one in self.nodes for atom in one for node in atom}
        self._distinct = list(every.values())
        self._reads = [_cells_of(node) for node in self._distinct]

    def failing(self, states: Sequence[Codes]) -> list[list[int]]:
        """Return for each saying and literal where it fails, as a bit for each choice of members and each state."""
        bits, width = self._bits(states), len(states)
        found = []
        for atoms in self.nodes:
            literals = []
            for nodes in atoms:
                holds = 0
                for node in reversed(nodes):
                    holds = holds << width | bits[node.index]
                literals += [holds ^ (1 << width * len(nodes)) - 1, holds]
            found.append(literals)
        return found

    def _bits(self, states: Sequence[Codes]) -> dict[int, int]:
        """Return for each condition the bits of the states in which it holds, by the index of its node."""
        found = dict.fromkeys((node.index for node in self._distinct), 0)
        if len(states) <= _FEW:
            for number, codes in enumerate(states):
                values = zip(self._distinct, evaluate_each(self._distinct, codes), strict=True)
                for node, value in values:
                    found[node.index] |= bool(value) << number
            return found
        for node, cells in zip(self._distinct, self._reads, strict=True):
            self.watch.check()
            found[node.index] = _column(node, cells, states)
        return found


def _column(node: Node, cells: Sequence[int], states: Sequence[Codes]) -> int:
    """Return the bits of the states in which a condition holds, evaluated once for all states with equal `cells`."""
    if not cells:
        return (1 << len(states)) - 1 if node.value else 0
    read = itemgetter(*cells)
    known: dict[object, str] = {}
    digits = []
    for codes in reversed(states):
        key = read(codes)
        digit = known.get(key)
        if digit is None:
            digit = known[key] = "1" if evaluate(node, codes) else "0"
        digits.append(digit)
    return int("".join(digits), 2)


def _cells_of(node: Node) -> list[int]:
    return sorted(one.cell for one in reachable([node]) if one.op is Op.CELL)


# ---------------------------------------------------------------------------------------- states to try candidates on


_STEPS = 60
"""The most steps of a walk."""

_TIRED = 20
"""The number of walks in a row without a new state after which walking ends."""


def reached_from(stepper: Stepper, starts: Iterable[Codes], most: int, watch: Watch) -> tuple[list[Codes], bool]:
    """Return states that are reachable from some states, and whether these are all.

    If more than `most` are reachable, half of the result are the nearest, the others lie on random walks from these.

    Args:
        stepper: takes the steps.
        starts: the states to begin with.
        most: the most states to return.
        watch: raises Stopped when the work must stop.
    """
    known = dict.fromkeys(starts)
    level = list(known)
    while level and len(known) <= most:
        fresh: dict[Codes, None] = {}
        for codes in level:
            watch.check()
            fresh |= dict.fromkeys(after for after in _after(stepper, codes) if after not in known)
        known |= fresh
        level = list(fresh)
    if len(known) <= most:
        return list(known), True
    return _walked(stepper, list(known)[: max(1, most // 2)], most, watch), False


def _walked(stepper: Stepper, near: Sequence[Codes], most: int, watch: Watch) -> list[Codes]:
    """Return states together with those of random walks from them, as long as walks find new states."""
    chance, known, tired = random.Random(most), dict.fromkeys(near), 0  # a fixed seed
    while len(known) < most and tired < _TIRED:
        codes, before = chance.choice(near), len(known)
        for _ in range(_STEPS):
            watch.check()
            following = _after(stepper, codes)
            if not following:
                break
            codes = chance.choice(following)
            known[codes] = None
        tired = 0 if len(known) > before else tired + 1
    return list(known)[:most]


def _after(stepper: Stepper, codes: Codes) -> list[Codes]:
    return [after for _, after in stepper.outcomes(codes) if not isinstance(after, Refused)]


# ---------------------------------------------------------------------------------------------------- lemmas as texts
#
# A mined lemma is a text in the language of typed conditions, and has no function in Python.


@dataclass(frozen=True, slots=True)
class StatedLemma(Invariant):
    """A lemma that is read from a text.

    Attributes:
        text: the condition.
    """

    text: str = ""


def stated(texts: Iterable[str]) -> list[StatedLemma]:
    """Return a lemma for each text, named `mined-1` and so on, which cannot be the name of a method."""
    return [_lemma(f"mined-{number}", text) for number, text in enumerate(texts, start=1)]


def lemmas_in(proof: Proof, model: Model) -> list[StatedLemma]:
    """Return the lemmas in a proof file that are texts, read as conditions on the states of a model.

    Raises:
        UserError: one of them is no condition on these states.
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
    """Return the texts of those lemmas that have one, by name."""
    return {lemma.name: lemma.text for lemma in lemmas if isinstance(lemma, StatedLemma)}


def _lemma(name: str, text: str) -> StatedLemma:
    def node(model: Model) -> Node:
        return kept_for(model, (StatedLemma, text), lambda: ConditionReader(model).node(text))

    return StatedLemma(name, readable(text), node, text=text)


def readable(text: str) -> str:
    """Return a condition for readers: `for all worker: doing[worker] == INSIDE => holder == worker`."""
    return _sentence(ast.parse(text.strip(), mode="eval").body)


def _sentence(tree: ast.expr) -> str:
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.keywords:
        match tree.func.id, tree.args:
            case "for_all", [*_, ast.Lambda(args=given, body=body)]:
                return f"for all {', '.join(argument.arg for argument in given.args)}: {_sentence(body)}"
            case "Implies", [premise, conclusion]:
                return f"{_in_pythons_words(premise)} => {_in_pythons_words(conclusion)}"
    return _in_pythons_words(tree)


def _in_pythons_words(tree: ast.expr) -> str:
    return ast.unparse(_WithPythonsWords().visit(tree))


class _WithPythonsWords(ast.NodeTransformer):
    """Writes `a and b` for `And(a, b)`; typed conditions may have either."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="And" | "Or" as word), args=[_, _, *_] as parts, keywords=[]):
                return ast.BoolOp(ast.And() if word == "And" else ast.Or(), parts)
            case ast.Call(func=ast.Name(id="Not"), args=[part], keywords=[]):
                return ast.UnaryOp(ast.Not(), part)
        return node


# ---------------------------------------------------------------------------------------------------- small instances


def small_bounds(model: Model) -> dict[str, int]:
    """Return bounds at which the model can be searched, each at most its default."""
    return {name: min(getattr(model.b, name), bound.default) for name, bound in model.bounds.items()}


def small_instance(model: Model, bounds: Mapping[str, int] | None = None) -> Model:
    """Return the model with the same settings under other bounds; None is `small_bounds`."""
    small = type(model)(**{**model.identity, **(small_bounds(model) if bounds is None else bounds)})
    return confined(small, names_within(model))


def refuted_candidates(
    model: Model,
    candidates: Sequence[Invariant],
    *,
    bounds: Mapping[str, int] | None = None,
    seconds: float | None = 60,
    stop: threading.Event | None = None,
) -> list[Dropped]:
    """Return the candidates that fail in some reachable state of the model at small bounds.

    Args:
        model: the model; its class is searched, under other bounds.
        candidates: properties and lemmas.
        bounds: of the search; None is `small_bounds`.
        seconds: the limit on time; an incomplete search refutes only candidates whose violation it found.
        stop: ends the search when it is set.

    The result is empty if the small model has more initial states than a search can begin with, or cannot be read in
    the time that there is.
    """
    if not candidates:
        return []
    small, watch = small_instance(model, bounds), Watch(Limits(seconds=seconds), stop)
    try:
        with Oversight(watch):
            program = traced(small, watch.check)
    except Stopped:
        return []
    if not program.initials.enumerated:
        return []
    names, limits = [candidate.name for candidate in candidates], Limits(seconds=watch.left)
    result = check(small, properties=names, limits=limits, keep_going=True, symmetry=False, stop=stop)
    where = f"a reachable state ({', '.join(f'{name} {value}' for name, value in small.identity.items())})"
    return [Dropped(v.property, where, v.trace.reason) for v in result.violations if v.property in names]
