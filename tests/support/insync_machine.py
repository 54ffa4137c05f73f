"""What the machine code makes of states, for comparison with the evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from insync.machine.kernels import Kernels, Texts, compile_kernels, load, store_text
from insync.machine.packed import Found, PackedRows, Sizes, Words
from insync.model import Model
from insync.model.evaluator import Evaluator, evaluate
from insync.model.expressions.graph import Node
from insync.runtime.errors import DomainError

__all__ = [
    "Steps",
    "by_evaluator",
    "by_machine",
    "reachable_states",
    "store_kernels",
    "violations_by_evaluator",
    "violations_by_machine",
]


@dataclass(frozen=True)
class Steps:
    """The steps from some states: where they lead, how many of each action, and what was refused."""

    successors: frozenset[Words]
    taken: tuple[int, ...]
    refused: int
    least_refused: Words | None


def by_machine(model: Model, states: Sequence[Words], partitions: int = 1) -> Steps:
    """Return what the machine code makes of the states."""
    kernels = compile_kernels(model.program, [])
    rows = PackedRows(states)
    expander = kernels.expander(partitions, 1 << 16, _unreachable(model))
    found: set[Words] = set()
    done = 0
    while done < len(states):
        done += expander.expand(rows.address + done * kernels.sizes.row_bytes, len(states) - done)
        for partition in range(partitions):
            for state in expander.states(partition):
                assert kernels.owner(state, partitions) == partition
                found.add(state)
        expander.clear()
    refused = expander.take_refused()
    steps = Steps(frozenset(found), tuple(expander.take_steps()), refused.count, refused.least)
    expander.close()
    return steps


def by_evaluator(model: Model, states: Sequence[Words]) -> Steps:
    """Return what the evaluator makes of the states."""
    schema, evaluator = model.program.schema, Evaluator(model.program)
    found: set[Words] = set()
    taken: Counter[int] = Counter()
    refused: list[Words] = []
    for state in states:
        codes = schema.unpack(state)
        for number in evaluator.enabled(codes):
            try:
                found.add(schema.pack(evaluator.step(number, codes)))
            except DomainError:
                refused.append(state)
            else:
                taken[number] += 1
    counts = tuple(taken[number] for number in range(len(model.program.actions)))
    return Steps(frozenset(found), counts, len(refused), min(refused, default=None))


def violations_by_machine(model: Model, nodes: Sequence[Node], states: Sequence[Words]) -> list[Found]:
    """Return for each condition how many of the states violate it, and the least, by the machine code."""
    kernels = compile_kernels(model.program, nodes)
    checker = kernels.checker()
    rows = PackedRows(states)
    checker.check(rows.address, len(states))
    found = checker.take()
    checker.close()
    return found


def violations_by_evaluator(model: Model, nodes: Sequence[Node], states: Sequence[Words]) -> list[Found]:
    """Return for each condition how many of the states violate it, and the least, by the evaluator."""
    unpack = model.program.schema.unpack
    violating = [[state for state in states if not evaluate(node, unpack(state))] for node in nodes]
    return [Found(len(found), min(found, default=None)) for found in violating]


def store_kernels(words: int) -> Kernels:
    """Return the functions of stores for states of so many words, and no others."""
    return load(Texts(Sizes(words), (store_text(words),)))


@cache
def reachable_states(model: Model, most: int | None = None) -> Sequence[Words]:
    """Return the reachable states in order of discovery, by the evaluator; steps that are refused are not taken.

    Args:
        model: the model; what is asked of it again is remembered.
        most: how many are wanted; None is all.
    """
    schema, evaluator = model.program.schema, Evaluator(model.program)
    found = {tuple(model.program.initials[0]): None}
    for codes in (queue := list(found)):
        if most is not None and len(found) >= most:
            break
        for number in evaluator.enabled(codes):
            if evaluator.failing_check(number, codes) is None:
                after = evaluator.step(number, codes)
                if after not in found:
                    found[after] = None
                    queue.append(after)
    return tuple(schema.pack(codes) for codes in found)[:most]


def _unreachable(model: Model) -> Words:
    # All bits set is no packed state: most models leave some bits of the last word unused, and none has all sizes full.
    return (2**64 - 1,) * model.program.schema.words
