from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from insync.explorer.export import export, promela
from insync.explorer.export.promela import MOST_INITIALS, promela_files, promela_text
from insync.model import BoundValues, Int, Model, State, StateView, action
from insync.model.catalogue import find_model
from insync.model.evaluator import Codes, Evaluator, evaluate
from insync.model.expressions.graph import Node
from insync.properties.registry import confined, invariants_of, judge
from insync.runtime.errors import DomainError, UserError
from insync_promela import Function, functions_of
from insync_toys import TOYS, Commit
from insync_words import Council

ROOT = Path(__file__).parents[3]
KAFKA: tuple[tuple[str, dict[str, int | str]], ...] = (
    ("kip320", {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 1}),
    ("async_isr", {"replicas": 3, "max_offset": 1, "max_version": 1}),
    ("placement", {}),
    ("cluster", {"replicas": 2, "records": 1}),
)
MODELS = [pytest.param(toy, id=f"{toy.name}-{number}") for number, toy in enumerate(TOYS)]
MODELS += [pytest.param(Council(members=members), id=f"council-{members}") for members in (0, 2)]
MODELS += [pytest.param(find_model(name)(**bounds), id=name) for name, bounds in KAFKA]


class Exported:
    """An exported text, executed: states are codes, as the model has them."""

    def __init__(self, model: Model, conditions: Mapping[str, Node]) -> None:
        text = promela_text(model, conditions)
        self.functions = functions_of(text)
        names = re.findall(r'^(?:byte|int|c_state "long long) (v_\w+)', text, re.MULTILINE)
        self.names = dict(
            zip((cell.number for cell in model.program.schema.cells if cell.size > 1), names, strict=True)
        )
        self.cells = len(model.program.schema.cells)

    def named(self, codes: Codes) -> dict[str, int]:
        return {name: codes[cell] for cell, name in self.names.items()}

    def holds(self, function: str, codes: Codes) -> bool:
        return bool(self.functions[function](self.named(codes)))

    def after(self, function: str, codes: Codes) -> Codes:
        now = self.named(codes)
        self.functions[function](now)
        assert now.keys() <= set(self.names.values())
        return tuple(now[self.names[cell]] if cell in self.names else 0 for cell in range(self.cells))


def test_the_functions_of_a_text_are_found() -> None:
    found: dict[str, Function] = functions_of(promela_text(TOYS[0], {}))
    assert {"start_0", "guard_0", "step_0", "property_0", "outside"} <= set(found)


@pytest.mark.slow_for("cluster")
@pytest.mark.parametrize("model", MODELS)
def test_the_text_means_what_the_evaluator_means(model: Model) -> None:
    judged = judge(model, invariants_of(model))
    exported, evaluator = Exported(model, judged.conditions), Evaluator(model.program)
    zero = (0,) * exported.cells
    starts = [exported.after(name, zero) for name in exported.functions if name.startswith("start_")]
    assert starts == list(model.program.initials)
    choose = random.Random(7)
    for _ in range(3):
        codes = choose.choice(starts)
        for _ in range(12):
            same_outcomes(exported, evaluator, codes)
            for number, node in enumerate(judged.nodes):
                assert exported.holds(f"property_{number}", codes) == bool(evaluate(node, codes))
            able = [n for n in evaluator.enabled(codes) if evaluator.failing_check(n, codes) is None]
            if not able:
                break
            codes = evaluator.step(choose.choice(able), codes)


def same_outcomes(exported: Exported, evaluator: Evaluator, codes: Codes) -> None:
    """The same actions lead to the same states, and a step is refused where the evaluator refuses one."""
    refused = False
    enabled = set(evaluator.enabled(codes))
    for number in range(len(evaluator.program.actions)):
        try:
            after = evaluator.step(number, codes) if number in enabled else None
        except DomainError:
            after, refused = None, True
        assert exported.holds(f"guard_{number}", codes) == (after is not None)
        if after is not None:
            assert exported.after(f"step_{number}", codes) == after
    type_ok = max((name for name in exported.functions if name.startswith("property_")), key=lambda n: int(n[9:]))
    assert exported.holds(type_ok, codes) == (not refused)


class Swap(Model):
    """Two numbers change places."""

    def declare(self, b: BoundValues) -> State:
        return State(one=Int(0, 3), other=Int(0, 3))

    @action
    def swap(self, s: StateView) -> None:
        """The two change places."""
        before = s.one + 0
        s.one = s.other
        s.other = before


def test_a_step_that_copies_a_cell_and_changes_it_reads_it_first() -> None:
    assert Exported(Swap(), {}).after("step_0", (1, 2)) == (2, 1)


def test_more_initial_states_than_are_written_are_refused() -> None:
    reference = f"{ROOT}/examples/tlaplus/token_ring.py:TokenRing"
    with pytest.raises(UserError, match=f"has 46656 initial states, and Promela can have {MOST_INITIALS} here"):
        promela_files(find_model(reference)(), [], "m")


@pytest.mark.parametrize(("size", "declared"), [(256, "byte"), (257, "int"), (2**31, "int"), (2**31 + 1, "c_state")])
def test_a_cell_has_a_variable_that_is_wide_enough(size: int, declared: str) -> None:
    class Wide(Model):
        """One number."""

        def declare(self, b: BoundValues) -> State:
            return State(number=Int(0, size - 1))

        @action
        def stay(self, s: StateView) -> None:
            """Nothing changes."""
            s.number = s.number + 0

    line = next(line for line in promela_text(Wide(), {}).split("\n") if "v_number" in line)
    assert line.split()[0] == declared


def test_the_lock_as_promela() -> None:
    """Read what changed; if it was meant, `insync export examples/lock.py:Lock --to promela` writes the file."""
    text = export(f"{ROOT}/examples/lock.py:Lock", to="promela")["lock.pml"]
    assert text == (Path(__file__).parent / "lock.pml").read_text()


def test_a_long_function_comes_in_pieces_that_spin_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promela, "_LONGEST", 120)
    model = Commit(parties=2)
    text = promela_text(model, judge(model).conditions)
    assert "<%" in text
    pieces = re.findall(r"^static \w+ \w+\(void\) <%\n(.*?)^}$", text, re.DOTALL | re.MULTILINE)
    assert max(map(len, pieces)) < 240
    test_the_text_means_what_the_evaluator_means(model)


def test_what_the_model_is_confined_to_guards_every_step() -> None:
    reference = f"{ROOT}/examples/tlaplus/alternating_bit.py:AlternatingBit"
    model = confined(find_model(reference)(), None)
    exported = Exported(model, {})
    assert any("outside" in name for name in exported.functions)
    assert model.program.within
    test_the_text_means_what_the_evaluator_means(model)
