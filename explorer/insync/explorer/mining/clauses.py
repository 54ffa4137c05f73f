"""Candidates for lemmas: of a few conditions one holds, whatever the members; and which of them no state refutes.

Kept are those of which no smaller one is true as well, for that would say more.
"""

from __future__ import annotations

import ast
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, itemgetter

from insync.explorer.check import check
from insync.explorer.exploring.conditions import ConditionError, ConditionReader
from insync.explorer.limits import Limits
from insync.explorer.mining.grammar import MOST_ATOMS, Binding, Prefix, atoms_of, prefixes_of
from insync.explorer.stepping.stepper import Refused, Stepper
from insync.model import Model
from insync.model.domains.sorts import Parameter
from insync.model.errors import UserError
from insync.model.evaluator import Codes, evaluate, evaluate_each
from insync.model.expressions.graph import Node, Op, reachable
from insync.model.expressions.simplify import apply
from insync.proofs.houdini import Dropped
from insync.proofs.proof_file import Proof
from insync.properties.invariants import Invariant, kept_for, names_within
from insync.properties.registry import confined

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
    """That one of some literals holds, whatever members the variables stand for.

    Attributes:
        saying: the number of the saying that they are from.
        literals: the literals, in order.
    """

    saying: int
    literals: tuple[int, ...]

    def failures(self, failing: Sequence[Sequence[int]]) -> int:
        """Return the places where it fails as bits, 0 if nowhere, given where each literal of each saying does."""
        own = failing[self.saying]
        return reduce(and_, (own[literal] for literal in self.literals))


def true_candidates(
    sayings: Sequence[Saying], failing: Sequence[Sequence[int]], size: int, go_on: Callable[[], None]
) -> Iterator[Candidate]:
    """Yield the candidates of so many literals that fail nowhere, of which no part is true everywhere by itself.

    Args:
        sayings: what can be said.
        failing: for each of them and each literal where it fails.
        size: how many literals, from 1 to 3.
        go_on: called again and again; what it raises ends it.
    """
    for number, (saying, fails) in enumerate(zip(sayings, failing, strict=True)):
        for literals in _sets(fails, size, go_on):
            if _speaks_of_all(saying, literals) and _comes_first(saying, literals):
                yield Candidate(number, literals)


def weakened(saying: Saying, candidate: Candidate, failing: Sequence[Sequence[int]]) -> Iterator[Candidate]:
    """Yield the candidates with one literal more than one that fails somewhere, which do not fail there."""
    mine, together = candidate.literals, candidate.failures(failing)
    for literal, where in enumerate(failing[candidate.saying]):
        if not together & where and literal not in mine and literal ^ 1 not in mine:
            literals = tuple(sorted((*mine, literal)))
            yield Candidate(candidate.saying, min([literals, *_exchanged(saying, literals)]))


def _sets(fails: Sequence[int], size: int, go_on: Callable[[], None]) -> Iterator[tuple[int, ...]]:
    """Yield the smallest sets of literals of which one holds everywhere."""
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
        go_on()
        mine, mine_alone = fails[one], pairs[one]
        rest = [literal for literal in open_ones[at + 1 :] if literal not in mine_alone]
        for place, other in enumerate(rest):
            both, its_own = mine & fails[other], pairs[other]
            for third in rest[place + 1 :]:
                if not both & fails[third] and third not in its_own:
                    yield one, other, third


def _speaks_of_all(saying: Saying, literals: Sequence[int]) -> bool:
    """Return whether each variable is spoken of; with fewer it is a candidate of another saying."""
    used = 0
    for literal in literals:
        used |= saying.uses[literal // 2]
    return used == (1 << len(saying.prefix.variables)) - 1


def _comes_first(saying: Saying, literals: tuple[int, ...]) -> bool:
    """Return whether it is the first of those that say the same with variables exchanged."""
    return all(others >= literals for others in _exchanged(saying, literals))


def _exchanged(saying: Saying, literals: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the literals that say the same with variables exchanged, for each way to do so that has such literals."""
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
    """Return a comparison of two things as the opposite comparison; None for what is no such comparison."""
    signs = [sign for sign in _OPPOSITE if sign in text]
    return text.replace(signs[0], _OPPOSITE[signs[0]]) if len(signs) == 1 and "lambda" not in text else None


# What can be said of the members of some variables, as conditions of one model, and in which states each fails.
#
# A condition is a column of bits, one for each choice of members and each state, so all states are looked at
# together.


_FEW = 8
"""States for which it does not pay to remember what each condition reads."""


@dataclass(frozen=True, slots=True)
class Saying:
    """The conditions on some variables.

    Attributes:
        prefix: the variables.
        atoms: the conditions; a literal is twice the number of one, and one more where that must not hold.
        uses: for each of them the variables that it speaks of, as a mask.
        renamed: for each way to exchange variables of one kind what becomes of each literal; None where that is no
            literal.
    """

    prefix: Prefix
    atoms: tuple[str, ...]
    uses: tuple[int, ...]
    renamed: tuple[tuple[int | None, ...], ...]


def sayings_of(model: Model, small: Model, go_on: Callable[[], None]) -> list[Saying]:
    """Return what can be said of the states of a model, and of those of the same model at small bounds.

    Args:
        model: the model.
        small: the same at small bounds; it may be the same instance.
        go_on: called again and again; what it raises ends it.
    """
    reader, other = ConditionReader(model), ConditionReader(small)
    found = []
    for prefix in prefixes_of(model):
        bindings = prefix.bindings(model)
        distinct: dict[tuple[Node, ...], str] = {}
        for text in atoms_of(model, prefix):
            go_on()
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
    """The conditions of sayings in one model.

    Args:
        model: the model.
        sayings: what is said.
        go_on: called again and again; what it raises ends it.
    """

    def __init__(self, model: Model, sayings: Sequence[Saying], go_on: Callable[[], None]) -> None:
        self.sayings, self.go_on = sayings, go_on
        reader = ConditionReader(model)
        self.nodes: list[list[list[Node]]] = []
        for saying in sayings:
            bindings = saying.prefix.bindings(model)
            self.nodes.append([])
            for text in saying.atoms:
                go_on()
                self.nodes[-1].append([reader.node(text, binding) for binding in bindings])
        every = {node.index: node for one in self.nodes for atom in one for node in atom}
        self._distinct = list(every.values())
        self._reads = [_cells_of(node) for node in self._distinct]

    def failing(self, states: Sequence[Codes]) -> list[list[int]]:
        """Return for each saying and literal where it fails: a bit for each choice of members and each state."""
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
        """Return for each condition a bit for each state in which it holds."""
        found = dict.fromkeys((node.index for node in self._distinct), 0)
        if len(states) <= _FEW:
            for number, codes in enumerate(states):
                values = zip(self._distinct, evaluate_each(self._distinct, codes), strict=True)
                for node, value in values:
                    found[node.index] |= bool(value) << number
            return found
        for node, cells in zip(self._distinct, self._reads, strict=True):
            self.go_on()
            found[node.index] = _column(node, cells, states)
        return found


def _column(node: Node, cells: Sequence[int], states: Sequence[Codes]) -> int:
    """Return a bit for each state in which a condition holds; it is evaluated once for what it reads."""
    if not cells:
        return (1 << len(states)) - 1 if node.arg is True else 0
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
    return sorted(int(str(one.arg)) for one in reachable([node]) if one.op is Op.CELL)


# States that candidates are tried on: reachable ones of a small instance, and those that a state leads to.


_STEPS = 60
"""How long a walk is."""

_TIRED = 20
"""How many walks may find nothing new, one after the other."""


def reached_from(
    stepper: Stepper, starts: Iterable[Codes], most: int, go_on: Callable[[], None]
) -> tuple[list[Codes], bool]:
    """Return states that can be reached from some, and whether these are all.

    If there are more than may be returned, half of those returned are near, the others on random walks from there.

    Args:
        stepper: takes the steps.
        starts: where to begin.
        most: how many states to return at most.
        go_on: called again and again; what it raises ends it.
    """
    known = dict.fromkeys(starts)
    level = list(known)
    while level and len(known) <= most:
        fresh: dict[Codes, None] = {}
        for codes in level:
            go_on()
            fresh |= dict.fromkeys(after for after in _after(stepper, codes) if after not in known)
        known |= fresh
        level = list(fresh)
    if len(known) <= most:
        return list(known), True
    return _walked(stepper, list(known)[: max(1, most // 2)], most, go_on), False


def _walked(stepper: Stepper, near: Sequence[Codes], most: int, go_on: Callable[[], None]) -> list[Codes]:
    """Return states with those of random walks from them, as long as walks find something new."""
    chance, known, tired = random.Random(most), dict.fromkeys(near), 0  # the same walks every time
    while len(known) < most and tired < _TIRED:
        codes, before = chance.choice(near), len(known)
        for _ in range(_STEPS):
            go_on()
            following = _after(stepper, codes)
            if not following:
                break
            codes = chance.choice(following)
            known[codes] = None
        tired = 0 if len(known) > before else tired + 1
    return list(known)[:most]


def _after(stepper: Stepper, codes: Codes) -> list[Codes]:
    return [after for _, after in stepper.outcomes(codes) if not isinstance(after, Refused)]


# A lemma that is stated as a text, in the language of typed conditions: nobody has written a function for it.


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
                return f"{_in_pythons_words(premise)} => {_in_pythons_words(conclusion)}"
    return _in_pythons_words(tree)


def _in_pythons_words(tree: ast.expr) -> str:
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


# A model at small bounds, where candidates for lemmas are tried before z3 is asked about large ones.


def small_bounds(model: Model) -> dict[str, int]:
    """Return bounds at which the model can be searched: each at most its default."""
    return {name: min(getattr(model.b, name), bound.default) for name, bound in model.bounds.items()}


def small_instance(model: Model, bounds: Mapping[str, int] | None = None) -> Model:
    """Return the model under other bounds, with the settings that it has; None is `small_bounds`."""
    small = type(model)(**{**model.identity, **(small_bounds(model) if bounds is None else bounds)})
    return confined(small, names_within(model))


def refuted_candidates(
    model: Model,
    candidates: Sequence[Invariant],
    *,
    bounds: Mapping[str, int] | None = None,
    seconds: float = 60,
    stop: threading.Event | None = None,
) -> list[Dropped]:
    """Return the candidates that fail in some reachable state of the model at small bounds.

    Args:
        model: the model; its class is searched, under other bounds.
        candidates: properties and lemmas alike.
        bounds: what to search; None is `small_bounds`.
        seconds: when to stop. A search that is not complete refutes what it found and says nothing of the rest.
        stop: ends the search when it is set.

    There are none if the small model has more initial states than a search can begin with: z3 refutes them as well.
    """
    small = small_instance(model, bounds)
    if not small.program.initials.enumerated:
        return []
    names = [candidate.name for candidate in candidates]
    result = check(small, properties=names, limits=Limits(seconds=seconds), keep_going=True, symmetry=False, stop=stop)
    where = f"a reachable state ({', '.join(f'{name} {value}' for name, value in small.identity.items())})"
    return [Dropped(v.property, where, v.trace.reason) for v in result.violations if v.property in names]
