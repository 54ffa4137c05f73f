"""The cache is its user's alone, and what is kept in it is whole, unchanged and in its own place."""

from __future__ import annotations

import os
import shutil
import stat
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
from insync.runtime.errors import UserError

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
    with pytest.raises(UserError, match=r"belongs to another user .* Without a cache the harness cannot be kept"):
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
