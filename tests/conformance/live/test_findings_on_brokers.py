"""Brokers of Kafka do what the pages of the findings say: their scenarios run and print what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync_finding_commands import Needs, check_on_kafka, parameters


@pytest.mark.kafka
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("page", "command", "expected"), parameters(Needs.BROKERS))
def test_brokers_do_what_the_page_says(
    page: Path, command: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_on_kafka(page, command, expected, tmp_path, monkeypatch)
