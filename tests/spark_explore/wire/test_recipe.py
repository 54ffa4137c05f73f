from __future__ import annotations

from insync.machine.kernels import Part, compile_kernels, load
from insync.machine.packed import PackedRows
from insync.model.abstraction import abstraction_of
from insync.model.expressions.graph import Op
from insync.spark_explore.wire.code_bundle import read_recipe, recipe_for, write_recipe
from insync_initials import SelfStabilizing
from insync_toys import DieHard, TokenRing


def test_a_recipe_is_read_as_it_was_written() -> None:
    model = TokenRing()
    program = model.program
    program = program.confined([program.graph.node(Op.LT, (program.graph.cell(0), program.graph.const(1)))])
    recipe = recipe_for(program, [program.graph.true], tuple(Part), abstraction=abstraction_of(model))
    assert read_recipe(write_recipe(recipe)) == recipe
    assert [text.part for text in recipe.texts.parts] == list(Part)


def test_a_recipe_has_all_initial_states() -> None:
    program = SelfStabilizing(nodes=3, most=4).program
    recipe = read_recipe(write_recipe(recipe_for(program)))
    assert recipe.initials.count == 64
    assert recipe.starts == program.initials.rows.tobytes()


def test_a_recipe_gives_the_kernels_of_the_program() -> None:
    program = DieHard().program
    graph = program.graph
    never_full = graph.node(Op.LT, (graph.cell(1), graph.const(5)))
    states = PackedRows([program.schema.pack((small, big)) for small in range(4) for big in range(6)])
    found = []
    for kernels in (load(recipe_for(program, [never_full]).texts), compile_kernels(program, [never_full])):
        checker, expander = kernels.checker(), kernels.expander(1, 1 << 16, (2**64 - 1,))
        checker.check(states.address, states.count)
        assert expander.expand(states.address, states.count) == states.count
        found.append((checker.take(), list(expander.states(0)), expander.take_steps()))
        checker.close()
        expander.close()
    assert found[0] == found[1]
    assert found[0][0][0].count == 4
