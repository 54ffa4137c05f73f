"""A limit ends work where it is reached, not one state, byte or second before; work that cannot check it is left."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from llvmlite.binding import ffi

from insync.explorer import check
from insync.machine import compiler
from insync.machine.kernels import Part, Text, Texts, compile_kernels, load, texts
from insync.runtime import watch as limits
from insync.runtime.errors import UserError
from insync.runtime.watch import (
    Limits,
    Stopped,
    StopReason,
    Watch,
    left_behind,
    limits_of,
    require_room,
    still_working,
)
from insync_clock import StillClock
from insync_toys import DieHard, TokenRing


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> StillClock:
    made = StillClock()
    monkeypatch.setattr(limits, "time", made)
    return made


@pytest.mark.parametrize(("given", "depth", "states", "reason"), [
    (Limits(), 10**6, 10**9, None),
    (Limits(depth=3), 2, 100, None),
    (Limits(depth=3), 3, 100, StopReason.DEPTH),
    (Limits(depth=3), 4, 1, StopReason.DEPTH),
    (Limits(states=9), 9, 8, None),
    (Limits(states=9), 1, 9, StopReason.STATES),
    (Limits(states=9), 1, 10, StopReason.STATES),
    (Limits(depth=3, states=9), 3, 9, StopReason.DEPTH),
    (Limits(depth=3, states=9), 2, 9, StopReason.STATES),
])  # fmt: skip
def test_a_level_that_reaches_a_limit_is_the_last(
    given: Limits, depth: int, states: int, reason: StopReason | None
) -> None:
    assert given.after_level(depth, states) == reason


def test_time_is_up_when_it_has_passed_and_an_interrupt_comes_first(clock: StillClock) -> None:
    stop = threading.Event()
    watch, unlimited = Watch(Limits(seconds=2.5), stop), Watch(Limits(), None)
    for now, reason in ((100.0, None), (102.4, None), (102.5, StopReason.TIME), (200.0, StopReason.TIME)):
        clock.now = now
        assert (watch.seconds, watch.reason()) == (now - 100, reason)
        assert unlimited.reason() is None
    with pytest.raises(Stopped) as caught:
        watch.check()
    assert caught.value.reason is StopReason.TIME
    stop.set()
    assert watch.reason() is StopReason.INTERRUPT
    clock.now = 100.0
    assert watch.reason() is StopReason.INTERRUPT
    unlimited.check()


def test_within_the_block_it_tells_once_a_second(clock: StillClock) -> None:
    watch, told = Watch(Limits(), None), list[float]()
    with watch.telling(lambda: told.append(clock.now)):
        for now in (100.0, 100.9, 101.0, 101.1, 101.9, 102.0, 105.0, 105.9, 106.0):
            clock.now = now
            watch.reason()
    clock.now = 110.0
    watch.reason()
    assert told == [101.0, 102.0, 105.0, 106.0]
    with watch.telling(None):
        assert watch.reason() is None


def test_memory_is_promised_up_to_the_limit_and_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "resident_memory", lambda: 1000)
    watch = Watch(Limits(memory_bytes=1600), None)
    assert not watch.may_use(601)
    assert [watch.may_use(size) for size in (400, 201, 200, 1, 0)] == [True, False, True, False, True]
    watch.end_promises()
    assert [watch.may_use(size) for size in (601, 600, 1)] == [False, True, False]
    monkeypatch.setattr(limits, "available_memory", lambda: 100)
    assert Watch(Limits(), None).memory_bytes == 1090, "nine tenths of what is free, besides what is taken"


MEBIBYTE = 1 << 20


@pytest.mark.parametrize(("taken", "needed", "said", "least"), [
    (60, 0, "takes 60 MiB before the search begins", 70),
    (0, 51, "needs 51 MiB for buffers", 70),
    (30, 21, "takes 30 MiB before the search begins and needs 21 MiB for buffers", 70),
    (61, 0, "takes 61 MiB before the search begins", 80),
])  # fmt: skip
def test_a_limit_that_leaves_no_room_is_refused_with_a_round_one(
    taken: int, needed: int, said: str, least: int
) -> None:
    given = Limits(memory_bytes=50 * MEBIBYTE)
    with pytest.raises(UserError) as caught:
        require_room(given, taken * MEBIBYTE, needed * MEBIBYTE, "buffers")
    assert caught.value.args[0] == (
        f"A limit of 50 MiB on the memory is too little, as insync {said}; "
        f"give {least}M (memory_bytes={least * MEBIBYTE}) or more."
    )
    require_room(Limits(memory_bytes=(taken + needed) * MEBIBYTE), taken * MEBIBYTE, needed * MEBIBYTE, "buffers")
    require_room(Limits(), taken << 60, needed << 60, "buffers")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Limits(seconds=1), None),
        (Limits(query_seconds=1, depth=4), "Limits(depth=4) does not limit a proof; "),
    ],
)
def test_a_limit_that_a_verb_does_not_obey_is_refused(given: Limits, expected: str | None) -> None:
    if expected is None:
        assert limits_of(given, "a proof", ("seconds",)) is given
        return
    with pytest.raises(UserError) as error:
        limits_of(given, "a proof", ("seconds", "query_seconds"))
    assert str(error.value) == f"{expected}its limits are Limits(seconds=..., query_seconds=...)."


def test_queries_are_limited_in_a_proof_alone() -> None:
    expected = (
        r"^Limits\(query_seconds=3\) does not limit a search; "
        r"its limits are Limits\(depth=..., states=..., seconds=..., memory_bytes=...\)\.$"
    )
    with pytest.raises(UserError, match=expected):
        check(DieHard, limits=Limits(query_seconds=3))
    with pytest.raises(UserError, match=r"^Limits\(query_seconds=-1\) is not a time; give a number of seconds"):
        Limits(query_seconds=-1)


# ------------------------------------------------------------------------------------------------ parts of the work


def test_a_part_ends_with_its_own_time_or_with_the_whole_work(clock: StillClock) -> None:
    assert Watch().within(None).left is None
    watch = Watch(Limits(seconds=900, query_seconds=80), stop := threading.Event())
    clock.now = 200.0
    assert (watch.within(50).left, watch.within(None).left, watch.within(2000).left) == (50, 800, 800)
    part = watch.query()
    assert (part.left, part.reason()) == (80, None)
    clock.now = 280.0
    assert (part.left, part.reason(), watch.reason()) == (0, StopReason.TIME, None)
    stop.set()
    assert part.reason() is StopReason.INTERRUPT
    assert watch.untimed(4).limits.after_level(4, 1) is StopReason.DEPTH
    assert Watch(Limits(seconds=0)).untimed().reason() is None


def test_a_reason_is_given_so_many_seconds_after_it_first_came_up(clock: StillClock) -> None:
    watch = Watch(Limits(seconds=50), stop := threading.Event())
    later = watch.later(2.0)
    assert later.reason() is None
    clock.now = 200.0
    assert later.reason() is None, "the time begins with the reason"
    clock.now = 201.9
    later.check()
    clock.now = 202.0
    assert later.reason() is StopReason.TIME
    stop.set()
    assert later.reason() is StopReason.INTERRUPT
    assert watch.later(0.0).reason() is StopReason.INTERRUPT
    assert Watch().later(0.0).reason() is None


# ------------------------------------------------------------------------------- work that cannot check the limits


def soon(condition: Callable[[], bool]) -> bool:
    """Whether something becomes true within some seconds."""
    until = time.monotonic() + 20
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return condition()


def test_the_result_of_the_work_is_returned() -> None:
    here = threading.get_ident()
    left, there = Watch().attend(lambda: (left_behind(), threading.get_ident()))
    assert not left
    assert not left_behind()
    assert there != here
    assert soon(lambda: not still_working())


def test_work_that_is_not_waited_for_is_known_until_it_is_done() -> None:
    over = threading.Event()
    Watch().begin(lambda: over.wait(60))
    assert still_working()
    over.set()
    assert soon(lambda: not still_working())


@pytest.mark.parametrize("interrupt", [None, lambda: None])
def test_an_error_of_the_work_is_raised_where_it_is_waited_for(interrupt: Callable[[], object] | None) -> None:
    def fail() -> None:
        raise TimeoutError("from the work itself")

    with pytest.raises(TimeoutError, match="from the work itself"):
        Watch().attend(fail, interrupt)


def test_with_a_reason_to_stop_nothing_is_begun() -> None:
    begun: list[bool] = []
    with pytest.raises(Stopped) as ended:
        Watch(Limits(seconds=0)).attend(lambda: begun.append(True))
    assert ended.value.reason is StopReason.TIME
    assert begun == []


def test_work_without_an_interrupt_is_left_behind() -> None:
    stop, over, seen = threading.Event(), threading.Event(), list[bool]()

    def work() -> None:
        seen.append(left_behind())
        stop.set()
        over.wait(60)
        seen.append(left_behind())

    started = time.monotonic()
    with pytest.raises(Stopped):
        Watch(stop=stop).attend(work)
    assert time.monotonic() - started < 30
    assert still_working()
    over.set()
    assert soon(lambda: not still_working())
    assert seen == [False, True]


def test_work_is_interrupted_until_it_ends() -> None:
    stop, calls = threading.Event(), threading.Semaphore(0)
    threading.Timer(0.1, stop.set).start()

    def work() -> str:
        for _ in range(3):  # an interrupt that comes too early is lost, and so has to be repeated
            assert calls.acquire(timeout=20)
        return "ended"

    assert Watch(stop=stop).attend(work, calls.release) == "ended"


def test_work_that_an_interrupt_does_not_end_is_left_behind_after_its_patience() -> None:
    stop, over, calls = threading.Event(), threading.Event(), list[bool]()

    def work() -> None:
        stop.set()
        over.wait(60)

    with pytest.raises(Stopped):
        Watch(stop=stop).attend(work, lambda: calls.append(left_behind()), patience=0.2)
    assert len(calls) >= 2
    over.set()
    assert soon(lambda: not still_working())


@pytest.mark.parametrize("interrupt", [None, "end"])
def test_ctrl_c_ends_the_waiting(interrupt: str | None) -> None:
    over = threading.Event()

    class Interrupted(Watch):
        def reason(self, grows: bool = False) -> StopReason | None:
            if not any(thread.name == "insync-work" for thread in threading.enumerate()):
                return None
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Interrupted().attend(lambda: over.wait(60), over.set if interrupt else None)
    assert over.is_set() == bool(interrupt)
    over.set()
    assert soon(lambda: not still_working())


def test_what_is_given_up_before_it_has_begun_never_begins() -> None:
    """There is one thread, and the first piece of work has it until it is interrupted."""
    watch, held, begun = Watch(threads=1), threading.Event(), list[str]()
    first = watch.begin(lambda: held.wait(10), held.set)
    second = watch.begin(lambda: begun.append("second"), held.set)
    second.give_up()
    first.give_up()
    assert watch.attend(lambda: "third", held.set) == "third"
    assert begun == []


def test_work_that_waits_for_a_thread_is_not_begun_when_there_is_a_reason_to_stop() -> None:
    stop, held, begun = threading.Event(), threading.Event(), list[str]()
    watch = Watch(stop=stop, threads=1)
    first = watch.begin(lambda: held.wait(60), held.set)
    second = watch.begin(lambda: begun.append("second"), list)
    stop.set()
    with pytest.raises(Stopped):
        second.result()
    assert first.result() is True
    assert begun == []


# ------------------------------------------------------------------------------------------------------- compilation


class SlowLlvm:
    """LLVM that begins a module and ends it only when it is told to.

    Attributes:
        began: is set when a module is begun.
        resume: lets LLVM end the module.
        compiled: how many modules were begun.
    """

    def __init__(self) -> None:
        self.began, self.resume, self.compiled = threading.Event(), threading.Event(), 0
        self._honest = compiler.object_code

    def object_code(self, text: str) -> bytes:
        self.compiled += 1
        self.began.set()
        assert self.resume.wait(60)
        return self._honest(text)


@pytest.fixture
def llvm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowLlvm]:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))
    slow = SlowLlvm()
    monkeypatch.setattr(compiler, "object_code", slow.object_code)
    yield slow
    slow.resume.set()
    assert soon(lambda: not still_working())


def never() -> str:
    raise AssertionError("the text was made again")


def test_what_llvm_is_at_goes_to_the_cache_and_no_more_is_begun(llvm: SlowLlvm) -> None:
    made = texts(TokenRing().program, parts=(Part.STORE, Part.EXPAND))
    with pytest.raises(Stopped):
        load(made, Watch(stop=llvm.began))
    llvm.resume.set()
    assert soon(lambda: not still_working())
    assert llvm.compiled == 1
    first = made.parts[0]
    load(Texts(made.sizes, (Text(first.part, first.key, never),)))


def test_what_another_thread_compiles_is_not_compiled_twice(llvm: SlowLlvm) -> None:
    made = texts(TokenRing().program, parts=(Part.STORE,))
    with pytest.raises(Stopped):
        load(made, Watch(stop=llvm.began))
    threading.Timer(0.2, llvm.resume.set).start()
    assert load(made, Watch()).owner((1,), 1) == 0
    assert llvm.compiled == 1


def test_making_the_text_is_part_of_the_compilation() -> None:
    made = texts(TokenRing().program, parts=(Part.STORE,))
    began, resume = threading.Event(), threading.Event()

    def slow() -> str:
        began.set()
        resume.wait(60)
        return made.parts[0].make()

    with pytest.raises(Stopped):
        load(Texts(made.sizes, (Text(Part.STORE, f"never made before {time.time_ns()}", slow),)), Watch(stop=began))
    resume.set()
    assert soon(lambda: not still_working())


def test_functions_are_let_go_while_llvm_works_elsewhere() -> None:
    """LLVM's lock is held: to free an engine would wait for it, and so would whoever lets go of its last function."""
    kernels = [compile_kernels(TokenRing().program)]
    locked, unlock = threading.Event(), threading.Event()

    def hold() -> None:
        with ffi.lib._lock:
            locked.set()
            unlock.wait(60)

    def let_go() -> None:
        kernels.clear()
        gc.collect()

    threads = [threading.Thread(target=hold), threading.Thread(target=let_go)]
    threads[0].start()
    locked.wait(60)
    threads[1].start()
    threads[1].join(10)
    done = not threads[1].is_alive()
    unlock.set()
    for thread in threads:
        thread.join(60)
    assert done
    waiting = list(compiler._unused)
    assert waiting
    kept = compile_kernels(DieHard().program)
    assert not set(waiting) & set(compiler._unused)
    assert kept.sizes.actions


# -------------------------------------------------------------------------------------------------------------- check


def test_a_check_that_is_stopped_while_it_compiles_has_no_level(llvm: SlowLlvm) -> None:
    result = check(DieHard(), stop=llvm.began)
    assert (result.verdict, result.stopped_by) == ("incomplete", "interrupt")
    assert (result.levels, result.depth, result.distinct_states, result.frontier) == ((), 0, 0, 0)
    assert [(found.name, found.verdict) for found in result.properties] == [("never_four", "incomplete")]
    assert (result.violations, result.never_enabled, result.transitions) == ((), (), 0)


def test_the_time_limit_covers_compilation(llvm: SlowLlvm) -> None:
    started = time.monotonic()
    result = check(DieHard(), limits=Limits(seconds=0.3))
    assert time.monotonic() - started < 60
    assert (result.verdict, result.stopped_by, result.levels) == ("incomplete", "time", ())
    assert result.seconds["compile"] >= 0.2


LIBRARY_USER = """
import threading
from insync.machine import compiler
from insync.runtime.watch import Stopped, Watch, still_working
from insync.machine.kernels import Part, compile_kernels
from insync.model.catalogue import find_model

began = threading.Event()
honest = compiler.object_code

def noted(text):
    began.set()
    return honest(text)

compiler.object_code = noted
model = find_model("kip320")(replicas=5, log_size=4, max_records=4, max_leader_epoch=3)
try:
    compile_kernels(model.program, parts=(Part.EXPAND,), watch=Watch(stop=began))
except Stopped:
    print("given up", still_working())
"""


def test_the_interpreter_ends_in_peace_while_llvm_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))
    done = subprocess.run(
        [sys.executable, "-c", LIBRARY_USER], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "given up True\n", "")
    assert len(list((tmp_path / "cache").glob("*.o"))) == 1
