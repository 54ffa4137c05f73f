"""The models of Kafka are checked with the names of their fields: where anything goes is counted, and gets less."""

from __future__ import annotations

from pathlib import Path

KAFKA = Path(__file__).parents[2] / "model" / "insync" / "kafka"


def test_where_any_attribute_goes_to_type_checkers_is_known() -> None:
    loose = "def __getattr__(self, name: str) -> Any: ..."
    found = {path.relative_to(KAFKA).as_posix() for path in KAFKA.rglob("*.py") if loose in path.read_text()}
    assert found == {"published/quorum/voter.py"}, "the models of the quorum are mixins still"
