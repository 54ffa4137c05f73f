from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from insync.machine import compiler
from insync.machine.compiler import compile_module
from insync.machine.identity import conditions_key, program_key
from insync.model import Int, Model, State
from insync.model.catalogue import find_model
from insync.model.tracing.program import Check
from insync.runtime.errors import InternalError

TEXT = "define i64 @answer(i64 %x) {\n  %y = add i64 %x, 1\n  ret i64 %y\n}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def answer(text: str = TEXT) -> int:
    return compile_module("test", lambda: text).function("answer", 1)(41)


def never() -> str:
    raise AssertionError("the IR was generated again")


def test_what_was_compiled_is_not_generated_again(folder: Path) -> None:
    assert answer() == 42
    (file,) = folder.iterdir()
    assert file.suffix == ".o"
    assert compile_module("test", never).function("answer", 1)(1) == 2


def test_another_key_is_another_module() -> None:
    assert answer() == 42
    with pytest.raises(AssertionError, match="generated again"):
        compile_module("other", never)


@pytest.mark.parametrize(
    "damage",
    [
        lambda code: code[:-1],
        lambda code: code[:200],
        lambda code: b"",
        lambda code: code[:300] + b"\0" + code[301:],
        lambda code: code + b"!",
    ],
)
def test_damaged_object_code_is_compiled_again(folder: Path, damage: object) -> None:
    assert answer() == 42
    (file,) = folder.iterdir()
    file.write_bytes(damage(file.read_bytes()))  # type: ignore[operator]
    assert answer() == 42
    assert compile_module("test", never).function("answer", 1)(1) == 2


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert answer() == 42


def test_a_full_disk_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert answer() == 42
    assert list(folder.iterdir()) == []


def test_code_that_llvm_rejects_is_our_mistake() -> None:
    with pytest.raises(InternalError, match="LLVM does not accept"):
        compile_module("test", lambda: "define nonsense")


def test_a_function_that_is_not_there_is_our_mistake() -> None:
    with pytest.raises(InternalError, match="no function 'question'"):
        compile_module("test", lambda: TEXT).function("question", 1)


def test_conditions_have_one_key_where_they_lie_alike_and_mean_the_same_and_nowhere_else() -> None:
    def key(first: int, second: int, least: int, kind: str = "check") -> str:
        class Pair(Model):
            def declare(self, b: object) -> State:
                return State(a=Int(0, first), b=Int(0, second))

        model = Pair()
        return conditions_key(kind, model.program.schema, [model.trace_predicate(lambda s: s.b >= least)])

    assert key(1, 3, 1) == key(1, 3, 1)
    others = [key(3, 3, 1), key(1, 7, 1), key(1, 3, 2), key(1, 3, 1, "count"), key(1, 3, 1)]
    assert len(set(others)) == len(others)


def test_equal_structure_gives_an_equal_key() -> None:
    bounds = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
    kind = find_model("kip320")
    assert program_key("expand", kind(**bounds).program) == program_key("expand", kind(**bounds).program)
    assert program_key("walk", kind(**bounds).program) != program_key("expand", kind(**bounds).program)
    assert program_key("expand", kind(**{**bounds, "log_size": 2}).program) != program_key(
        "expand", kind(**bounds).program
    )
    assert program_key("expand", find_model("kip101")(**bounds).program) != program_key(
        "expand", kind(**bounds).program
    )


def test_the_key_knows_where_the_cells_lie_and_which_conditions_there_are() -> None:
    one = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    schema, (first, second, *_) = one.program.schema, [a.guard[0] for a in one.program.actions]
    keys = {conditions_key("check", schema, nodes) for nodes in ([first], [second], [first, second], [second, first])}
    assert len(keys) == 4 - (first is second) * 2


def test_the_key_tells_what_the_conditions_of_an_action_are_for() -> None:
    """The same nodes in the same order: as guards or as checks, assigned to one cell or to another."""
    program = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1).program
    action = next(one for one in program.actions if len(one.guard) > 2 and len(one.updates) > 1)
    first, *rest = action.guard
    (cell, node), (other, last), *more = action.updates
    variants = [
        replace(action, guard=(first, *rest), checks=()),
        replace(action, guard=(first, *rest[:-1]), checks=(Check(rest[-1], ""),)),
        replace(action, guard=(first,), checks=tuple(Check(node, "") for node in rest)),
        replace(action, guard=(), checks=tuple(Check(node, "") for node in action.guard)),
        replace(action, guard=(*action.guard, node), checks=(), updates=((cell, last), *more)),
        replace(action, checks=(), updates=((other, node), (cell, last), *more)),
    ]
    keys = {program_key("expand", replace(program, actions=(one,), within=())) for one in variants}
    within = program_key("expand", replace(program, actions=(variants[0],), within=(first,)))
    assert len({*keys, within}) == len(variants) + 1
    named = replace(variants[0], name="another", label="another step", parameters=())
    assert program_key("expand", replace(program, actions=(named,), within=())) in keys, "no name is part of it"
    a, b, c = action.guard[:3]
    stays = replace(action, guard=(a,), checks=(Check(b, ""),), updates=()), replace(action, guard=(c,), checks=())
    goes = replace(action, guard=(a,), checks=(), updates=()), replace(action, guard=(b,), checks=(Check(c, ""),))
    assert len({program_key("expand", replace(program, actions=actions)) for actions in (stays, goes)}) == 2


@pytest.mark.slow_but("compiler.py")
@pytest.mark.parametrize("changed", ["compiler.py", "expander.py", "emit/memory.py", "emit/another.py"])
def test_all_that_generates_code_is_part_of_the_key(tmp_path: Path, changed: str) -> None:
    """The package is copied twice, and a comment more in one file of a copy, or a file more, gives other keys."""
    keys = set()
    for name, more in (("as_it_is", ""), ("changed", "# another thing\n")):
        shutil.copytree(Path(compiler.__file__).parent, tmp_path / name / "insync" / "machine")
        with open(tmp_path / name / "insync" / "machine" / changed, "a") as file:
            file.write(more)
        keys.add(key_in(tmp_path / name))
    assert len(keys) == 2


def key_in(folder: Path) -> str:
    """A key that is made by the package in a folder."""
    script = (
        f"import sys; import insync; insync.__path__ = [{str(folder / 'insync')!r}, *insync.__path__];"
        "from insync.machine import identity; print(identity.words_key('store', 2))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


def test_another_compiler_or_processor_needs_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    here = compiler.machine_key()
    compiler.machine_key.cache_clear()
    monkeypatch.setattr(compiler, "_host", lambda: ("another", "+feature"))
    try:
        assert compiler.machine_key() != here
    finally:
        compiler.machine_key.cache_clear()
