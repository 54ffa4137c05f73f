"""Mistakes seeded into insync, and whether a judge notices: run as `python insync_seeded.py NAME` with an empty cache.

Each mistake changes one rule of machine code, packing, storage, the search, symmetry or simplification. It is noticed
if insync then says something else than Spin and TLC have said on record, or fails. Of a mistake in simplification,
which the exported text would share, the text has none of it, as it was judged before.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from insync.explorer import Limits, check
from insync.explorer.search import breadth_first
from insync.machine import kernels
from insync.machine.emit import expanding, hash_table, lowering, sorting_networks
from insync.machine.emit.lowering import Lowering
from insync.machine.stores import quotient_table
from insync.machine.stores.hash_table import HashTableStore
from insync.machine.stores.quotient_table import CodeTable
from insync.model.domains import layout
from insync.model.expressions import simplify
from insync.model.expressions.graph import Op
from insync_judged import JUDGED, Figures
from insync_subjects import subjects

__all__ = ["MISTAKES", "Noticed", "noticed"]

Mistake = Callable[[], None]
_LIMITS = Limits(states=50_000, seconds=60)
_LOOKED_AT = (
    ("kip320", "replicas=2 log_size=1 max_records=1 max_leader_epoch=1"),
    ("examples/lock.py:Lock", ""),
    ("examples/tlaplus/two_phase.py:TwoPhase", ""),
    ("examples/election.py:Election", ""),
    ("examples/tlaplus/voting.py:Voting", ""),
    ("cluster", "release=4.1 replicas=2 records=1 metadata_lag=0 fencings=0 isr_shrinks=0"),
    ("placement", ""),
)


@dataclass(frozen=True, slots=True)
class Noticed:
    """How a mistake is noticed.

    Attributes:
        model: the model in which it is.
        judges: those that have said something else of it; insync itself if it fails.
        insync_says: what insync says with the mistake.
        judged: what the first of the judges has said.
    """

    model: str
    judges: str
    insync_says: str
    judged: str


def _lowered(op: Op, rule: Callable[..., str]) -> None:
    lowering._RULES[op] = rule


def _extremes_changed() -> None:
    lowering._RULES[Op.MIN] = lambda s, n, o: s._call("smax", *o)
    lowering._RULES[Op.MAX] = lambda s, n, o: s._call("smin", *o)


def _compared(op: Op, how: str) -> None:
    lowering._COMPARISONS[op] = how


def _computed(op: Op, how: str) -> None:
    lowering._INT_OPS[op] = how


def _packed(change: Callable[[list[layout.Cell]], list[layout.Cell]]) -> None:
    begin = layout.Schema.__init__

    def wrong(self: layout.Schema, state: Any) -> None:
        begin(self, state)
        self.cells = tuple(change(list(self.cells)))

    layout.Schema.__init__ = wrong  # type: ignore[method-assign]


def _changed(cells: list[layout.Cell], place: int, **values: int) -> list[layout.Cell]:
    cell = cells[place]
    parts = {name: getattr(cell, name) for name in ("number", "path", "size", "bits", "word", "shift")}
    return [*cells[:place], layout.Cell(**{**parts, **values}), *cells[place + 1 :]]


def _widest(cells: list[layout.Cell]) -> int:
    return max(range(len(cells)), key=lambda place: cells[place].bits)


def _last(cells: list[layout.Cell]) -> int:
    return max(place for place, cell in enumerate(cells) if cell.bits)


def _first_word_equal(left: Any, right: Any) -> Any:
    return (left[0] ^ left[0]).equals(0)


def _short_tags() -> None:
    hash_table._LOW = 63
    hash_table.rows_equal = _first_word_equal  # type: ignore[attr-defined]


def _known_never() -> None:
    hash_table.rows_equal = lambda left, right: (left[0] ^ left[0]).equals(1)  # type: ignore[attr-defined]


def _coded() -> None:
    breadth_first.MOST_WHOLE = 0


def _code_left_out() -> None:
    """Of a thousand codes one is taken for known."""
    _coded()
    insert = CodeTable.insert

    def wrong(self: CodeTable, codes: int, count: int, fresh: int) -> int:
        left = 1 if len(self) > 20 else 0
        return insert(self, codes + 8 * left, count - left, fresh) + left

    CodeTable.insert = wrong  # type: ignore[method-assign]


def _slots_keep_three_bits() -> None:
    """A slot keeps less of a code than its place leaves open, so that codes are taken for others."""
    _coded()
    quotient_table._rest_bits = lambda bits, lines: 3


def _one_left_behind() -> None:
    whole = HashTableStore.pending.fget  # type: ignore[attr-defined]
    HashTableStore.pending = property(lambda self: max(0, whole(self) - 1))  # type: ignore[assignment,method-assign]


def _representatives_counted() -> None:
    kernels.Kernels.states_of = lambda self, rows, count: count  # type: ignore[method-assign]


def _unsorted() -> None:
    sorting_networks.exchanges = lambda count: iter(())


def _simplified(op: Op, rule: Callable[..., Any]) -> None:
    simplify._RULES[op] = rule


MISTAKES: Mapping[str, Mistake] = {
    "code: at most is less than": partial(_compared, Op.LE, "slt"),
    "code: less than is at most": partial(_compared, Op.LT, "sle"),
    "code: equal is at most": partial(_compared, Op.EQ, "sle"),
    "code: a sum is a difference": partial(_computed, Op.ADD, "sub"),
    "code: a union is a symmetric difference": partial(_computed, Op.BITOR, "xor"),
    "code: an intersection is a union": partial(_computed, Op.BITAND, "or"),
    "code: a difference of sets is the first": partial(_lowered, Op.BITDIFF, lambda s, _, o: o[0]),
    "code: the lesser and the greater change places": _extremes_changed,
    "code: nothing is counted": partial(_lowered, Op.COUNT, lambda s, _, o: s.shape.number(0)),
    "code: branches change places": partial(_lowered, Op.ITE, lambda s, _, o: s._choose(o[0], o[2], o[1])),
    "code: every member is there": partial(
        _lowered, Op.TEST, lambda s, _, o: s._compare("sge", o[0], s.shape.number(0))
    ),
    "code: and is or": partial(_lowered, Op.AND, lambda s, _, o: s._fold("or", o)),
    "code: a negation is none": partial(_lowered, Op.NOT, lambda s, _, o: o[0]),
    "packing: a cell is a bit short": partial(_packed, lambda c: _changed(c, _widest(c), bits=c[_widest(c)].bits - 1)),
    "packing: two cells share a bit": partial(_packed, lambda c: _changed(c, _last(c), shift=c[_last(c)].shift - 1)),
    "packing: a cell lies on the first": partial(_packed, lambda c: _changed(c, _last(c), shift=0, word=0)),
    "storage: tags of six bits decide": _short_tags,
    "storage: no state is known": _known_never,
    "codes: one is left out": _code_left_out,
    "codes: slots keep three bits": _slots_keep_three_bits,
    "search: the last state of a partition is left": _one_left_behind,
    "symmetry: representatives are counted as states": _representatives_counted,
    "symmetry: members are not put in order": _unsorted,
    "simplification: a choice between numbers is the first": partial(
        _simplified, Op.ITE, lambda graph, condition, then, other: then
    ),
    "simplification: the lesser of two is the first": partial(_simplified, Op.MIN, lambda graph, a, b: a),
    "simplification: less than a constant is at most": partial(
        _simplified, Op.LT, lambda graph, a, b: simplify.apply(Op.LE, a, b) if b.op is Op.CONST else None
    ),
}
"""Every mistake by its name."""

assert {Lowering, expanding}


def noticed() -> Noticed | None:
    """Return where insync does not say what judges have said; None if it says the same of all that is looked at.

    That is the first subject of which it says something else, or else the first in which insync fails.
    """
    record = JUDGED.read()
    known = {(one.model, one.name): one for one in subjects()}
    failed = None
    for key in _LOOKED_AT:
        subject = known[key]
        rows = [row for engine in ("spin", "tlc") if (row := record.get((*key, "named", engine))) is not None]
        try:
            model = subject.made()
            found = Figures.of_check(check(model, properties=subject.properties(model), limits=_LIMITS, threads=1))
        except Exception as error:  # noqa: BLE001 (whatever a mistake makes of insync)
            failed = failed or Noticed(key[0], "insync", f"fails ({type(error).__name__})", "")
            continue
        against = [row for row in rows if not row.figures.matches(found)]
        if against:
            engines = " ".join(row.engine for row in against)
            return Noticed(key[0], engines, found.in_words, against[0].figures.in_words)
    return failed


if __name__ == "__main__":
    MISTAKES.get(sys.argv[1], lambda: None)()
    found = noticed()
    sys.stdout.write(f"{json.dumps(found and asdict(found))}\n")
