"""What shells are offered, asked by Click's own protocol: the words of the line, and which of them is not finished."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import FishComplete, ShellComplete, ZshComplete

from insync.cli.completion import begin_completing
from insync.cli.group import insync as group
from insync.cli.options.values import Named, OutputPath, Seconds, Size, Whole
from insync.kafka.defects import DEFECTS
from insync.kafka.releases import Release
from insync.model.catalogue import BUILT_IN

MODEL = """
from insync.model import *
print("loaded")
class Base(Model): pass
class Lock(Base):
    bounds = Bounds(holders=Bound(2, 1, 4, "who may hold it"))
    def declare(self, b):
        return State(held=Bool)
    @action
    def take(self, s):
        s.held = True
class Other: pass
"""

Ask = Callable[[str], list[str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(MODEL)
    (tmp_path / "broken.py").write_text("class Model(:")
    (tmp_path / "plain.py").write_text("class Model: pass")
    (tmp_path / "deeper").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "out.json").write_text(json.dumps({"format": "insync-trace/1", "model": "kip101"}))
    (tmp_path / "other.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bash(line: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what bash is offered; it divides words at `:` and `=`, which is done here by spaces."""
    from click.shell_completion import get_completion_class

    begin_completing()
    words = line.split(" ")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    asked = get_completion_class("bash")
    assert asked is not None
    said = asked(group, {}, "insync", "_INSYNC_COMPLETE").complete()
    return [word.partition(",")[2] for word in said.splitlines()]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    return lambda line: bash(line, monkeypatch)


def test_models_are_those_of_insync_and_of_files(ask: Ask, folder: Path) -> None:
    assert ask("insync check kip32") == ["kip320_first_try", "kip320"]
    assert ask("insync check ") == [*BUILT_IN, "deeper/", "mine.py:Base", "mine.py:Lock"]
    assert ask("insync list mine") == ["mine.py:Base", "mine.py:Lock"]
    assert ask(f"insync replay out.json --model {folder}/mi") == [
        f"{folder}/mine.py:{name}" for name in ("Base", "Lock")
    ]
    assert ask("insync check nowhere/x") == []


def test_bash_puts_a_word_in_the_place_of_the_part_behind_a_colon(ask: Ask, folder: Path) -> None:
    assert ask("insync check mine.py :") == ["Base", "Lock"]
    assert ask("insync check mine.py : L") == ["Lock"]
    assert ask("insync check mine.py : Lock --ho") == ["--holders"]
    assert ask("insync check mine.py : Lock --holders ") == ["1", "2", "3", "4"]


def test_bash_is_given_spaces_as_it_wants_them(ask: Ask, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mine.py").rename(folder / "our own.py")
    assert ask("insync check our") == [r"our\\ own.py:Base", r"our\\ own.py:Lock"]
    monkeypatch.setenv("HOME", str(folder))
    assert ask("insync check ~/our") == [rf"~/our\\ own.py:{name}" for name in ("Base", "Lock")]


def test_the_output_of_a_file_is_not_offered(folder: Path, ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    ask("insync check mine.py : Lock --ho")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("model", ["broken.py : Model", "nonsense", "mine.py : Nothing", "gone.py : Lock"])
def test_a_model_that_is_not_there_has_the_options_of_the_command(model: str, folder: Path, ask: Ask) -> None:
    assert ask(f"insync check {model} --keep") == ["--keep-going"]


def test_bounds_and_settings_are_those_of_the_model(ask: Ask) -> None:
    assert "--max-leader-epoch" in ask("insync check kip320 --max-")
    assert "--max-leader-epoch" not in ask("insync check async_isr --max-")
    assert ask("insync check cluster --release ") == [release.value for release in Release]
    assert ask("insync ask --release = 0.1") == ["0.10.2", "0.11"] == ask("insync ask --release 0.1")
    assert ask("insync check cluster --acks ") == ["0", "1", "all"]
    assert ask("insync check kip320 --max-depth ") == []


def test_properties_and_actions_are_those_of_the_model(ask: Ask) -> None:
    assert ask("insync check kip320 --property s") == ["strong_isr"]
    assert ask("insync check kip320 --within n") == ["none"]
    assert ask("insync explore kip320 --violation n") == []
    assert ask("insync explore kip320 --violation s") == ["strong_isr"]
    assert ask("insync liveness kip320 --property tw") == ["two_leaders"]
    assert ask("insync mutate kip320 --action follower") == ask("insync liveness kip320 --weak follower") != []
    assert ask("insync mutate --action f") == []
    assert ask("insync why kip320 leader_w") == ["leader_write"]
    assert ask("insync prove kip320 --lemma al") == ["all"]


def test_defects_releases_and_trace_files_are_offered(ask: Ask, folder: Path) -> None:
    assert ask("insync defects N-0") == [name for name in DEFECTS if name.startswith("N-0")]
    assert ask("insync kafka fetch 4.4") == ["4.4.0"] == ask("insync kafka replay R-26 --kafka 4.4")
    assert ask("insync replay ") == ["deeper/", "out.json"]
    assert ask("insync diff kip101 ") == [*BUILT_IN, "deeper/", "mine.py:Base", "mine.py:Lock", "out.json"]
    assert ask("insync kafka replay ou") == ["out.json"]
    assert ask("insync kafka replay R-26") == ["R-26"] == ask("insync kafka bisect R-26")
    assert ask("insync kafka patch N-15") == ["N-15"] == ask("insync kafka validate x --fixed N-15")
    newest = [release.value for release in Release if release.value.startswith("4.")]
    assert ask("insync kafka validate run.json --release 4.") == newest


def parameters() -> Iterator[tuple[str, click.Parameter]]:
    """Return each argument and each option with a value, of all commands."""
    left: list[tuple[str, click.Command]] = [("", group)]
    while left:
        path, command = left.pop()
        if isinstance(command, click.Group):
            ctx = click.Context(command)
            parts = [(name, command.get_command(ctx, name)) for name in command.list_commands(ctx)]
            left += [(f"{path} {name}", part) for name, part in parts if part is not None]
        for param in command.params:
            if not isinstance(param, click.Option) or not (param.is_flag or param.count):
                yield f"{path} {param.opts[-1]}".strip(), param


def test_every_name_that_can_be_known_is_offered() -> None:
    """What takes a name, a model or a trace says what there is; what takes a file leaves that to the shell."""
    offered = (click.Choice, click.Path, Named, OutputPath, Whole, Seconds, Size, click.types.IntParamType)
    open_ended = {"DIR", "URL", "OUT", "RUN_DIR", "ADDRESS", "TOPIC"}
    silent = [
        name
        for name, param in parameters()
        if param._custom_shell_complete is None
        and not isinstance(param.type, offered)
        and (param.metavar or "").strip("[].") not in open_ended
    ]
    assert silent == []


@pytest.mark.parametrize("shell", [ZshComplete, FishComplete])
def test_other_shells_have_the_whole_word(
    shell: type[ShellComplete], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMP_WORDS", "insync check mine.py:L")
    monkeypatch.setenv("COMP_CWORD", "2" if shell is ZshComplete else "mine.py:L")
    assert "mine.py:Lock" in shell(group, {}, "insync", "_INSYNC_COMPLETE").complete()


@pytest.mark.slow
def test_a_shell_that_asks_loads_neither_llvm_nor_z3(tmp_path: Path) -> None:
    """In a process of its own, as this one has them; bash runs the function that it was given."""
    script = (
        "import sys; from insync.cli.main import run\n"
        "sys.argv = ['insync']\n"
        "code = run([])\n"
        "heavy = {'llvmlite', 'z3', 'numpy', 'pyspark', 'pyarrow', 'networkx'} & set(sys.modules)\n"
        "sys.exit(f'{code} {heavy}' if code or heavy else 0)\n"
    )
    words = "insync check cluster --release 4."
    asked = {"COMP_WORDS": words, "COMP_CWORD": "4", "_INSYNC_COMPLETE": "bash_complete"}
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **asked}, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "plain,4.1" in done.stdout.splitlines()
