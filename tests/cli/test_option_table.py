"""Which options each command has, with their defaults; those of a model's bounds and settings come on top."""

from __future__ import annotations

import click
import pytest

from insync.cli.group import insync

OUTPUT = "--json --color=auto --quiet"
LOOKED_AT = "--property* --within*"
BUILD = "--github --sarif"
SPARK = "--threads --partitions --engine=local --master --remote"

OPTIONS = {
    "list": "--json",
    "check": f"{LOOKED_AT} --keep-going --symmetry=True --statistics --max-depth --max-states --max-seconds --memory "
    f"{SPARK} --run-dir --resume --tables-on-disk --trace --html {OUTPUT} {BUILD} --watch",
    "simulate": f"--walks=10000 --depth=100 --seed=0 --strategy=mixed --abstract-states --until-saturated {LOOKED_AT} "
    f"--max-seconds {SPARK} --trace --html {OUTPUT} {BUILD}",
    "explore": f"--text --port --open --from --at --violation {LOOKED_AT} --max-seconds --color=auto --quiet",
    "replay": "--format=text --model --module --html --json --color=auto",
    "report": "--output --model*",
    "defects": f"--verify --threads --trace --html {OUTPUT}",
    "liveness": f"--property* --weak* --strong* --unfair --within* --witnesses --max-states --max-seconds --trace "
    f"--html {OUTPUT} {BUILD}",
    "prove": f"--bmc --induction --infer --mine --unbounded --k --save {LOOKED_AT} --lemma* --lemmas --max-seconds "
    f"--timeout --threads --trace --html {OUTPUT} {BUILD}",
    "agree": f"{LOOKED_AT} --engine* --tlc --z3-depth=8 --max-depth --max-seconds {OUTPUT}",
    "describe": "--json --color=auto",
    "mutate": f"{LOOKED_AT} --action* --runs --max-states --max-seconds --threads {OUTPUT}",
    "diff": f"--property* --model* --trace --html --max-depth --max-states --max-seconds --memory --threads {OUTPUT}",
    "why": f"{LOOKED_AT} --html --max-depth --max-states --max-seconds --memory --threads {OUTPUT}",
    "spark export": "--model --master --remote --json",
    "spark prepare": "",
    "export": "--to=tla --property* --within* --max-depth --max-states --output --json --quiet",
}


def shown(option: click.Option) -> str:
    default = option.default
    plain = isinstance(default, int | str) and default is not False
    return option.opts[-1] + "*" * option.multiple + (f"={default}" if plain else "")


@pytest.mark.parametrize("name", list(OPTIONS))
def test_a_command_has_these_options(name: str) -> None:
    command: click.Command | None = insync
    for part in name.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), part)
    assert command is not None
    found = [shown(param) for param in command.params if isinstance(param, click.Option)]
    found = [one for one in found if one != "--help-all"]  # as all commands about a model have it
    assert sorted(found) == sorted(OPTIONS[name].split())


ENDS: list[tuple[str, str, int, int | None]] = [
    ("check", "--max-depth", 1, None),
    ("check", "--max-states", 1, None),
    ("check", "--threads", 1, 256),
    ("check", "--partitions", 1, 4096),
    ("simulate", "--walks", 1, None),
    ("simulate", "--depth", 1, 1_000_000),
    ("simulate", "--seed", 0, 2**64 - 1),
    ("simulate", "--until-saturated", 1, None),
    ("prove", "--bmc", 1, 1000),
    ("prove", "--k", 1, 50),
    ("agree", "--z3-depth", 1, 200),
    ("export", "--max-states", 1, None),
]


@pytest.mark.parametrize(("name", "option", "least", "most"), ENDS)
def test_a_number_may_be_at_its_ends_and_not_beyond(name: str, option: str, least: int, most: int | None) -> None:
    command = insync.get_command(click.Context(insync), name)
    assert command is not None
    (param,) = (one for one in command.params if option in one.opts)
    assert param.type.convert(str(least), param, None) == least
    highest = 2**62 if most is None else most
    assert param.type.convert(str(highest), param, None) == highest
    for beyond in (least - 1, *([] if most is None else [most + 1])):
        with pytest.raises(click.BadParameter):
            param.type.convert(str(beyond), param, None)
