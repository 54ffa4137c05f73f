"""Kafka's releases, in their order; each is the rules of the one before it with some changed.

Every minor release is here, and the patch releases in which a rule changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from enum import Enum
from functools import cache

from insync.kafka.releases.history import CHANGES, OLDEST, UNREAD
from insync.kafka.releases.release_rules import ReleaseRules
from insync.runtime.errors import UserError

__all__ = ["Release", "release_advice", "release_of", "release_of_series"]


class Release(Enum):
    """A release of Kafka, from the oldest to the newest."""

    V0_10_2 = "0.10.2"
    V0_11 = "0.11"
    V1_0 = "1.0"
    V1_1 = "1.1"
    V2_0 = "2.0"
    V2_0_1 = "2.0.1"
    V2_1 = "2.1"
    V2_2 = "2.2"
    V2_3 = "2.3"
    V2_4 = "2.4"
    V2_5 = "2.5"
    V2_5_1 = "2.5.1"
    V2_6 = "2.6"
    V2_6_1 = "2.6.1"
    V2_7 = "2.7"
    V2_8 = "2.8"
    V2_8_1 = "2.8.1"
    V3_0 = "3.0"
    V3_0_1 = "3.0.1"
    V3_1 = "3.1"
    V3_1_1 = "3.1.1"
    V3_2 = "3.2"
    V3_3 = "3.3"
    V3_4 = "3.4"
    V3_4_1 = "3.4.1"
    V3_5 = "3.5"
    V3_6 = "3.6"
    V3_7 = "3.7"
    V3_7_1 = "3.7.1"
    V3_8 = "3.8"
    V3_9 = "3.9"
    V3_9_1 = "3.9.1"
    V4_0 = "4.0"
    V4_0_1 = "4.0.1"
    V4_1 = "4.1"
    V4_1_1 = "4.1.1"
    V4_2 = "4.2"
    V4_3 = "4.3"
    V4_4 = "4.4"

    @property
    def age(self) -> int:
        """Its number in the order of releases, the oldest first."""
        return list(Release).index(self)

    def is_before(self, other: Release) -> bool:
        """Return whether this release is older than another one."""
        return self.age < other.age

    @property
    def rules(self) -> ReleaseRules:
        """The rules of the release."""
        return _rules()[self]

    @property
    def changed(self) -> Mapping[str, object]:
        """The rules in which it differs from the release before it."""
        return CHANGES.get(self.value, {})

    @property
    def unread(self) -> str:
        """What the rules of a release rest on whose source was not read, as a sentence; empty for the others."""
        return UNREAD.get(self.value, "")

    @property
    def same_since(self) -> Release:
        """The oldest release since which all have the same rules up to this one; itself where its rules are new."""
        older = list(Release)[: self.age + 1]
        while len(older) > 1 and older[-2].rules == self.rules:
            older.pop()
        return older[-1]


def release_of(version: str) -> Release:
    """Return the release whose rules a version of Kafka has: the newest of its series that is not newer.

    Args:
        version: such as `4.1.2`, which has the rules of 4.1, or `4.5.0-SNAPSHOT`; of a series that the model does not
            know, the newest release before it counts.

    Raises:
        UserError: it is no version, or older than all releases of the model.
    """
    numbers = version.split("-")[0]
    older = _up_to(numbers)
    if not older:
        message = f"{version!r} is no version of Kafka whose rules the model has. {release_advice(version)}"
        raise UserError(message)
    return release_of_series(numbers) or older[-1]


def release_of_series(version: str) -> Release | None:
    """Return the release whose rules a version has; None if the model has no release of its series.

    A patch release without rules of its own has those of the nearest earlier one: `3.9.2` those of 3.9.1.
    """
    return next(reversed(_same_series(_up_to(version), version)), None)


def release_advice(given: str) -> str:
    """Return the range of the releases, and those that are nearest to a text that is none."""
    known = [release.value for release in Release]
    number = given.strip().removeprefix("v").split("-")[0]
    near = get_close_matches(number, known, n=2, cutoff=0.6)
    if re.fullmatch(_VERSION, number):
        older = [release.value for release in _up_to(number)]
        near = [*older[-1:], *known[len(older) : len(older) + 1]]
    named = f"; the nearest {'is' if len(near) == 1 else 'are'} {' and '.join(near)}" if near else ""
    return f"The model has the releases of Kafka from {known[0]} to {known[-1]}{named}."


def _up_to(version: str) -> list[Release]:
    """The releases that are not newer, the oldest first; none where the text is no version."""
    if not re.fullmatch(_VERSION, version):
        return []
    return [release for release in Release if _numbers(release.value) <= _numbers(version)]


def _same_series(releases: list[Release], version: str) -> list[Release]:
    return [release for release in releases if _series(release.value) == _series(version)]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _series(version: str) -> tuple[int, ...]:
    """What a release has in common with its patch releases: two numbers, and three in 0.10."""
    numbers = _numbers(version)
    return numbers[:3] if numbers[:2] == (0, 10) else numbers[:2]


@cache
def _rules() -> dict[Release, ReleaseRules]:
    """The rules of every release: those of the oldest, changed release by release."""
    rules, found = OLDEST, {}
    for release in Release:
        rules = replace(rules, **release.changed)  # type: ignore[arg-type]
        found[release] = rules
    return found


_VERSION = r"[0-9]{1,4}(\.[0-9]{1,4}){1,3}"
