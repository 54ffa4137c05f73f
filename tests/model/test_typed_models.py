"""Models of users under `mypy --strict`: plain `Model` passes, and `Model[MyState]` checks the fields of the state."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

from insync.model.catalogue import find_model

PLAIN = '''
from insync.model import BoundValues, Condition, Int, Model, State, StateView, action, invariant, require


class Mine(Model):
    def declare(self, b: BoundValues) -> State:
        return State(count=Int(0, 3))

    def initial(self, s: StateView) -> None:
        s.count = 1

    @action
    def climb(self, s: StateView) -> None:
        require(s.count < 3)
        s.count += 1

    @invariant
    def low(self, s: StateView) -> Condition:
        """The count is low."""
        return s.count <= 3


def shown(kind: type[Model], model: Model) -> str:
    return f"{kind.name} {model.b}"


print(shown(Mine, Mine()))
'''

WORDS = """
from insync.model import BoundValues, Index, Model, Option, OptionValue, Record, Seq, SeqView, State, action, any_of
from insync.model import choose, filtered, require


class Worker(Index):
    size = 2


class Line:
    boss: OptionValue
    line: SeqView


class Words(Model[Line]):
    def declare(self, b: BoundValues) -> State:
        return State(boss=Option(Worker), line=Seq(Record(by=Worker), 2))

    @action
    def pick(self, s: Line, worker: Worker) -> None:
        other: Worker = any_of(Worker, "other")
        require(other != worker, s.line.length > 0)
        s.boss = choose(Worker, lambda one: one != worker).or_else(other)
        s.line[0].by = other
        s.line = filtered(s.line, lambda one: one.by != worker)
"""

TYPED = '''
from insync.model import BoundValues, Condition, Int, Model, Num, State, action, invariant


class Counter:
    count: Num


class Typed(Model[Counter]):
    def declare(self, b: BoundValues) -> State:
        return State(count=Int(0, 3))

    def initial(self, s: Counter) -> None:
        s.count += 1

    @action
    def climb(self, s: Counter) -> None:
        s.FIELD += 1

    @invariant
    def low(self, s: Counter) -> Condition:
        """The count is low."""
        return s.count <= 3
'''


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PLAIN, "Success: no issues found"),
        (WORDS, "Success: no issues found"),
        (TYPED.replace("FIELD", "count"), "Success: no issues found"),
        (TYPED.replace("FIELD", "cuont"), 'models.py:18: error: "Counter" has no attribute "cuont"; maybe "count"?'),
    ],
    ids=["plain", "words", "typed", "misspelt"],
)
def test_a_users_model_is_checked_strictly(tmp_path: Path, text: str, found: str) -> None:
    (tmp_path / "models.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "models.py"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert found in said.stdout, said.stdout + said.stderr


def test_the_type_of_the_state_changes_no_program(tmp_path: Path) -> None:
    file = tmp_path / "models.py"
    file.write_text(TYPED.replace("FIELD", "count") + TYPED.replace("FIELD", "count").replace("[Counter]", ""))
    file.write_text(file.read_text().replace("class Typed(Model):", "class Plain(Model):"))
    typed, plain = (find_model(f"{file}:{name}")() for name in ("Typed", "Plain"))
    assert [str(one) for one in typed.program.actions] == ["climb()"] == [str(one) for one in plain.program.actions]
    assert typed.program.initials[0] == plain.program.initials[0] == (1,)
