"""What leaders of `kraft` do that resign, who hears of it, and what breaks where one forgets that it led."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from insync.explorer import check, liveness
from insync.kafka.quorum.kraft import Kraft
from insync_walk import Walk

quorum = cache(Kraft)
"""The quorum under these bounds and settings, which is traced once."""

ELECTED = (
    "n1 stands for election",
    "n2 answers the vote request of n1@2",
    "n1 gets the vote of n2",
    "n1 leads",
)
RESIGNED = (*ELECTED, "client sends v1 to n1", "n1 resigns")
HEARD = "n2 learns that n1 has resigned, which led epoch 2"


def walk(*labels: str, **chosen: int | str) -> Walk:
    return Walk(
        quorum(**{"servers": 2, "elections": 2, "restarts": 1, "resignations": 1, "release": "3.9", **chosen}), *labels
    )


def server(walk: Walk, name: str) -> dict[str, Any]:
    return cast(dict[str, dict[str, Any]], walk.state["server"])[name]


def ends(walk: Walk) -> dict[str, Any]:
    return cast(dict[str, Any], cast(dict[str, dict[str, Any]], walk.state["ends"])["n1"]["n2"])


def test_who_resigns_keeps_its_epoch_and_its_log_and_knows_that_it_led() -> None:
    resigned = walk(*RESIGNED)
    its = server(resigned, "n1")
    assert (its["state"], its["epoch"], its["leader"], its["end"]) == ("RESIGNED", 2, "n1", 2)
    assert ends(resigned) == {"2": True, "3": False}
    assert not {label for label in resigned.enabled if label.startswith(("client sends", "n1 resigns"))}


def test_who_resigns_forgets_its_votes_what_others_have_fetched_and_what_is_committed() -> None:
    heard = ("n2 learns that n1 leads epoch 2", "n2 fetches from n1", "n1 answers n2's fetch of epoch 2 from 0@0")
    has_it = ("n2 takes what it has fetched", "n2 fetches from n1", "n1 answers n2's fetch of epoch 2 from 1@2")
    forgotten = ("votes", "fetched", "high_watermark")
    leads = walk(*ELECTED, "client sends v1 to n1", *heard, *has_it)
    assert [server(leads, "n1")[name] for name in forgotten] == [[], {"n1": 0, "n2": 1}, 1]
    resigned = server(leads.take("n1 resigns"), "n1")
    assert [resigned[name] for name in forgotten] == [[], {"n1": 0, "n2": 0}, 0]


def test_who_knows_no_leader_follows_the_one_that_has_resigned_and_is_told_that_it_does_not_lead() -> None:
    heard = walk(*RESIGNED, HEARD)
    assert (server(heard, "n2")["state"], server(heard, "n2")["leader"]) == ("FOLLOWER", "n1")
    assert ends(heard) == {"2": False, "3": False}
    assert (
        "n2 gets an error in response to its fetch"
        in heard.take("n2 fetches from n1", "n1 answers n2's fetch of epoch 2 from 0@0").enabled
    )


def test_an_end_that_is_over_for_who_would_hear_it_is_not_there() -> None:
    over = walk(*RESIGNED, "n2 stands for election")
    assert ends(over) == {"2": False, "3": False}


def test_who_restarts_as_one_that_has_resigned_says_so_where_leaders_resign() -> None:
    assert ends(walk(*ELECTED, "n1 restarts")) == {"2": True, "3": False}
    assert HEARD in walk(*RESIGNED, HEARD, "n1 restarts").enabled


def test_where_nobody_resigns_nothing_of_it_is_in_the_state() -> None:
    state = walk(resignations=0).state
    assert not {"ends", "resignations"} & set(state)


def test_resigning_breaks_nothing_and_a_leader_is_elected_again() -> None:
    model = quorum(servers=2, elections=2, resignations=1, release="3.9")
    found = check(model)
    assert found.verdict == "holds"
    assert found.actions["resign"] > 0
    assert found.actions["handle_end_quorum"] > 0
    assert liveness(model).verdict == "holds"
