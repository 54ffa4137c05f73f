from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from insync.cli.commands.check import command
from insync.cli.options.choices import option_name
from insync.cli.options.model_command import find_argument
from insync.cli.show.figures import count, memory, plural, rate, seconds

Insync = Callable[..., Any]


def test_help_of_the_command_names_the_commands_and_the_exit_codes(insync: Insync) -> None:
    code, out, err = insync("--help")
    assert (code, err) == (0, "")
    assert "\n    insync list\n    insync check kip320 --replicas 3" in out
    for name in ("list", "check", "simulate", "replay", "ask", "defects", "prove", "spark"):
        assert f"\n  {name} " in out
    assert "3   incomplete: a limit or Ctrl-C ended the search, and nothing is proved" in out


def test_help_of_check_says_it_all(insync: Insync) -> None:
    code, out, _ = insync("check", "--help")
    assert code == 0
    for option in ("property", "trace", "keep-going", "threads", "partitions", "engine", "json", "color", "quiet"):
        assert f"  --{option}" in out
    for limit in ("max-depth", "max-states", "max-seconds", "memory"):
        assert f"  --{limit}" in out
    for model in ("truncate_to_high_watermark", "kip101", "kip279", "kip320_first_try", "kip320", "async_isr"):
        assert f"\n  {model} " in out
    assert "--max-version (2, 0 to 15)" in " ".join(out.split())
    assert "Exit codes:" in out


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
    assert names == [*published, "cluster", "placement"]
    assert "    replicas          3 (1 to 7)   replicas of the partition" in out
    assert "weak_isr*, strong_isr*" in out


def test_the_list_for_scripts(insync: Insync) -> None:
    code, out, _ = insync("list", "--json")
    listed = json.loads(out)
    assert code == 0
    assert list(listed) == ["models", "engines"]
    kip320 = next(model for model in listed["models"] if model["name"] == "kip320")
    assert list(kip320) == ["name", "sentence", "bounds", "properties"]
    assert kip320["bounds"][0] == {
        "name": "replicas",
        "default": 3,
        "lowest": 1,
        "highest": 7,
        "sentence": "replicas of the partition",
    }
    assert [entry["name"] for entry in kip320["properties"] if entry["headline"]] == ["weak_isr", "strong_isr"]
    assert all(entry["sentence"] for entry in kip320["properties"])


@pytest.mark.parametrize(
    ("line", "model"),
    [
        ("kip320", "kip320"),
        ("--replicas 3 kip320", "kip320"),
        ("--replicas=3 kip320", "kip320"),
        ("--json kip320 --replicas 3", "kip320"),
        ("--keep-going --quiet --trace out.json kip320", "kip320"),
        ("-- kip320", "kip320"),
        ("--replicas 3", None),
        ("--replicas", None),
        ("--", None),
        ("", None),
    ],
)
def test_the_model_is_found_before_its_options_are_known(line: str, model: str | None) -> None:
    assert find_argument(command, line.split()) == model


def test_a_bound_takes_no_name_from_the_command() -> None:
    assert option_name("log_size", {"--depth"}) == "--log-size"
    assert option_name("depth", {"--depth"}) == "--bound-depth"


def test_figures_for_people() -> None:
    assert count(1234567) == "1,234,567"
    assert [plural(n, "state") for n in (0, 1, 1000)] == ["0 states", "1 state", "1,000 states"]
    assert [memory(n << 20) for n in (1, 1023, 1536)] == ["1 MiB", "1023 MiB", "1.50 GiB"]
    assert [seconds(t) for t in (0.2149, 12.34, 320.0, 7500.0)] == ["0.21 s", "12.3 s", "5 min 20 s", "2 h 05 min"]
    assert [rate(r, "states") for r in (950_000.4, 18.25e6)] == ["950,000 states/s", "18.2 million states/s"]
