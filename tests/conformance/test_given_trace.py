"""Which trace of a defect is taken where a race inside one method of Kafka can be brought about, and where not."""

from __future__ import annotations

from insync.conformance.given_trace import given_trace


def test_where_no_race_can_be_brought_about_the_shortest_trace_without_one_is_taken() -> None:
    (_, racing), (model, calm) = given_trace("N-07"), given_trace("N-07", races=False)
    assert (racing.takes_race, calm.takes_race, calm.property) == (True, False, racing.property)
    assert (racing.length, calm.length, model.identity["races"]) == (5, 8, "off")


def test_a_trace_that_takes_no_race_is_the_same_without_races() -> None:
    assert given_trace("N-02", races=False)[1] == given_trace("N-02")[1]
