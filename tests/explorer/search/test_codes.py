"""The search with codes in place of states: what it says is what it says with states that are kept whole."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from insync.explorer import CheckResult, Limits, Progress, StopReason, check, diff, explore
from insync.explorer.explore import NoViolation
from insync.explorer.exploring.steps import reach
from insync.explorer.progress import Phase
from insync.explorer.search import breadth_first as search_module
from insync.explorer.search import encoding
from insync.explorer.testing import InsyncCheck, UnexpectedVerdict
from insync.machine.store_kernels import code_kernels
from insync.machine.stores import collapse, compressed
from insync.machine.stores.collapse import Codec
from insync.machine.stores.compressed import CodeKernels
from insync.machine.stores.quotient_table import CodeTable
from insync.machine.stores.store import MOST_CHUNK
from insync.model import (
    Array,
    Bool,
    BoundValues,
    Condition,
    Int,
    Model,
    Not,
    State,
    StateView,
    action,
    invariant,
    require,
)
from insync.model.catalogue import find_model
from insync.model.domains.layout import Schema
from insync.model.expressions.graph import Op
from insync.model.expressions.simplify import apply
from insync.properties.registry import invariants_of, judge, sentences_of
from insync.runtime.errors import UserError
from insync.runtime.memory import Block
from insync.runtime.watch import Stopped
from insync_toys import TOYS, Overflow

SMALL = {"replicas": 2, "log_size": 1, "max_records": 2, "max_leader_epoch": 1}
LOSING = {**SMALL, "log_size": 2}
KIP320 = find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)
FAILING = find_model("kip279")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)
MODELS = [
    *TOYS,
    Overflow(last=3),
    KIP320,
    find_model("kip101")(**SMALL),
    find_model("async_isr")(replicas=3, max_offset=1, max_version=1),
]
ENOUGH = Limits(states=5_000)
Whole = Callable[[int], None]


@pytest.fixture
def whole_up_to(monkeypatch: pytest.MonkeyPatch) -> Whole:
    """Set how many states a search keeps whole."""
    return lambda states: monkeypatch.setattr(search_module, "MOST_WHOLE", states)


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, kept="")


@pytest.mark.slow_but("model0-True", "model1-True", "model7-True", "model10-True", "model15-False")
@pytest.mark.parametrize(
    ("model", "keep_going"),
    [*((model, True) for model in MODELS), *((model, False) for model in MODELS[-3:])],
    ids=lambda value: value.identity if isinstance(value, Model) else str(value),
)
def test_the_result_does_not_depend_on_what_is_kept(model: Model, keep_going: bool, whole_up_to: Whole) -> None:
    def found(threads: int = 1, partitions: int = 1) -> CheckResult:
        names = list(invariants_of(model))
        return check(
            model, properties=names, keep_going=keep_going, limits=ENOUGH, threads=threads, partitions=partitions
        )

    states = found()
    assert states.kept == "states"
    whole_up_to(0)
    codes = [found(), found(2, 3)]
    assert {result.kept for result in codes} == {"codes" if states.depth > 1 else "states"}
    whole_up_to(30)
    assert [facts(result) for result in (*codes, found(1, 2))] == [facts(states)] * 3


@pytest.mark.slow
def test_states_of_a_search_that_ends_with_their_level_are_not_given_up(whole_up_to: Whole) -> None:
    model = find_model("kip101")(replicas=3, log_size=1, max_records=2, max_leader_epoch=1)
    ended = check(model, properties=["strong_isr"], symmetry=False)
    assert ended.verdict == "violated"
    whole_up_to(sum(ended.levels) - 1)
    assert check(model, properties=["strong_isr"], symmetry=False).kept == "states"
    whole_up_to(sum(ended.levels[:-1]) - 1)
    again = check(model, properties=["strong_isr"], symmetry=False)
    assert again.kept == "codes"
    assert facts(again) == facts(ended)


def test_a_long_trace_is_found_from_codes(whole_up_to: Whole) -> None:
    model = find_model("truncate_to_high_watermark")(replicas=2, log_size=2, max_records=2, max_leader_epoch=1)
    names = list(sentences_of(model))
    states = check(model, properties=names, keep_going=True, symmetry=False)
    assert max(violation.trace_length for violation in states.violations) >= 5
    whole_up_to(50)
    codes = check(model, properties=names, keep_going=True, symmetry=False)
    assert codes.kept == "codes"
    assert facts(codes) == facts(states)
    assert codes.seconds["trace"] > 0


def test_a_level_of_many_states_is_decoded_part_by_part(whole_up_to: Whole) -> None:
    states = check("kip320", threads=1)
    assert states.representatives is not None
    assert max(states.levels) > 2 * compressed.CHUNK
    whole_up_to(0)
    codes = check("kip320", threads=1)
    assert codes.kept == "codes"
    assert facts(codes) == facts(states)


class Safe(Model):
    """A dial that is turned to the left or to the right, with twice as many states in each level as in the one before.

    Of the last of these levels one state alone leads on.
    """

    headline = ("stays_shut",)

    def declare(self, b: BoundValues) -> State:
        return State(turns=Int(0, 11), right=Array(11, Bool), opened=Bool)

    @action
    def turn(self, s: StateView, right: bool) -> None:
        """Turn the dial."""
        require(s.turns < 11)
        s.right[s.turns] = right
        s.turns += 1

    @action
    def open(self, s: StateView) -> None:
        """Open it, after turns to the right alone."""
        require(s.turns == 11, *[s.right[at] for at in range(11)])
        s.opened = True

    @invariant
    def stays_shut(self, s: StateView) -> Condition:
        """It is not opened."""
        return Not(s.opened)


def test_a_trace_leads_through_any_part_of_a_level_of_many_states(whole_up_to: Whole) -> None:
    states = check(Safe(), threads=1)
    assert max(states.levels) > 2 * MOST_CHUNK
    whole_up_to(0)
    codes = check(Safe(), threads=1)
    assert (codes.kept, codes.violations[0].trace_length) == ("codes", 13)
    assert facts(codes) == facts(states)


def test_layouts_and_tables_that_change_on_the_way_change_nothing_else(
    whole_up_to: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid: list[int] = []
    lay = Codec.lay_out

    def counted(self: Codec, room: float) -> object:
        laid.append(1)
        return lay(self, room)

    states = check(KIP320, symmetry=False)
    whole_up_to(0)
    monkeypatch.setattr(collapse, "ROOMS", (1.0,))
    monkeypatch.setattr(collapse, "_LEAST_AT_FIRST", 1.0)
    monkeypatch.setattr(compressed, "ROOMS", (1.0,))
    monkeypatch.setattr(Codec, "lay_out", counted)
    codes = check(KIP320, symmetry=False, threads=2)
    assert len(laid) > 6
    assert facts(codes) == facts(states)


@pytest.mark.parametrize("threads", [1, 2])
def test_expanded_states_are_given_back_while_layouts_change(
    threads: int, whole_up_to: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of codes at a time, of levels of up to 900 states that take many rounds, and whose layout changes."""
    given_back: list[tuple[int, int]] = []
    discard = Block.discard

    def noted(self: Block, start: int, length: int) -> None:
        given_back.append((start, length))
        discard(self, start, length)

    names = list(sentences_of(FAILING))
    states = check(FAILING, symmetry=False, properties=names, keep_going=True)
    whole_up_to(0)
    monkeypatch.setattr(Block, "discard", noted)
    monkeypatch.setattr(search_module, "_BUFFER_BYTES", 1 << 12)
    monkeypatch.setattr(compressed, "CHUNK", 512)
    monkeypatch.setattr(compressed, "_GIVEN_BACK", 512)
    monkeypatch.setattr(collapse, "ROOMS", (1.0,))
    monkeypatch.setattr(collapse, "_LEAST_AT_FIRST", 1.0)
    monkeypatch.setattr(compressed, "ROOMS", (1.0,))
    codes = check(FAILING, symmetry=False, properties=names, keep_going=True, threads=threads)
    assert (0, 4096) in given_back
    assert facts(codes) == facts(states)


def test_where_codes_become_too_wide_the_search_begins_again_with_states(
    whole_up_to: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = check(KIP320, symmetry=False)
    whole_up_to(0)
    monkeypatch.setattr(compressed, "MOST_CODE_BITS", 18)
    again = check(KIP320, symmetry=False)
    assert again.kept == "states"
    assert facts(again) == facts(states)


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """With how many rounds of pairing codes were made."""
    made: list[int] = []

    def noted(schema: Schema, rounds: int = 0) -> CodeKernels:
        made.append(rounds)
        return code_kernels(schema, rounds)

    monkeypatch.setattr(encoding, "code_kernels", noted)
    monkeypatch.setattr(search_module, "MOST_WHOLE_FOR_PAIRS", 300)
    return made


def test_where_codes_are_too_wide_parts_are_numbered_in_pairs(
    whole_up_to: Whole, rounds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = list(invariants_of(KIP320))
    states = check(KIP320, symmetry=False, properties=names, keep_going=True)
    whole_up_to(200)
    monkeypatch.setattr(collapse, "MOST_CODE_BITS", 20)
    codes = check(KIP320, symmetry=False, properties=names, keep_going=True, threads=2, partitions=2)
    assert codes.kept == "codes"
    assert rounds == [0, 1]
    assert facts(codes) == facts(states)


def test_where_codes_become_too_wide_the_search_begins_again_with_pairs_and_then_with_states(
    whole_up_to: Whole, rounds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    states = check(KIP320, symmetry=False)
    whole_up_to(10)
    monkeypatch.setattr(search_module, "MOST_WHOLE_FOR_PAIRS", 10)
    for bits, tried, kept in [(30, [0], "codes"), (22, [0, 1], "codes"), (9, [0, 1], "states")]:
        monkeypatch.setattr(compressed, "MOST_CODE_BITS", bits)
        rounds.clear()
        again = check(KIP320, symmetry=False)
        assert (again.kept, rounds) == (kept, tried), bits
        assert facts(again) == facts(states)


def test_where_dictionaries_would_take_what_codes_save_states_stay(
    whole_up_to: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole_up_to(300)
    assert check(KIP320, symmetry=False).kept == "codes"
    monkeypatch.setattr(collapse, "_LITTLE", 0)
    assert check(KIP320, symmetry=False).kept == "states"


@pytest.mark.slow
def test_states_that_do_not_fit_into_codes_are_kept_whole(whole_up_to: Whole, monkeypatch: pytest.MonkeyPatch) -> None:
    states = check(KIP320, symmetry=False)
    whole_up_to(300)
    monkeypatch.setattr(collapse, "MOST_CODE_BITS", 8)
    assert check(KIP320, symmetry=False).kept == "states"
    assert facts(check(KIP320, symmetry=False)) == facts(states)


def test_without_memory_for_both_states_stay(whole_up_to: Whole, monkeypatch: pytest.MonkeyPatch) -> None:
    states = check(KIP320, symmetry=False)
    whole_up_to(300)
    monkeypatch.setattr(search_module, "_BOTH_BYTES", 1 << 40)
    assert facts(check(KIP320, symmetry=False)) == facts(states)
    assert check(KIP320, symmetry=False).kept == "states"


def test_a_lost_state_is_noticed(whole_up_to: Whole, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same tests fail on a table that leaves a code out."""
    states = check(KIP320, symmetry=False)
    insert = CodeTable.insert

    def damaged(self: CodeTable, codes: int, count: int, fresh: int) -> int:
        left_out = 1 if len(self) > 1_000 else 0
        return insert(self, codes + 8 * left_out, count - left_out, fresh) + left_out

    whole_up_to(0)
    monkeypatch.setattr(CodeTable, "insert", damaged)
    assert facts(check(KIP320, symmetry=False)) != facts(states)


@pytest.mark.slow
def test_the_search_for_a_trace_says_so_and_can_be_ended(whole_up_to: Whole, monkeypatch: pytest.MonkeyPatch) -> None:
    model = find_model("kip101")(replicas=3, log_size=1, max_records=2, max_leader_epoch=1)
    stop, told, whole_up = threading.Event(), list[Progress](), whole_up_to
    monkeypatch.setattr("insync.explorer.progress.Pulse.due", lambda self: True)

    def tell(progress: Progress) -> None:
        told.append(progress)
        if progress.phase is Phase.TRACE and progress.level > 1:
            stop.set()

    whole_up(0)
    names = list(sentences_of(model))
    found = check(model, properties=names, keep_going=True, symmetry=False, reporter=tell, stop=stop)
    failing = [each.name for each in found.properties if each.verdict == "violated"]
    assert told[-1].phase is Phase.TRACE
    assert found.verdict == "violated"
    assert set(failing) == {v.property for v in check(model, properties=names, keep_going=True).violations}
    assert found.violations == ()
    assert found.stopped_by == "interrupt"
    assert any(failing[0] in said and "interrupt" in said for said in found.warnings)


def test_a_disk_without_room_for_the_levels_is_named(whole_up_to: Whole, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, content: bytes) -> None:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            pass

    model = find_model("kip101")(**SMALL)
    whole_up_to(0)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full())
    with pytest.raises(UserError, match=r"No space left on device.*set TMPDIR to a folder with more room"):
        check(model, properties=list(sentences_of(model)), keep_going=True, symmetry=False)


@pytest.mark.slow
def test_a_search_whose_states_are_wanted_keeps_them(whole_up_to: Whole, tmp_path: Path) -> None:
    from insync.explorer import why

    states = why(KIP320)
    whole_up_to(0)
    assert replace(why(KIP320), seconds=0.0) == replace(states, seconds=0.0)


@pytest.fixture
def no_room_for_a_trace(monkeypatch: pytest.MonkeyPatch) -> Model:
    """End every search for a trace by the limit on the memory; return a model that violates weak_isr."""

    def readable(search: search_module.BreadthFirstSearch) -> NoReturn:
        raise Stopped(StopReason.MEMORY)

    monkeypatch.setattr(search_module.BreadthFirstSearch, "readable", readable)
    return find_model("truncate_to_high_watermark")(**LOSING)


def test_whoever_wants_a_trace_is_told_what_ended_the_search_for_it(no_room_for_a_trace: Model) -> None:
    model = no_room_for_a_trace
    violated = apply(Op.NOT, judge(model, ["weak_isr"]).conditions["weak_isr"])
    reached = reach(model, model.program.initials[0], violated, Limits())
    assert (reached.moves, reached.stopped_by) == (None, "memory")
    assert (
        diff("truncate_to_high_watermark", "kip320", first_bounds=LOSING, second_bounds=LOSING).stopped_by == "memory"
    )
    with pytest.raises(NoViolation, match=r"^The search for the way to a violation was stopped \(memory\)\."):
        explore(model, violation="weak_isr")


def test_a_test_says_that_there_is_no_trace(insync_check: InsyncCheck, no_room_for_a_trace: Model) -> None:
    with pytest.raises(
        UnexpectedVerdict, match=r"violated \(weak_isr\), and the search for a trace was stopped by memory"
    ):
        insync_check(no_room_for_a_trace, properties=["weak_isr"])
