"""Checksums: what was written is read back; anything else, and anything in another's place, is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.runtime.checksums import Damaged, Label, digest, framed, json_with_digest, require_digest, unframed

LABEL: Label = {"kind": "level", "run": "3f", "level": 17, "partition": 3}
ENTRIES = {"format": "insync-run/5", "levels": [1, 2, 3], "violations": {"small": None}}

labels = st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4), max_size=4)


@given(labels, st.binary(max_size=40))
def test_what_is_framed_is_read_back(label: dict[str, int | str], content: bytes) -> None:
    assert unframed(label, framed(label, content)) == content


@given(labels, labels, st.binary(max_size=40))
def test_another_label_is_refused(one: dict[str, int | str], other: dict[str, int | str], content: bytes) -> None:
    if one != other:
        with pytest.raises(Damaged):
            unframed(other, framed(one, content))


@given(st.binary(max_size=40), st.data())
def test_every_changed_bit_is_refused(content: bytes, data: st.DataObject) -> None:
    file = bytearray(framed(LABEL, content))
    place = data.draw(st.integers(0, 8 * len(file) - 1))
    file[place // 8] ^= 1 << place % 8
    with pytest.raises(Damaged):
        unframed(LABEL, bytes(file))


@given(st.binary(max_size=40), st.binary(min_size=1, max_size=40), st.data())
def test_what_is_cut_off_or_added_is_refused(content: bytes, more: bytes, data: st.DataObject) -> None:
    file = framed(LABEL, content)
    with pytest.raises(Damaged):
        unframed(LABEL, file[: data.draw(st.integers(0, len(file) - 1))])
    with pytest.raises(Damaged):
        unframed(LABEL, file + more)


@given(st.lists(st.binary(max_size=8), max_size=4))
def test_a_digest_depends_on_the_bytes_and_not_on_the_parts(parts: list[bytes]) -> None:
    assert digest(LABEL, *parts) == digest(LABEL, b"".join(parts))


def test_a_json_file_is_one_object_with_its_digest_first() -> None:
    text = json_with_digest(LABEL, ENTRIES)
    require_digest(LABEL, text)
    read = json.loads(text)
    assert next(iter(read)) == "digest"
    assert read == {"digest": read["digest"], **ENTRIES}


def test_a_json_file_of_another_label_is_refused() -> None:
    with pytest.raises(Damaged):
        require_digest({**LABEL, "level": 18}, json_with_digest(LABEL, ENTRIES))


@given(st.data())
def test_every_changed_character_of_a_json_file_is_refused(data: st.DataObject) -> None:
    text = json_with_digest(LABEL, ENTRIES)
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(min_codepoint=9, max_codepoint=127).filter(lambda it: it != text[place]))
    for changed in (text[:place] + other + text[place + 1 :], text[:place], text[:place] + text[place + 1 :]):
        with pytest.raises(Damaged):
            require_digest(LABEL, changed)
