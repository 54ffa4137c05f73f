"""The states of a run are read back as they were written, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.machine.packed import Words
from insync.machine.store_kernels import order_kernels
from insync.machine.stores.run_files import CountedFiles, RunFiles, Span
from insync.machine.stores.run_folder import RunFolder
from insync.runtime.errors import UserError
from insync_run_files import read_states, write_level, write_start
from insync_spark_stores import on_a_store

pytest.importorskip("pyarrow")

LEVEL = Path("states") / "p00000" / "00002-00002"


def states_in(folder: Path, together: int = 1, words: int = 1, run: str = "run") -> RunFiles:
    return RunFiles(RunFolder(str(folder)), run, order_kernels(words), together)


def numbers(*given: int) -> list[Words]:
    return [(each,) for each in given]


LEVELS = [numbers(7), numbers(5, 9), [], numbers(1, 2, 3), numbers(4)]


@pytest.mark.parametrize("together", [1, 2, 4])
def test_levels_of_the_driver_lie_in_one_file_and_those_after_it_in_their_own(tmp_path: Path, together: int) -> None:
    states = states_in(tmp_path, together)
    write_start(states, 0, LEVELS[:together])
    for level in range(together + 1, len(LEVELS) + 1):
        assert not states.has(0, level)
        write_level(states, 0, level, LEVELS[level - 1], states.level(0, level - 1).spans)
        assert states.has(0, level)
    assert [read_states(states, 0, level + 1) for level in range(len(LEVELS))] == LEVELS
    spans = states.level(0, len(LEVELS)).spans
    assert [(span.first, span.last) for span in spans] == [
        (1, together),
        *((each, each) for each in range(together + 1, 6)),
    ]
    for span in spans:
        assert states.known(0, span).file.count == span.count == sum(map(len, LEVELS[span.first - 1 : span.last]))
    assert len(list((tmp_path / "states" / "p00000").iterdir())) == 6 - together


def test_a_state_of_several_words(tmp_path: Path) -> None:
    states, rows = states_in(tmp_path, words=3), [(1, 2**64 - 1, 0), (1, 2**64 - 1, 1), (2**63, 0, 0)]
    write_level(states, 4, 2, rows)
    assert read_states(states, 4, 2) == rows


def damages_of(whole: bytes) -> list[Callable[[bytes], bytes]]:
    size = len(whole)
    return [
        lambda whole: b"",
        *(lambda whole, most=most: whole[:most] for most in (9, 16, 17, size - 40, size - 8, size - 1)),
        lambda whole: whole + bytes(8),
        *(
            lambda whole, at=at, bit=bit: whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :]
            for at in range(size)
            for bit in (0, 2, 7)
        ),
    ]


@pytest.mark.parametrize("expected", [False, True])
def test_a_damaged_file_is_refused(tmp_path: Path, expected: bool) -> None:
    states = states_in(tmp_path)
    digest = write_level(states, 0, 2, numbers(3, 300, 70_000))
    assert states.level(0, 2).digest == digest
    states.counted = CountedFiles({2: digest} if expected else {})
    whole = (tmp_path / LEVEL).read_bytes()
    for damage in damages_of(whole):
        states.close()
        (tmp_path / LEVEL).write_bytes(damage(whole))
        with pytest.raises(
            UserError, match=rf"^{tmp_path}/{LEVEL}: this file is not what the run has written there\. "
        ):
            read_states(states, 0, 2)
    states.close()
    (tmp_path / LEVEL).write_bytes(whole)
    assert read_states(states, 0, 2) == numbers(3, 300, 70_000)


def test_a_file_in_the_place_of_another_is_refused(tmp_path: Path) -> None:
    states = states_in(tmp_path)
    for partition, level in ((0, 2), (0, 3), (1, 2)):
        write_level(states, partition, level, numbers(1))
    with states.merging(0, 2, 3):
        pass
    write_level(states_in(tmp_path / "other", run="other"), 0, 2, numbers(1))
    write_level(states_in(tmp_path / "wide", words=2), 0, 2, [(1, 1)])
    write_start(states_in(tmp_path / "warm", together=2), 0, [[], numbers(1)])
    same = (tmp_path / LEVEL).read_bytes()
    for other in (
        tmp_path / "states" / "p00000" / "00003-00003",
        tmp_path / "states" / "p00001" / "00002-00002",
        tmp_path / "merged" / "p00000" / "00002-00003",
        tmp_path / "other" / LEVEL,
        tmp_path / "wide" / LEVEL,
        tmp_path / "warm" / "states" / "p00000" / "00001-00002",
    ):
        states.close()
        (tmp_path / LEVEL).write_bytes(other.read_bytes())
        with pytest.raises(UserError, match="is not what the run has written there"):
            states.level(0, 2)
    states.close()
    (tmp_path / LEVEL).write_bytes(same)
    assert read_states(states, 0, 2) == numbers(1)


def test_a_file_that_is_whole_and_not_the_one_that_was_counted_is_refused(tmp_path: Path) -> None:
    states = states_in(tmp_path)
    digests = [write_level(states, partition, 2, numbers(partition)) for partition in range(2)]
    states.counted = CountedFiles({2: b"".join(digests)})
    assert [read_states(states, partition, 2) for partition in range(2)] == [numbers(0), numbers(1)]
    write_level(states, 0, 2, numbers(5))
    with pytest.raises(UserError, match=rf"{LEVEL}: this file is not what the run has written"):
        states.level(0, 2)


def test_a_merged_file_is_the_one_that_the_file_of_a_level_names(tmp_path: Path) -> None:
    states = states_in(tmp_path)
    with states.merging(0, 1, 2):
        pass
    with pytest.raises(UserError, match=r"merged/p00000/00001-00002: this file is not what the run has written"):
        states.known(0, Span(1, 2, 0, bytes(16)))


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"^{tmp_path}/{LEVEL}: this file is missing\. .* search again in another"):
        read_states(states_in(tmp_path), 0, 2)


def test_superseded_files_are_removed_and_no_others(tmp_path: Path) -> None:
    """A job that began before may have merged files for levels that the manifest does not count yet."""
    states = states_in(tmp_path)
    for first, last in ((1, 2), (3, 4), (1, 4), (5, 6), (7, 8), (5, 8), (9, 10)):
        with states.merging(3, first, last):
            pass
    states.remove_superseded(3, [Span(1, 4, 0, b""), Span(5, 6, 0, b""), Span(7, 8, 0, b""), Span(9, 9, 0, b"")])
    assert {path.name for path in (tmp_path / "merged" / "p00003").iterdir()} == {
        "00001-00004", "00005-00006", "00007-00008", "00005-00008", "00009-00010"
    }  # fmt: skip
    states.remove_superseded(2, [])  # there is no such folder


def test_a_store_is_read_in_large_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request to a store takes as long as some megabytes, whatever it is for."""
    states = RunFiles(on_a_store(tmp_path), "run", order_kernels(1), 1)
    rows = numbers(*range(0, 1 << 42, 1 << 26))
    write_level(states, 0, 2, rows)
    whole = (tmp_path / LEVEL).stat().st_size
    requests: list[int] = []
    real: Any = states.folder.open

    def opened(name: str) -> Any:
        file = real(name)
        reads = file.read_at

        class Watched:
            size, close = file.size, file.close

            def read_at(self, nbytes: int, offset: int) -> bytes:
                requests.append(nbytes)
                found: bytes = reads(nbytes, offset)
                return found

        return Watched()

    object.__setattr__(states.folder, "open", opened)
    assert read_states(states, 0, 2) == rows
    assert requests == [4 << 20], "a small file comes at once"
    assert states.read_bytes == whole
    requests.clear()
    monkeypatch.setattr("insync.machine.stores.run_files._AHEAD_BYTES", whole // 4)
    assert read_states(states, 0, 2) == rows
    assert 3 < len(requests) < 9
    assert whole <= states.read_bytes - whole < 2 * whole
