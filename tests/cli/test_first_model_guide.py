"""The first page is right: its file is the example, and its output is what the command prints."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.explorer.testing import InsyncCheck
from insync.model.catalogue import find_model
from insync.properties.registry import invariants_of

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guide" / "first-model.md").read_text()
EXAMPLE = (ROOT / "examples" / "payments.py").read_text()
CODE, CLIENTS, TEST = (
    re.findall(rf"^```python\n# {name}\n((?:.*\n)*?)```$", GUIDE, re.MULTILINE)
    for name in ("payments.py", "clients.py", "test_payments.py")
)
CONSOLE: list[str] = re.findall(r"^```console\n((?:.*\n)*?)```$", GUIDE, re.MULTILINE)

Insync = Callable[..., Any]


def test_the_blocks_are_the_file_of_the_example() -> None:
    assert GUIDE.count("```python") == len(CODE) + len(CLIENTS) + len(TEST)
    assert [len(CODE), len(CLIENTS), len(TEST)] == [2, 2, 1]
    assert EXAMPLE.endswith("\n\n".join(CODE))


def test_the_commands_print_what_the_page_shows(
    insync: Insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("scipy")
    (tmp_path / "payments.py").write_text("\n\n".join(CODE))
    (tmp_path / "clients.py").write_text("\n".join(CLIENTS))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    printed, asked = "", 0
    for block in CONSOLE:
        if block.startswith("$ insync "):
            command, block = block.removeprefix("$ insync ").split("\n", 1)
            outcome = insync(*command.split())
            assert outcome.code == (1 if "violated" in block else 0)
            printed, asked = outcome.out, asked + 1
        assert block in printed
    assert asked == 4
    assert GUIDE.count("$ insync ") == asked


def test_a_client_whose_requests_are_always_lost_never_pays(
    insync: Insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("scipy")
    (tmp_path / "clients.py").write_text("\n".join(CLIENTS).replace("strong=", "weak="))
    monkeypatch.chdir(tmp_path)
    outcome = insync("liveness", "clients.py:Clients")
    assert outcome.code == 1
    assert "the first request is lost" in outcome.out


def test_its_test_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, insync_check: InsyncCheck) -> None:
    (tmp_path / "payments.py").write_text("\n\n".join(CODE))
    monkeypatch.syspath_prepend(tmp_path)
    scope: dict[str, Any] = {}
    exec(TEST[0], scope)  # noqa: S102 -- the guide's own code
    scope["test_nobody_pays_twice"](insync_check)


def test_the_words_that_it_explains_are_those_of_the_model() -> None:
    model = find_model(str(ROOT / "examples" / "payments.py") + ":Payments")()
    assert {"send", "lose_answer"} <= {action.name for action in model.program.actions}
    assert "charged_at_most_once" in invariants_of(model)
    assert {"request", "charged"} <= set(model.state.fields)
