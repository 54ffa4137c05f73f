"""The states of a run are read back as they were written, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from insync.runtime.errors import InternalError, UserError
from insync.spark_explore.wire import states_file
from insync.spark_explore.wire.run_folder import RunFolder
from insync.spark_explore.wire.run_states import RunStates
from insync.spark_explore.wire.states_file import CountedFiles

pytest.importorskip("pyarrow")

LEVEL = Path("states") / "p00000" / "00002-00002"


def states_in(folder: Path, warm: int = 1, words: int = 1, run: str = "run") -> RunStates:
    return RunStates(RunFolder(str(folder)), run, words, warm)


@pytest.mark.parametrize("warm", [1, 2, 3])
def test_levels_of_the_warm_start_lie_in_one_file_and_those_after_it_in_their_own(tmp_path: Path, warm: int) -> None:
    states, levels = states_in(tmp_path, warm), [bytes([number]) * 8 * (number % 3) for number in range(5)]
    states.write(0, [len(level) // 8 for level in levels[:warm]], levels[:warm])
    for number in range(warm, len(levels)):
        assert not states.has(0, number + 1)
        states.write(0, [len(levels[number]) // 8], [levels[number]], number + 1)
        assert states.has(0, number + 1)
    assert [b"".join(states.pieces(0, number + 1)) for number in range(len(levels))] == levels
    assert [b"".join(pieces) for pieces in states.levels(0, 2, 4)] == levels[1:4]
    assert len(list((tmp_path / "states" / "p00000").iterdir())) == 6 - warm


@pytest.mark.parametrize("states", [1, 4, 5, 11])
def test_pieces_are_of_whole_states_and_no_longer_than_they_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, states: int
) -> None:
    monkeypatch.setattr(states_file, "_BLOCK_BYTES", 100)
    run, row = states_in(tmp_path, words=3), 8 * 3
    content = bytes(number % 251 for number in range(states * row))
    run.write(0, [states], [content[:10], content[10:60], b"", content[60:]])
    pieces = list(run.pieces(0, 1))
    assert b"".join(pieces) == content
    assert [len(piece) % row for piece in pieces] == [0] * -(-states // 4)
    assert max(map(len, pieces)) <= 100


@pytest.mark.parametrize("parts", [[bytes(8)], [bytes(24)], [bytes(16), bytes(1)], []])
def test_more_or_fewer_states_than_are_said_are_our_mistake(tmp_path: Path, parts: list[bytes]) -> None:
    with pytest.raises(InternalError, match="not as many as was said"):
        states_in(tmp_path).write(0, [2], parts)
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


DAMAGES: list[Callable[[bytes], bytes]] = [
    lambda whole: b"",
    *(lambda whole, most=most: whole[:most] for most in (9, 15, 16, 17, 39, 40, 41, 47, 48, 49)),
    lambda whole: whole[:-1],
    lambda whole: whole[:-8],
    lambda whole: whole + bytes(1),
    lambda whole: whole + bytes(8),
    lambda whole: bytes(1) + whole[1:],
    lambda whole: whole[:38] + bytes([255]) * 2 + whole[40:],
    lambda whole: whole[:40] + whole[48:] + bytes(8),
    *(
        lambda whole, at=at, bit=bit: whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :]
        for at in range(-20, 92)
        for bit in (0, 2, 7)
    ),
]


@pytest.mark.parametrize("expected", [False, True])
def test_a_damaged_file_is_refused(tmp_path: Path, expected: bool) -> None:
    states = states_in(tmp_path)
    digest = states.write(0, [3], [bytes(range(24))], 2)
    assert states.digest_of(0, 2) == digest
    states.counted = CountedFiles({2: digest} if expected else {})
    whole = (tmp_path / LEVEL).read_bytes()
    assert len(whole) == 92
    for damage in DAMAGES:
        (tmp_path / LEVEL).write_bytes(damage(whole))
        with pytest.raises(
            UserError, match=rf"^{tmp_path}/{LEVEL}: this file is not what the run has written there\. "
        ):
            list(states.pieces(0, 2))
    (tmp_path / LEVEL).write_bytes(whole)
    assert list(states.pieces(0, 2)) == [bytes(range(24))]


def test_a_file_in_the_place_of_another_is_refused(tmp_path: Path) -> None:
    states, content = states_in(tmp_path), [bytes(8)]
    for partition, level in ((0, 2), (0, 3), (1, 2)):
        states.write(partition, [1], content, level)
    states_in(tmp_path / "other", run="other").write(0, [1], content, 2)
    states_in(tmp_path / "wide", words=2).write(0, [1], [bytes(16)], 2)
    states_in(tmp_path / "warm", warm=2).write(0, [0, 1], content)
    same = (tmp_path / LEVEL).read_bytes()
    for other in (
        tmp_path / "states" / "p00000" / "00003-00003",
        tmp_path / "states" / "p00001" / "00002-00002",
        tmp_path / "other" / LEVEL,
        tmp_path / "wide" / LEVEL,
        tmp_path / "warm" / "states" / "p00000" / "00001-00002",
    ):
        (tmp_path / LEVEL).write_bytes(other.read_bytes())
        with pytest.raises(UserError, match="is not what the run has written there"):
            states.digest_of(0, 2)
    (tmp_path / LEVEL).write_bytes(same)
    assert b"".join(states.pieces(0, 2)) == bytes(8)


def test_a_file_that_is_whole_and_not_the_one_that_was_counted_is_refused(tmp_path: Path) -> None:
    states = states_in(tmp_path)
    digests = [states.write(partition, [1], [bytes([partition]) * 8], 2) for partition in range(2)]
    states.counted = CountedFiles({2: b"".join(digests)})
    assert [b"".join(states.pieces(partition, 2)) for partition in range(2)] == [bytes(8), b"\1" * 8]
    states.write(0, [1], [b"\5" * 8], 2)
    with pytest.raises(UserError, match=rf"{LEVEL}: this file is not what the run has written"):
        states.digest_of(0, 2)


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"^{tmp_path}/{LEVEL}: this file is missing\. .* search again in another"):
        list(states_in(tmp_path).pieces(0, 2))


def test_the_same_states_make_the_same_file(tmp_path: Path) -> None:
    """However they come, in which run of a task."""
    content, files = bytes(range(96)), set()
    for size in (96, 40, 8):
        parts = [memoryview(content)[at : at + size] for at in range(0, 96, size)]
        digest = states_in(tmp_path).write(0, [12], parts, 2)
        files.add((digest, (tmp_path / LEVEL).read_bytes()))
    assert len(files) == 1
