from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.cli.commands.searches import check_command as command
from insync.cli.options.model import first_look, option_names
from insync.explorer.documents.text import count, memory, plural, rate, seconds
from insync.model import Bound, Bounds, Model
from insync.model.catalogue import BUILT_IN

Insync = Callable[..., Any]


def test_help_of_the_command_names_the_commands_and_the_exit_codes(insync: Insync) -> None:
    code, out, err = insync("--help")
    assert (code, err) == (0, "")
    assert "\n    insync list\n    insync check kip320 --replicas 3" in out
    listed = re.findall(r"^  ([a-z]+) +[A-Z]", out, re.M)
    assert {"list", "check", "simulate", "replay", "ask", "defects", "prove"} < {*listed}
    assert len(listed) == 15, "what is new takes the place of another, or stands in the last line"
    assert "\nAlso: agree, describe, spark. " in out
    assert "3   incomplete: a limit or Ctrl-C ended the search, and nothing is proved" in out


def test_help_of_check_says_it_all(insync: Insync) -> None:
    code, out, _ = insync("check", "--help")
    assert code == 0
    for option in ("property", "trace", "keep-going", "threads", "partitions", "engine", "json", "color", "quiet"):
        assert f"  --{option}" in out
    for limit in ("max-depth", "max-states", "max-seconds", "memory"):
        assert f"  --{limit}" in out
    assert "Exit codes:" in out


@pytest.mark.parametrize("name", ["check", "simulate", "prove", "liveness", "mutate", "agree", "export", "why"])
def test_help_without_a_model_names_the_models_and_where_their_bounds_are(insync: Insync, name: str) -> None:
    code, out, _ = insync(name, "--help")
    assert code == 0
    text = " ".join(out.split())
    assert f"Models: {', '.join(BUILT_IN)} `insync list` says what they are; `insync {name} kip320 --help`" in text
    assert "--log-size" not in text.split("Models:")[1]
    assert "--log-size 1..8" in " ".join(insync(name, "kip320", "--help").out.split())


@pytest.mark.parametrize("line", ["check kip320 --help", "check --help kip320", "check --log-size 3 kip320 -h"])
def test_help_with_a_model_shows_its_bounds_and_properties(insync: Insync, line: str) -> None:
    code, out, _ = insync(*line.split())
    assert code == 0
    text = " ".join(out.split())
    assert "Bounds of kip320: --replicas 1..7 replicas of the partition [default: 3]" in text
    assert "Properties of kip320 (* checked by default): weak_isr * Every record" in text
    assert "type_ok Every step assigns" in text
    assert "async_isr" not in out


def test_the_list_shows_every_model(insync: Insync) -> None:
    code, out, err = insync("list")
    assert (code, err) == (0, "")
    names = [line for line in out.splitlines() if line and not line.startswith(" ")][:-2]
    published = ["truncate_to_high_watermark", "kip101", "kip279", "kip320_first_try", "kip320", "async_isr"]
    assert names == [*published, "kraft_published", "kraft", "cluster", "placement", "consumer_group"]
    assert "    replicas          3 (1 to 7)   replicas of the partition" in out
    assert "weak_isr*, strong_isr*" in out


def test_the_list_for_scripts(insync: Insync) -> None:
    code, out, _ = insync("list", "--json")
    listed = json.loads(out)
    assert code == 0
    assert list(listed) == ["models", "engines"]
    kip320 = next(model for model in listed["models"] if model["name"] == "kip320")
    assert list(kip320) == ["name", "sentence", "bounds", "properties", "actions", "run_properties"]
    assert kip320["bounds"][0] == {
        "name": "replicas",
        "default": 3,
        "lowest": 1,
        "highest": 7,
        "sentence": "replicas of the partition",
    }
    assert [entry["name"] for entry in kip320["properties"] if entry["headline"]] == ["weak_isr", "strong_isr"]
    assert all(entry["sentence"] for entry in kip320["properties"])


def test_a_model_that_says_nothing_of_itself_gets_no_sentence_of_every_model(insync: Insync, tmp_path: Path) -> None:
    path = tmp_path / "mute.py"
    path.write_text(
        "from insync.model import Bool, Model, State\n"
        "class Mute(Model):\n"
        "    def declare(self, b): return State(on=Bool)\n"
    )
    assert insync("list", f"{path}:Mute").out.splitlines()[:3] == [
        f"{path}:Mute",
        "",
        "properties (* checked by default):",
    ]
    assert json.loads(insync("list", f"{path}:Mute", "--json").out)["sentence"] == ""


def test_the_list_of_one_model_says_all_about_it(
    insync: Insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("mine.py")
    path.write_text(MINE)
    code, out, _ = insync("list", f"{path}:Mine")
    assert code == 0
    assert out.splitlines()[:-2] == [
        "mine.py:Mine",
        "  A counter.",
        "",
        "settings (default, names):",
        "  guard  off (off, on)  whether it stops",
        "",
        "bounds (default, range):",
        "  top         3 (1 to 9)   where it ends",
        "  partitions  4 (1 to 8)",
        "",
        "actions:",
        "  count  Go up.",
        "",
        "properties (* checked by default):",
        "  low*           The counter is low.",
    ]
    assert "deadlock_free" in out
    listed = json.loads(insync("list", f"{path}:Mine", "--json").out)
    assert (listed["name"], listed["actions"]) == ("mine.py:Mine", [{"name": "count", "sentence": "Go up."}])
    assert insync("list", f"{path}:Mein").code == 2


MINE = """
from insync.model import *

class Mine(Model):
    \"""A counter.\"""

    bounds = Bounds(top=Bound(3, 1, 9, "where it ends"), partitions=Bound(4, 1, 8))
    settings = Settings(guard=Setting(Switch.OFF, "whether it stops"))
    headline = ("low",)

    def declare(self, b):
        return State(n=Int(0, 9))

    @action
    def count(self, s):
        \"""Go up.\"""
        require(s.n < self.b.top)
        s.n += 1

    @invariant
    def low(self, s):
        \"""The counter is low.\"""
        return s.n <= 9
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("MINE --partitions 8", "mine has a bound of that name as well, whose option is --bound-partitions. Give"),
        ("--guard MINE", "--guard stands before mine without a value. Give it one of: off, on."),
        ("--guard MINE --top 4", "--guard stands before mine without a value. Give it one of: off, on."),
        ("--top MINE", "--top stands before mine without a value. Give it one of: 1 to 9."),
        ("--frob MINE", "insync check has no option '--frob'."),
        ("--guard on --top 4 MINE --partitions 2 --bound-partitions 8 --quiet", ""),
        ("--guard=on MINE --bound-partitions 8", ""),
        ("--property none MINE", ""),
    ],
)
def test_settings_and_bounds_of_a_model_are_told_from_options_and_from_the_model(
    insync: Insync, tmp_path: Path, line: str, said: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    code, _, err = insync("check", *line.replace("MINE", f"{path}:Mine").split())
    assert said.replace("MINE", f"{path}:Mine") in err
    assert code == (2 if said else 0), err


@pytest.mark.parametrize(
    ("line", "model"),
    [
        ("kip320", "kip320"),
        ("--replicas 3 kip320", "kip320"),
        ("--replicas=3 kip320", "kip320"),
        ("--json kip320 --replicas 3", "kip320"),
        ("--keep-going --quiet --trace out.json kip320", "kip320"),
        ("-- kip320", "kip320"),
        ("--guard kip320", "kip320"),
        ("--guard kip320 --replicas 3", "kip320"),
        ("--guard kip320 kip101", "kip101"),
        ("--trace kip320", None),
        ("--replicas 3", None),
        ("--replicas", None),
        ("--", None),
        ("", None),
    ],
)
def test_the_model_is_found_before_its_options_are_known(line: str, model: str | None) -> None:
    assert first_look(command, line.split()).model == model


def test_of_an_unknown_option_that_is_given_twice_the_first_counts() -> None:
    assert first_look(command, ["--what", "kip320", "--what", "kip101"]).model == "kip320"


def test_a_bound_takes_no_name_from_the_command() -> None:
    class Deep(Model):
        bounds = Bounds(log_size=Bound(1, 1, 2), depth=Bound(1, 1, 2), bound_depth=Bound(1, 1, 2), help=Bound(1, 1, 2))

    assert option_names(Deep, {"--depth", "--help"}) == {
        "log_size": "--log-size",
        "depth": "--bound-bound-depth",
        "bound_depth": "--bound-depth",
        "help": "--bound-help",
    }


OPTIONS = ["depth", "bound_depth", "bound_bound_depth", "log_size", "bound_log_size", "help"]


@given(st.lists(st.sampled_from(OPTIONS), unique=True), st.sets(st.sampled_from(OPTIONS)))
def test_each_bound_has_an_option_of_its_own_and_its_plain_name_where_that_is_free(
    bounds: list[str], taken: set[str]
) -> None:
    kind = type("Named", (Model,), {"bounds": Bounds(**dict.fromkeys(bounds, Bound(1, 1, 2)))})
    of_command = {"--" + name.replace("_", "-") for name in taken}
    names = option_names(kind, of_command)
    assert list(names) == bounds
    assert len({*names.values()} | of_command) == len(bounds) + len(of_command)
    for name, option in names.items():
        plain = name.replace("_", "-")
        assert option.endswith(plain)
        assert (option == f"--{plain}") == (name not in taken)


def test_figures_for_people() -> None:
    assert count(1234567) == "1,234,567"
    assert [plural(n, "state") for n in (0, 1, 1000)] == ["0 states", "1 state", "1,000 states"]
    assert [memory(n << 20) for n in (1, 1023, 1536)] == ["1 MiB", "1023 MiB", "1.50 GiB"]
    assert [seconds(t) for t in (0.2149, 12.34, 320.0, 7500.0)] == ["0.21 s", "12.3 s", "5 min 20 s", "2 h 05 min"]
    assert [seconds(t) for t in (10, 120, 3600)] == ["10.0 s", "2 min 00 s", "1 h 00 min"], "where the next form begins"
    assert [rate(r, "states") for r in (950_000.4, 18.25e6)] == ["950,000 states/s", "18.2 million states/s"]
    assert rate(1_000_000, "states") == "1.0 million states/s"


def test_an_action_that_says_nothing_is_listed_all_the_same(insync: Insync) -> None:
    file = Path(__file__).parents[1] / "support" / "insync_runs.py"
    told = json.loads(insync("list", f"{file}:Round", "--json").out)
    assert told["actions"] == [{"name": "go", "sentence": ""}, {"name": "leave", "sentence": ""}]
