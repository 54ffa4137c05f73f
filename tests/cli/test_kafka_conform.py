"""`insync kafka conform`, with another model in the place of Kafka: what it says, and its exit codes."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import pytest

from insync.conformance.classes import harness
from insync.conformance.classes.subject import Subject
from insync.conformance.comparing import budget_tours, conform, walking_process
from insync.conformance.steps.pair import Pair
from insync.explorer.stepping.stepper import Stepper
from insync.kafka.cluster.model import Cluster
from insync_fake_kafka import FakeKafka, FakePair

Insync = Callable[..., Any]

SMALL = [
    "--replicas",
    2,
    "--records",
    1,
    "--min-insync-replicas",
    1,
    "--power-failures",
    0,
    "--fencings",
    0,
    "--controlled-shutdowns",
    0,
]
SMALL += ["--reassignments", 0, "--delete-records", 0, "--config-changes", 0, "--quiet"]


class FakeHarness:
    """A process that never is."""

    def __init__(self, *given: object, **options: object) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None: ...


@pytest.fixture
def kafka(monkeypatch: pytest.MonkeyPatch) -> dict[str, int | str]:
    """The bounds in which the Kafka that is none differs from the model, at first none."""
    unlike: dict[str, int | str] = {}

    def walk_beside(name: str) -> None:
        real = getattr(conform, name)

        def walk(
            model: Cluster, *subjects: object, beside: Sequence[object] = (), **given: object
        ) -> conform.Conformance:
            fakes = [FakeKafka.of(Cluster(**{**model.identity, **unlike})) for _ in (*subjects, *beside)]
            for fake in fakes:
                fake.version = "4.3.1"
            found: conform.Conformance = real(model, *fakes, new_pair=FakePair, **given)
            return found

        monkeypatch.setattr(conform, name, walk)

    for name in ("conform_tour", "conform_walks"):
        walk_beside(name)
    monkeypatch.setattr(harness, "Harness", FakeHarness)
    monkeypatch.setattr(walking_process, "WalkingProcess", FakeHarness)
    return unlike


@pytest.fixture
def libs(tmp_path: Path) -> Path:
    zipfile.ZipFile(tmp_path / "kafka_2.13-4.3.1.jar", "w").close()
    return tmp_path


def test_two_parts_that_agree(insync: Insync, libs: Path, kafka: dict[str, int | str]) -> None:
    parts = ["--part", "tour", "--part", "walks", "--walks", 3]
    code, out, err = insync("kafka", "conform", "--libs", libs, *parts, *SMALL)
    assert (code, err) == (0, "")
    assert out.startswith("tour   cluster   release 4.3, replicas 2")
    assert "agrees with Kafka 4.3.1: no difference in 3 walks, seed 0\n" in out
    assert " transitions taken, 0 cannot be brought about\n" in out
    assert "not schedulable" not in out
    assert "fields compared" in out


@pytest.mark.slow
def test_the_same_as_json(insync: Insync, libs: Path, kafka: dict[str, int | str]) -> None:
    parts = ["--part", "tour", "--part", "walks", "--walks", 3]
    said = json.loads(insync("kafka", "conform", "--libs", libs, *parts, *SMALL, "--json").out)
    assert (said["verdict"], said["kafka"], said["difference"], said["trace_file"]) == ("agrees", "4.3.1", None, None)
    tour, walks = said["parts"]["tour"], said["parts"]["walks"]
    assert tour["space"]["taken"] == tour["space"]["transitions"] == sum(tour["transitions"].values())
    assert (walks["walks"], walks["seed"], walks["not_schedulable"], walks["bounds"]["replicas"]) == (3, 0, [], 2)


def test_a_difference_ends_it_with_a_grid_and_a_trace(insync: Insync, libs: Path, kafka: dict[str, int | str]) -> None:
    kafka["min_insync_replicas"] = 2
    file = libs / "difference.json"
    given = ["--part", "walks", "--walks", 20, "--trace", file]
    code, out, _ = insync("kafka", "conform", "--libs", libs, *given, *SMALL)
    assert code == 1
    assert "diverges with Kafka 4.3.1: in walk " in out
    assert "in Kafka 4.3.1" in out
    assert out.endswith(f"Again: insync kafka replay {file} --kafka 4.3.1\n")
    assert insync("replay", file).code == 0


@pytest.mark.slow_for("3")
@pytest.mark.parametrize("processes", [1, 3])
def test_so_many_processes_take_the_walks(
    insync: Insync, libs: Path, kafka: dict[str, int | str], monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    started = []

    class Counted(FakeHarness):
        """One that is counted."""

        def __init__(self, *given: object, **options: object) -> None:
            started.append(self)

    monkeypatch.setattr(harness, "Harness", Counted)
    monkeypatch.setattr(walking_process, "WalkingProcess", Counted)
    given = ["--part", "tour", "--part", "walks", "--walks", 4, "--processes", processes]
    assert insync("kafka", "conform", "--libs", libs, *given, *SMALL).code == 0
    assert len(started) == processes


@pytest.mark.slow
def test_a_limit_on_the_time_is_incomplete(insync: Insync, libs: Path, kafka: dict[str, int | str]) -> None:
    code, out, _ = insync("kafka", "conform", "--libs", libs, "--part", "walks", "--max-seconds", 0.001, *SMALL)
    assert code == 3
    assert "incomplete with Kafka 4.3.1: no difference in 0 walks, seed 0\n  stopped by the limit on the time" in out


def test_what_this_kafka_lacks_is_incomplete_and_what_the_guide_names_is_not(
    insync: Insync, libs: Path, kafka: dict[str, int | str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, lacks = FakeKafka.of, ("",)

    def lacking(model: Cluster) -> FakeKafka:
        fake = real(model, "write", "elect")
        fake.lacks = lacks
        return fake

    monkeypatch.setattr(FakeKafka, "of", lacking)
    given = ["kafka", "conform", "--libs", libs, "--part", "walks", "--walks", 3, *SMALL]
    assert insync(*given).code == 0
    lacks = ("elect",)
    code, out, _ = insync(*given)
    assert code == 3
    assert out.index("incomplete with Kafka 4.3.1: no difference in 3 walks") < out.index("not schedulable:\n")
    assert "not schedulable, for no reason that docs/guide/known-differences.md names:\n" in out
    gaps = json.loads(insync(*given, "--json").out)["parts"]["walks"]["not_schedulable"]
    assert {(gap["action"], gap["expected"]) for gap in gaps} == {("write", True), ("elect", False)}


def test_which_kafka_must_be_said(insync: Insync) -> None:
    code, out, err = insync("kafka", "conform")
    assert (code, out) == (2, "")
    assert "Give --kafka VERSION, a release of `insync kafka versions`, or --libs DIR of a distribution." in err


@pytest.mark.slow
def test_a_tour_for_each_budget(
    insync: Insync, libs: Path, kafka: dict[str, int | str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = budget_tours.conform_budgets

    def beside(stepper: Stepper, subject: Subject) -> Pair:
        return FakePair(stepper, FakeKafka(stepper))

    def tours(model: Cluster, subject: object, **given: Any) -> conform.Conformance:
        return real(model, FakeKafka.of(model), new_pair=beside, **given)

    monkeypatch.setattr(budget_tours, "conform_budgets", tours)
    options = [
        f"--{name.replace('_', '-')}"
        for name in budget_tours.BUDGETS
        if name not in ("preferred_elections", "isr_shrinks")
    ]
    none = [part for option in options if option not in SMALL for part in (option, 0)]
    asked = ["kafka", "conform", "--libs", libs, "--part", "tour", "--at-once", 1, *SMALL, *none]
    code, out, _ = insync(*asked, "--isr-shrinks", 0)
    assert code == 0
    assert re.search(
        r"\n  (\d+) of \1 bound actions taken\n\nbudgets +states +seen +transitions +taken\npreferred_elections ", out
    )
    said = json.loads(insync(*asked, "--isr-shrinks", 0, "--json").out)["parts"]["tour"]
    assert list(said["spaces"]) == ["preferred_elections"]
    assert said["spaces"]["preferred_elections"] == said["space"]
    assert said["bound_actions"]["controller elects b2"]["taken"] > 0


def test_budgets_are_toured_by_a_tour(insync: Insync, libs: Path) -> None:
    asked = insync("kafka", "conform", "--libs", libs, "--part", "walks", "--at-once", 2)
    assert asked.code == 2
    assert "--at-once is about the tour, which --part leaves out." in asked.err


def test_a_tour_needs_a_budget(insync: Insync, libs: Path) -> None:
    asked = insync("kafka", "conform", "--libs", libs, "--at-once", 0)
    assert asked.code == 2
    assert "--at-once" in asked.err


def test_everything_is_walked(
    insync: Insync, libs: Path, kafka: dict[str, int | str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        conform, "EVERYTHING", {**conform.WALKS, "preferred_elections": 2}
    )  # the Kafka that is none has no more
    asked = ["kafka", "conform", "--libs", libs, "--everything", "--part", "walks"]
    code, out, _ = insync(*asked, "--walks", 1, "--depth", 3, *SMALL, "--json")
    parts = json.loads(out)["parts"]
    assert (code, list(parts), parts["walks"]["bounds"]["preferred_elections"]) == (0, ["walks"], 2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--part", "tour"], "--everything is about walks: its space is too large for a tour. Leave one of them out."),
        (["--at-once", 1], "--at-once is about the tour, which --everything leaves out. Leave one of them out."),
        (["--quorum"], "--everything is about the cluster, and --quorum walks the quorum. Leave one of them out."),
    ],
)
def test_what_does_not_go_with_everything(insync: Insync, libs: Path, options: list[str | int], said: str) -> None:
    asked = insync("kafka", "conform", "--libs", libs, "--everything", *options)
    assert asked.code == 2
    assert said in " ".join(asked.err.split())
