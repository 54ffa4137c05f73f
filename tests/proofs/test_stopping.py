"""Proofs end when they are told to, or when their time is up, and say what they know by then."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from insync.model import Condition, Int, Model, State, StateView, action, invariant, require
from insync.model.catalogue import find_model
from insync.properties.registry import judge, lemmas_of
from insync.runtime.watch import Limits, StopReason, Watch
from insync_proofs import Factors

SUPPORT = Path(__file__).parent.parent / "support"


class Fork(Model):
    """One step to the left or to the right, each of which breaks a property."""

    def declare(self, b: object) -> State:
        return State(place=Int(0, 2))

    @action
    def go(self, s: StateView, left: bool) -> None:
        """Take one of the two ways."""
        require(s.place == 0)
        s.place = 1 if left else 2

    @invariant
    def never_left(self, s: StateView) -> Condition:
        """Nobody goes left."""
        kept: Condition = s.place != 1
        return kept

    @invariant
    def never_right(self, s: StateView) -> Condition:
        """Nobody goes right."""
        kept: Condition = s.place != 2
        return kept


class TestZ3:
    @pytest.fixture(autouse=True)
    def z3(self) -> None:
        pytest.importorskip("z3")

    @pytest.mark.slow
    @pytest.mark.parametrize(("limits", "reason"), [(Limits(seconds=2), StopReason.TIME), (None, StopReason.INTERRUPT)])
    def test_an_induction_says_what_was_decided(self, limits: Limits | None, reason: StopReason) -> None:
        from insync.proofs.k_induction import check_induction
        from insync.proofs.results import ProofVerdict

        model, stop = Factors(), threading.Event()
        if limits is None:
            threading.Timer(1, stop.set).start()
        began = time.monotonic()
        found = check_induction(model, judge(model).invariants, watch=Watch(limits, stop))
        assert time.monotonic() - began < 200
        assert (found.verdict, found.stopped_by) == (ProofVerdict.UNKNOWN, reason)
        assert [(q.name, q.verdict) for q in found.queries] == [
            ("initiation", ProofVerdict.PROVED),
            ("try_again", ProofVerdict.PROVED),
        ]
        assert found.unanswered == ("find", "rest")
        again = check_induction(model, judge(model, ["few_tries"]).invariants)
        assert again.verdict is ProofVerdict.PROVED, "the same z3 answers other questions"

    def test_a_proof_that_is_complete_is_not_stopped_afterwards(self) -> None:
        from insync.proofs.k_induction import check_induction
        from insync.proofs.results import ProofVerdict, Query

        model, stop = Factors(), threading.Event()

        def last(query: Query) -> None:
            if query.name == "rest":
                stop.set()

        found = check_induction(model, judge(model, ["few_tries"]).invariants, reporter=last, watch=Watch(stop=stop))
        assert stop.is_set()
        assert (found.verdict, found.unanswered, found.stopped_by) == (ProofVerdict.PROVED, (), None)

    @pytest.mark.slow
    def test_a_query_without_an_answer_in_time_is_passed_over(self) -> None:
        from insync.proofs.k_induction import check_induction
        from insync.proofs.results import ProofVerdict

        model = Factors()
        found = check_induction(model, judge(model).invariants, watch=Watch(Limits(query_seconds=1.5)))
        verdicts = {query.name: query.verdict for query in found.queries}
        assert verdicts["find"] is ProofVerdict.UNKNOWN
        assert verdicts["rest"] is ProofVerdict.PROVED
        assert (found.verdict, found.unanswered, found.stopped_by) == (ProofVerdict.UNKNOWN, (), None)

    @pytest.mark.slow
    def test_an_inference_that_is_stopped_drops_nothing_for_that(self) -> None:
        from insync.proofs.houdini import infer

        model, stop = Factors(), threading.Event()
        threading.Timer(1, stop.set).start()
        found = infer(model, judge(model, ["few_tries", "never_found"]).invariants, watch=Watch(stop=stop))
        assert found.dropped == ()
        assert found.kept == ("few_tries", "never_found")
        assert found.proved == (), "nothing is proved of conditions that not every step was asked about"
        assert found.induction.stopped_by is StopReason.INTERRUPT
        assert found.induction.unanswered == ("find", "rest")

    def test_a_bounded_check_says_how_deep_it_came(self) -> None:
        from insync.proofs.bounded import check_bounded
        from insync.proofs.results import BoundedVerdict, Query

        model, stop = find_model("kip320")(replicas=2), threading.Event()

        def third(query: Query) -> None:
            if query.name == "depth 3":
                stop.set()

        found = check_bounded(model, judge(model).invariants, 8, reporter=third, watch=Watch(stop=stop))
        assert (found.verdict, found.depth, found.stopped_by) == (BoundedVerdict.UNKNOWN, 3, StopReason.INTERRUPT)
        assert [query.name for query in found.queries] == ["depth 1", "depth 2", "depth 3"]
        nothing = check_bounded(model, judge(model).invariants, 8, watch=Watch(Limits(seconds=0)))
        assert (nothing.depth, nothing.queries, nothing.stopped_by) == (0, (), StopReason.TIME)

    def test_a_violation_that_is_found_is_kept_though_the_others_are_not_asked_for(self) -> None:
        from insync.proofs.bounded import check_bounded
        from insync.proofs.results import BoundedVerdict, Query

        model, stop = Fork(), threading.Event()

        def second(query: Query) -> None:
            if query.name == "depth 2":
                stop.set()

        both = judge(model, ["never_left", "never_right"]).invariants
        assert set(check_bounded(model, both, 3).violated) == {"never_left", "never_right"}
        found = check_bounded(model, both, 3, reporter=second, watch=Watch(stop=stop))
        assert (found.verdict, found.depth, len(found.violated)) == (BoundedVerdict.VIOLATED, 1, 1)

    @pytest.mark.parametrize("kind", ["induction", "inference", "bounded"])
    def test_translation_hears_of_it_too(self, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """At large bounds the terms take longer than the answers; here the stop comes while they are made."""
        from insync.proofs.bounded import check_bounded
        from insync.proofs.houdini import infer
        from insync.proofs.k_induction import check_induction
        from insync.proofs.smt import terms

        model: Model = find_model("kip320")(replicas=2)
        conditions = [*judge(model).invariants, *lemmas_of(model).values()]
        stop, made, honest = threading.Event(), [0], terms.Terms._apply

        def counting(self: terms.Terms, *given: Any) -> object:
            made[0] += 1
            if made[0] == 500:
                stop.set()
            return honest(self, *given)

        monkeypatch.setattr(terms.Terms, "_apply", counting)
        if kind == "bounded":
            assert check_bounded(model, conditions, 5, watch=Watch(stop=stop)).stopped_by is StopReason.INTERRUPT
        elif kind == "induction":
            assert check_induction(model, conditions, watch=Watch(stop=stop)).stopped_by is StopReason.INTERRUPT
        else:
            assert infer(model, conditions, watch=Watch(stop=stop)).induction.stopped_by is StopReason.INTERRUPT
        assert made[0] < 700, "one condition more, at most"

    @pytest.mark.slow
    def test_ctrl_c_in_a_program_of_one_s_own_is_a_keyboard_interrupt(self) -> None:
        code = (
            "from insync_proofs import Factors\n"
            "from insync.properties.registry import judge\n"
            "from insync.proofs.k_induction import check_induction\n"
            "try:\n"
            "    told = lambda query: print(query.name, flush=True)\n"
            "    check_induction(Factors(), judge(Factors()).invariants, reporter=told)\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted')\n"
        )
        command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(SUPPORT)!r})\n{code}"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        while process.stdout.readline().strip() != "try_again":
            assert process.poll() is None
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        out, _ = process.communicate(timeout=30)
        assert (process.returncode, out) == (0, "interrupted\n")
        assert time.monotonic() - began < 20

    @pytest.mark.slow
    def test_terms_that_are_dropped_while_z3_works_do_no_harm(self) -> None:
        """Python may collect cycles in the waiting thread; z3 then must not give the terms back at once."""
        code = (
            "import gc, z3\n"
            "from insync.proofs.smt import Solver\n"
            "from insync.runtime import watch\n"
            "watch._LOOK_SECONDS = 0.001\n"
            "class Cycle: pass\n"
            "class Collecting(watch.Watch):\n"
            "    def reason(self, grows=False):\n"
            "        if garbage:\n"
            "            garbage.pop()\n"
            "            gc.collect()\n"
            "gc.disable()\n"
            "gc.freeze()\n"
            "for turn in range(8):\n"
            "    garbage = [[] for _ in range(150)]\n"
            "    for number in range(9_000):\n"
            "        cycle = Cycle()\n"
            "        cycle.itself, cycle.term = cycle, z3.BitVec(f'g{number}.{turn}', 16) * 3\n"
            "        garbage[number % 150].append(cycle)\n"
            "    del cycle\n"
            "    rows = [[z3.BitVec(f'p{i}.{j}', 8) for j in range(9)] for i in range(9)]\n"
            "    solver = Solver(Collecting())\n"
            "    solver.add([z3.Distinct(*row) for row in rows])\n"
            "    solver.add([z3.ULT(cell, 8 if i % 2 else 9) for i, row in enumerate(rows) for cell in row])\n"
            "    solver.check(watch.Watch(watch.Limits(seconds=0.5)))\n"
            "    assert len(garbage) < 149, len(garbage)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100)
        assert (done.returncode, done.stderr) == (0, "")
