"""The cache is its user's alone, and what is kept in it is whole, unchanged and in its own place."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from insync.machine import compiler
from insync.machine.compiler import compile_module
from insync.machine.kernels import conditions_key, program_key
from insync.model import Int, Model, State
from insync.model.catalogue import find_model
from insync.model.tracing.program import Check
from insync.runtime.cache import (
    CacheNotUsed,
    cache_folder,
    cache_place,
    find_kept,
    keep_folder,
    kept_folder,
    load_object,
    save_object,
)
from insync.runtime.errors import InternalError, UserError

CONTENT = {"one.class": b"first", "deep/two.class": b"second", "empty": b""}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path | None]:
    def place(**given: str) -> Path | None:
        for name in ("INSYNC_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
            monkeypatch.delenv(name, raising=False)
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        return cache_place()

    return place


def fill(new: Path) -> None:
    for name, content in CONTENT.items():
        (new / name).parent.mkdir(exist_ok=True)
        (new / name).write_bytes(content)


def never(new: Path) -> None:
    raise AssertionError("it was made again")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"INSYNC_CACHE_DIR": "/own", "XDG_CACHE_HOME": "/xdg", "HOME": "/house/me"}, "/own"),
        ({"INSYNC_CACHE_DIR": "near"}, "near"),
        ({"XDG_CACHE_HOME": "/xdg", "HOME": "/house/me"}, "/xdg/insync"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/house/me"}, "/house/me/.cache/insync"),
        ({"XDG_CACHE_HOME": "", "HOME": "/house/me"}, "/house/me/.cache/insync"),
        ({"HOME": "/house/me"}, "/house/me/.cache/insync"),
        ({"HOME": ""}, None),
        ({"HOME": "~"}, None),
        ({"HOME": "relative"}, None),
    ],
)
def test_the_place_is_that_of_the_environment(
    environment: Callable[..., Path | None], given: dict[str, str], place: str | None
) -> None:
    assert environment(**given) == (None if place is None else Path(place))


def test_a_user_without_a_home_has_no_cache(
    environment: Callable[..., Path | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as where the system has no such user
    assert environment() is None
    with pytest.warns(CacheNotUsed, match="There is no home directory, so there is no cache"):
        assert cache_folder() is None
    with pytest.raises(UserError, match="Without a cache the harness cannot be kept"):
        kept_folder("a", "b", fill, "the harness")


def test_it_is_made_private(folder: Path) -> None:
    before = os.umask(0)
    try:
        assert cache_folder() == folder
    finally:
        os.umask(before)
    assert mode(folder) == 0o700


@pytest.mark.parametrize("open_to_others", [0o777, 0o755, 0o770, 0o1777])
def test_a_folder_of_the_user_that_is_open_to_others_is_made_private(folder: Path, open_to_others: int) -> None:
    folder.mkdir()
    folder.chmod(open_to_others)
    assert cache_folder() == folder
    assert mode(folder) == 0o700


def test_a_link_is_not_used(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to("elsewhere")
    with pytest.warns(CacheNotUsed, match="cache: the cache folder is a link, so nothing is taken from it and nothing"):
        save_object("key", b"code")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    with pytest.warns(CacheNotUsed):
        assert load_object("key") is None


def test_a_link_above_it_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere")
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "link" / "cache"))
    save_object("key", b"code")
    assert load_object("key") == b"code"


def test_the_folder_of_another_user_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_object("key", b"code")
    fill_kept = kept_folder("kafka/classes", "a", fill, "the harness")
    assert fill_kept.is_dir()
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(folder).st_uid + 1)
    with pytest.warns(
        CacheNotUsed, match=rf"cache: the cache folder belongs to another user \({folder.stat().st_uid}\)"
    ):
        assert load_object("key") is None
    with pytest.warns(CacheNotUsed):
        assert find_kept("kafka/classes", "a") is None
    with pytest.raises(UserError, match=r"Without a cache the harness cannot be kept.* belongs to another user"):
        kept_folder("kafka/classes", "a", never, "the harness")


def test_an_object_of_another_user_in_it_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_object("key", b"code")
    real = os.fstat

    def of_another(descriptor: int) -> os.stat_result:
        found = list(real(descriptor))
        found[stat.ST_UID] += 1
        return os.stat_result(found)

    monkeypatch.setattr(os, "fstat", of_another)
    assert load_object("key") is None


def test_an_object_that_is_a_link_is_not_used(folder: Path) -> None:
    save_object("key", b"code")
    (folder / "key.o").rename(folder / "other")
    (folder / "key.o").symlink_to("other")
    assert load_object("key") is None


@pytest.mark.timeout(20)
def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    save_object("a", b"code")
    (folder / "a.o").unlink()
    os.mkfifo(folder / "a.o")
    assert load_object("a") is None
    save_object("a", b"code")
    assert load_object("a") == b"code"
    kept = kept_folder("place", "key", lambda made: (made / "file").write_text("text"), "a file")
    (kept / "file").unlink()
    os.mkfifo(kept / "file")
    assert find_kept("place", "key") is None


def test_an_object_in_the_place_of_another_is_not_used(folder: Path) -> None:
    save_object("check-good", b"good")
    save_object("check-bad", b"bad")
    shutil.copy(folder / "check-good.o", folder / "check-bad.o")
    assert load_object("check-bad") is None
    assert load_object("check-good") == b"good"


def test_a_warning_is_said_once(folder: Path, tmp_path: Path) -> None:
    folder.symlink_to(tmp_path)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        for key in ("a", "b"):
            load_object(key)
            save_object(key, b"code")
    assert [each.category for each in said] == [CacheNotUsed]


# ------------------------------------------------------------------------------------------------------- kept folders


def test_a_folder_is_made_once() -> None:
    kept = kept_folder("kafka/classes", "key", fill, "the harness")
    assert {path.relative_to(kept).as_posix(): path.read_bytes() for path in files(kept)} == CONTENT
    assert kept_folder("kafka/classes", "key", never, "the harness") == kept == find_kept("kafka/classes", "key")
    assert [path.name for path in kept.parents[1].iterdir()] == ["key"], "what it was made in is gone"


def files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def test_what_cannot_be_made_leaves_nothing(folder: Path) -> None:
    def broken(new: Path) -> None:
        (new / "half").write_text("half")
        raise UserError("It does not compile.")

    with pytest.raises(UserError, match="It does not compile"):
        kept_folder("kafka/classes", "key", broken, "the harness")
    assert list((folder / "kafka" / "classes").iterdir()) == []
    assert find_kept("kafka/classes", "key") is None


def test_no_room_is_a_sentence(folder: Path) -> None:
    def full(new: Path) -> None:
        raise OSError(28, "No space left on device", str(new / "a"))

    said = r"content/a: cannot be written \(No space left on device\), and the harness is kept there\. Give INSYNC_CAC"
    with pytest.raises(UserError, match=said):
        kept_folder("kafka/classes", "key", full, "the harness")


def test_the_first_of_two_processes_has_won(folder: Path) -> None:
    def late(new: Path) -> None:
        fill(new)
        kept_folder("kafka/classes", "key", fill, "the harness")

    kept = kept_folder("kafka/classes", "key", late, "the harness")
    assert {path.name for path in files(kept)} == {"one.class", "two.class", "empty"}
    assert [path.name for path in kept.parents[1].iterdir()] == ["key"]


def test_a_folder_is_kept_by_who_made_it(folder: Path) -> None:
    assert cache_folder() == folder
    (folder / ".new-one").mkdir()
    fill(folder / ".new-one")
    kept = keep_folder("kafka/archives", "key", folder / ".new-one")
    assert kept == find_kept("kafka/archives", "key")
    assert not (folder / ".new-one").exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_folder_is_made_again(folder: Path, data: st.DataObject) -> None:
    kept = kept_folder("kafka/classes", "key", fill, "the harness")
    other = kept_folder("kafka/classes", "other", lambda new: (new / "a").write_text("a"), "the harness")
    whole = kept.parent
    path = data.draw(st.sampled_from(sorted(path for path in whole.rglob("*") if path.is_file())))
    damage = data.draw(st.sampled_from(["flip", "cut", "add", "remove", "rename", "folder", "swap", "digest"]))
    content = bytearray(path.read_bytes())
    if damage == "flip" and content:
        place = data.draw(st.integers(0, 8 * len(content) - 1))
        content[place // 8] ^= 1 << place % 8
        path.write_bytes(content)
    elif damage == "cut" and content:
        path.write_bytes(content[:-1])
    elif damage in ("flip", "cut", "add"):
        path.write_bytes(bytes([*content, 0]))
    elif damage == "remove":
        path.unlink()
    elif damage == "rename":
        path.rename(path.with_name("another"))
    elif damage == "folder":
        path.unlink()
        path.mkdir()
    elif damage == "swap":
        shutil.rmtree(whole)
        shutil.copytree(other.parent, whole)
    else:
        (whole / "content" / "more").write_text("more")
    assert find_kept("kafka/classes", "key") is None
    again = kept_folder("kafka/classes", "key", fill, "the harness")
    assert {file.relative_to(again).as_posix(): file.read_bytes() for file in files(again)} == CONTENT


# ---------------------------------------------------------------------------------------------------------- object code


TEXT = "define i64 @answer(i64 %x) {\n  %y = add i64 %x, 1\n  ret i64 %y\n}\n"


def answer(text: str = TEXT) -> int:
    return compile_module("test", lambda: text).function("answer", 1)(41)


def not_again() -> str:
    raise AssertionError("the IR was generated again")


def test_what_was_compiled_is_not_generated_again(folder: Path) -> None:
    assert answer() == 42
    (file,) = folder.iterdir()
    assert file.suffix == ".o"
    assert compile_module("test", not_again).function("answer", 1)(1) == 2


def test_another_key_is_another_module() -> None:
    assert answer() == 42
    with pytest.raises(AssertionError, match="generated again"):
        compile_module("other", not_again)


@pytest.mark.parametrize(
    "damage",
    [
        lambda code: code[:-1],
        lambda code: code[:200],
        lambda code: b"",
        lambda code: code[:300] + b"\0" + code[301:],
        lambda code: code + b"!",
    ],
)
def test_damaged_object_code_is_compiled_again(folder: Path, damage: object) -> None:
    assert answer() == 42
    (file,) = folder.iterdir()
    file.write_bytes(damage(file.read_bytes()))  # type: ignore[operator]
    assert answer() == 42
    assert compile_module("test", not_again).function("answer", 1)(1) == 2


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert answer() == 42


def test_a_full_disk_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert answer() == 42
    assert list(folder.iterdir()) == []


def test_code_that_llvm_rejects_is_our_mistake() -> None:
    with pytest.raises(InternalError, match="LLVM does not accept"):
        compile_module("test", lambda: "define nonsense")


def test_a_function_that_is_not_there_is_our_mistake() -> None:
    with pytest.raises(InternalError, match="no function 'question'"):
        compile_module("test", lambda: TEXT).function("question", 1)


def test_conditions_have_one_key_where_they_lie_alike_and_mean_the_same_and_nowhere_else() -> None:
    def key(first: int, second: int, least: int, kind: str = "check") -> str:
        class Pair(Model):
            def declare(self, b: object) -> State:
                return State(a=Int(0, first), b=Int(0, second))

        model = Pair()
        return conditions_key(kind, model.program.schema, [model.trace_predicate(lambda s: s.b >= least)])

    assert key(1, 3, 1) == key(1, 3, 1)
    others = [key(3, 3, 1), key(1, 7, 1), key(1, 3, 2), key(1, 3, 1, "count"), key(1, 3, 1)]
    assert len(set(others)) == len(others)


def test_equal_structure_gives_an_equal_key() -> None:
    bounds = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
    kind = find_model("kip320")
    assert program_key("expand", kind(**bounds).program) == program_key("expand", kind(**bounds).program)
    assert program_key("walk", kind(**bounds).program) != program_key("expand", kind(**bounds).program)
    assert program_key("expand", kind(**{**bounds, "log_size": 2}).program) != program_key(
        "expand", kind(**bounds).program
    )
    assert program_key("expand", find_model("kip101")(**bounds).program) != program_key(
        "expand", kind(**bounds).program
    )


def test_the_key_knows_where_the_cells_lie_and_which_conditions_there_are() -> None:
    one = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    schema, (first, second, *_) = one.program.schema, [a.guard[0] for a in one.program.actions]
    keys = {conditions_key("check", schema, nodes) for nodes in ([first], [second], [first, second], [second, first])}
    assert len(keys) == 4 - (first is second) * 2


def test_the_key_tells_what_the_conditions_of_an_action_are_for() -> None:
    """The same nodes in the same order: as guards or as checks, assigned to one cell or to another."""
    program = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1).program
    action = next(one for one in program.actions if len(one.guard) > 2 and len(one.updates) > 1)
    first, *rest = action.guard
    (cell, node), (other, last), *more = action.updates
    variants = [
        replace(action, guard=(first, *rest), checks=()),
        replace(action, guard=(first, *rest[:-1]), checks=(Check(rest[-1], ""),)),
        replace(action, guard=(first,), checks=tuple(Check(node, "") for node in rest)),
        replace(action, guard=(), checks=tuple(Check(node, "") for node in action.guard)),
        replace(action, guard=(*action.guard, node), checks=(), updates=((cell, last), *more)),
        replace(action, checks=(), updates=((other, node), (cell, last), *more)),
    ]
    keys = {program_key("expand", replace(program, actions=(one,), within=())) for one in variants}
    within = program_key("expand", replace(program, actions=(variants[0],), within=(first,)))
    assert len({*keys, within}) == len(variants) + 1
    named = replace(variants[0], name="another", label="another step", parameters=())
    assert program_key("expand", replace(program, actions=(named,), within=())) in keys, "no name is part of it"
    a, b, c = action.guard[:3]
    stays = replace(action, guard=(a,), checks=(Check(b, ""),), updates=()), replace(action, guard=(c,), checks=())
    goes = replace(action, guard=(a,), checks=(), updates=()), replace(action, guard=(b,), checks=(Check(c, ""),))
    assert len({program_key("expand", replace(program, actions=actions)) for actions in (stays, goes)}) == 2


@pytest.mark.slow_but("compiler.py")
@pytest.mark.parametrize("changed", ["compiler.py", "expander.py", "emit/memory.py", "emit/another.py"])
def test_all_that_generates_code_is_part_of_the_key(tmp_path: Path, changed: str) -> None:
    """The package is copied twice, and a comment more in one file of a copy, or a file more, gives other keys."""
    keys = set()
    for name, more in (("as_it_is", ""), ("changed", "# another thing\n")):
        shutil.copytree(Path(compiler.__file__).parent, tmp_path / name / "insync" / "machine")
        with open(tmp_path / name / "insync" / "machine" / changed, "a") as file:
            file.write(more)
        keys.add(key_in(tmp_path / name))
    assert len(keys) == 2


def key_in(folder: Path) -> str:
    """A key that is made by the package in a folder."""
    script = (
        f"import sys; import insync; insync.__path__ = [{str(folder / 'insync')!r}, *insync.__path__];"
        "from insync.machine import kernels; print(kernels.words_key('store', 2))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


def test_another_compiler_or_processor_needs_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    here = compiler.machine_key()
    compiler.machine_key.cache_clear()
    monkeypatch.setattr(compiler, "_host", lambda: ("another", "+feature"))
    try:
        assert compiler.machine_key() != here
    finally:
        compiler.machine_key.cache_clear()
