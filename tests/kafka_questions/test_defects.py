"""A search for what a defect breaks: what it is given arrives at the search, and what is found is said."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from insync.explorer.pictures.page import captioned
from insync.explorer.pictures.picture import picture
from insync.explorer.traces.grid import plain
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, QUORUM_DEFECTS
from insync.kafka_questions.defects import caption_of_defect, search_defect
from insync.kafka_questions.documents.defects import Searched, describe_defect
from insync.properties.registry import run_properties_of
from insync.runtime.watch import StopReason

_RUNS = run_properties_of(Cluster())
OF_STATES = next(one for one in DEFECTS.values() if one.breaks not in _RUNS)
OF_RUNS = next(one for one in DEFECTS.values() if one.breaks in _RUNS)


@pytest.mark.parametrize("found", ["trace", None])
@pytest.mark.parametrize("verb", ["check", "liveness"])
def test_what_is_given_arrives_and_what_is_found_is_returned(
    monkeypatch: pytest.MonkeyPatch, verb: str, found: str | None
) -> None:
    defect, stop, given = {"check": OF_STATES, "liveness": OF_RUNS}[verb], threading.Event(), dict[str, Any]()

    def reporter(_: object) -> None:
        raise AssertionError

    def search(model: Cluster, **named: Any) -> SimpleNamespace:
        given.update(named, model=model)
        return SimpleNamespace(
            verdict="incomplete",
            distinct_states=7,
            stopped_by=StopReason.TIME,
            seconds={"compile": 1.0, "search": 2.0},
            violations=[] if found is None else [SimpleNamespace(trace=found)],
            properties=[SimpleNamespace(verdict="incomplete", trace=found)],
        )

    monkeypatch.setattr(f"insync.kafka_questions.defects.{verb}", search)
    result = search_defect(defect, threads=3, reporter=reporter, stop=stop)
    assert given.pop("model").identity == Cluster(**defect.witness).identity
    threads = {"threads": 3} if verb == "check" else {}
    assert given == {"properties": [defect.breaks], "reporter": reporter, "stop": stop, **threads}
    assert (result.verdict, result.distinct_states, result.stopped_by) == ("incomplete", 7, StopReason.TIME)
    assert (result.seconds, list[Any](result.traces)) == (3.0, [] if found is None else [found])
    fixed = search_defect(defect, defect.fixed_witness)
    assert fixed.model.identity == Cluster(**defect.fixed_witness).identity


def test_the_page_of_a_defect_has_its_name_the_settings_and_the_step_of_harm() -> None:
    found = search_defect(DEFECTS["R-26"])
    caption = caption_of_defect(DEFECTS["R-26"], found)
    assert caption.title.startswith("R-26: A leader restarts before it is fenced")
    assert caption.title.endswith("(KAFKA-18106)")
    assert caption.lead.startswith(
        "Kafka 4.1, RF 2, min.insync.replicas=2, acks=all, unclean election off, ELR off. A "
    )
    assert found.trace is not None
    assert caption.harm is not None
    assert found.trace.steps[caption.harm[0]].label == "b1 crashes, its log ends at 0"
    drawn = captioned(picture(found.trace, found.model), caption)
    assert drawn.verdict == f"It takes {len(found.trace.steps) - 1} steps."
    assert (drawn.question, drawn.sentence) == (caption.title, caption.lead)


def test_a_defect_of_the_quorum_names_the_rule_that_is_left_out() -> None:
    entry = QUORUM_DEFECTS["Q-8"]
    searched = Searched(search_defect(entry), search_defect(entry, entry.fixed_witness))
    said = describe_defect(entry, searched, [], [None], plain, 100)
    assert "without the rule only_voters_count: A leader counts its own log only where it is a voter" in said
    assert "With the fix acknowledged_values_stay_with_a_voter holds in all 366 states at these bounds." in said
