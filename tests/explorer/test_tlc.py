from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from insync.explorer import Limits
from insync.explorer.results import Verdict
from insync.explorer.tlc import TLC_VARIABLE, Tlc, TlcReport, find_tlc, tlc_engine, tlc_opinion, tlc_opinion_of_runs
from insync.model import BoundValues, Condition, Int, Model, State, StateView, action, invariant
from insync.runtime.child_processes import Ran
from insync.runtime.errors import UserError
from insync.runtime.watch import StopReason
from insync_toys import Clock

HOLDS = """\
TLC2 Version 2.20 of Day Month 20?? (rev: abc)
Finished computing initial states: 2 distinct states generated at 2026-01-01 00:00:00.
Progress(7) at 2026-01-01 00:00:00: 31 states generated, 12 distinct states found, 0 states left on queue.
Model checking completed. No error has been found.
3,331 states generated, 1,012 distinct states found, 0 states left on queue.
The depth of the complete state graph search is 7.
Finished in 01s at (2026-01-01 00:00:00)
"""
VIOLATED = """\
Finished computing initial states: 1 distinct state generated at 2026-01-01 00:00:00.
Error: Invariant one_inside is violated.
Error: The behavior up to this point is:
State 1: <Initial predicate>
/\\ holder = -1

State 2: <look(0) line 23, col 3 to line 25, col 50 of module Lock>
/\\ holder = 0

14 states generated, 10 distinct states found, 2 states left on queue.
The depth of the complete state graph search is 5.
"""
AT_ONCE = """\
Error: Invariant leader_in_isr is violated by the initial state:
/\\ x = 0

Finished in 00s at (2026-01-01 00:00:00)
"""
OF_STEPS = """\
Error: Action property epochs_grow is violated.
Error: The behavior up to this point is:
State 1: <Initial predicate>
State 2: <a line 1>
State 3: <b line 1>
20 states generated, 11 distinct states found, 2 states left on queue.
"""
OF_RUNS = """\
Progress(3) at 2026-01-01 00:00:00: 20 states generated, 11 distinct states found, 0 states left on queue.
Error: Temporal property comes_back was violated.

Error: The following behavior constitutes a counter-example:

State 1: <Initial predicate>
State 2: <a line 1>
State 3: Stuttering
20 states generated, 11 distinct states found, 0 states left on queue.
"""


def report(output: str, code: int = 0) -> TlcReport:
    return TlcReport.of(Ran(code, output, 1.5))


def test_a_whole_space_has_counts() -> None:
    assert report(HOLDS) == TlcReport(3331 - 2, 1012, 7, "", 1, 1.5)
    said = report(HOLDS).opinion(Clock())
    assert (said.verdict, said.states, said.depth, said.taken) == (Verdict.HOLDS, 1012, 7, 3331 - 2)


def test_initial_states_are_no_steps_however_often_they_are_generated() -> None:
    begins = "2 distinct states generated"
    assert report(HOLDS.replace(begins, "1,002 states generated, with 2 of them distinct")).steps == 3331 - 1002


@pytest.mark.parametrize(
    ("output", "code", "failing"),
    [
        (VIOLATED, 12, {"one_inside": 2}),
        (AT_ONCE, 12, {"leader_in_isr": 1}),
        (OF_STEPS, 13, {"epochs_grow": 3}),
        (OF_RUNS, 13, {"comes_back": 3}),
    ],
)
def test_a_violation_has_a_property_and_a_length(output: str, code: int, failing: dict[str, int]) -> None:
    said = report(output, code).opinion(Clock())
    assert (said.verdict, said.failing, said.states, said.taken) == (Verdict.VIOLATED, failing, None, None)
    assert said.ends_at_first


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("*** Parse Error ***\nError: Parsing or semantic analysis failed.", 150),
        ("Error: Java ran out of memory.\n3 states generated, 3 distinct states found, 1 states left on queue.", 1),
        ("Error: Deadlock reached.\n" + HOLDS, 11),
        (HOLDS.replace("3,331 states", "some states"), 0),
        (HOLDS, 255),
        ("", 1),
    ],
)
def test_everything_else_is_a_refusal(output: str, code: int) -> None:
    with pytest.raises(UserError, match="TLC refuses the exported module"):
        report(output, code)


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (
            """\
Semantic errors:

*** Errors: 2

line 11 of module M

Multiply-defined symbol 'a': this conflicts
with the one at line 8.


line 12 of module M

Error: Parsing or semantic analysis failed.
""",
            "Multiply-defined symbol 'a': this conflicts with the one at line 8 (line 11 of module M).",
        ),
        (
            '***Parse Error***\nEncountered "IF" at line 7, column 11 and token ","\n\nResidual stack trace follows:\n',
            'Encountered "IF" at line 7, column 11 and token ",".',
        ),
        (
            "Error: The second argument of <= should be an integer, but is:\nnode1\nError: The error occurred when",
            "The second argument of <= should be an integer, but is: node1.",
        ),
        ("", "it gives no reason."),
    ],
)
def test_the_reason_of_a_refusal_is_the_first_one_in_a_sentence(output: str, reason: str) -> None:
    with pytest.raises(UserError) as refused:
        report(output, 12)
    assert str(refused.value) == f"TLC refuses the exported module: {reason} Open an issue with the model."


class Awkward(Model):
    """Its property has a name that every module defines."""

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 1))

    @action
    def flip(self, s: StateView) -> None:
        s.n = 1 - s.n

    @invariant
    def Init(self, s: StateView) -> Condition:
        return s.n == 0


def test_a_property_that_is_renamed_in_the_module_keeps_its_name_in_the_report() -> None:
    said = report("Error: Invariant Init_2 is violated.\nState 1: a\nState 2: b\n").opinion(Awkward())
    assert said.failing == {"Init": 2}


def test_a_limit_that_tlc_does_not_know_is_refused() -> None:
    engine = tlc_engine(Tlc("java", "none.jar"), lambda *_: {})
    with pytest.raises(UserError, match="leave the limit on depth out"):
        engine(Clock(), [], Limits(depth=3), None)


def test_tlc_gets_the_files_and_its_time(tmp_path: Path) -> None:
    java = tmp_path / "java"
    files = {"Judged.tla": "the module", "Judged.cfg": "the bounds"}
    java.write_text(
        f'#!/bin/sh\ncat Judged.tla Judged.cfg > {tmp_path}/seen\necho "$@" > {tmp_path}/given\ncat {tmp_path}/said\n'
    )
    java.chmod(0o755)
    (tmp_path / "said").write_text(HOLDS)
    limits = Limits(seconds=60, memory_bytes=1 << 30)
    assert tlc_opinion(Tlc(str(java), "some.jar"), Clock(), files, limits).states == 1012
    assert (tmp_path / "seen").read_text() == "the modulethe bounds"
    given = (tmp_path / "given").read_text().split()
    assert given[0] == "-Xmx1024m"
    assert given[-2:] == ["Judged.cfg", "Judged.tla"]
    assert given[given.index("-workers") + 1] == "1"  # with more TLC's depth is no depth
    java.write_text("#!/bin/sh\nsleep 600\n")
    said = tlc_opinion(Tlc(str(java), "some.jar"), Clock(), files, Limits(seconds=0.3))
    assert (said.verdict, said.stopped_by) == (None, StopReason.TIME)


def test_a_property_of_runs_has_its_own_configuration_and_a_trace(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/given\necho the trace > trace.json\ncat {tmp_path}/said\nexit 13\n'
    )
    java.chmod(0o755)
    (tmp_path / "said").write_text(OF_RUNS)
    files = {"Judged.tla": "the module", "Judged.comes_back.cfg": "the fairness"}
    said, trace = tlc_opinion_of_runs(Tlc(str(java), "some.jar"), Clock(), files, "comes_back", Limits(seconds=60))
    assert (said.verdict, trace) == (Verdict.VIOLATED, "the trace\n")
    given = (tmp_path / "given").read_text()
    assert "-dumpTrace json trace.json -config Judged.comes_back.cfg Judged.tla" in given
    java.write_text(f"#!/bin/sh\ncat {tmp_path}/said\n")
    (tmp_path / "said").write_text(HOLDS)
    said, trace = tlc_opinion_of_runs(Tlc(str(java), "some.jar"), Clock(), files, "comes_back", Limits(seconds=60))
    assert (said.verdict, trace) == (Verdict.HOLDS, "")


@pytest.mark.parametrize(
    ("named", "said"),
    [(None, "nothing says where it is"), ("nowhere.jar", "nowhere.jar is not there"), (".", "is neither a jar")],
)
def test_tlc_that_is_not_there_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str | None, said: str
) -> None:
    monkeypatch.delenv(TLC_VARIABLE, raising=False)
    with pytest.raises(UserError, match=said):
        find_tlc(None if named is None else tmp_path / named)


def jar(path: Path, inside: str) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(inside, "")
    return path


def test_a_jar_without_tlc_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "broken.jar").write_text("no jar")
    for path in (tmp_path / "broken.jar", jar(tmp_path / "other.jar", "org/other/Main.class")):
        with pytest.raises(UserError, match="is no tla2tools"):
            find_tlc(path)


def test_the_option_goes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one.jar", "other.jar"):
        jar(tmp_path / name, "tlc2/TLC.class")
    monkeypatch.setenv(TLC_VARIABLE, str(tmp_path / "one.jar"))
    assert find_tlc().classes == str(tmp_path / "one.jar")
    assert find_tlc(tmp_path / "other.jar").classes == str(tmp_path / "other.jar")


@pytest.mark.slow
def test_sources_are_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "tools" / "tlatools" / "org.lamport.tlatools" / "src" / "tlc2" / "TLC.java"
    source.parent.mkdir(parents=True)
    source.write_text("package tlc2; public class TLC {}\n")
    (source.parent / "Naturals.tla").write_text("a module")
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))
    classes = Path(find_tlc(tmp_path / "tools").classes)
    assert (classes / "tlc2" / "TLC.class").is_file()
    assert (classes / "tlc2" / "Naturals.tla").read_text() == "a module"
    made = (classes / "tlc2" / "TLC.class").stat().st_mtime_ns
    assert Path(find_tlc(tmp_path / "tools").classes) == classes
    assert (classes / "tlc2" / "TLC.class").stat().st_mtime_ns == made
    kept = classes.parent
    assert os.listdir(kept.parent) == [kept.name], "nothing half made is left beside it"
    source.write_text("no Java\n")
    with pytest.raises(UserError, match="do not compile"):
        find_tlc(tmp_path / "tools")
