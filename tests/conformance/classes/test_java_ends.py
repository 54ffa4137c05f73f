"""What is said of a process of Java that has ended by itself."""

from __future__ import annotations

import pytest

from insync.conformance.classes.java_ends import how_it_ended

DEPRECATED = "[2026-11-23 10:00:00,000] WARN metric.reporters is deprecated, see JmxReporter$Exception (kafka.Config)"
ENDED = "[2026-11-23 10:00:01,000] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (-9, "was ended by SIGKILL, as the system does where memory is short. Start it again"),
        (137, "was ended by SIGKILL, as the system does where memory is short. Start it again"),
        (143, "was ended by SIGTERM, by somebody else. Start it again"),
    ],
)
def test_who_was_killed_is_not_told_of_by_a_line_of_its_log(code: int, said: str) -> None:
    told = how_it_ended(code, [DEPRECATED, ENDED])
    assert told.startswith(said)
    assert "deprecated" not in told
    assert "ERROR" not in told


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([DEPRECATED, ENDED], f"It says: {ENDED}"),
        ([DEPRECATED, "java.lang.OutOfMemoryError: Java heap space"], "It says: java.lang.OutOfMemoryError: Java heap"),
        (['Exception in thread "main" java.lang.Error', "x"], 'It says: Exception in thread "main" java.lang.Error'),
        ([DEPRECATED, "the last line"], "It says: the last line"),
        ([], "It says nothing."),
    ],
)
def test_who_has_ended_by_itself_is_quoted_with_what_went_wrong(lines: list[str], said: str) -> None:
    assert how_it_ended(1, lines).startswith(f"has ended with exit code 1. {said}")
