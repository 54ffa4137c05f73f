"""`note`: which abstract states the walks of a batch are in, for generated code."""

from __future__ import annotations

from insync.machine.emit.builder import I64, PTR, VOID, Function, Module, Value
from insync.machine.emit.choosing import Places
from insync.machine.emit.lowering import Lowering, Shape
from insync.machine.emit.memory import Fields, Rows, read_row, span_of, with_spans, write_row
from insync.machine.emit.sighting import see_function
from insync.machine.packed import BATCH
from insync.machine.walker import NO_WALK, PlaceField, WalkField
from insync.model.abstraction import Abstraction
from insync.model.schema import Schema

__all__ = ["note_function"]


def note_function(m: Module, schema: Schema, abstraction: Abstraction) -> Function:
    """Define `note(context, begins)`: note the abstract state at each place with a walk.

    With `begins` it does so only where the walk has taken no step yet.
    """
    see, abstract = see_function(m, abstraction.schema.words), _abstract_function(m, schema, abstraction)
    b = m.function("note", VOID, (PTR, I64))
    context, begins = Fields(b, b.arguments[0]), b.arguments[1]
    places, rows = Places(b, context), Rows(b, context.pointer(WalkField.ROWS), schema.words)
    sightings, made = context.pointer(WalkField.SIGHTINGS), b.space(I64, abstraction.schema.words, 8)
    with b.loop(BATCH) as number:
        place = places[number]
        asked = begins.equals(0) | place[PlaceField.TAKEN].equals(0)
        with b.when(place[PlaceField.NUMBER].differs(NO_WALK) & asked):
            b.call(abstract, rows.at(number), made)
            b.call(see, sightings, made, place[PlaceField.NUMBER])
    return b


def _abstract_function(m: Module, schema: Schema, abstraction: Abstraction) -> Function:
    """Define `abstract(row, to)`: write the abstract state of a state."""
    b = m.function("abstract", VOID, (PTR, PTR))
    row = read_row(b, b.arguments[0], schema.words)
    lowering = Lowering(schema, [word.operand for word in row], Shape(1), b)
    codes = {
        span_of(abstraction.schema, number): Value(b, I64, lowering.operand(node))
        for number, node in enumerate(abstraction.codes)
    }
    write_row(b, b.arguments[1], with_spans([b.typed(I64, 0)] * abstraction.schema.words, codes))
    return b
