"""A first look at a command line, before it is known which options there are: the bounds of MODEL become options.

Nobody knows where an option that is not the command's own ends. The options of bounds and settings take a value each,
so an unknown option without `=` is taken to have one too. If that value is forgotten (`check --guard mine.py:Mine`,
where guard is on or off), the name of the model looks like it. So what unknown options would take is kept, and a value
that can only be a model is the model if there is no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import click

from insync.model.catalogue import BUILT_IN

__all__ = ["FirstLook", "first_look"]


@dataclass(slots=True)  # not frozen: filled while the arguments are read
class FirstLook:
    """What a command line says before its options are known.

    Attributes:
        first: the first argument that is neither an option nor, it seems, the value of one.
        taken: what seems to be the value of each unknown option, by the option.
        values: of the command's own options, by the name of the parameter; the last one counts.
        help: whether the help text is asked for.
        positional: all such arguments, the first one first.
    """

    first: str | None = None
    taken: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    help: bool = False
    positional: list[str] = field(default_factory=list)

    @property
    def model(self) -> str | None:
        """The argument that names the model, as it seems; None if there is none."""
        option = self.without_value
        return self.first if option is None else self.taken[option]

    @property
    def without_value(self) -> str | None:
        """The unknown option that stands before the model, where a value was to be; None if there is none."""
        if self.first is not None and _names_model(self.first):
            return None
        return next((option for option, value in self.taken.items() if _names_model(value)), None)


def first_look(command: click.Command, arguments: Sequence[str]) -> FirstLook:
    """Return what a command line says, read with the command's own options alone."""
    own = {name: param for param in command.params for name in param.opts}
    found = FirstLook()
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            found.positional += rest
            found.first = next(iter(found.positional), None)
            break
        if not argument.startswith("-") or argument == "-":
            found.first = found.first or argument
            found.positional.append(argument)
            continue
        name, equals, value = argument.partition("=")
        param = own.get(name)
        if argument in ("--help", "-h"):
            found.help = True
        elif isinstance(param, click.Option) and not param.is_flag and param.name is not None:
            found.values[param.name] = value if equals else next(rest, "")
        elif param is None and not equals and (value := next(rest, "")):
            found.taken.setdefault(name, value)
    return found


def _names_model(argument: str) -> bool:
    return argument in BUILT_IN or ".py:" in argument
