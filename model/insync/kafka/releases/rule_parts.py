"""Rules in parts, as the models of the cluster and of the quorum have them: what is in force of each, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any, TypeVar, cast, get_type_hints

__all__ = ["RuleParts"]

R = TypeVar("R", bound="RuleParts")


class RuleParts:
    """Rules in parts: a subclass is a frozen dataclass whose fields are the parts, each a dataclass of rules.

    A name of a rule is in one part only, so an entry of the catalogue names rules without their part. A rule is
    annotated with the sentence about it.
    """

    __slots__ = ()

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all rules, in the order of the parts."""
        return tuple(_parts_of(cast(type, cls)))

    @classmethod
    def documentation(cls, name: str) -> str:
        """Return the sentence about a rule."""
        _, part = _parts_of(cast(type, cls))[name]
        return str(get_type_hints(part, include_extras=True)[name].__metadata__[0])

    def value(self, name: str) -> object:
        """Return what is in force of one rule."""
        part, _ = _parts_of(cast(type, type(self)))[name]
        return getattr(getattr(self, part), name)

    def changed(self: R, values: Mapping[str, object]) -> R:
        """Return these rules with some changed, by name."""
        parts: dict[str, dict[str, object]] = {}
        for name, value in values.items():
            part, _ = _parts_of(cast(type, type(self)))[name]
            parts.setdefault(part, {})[name] = value
        changed = {part: replace(getattr(self, part), **some) for part, some in parts.items()}
        return cast(R, replace(cast(Any, self), **changed))


@cache
def _parts_of(kind: type) -> Mapping[str, tuple[str, type]]:
    """Return the part of each rule, by its name: the field that has the part, and the part's class."""
    parts = {part.name: cast(type, part.default_factory) for part in fields(cast(Any, kind))}
    return {rule.name: (name, part) for name, part in parts.items() for rule in fields(part)}
