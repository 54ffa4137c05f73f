"""Every promise that is broken has a cause with a name: in all releases and settings, also by two disturbances."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from insync.kafka.releases import Release
from insync.kafka_questions import ask
from insync.kafka_questions.ask import Answer
from insync.kafka_questions.causes.cause import CauseKind
from insync.kafka_questions.disturbances import DISTURBANCES
from insync.kafka_questions.question import ELECTABLE, LOSS, Given

ALONE = list(DISTURBANCES)
PAIRS = ["+".join(pair) for pair in itertools.combinations(DISTURBANCES, 2)]
RELEASES = [release.value for release in Release if release.same_since is release]


def unnamed(answer: Answer) -> Iterator[str]:
    """Yield each promise that is broken in a row without a cause that has a name."""
    causes = [cause for cause in (*answer.causes, *answer.open) if cause.name]
    lost_in = {row.name for cause in causes if cause.loses for row in cause.rows}
    broken_in = {row.name for cause in causes for row in cause.rows}
    told = {violation.property for cause in causes for violation in cause.violations}
    for row in answer.rows:
        broken = {} if row.searched is None else row.searched.broken
        for promise in broken:
            follows = promise == ELECTABLE and LOSS in broken
            has_one = row.name in lost_in if promise == LOSS else row.name in broken_in or promise in told
            if not (follows or has_one):
                yield f"{promise} when {row.words}"
    yield from (f"{cause.story}: {cause.rows[0].words}" for cause in answer.causes if not cause.name)


def settings_of(release: str, replicas: int) -> list[dict[str, int | str]]:
    elr = ("on", "off") if not Release(release).is_before(Release.V4_0) else ("release",)
    return [
        {
            "release": release,
            "replicas": replicas,
            "min_insync_replicas": fewest,
            "acks": acks,
            "unclean_leader_election": unclean,
            "elr": kept,
        }
        for fewest, acks, unclean, kept in itertools.product((1, 2), ("all", "1"), ("off", "on"), elr)
    ]


def drawn(release: str, replicas: int, count: int, pairs: int) -> list[tuple[dict[str, int | str], list[str]]]:
    """Draw settings of a release, and pairs of disturbances for each; the same ones each time."""
    dice = random.Random(f"{release} {replicas}")
    settings = settings_of(release, replicas)
    return [(one, dice.sample(PAIRS, pairs)) for one in dice.sample(settings, min(count, len(settings)))]


def check(settings: Given, against: list[str]) -> None:
    answer = ask(settings, against=against)
    assert list(unnamed(answer)) == [], settings
    assert CauseKind.UNKNOWN not in {cause.kind for cause in answer.causes}
    assert all(cause.model.features.elr for cause in answer.causes if cause.name == "R-32"), "no ELR, no last leader"


@pytest.mark.slow_for("{'release': '2.2'...", "{'release': '4.0.1'...")
@pytest.mark.parametrize(
    ("settings", "against"),
    [
        ({"release": "2.2", "min_insync_replicas": 1, "unclean_leader_election": "on"}, ["broker+rack", "everyday"]),
        ({"release": "2.6.1", "min_insync_replicas": 1}, ["rack", "broker+slow"]),
        ({"release": "0.10.2"}, ["controller+election", "broker"]),
        ({"release": "2.0"}, ["cluster"]),
        ({"release": "4.0.1", "unclean_leader_election": "on"}, ["broker+everyday"]),
        ({"release": "4.1", "acks": "1", "elr": "off"}, ["cluster", "rack+slow"]),
    ],
    ids=lambda value: str(value),
)
def test_a_promise_that_is_broken_has_a_cause_with_a_name(settings: Given, against: list[str]) -> None:
    check({"replicas": 2, **settings}, against)


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"release": "3.9"}, ["R-25", "C-7"]),
        pytest.param({"release": "4.1", "elr": "off"}, ["R-25", "C-7"], marks=pytest.mark.slow),
        pytest.param({"release": "4.1"}, ["C-7"], marks=pytest.mark.slow),
    ],
    ids=lambda value: str(value),
)
def test_two_disturbances_at_once_have_the_simplest_way_and_what_stays_without_it(
    settings: Given, names: list[str]
) -> None:
    """A rack without power and a slow follower: the last replica standing, and all copies."""
    answer = ask(settings, against=["rack+slow"])
    assert [cause.name for cause in answer.causes] == names
    assert list(unnamed(answer)) == []
    first, *_ = answer.causes
    changed = first.kind is not CauseKind.DESIGN
    assert changed == ("R-25" in names)
    if changed:
        assert first.change["elr"] == "on"


def test_brokers_that_are_all_refused_leave_the_last_leader_whatever_its_log_has() -> None:
    answer = ask({"release": "4.1", "replicas": 2}, against=["broker+everyday"])
    assert [cause.name for cause in answer.causes] == ["R-32"]
    assert answer.causes[0].kind is CauseKind.DESIGN


@pytest.mark.slow
@pytest.mark.timeout(900)  # a minute of processor time, which a busy machine gives late
@pytest.mark.parametrize("release", RELEASES)
def test_every_release_with_two_replicas(release: str) -> None:
    for settings, pairs in drawn(release, 2, count=3, pairs=3):
        check(settings, [*ALONE, *pairs])


@pytest.mark.slow
@pytest.mark.timeout(900)  # a minute of processor time, which a busy machine gives late
@pytest.mark.parametrize("release", RELEASES[::3])
def test_every_third_release_with_three_replicas(release: str) -> None:
    for settings, pairs in drawn(release, 3, count=1, pairs=2):
        check(settings, [*ALONE, *pairs])
