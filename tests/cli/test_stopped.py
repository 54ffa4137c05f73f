"""Every command that works for long ends soon after Ctrl-C or at its limit on the time, with what is known by then."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from insync.cli.main import run
from insync.runtime import oversight
from insync_process import SLOW_LLVM, started, took_at_most, wait_for

pytest.importorskip("scipy")

AT_ONCE = 20.0
"""Seconds between Ctrl-C and the end of the process: a tenth of one on an idle machine, and 100 if it is not obeyed."""

WHILE_COMPILING = {
    "simulate": ["simulate", "kip320"],
    "liveness": ["liveness", "kip320"],
    "mutate": ["mutate", "kip320", "--quiet"],
    "why": ["why", "kip320", "--quiet"],
    "diff": ["diff", "kip101", "kip320", "--quiet"],
    "agree": ["agree", "kip320", "--engine", "local-1", "--engine", "local-2", "--quiet"],
}


SOON = 4.0
"""The same for work that, not obeying, would be over sooner: a second on an idle machine."""


def ended(process: subprocess.Popen[str], interrupt: bool = True, seconds: float = AT_ONCE) -> tuple[int, str, str]:
    """Press Ctrl-C, and require that the process ends at once; return its exit code and what it printed."""
    if interrupt:
        process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert not interrupt or took_at_most(seconds, began)
    assert "Traceback" not in err
    return process.returncode, out, err


@pytest.mark.slow
@pytest.mark.parametrize(
    "limit", [[], pytest.param(["--max-seconds", "1"], marks=pytest.mark.slow)], ids=["interrupt", "time"]
)
@pytest.mark.parametrize("command", WHILE_COMPILING.values(), ids=WHILE_COMPILING)
def test_a_compilation_is_stopped(command: list[str], limit: list[str], tmp_path: Path) -> None:
    process = started([*command, *limit, "--json"], script=SLOW_LLVM, INSYNC_CACHE_DIR=str(tmp_path))
    if not limit:
        wait_for(process, "compiling")
    code, out, err = ended(process, interrupt=not limit)
    assert code == 3, err
    found: dict[str, Any] = json.loads(out)
    if command[0] == "agree" and limit:
        assert [engine["verdict"] for engine in found["engines"]] == ["incomplete", "incomplete"]
    else:
        assert found["stopped_by"] == ("time" if limit else "interrupt")


SLOW_TRACING = """
import sys, time
from insync.cli.main import main
from insync.model.tracing.lifting import LiftedActions

trace = LiftedActions.trace

def slowly(*given):
    print("tracing", file=sys.stderr, flush=True)
    time.sleep(0.5)
    return trace(*given)

LiftedActions.trace = slowly
main()
"""


@pytest.mark.slow
def test_tracing_is_stopped() -> None:
    process = started(["ask", "--json"], script=SLOW_TRACING)
    wait_for(process, "tracing")
    code, out, err = ended(process, seconds=SOON)
    assert code == 3, err
    found: dict[str, Any] = json.loads(out)
    (asked,) = found["combinations"]
    assert found["verdict"] == "incomplete"
    assert {row["states"] for row in asked["rows"]} <= {0}


SLOW_QUANTIFIER = """
import sys, time
from insync.cli.main import main
from insync.model.expressions import graph

honest = graph.Graph.node

def slowly(self, *given, **more):
    if len(self.nodes) == 1023:
        print("tracing", file=sys.stderr, flush=True)
    if len(self.nodes) > 1000:
        time.sleep(0.001)
    return honest(self, *given, **more)

graph.Graph.node = slowly
main()
"""


@pytest.mark.parametrize(
    "limit", [[], pytest.param(["--max-seconds", "3"], marks=pytest.mark.slow)], ids=["interrupt", "time"]
)
def test_tracing_is_stopped_within_an_action(limit: list[str]) -> None:
    """One action, for one binding, may say so much that tracing it takes longer than there is time."""
    process = started(["check", "cluster", "--json", *limit], script=SLOW_QUANTIFIER)
    wait_for(process, "Progress" if not limit else "tracing")
    code, out, err = ended(process, interrupt=not limit, seconds=SOON)
    assert code == 3, err
    found: dict[str, Any] = json.loads(out)
    assert (found["verdict"], found["stopped_by"]) == ("incomplete", "time" if limit else "interrupt")
    assert found["distinct_states"] == 0


ENDLESS = """
import sys

from insync.model import Bool, Bound, Bounds, Model, State, action, eventually, invariant
from insync.properties import lemma

class Endless(Model):
    bounds = Bounds(size=Bound(2, 1, 9, "a size"))
    unbounded = ("size",)

    def declare(self, b):
        return State(on=Bool)

    @action
    def go(self, s):
        s.on = self.after_all("go", True)

    @invariant
    def is_off(self, s):
        return self.after_all("is_off", ~s.on)

    @eventually(weak=["go"])
    def is_on(self, s):
        return self.after_all("is_on", s.on)

    def after_all(self, name, value):
        print("entered", name, file=sys.stderr)
        while name == HERE:
            pass
        return value

@lemma(Endless)
def is_off_yet(model, s):
    return ~s.on
"""
VERBS = ["check", "simulate", "liveness", "why", "diff", "agree", "mutate", "prove", "prove --bmc 3",
         "prove --unbounded"]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "where"),
    [*((verb, "go") for verb in VERBS), *((verb, "is_off") for verb in VERBS if verb not in ("liveness", "mutate")),
     ("liveness", "is_on")],
)  # fmt: skip
def test_code_that_never_ends_is_read_once_until_the_limit_and_named(
    command: str, where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_LOOK_SECONDS", "_PATIENCE_SECONDS"):
        monkeypatch.setattr(oversight, name, 0.02)
    (tmp_path / "endless.py").write_text(ENDLESS.replace("HERE", repr(where)))
    verb, *options = command.split()
    models = [f"{tmp_path}/endless.py:Endless"] * (2 if verb == "diff" else 1)
    for limit in ("0.2", "1", "5"):  # on a busy machine a short time may be over before the model is read
        code, printed = run([verb, *models, *options, "--max-seconds", limit, "--json"]), capsys.readouterr()
        if f"entered {where}" in printed.err:
            break
    assert code == 3
    assert printed.err.count(f"entered {where}\n") == 1
    assert "reading after_all, endless.py:2" in printed.err
    found: dict[str, Any] = json.loads(printed.out)
    assert "time" in (found.get("stopped_by"), *(one.get("stopped_by") for one in found.get("engines", [])))


LARGE = ["--log-size", "3", "--max-records", "3", "--max-leader-epoch", "2"]


@pytest.mark.slow
def test_liveness_keeps_the_part_of_the_graph_that_it_has() -> None:
    process = started(["liveness", "kip320", *LARGE])
    wait_for(process, "Progress(")
    code, out, _ = ended(process)
    assert code == 3
    assert ", stopped by Ctrl-C\n" in out
    assert "\nincomplete  back_in_isr " in out


@pytest.mark.slow
def test_liveness_stops_while_it_decides() -> None:
    script = """
import sys
from insync.cli.main import main
from insync.explorer.runs import fair_cycles
import insync.explorer, insync.explorer.liveness

def endless(space, inside, demands, watch):
    print("deciding", file=sys.stderr, flush=True)
    while True:
        fair_components(space, inside, demands, watch)

fair_components = fair_cycles.fair_components
sys.modules["insync.explorer.liveness"].fair_components = endless
main()
"""
    small = ["--replicas", "2", "--log-size", "1", "--max-records", "1", "--max-leader-epoch", "1"]
    asked = ["--property", "committed_everywhere", "--property", "back_in_isr"]
    process = started(["liveness", "kip320", *small, *asked, "--quiet", "--json"], script=script)
    wait_for(process, "deciding")
    code, out, _ = ended(process)
    found = json.loads(out)
    assert (code, found["stopped_by"], found["verdict"]) == (3, "interrupt", "incomplete")
    verdicts = {result["name"]: result["verdict"] for result in found["properties"]}
    assert verdicts == {"committed_everywhere": "holds", "back_in_isr": "incomplete"}


def test_mutate_keeps_what_is_decided_and_says_no_more() -> None:
    process = started(["mutate", "kip320", "--action", "leader_write", "--action", "follower_fetch", "--threads", "1"])
    wait_for(process, "1/")
    code, out, err = ended(process)
    assert code == 3
    assert " not tried, stopped by Ctrl-C\n" in out
    assert err.rstrip().endswith("press Ctrl-C again to end at once."), "nothing is told after the notice"


def test_simulate_keeps_the_walks_that_are_done() -> None:
    process = started(["simulate", "kip320", "--walks", "1000000000"])
    wait_for(process, "Progress: ")
    code, out, _ = ended(process)
    assert code == 3
    assert "stopped by Ctrl-C" in out


@pytest.mark.slow
def test_long_walks_are_left_off() -> None:
    process = started(["simulate", "placement", "--depth", "1000000", "--threads", "1"])
    wait_for(process, "Progress: ")
    code, out, _ = ended(process, seconds=SOON)
    assert code == 3
    assert "stopped by Ctrl-C" in out
    assert "\n0 steps taken" not in out


LONG_WAY = """
from insync.model import Bound, Bounds, Int, Model, State, action, invariant

class Far(Model):
    bounds = Bounds(end=Bound(100_000, 1, 200_000, "how far it goes"))

    def declare(self, b):
        return State(count=Int(0, b.end))

    @action
    def go_on(self, s):
        s.count = s.count + 1

    @invariant
    def stays_near(self, s):
        return s.count < self.b.end
"""

SLOW_STEPS = """
import sys, time
from insync.cli.main import main
from insync.explorer.stepping.stepper import Stepper

attempt = Stepper.attempt

def slowly(self, codes, number):
    if not codes[0]:
        print("shortening", file=sys.stderr, flush=True)
    time.sleep(0.001)
    return attempt(self, codes, number)

Stepper.attempt = slowly
main()
"""


@pytest.mark.slow
def test_a_failing_walk_that_is_too_long_to_be_confirmed_is_named(tmp_path: Path) -> None:
    (tmp_path / "far.py").write_text(LONG_WAY)
    walks = ["simulate", f"{tmp_path}/far.py:Far", "--property", "stays_near", "--depth", "200000", "--walks", "1"]
    process = started(walks, script=SLOW_STEPS)
    wait_for(process, "shortening")
    code, out, _ = ended(process, seconds=SOON)
    assert code == 3
    assert "incomplete: walk 0 fails after 100,001 states (1 walk of up to 200,000 steps, seed 0)" in out
    assert "stopped by Ctrl-C" in out


@pytest.mark.slow
def test_an_engine_of_agree_that_is_stopped_says_by_what() -> None:
    process = started(["agree", "kip320", "--engine", "local-1", "--engine", "evaluator", *LARGE])
    wait_for(process, "local-1: ")
    time.sleep(0.5)
    code, out, _ = ended(process)
    assert code == 3
    assert "Stopped by Ctrl-C; the engines do not differ so far." in out
    assert "  evaluator  incomplete, " in out
    assert ", stopped by Ctrl-C (" in out


@pytest.mark.slow
def test_a_graph_that_is_not_whole_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "graph.dot"
    process = started(["export", "kip320", *LARGE, "--to", "dot", "--max-states", "2000000", "-o", str(file)])
    wait_for(process, "Progress(")
    code, out, err = ended(process)
    assert (code, out) == (3, "")
    assert "; nothing was written." in err
    assert not file.exists()
