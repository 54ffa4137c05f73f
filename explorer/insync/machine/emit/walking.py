"""IR of `walk`: random walks, a batch of them side by side, each with random numbers of its own.

A walk is a function of the seed and its number alone. A place in the batch whose walk has ended takes the next number.
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.machine.emit.loops import bits_of_masks, counted, field, function, offset, when
from insync.machine.emit.lowering import LANES
from insync.machine.emit.masks import columns_function, masks_functions
from insync.machine.emit.rows import INTRINSICS, load_row, store_row
from insync.machine.emit.transitions import StepsText, steps_functions
from insync.machine.sizes import BATCH, BLOCKS, MASK_BYTES
from insync.machine.walker import PlaceField, WalkField
from insync.model.graph import Node
from insync.model.program import Program

__all__ = ["walk_module"]

_NONE = -1


def walk_module(program: Program, violated: Sequence[Node]) -> str:
    """Return the IR module that defines `walk`.

    `walk(context)` takes the walks NEXT .. END-1. A walk ends after DEPTH steps, in a state without a step, at a step
    whose checks fail, or in a state that violates a property. Of those that fail the one with the smallest number is
    recorded: the property is its place in `violated`, or their number for a failing check, whose action ends the path.
    The initial state is not checked.

    Args:
        program: the actions.
        violated: for each property the condition that it is violated.
    """
    schema, actions = program.schema, program.actions
    guards, guard_calls = masks_functions("guards", schema, [action.guard for action in actions])
    checks, check_calls = masks_functions("violated", schema, [(node,) for node in violated])
    refused = (
        field("rows", WalkField.ROWS)
        + "  %from = ptrtoint ptr %rows to i64\n  %at = ptrtoint ptr %row to i64\n  %byte = sub i64 %at, %from\n"
        + f"  %i = udiv i64 %byte, {8 * schema.words}\n"
        + f"  call void @fail(ptr %context, i64 %i, i64 {len(violated)})\n"
    )
    each = "  %behind = call ptr %step(ptr %row, ptr %row, ptr %context)\n"
    text = StepsText(WalkField.STEPS, start="", each=each, refused=refused)
    return "".join(
        [
            INTRINSICS,
            columns_function(schema.words),
            guards,
            checks,
            _RANDOM,
            _PLACE,
            _FINISH,
            _FAIL,
            _begin_function(schema.words),
            _choose_function(len(actions)),
            _judge_function(len(violated)),
            steps_functions(program, text),
            _walk_function(guard_calls, check_calls),
        ]
    )


def _place_fields(*fields: PlaceField) -> str:
    text = "  %place = call ptr @place(ptr %places, i64 %i)\n"
    for part in fields:
        name = part.name.lower()
        text += offset(f"{name}.p", "%place", str(8 * part)) + f"  %{name} = load i64, ptr %{name}.p, align 8\n"
    return text


# One step of a Weyl sequence and the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
_RANDOM = """
define internal i64 @mix(i64 %x) alwaysinline nounwind {
  %a = lshr i64 %x, 30
  %b = xor i64 %x, %a
  %c = mul i64 %b, -4658895280553007687
  %d = lshr i64 %c, 27
  %e = xor i64 %c, %d
  %f = mul i64 %e, -7723592293110705685
  %g = lshr i64 %f, 31
  %h = xor i64 %f, %g
  ret i64 %h
}

define internal i64 @draw(ptr %state, i64 %below) alwaysinline nounwind {
  %old = load i64, ptr %state, align 8
  %new = add i64 %old, -7046029254386353131
  store i64 %new, ptr %state, align 8
  %random = call i64 @mix(i64 %new)
  %wide = zext i64 %random to i128
  %limit = zext i64 %below to i128
  %scaled = mul i128 %wide, %limit
  %high = lshr i128 %scaled, 64
  %drawn = trunc i128 %high to i64
  ret i64 %drawn
}
"""

_PLACE = f"""
define internal ptr @place(ptr %places, i64 %i) alwaysinline nounwind {{
  %byte = mul i64 %i, {8 * len(PlaceField)}
{offset("place", "%places", "%byte")}  ret ptr %place
}}
"""

_FINISH = function(
    "internal void @finish(ptr %context, i64 %i) nounwind",
    field("places", WalkField.PLACES)
    + field("lengths", WalkField.LENGTHS)
    + _place_fields(PlaceField.NUMBER, PlaceField.TAKEN)
    + f"""  store i64 {_NONE}, ptr %number.p, align 8
  %counter = getelementptr i64, ptr %lengths, i64 %taken
  %old = load i64, ptr %counter, align 8
  %new = add i64 %old, 1
  store i64 %new, ptr %counter, align 8
""",
)

_FAIL = function(
    "internal void @fail(ptr %context, i64 %i, i64 %property) noinline nounwind",
    field("places", WalkField.PLACES)
    + field("paths", WalkField.PATHS)
    + field("depth", WalkField.DEPTH, "i64")
    + field("failed", WalkField.FAILED)
    + _place_fields(PlaceField.NUMBER, PlaceField.TAKEN)
    + "  %best = load i64, ptr %failed, align 8\n"
    + when(
        "lower",
        "icmp ult i64 %number, %best",
        f"""  store i64 %number, ptr %failed, align 8
{offset("property.p", "%failed", "8")}  store i64 %property, ptr %property.p, align 8
{offset("count.p", "%failed", "16")}  store i64 %taken, ptr %count.p, align 8
{offset("to", "%failed", "24")}  %first = mul i64 %i, %depth
  %from = getelementptr i32, ptr %paths, i64 %first
  %size = mul i64 %taken, 4
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
""",
    )
    + "  call void @finish(ptr %context, i64 %i)\n",
    [],
)
_FAIL = "\ndeclare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n" + _FAIL


def _begin_function(words: int) -> str:
    """`@begin(context) -> busy`: put the next walks into the idle places; return how many places are busy."""
    load, row = load_row("n", "%initial", words)
    fields = (
        field("seed", WalkField.SEED, "i64")
        + field("next", WalkField.NEXT, "i64")
        + field("last", WalkField.END, "i64")
        + field("initial", WalkField.INITIAL)
        + field("rows", WalkField.ROWS)
        + field("places", WalkField.PLACES)
        + load
        + "  store i64 %next, ptr %new.var, align 8\n  store i64 0, ptr %busy.var, align 8\n"
    )
    fill = f"""  %number.next = add i64 %walk, 1
  store i64 %number.next, ptr %new.var, align 8
  store i64 %walk, ptr %number.p, align 8
  %own = call i64 @mix(i64 %number.next)
  %both = xor i64 %own, %seed
  %start = call i64 @mix(i64 %both)
  store i64 %start, ptr %random.p, align 8
  store i64 0, ptr %taken.p, align 8
  %byte = mul i64 %i, {8 * words}
{offset("row", "%rows", "%byte")}{store_row("s", "%row", row)}"""
    each = _place_fields(PlaceField.NUMBER, PlaceField.RANDOM, PlaceField.TAKEN)
    each += f"""  %walk = load i64, ptr %new.var, align 8
  %idle = icmp eq i64 %number, {_NONE}
  %more = icmp ult i64 %walk, %last
"""
    each += when("fill", "and i1 %idle, %more", fill)
    each += f"""  %now = load i64, ptr %number.p, align 8
  %works = icmp ne i64 %now, {_NONE}
  %one = zext i1 %works to i64
  %busy = load i64, ptr %busy.var, align 8
  %busy.more = add i64 %busy, %one
  store i64 %busy.more, ptr %busy.var, align 8
"""
    body = fields + counted("i", str(BATCH), each)
    body += "  %reached = load i64, ptr %new.var, align 8\n  store i64 %reached, ptr %next.p, align 8\n"
    body += "  %all = load i64, ptr %busy.var, align 8\n"
    return function("internal i64 @begin(ptr %context) nounwind", body, ["i", "new", "busy"], "ret i64 %all")


def _choose_function(actions: int) -> str:
    """`@choose(context)`: for every place with a walk draw one of the enabled actions, and set its bit in CHOSEN."""
    fields = (
        field("places", WalkField.PLACES)
        + field("masks", WalkField.MASKS)
        + field("chosen", WalkField.CHOSEN)
        + field("paths", WalkField.PATHS)
        + field("depth", WalkField.DEPTH, "i64")
        + field("stuck", WalkField.STUCK)
        + f"  call void @llvm.memset.p0.i64(ptr %chosen, i8 0, i64 {actions * MASK_BYTES}, i1 false)\n"
    )
    zero = "".join(
        f"""  %z.place = call ptr @place(ptr %places, i64 %z)
{offset("z.enabled.p", "%z.place", str(8 * PlaceField.ENABLED))}  store i64 0, ptr %z.enabled.p, align 8
"""
    )
    count = f"""  %c.place = call ptr @place(ptr %places, i64 %c)
{offset("c.enabled.p", "%c.place", str(8 * PlaceField.ENABLED))}  %c.old = load i64, ptr %c.enabled.p, align 8
  %c.new = add i64 %c.old, 1
  store i64 %c.new, ptr %c.enabled.p, align 8
"""
    first = f"  %first = mul i64 %a, {BLOCKS}\n"
    body = fields + counted("z", str(BATCH), zero)
    body += counted("a", str(actions), first + bits_of_masks("c", "%masks", "%first", BLOCKS, count))
    body += counted("i", str(BATCH), _draw()) + counted("b", str(actions), _pick())
    names = ["z", "a", "c.block", "c.bit", "i", "b", "d.block", "d.bit"]
    return function("internal void @choose(ptr %context) nounwind", body, names)


def _draw() -> str:
    """For each place: how many enabled actions to pass over. A walk without one ends; nothing is drawn for no walk."""
    stuck = """  %old = load i64, ptr %stuck, align 8
  %new = add i64 %old, 1
  store i64 %new, ptr %stuck, align 8
  call void @finish(ptr %context, i64 %i)
"""
    alive = "  %dead = icmp eq i64 %enabled, 0\n  br i1 %dead, label %lost, label %alive\nlost:\n" + stuck
    alive += "  br label %i.test\nalive:\n  %drawn = call i64 @draw(ptr %random.p, i64 %enabled)\n"
    alive += "  store i64 %drawn, ptr %enabled.p, align 8\n"
    return _place_fields(PlaceField.NUMBER, PlaceField.RANDOM, PlaceField.ENABLED) + when(
        "walks", f"icmp ne i64 %number, {_NONE}", alive
    )


def _pick() -> str:
    """For each enabled action: pass over it, or choose it."""
    choose = f"""  %row.b = mul i64 %b, {MASK_BYTES}
  %byte.b = lshr i64 %d, 3
  %at = add i64 %row.b, %byte.b
{offset("bits.p", "%chosen", "%at")}  %bits = load i8, ptr %bits.p, align 1
  %in.byte = and i64 %d, 7
  %narrow = trunc i64 %in.byte to i8
  %bit = shl i8 1, %narrow
  %bits.new = or i8 %bits, %bit
  store i8 %bits.new, ptr %bits.p, align 1
  %path.first = mul i64 %d, %depth
  %path.at = add i64 %path.first, %d.taken
  %path.p = getelementptr i32, ptr %paths, i64 %path.at
  %action = trunc i64 %b to i32
  store i32 %action, ptr %path.p, align 4
  %d.more = add i64 %d.taken, 1
  store i64 %d.more, ptr %d.taken.p, align 8
"""
    each = f"""  %d.place = call ptr @place(ptr %places, i64 %d)
{offset("d.enabled.p", "%d.place", str(8 * PlaceField.ENABLED))}  %d.over = load i64, ptr %d.enabled.p, align 8
{offset("d.taken.p", "%d.place", str(8 * PlaceField.TAKEN))}  %d.taken = load i64, ptr %d.taken.p, align 8
{offset("d.number.p", "%d.place", str(8 * PlaceField.NUMBER))}  %d.number = load i64, ptr %d.number.p, align 8
  %d.less = sub i64 %d.over, 1
  store i64 %d.less, ptr %d.enabled.p, align 8
  %d.walks = icmp ne i64 %d.number, {_NONE}
  %d.now = icmp eq i64 %d.over, 0
"""
    each += when("d.here", "and i1 %d.walks, %d.now", choose)
    return f"  %b.first = mul i64 %b, {BLOCKS}\n" + bits_of_masks("d", "%masks", "%b.first", BLOCKS, each)


def _judge_function(properties: int) -> str:
    """`@judge(context)`: end the walks that violate a property, the first one that they do, and those that are done."""
    fields = (
        field("places", WalkField.PLACES) + field("masks", WalkField.VIOLATED) + field("depth", WalkField.DEPTH, "i64")
    )
    fail = when("v.walks", f"icmp ne i64 %v.number, {_NONE}", "  call void @fail(ptr %context, i64 %v, i64 %p)\n")
    violated = f"""  %v.place = call ptr @place(ptr %places, i64 %v)
{offset("v.number.p", "%v.place", str(8 * PlaceField.NUMBER))}  %v.number = load i64, ptr %v.number.p, align 8
{fail}"""
    first = f"  %first = mul i64 %p, {BLOCKS}\n"
    body = fields + counted("p", str(properties), first + bits_of_masks("v", "%masks", "%first", BLOCKS, violated))
    done = _place_fields(PlaceField.NUMBER, PlaceField.TAKEN)
    done += f"  %walks = icmp ne i64 %number, {_NONE}\n  %last = icmp uge i64 %taken, %depth\n"
    done += when("ends", "and i1 %walks, %last", "  call void @finish(ptr %context, i64 %i)\n")
    body += counted("i", str(BATCH), done)
    return function("internal void @judge(ptr %context) nounwind", body, ["p", "v.block", "v.bit", "i"])


def _walk_function(guard_calls: str, check_calls: str) -> str:
    fields = (
        field("rows", WalkField.ROWS)
        + field("columns", WalkField.COLUMNS)
        + field("masks", WalkField.MASKS)
        + field("chosen", WalkField.CHOSEN)
        + field("violated", WalkField.VIOLATED)
    )
    columns = f"  call void @columns(ptr %rows, i64 {BATCH}, ptr %columns)\n"
    guards = guard_calls.replace("%vectors", str(BATCH // LANES))
    checks = check_calls.replace("%vectors", str(BATCH // LANES)).replace("%masks", "%violated")
    body = f"""{fields}  br label %round
round:
  %busy = call i64 @begin(ptr %context)
  %over = icmp eq i64 %busy, 0
  br i1 %over, label %done, label %go
go:
{columns}{guards}  call void @choose(ptr %context)
  call void @steps(ptr %rows, ptr %chosen, ptr %context)
{columns}{checks}  call void @judge(ptr %context)
  br label %round
done:
"""
    return function("i64 @walk(ptr %context) nounwind", body, result="ret i64 0")
