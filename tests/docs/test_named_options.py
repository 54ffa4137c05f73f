"""Every option of insync that a page names in a sentence is there. Blocks of commands are run by other tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from insync.cli.group import insync
from insync.cli.options.model import option_names
from insync.model.catalogue import BUILT_IN, find_model

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")])

_BLOCK = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`((?:--|insync )[^`\n]+)`")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")

OF_OTHERS = {
    "kafka-reassign-partitions.sh": "--additional --cancel --execute --list",
    "kafka-topics.sh": "--describe --unavailable-partitions",
    "pytest": "--insync-engine --insync-max-seconds --insync-memory --insync-seed",
    "a benchmark or a script of the repository": "--names",
    "Quint": "--invariant",
    "spark-submit": "--archives",
    "a model of a page's own, and its bounds": "--nodes --sundays --till",
    "any option": "--option-name",
}
"""Options that pages name and that are not those of a command of insync, by what has them."""


@cache
def _options() -> frozenset[str]:
    """The options of all commands, and those for the bounds and settings of all models that come with insync."""
    of_all = {"--help", "--preset", "--bound-depth"}  # the latter two where a model has the need
    for name in BUILT_IN:
        model = find_model(name)
        of_all |= set(option_names(model).values())
        of_all |= {f"--{former.replace('_', '-')}" for former in model.former_names}  # they are answered with a warning
    return frozenset(of_all | set(_of_command(insync, click.Context(insync))))


def _of_command(command: click.Command, ctx: click.Context) -> Iterator[str]:
    for param in command.params:  # `get_params` would keep an option --help of this context in the command
        if isinstance(param, click.Option):
            yield from (*param.opts, *param.secondary_opts)
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            found = command.get_command(ctx, name)
            assert found is not None
            yield from _of_command(found, click.Context(found, parent=ctx, info_name=name))


def _named(page: Path) -> set[str]:
    """The options that a page names in its sentences."""
    text = _BLOCK.sub("", page.read_text())
    return {option for span in _SPAN.findall(text) for option in _OPTION.findall(span)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_an_option_that_a_page_names_is_there(page: Path) -> None:
    others = {option for options in OF_OTHERS.values() for option in options.split()}
    assert _named(page) - _options() - others == set()


def test_no_option_of_others_is_listed_that_no_page_names_or_that_insync_has() -> None:
    named = set().union(*map(_named, PAGES))
    for options in OF_OTHERS.values():
        assert set(options.split()) <= named - _options()
