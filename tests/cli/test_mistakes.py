"""Every mistake gets one sentence on standard error, exit code 2, and no traceback."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from insync.cli.faults import shortened
from insync.cli.group import insync as group

Insync = Callable[..., Any]

COMMANDS = ", ".join(group.list_commands(click.Context(group)))

SENTENCES = {
    "": f"insync: a command is missing. The commands are {COMMANDS}; `insync --help` explains them.",
    "chek kip320": "insync has no command 'chek'. Did you mean 'check'?",
    "frob": (f"insync has no command 'frob'. The commands are {COMMANDS}; `insync --help` explains them."),
    "--frob": "insync has no option '--frob'. `insync --help` shows what there is.",
    "check": "insync check: MODEL is missing. `insync list` shows the models; for instance `insync check kip320`.",
    "explore": (
        "insync explore: MODEL is missing. `insync list` shows the models; for instance `insync explore kip320`."
    ),
    "simulate": (
        "insync simulate: MODEL is missing. `insync list` shows the models; for instance `insync simulate kip320`."
    ),
    "check --replicas 3": (
        "insync check: MODEL is missing. `insync list` shows the models; for instance `insync check kip320`."
    ),
    "check kip32": (
        "There is no model 'kip32'. Did you mean 'kip320'? Name a model of your own as path/to/file.py:ModelName."
    ),
    "check KIP32O": (
        "There is no model 'KIP32O'. Did you mean 'kip320'? Name a model of your own as path/to/file.py:ModelName."
    ),
    "check kip320 --infer": "insync check has no option '--infer'. It belongs to `insync prove`.",
    "check kip320 --walks 3": "insync check has no option '--walks'. It belongs to `insync simulate`.",
    "list --partitions 3": (
        "insync list has no option '--partitions'. It belongs to `insync check` and `insync simulate`."
    ),
    "check kip101 --acks all": "insync check has no option '--acks'. It is a setting of `cluster`.",
    "check kip101 --min-insync-replicas 2": (
        "insync check has no option '--min-insync-replicas'. It is a bound of `cluster` and a bound of `placement`."
    ),
    "diff kip101 kip279 --acks all": "insync diff has no option '--acks'. It is a setting of `cluster`.",
    "list --acks all": "insync list has no option '--acks'. It belongs to `insync ask`.",
    "check kip101 --log-siz 3": "insync check has no option '--log-siz'. Did you mean '--log-size'?",
    "list --engine local": "insync list has no option '--engine'. `insync list --help` shows what there is.",
    "check kip320 --frob": "insync check has no option '--frob'. `insync check --help` shows what there is.",
    "check kip320 --LOG-SIZE 3": "insync check has no option '--LOG-SIZE'. Did you mean '--log-size'?",
    "check gone.py:Lamp": ("gone.py: there is no such file; give the path of the Python file that defines Lamp."),
    "check kip320 kip101": (
        "insync check: 'kip101' is one argument too many. Name a property with --property kip101; bounds are options, "
        "such as --log-size 3. `insync check --help` shows what there is."
    ),
    "simulate kip320 weak_isr strong_isr": (
        "insync simulate: 'weak_isr strong_isr' are 2 arguments too many. Name a property with --property weak_isr; "
        "bounds are options, such as --log-size 3. `insync simulate --help` shows what there is."
    ),
    "check kip320 log_size=3": (
        "insync check: 'log_size=3' is one argument too many. A bound is an option: --log-size 3. "
        "`insync check --help` shows what there is."
    ),
    "describe kip320 kip101": (
        "insync describe: 'kip101' is one argument too many. Bounds are options, such as --log-size 3. "
        "`insync describe --help` shows what there is."
    ),
    "ask compose.yml": (
        "insync ask: 'compose.yml' is one argument too many. Name a file with --config compose.yml. "
        "`insync ask --help` shows what there is."
    ),
    "kafka versions 4.3.1": (
        "insync kafka versions: '4.3.1' is one argument too many. `insync kafka versions --help` shows what there is."
    ),
    "check kip320 --log-sise 3": "insync check has no option '--log-sise'. Did you mean '--log-size'?",
    "check async_isr --log-size 3": (
        "insync check has no option '--log-size'. `insync check --help` shows what there is."
    ),
    "check kip320 --log-size": "insync check: --log-size needs a value. `insync check --help` shows what there is.",
    "ask --config": (
        "insync ask: --config needs a value FILE. Take settings from FILE: server.properties, what kafka-configs, "
        "kafka-topics and kafka-features describe, Strimzi resources, compose files, .env, Helm values, Ansible, "
        "Terraform; may be repeated."
    ),
    "kafka validate --release": (
        "insync kafka validate: --release needs a value RELEASE. Judge by the rules of this release, one with KRaft "
        "[default: the release that was recorded]."
    ),
    "check kip320 --log-size 9": "insync check: --log-size: 9 is out of range; give a whole number from 1 to 8.",
    "check kip320 --log-size -1": "insync check: --log-size: -1 is out of range; give a whole number from 1 to 8.",
    "check kip320 --log-size 2.5": "insync check: --log-size: '2.5' is not a whole number; give one from 1 to 8.",
    "check cluster --release nine": (
        "insync check: --release: 'nine' is not known. The model has the releases of Kafka from 0.10.2 to 4.4."
    ),
    "check kip320 --log-size two": "insync check: --log-size: 'two' is not a whole number; give one from 1 to 8.",
    "check kip320 --log-size 99999999999999999999": (
        "insync check: --log-size: 99999999999999999999 is out of range; give a whole number from 1 to 8."
    ),
    "check kip320 --property strong_irs": "kip320 has no property 'strong_irs'. Did you mean 'strong_isr'?",
    "check kip320 --property none --property type_ok": (
        "--property none checks nothing, and --property type_ok is there as well. Leave one of them out."
    ),
    "check kip320 --memory lots": (
        "insync check: --memory: 'lots' is not a size; give a number of bytes with a unit, such as 300M or 2G."
    ),
    "check kip320 --memory 300": (
        "insync check: --memory: '300' is 300 bytes, too little for any search; give at least 1M, such as 300M or 2G."
    ),
    "check kip320 --max-seconds soon": (
        "insync check: --max-seconds: 'soon' is not a time; give a number of seconds above 0, such as 60 or 0.5."
    ),
    "check kip320 --max-seconds nan": (
        "insync check: --max-seconds: 'nan' is not a time; give a number of seconds above 0, such as 60 or 0.5."
    ),
    "check kip320 --max-states 0": "insync check: --max-states: 0 is out of range; give a whole number of at least 1.",
    "check kip320 --max-states 999999999999999999999": (
        "insync check: --max-states: 999999999999999999999 is out of range; "
        "give a whole number of at least 1 and at most 9223372036854775807."
    ),
    "check kip320 --max-depth -999999999999999999999": (
        "insync check: --max-depth: -999999999999999999999 is out of range; give a whole number of at least 1."
    ),
    "check kip320 --threads 0": "insync check: --threads: 0 is out of range; give a whole number from 1 to 256.",
    "check kip320 --engine sparc": "insync check: --engine: 'sparc' is not known; give local or spark.",
    "check kip320 --master local": (
        "insync check: --master needs the Spark engine; add --engine spark. `insync check --help` shows what there is."
    ),
    "check kip320 --run-dir a --resume b": (
        "insync check: --run-dir begins a run and --resume goes on with one; give one of them. "
        "`insync check --help` shows what there is."
    ),
    "check kip320 --engine spark --threads 2": (
        "insync check: --threads applies to the local engine only; on Spark, use --master local[N], or --partitions N. "
        "`insync check --help` shows what there is."
    ),
    "check kip320 --json=1": "insync check: --json takes no value. `insync check --help` shows what there is.",
    "check kip320 --trace gone/out.json": (
        "gone/out.json: cannot be written (the directory 'gone' does not exist). "
        "Nothing was left there; name a file in a directory with room that you may write to."
    ),
    "check kip320 --trace /proc/out.json": (
        "/proc/out.json: cannot be written (no file can be made in the directory '/proc'). "
        "Nothing was left there; name a file in a directory with room that you may write to."
    ),
    "replay": "insync replay: FILE is missing. Name a trace file that `insync check MODEL --trace FILE` wrote.",
    "replay gone.json": (
        "gone.json: cannot be read (No such file or directory). "
        "Name a trace file that `insync check MODEL --trace FILE` wrote."
    ),
    "replay gone.json --format png": (
        "insync replay: --format: 'png' is not known; give text or itf or json or html or svg or mermaid or markdown."
    ),
    "report": "insync report: TRACE... is missing. `insync report --help` shows what there is.",
    "report gone.json": (
        "gone.json: cannot be read (No such file or directory). "
        "Name a trace file that `insync check MODEL --trace FILE` wrote."
    ),
    "report gone.json -o gone.json": (
        "insync report: --output names gone.json, which is a TRACE and would be replaced. Name another file. "
        "`insync report --help` shows what there is."
    ),
    "check kip101 --trace a.json --html a.json": (
        "insync check: --trace and --html both name a.json. Give each a file of its own. "
        "`insync check --help` shows what there is."
    ),
    "check kip101 --html nowhere/a.html": (
        "nowhere/a.html: cannot be written (the directory 'nowhere' does not exist). Nothing was left there; "
        "name a file in a directory with room that you may write to."
    ),
}


@pytest.mark.slow_for("check kip320 --trace gone/out.json", "check kip320 --trace /proc/out.json")
@pytest.mark.parametrize(("line", "sentence"), SENTENCES.items(), ids=SENTENCES.keys())
def test_a_mistake_in_the_command_line(
    insync: Insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert insync(*line.split()) == (2, "", f"Error: {sentence}\n")
    assert list(tmp_path.iterdir()) == []


MODEL = """
from insync.model import Bound, Bounds, Index, Int, Model, Option, Set, State, StateView, action

class Thing(Index):
    label = "t"

    @classmethod
    def size(cls, bounds):
        return bounds.things

class Mine(Model):
    bounds = Bounds(things=Bound(2, 1, 400, "things"))

    def declare(self, b):
        return State(x=Int(0, b.things), some=Set(Thing))

    @action
    def grow(self, s: StateView, thing: Thing) -> None:
        BODY
"""

# What follows the path: a line number, and the gist of the modelling part's own words, which its tests pin.
MODEL_MISTAKES = {
    "symbolic if": ("if s.x > 1: s.x += 1", r":19: Python decides `if`"),
    "unknown field": ("s.y = 1", r":19: the state has no field 'y'\."),
    "an error of Python": ("1 / 0", r":19: the model raised ZeroDivisionError: division by zero\."),
    "a request to end the process": ("raise SystemExit(0)", r":19: the model ends the process\."),
    "two actions of one name": (
        "s.x = 1\n\n    @action\n    def grow(self, s: StateView) -> None:\n        s.x = 1",
        r":21: two actions are named 'grow', the other at line 17; rename one\.",
    ),
    "a sort that Python goes through": (
        "for each in Thing: s.x = 1",
        r":19: the model raised TypeError: 'type' object is not iterable\. Write self\.all\(Sort\) for the members",
    ),
    "a bound without the bounds": (
        "s.x = self.things",
        r":19: the model raised AttributeError: .* Write self\.b\.things\.",
    ),
    "a bound of the class": ("s.x = self.bounds.things", r":19: .* no attribute 'things'\. Write self\.b\.things\."),
    "the bounds of declare": ("s.x = b.things", r":19: .* name 'b' is not defined\. Write self\.b for the bounds\."),
    "a field of the model": ("self.x", r":19: .* no attribute 'x'\. Write s\.x, where s is the state"),
    "a field that is not declared": (
        "self.count += 1",
        r":19: .* no attribute 'count'\. A model has no state but s: declare count in `declare`, and write s\.count\.",
    ),
    "a method of another name": ("self.al", r":19: .* no attribute 'al'\. Did you mean 'all'\?"),
    "not Python": ("s.x = = 1", r".* cannot be loaded: SyntaxError"),
}


@pytest.mark.parametrize(("body", "beginning"), MODEL_MISTAKES.values(), ids=MODEL_MISTAKES.keys())
def test_a_mistake_in_a_model(insync: Insync, tmp_path: Path, body: str, beginning: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MODEL.replace("BODY", body))
    code, out, err = insync("check", f"{path}:Mine", "--property", "none")
    assert (code, out) == (2, "")
    assert re.match(re.escape(f"Error: {path}") + beginning, err), err
    assert err.count("\n") == 1


def test_a_bound_too_large_for_a_field(insync: Insync, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MODEL.replace("BODY", "s.x = 0"))
    code, out, err = insync("check", f"{path}:Mine", "--things", 200)
    assert (code, out) == (2, "")
    assert "a set can range over at most 62" in err
    assert err.count("\n") == 1


def test_a_class_that_is_not_in_the_file(insync: Insync, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MODEL.replace("BODY", "s.x = 0"))
    assert insync("check", f"{path}:Mien") == (2, "", f"Error: {path} defines no model 'Mien'. Did you mean 'Mine'?\n")
    said = f"Error: {path} defines no model 'Thing'. Thing there is a kind of value for fields. Known: Mine.\n"
    assert insync("check", f"{path}:Thing") == (2, "", said)
    for other in ("::", "."):
        assert f"Did you mean '{path}:Mine'?" in insync("check", f"{path}{other}Mine")[2]


@pytest.mark.parametrize(
    ("headline", "said"),
    [
        ('("grow",)', "class Mine: headline names 'grow', but mine has no property 'grow'."),
        ('("deadlockfree",)', "headline names 'deadlockfree', but mine has no property 'deadlockfree'. Did you mean"),
        ("5", "class Mine: headline is 5. Write a tuple of names of properties, or leave it out."),
        ("(1,)", "class Mine: headline is (1,). Write a tuple of names of properties, or leave it out."),
        ('"type_ok"', "class Mine: headline is the string 'type_ok'. Write a tuple of names: headline = ('type_ok',)."),
    ],
)
def test_a_wrong_headline_is_said_with_its_class(insync: Insync, tmp_path: Path, headline: str, said: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        MODEL.replace("BODY", "s.x = 0").replace("    def declare", f"    headline = {headline}\n    def declare")
    )
    code, out, err = insync("check", f"{path}:Mine")
    assert (code, out) == (2, "")
    assert err.startswith(f"Error: {path}:11: ")
    assert said in err


LONG = "x" * 5000


@pytest.mark.parametrize(
    "line",
    [
        f"check {LONG}",
        f"check kip320 --property {LONG}",
        f"check kip320 --log-size {LONG}",
        f"check kip320 --log-size {'9' * 5000}",
        f"check kip320 --memory {LONG}",
        f"check kip320 --engine {LONG}",
        f"check kip320 --{LONG} 1",
        f"check {LONG}.py:Model",
        f"replay {LONG}.json",
        f"list {LONG}",
        f"ask --release {LONG}",
        LONG,
    ],
    ids=lambda line: line[:40],
)
def test_a_long_wrong_value_is_cut(insync: Insync, line: str) -> None:
    code, out, err = insync(*line.split())
    assert (code, out) == (2, "")
    assert err.startswith("Error: ")
    assert "..." in err
    assert len(err) < 900


def test_long_words_without_a_match_are_cut(insync: Insync) -> None:
    code, out, err = insync("defects", LONG)
    assert (code, err) == (0, "")
    assert out.startswith("Nothing in the catalogue fits ")
    assert "..." in out
    assert len(out) < 900


@pytest.mark.parametrize("value", ["ab " * 1700, 'it\'s "so" ' * 600, "abc\n" * 1250], ids=["wide", "quoted", "lines"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "{}"),
        ("check", "{}.py"),
        ("check", "{}.py:Model"),
        ("check", "gone.py:{}"),
        ("check", "kip320", "{}"),
        ("check", "kip320", "--{}"),
        ("check", "kip320", "--log-size={}"),
        ("check", "kip320", "--trace", "{}"),
        ("prove", "--lemmas={}"),
        ("replay", "{}"),
    ],
    ids=" ".join,
)
def test_a_long_value_with_blanks_or_quotes_is_cut(insync: Insync, arguments: tuple[str, ...], value: str) -> None:
    code, out, err = insync(*(argument.replace("{}", value) for argument in arguments))
    assert (code, out) == (2, "")
    assert "..." in err
    assert len(err) < 900


def test_only_long_values_are_cut() -> None:
    plain = "the model's own 'text', with Python's `in` and what follows it in many words " * 3
    assert shortened(plain) == plain
    assert shortened(f"got '{'y' * 130}' here") == f"got '{'y' * 80}...' here"


@pytest.mark.parametrize(
    ("message", "arguments", "cut"),
    [
        (f"got '{'y' * 120}' here", (), False),
        (f"got '{'y' * 121}' here", (), True),
        (f"got {'y' * 300} here", (), False),
        (f"got {'y' * 301} here", (), True),
        ("got " + "y " * 150 + "here", ("y " * 150,), False),
        ("got " + "y " * 151 + "here", ("y " * 151,), True),
        ("got " + "y " * 151 + "here", ("--x=" + "y " * 151,), True),
        ("got " + "y " * 151 + "here", ("f.py:" + "y " * 151,), True),
        ("got " + "y " * 151 + "here", ("z " * 151,), False),
    ],
)
def test_what_is_longer_than_anybody_reads_is_cut(message: str, arguments: tuple[str, ...], cut: bool) -> None:
    made = shortened(message, arguments)
    assert made == message if not cut else 80 < len(made) < 110
    assert made.startswith("got ")
    assert made.endswith("here")


@pytest.mark.parametrize(
    "line",
    ["report {}", "replay {}", "explore kip101 --text --from {}", "prove kip320 --lemmas {}", "kafka validate {}"],
)
def test_a_file_without_permission_is_left_to_who_reads_it(
    insync: Insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """Click would say in other words that it is not readable; as root, for whom all is, it is told so."""
    file = tmp_path / "nothing.json"
    file.write_text("{}")
    monkeypatch.setattr(os, "access", lambda *asked, **how: False)
    code, out, err = insync(*line.format(file).split())
    assert (code, out) == (2, "")
    assert err.startswith(f"Error: {file}:")


def test_one_argument_with_a_space_in_it_is_one(insync: Insync) -> None:
    code, _, err = insync("check", "kip320", "weak isr")
    assert code == 2
    assert "'weak isr' is one argument too many. Name a property with --property weak isr;" in err
