"""What Kafka's consumer prints is read as what it was given, whatever the records are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from insync.conformance.live.clients.reading_consumer import ReadingConsumer


@pytest.mark.parametrize("value", ["r0", "two words", " begins and ends with a space ", "", "told nothing", "größer"])
def test_records_are_what_they_were_and_in_their_order(value: str, tmp_path: Path) -> None:
    output = tmp_path / "consumer.out"
    output.write_text(f"reads\ngot 0 first\ngot 12 {value}\ntold OffsetOutOfRangeException\n", encoding="utf-8")

    def until(happens: Callable[[], object], what: str) -> None:
        assert happens(), what

    plan = SimpleNamespace(numbers=(1,))
    cluster: Any = SimpleNamespace(
        plan=plan, port=lambda broker: 9092, start_client=lambda source, arguments: output, until=until
    )
    consumer = ReadingConsumer(cluster, "t")
    assert consumer.records == [(0, "first"), (12, value)]
    assert consumer.told == ["OffsetOutOfRangeException"]
