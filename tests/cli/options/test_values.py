"""What options take lies between two ends: the ends are taken, and what is beside them is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import pytest

from insync.cli.group import insync
from insync.cli.options.values import GivenPath, Named, OutputPath, RunPlace, Seconds, Size, Whole

GREATEST = 2**63 - 1


def refusal(kind: click.ParamType[Any], text: str) -> str:
    with pytest.raises(click.BadParameter) as caught:
        kind.convert(text, None, None)
    return caught.value.message


@pytest.mark.parametrize(("kind", "least", "most"), [
    (Whole(2, 5), 2, 5), (Whole(0, 0), 0, 0), (Whole(-3, 7), -3, 7), (Whole(1), 1, GREATEST),
    (Whole(-GREATEST), -GREATEST, GREATEST),
])  # fmt: skip
def test_a_whole_number_lies_between_its_ends(kind: Whole, least: int, most: int) -> None:
    for number in (least, most, (least + most) // 2):
        assert kind.convert(str(number), None, None) == number
    allowed = f"of at least {least}" if kind.highest is None else f"from {least} to {most}"
    beyond = f" and at most {most}" if kind.highest is None else ""
    for number in (least - 1, least - 10**30):
        assert refusal(kind, str(number)) == f"{number} is out of range; give a whole number {allowed}."
    for number in (most + 1, most + 10**30):
        assert refusal(kind, str(number)) == f"{number} is out of range; give a whole number {allowed}{beyond}."


@pytest.mark.parametrize(("text", "number"), [("+5", 5), ("1_000", 1000), ("12_345_678", 12_345_678), ("007", 7)])
def test_how_a_whole_number_may_be_written(text: str, number: int) -> None:
    assert Whole(0).convert(text, None, None) == number


@pytest.mark.parametrize("text", ["", " ", "1.0", "1e3", "one", "1_00", "1000_000", "_1", "--1", "0x10", "1 "])
def test_what_is_no_whole_number(text: str) -> None:
    assert refusal(Whole(1, 9), text) == f"{text!r} is not a whole number; give one from 1 to 9."


@pytest.mark.parametrize(("text", "size"), [
    ("1M", 1 << 20), ("1048576", 1 << 20), ("1024K", 1 << 20), ("1.5g", 3 << 29), ("2GiB", 2 << 30), ("3 TB", 3 << 40),
    (" 300MB ", 300 << 20),
])  # fmt: skip
def test_a_size_has_a_unit_of_1024(text: str, size: int) -> None:
    assert Size().convert(text, None, None) == size


@pytest.mark.parametrize(("text", "size"), [("1048575", 2**20 - 1), ("0", 0), ("1023K", 1023 << 10), ("0.5M", 1 << 19)])
def test_a_size_of_less_than_a_mebibyte_is_too_little(text: str, size: int) -> None:
    said = f"{text!r} is {size} bytes, too little for any search; give at least 1M, such as 300M or 2G."
    assert refusal(Size(), text) == said


@pytest.mark.parametrize("text", ["", "M", "-1M", "1X", "1.M", ".5M", "1e9", "1" * 19, "1MM", "1 M B"])
def test_what_is_no_size(text: str) -> None:
    said = f"{text!r} is not a size; give a number of bytes with a unit, such as 300M or 2G."
    assert refusal(Size(), text) == said


@pytest.mark.parametrize("text", ["0.5", "60", "1e-9", "1e9"])
def test_a_time_is_above_zero(text: str) -> None:
    assert Seconds().convert(text, None, None) == float(text)


@pytest.mark.parametrize("text", ["0", "-1", "-0.0", "nan", "inf", "-inf", "1e999", "a minute", ""])
def test_what_is_no_time(text: str) -> None:
    said = f"{text!r} is not a time; give a number of seconds above 0, such as 60 or 0.5."
    assert refusal(Seconds(), text) == said


def test_a_name_is_one_of_those_that_are_known() -> None:
    assert [Named(["on", "off"]).convert(name, None, None) for name in ("on", "off")] == ["on", "off"]
    assert refusal(Named(["fast", "slow"]), "fasst").startswith("'fasst' is not known. Did you mean 'fast'?")


def parameters(command: click.Command = insync, name: str = "insync") -> Iterator[tuple[str, click.Parameter]]:
    """Yield the parameters of all commands, each with the command and its name there."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            assert found is not None
            yield from parameters(found, f"{name} {each}")
    for param in command.params:
        yield f"{name} {param.opts[0]}", param


PATHS = {"DIR", "FILE", "LOG", "MODULE", "OUT", "PATH", "RUN", "RUN_DIR"}
"""What the help texts call a path."""


def test_no_path_is_empty() -> None:
    """Else it would be the current folder: what a script gives whose variable is not set."""
    paths = {name: param for name, param in parameters() if str(param.metavar).rstrip(".") in PATHS}
    assert len(paths) > 40
    assert {"insync check --run-dir", "insync check --trace", "insync spark export out"} <= set(paths)
    for name, param in paths.items():
        assert isinstance(param.type, (GivenPath, OutputPath, RunPlace)), name
        with pytest.raises(click.BadParameter) as caught:
            param.type.convert("", param, None)
        what = "folder" if "DIR" in str(param.metavar) or param.metavar == "OUT" else "file"
        assert caught.value.message == f"the path is empty; name a {what}.", name
