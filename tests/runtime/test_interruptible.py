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

from insync.explorer import Limits, check
from insync.machine import compiler
from insync.machine.kernels import Part, Text, Texts, compile_kernels, load, texts
from insync.runtime.watch import GivenUp, delayed, interruptible, still_working, unattended
from insync_toys import DieHard, TokenRing

NEVER: Callable[[], object] = lambda: None  # noqa: E731


def soon(condition: Callable[[], bool]) -> bool:
    """Whether something becomes true within some seconds."""
    until = time.monotonic() + 20
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return condition()


def test_the_result_of_the_work_is_returned() -> None:
    here = threading.get_ident()
    result, there = interruptible(lambda wanted: (wanted(), threading.get_ident()), NEVER)
    assert result
    assert there != here
    assert not still_working()


def test_work_that_nobody_waits_for_is_known_until_it_is_done() -> None:
    over = threading.Event()
    unattended(lambda: over.wait(60))
    assert still_working()
    over.set()
    assert soon(lambda: not still_working())


def test_an_error_of_the_work_is_raised_where_it_is_waited_for() -> None:
    def fail(_: Callable[[], bool]) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        interruptible(fail, NEVER)


def test_with_a_reason_to_stop_nothing_is_begun() -> None:
    begun: list[bool] = []
    with pytest.raises(GivenUp) as ended:
        interruptible(lambda wanted: begun.append(wanted()), lambda: "because")
    assert ended.value.reason == "because"
    assert begun == []


def test_who_gives_up_does_not_wait_for_the_work() -> None:
    begun, go_on, seen = threading.Event(), threading.Event(), list[bool]()

    def work(wanted: Callable[[], bool]) -> None:
        seen.append(wanted())
        begun.set()
        go_on.wait(60)
        seen.append(wanted())

    started = time.monotonic()
    with pytest.raises(GivenUp):
        interruptible(work, begun.is_set)
    assert time.monotonic() - started < 30
    assert still_working()
    go_on.set()
    assert soon(lambda: not still_working())
    assert seen == [True, False]


def test_ctrl_c_ends_the_waiting() -> None:
    go_on = threading.Event()

    def interrupt() -> object:
        if not threading.enumerate()[-1].name.startswith("insync"):
            return None
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda wanted: go_on.wait(60), interrupt)
    go_on.set()
    assert soon(lambda: not still_working())


# ------------------------------------------------------------------------------------------------------- compilation


class SlowLlvm:
    """LLVM that begins a module and ends it only when it is told to.

    Attributes:
        began: is set when a module is begun.
        go_on: lets it go on.
        compiled: how many modules were begun.
    """

    def __init__(self) -> None:
        self.began, self.go_on, self.compiled = threading.Event(), threading.Event(), 0
        self._honest = compiler.object_code

    def object_code(self, text: str) -> bytes:
        self.compiled += 1
        self.began.set()
        assert self.go_on.wait(60)
        return self._honest(text)


@pytest.fixture
def llvm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowLlvm]:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))
    slow = SlowLlvm()
    monkeypatch.setattr(compiler, "object_code", slow.object_code)
    yield slow
    slow.go_on.set()
    assert soon(lambda: not still_working())


def never() -> str:
    raise AssertionError("the text was made again")


def test_what_llvm_is_at_goes_to_the_cache_and_no_more_is_begun(llvm: SlowLlvm) -> None:
    made = texts(TokenRing().program, parts=(Part.STORE, Part.EXPAND))
    with pytest.raises(GivenUp):
        load(made, llvm.began.is_set)
    llvm.go_on.set()
    assert soon(lambda: not still_working())
    assert llvm.compiled == 1
    first = made.parts[0]
    load(Texts(made.sizes, (Text(first.part, first.key, never),)))


def test_what_another_thread_compiles_is_not_compiled_twice(llvm: SlowLlvm) -> None:
    made = texts(TokenRing().program, parts=(Part.STORE,))
    with pytest.raises(GivenUp):
        load(made, llvm.began.is_set)
    threading.Timer(0.2, llvm.go_on.set).start()
    assert load(made, NEVER).owner((1,), 1) == 0
    assert llvm.compiled == 1


def test_making_the_text_is_part_of_the_compilation() -> None:
    made = texts(TokenRing().program, parts=(Part.STORE,))
    began, go_on = threading.Event(), threading.Event()

    def slow() -> str:
        began.set()
        go_on.wait(60)
        return made.parts[0].make()

    with pytest.raises(GivenUp):
        load(Texts(made.sizes, (Text(Part.STORE, f"never made before {time.time_ns()}", slow),)), began.is_set)
    go_on.set()
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
from insync.runtime.watch import GivenUp, still_working
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
    compile_kernels(model.program, parts=(Part.EXPAND,), stopped=began.is_set)
except GivenUp:
    print("given up", still_working())
"""


def test_the_interpreter_ends_in_peace_while_llvm_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))
    done = subprocess.run(
        [sys.executable, "-c", LIBRARY_USER], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "given up True\n", "")
    assert len(list((tmp_path / "cache").glob("*.o"))) == 1


def test_a_reason_is_given_so_many_seconds_after_it_first_came_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now, reasons = [100.0], [None, "stop"]
    monkeypatch.setattr("insync.runtime.watch.time.perf_counter", lambda: now[0])
    later = delayed(lambda: reasons[-1], 2.0)
    reasons.append(None)
    assert later() is None
    now[0] = 200.0
    reasons.append("stop")
    assert later() is None, "the time begins with the reason"
    now[0] = 201.9
    assert later() is None
    now[0] = 202.0
    assert later() == "stop"
    reasons.append("another")
    assert later() == "another"
    reasons.append(None)
    assert later() is None
    assert delayed(lambda: "stop", 0.0)() == "stop"
