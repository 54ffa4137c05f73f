"""Settings: what a model can be told besides sizes, such as a release; each a member of a Python enumeration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from insync.model.domains.bounds import Bounds, BoundValues, SettingValues, refuse_name
from insync.model.errors import ModelError, UserError, closest, user_frame

__all__ = ["Setting", "Settings", "Switch", "choose"]


class Switch(Enum):
    """A setting that is on or off; in Python it is true or false."""

    OFF = "off"
    ON = "on"

    def __bool__(self) -> bool:
        return self is Switch.ON


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a model.

    Args:
        default: the member of an enumeration that holds when the user gives none. The members' values must be strings:
            they are what people write, on the command line and in files.
        doc: what it decides, for the command line's help.
        unknown: the sentence about a value that is none of the enumeration's; by default the one that is nearest.
    """

    default: Enum
    doc: str = ""
    unknown: Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.default, Enum):
            message = (
                f"{user_frame()}: Setting({self.default!r}): the default must be a member of an enumeration, such as "
                f"Switch.OFF."
            )
            raise ModelError(message)
        for member in type(self.default):
            if not isinstance(member.value, str):
                message = (
                    f"{user_frame()}: Setting({self.default}): the value of {member} is {member.value!r}; it must be a "
                    f"string, which is how people write the setting."
                )
                raise ModelError(message)

    @property
    def names(self) -> tuple[str, ...]:
        """How each member is written."""
        return tuple(member.value for member in type(self.default))

    def advice(self, given: str) -> str:
        """Return the sentence about a value that is none of them."""
        return closest(given, self.names) if self.unknown is None else self.unknown(given)

    def chosen(self, model: str, name: str, given: object) -> Enum:
        """Return a given value of this setting: a member of its enumeration, or how one is written.

        Args:
            model: the name of the model, for messages.
            name: the name of the setting.
            given: the value.

        Raises:
            UserError: it is neither.
        """
        kind = type(self.default)
        if isinstance(given, kind):
            return given
        if isinstance(given, str):
            if given in self.names:
                return kind(given)
            message = f"{model}: {name}={given!r} is unknown. {self.advice(given)}"
            raise UserError(message)
        message = (
            f"{model}: the setting {name}={given!r} is of type {type(given).__name__}; it must be a member of "
            f"{kind.__name__}, or one of {', '.join(self.names)}."
        )
        raise UserError(message)


class Settings(Mapping[str, Setting]):
    """The settings that a model declares, by name, in the order in which they are shown.

    Args:
        settings: a `Setting` for each name, or the default alone.
    """

    __slots__ = ("_settings",)

    def __init__(self, **settings: Setting | Enum) -> None:
        for name in settings:
            refuse_name(name, "setting")
        self._settings = {
            name: given if isinstance(given, Setting) else Setting(given) for name, given in settings.items()
        }

    def __getitem__(self, name: str) -> Setting:
        return self._settings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)


def choose(model: str, settings: Settings, bounds: Bounds, given: Mapping[str, object]) -> BoundValues:
    """Return a value for every setting and bound: the given one where there is one, else the default.

    Raises:
        UserError: a name that the model does not have, a value of the wrong type or out of range.
    """
    for name in given:
        if name not in bounds and name not in settings:
            what = "bound or setting" if settings else "bound"
            message = f"{model} has no {what} {name!r}. {closest(name, [*settings, *bounds])}"
            raise UserError(message)
    chosen = {
        name: setting.chosen(model, name, given[name]) if name in given else setting.default
        for name, setting in settings.items()
    }
    sizes = {
        name: bound.chosen(model, name, given[name]) if name in given else bound.default
        for name, bound in bounds.items()
    }
    return BoundValues(sizes, SettingValues(chosen))
