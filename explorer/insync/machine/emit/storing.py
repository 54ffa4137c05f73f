"""IR of the store of one partition: `insert` states that are not there yet, `widen` its table, `find` a state.

The states of a partition lie in one array, in order of discovery, and are found through the table of `slots`.
"""

from __future__ import annotations

from insync.machine.emit.loops import offset
from insync.machine.emit.rows import INTRINSICS, load_row, row_hash_function, rows_equal, store_row
from insync.machine.emit.slots import LOCATE, WIDEN, load_fields
from insync.machine.store import BUCKET_BYTES, BUCKET_SLOTS, SPARE_BUCKETS, StoreField

__all__ = ["store_module"]

_BLOCK = 128  # candidates whose memory accesses overlap


def store_module(words: int) -> str:
    """Return the IR module of the store for states of so many words.

    - `insert(store, candidates, count) -> done`: add those of the candidates (rows) that are new, in their order; stop
      early when the store is at its limit.
    - `widen(store, before, waiting, most) -> done`: move all slots of a table that had `before` buckets to their places
      among the store's, now more; `waiting` is scratch memory for `most` slots. 0 when there was no room.
    - `owner(state, partitions) -> partition`: which partition stores a state.
    - `find(rows, count, state) -> place`: the first place of a state in an array of rows, or count.
    """
    functions = [_insert_function(words), WIDEN, _find_function(words), _owner_function(words)]
    return "".join([INTRINSICS, row_hash_function(words), LOCATE, *functions])


def _insert_function(words: int) -> str:
    fields = load_fields(*StoreField)
    return f"""
define i64 @insert(ptr %store, ptr noalias %candidates, i64 %total) nounwind {{
entry:
  %tags = alloca i64, i64 {_BLOCK}, align 64
  %fresh = alloca i64, i64 {_BLOCK}, align 64
{fields}  %bucket.end = add i64 %buckets, {SPARE_BUCKETS}
  br label %block
block:
  %done = phi i64 [ 0, %entry ], [ %done.next, %block.end ]
  %held = phi i64 [ %count, %entry ], [ %held.block, %block.end ]
  %any = icmp ne i64 %held, 0
  %left = sub i64 %total, %done
  %over = icmp eq i64 %left, 0
  br i1 %over, label %end, label %start
start:
  %size = call i64 @llvm.umin.i64(i64 %left, i64 {_BLOCK})
  %from = mul i64 %done, {8 * words}
{offset("first", "%candidates", "%from")}  br label %hash
{_hash_loop(words)}{_prefetch_loop(words)}{_known_loop(words)}{_add_loop(words)}block.end:
  %done.next = add i64 %done, %size
  br label %block
stop:
  %reached = add i64 %done, %z.at
  br label %end
end:
  %consumed = phi i64 [ %done, %block ], [ %reached, %stop ]
  %final = phi i64 [ %held, %block ], [ %n, %stop ]
  store i64 %final, ptr %count.p, align 8
  ret i64 %consumed
}}
"""


def _bucket_of(prefix: str, tag: str) -> str:
    return f"""  %{prefix}.home = call i64 @home(i64 {tag}, i64 %buckets)
  %{prefix}.byte = mul i64 %{prefix}.home, {BUCKET_BYTES}
{offset(f"{prefix}.bucket", "%table", f"%{prefix}.byte")}"""


def _row_at(name: str, base: str, place: str, words: int) -> str:
    return f"  %{name}.b = mul i64 {place}, {8 * words}\n" + offset(name, base, f"%{name}.b")


def _hash_loop(words: int) -> str:
    """Hash every candidate of the block and have its bucket fetched."""
    load, row = load_row("x.w", "%x.row", words)
    return f"""hash:
  %x = phi i64 [ 0, %start ], [ %x.next, %hash ]
{_row_at("x.row", "%first", "%x", words)}{load}  %x.hash = call i64 @row_hash({", ".join(f"i64 {w}" for w in row)})
  %x.tag = and i64 %x.hash, 4294967295
  %x.keep = getelementptr i64, ptr %tags, i64 %x
  store i64 %x.tag, ptr %x.keep, align 8
{_bucket_of("x", "%x.tag")}  call void @llvm.prefetch.p0(ptr %x.bucket, i32 1, i32 3, i32 1)
  %x.next = add i64 %x, 1
  %x.more = icmp ult i64 %x.next, %size
  br i1 %x.more, label %hash, label %look
"""


def _prefetch_loop(words: int) -> str:
    """Where a bucket holds a candidate's tag, have that state fetched; where a bucket is full, the next one as well."""
    return f"""look:
  %y = phi i64 [ 0, %hash ], [ %y.next, %look ]
  %y.keep = getelementptr i64, ptr %tags, i64 %y
  %y.tag = load i64, ptr %y.keep, align 8
{_bucket_of("y", "%y.tag")}  %y.bits = call i64 @match(ptr %y.bucket, i64 %y.tag)
  %y.any = or i64 %y.bits, {1 << BUCKET_SLOTS - 1}
  %y.place = call i64 @place(ptr %y.bucket, i64 %y.any)
  %y.hit = icmp ne i64 %y.bits, 0
  %y.safe = select i1 %y.hit, i64 %y.place, i64 0
  %y.guess = getelementptr i64, ptr %fresh, i64 %y
  store i64 %y.safe, ptr %y.guess, align 8
{_row_at("y.row", "%states", "%y.safe", words)}  call void @llvm.prefetch.p0(ptr %y.row, i32 0, i32 3, i32 1)
  %y.vacant = call i64 @vacant(ptr %y.bucket)
  %y.full = icmp eq i64 %y.vacant, 0
  %y.further = select i1 %y.full, i64 {BUCKET_BYTES}, i64 0
{offset("y.line", "%y.bucket", "%y.further")}  call void @llvm.prefetch.p0(ptr %y.line, i32 1, i32 3, i32 1)
  %y.next = add i64 %y, 1
  %y.more = icmp ult i64 %y.next, %size
  br i1 %y.more, label %look, label %known
"""


def _known_loop(words: int) -> str:
    """List, without branches, the candidates that are not the state that their tag led to.

    Without a tag it led to the first state, which is no matter unless there is none yet.
    The place of a candidate is read before the list, which grows slower, is written over it.
    """
    load_new, new = load_row("u.n", "%u.row", words)
    load_old, old = load_row("u.o", "%u.state", words)
    return f"""known:
  %u = phi i64 [ 0, %look ], [ %u.next, %known ]
  %f = phi i64 [ 0, %look ], [ %f.next, %known ]
  %u.guess = getelementptr i64, ptr %fresh, i64 %u
  %u.place = load i64, ptr %u.guess, align 8
{_row_at("u.row", "%first", "%u", words)}{load_new}{_row_at("u.state", "%states", "%u.place", words)}{load_old}\
{rows_equal("u.same", new, old)}  %u.list = getelementptr i64, ptr %fresh, i64 %f
  store i64 %u, ptr %u.list, align 8
  %u.known = and i1 %u.same, %any
  %u.other = xor i1 %u.known, true
  %u.step = zext i1 %u.other to i64
  %f.next = add i64 %f, %u.step
  %u.next = add i64 %u, 1
  %u.more = icmp ult i64 %u.next, %size
  br i1 %u.more, label %known, label %add
"""


def _add_loop(words: int) -> str:
    """Look for each listed candidate through all its tag's slots, and append it if it is really new."""
    load_new, new = load_row("z.n", "%z.row", words)
    load_old, old = load_row("z.o", "%z.state", words)
    return f"""add:
  %z = phi i64 [ 0, %known ], [ %z.next, %z.end ]
  %n = phi i64 [ %held, %known ], [ %n.next, %z.end ]
  %z.over = icmp eq i64 %z, %f.next
  br i1 %z.over, label %add.end, label %z.go
z.go:
  %z.list = getelementptr i64, ptr %fresh, i64 %z
  %z.at = load i64, ptr %z.list, align 8
  %z.limit = icmp uge i64 %n, %limit
  br i1 %z.limit, label %stop, label %z.take
z.take:
{_row_at("z.row", "%first", "%z.at", words)}{load_new}  %z.keep = getelementptr i64, ptr %tags, i64 %z.at
  %z.tag = load i64, ptr %z.keep, align 8
  %z.home = call i64 @home(i64 %z.tag, i64 %buckets)
  br label %z.look
z.look:
  %z.b = phi i64 [ %z.home, %z.take ], [ %z.bnext, %z.full ]
  %z.byte = mul i64 %z.b, {BUCKET_BYTES}
{offset("z.bucket", "%table", "%z.byte")}  %z.bits = call i64 @match(ptr %z.bucket, i64 %z.tag)
  %z.vacant = call i64 @vacant(ptr %z.bucket)
  br label %z.try
z.try:
  %z.left = phi i64 [ %z.bits, %z.look ], [ %z.rest, %z.compare ]
  %z.none = icmp eq i64 %z.left, 0
  br i1 %z.none, label %z.absent, label %z.compare
z.compare:
  %z.place = call i64 @place(ptr %z.bucket, i64 %z.left)
  %z.less = sub i64 %z.left, 1
  %z.rest = and i64 %z.left, %z.less
{_row_at("z.state", "%states", "%z.place", words)}{load_old}{rows_equal("z.same", new, old)}\
  br i1 %z.same, label %z.end, label %z.try
z.absent:
  %z.any = icmp ne i64 %z.vacant, 0
  br i1 %z.any, label %z.put, label %z.full
z.full:
  %z.bnext = add i64 %z.b, 1
  %z.edge = icmp eq i64 %z.bnext, %bucket.end
  br i1 %z.edge, label %stop, label %z.look
z.put:
{_row_at("z.new", "%states", "%n", words)}{store_row("z.s", "%z.new", new)}  %z.more = add i64 %n, 1
  %z.high = shl i64 %z.tag, 32
  %z.slot = or i64 %z.high, %z.more
  %z.first = call i64 @llvm.cttz.i64(i64 %z.vacant, i1 true)
  %z.target = getelementptr i64, ptr %z.bucket, i64 %z.first
  store i64 %z.slot, ptr %z.target, align 8
  br label %z.end
z.end:
  %n.next = phi i64 [ %n, %z.compare ], [ %z.more, %z.put ]
  %z.next = add i64 %z, 1
  br label %add
add.end:
  %held.block = add i64 %n, 0
  br label %block.end
"""


def _find_function(words: int) -> str:
    load_row_text, row = load_row("r", "%row", words)
    load_state, state = load_row("s", "%state", words)
    return f"""
define i64 @find(ptr %rows, i64 %count, ptr %state) nounwind {{
entry:
{load_state}  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %compare ]
  %over = icmp eq i64 %i, %count
  br i1 %over, label %done, label %compare
compare:
{_row_at("row", "%rows", "%i", words)}{load_row_text}{rows_equal("same", row, state)}  %next = add i64 %i, 1
  br i1 %same, label %done, label %loop
done:
  ret i64 %i
}}
"""


def _owner_function(words: int) -> str:
    load, row = load_row("w", "%row", words)
    return f"""
define i64 @owner(ptr %row, i64 %partitions) nounwind {{
{load}  %hash = call i64 @row_hash({", ".join(f"i64 {word}" for word in row)})
  %owner = call i64 @owner_of(i64 %hash, i64 %partitions)
  ret i64 %owner
}}
"""
