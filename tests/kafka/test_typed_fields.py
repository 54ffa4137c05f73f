"""Kafka's models are checked with the names of their fields: no class has whatever attribute is asked for."""

from __future__ import annotations

from pathlib import Path

KAFKA = Path(__file__).parents[2] / "model" / "insync" / "kafka"


def test_no_class_has_any_attribute() -> None:
    sources = {path.relative_to(KAFKA).as_posix(): path.read_text(encoding="utf-8") for path in KAFKA.rglob("*.py")}
    assert "cluster/state.py" in sources
    assert [path for path, source in sources.items() if "__getattr__" in source] == []
