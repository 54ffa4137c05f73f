"""What the harness writes becomes an observation."""

from __future__ import annotations

import pytest

from insync.conformance.classes.observation import KnownEnd, LogSeen, Observation

LOG = {
    "records": [{"record": "r0", "offset": 0, "epoch": 0}],
    "start": 0,
    "end": 1,
    "high_watermark": 1,
    "epochs": [0, 2],
}
LEADING = {
    "isr": [1, 2],
    "maximal_isr": [1, 2],
    "proposed": [],
    "epoch_start": 1,
    "known": {"2": {"end": 1, "current": True, "may_join": True}},
}
LEADER = {
    "running": True,
    "applied": 7,
    "acknowledgements": {"r0": "NONE", "r1": "waiting"},
    "requests": [{"isr": [1, 2], "leaderEpoch": 2, "partitionEpoch": 3, "replied": False}],
    "reply_waits": False,
    "has_replica": True,
    "leader": 1,
    "leader_epoch": 2,
    "partition_epoch": 3,
    "leads": True,
    "leading": LEADING,
    "log": LOG,
}
CONTROLLER = {
    "leader": 1,
    "leader_epoch": 2,
    "partition_epoch": 3,
    "isr": [1, 2],
    "replicas": [1, 2],
    "adding": [],
    "removing": [],
    "elr": [],
    "last_known_elr": [],
    "fenced": [3],
    "stopping": [],
    "end": 9,
}


def test_an_observation_is_read() -> None:
    seen = Observation.read(
        {"controller": CONTROLLER, "brokers": {"1": LEADER, "2": {"running": False, "requests": []}}}
    )
    assert (seen.controller.isr, seen.controller.fenced, seen.controller.end) == ((1, 2), (3,), 9)
    leader = seen.brokers[1]
    assert leader.log == LogSeen((("r0", 0),), 0, 1, 1, (0, 2))
    assert leader.leading is not None
    assert leader.leading.known == {2: KnownEnd(1, current=True, may_join=True)}
    assert [request.isr for request in leader.requests] == [(1, 2)]
    assert not seen.brokers[2].running
    assert seen.acknowledged == {"r0"}


def test_what_is_not_among_the_news_is_as_it_was() -> None:
    down = {"running": False, "requests": []}
    after = Observation.read({"controller": CONTROLLER, "brokers": {"1": LEADER, "2": down}}).after(
        {"brokers": {"1": down}}
    )
    assert after == Observation.read({"controller": CONTROLLER, "brokers": {"1": down, "2": down}})
    fenced = {**CONTROLLER, "fenced": [1, 3]}
    assert after.after({"controller": fenced, "brokers": {}}).controller.fenced == (1, 3)
    assert after.after({"brokers": {}}) == after


def test_a_field_that_is_not_known_is_noticed() -> None:
    with pytest.raises(TypeError, match="extra"):
        Observation.read({"controller": {**CONTROLLER, "extra": 1}, "brokers": {}})
