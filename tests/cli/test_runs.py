"""The commands liveness, agree and mutate, and graphs that export writes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from insync.explorer import Fate, MutantResult, MutationResult
from insync.explorer.agree import Opinion, local_engine
from insync.explorer.stepping.difference import Difference
from insync.model import Model
from insync.runtime.watch import Limits, StopReason

Insync = Callable[..., Any]
SMALL = ("--replicas", 2, "--log-size", 1, "--max-records", 1, "--max-leader-epoch", 1)


def test_liveness_for_scripts(insync: Insync, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    names = ("--property", "back_in_isr", "--property", "two_leaders")
    code, out, err = insync("liveness", "kip320", *SMALL, *names, "--unfair", "--trace", path, "--json", "--quiet")
    result = json.loads(out)
    assert (code, err, result["verdict"]) == (1, "", "violated")
    assert result["distinct_states"] == 277
    back, leaders = result["properties"]
    assert (back["kind"], back["verdict"], back["trace"]) == ("leads_to", "violated", str(path))
    assert back["loop"] == back["trace_length"] - 1
    assert back["fairness"] == {"weak": [], "strong": []}
    assert (leaders["kind"], leaders["verdict"], leaders["trace_length"], leaders["trace"]) == (
        "sometimes",
        "holds",
        5,
        None,
    )
    assert insync("replay", path).code == 0
    assert json.loads(insync("replay", path, "--format", "itf").out)["loop"] == back["loop"]
    assert json.loads(insync("replay", path, "--format", "json").out) == json.loads(path.read_text())


def test_a_trace_of_runs_in_itf_is_not_offered_for_replay(insync: Insync, tmp_path: Path) -> None:
    path = tmp_path / "t.itf.json"
    _, out, _ = insync("liveness", "kip320", *SMALL, "--property", "back_in_isr", "--unfair", "--trace", path)
    assert out.splitlines()[-1].startswith(f"Trace: {path} (ITF")


def test_a_witness_can_be_kept_and_replayed(insync: Insync, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    only = ("--property", "two_leaders")
    code, out, _ = insync("liveness", "kip320", *SMALL, *only, "--witnesses", "--trace", path)
    assert code == 0
    assert "two_leaders is reached after 4 steps" in out
    code, out, _ = insync("replay", path)
    assert code == 0
    assert "two_leaders is reached: Two replicas believe at once that they lead." in out


def test_a_limit_makes_liveness_incomplete(insync: Insync) -> None:
    code, out, _ = insync("liveness", "kip320", "--property", "back_in_isr", "--max-states", 100, "--quiet")
    assert code == 3
    assert "stopped by the limit on the states (--max-states)" in out
    assert out.splitlines()[1] == "incomplete  back_in_isr  leads_to: no run breaks it in the part that was explored"


def test_liveness_that_was_stopped_at_once_says_that_nothing_is_decided(insync: Insync) -> None:
    line = ("liveness", "kip320", "--property", "agreed_leader", "--max-seconds", 0.000001, "--quiet")
    code, out, _ = insync(*line)
    sentence = "not decided: the exploration was stopped"
    assert (code, out.splitlines()[1]) == (3, f"incomplete  agreed_leader  sometimes: {sentence}")
    (found,) = json.loads(insync(*line, "--json").out)["properties"]
    assert (found["verdict"], found["undecided"]) == ("incomplete", sentence)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("liveness kip320 --property back_in_irs", "kip320 has no property of runs 'back_in_irs'. Did you mean"),
        ("liveness kip320 --weak folower_fetch", "Fairness: kip320 has no action 'folower_fetch'. Did you mean"),
        ("liveness kip320 --strong become_leader(led)", "become_leader has no parameter 'led'."),
        ("liveness kip320 --unfair --strong a", "--unfair takes no fairness for granted, and --strong a takes some."),
        ("liveness kip320 --unfair --weak b --strong a", "takes no fairness for granted, and --weak b takes some."),
        (
            "liveness async_isr",
            "async_isr has no properties of runs, so there is nothing to decide. Declare one beside",
        ),
        ("liveness async_isr --weak foo", "Fairness: async_isr has no action 'foo'."),
        (
            "check kip320 --property back_in_isr",
            "back_in_isr is about runs, not about states: `insync liveness` with the same model, ",
        ),
        ("mutate kip320 --action folower_fetch", "kip320 has no action 'folower_fetch'. Did you mean"),
        (
            "agree kip320 --engine apalache",
            "insync agree: --engine: 'apalache' is not known; give evaluator or local-1",
        ),
        ("export kip320 --to dot -o x.dot --max-states 9", "The graph of kip320 has more than 9 states, so it was not"),
        ("export kip320 --to dot --property strong_isr", "--property has no effect on --to dot; leave it out, or"),
        ("export kip320 --max-depth 3", "--max-depth has no effect on --to tla; leave it out, or choose another"),
        ("graph kip320", "the command graph has gone; write insync export MODEL --to graphml -o FILE, or --to dot."),
    ],
)
def test_mistakes_are_one_sentence(
    insync: Insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = insync(*line.split())
    assert (code, out) == (2, "")
    assert err.startswith("Error: ")
    assert sentence in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_agree_for_scripts(insync: Insync) -> None:
    engines = ("--engine", "evaluator", "--engine", "local-2")
    code, out, err = insync("agree", "kip320", *SMALL, *engines, "--json", "--quiet")
    result = json.loads(out)
    assert (code, err, result["agreed"], result["differences"], result["state"]) == (0, "", True, [], None)
    assert [engine["engine"] for engine in result["engines"]] == ["evaluator", "local-2"]
    assert result["engines"][0]["levels"] == result["engines"][1]["levels"]


def test_one_engine_alone_agrees_with_nobody(insync: Insync) -> None:
    code, out, err = insync("agree", "kip320", *SMALL, "--engine", "local-1")
    assert code == 3
    assert "Fewer than two engines looked at any state, so nothing was compared." in out
    assert err.startswith("local-1: holds, 277 states, depth 12, 464 steps (")


def test_engines_that_are_stopped_are_compared_as_far_as_they_came(
    insync: Insync, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = local_engine(1)

    def stopping(model: Model, properties: list[str], limits: Limits, stop: Event) -> Opinion:
        said = honest(model, properties, limits, stop)
        stop.set()
        return said

    engines = {"local-1": honest, "local-2": stopping, "z3": honest}
    monkeypatch.setattr("insync.cli.commands.comparisons._engines", lambda *_: engines)
    code, out, _ = insync("agree", "kip320", *SMALL, "--engine", "local-1", "--engine", "local-2", "--engine", "z3")
    assert code == 3
    assert "  z3       did not run: stopped by Ctrl-C" in out
    assert "Stopped by Ctrl-C; the engines do not differ so far." in out
    code, out, _ = insync("agree", "kip320", *SMALL, "--engine", "local-2", "--engine", "z3", "--quiet")
    assert code == 3
    assert "Stopped by Ctrl-C; nothing is compared yet." in out


def test_a_default_run_says_what_it_left_out(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> None:
    engines = dict.fromkeys(("evaluator", "local-1", "local-2", "symmetric", "spark", "z3"), local_engine(1))
    few = {name: Limits(states=9) if name == "evaluator" else Limits() for name in engines}
    monkeypatch.setattr("insync.cli.commands.comparisons._engines", lambda *_: engines)
    monkeypatch.setattr(sys.modules["insync.explorer.agree"], "SHARES", few)
    code, out, _ = insync("agree", "kip320", *SMALL, "--quiet")
    assert code == 0
    assert re.search(r"^  evaluator  incomplete, \d+ states, depth \d, stopped by its share \(", out, re.MULTILINE)
    last = (
        "Each engine has a share of half a minute, and some were stopped at its end. --max-seconds S gives each of them"
    )
    assert f"The engines agree.\n{last} S seconds instead.\n" in out
    said = json.loads(insync("agree", "kip320", *SMALL, "--quiet", "--json").out)
    assert [engine["of_share"] for engine in said["engines"]] == [True, False, False, False, False, False]
    for chosen in (["--max-seconds", 60], ["--engine", "evaluator", "--engine", "local-1"]):
        assert " share" not in insync("agree", "kip320", *SMALL, *chosen, "--quiet").out


def test_engines_that_differ_are_shown_with_the_state(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = local_engine(1)

    def liar(model: Model, properties: list[str], limits: Limits, stop: Event) -> Opinion:
        said = honest(model, properties, limits, stop)
        return replace(said, levels=(1, 7, *(said.levels or ())[2:]))

    monkeypatch.setattr("insync.cli.commands.comparisons._engines", lambda *_: {"local-1": honest, "local-2": liar})
    chosen = ("--engine", "local-1", "--engine", "local-2", "--quiet")
    code, out, _ = insync("agree", "kip320", *SMALL, *chosen)
    assert code == 1
    assert "Level 2 has a different number of states: 4 for local-1, 7 for local-2." in out
    assert "so the difference lies in how states are kept or counted." in out

    def first(model: Model, **_: object) -> Difference:
        return Difference(1, model.decode(model.program.initials[0]), "It is the first state.")

    monkeypatch.setattr(sys.modules["insync.explorer.agree"], "first_difference", first)
    code, out, _ = insync("agree", "kip320", *SMALL, *chosen)
    assert code == 1
    assert "First in this state, in level 1:\n  b1: -  [|]\n" in out
    assert out.endswith("It is the first state.\n")


@pytest.mark.slow
def test_mutate_for_scripts(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.cli.progress.Pace.due", lambda *_: True)  # a log has lines at growing intervals
    only = ("--action", "become_leader", "--property", "weak_isr", "--property", "strong_isr", "--threads", 1)
    code, out, err = insync("mutate", "kip320", *SMALL, *only, "--json")
    result = json.loads(out)
    assert code == 0
    assert result["properties"] == ["weak_isr", "strong_isr", "type_ok"]
    fates = {mutant["without"]: mutant["fate"] for mutant in result["mutants"]}
    assert fates["replica[leader].epoch"] == "killed"
    told = [line for line in err.splitlines() if not line.startswith("Progress: ")]
    assert len(told) == len(result["mutants"]), "one line for each while it works"
    assert told[0].startswith(f"1/{len(fates)}  killed ")


def test_what_an_interrupt_leaves_is_one_line(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> MutationResult:
        left = MutantResult("x", "a", "b", "c", Fate.UNDECIDED, {}, None, StopReason.INTERRUPT)
        return MutationResult("kip320", {}, ("weak_isr",), (), 277, (left, left), 0.5, stopped_by=StopReason.INTERRUPT)

    monkeypatch.setattr("insync.explorer.mutate", interrupted)
    code, out, err = insync("mutate", "kip320", *SMALL)
    assert (code, err) == (3, "")
    assert out.splitlines()[2:] == [
        "",
        "2 not tried, stopped by Ctrl-C",
        "",
        "no score: no mutant was killed and none survived, in 0.50 s",
    ]


@pytest.mark.slow
def test_a_mutant_left_undecided_makes_it_incomplete(insync: Insync) -> None:
    only = ("--action", "controller_elect_leader", "--property", "weak_isr", "--threads", 1, "--quiet")
    code, out, _ = insync("mutate", "kip320", *SMALL, *only, "--max-states", 278)
    assert code == 3
    assert " undecided\n" in out
    assert ":, stopped" not in out
    assert "stopped by the limit on the states (--max-states)" in out


def test_one_state_is_one_state(insync: Insync) -> None:
    tiny = ("kip320", "--replicas", 1, "--log-size", 1, "--max-records", 1, "--max-leader-epoch", 1, "--quiet")
    out = insync("agree", *tiny, "--engine", "evaluator", "--engine", "z3", "--z3-depth", 1, "--max-depth", 1).out
    assert "1 state, depth 1" in out
    assert "up to depth 1" in out
    assert "1 states" not in out


def test_help_shows_the_properties_of_runs(insync: Insync) -> None:
    code, out, _ = insync("liveness", "kip320", "--help")
    assert code == 0
    text = " ".join(out.split())
    assert "Properties of runs of kip320: committed_everywhere sometimes: Every replica has a record" in text
    assert "weak_isr" not in text
    assert "Properties of runs of async_isr: none" in " ".join(insync("liveness", "async_isr", "--help").out.split())


@pytest.mark.parametrize("quiet", [True, False])
def test_mutants_are_told_as_they_are_decided_and_in_a_log_at_growing_intervals(
    insync: Insync, monkeypatch: pytest.MonkeyPatch, quiet: bool
) -> None:
    def decided(model: Model, **named: Any) -> MutationResult:
        mutants = [MutantResult(f"go without {name}", "go", "without", name, Fate.KILLED, {"p": 3}) for name in "ab"]
        for number, one in enumerate(mutants, start=1):
            named["reporter"](number, 2, one)
        return MutationResult(model.name, {}, ("p",), (), 277, tuple(mutants), 0.1)

    monkeypatch.setattr("insync.explorer.mutate", decided)
    err = insync("mutate", "kip320", *SMALL, *(["--quiet"] if quiet else [])).err
    assert [line.split("  ")[0] for line in err.splitlines() if line[1:2] == "/"] == ([] if quiet else ["1/2"])


def test_a_limit_that_ends_the_search_of_the_unchanged_model_makes_mutate_incomplete(insync: Insync) -> None:
    code, out, err = insync("mutate", "kip320", *SMALL, "--max-states", 10, "--quiet")
    assert (code, err) == (3, "")
    assert "\nno mutant was judged by weak_isr, " in out
    assert (
        "\nno mutant was tried, stopped by the limit on the states (--max-states)\nThe unchanged model was not " in out
    )
    result = json.loads(insync("mutate", "kip320", *SMALL, "--max-states", 10, "--json", "--quiet").out)
    assert (result["stopped_by"], result["mutants"], result["score"]) == ("states", [], None)
    assert 10 <= result["distinct_states"] < 277
