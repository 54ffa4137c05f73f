"""The workflow files of docs/guide/ci.md are YAML, and what they call exists and does what the guide says."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import _insync_pytestplugin

Insync = Callable[..., Any]
ROOT = Path(__file__).parents[2]
BLOCKS = dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", (ROOT / "docs/guide/ci.md").read_text(), re.DOTALL))


def read(name: str) -> Any:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    return yaml.safe_load(BLOCKS[name])


def commands() -> dict[str, list[str]]:
    """Return the commands of both files by their program, as words."""
    (job,) = read(".github/workflows/models.yml")["jobs"].values()
    said = [step["run"] for step in job["steps"] if "run" in step] + read(".gitlab-ci.yml")["models"]["script"]
    found: dict[str, list[str]] = {}
    for line in said:
        program, *words = shlex.split(line)
        assert found.setdefault(program, words) == words, "both files call a program in the same way"
    return found


def test_the_workflow_has_what_github_asks_for() -> None:
    workflow = read(".github/workflows/models.yml")
    assert {"name", "jobs", "permissions"} <= set(workflow)
    assert workflow[True] == ["push", "pull_request"], "YAML reads `on` as a truth, and GitHub as a word"
    (job,) = workflow["jobs"].values()
    assert {"runs-on", "steps"} <= set(job)
    for step in job["steps"]:
        assert ("run" in step) != ("uses" in step)
        assert re.fullmatch(r"[\w-]+/[\w/-]+@v\d+", step.get("uses", "actions/x@v1"))


def test_the_commands_are_there_and_leave_the_files_that_are_kept(
    insync: Insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = commands()
    assert set(called) == {"pip", "pytest", "insync"}
    assert called["pip"] == ["install", "insync[test]"]
    (tmp_path / "models").mkdir()
    (tmp_path / ".git").mkdir()
    shutil.copy(ROOT / "examples" / "lock.py", tmp_path / "models")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    code, out, _ = insync(*called["insync"])
    assert code == 1
    assert re.search(r"^::error file=models/lock\.py,line=\d+,title=insync%3A one_inside::", out, re.MULTILINE)
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {"insync.sarif", "trace.html", "trace.json"}


def test_pytest_knows_the_options() -> None:
    known: list[str] = []

    class Group:
        def addoption(self, name: str, **_: object) -> None:
            known.append(name)

    class Parser:
        def getgroup(self, *_: object) -> Group:
            return Group()

    parser: Any = Parser()
    _insync_pytestplugin.pytest_addoption(parser)
    own = [word for word in commands()["pytest"] if word.startswith("--insync")]
    assert own
    assert set(own) <= set(known)


def test_an_editor_finds_the_line_of_the_invariant(
    insync: Insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = re.search(
        r"```json\n// \.vscode/tasks\.json\n(.*?)```", (ROOT / "docs/guide/ci.md").read_text(), re.DOTALL
    )
    assert written is not None
    (task,) = json.loads(written[1])["tasks"]
    pattern = task["problemMatcher"]["pattern"]
    (tmp_path / "models").mkdir()
    (tmp_path / ".git").mkdir()
    shutil.copy(ROOT / "examples" / "lock.py", tmp_path / "models")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    _, out, _ = insync(*shlex.split(task["command"])[1:])
    (found,) = filter(None, (re.search(pattern["regexp"], line) for line in out.splitlines()))
    assert found[pattern["severity"]] == "error"
    assert found[pattern["file"]] == "models/lock.py"
    lines = (tmp_path / "models/lock.py").read_text().splitlines()
    named = found[pattern["message"]].split(": ")[1].split(" ")[0]
    assert f"def {named}(" in "".join(lines[int(found[pattern["line"]]) - 1 :][:2])
