from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest

from insync.explorer import Limits
from insync.explorer.agree import Agreement, Opinion, agree, local_engine
from insync.explorer.export.promela import promela_files
from insync.explorer.results import Verdict
from insync.explorer.spin import SpinTools, find_spin, spin_engine, spin_opinion
from insync.model import Model
from insync.model.catalogue import find_model
from insync.properties.registry import confined, invariants_of
from insync.runtime.errors import InternalError, UserError
from insync.runtime.watch import StopReason
from insync_corners import Late
from insync_toys import TOYS, Clock, Overflow

ROOT = Path(__file__).parents[2]
needs_spin = pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("cc") is None, reason="Spin and a C compiler are not installed"
)


def agreed(model: Model, properties: Sequence[str] | None = None, limits: Limits | None = None) -> Agreement:
    engines = {"local": local_engine(1), "spin": spin_engine(find_spin())}
    found = agree(model, engines=engines, properties=properties, limits=limits or Limits(seconds=60))
    assert found.differences == ()
    assert found.agreed, [opinion.note for opinion in found.opinions]
    return found


@pytest.mark.slow_for("6")
@needs_spin
@pytest.mark.parametrize("number", range(0, len(TOYS), 6))
def test_spin_finds_what_machine_code_finds(number: int) -> None:
    agreed(TOYS[number], list(invariants_of(TOYS[number])))


@needs_spin
@pytest.mark.slow
@pytest.mark.parametrize("number", [number for number in range(len(TOYS)) if number % 6])
def test_spin_finds_what_machine_code_finds_in_the_other_toys(number: int) -> None:
    agreed(TOYS[number], list(invariants_of(TOYS[number])))


@pytest.mark.slow
@needs_spin
def test_a_refused_step_fails_type_ok_after_as_many_states() -> None:
    found = agreed(Overflow())
    assert found.opinions[1].failing == found.opinions[0].failing == {"type_ok": 3}
    assert agreed(Late()).opinions[1].verdict is Verdict.VIOLATED


@pytest.mark.slow
@needs_spin
def test_a_model_that_is_confined_is_searched_as_far() -> None:
    reference = f"{ROOT}/examples/tlaplus/alternating_bit.py:AlternatingBit"
    ours, spins = agreed(confined(find_model(reference)(), None)).opinions
    assert (ours.levels, ours.states, ours.taken) == (spins.levels, spins.states, spins.taken)
    assert spins.states == sum(spins.levels or ())


@pytest.mark.slow
@needs_spin
@pytest.mark.parametrize("limits", [pytest.param(Limits(depth=3), marks=pytest.mark.slow), Limits(states=6)])
def test_a_limit_ends_it_with_the_same_level(limits: Limits) -> None:
    ours, spins = agreed(Clock(), limits=limits).opinions
    assert spins.verdict is Verdict.INCOMPLETE
    assert (spins.levels, spins.stopped_by) == (ours.levels, ours.stopped_by)


@needs_spin
@pytest.mark.parametrize("how", ["time", "interrupt"])
def test_what_is_stopped_has_no_verdict(how: str) -> None:
    stop = Event()
    if how == "interrupt":
        stop.set()
    said = spin_engine(find_spin())(Clock(), [], Limits(seconds=0 if how == "time" else None), stop)
    assert (said.verdict, said.stopped_by) == (None, StopReason(how))


@pytest.mark.slow
@needs_spin
def test_a_text_that_is_not_the_models_is_noticed() -> None:
    model = Clock()
    (text,) = promela_files(model, ["hand_on_dial"] if "hand_on_dial" in invariants_of(model) else [], "m").values()
    lines = text.split("\n")
    wrong = next(
        n for n, line in enumerate(lines) if line.startswith("  now.") and n > lines.index("static void step_0(void) {")
    )
    lines[wrong] = lines[wrong].partition("=")[0] + "= 1;"
    said = spin_opinion(find_spin(), model, [], "\n".join(lines), Limits(seconds=60))
    right = spin_opinion(find_spin(), model, [], text, Limits(seconds=60))
    assert said.levels != right.levels


def fake(folder: Path, spin: str, compiler: str = "exit 0", pan: str = "exit 0") -> SpinTools:
    """Programs in the place of Spin and the compiler; `pan` is what the second one makes."""
    texts = {"spin": spin, "cc": f"printf '#!/bin/sh\\n%s\\n' '{pan}' > pan; chmod +x pan; {compiler}"}
    for name, text in texts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return SpinTools(str(folder / "spin"), str(folder / "cc"))


def asked(tools: SpinTools) -> Opinion:
    return spin_engine(tools)(Clock(), [], Limits(seconds=60), None)


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ({"spin": "echo bad syntax; exit 1"}, "Spin refuses the exported model: bad syntax"),
        ({"spin": "exit 0", "compiler": "echo no such thing; exit 1"}, "compiler refuses the exported model: no such"),
        ({"spin": "exit 0", "pan": "echo crashed"}, "prints no counts: crashed"),
    ],
)
def test_what_a_tool_refuses_is_an_error_of_insync(tmp_path: Path, tools: dict[str, str], said: str) -> None:
    with pytest.raises(InternalError, match=said):
        asked(fake(tmp_path, **tools))


def test_counts_that_do_not_fit_what_spin_stored_are_an_error(tmp_path: Path) -> None:
    levels = "counted levels 1 1\\ncounted outside 0 0\\ncounted steps 1 0\\ncounted failing 0\\n"
    printed = f'printf "{levels}4 states, stored\\n4 transitions (= stored)\\n"'
    with pytest.raises(InternalError, match="counts 3 states and 3 steps, and Spin stored 4 and took 4"):
        asked(fake(tmp_path, "exit 0", pan=printed))


def test_a_last_level_whose_states_are_all_outside_is_none(tmp_path: Path) -> None:
    counted = "counted levels 1 1 0\\ncounted outside 0 0 1\\ncounted steps 2\\ncounted failing 0\\n"
    found = asked(fake(tmp_path, "exit 0", pan=f'printf "{counted}4 states, stored\\n4 transitions (= stored)\\n"'))
    assert (found.verdict, found.levels, found.depth, found.states) == (Verdict.HOLDS, (1, 1), 2, 2)


@pytest.mark.parametrize(
    ("there", "compiler", "said"),
    [
        ([], "", "needs Spin"),
        (["spin"], "", "needs a C compiler, and there is none"),
        (["spin"], "tcc", "CC names tcc"),
    ],
)
def test_a_tool_that_is_not_there_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: list[str], compiler: str, said: str
) -> None:
    for name in there:
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", compiler)
    with pytest.raises(UserError, match=said):
        find_spin()
