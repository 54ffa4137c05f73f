"""What the export of small models looks like; `PYTHONPATH=tests/support .venv/bin/python FILE` records it anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.explorer.export import export

GOLDEN = Path(__file__).parent / "golden"
MODELS: dict[str, tuple[str, dict[str, int | str]]] = {
    "lock": ("examples/lock.py:FixedLock", {"workers": 2}),
    "async_isr": ("async_isr", {"replicas": 3, "max_offset": 2, "max_version": 2}),
    "placement": ("placement", {}),
}


def exported(name: str) -> dict[str, str]:
    reference, bounds = MODELS[name]
    return {file: text for file, text in export(reference, bounds=bounds, name=name).items() if file.count(".") == 1}


@pytest.mark.parametrize("name", list(MODELS))
def test_an_export_is_the_one_that_was_read(name: str) -> None:
    for file, text in exported(name).items():
        assert text == (GOLDEN / file).read_text(), f"{file} differs; run this file to record it, and read the change"


if __name__ == "__main__":
    for one in MODELS:
        for path, written in exported(one).items():
            (GOLDEN / path).write_text(written)
