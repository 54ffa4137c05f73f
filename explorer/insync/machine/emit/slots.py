"""IR of the table of one partition: where the store finds a state's place by its hash, and how the table grows.

A table has slots of 64 bits in buckets of one cache line. The high half of a slot is the low half of a state's hash
(the tag), the low half 1 + the state's place among the states, and 0 is an empty slot. A bucket is filled from its
first slot on; a state whose bucket is full goes to the next one, and beyond the last one there are a few spare ones.
The bucket is tag * buckets / 2^32: a larger table has the same order, so a table grows in place, in one pass from its
end, and no memory is touched that is not part of the final table.
"""

from __future__ import annotations

from insync.machine.emit.loops import offset
from insync.machine.store import BUCKET_BYTES, BUCKET_SLOTS, SPARE_BUCKETS, StoreField

__all__ = ["LOCATE", "WIDEN", "load_fields"]

_FILLS = 64
_LINE = f"<{BUCKET_SLOTS} x i64>"


LOCATE = f"""
define internal i64 @match(ptr %bucket, i64 %tag) alwaysinline nounwind {{
  %line = load {_LINE}, ptr %bucket, align 64
  %tags = lshr {_LINE} %line, splat (i64 32)
  %one = insertelement {_LINE} poison, i64 %tag, i32 0
  %all = shufflevector {_LINE} %one, {_LINE} poison, <{BUCKET_SLOTS} x i32> zeroinitializer
  %same = icmp eq {_LINE} %tags, %all
  %full = icmp ne {_LINE} %line, zeroinitializer
  %hits = and <{BUCKET_SLOTS} x i1> %same, %full
  %bits = bitcast <{BUCKET_SLOTS} x i1> %hits to i{BUCKET_SLOTS}
  %wide = zext i{BUCKET_SLOTS} %bits to i64
  ret i64 %wide
}}

define internal i64 @vacant(ptr %bucket) alwaysinline nounwind {{
  %line = load {_LINE}, ptr %bucket, align 64
  %empty = icmp eq {_LINE} %line, zeroinitializer
  %bits = bitcast <{BUCKET_SLOTS} x i1> %empty to i{BUCKET_SLOTS}
  %wide = zext i{BUCKET_SLOTS} %bits to i64
  ret i64 %wide
}}

define internal i64 @place(ptr %bucket, i64 %bits) alwaysinline nounwind {{
  %first = call i64 @llvm.cttz.i64(i64 %bits, i1 true)
  %address = getelementptr i64, ptr %bucket, i64 %first
  %slot = load i64, ptr %address, align 8
  %low = and i64 %slot, 4294967295
  %place = sub i64 %low, 1
  ret i64 %place
}}

define internal i64 @home(i64 %tag, i64 %buckets) alwaysinline nounwind {{
  %scaled = mul i64 %tag, %buckets
  %home = lshr i64 %scaled, 32
  ret i64 %home
}}

define internal i64 @held(ptr %table, ptr %fills, i64 %b) alwaysinline nounwind {{
entry:
  %which = and i64 %b, {_FILLS - 1}
  %address = getelementptr i64, ptr %fills, i64 %which
  %fill = load i64, ptr %address, align 8
  %whose = lshr i64 %fill, 4
  %same = icmp eq i64 %whose, %b
  br i1 %same, label %noted, label %look
noted:
  %count = and i64 %fill, 15
  ret i64 %count
look:
  %byte = mul i64 %b, {BUCKET_BYTES}
{offset("bucket", "%table", "%byte")}  %vacant = call i64 @vacant(ptr %bucket)
  %empty = call i64 @llvm.ctpop.i64(i64 %vacant)
  %full = sub i64 {BUCKET_SLOTS}, %empty
  ret i64 %full
}}

define internal i1 @enter(ptr %table, ptr %fills, i64 %end, i64 %home, i64 %slot) alwaysinline nounwind {{
entry:
  br label %look
look:
  %b = phi i64 [ %home, %entry ], [ %b.next, %full ]
  %count = call i64 @held(ptr %table, ptr %fills, i64 %b)
  %none = icmp eq i64 %count, {BUCKET_SLOTS}
  br i1 %none, label %full, label %put
full:
  %b.next = add i64 %b, 1
  %over = icmp eq i64 %b.next, %end
  br i1 %over, label %failed, label %look
put:
  %first = mul i64 %b, {BUCKET_SLOTS}
  %place = add i64 %first, %count
  %address = getelementptr i64, ptr %table, i64 %place
  store i64 %slot, ptr %address, align 8
  %more = add i64 %count, 1
  %named = shl i64 %b, 4
  %fill = or i64 %named, %more
  %which = and i64 %b, {_FILLS - 1}
  %noted = getelementptr i64, ptr %fills, i64 %which
  store i64 %fill, ptr %noted, align 8
  ret i1 true
failed:
  ret i1 false
}}
"""
"""`match`, `vacant`, `place` and `home`: the slots of one bucket, and a bucket for a tag.

`enter` puts a slot into a table that is being widened. It notes how full the buckets are that it has filled lately: a
line that was just written in part cannot be read as a whole without a wait.
"""


def load_fields(*fields: StoreField) -> str:
    """Return the instructions that load fields of `%store`, under their names in lower case."""
    text = ""
    for field in fields:
        name = field.name.lower()
        kind = "ptr" if field in (StoreField.STATES, StoreField.TABLE) else "i64"
        text += offset(f"{name}.p", "%store", str(8 * field)) + f"  %{name} = load {kind}, ptr %{name}.p, align 8\n"
    return text


WIDEN = f"""
define i64 @widen(ptr %store, i64 %before, ptr noalias %waiting, i64 %most) nounwind {{
entry:
  %fills = alloca i64, i64 {_FILLS}, align 64
  call void @llvm.memset.p0.i64(ptr %fills, i8 -1, i64 {8 * _FILLS}, i1 false)
{load_fields(StoreField.TABLE, StoreField.BUCKETS)}  %end = add i64 %buckets, {SPARE_BUCKETS}
  %old.end = add i64 %before, {SPARE_BUCKETS}
  %first = mul i64 %old.end, {BUCKET_SLOTS}
  br label %down
down:
  %i.above = phi i64 [ %first, %entry ], [ %i, %next ]
  %w = phi i64 [ 0, %entry ], [ %w.next, %next ]
  %over = icmp eq i64 %i.above, 0
  br i1 %over, label %rest, label %read
read:
  %i = sub i64 %i.above, 1
  %address = getelementptr i64, ptr %table, i64 %i
  %slot = load i64, ptr %address, align 8
  %empty = icmp eq i64 %slot, 0
  br i1 %empty, label %next, label %move
move:
  store i64 0, ptr %address, align 8
  %tag = lshr i64 %slot, 32
  %home = call i64 @home(i64 %tag, i64 %buckets)
  %bucket = udiv i64 %i, {BUCKET_SLOTS}
  %beyond = icmp ugt i64 %home, %bucket
  br i1 %beyond, label %enter, label %wait
enter:
  %entered = call i1 @enter(ptr %table, ptr %fills, i64 %end, i64 %home, i64 %slot)
  br i1 %entered, label %next, label %failed
wait:
  %room = icmp ult i64 %w, %most
  br i1 %room, label %keep, label %failed
keep:
  %seat = getelementptr i64, ptr %waiting, i64 %w
  store i64 %slot, ptr %seat, align 8
  %w.more = add i64 %w, 1
  br label %next
next:
  %w.next = phi i64 [ %w, %read ], [ %w, %enter ], [ %w.more, %keep ]
  br label %down
rest:
  %r = phi i64 [ 0, %down ], [ %r.next, %again ]
  %all = icmp eq i64 %r, %w
  br i1 %all, label %done, label %seated
seated:
  %r.address = getelementptr i64, ptr %waiting, i64 %r
  %r.slot = load i64, ptr %r.address, align 8
  %r.tag = lshr i64 %r.slot, 32
  %r.home = call i64 @home(i64 %r.tag, i64 %buckets)
  %r.entered = call i1 @enter(ptr %table, ptr %fills, i64 %end, i64 %r.home, i64 %r.slot)
  br i1 %r.entered, label %again, label %failed
again:
  %r.next = add i64 %r, 1
  br label %rest
done:
  ret i64 1
failed:
  ret i64 0
}}
"""
"""`widen`; see `storing.store_module`."""
