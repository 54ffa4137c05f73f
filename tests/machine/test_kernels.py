from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from insync.explorer import check
from insync.machine import compiler
from insync.machine.kernels import Part, Text, Texts, compile_kernels, load, texts
from insync.machine.packed import PackedRows
from insync.model import Array, Bound, Bounds, BoundValues, Int, Model, State, StateView, action, require
from insync.model.expressions.graph import Node
from insync.properties.registry import invariants_of
from insync.runtime.errors import UserError
from insync_machine import store_kernels
from insync_toys import DieHard, TokenRing


@pytest.fixture(autouse=True)
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An empty cache, and the texts that were compiled since."""
    made: list[str] = []
    honest = compiler.object_code

    def noted(text: str) -> bytes:
        made.append(text)
        return honest(text)

    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiler, "object_code", noted)
    return made


def conditions(model: Model) -> list[Node]:
    return [found.node(model) for found in invariants_of(model).values()]


def never() -> str:
    raise AssertionError("the text was made again")


def test_texts_of_another_process_are_those_that_are_compiled_here(compiled: list[str]) -> None:
    model, other = TokenRing(), TokenRing()
    compile_kernels(model.program, conditions(model), tuple(Part))
    known = texts(other.program, conditions(other), tuple(Part))
    assert compiled == [text.make() for text in known.parts]
    load(Texts(known.sizes, tuple(Text(text.part, text.key, never) for text in known.parts)))


def test_only_what_is_asked_for_is_compiled(compiled: list[str]) -> None:
    model = TokenRing()
    compile_kernels(model.program, parts=(Part.EXPAND, Part.CHECK))
    assert len(compiled) == 1, "there is nothing to check"
    compile_kernels(model.program, conditions(model), parts=(Part.EXPAND, Part.CHECK))
    assert len(compiled) == 2


def test_without_conditions_a_checker_has_nothing_to_say() -> None:
    model = TokenRing()
    checker = compile_kernels(model.program, parts=(Part.CHECK,)).checker()
    rows = PackedRows([model.program.schema.pack(model.program.initials[0])])
    checker.check(rows.address, rows.count)
    assert checker.take() == []
    checker.close()


def test_the_owner_of_a_state_is_a_partition() -> None:
    kernels = store_kernels(2)
    assert {kernels.owner((number, 3), 5) for number in range(100)} == set(range(5))


def test_texts_are_made_without_llvm() -> None:
    script = (
        "import sys; from insync.machine.kernels import Part, texts; from insync.model.catalogue import find_model;"
        "model = find_model('kip320')(replicas=2, log_size=1, max_records=1, max_leader_epoch=1);"
        "made = texts(model.program, [model.program.graph.true], tuple(Part));"
        "print(len([text.make() for text in made.parts]), 'llvmlite' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["6", "False"]


@pytest.mark.parametrize("kind", [TokenRing, DieHard])
def test_code_that_is_compiled_quickly_finds_the_same(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch, kind: type[Model]
) -> None:
    found = []
    for code in ("quick", "fast", ""):
        monkeypatch.setenv("INSYNC_CODE", code)
        before = len(compiled)
        result = check(kind(), keep_going=True)
        found.append((result.levels, result.transitions, result.actions, [one.trace for one in result.violations]))
        assert (len(compiled) > before) is bool(code), "the default is that of the environment without the variable"
    assert found[0] == found[1] == found[2]


def test_a_kind_of_code_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSYNC_CODE", "fastest")
    with pytest.raises(UserError, match=r"^INSYNC_CODE is 'fastest': .* set it to 'fast' or 'quick', or to nothing\.$"):
        check(TokenRing())


class Row(Model):
    """A long row of counters; each step counts up the one at an index of the state."""

    bounds = Bounds(places=Bound(100, 1, 1000, "how long the row is"))

    def declare(self, b: BoundValues) -> State:
        return State(row=Array(b.places, Int(0, 3)), at=Int(0, b.places - 1))

    @action
    def count_up(self, s: StateView) -> None:
        require(s.row[s.at] < 3)
        s.row[s.at] += 1


def test_an_assignment_at_an_index_of_a_long_row_compiles_in_proportion_to_the_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("INSYNC_CODE", "fast")

    def seconds(places: int) -> float:
        (text,) = texts(Row(places=places).program, parts=(Part.EXPAND,)).parts
        made = text.make()
        begun = time.thread_time()
        compiler.object_code(made)
        return time.thread_time() - begun

    seconds(100)  # LLVM is loaded
    assert seconds(800) < 12 * seconds(200)  # 26 times with LLVM's own order of instructions
