"""Which searches a question makes, in which order, and with which limits; the searches themselves are played here."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from insync.explorer import Limits
from insync.explorer.results import Verdict
from insync.explorer.traces.trace import Trace, TraceStep
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.kafka_questions.ask import (
    ELECTABLE,
    LOSS,
    PROMISES,
    Cell,
    Given,
    Question,
    ask,
    shown_bounds,
    with_shown_bounds,
)
from insync.kafka_questions.disturbances import disturbed, remedies
from insync.kafka_questions.exposure import Exposure, exposures
from insync.runtime.watch import StopReason

STEPS = tuple(
    TraceStep(action, {}, {}, f"{action} happens")
    for action in (None, "write", "crash", "fence", "stop", "shrink_isr", "elect", "reassign", "fetch")
)
LOST = Trace("cluster", {}, LOSS, STEPS, "It is lost.")
NEWEST = list(Release)[-1].value
KEPT: dict[str, int | str] = {
    "acks": "all",
    "min_insync": 2,
    "unclean": "off",
    "elr": "on",
    "release": NEWEST,
    "flushing": "always",
}


class Played:
    """Plays `check`: a record is lost unless one of some settings is chosen.

    Attributes:
        asked: what was searched: the bounds that are not the default, and the rest of what `check` was given.
        helps: the settings that keep the record, each by itself; `...` for a cluster in which nothing is ever lost.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[dict[str, int | str], dict[str, Any]]] = []
        self.helps: list[Given] | None = []

    def __call__(self, model: Cluster, **rest: Any) -> Any:
        self.asked.append((shown_bounds(model), rest))
        chosen = {**model.identity}
        safe = self.helps is None or any(change.items() <= chosen.items() for change in self.helps)
        broken = () if safe else (SimpleNamespace(property=LOSS, trace=LOST, trace_length=LOST.length),)
        verdicts = {LOSS: Verdict.HOLDS if safe else Verdict.VIOLATED}
        return SimpleNamespace(
            verdict=Verdict.HOLDS if safe else Verdict.VIOLATED,
            violations=broken,
            stopped_by=None if safe else StopReason.DEPTH,
            properties=[
                SimpleNamespace(name=name, verdict=verdicts.get(name, Verdict.HOLDS)) for name in rest["properties"]
            ],
        )


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    one = Played()
    monkeypatch.setattr(sys.modules["insync.kafka_questions.ask"], "check", one)
    monkeypatch.setattr(sys.modules["insync.kafka_questions.exposure"], "availability", lambda _: ())
    return one


def test_an_answer_is_one_search_for_every_promise(played: Played) -> None:
    stop, told = threading.Event(), [].append  # type: ignore[var-annotated]
    limits = Limits(depth=3, states=5)
    ask({"release": "3.9"}, limits=limits, threads=3, reporter=told, stop=stop)
    assert played.asked == [
        ({"release": "3.9"},
         {"properties": tuple(PROMISES), "limits": limits, "threads": 3, "keep_going": True, "reporter": told,
          "stop": stop}),
    ]  # fmt: skip
    assert ask().model.identity == Cluster().identity


def test_the_seconds_are_those_that_are_left(played: Played) -> None:
    asked = Question(bounds={}, limits=Limits(seconds=900.0, depth=4), asked_at=time.monotonic() - 100)
    asked.answer()
    left = played.asked[0][1]["limits"]
    assert (left.depth, 700 < left.seconds <= 800) == (4, True)
    replace(asked, asked_at=time.monotonic() - 1000).answer()
    assert played.asked[1][1]["limits"].seconds == 0


def tried(cells: Any) -> list[Given]:
    return [cell.settings for cell in cells]


@pytest.mark.parametrize(
    ("bounds", "changes"),
    [
        ({"release": "4.3"}, ["flushing"]),
        ({"release": "4.3", "flushing": "always"}, []),
        ({"release": "4.3", "flushing": "sometimes"}, ["flushing"]),
        ({"release": "4.2"}, ["flushing"]),
        ({"release": "4.2", "reassignments": 1}, ["release", "flushing"]),
        ({"release": "4.0"}, ["release", "flushing"]),
        ({"release": "4.3", "elr": "off"}, ["elr", "flushing"]),
        ({"release": "4.3", "acks": "1"}, ["acks", "flushing"]),
        ({"release": "4.3", "acks": "0"}, ["acks", "flushing"]),
        ({"release": "4.3", "min_insync": 1}, ["min_insync", "flushing"]),
        ({"release": "4.3", "min_insync": 1, "replicas": 2}, ["min_insync", "flushing"]),
        ({"release": "4.3", "min_insync": 1, "replicas": 1}, ["flushing"]),
        ({"release": "4.3", "min_insync": 3}, ["flushing"]),
        ({"release": "4.3", "unclean": "on"}, ["unclean", "flushing"]),
        ({"release": "2.1", "acks": "1", "min_insync": 1, "unclean": "on"},
         ["acks", "min_insync", "unclean", "release", "flushing"]),
    ],
)  # fmt: skip
def test_every_single_change_that_could_keep_a_record_is_tried(
    played: Played, bounds: dict[str, int | str], changes: list[str]
) -> None:
    single = [{name: KEPT[name]} for name in changes]
    together = [{name: KEPT[name] for name in changes}] if len(changes) > 1 else []
    assert tried(Question(bounds=bounds).remedies()) == [*single, *together]
    assert [given for given, _ in played.asked] == [
        shown_bounds(Cluster(**{**bounds, **change})) for change in (*single, *together)
    ]
    assert all(rest["properties"] == [LOSS] and not rest["keep_going"] for _, rest in played.asked)


def test_changes_are_put_together_only_where_none_is_enough(played: Played) -> None:
    played.helps = [{"acks": "all"}]
    cells = list(Question(bounds={"release": "4.3", "acks": "1"}).remedies())
    assert [replace(cell, model=None) for cell in cells] == [
        Cell({"acks": "all"}, "holds", None),
        Cell({"flushing": "always"}, "violated", len(STEPS), StopReason.DEPTH, LOST),
    ]
    assert [cell.model and cell.model.identity["flushing"] for cell in cells] == [None, "always"]
    played.asked.clear()
    list(Question(bounds={"release": "4.3", "acks": "1"}).remedies(ELECTABLE))
    assert [rest["properties"] for _, rest in played.asked] == [[ELECTABLE]] * 2


def test_a_matrix_is_every_acks_with_every_minimum(played: Played) -> None:
    cells = list(Question(bounds={"replicas": 2}).matrix())
    assert tried(cells) == [
        {"acks": acks, "min_insync": minimum, "unclean": unclean}
        for acks in ("0", "1", "all")
        for minimum in (1, 2)
        for unclean in ("off", "on")
    ]
    assert [cell.verdict for cell in cells] == [""] * 4 + ["violated"] * 8
    assert len(played.asked) == 8, "acks=0 promises nothing"
    assert len(list(Question(bounds={"replicas": 3}).matrix())) == 18


def test_with_acks_0_a_matrix_asks_what_is_promised_all_the_same(played: Played) -> None:
    cells = list(Question(bounds={"replicas": 1}).matrix([ELECTABLE, "acks_mean_enough_copies"]))
    assert [cell.verdict for cell in cells] == ["violated"] * 6
    assert {tuple(rest["properties"]) for _, rest in played.asked} == {(ELECTABLE, "acks_mean_enough_copies")}
    copies = list(Question(bounds={"replicas": 1}).matrix(["acks_mean_enough_copies"]))
    assert [cell.verdict for cell in copies] == ["", "", *["violated"] * 4]


def test_a_matrix_warns_of_each_thing_once() -> None:
    ignored = Question(bounds={"release": "3.8"}).matrix_warnings()
    assert len(ignored) == 1
    assert ignored[0].startswith("Kafka 3.8 ignores unclean")
    assert Question(bounds={"release": "4.1"}).matrix_warnings() == ()
    assert len(Question(bounds={"release": "4.1", "spares": 1}).matrix_warnings()) == 1, "3 of 2 replicas"


def test_each_search_is_announced_and_what_comes_after_the_end_is_unknown(played: Played) -> None:
    stop = threading.Event()
    said: list[tuple[int, int, Given]] = []

    def began(number: int, total: int, settings: Given) -> None:
        said.append((number, total, settings))
        if number == 2:
            stop.set()

    question = Question(bounds={"release": "4.3", "acks": "1", "elr": "off"}, began=began, stop=stop)
    cells = list(question.remedies())
    assert said == [(1, 3, {"acks": "all"}), (2, 3, {"elr": "on"})]
    assert cells[2] == Cell({"flushing": "always"}, "incomplete", None, StopReason.INTERRUPT)
    assert [cell.verdict for cell in cells] == ["violated", "violated", "incomplete", "incomplete"]
    assert len(played.asked) == 2


def test_a_header_says_what_is_not_the_default() -> None:
    model = Cluster(release="4.1", replicas=2, records=2)
    assert shown_bounds(model) == {"release": "4.1", "replicas": 2}
    assert with_shown_bounds(LOST, model).bounds == {"release": "4.1", "replicas": 2}


# -------------------------------------------------------------------------------------------------------- combinations


def exposed(question: Question, *combinations: Given) -> list[Exposure]:
    return list(exposures(question, combinations))


def test_a_combination_names_what_goes_wrong_and_the_first_change_that_helps(played: Played) -> None:
    played.helps = [{"min_insync": 2}]
    (found,) = exposed(Question(bounds={"release": "4.3"}), {"min_insync": 1, "acks": "1"})
    assert found.verdict == "violated"
    assert found.causes == [f"{name} happens" for name in ("crash", "fence", "stop", "shrink_isr", "elect", "reassign")]
    assert tried(remedy.cell for remedy in found.remedies) == [{"acks": "all"}, {"min_insync": 2}]
    assert found.remedy is found.remedies[1]
    assert not any(one.attempts for one in found.disturbed), "a record is lost without a disturbance"
    assert played.asked[0] == ({"release": "4.3", "min_insync": 1, "acks": "1"}, played.asked[0][1])
    assert played.asked[0][1]["properties"] == (LOSS,)


def test_where_no_change_helps_all_are_tried_and_none_is_named(played: Played) -> None:
    (found,) = exposed(Question(bounds={"release": "4.3"}), {"acks": "1"})
    single = tried(remedy.cell for remedy in found.remedies)
    assert single == [{"acks": "all"}, {"flushing": "always"}], "all together is no single change"
    assert found.remedy is None


def test_a_partition_0_of_more_replicas_than_the_model_has_is_as_one_of_its_most(played: Played) -> None:
    played.helps = None
    settings: Given = {"replicas": 2, "partition_zero": 7}
    (found,) = exposed(Question(bounds={"release": "4.3"}), settings)
    assert found.settings == settings
    assert played.asked[0][0]["partition_zero"] == 5


def test_a_combination_may_be_asked_about_other_promises(played: Played) -> None:
    played.helps = None
    (found,) = exposures(Question(bounds={"release": "4.3"}), [{"acks": "0"}], [ELECTABLE, LOSS])
    assert played.asked[0][1]["properties"] == [ELECTABLE, LOSS]
    assert not found.promises_nothing
    (nothing,) = exposures(Question(bounds={"release": "4.3"}), [{"acks": "0"}])
    assert nothing.promises_nothing


def test_safe_combinations_and_those_beyond_the_model(played: Played) -> None:
    played.helps = None
    said: list[tuple[int, int, Given]] = []
    question = Question(bounds={}, began=lambda *each: said.append(each))
    combinations: list[Given] = [{"replicas": 5, "min_insync": 5}, {"replicas": 6}, {"min_insync": 6}, {}]
    first, wide, strict, last = exposed(question, *combinations)
    assert (first.verdict, first.causes, first.remedies, first.remedy) == ("holds", [], (), None)
    assert (wide.verdict, wide.causes, wide.beyond) == (
        "incomplete", [], "the model has at most 5 replicas, not 6",
    )  # fmt: skip
    assert strict.beyond == "the model has at most 5 min.insync.replicas, not 6"
    assert last.beyond == ""
    assert said == [(1, 4, combinations[0]), (4, 4, {})]


# -------------------------------------------------------------------------------------------------------- disturbances


@pytest.mark.parametrize("helps", [None, [{"fixed": "alone"}], [{"defect": "N-02", "fixed": "alone"}], []])
def test_what_breaks_is_put_down_to_an_entry_whose_fix_keeps_it(played: Played, helps: list[Given] | None) -> None:
    played.helps = helps
    said: list[tuple[int, int, Given]] = []
    question = Question(bounds={"release": "4.3"}, began=lambda *each: said.append(each))
    names = [found.defect and found.defect.name for found in disturbed(question)]
    expected = {None: [None, None], "fixed": ["N-01", "N-02"], "defect": [None, "N-02"]}
    assert names == expected[next(iter(helps[0]), None) if helps else None]
    assert said == [(1, 2, {"elections": 1}), (2, 2, {"reassignments": 2})]
    assert all(rest["keep_going"] for _, rest in played.asked)
    assert [rest["properties"] for _, rest in played.asked][:: 1 if helps is None else 2] == [[LOSS, ELECTABLE], [LOSS]]


def test_a_change_that_helps_is_tried_with_disturbances_as_well(played: Played) -> None:
    played.helps = [{"elections": 0, "reassignments": 0, "flushing": "always"}, {"fixed": "alone"}]
    first, second = remedies(Question(bounds={"release": "4.3", "acks": "1"}))
    assert (first.cell.verdict, first.disturbed) == ("violated", ())
    assert second.cell.verdict == "holds"
    assert [found.defect and found.defect.name for found in second.disturbed] == ["N-01", "N-02"]
    assert {given["flushing"] for given, _ in played.asked[2:]} == {"always"}


def test_changes_are_tried_against_what_a_disturbance_alone_breaks(played: Played) -> None:
    played.helps = [{"elections": 0, "elr": "on"}, {"min_insync": 1, "reassignments": 0}, {"fixed": "alone"}]
    (found,) = exposed(Question(bounds={"release": "4.3", "reassignments": 0}), {"elr": "on"})
    (election,) = found.disturbed
    assert [(dict(each.cell.settings), each.verdict) for each in election.attempts] == [
        ({"flushing": "always"}, "violated"), ({"elr": "off"}, "violated"),
    ]  # fmt: skip
    played.helps.append({"elr": "off"})
    (found,) = exposed(Question(bounds={"release": "4.3", "reassignments": 0}), {"elr": "on"})
    assert [each.verdict for each in found.disturbed[0].attempts] == ["violated", "holds"]
    given, rest = played.asked[-1]
    assert (given.get("elections"), rest["properties"]) == (None, (LOSS,)), "without the election too"


@pytest.mark.parametrize(
    ("settings", "beyond"),
    [
        ({"replicas": 5, "min_insync": 5}, ""),
        ({"replicas": 6}, "the model has at most 5 replicas, not 6"),
        ({"replicas": 3, "min_insync": 6}, "the model has at most 5 min.insync.replicas, not 6"),
    ],
)
def test_numbers_that_the_model_has_not_are_not_searched(
    played: Played, settings: dict[str, int | str], beyond: str
) -> None:
    played.helps = None
    (found,) = exposures(Question(bounds={}), [settings])
    assert found.beyond == beyond
    assert (found.verdict, len(played.asked)) == (("incomplete", 0) if beyond else ("holds", 3))
