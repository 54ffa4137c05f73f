"""Sentences that keep what their words are about."""

from __future__ import annotations

import copy

import pytest

from insync.properties import offset_in, said
from insync.properties.invariants import Phrase, Sentence, pointed


def test_a_sentence_is_the_text_with_its_values_and_keeps_what_they_name() -> None:
    told = said("{broker} has no record at {offset}, below {hw}.", broker="b3", offset=offset_in(0, "b3"), hw=1)
    assert told == "b3 has no record at offset 0, below 1."
    assert [phrase for phrase in told.phrases if phrase.about] == [
        Phrase("b3", ("b3",)),
        Phrase("offset 0", ("b3",), 0),
    ]


def test_each_name_of_a_list_is_a_phrase_and_a_brace_that_is_doubled_stands_for_itself() -> None:
    told = said("the ISR {{{isr}}} and {{isr}}", isr=["b1", said("{one}", one="b2")])
    assert told == "the ISR {b1, b2} and {isr}"
    assert [phrase.about for phrase in told.phrases if phrase.about] == [("b1",), ("b2",)]
    assert said("the ISR {{{isr}}}", isr=[]) == "the ISR {}"


def test_a_name_without_a_value_is_refused() -> None:
    with pytest.raises(KeyError, match="borker"):
        said("{borker} leads", broker="b1")


def test_copies_keep_the_phrases() -> None:
    told = said("{broker} leads", broker="b1")
    again = copy.deepcopy(told)
    assert isinstance(again, Sentence)
    assert (again, again.phrases) == (told, told.phrases)


def test_a_plain_text_is_about_the_names_that_stand_in_it_as_words() -> None:
    told = pointed("b1 lacks r0@0, as at[b1] == 1 and b11 has 0", ["b1", "at[b1]", "r0", "0"])
    assert [phrase.about for phrase in told.phrases if phrase.about] == [("b1",), ("at[b1]",)]
