"""What is said on the command line arrives at the verb, and what is not said has the default of its help text."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from insync.explorer import Limits
from insync.machine.walker import Strategy
from insync.model import Model
from insync.properties.invariants import names_within
from insync.properties.temporal import Fairness
from insync.runtime.errors import UserError
from insync.spark_explore import SparkOptions

Insync = Callable[..., Any]

MODEL = ["kip320", "--replicas", "2"]
ON_SPARK = ["--engine", "spark", "--master", "local[3]", "--partitions", "7", "--tables-on-disk"]
CHOSEN = ["--property", "weak_isr", "--property", "strong_isr"]
BOTH = ["weak_isr", "strong_isr"]
LOCAL = {"threads": None, "partitions": None}
NO_RUN = {"run_dir": None, "resume": False}
WALKS = {
    "walks": 10_000,
    "depth": 100,
    "seed": 0,
    "strategy": Strategy.MIXED,
    "threads": None,
    "abstract_states": False,
    "until_saturated": None,
}
PROVE = {"properties": (), "lemmas": (), "infer": False, "proof": None, "within": None}
INDUCTION = {**PROVE, "automatic": False, "mine": False, "unbounded": False, "threads": None}

VERBS: list[tuple[str, list[str], dict[str, object]]] = [
    ("explorer.check", [],
     {**LOCAL, **NO_RUN, "properties": BOTH, "limits": Limits(), "keep_going": False, "symmetry": True}),
    ("explorer.check",
     ["--max-depth", "3", "--max-states", "40", "--max-seconds", "5", "--memory", "2G", "--threads", "3",
      "--partitions", "6", "--keep-going", "--no-symmetry", "--property", "strong_isr"],
     {"properties": ["strong_isr"], "limits": Limits(3, 40, 5.0, 2 << 30), "threads": 3, "partitions": 6,
      "keep_going": True, "symmetry": False, **NO_RUN}),
    ("explorer.check", ["--run-dir", "there"],
     {**LOCAL, "run_dir": "there", "resume": False, "properties": BOTH, "limits": Limits(), "keep_going": False,
      "symmetry": True}),
    ("explorer.check", ["--resume", "there"],
     {**LOCAL, "run_dir": "there", "resume": True, "properties": BOTH, "limits": Limits(), "keep_going": False,
      "symmetry": True}),
    ("spark_explore.check", [*ON_SPARK, "--run-dir", "there", "--max-states", "9", "--keep-going", "--no-symmetry"],
     {"properties": BOTH, "limits": Limits(states=9), "keep_going": True, "symmetry": False,
      "options": SparkOptions(master="local[3]", partitions=7, run_dir="there", tables_on_disk=True)}),
    ("spark_explore.check", ["--engine", "spark", "--remote", "sc://x", "--resume", "there", "--property", "none"],
     {"properties": [], "limits": Limits(), "keep_going": False, "symmetry": True,
      "options": SparkOptions(remote="sc://x", run_dir="there", resume=True)}),
    ("explorer.simulate", CHOSEN, {**WALKS, "properties": BOTH, "limits": Limits()}),
    ("explorer.simulate",
     ["--walks", "3", "--depth", "5", "--seed", "7", "--strategy", "names", "--threads", "2",
      "--max-seconds", "4", "--property", "weak_isr", "--abstract-states"],
     {"walks": 3, "depth": 5, "seed": 7, "strategy": Strategy.NAMES, "threads": 2,
      "abstract_states": True, "until_saturated": None,
      "properties": ["weak_isr"], "limits": Limits(seconds=4.0)}),
    ("spark_explore.simulate",
     ["--walks", "3", "--depth", "5", "--seed", "7", "--strategy", "uniform", "--engine", "spark",
      "--partitions", "2", "--max-seconds", "4", "--until-saturated", "2"],
     {"walks": 3, "depth": 5, "seed": 7, "strategy": Strategy.UNIFORM, "properties": BOTH,
      "abstract_states": False, "until_saturated": 2,
      "limits": Limits(seconds=4.0),
      "options": SparkOptions(partitions=2)}),
    ("explorer.liveness", [], {"properties": None, "fairness": None, "limits": Limits()}),
    ("explorer.liveness",
     ["--weak", "become_leader", "--strong", "follower_fetch", "--max-states", "9", "--max-seconds", "4",
      "--property", "x"],
     {"properties": ("x",), "fairness": Fairness(("become_leader",), ("follower_fetch",)),
      "limits": Limits(states=9, seconds=4.0)}),
    ("explorer.liveness", ["--unfair"],
     {"properties": None, "fairness": Fairness(), "limits": Limits()}),
    ("cli.commands.traces.small_graph", ["--to", "dot"], {"depth": None, "states": 20_000}),
    ("cli.commands.traces.small_graph", ["--to", "dot", "--max-depth", "3", "--max-states", "9"],
     {"depth": 3, "states": 9}),
    ("explorer.mutate", [],
     {"properties": None, "actions": None, "runs": False, "limits": Limits(), "threads": None}),
    ("explorer.mutate",
     [*CHOSEN, "--action", "become_leader", "--runs", "--max-states", "9", "--max-seconds", "4", "--threads", "2"],
     {"properties": ("weak_isr", "strong_isr"), "actions": ("become_leader",), "runs": True,
      "limits": Limits(states=9, seconds=4.0), "threads": 2}),
    ("explorer.agree", ["--max-depth", "3", "--max-seconds", "4", "--property", "none"],
     {"engines": ["evaluator", "local-1", "local-2", "symmetric", "spark", "z3"], "properties": [],
      "limits": Limits(3, seconds=4.0)}),
    ("explorer.agree", ["--engine", "z3", "--engine", "local-2"],
     {"engines": ["z3", "local-2"], "properties": BOTH, "limits": Limits()}),
    ("explorer.prove", ["--induction"], {**INDUCTION, "k": None, "limits": Limits()}),
    ("explorer.prove", ["--threads", "2"],
     {**INDUCTION, "automatic": True, "threads": 2, "k": None, "limits": Limits()}),
    ("explorer.prove",
     ["--induction", "--k", "2", "--lemma", "a", "--within", "strong_isr", "--max-seconds", "3", "--timeout", "2",
      *CHOSEN],
     {**INDUCTION, "properties": tuple(BOTH), "lemmas": ("a",), "within": ["strong_isr"], "k": 2,
      "limits": Limits(seconds=3.0, query_seconds=2.0)}),
    ("explorer.prove", ["--infer"], {**INDUCTION, "k": None, "infer": True, "limits": Limits()}),
    ("explorer.prove", ["--mine"], {**INDUCTION, "k": None, "mine": True, "limits": Limits()}),
    ("explorer.prove", ["--unbounded", "--replicas", "2"],
     {**INDUCTION, "k": None, "unbounded": True, "limits": Limits()}),
    ("explorer.bounded_check", ["--bmc", "4", "--lemma", "a", "--property", "weak_isr"],
     {**PROVE, "depth": 4, "lemmas": ("a",), "properties": ("weak_isr",), "limits": Limits()}),
    ("explorer.bounded_check", ["--bmc", "4", "--infer", "--max-seconds", "3", "--timeout", "2"],
     {**PROVE, "depth": 4, "infer": True, "limits": Limits(seconds=3.0, query_seconds=2.0)}),
]  # fmt: skip

OTHERS: list[tuple[str, list[str], dict[str, object]]] = [
    ("kafka_questions.verification.search_defect", ["defects", "R-01", "--threads", "2"],
     {"threads": 2}),
    ("kafka_questions.verification.search_defect", ["defects", "--verify", "R-01"],
     {"threads": None}),
    ("cli.commands.ask.Question", ["ask", "--release", "3.9.1", "--acks", "1"],
     {"threads": None, "settings": {"release": "3.9.1", "acks": "1"}, "limits": Limits(), "found": {}}),
    ("cli.commands.ask.Question",
     ["ask", "--threads", "2", "--max-seconds", "3", "--replicas", "2", "--elr", "off"],
     {"threads": 2, "settings": {"replicas": 2, "elr": "off"}, "limits": Limits(seconds=3.0), "found": {}}),
    ("spark_explore.export", ["spark", "export", "run", "out", "--master", "local[2]"],
     {"options": SparkOptions(master="local[2]"), "model": None}),
    ("spark_explore.export", ["spark", "export", "run", "out", "--model", "lamp.py:Lamp"],
     {"options": SparkOptions(), "model": "lamp.py:Lamp"}),
]  # fmt: skip


class Heard:
    """Stands for a verb, and keeps what it was asked."""

    def __init__(self) -> None:
        self.positional: tuple[object, ...] = ()
        self.named: dict[str, object] = {}

    def __call__(self, *positional: object, **named: object) -> object:
        self.positional, self.named = positional, named
        message = "This was heard."
        raise UserError(message)


@pytest.fixture
def hear(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, list[str]], Heard]:
    def heard(verb: str, arguments: list[str]) -> Heard:
        one = Heard()
        monkeypatch.setattr(f"insync.{verb}", one)
        code, _, err = insync(*arguments)
        assert (code, err) == (2, "Error: This was heard.\n")
        return one

    return heard


def without_reporters(named: dict[str, object]) -> dict[str, object]:
    """What a verb was asked, but whom it tells how far it is; whoever asks may stop it."""
    if "stop" in named:
        assert isinstance(named["stop"], threading.Event)
    if "engines" in named:
        named = {**named, "engines": list(dict(named["engines"]))}  # type: ignore[call-overload]
    return {name: value for name, value in named.items() if name not in {"reporter", "stop", "began"}}


@pytest.mark.parametrize(("verb", "arguments", "expected"), VERBS, ids=lambda one: one if isinstance(one, str) else "")
def test_the_options_of_a_command_about_a_model_arrive(
    hear: Callable[[str, list[str]], Heard], verb: str, arguments: list[str], expected: dict[str, object]
) -> None:
    command = {"bounded_check": "prove", "small_graph": "export"}.get(verb.split(".")[-1], verb.split(".")[-1])
    heard = hear(verb, [command, *MODEL, *arguments])
    (model,) = heard.positional
    assert isinstance(model, Model)
    assert (type(model).name, model.b.replicas) == ("kip320", 2)
    assert without_reporters(heard.named) == expected
    assert "stop" in heard.named
    assert heard.named["reporter"] is not None


@pytest.mark.parametrize(("verb", "arguments", "expected"), OTHERS, ids=lambda one: one if isinstance(one, str) else "")
def test_the_options_of_other_commands_arrive(
    hear: Callable[[str, list[str]], Heard], verb: str, arguments: list[str], expected: dict[str, object]
) -> None:
    heard = hear(verb, arguments)
    assert without_reporters(heard.named) == expected


@pytest.mark.parametrize(
    ("verb", "command"), [(verb, verb.split(".")[-1]) for verb in dict.fromkeys(verb for verb, _, _ in VERBS[:8])]
)
def test_with_quiet_nobody_is_told(hear: Callable[[str, list[str]], Heard], verb: str, command: str) -> None:
    arguments = ["--engine", "spark"] if verb.startswith("spark") else []
    assert hear(verb, [command, *MODEL, *arguments, "--quiet"]).named["reporter"] is None


def test_the_model_is_confined_as_the_command_line_says(hear: Callable[[str, list[str]], Heard]) -> None:
    (model,) = hear("explorer.check", ["check", *MODEL, "--within", "weak_isr"]).positional
    assert isinstance(model, Model)
    assert names_within(model) == ("weak_isr",)
