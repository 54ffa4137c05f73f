"""Candidates for lemmas: of a few conditions one holds, whatever the members; and which of them no state refutes.

Kept are those of which no smaller one is true as well, for that would say more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_

from insync.explorer.mining.sayings import Saying

__all__ = ["Candidate", "text_of", "true_candidates", "weakened"]

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
    said = _joined("Or", conclusions)
    return saying.prefix.said_of_all(f"Implies({_joined('And', premises)}, {said})" if premises else said)


def _joined(word: str, parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{word}({', '.join(parts)})"


def _opposite(text: str) -> str | None:
    """Return a comparison of two things as the opposite comparison; None for what is no such comparison."""
    signs = [sign for sign in _OPPOSITE if sign in text]
    return text.replace(signs[0], _OPPOSITE[signs[0]]) if len(signs) == 1 and "lambda" not in text else None
