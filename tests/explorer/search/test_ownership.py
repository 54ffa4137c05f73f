"""A search whose states are divided anew when codes take their place: by what most steps leave as it is."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from insync.explorer import CheckResult, Limits, check
from insync.explorer.search import breadth_first as search_module
from insync.explorer.search import encoding
from insync.explorer.search.breadth_first import BreadthFirstSearch
from insync.machine import expander
from insync.machine.expander import Expander
from insync.machine.stores import compressed
from insync.model import Model
from insync.model.catalogue import find_model
from insync.properties.registry import sentences_of
from insync.runtime.watch import Watch

SMALL = {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 1}
MODELS = [find_model(name)(**SMALL) for name in ("kip320", "kip279", "kip101")]
Divided = Callable[[float], list[int]]


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> Divided:
    """Go over to codes soon, and say how uneven it may be; return what notes how often an expander divides so."""
    calls: list[int] = []
    own_by = Expander.own_by

    def noted(self: Expander, by: expander.Ownership) -> None:
        calls.append(1)
        own_by(self, by)

    def arrange(even: float) -> list[int]:
        monkeypatch.setattr(search_module, "MOST_WHOLE", 100)
        monkeypatch.setattr(encoding, "_EVEN", even)
        monkeypatch.setattr(expander, "_CHUNK", 7)
        monkeypatch.setattr(Expander, "own_by", noted)
        return calls

    return arrange


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, kept="", huge_pages=None)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.identity)
@pytest.mark.parametrize(("threads", "partitions"), [(2, 2), (2, 3), (1, 5)])
def test_the_result_does_not_depend_on_how_states_are_divided(
    model: Model, threads: int, partitions: int, divided: Divided
) -> None:
    """Traces included, for which the levels are searched again."""
    names = list(sentences_of(model))
    whole = check(model, symmetry=False, properties=names, keep_going=True, threads=1)
    calls = divided(100.0)
    found = check(model, symmetry=False, properties=names, keep_going=True, threads=threads, partitions=partitions)
    assert (found.kept, len(calls) >= threads) == ("codes", True)
    assert facts(found) == facts(whole)


def test_fewer_candidates_are_inserted_and_an_uneven_division_is_not_taken(
    divided: Divided, monkeypatch: pytest.MonkeyPatch
) -> None:
    inserted = list[int]()
    sizes = list[int]()
    insert_into, close = BreadthFirstSearch._insert_into, BreadthFirstSearch.close

    def noted(self: BreadthFirstSearch, number: int, rows: int, count: int) -> None:
        inserted.append(count)
        insert_into(self, number, rows, count)

    def sized(self: BreadthFirstSearch) -> None:
        sizes.extend(map(len, self.space.partitions))
        close(self)

    monkeypatch.setattr(BreadthFirstSearch, "_insert_into", noted)
    monkeypatch.setattr(BreadthFirstSearch, "close", sized)
    model = find_model("kip320")(replicas=3, log_size=2, max_records=2, max_leader_epoch=1)
    figures = []
    for even, calls in [(0.5, 0), (1.3, 2)]:
        inserted.clear()
        sizes.clear()
        made = divided(even)
        found = check(model, symmetry=False, threads=2)
        assert len(made) == calls
        assert sum(sizes) == found.distinct_states
        assert max(sizes) < 1.5 * min(sizes)
        figures.append((facts(found), sum(inserted)))
    (by_all, many), (by_part, fewer) = figures
    assert by_part == by_all
    assert fewer < 0.95 * many


def test_where_codes_become_too_wide_states_are_divided_as_before(
    divided: Divided, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = find_model("kip320")(**SMALL | {"max_leader_epoch": 2})
    whole = check(model, symmetry=False)
    calls = divided(100.0)
    monkeypatch.setattr(compressed, "MOST_CODE_BITS", 18)
    again = check(model, symmetry=False, threads=2)
    assert calls
    assert again.kept == "states"
    assert facts(again) == facts(whole)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[2]], ids=lambda model: model.identity)
def test_in_a_run_directory_states_stay_in_their_partitions(
    model: Model, divided: Divided, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that goes on with the run finds them there: with codes, with whole states, with sorted files."""
    names = list(sentences_of(model))
    whole = check(model, symmetry=False, properties=names, keep_going=True, threads=1)

    def found(number: int, resume: bool = False, depth: int | None = None) -> CheckResult:
        given = {"symmetry": False, "properties": names, "keep_going": True, "run_dir": tmp_path / str(number)}
        return check(model, **given, limits=Limits(depth=depth), threads=2, partitions=3, resume=resume)  # type: ignore[arg-type]

    calls = divided(100.0)
    for number in range(3):
        assert found(number, depth=whole.depth - 3).kept == "codes"
    results = [found(0, resume=True)]
    monkeypatch.setattr(search_module, "MOST_WHOLE", 1 << 22)
    results.append(found(1, resume=True))
    asked = itertools.count()
    monkeypatch.setattr(Watch, "may_use", lambda self, size: next(asked) != 3)
    results.append(found(2, resume=True))
    assert [again.kept for again in results] == ["codes", "states", "files"]
    assert [facts(again) for again in results] == [facts(whole)] * 3
    assert calls == []
