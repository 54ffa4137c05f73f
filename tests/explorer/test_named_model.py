"""A file that names a model runs nothing: what is imported is what the caller names."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import check, explore, read_trace, replay, write_trace
from insync.explorer.documents.html import drawing_of
from insync.explorer.export.tla.foreign_traces import foreign_trace, named_in_module
from insync.explorer.hypothesis import replay_against
from insync.explorer.named_model import Naming, UnnamedModel, kinds_of, loaded_kind, opened_kind
from insync.kafka.published import Kip101
from insync.model.catalogue import as_argument
from insync.runtime.errors import UserError
from insync_hostile import HOSTILE, STEPS
from insync_lamp import Lamp


class Hostile:
    """A trace in a folder of its own, and the Python file that it names."""

    def __init__(self, folder: Path, way: str) -> None:
        self.trace, below = folder / "mail" / "t.json", folder / "mail" / "below"
        below.mkdir(parents=True)
        own = f"{folder.name}.py"  # a class of a file of the same name may be there from another test
        self.file, self.model = {
            "beside": (self.trace.parent / own, f"{own}:Evil"),
            "below": (below / own, f"below/{own}:Evil"),
            "above": (folder / own, f"../{own}:Evil"),
            "absolute": (folder / own, f"{folder}/{own}:Evil"),
        }[way]
        self.file.write_text(HOSTILE)
        head = {"format": "insync-trace/1", "model": self.model, "bounds": {}, "property": "explored", "reason": ""}
        self.trace.write_text(json.dumps({**head, "steps": STEPS}))

    @property
    def ran(self) -> bool:
        return self.file.with_suffix(".ran").exists()


@pytest.fixture(params=["beside", "below", "above", "absolute"])
def hostile(request: pytest.FixtureRequest, tmp_path: Path) -> Hostile:
    return Hostile(tmp_path, request.param)


DOORS: dict[str, Callable[[Path], object]] = {
    "replay": replay,
    "replay of a trace": lambda file: replay(read_trace(file)),
    "replay_against": lambda file: replay_against(file, object),
}


@pytest.mark.parametrize("door", DOORS)
def test_no_door_of_python_runs_what_a_file_names(hostile: Hostile, door: str) -> None:
    with pytest.raises(UnnamedModel) as caught:
        DOORS[door](hostile.trace)
    assert not hostile.ran
    place = "trace" if door == "replay of a trace" else str(hostile.trace)
    assert caught.value.said.startswith(f"{place}: this is a trace of Evil, a model in ")
    assert ".py:Evil', or give the class." in str(caught.value)


def test_it_runs_where_the_caller_names_it(hostile: Hostile) -> None:
    assert replay(hostile.trace, model=f"{hostile.file}:Evil").length == 1
    assert hostile.ran


def test_a_page_and_a_notebook_show_such_a_trace_and_run_nothing(hostile: Hostile) -> None:
    assert "replay(trace, model=...)" in drawing_of(read_trace(hostile.trace))
    with pytest.raises(UserError, match="it is a trace of"):
        explore(Lamp, trace=hostile.trace)
    assert not hostile.ran


def test_a_module_of_another_checker_runs_nothing(hostile: Hostile) -> None:
    from insync.explorer.export.tla.module import HEADER

    module, trace = hostile.trace.with_name("M.tla"), hostile.trace.with_name("t.itf.json")
    module.write_text(f"\\* {HEADER} {hostile.file}:Evil with none. Read it. \n")
    trace.write_text(json.dumps({"vars": ["on"], "states": [{"on": False}]}))
    assert named_in_module(trace).found == f"{hostile.file}:Evil"
    with pytest.raises(UnnamedModel, match="this is a module of Evil, a model in"):
        foreign_trace(trace)
    assert not hostile.ran
    assert foreign_trace(trace, model=f"{hostile.file}:Evil").length == 1


class Imported(Lamp):
    """Nobody else imports it."""


def test_a_class_that_is_imported_already_is_taken(tmp_path: Path) -> None:
    trace = check(Imported, bounds={"presses": 3}).violations[0].trace
    write_trace(tmp_path / "t.json", trace)
    assert replay(tmp_path / "t.json") == replay(trace) == trace
    assert loaded_kind(f"elsewhere/{Path(__file__).name}:Imported") is Imported, "its file may have been moved"
    assert loaded_kind(f"{Path(__file__).name}:Lamp") is None
    assert opened_kind(Naming("kip101", "trace", "t.json")) is Kip101


def names(*models: str) -> list[Naming]:
    return [Naming(model, "trace", f"{number}.json") for number, model in enumerate(models)]


def taken(models: list[Naming], *given: str) -> list[str]:
    return [kind.__name__ for kind in kinds_of(models, given)]


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files, each with a model A and a model B."""
    monkeypatch.chdir(tmp_path)
    for name in ("one.py", "two.py"):
        text = "".join(f"class {each}(Model):\n    file = '{name}'\n" for each in "AB")
        Path(name).write_text(f"from insync.model import Model\n{text}")
    return tmp_path


def test_each_file_gets_the_model_of_its_own_name(two: Path) -> None:
    assert taken(names("one.py:A", "kip101", "one.py:B"), "one.py:B", "one.py:A") == ["A", "Kip101", "B"]
    found: list[Any] = kinds_of(names("two.py:A", "moved.py:A"), ["one.py:A", "two.py:A"])
    assert [kind.file for kind in found] == ["two.py", "one.py"]


def test_one_model_is_taken_for_files_of_another_name(two: Path) -> None:
    assert taken(names("old.py:Old", "kip101"), "one.py:A") == ["A", "A"]
    assert taken(names("kip101"), "kip279") == ["Kip279"]


def test_all_that_is_not_named_is_said_at_once_and_nothing_is_imported(two: Path) -> None:
    (two / "one.py").write_text("raise ValueError")
    with pytest.raises(UnnamedModel) as caught:
        kinds_of(names("one.py:A", "two.py:B", "one.py:A", "kip101"))
    assert caught.value.models == ("one.py:A", "two.py:B")
    assert caught.value.said == (
        "0.json: this is a trace of A, a model in one.py. Only the trace names that file, so it was not run. "
        "1.json: this is a trace of B, a model in two.py. Only the trace names that file, so it was not run. "
        "2.json: this is a trace of A, a model in one.py. Only the trace names that file, so it was not run."
    )
    assert caught.value.advice == "If you trust these files, name them"
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 -- our own
    assert (str(again), again.models) == (str(caught.value), caught.value.models)


def test_the_file_beside_is_named_only_where_there_is_none_of_that_name_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traces").mkdir()
    file = tmp_path / "traces" / "t.json"
    naming = Naming("lock.py:Lock", "trace", str(file), file)
    assert (naming.found, naming.argument) == ("lock.py:Lock", "path/to/lock.py:Lock")
    (tmp_path / "traces" / "lock.py").touch()
    assert naming.found == naming.argument == f"{tmp_path}/traces/lock.py:Lock"
    (tmp_path / "lock.py").touch()
    assert naming.found == naming.argument == "lock.py:Lock"


def test_an_argument_is_no_option() -> None:
    assert [as_argument(path) for path in ("-rf.py:A", "a.py:A", "-")] == ["./-rf.py:A", "a.py:A", "./-"]


@pytest.mark.parametrize("model", ["kip32", "Lock", "evil.py", "a\0.py:A", "", ":", ".py:", "kip101:Kip101"])
def test_what_names_no_file_is_a_mistake(model: str) -> None:
    with pytest.raises(UserError):
        kinds_of(names(model))
