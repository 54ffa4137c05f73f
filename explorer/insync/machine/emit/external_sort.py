"""Kernels of external sorting: radix sort of rows, delta packing, and the merge with known rows.

Rows are compared word by word, the first word first.
"""

from __future__ import annotations

from collections.abc import Callable

from insync.machine.emit.builder import I1, I8, I64, NOALIAS, PTR, VOID, Function, Module, Value
from insync.machine.emit.memory import Elements, Rows, read_row, rows_equal, rows_less

__all__ = ["ordering_module"]

_DIGIT_BITS = 8
_DIGITS = 1 << _DIGIT_BITS
_WIDE_DIGITS = 1 << 11  # of a pass over at least as many rows: fewer passes, and counts that fit into a core's L1 cache
_CACHED = 1 << 18  # bytes of rows that are sorted in the cache of a core, with as many of scratch memory
_MANY = 64  # rows of one side per row of the other, from which on the latter are searched for one by one
_SOME = 2  # the same, from which on a loop with branches takes less time than one without


def ordering_module(words: int) -> str:
    """Return the IR module for rows of `words` words.

    - `order(rows, scratch, count) -> swapped`: sort rows; 1 if the sorted rows are in `scratch`, else 0.
    - `distinct(rows, count) -> left`: drop duplicates of sorted rows, in place.
    - `merge(rows, count, others, size, merged) -> made`: write rows that are in one or both of two arrays, in order;
      both are sorted and distinct.
    - `pack(rows, count, packed) -> size`: write sorted, distinct rows in few bytes; see below.
    - `unpack(packed, count, rows)`: write the rows that were packed; up to 7 bytes after the packed rows are read.
    - `place(rows, count, row) -> place`: the index of the first of some sorted rows that is not less than `row`.
    - `strike(rows, count, struck, known, size)`: set the byte of `struck` for each row that is among the known ones;
      both are sorted and distinct.
    - `remain(rows, count, struck) -> left`: drop rows whose byte is set, in place.

    The packed format: the length of each word in bytes, 0 to 8, as half a byte; then that many low bytes of each word.
    A word is stored as the difference to the row before if all earlier words are the same in both rows.
    """
    m = Module()
    place = _place_function(m, words)
    _order_function(m, words)
    _distinct_function(m, words)
    _merge_function(m, words)
    _pack_function(m, words)
    _unpack_function(m, words)
    _strike_function(m, words, place)
    _remain_function(m, words)
    return m.text


def _order_function(m: Module, words: int) -> None:
    """Define `order`: radix sort by windows of bits that begin with a bit that differs (Knuth, vol. 3).

    More rows than fit into a core's cache are first divided by their highest bits; each part is then sorted by itself.
    """
    count, one_pass = _count_function(m, words), _pass_function(m, words)
    low_first = _low_first_function(m, words, count, one_pass)
    b = m.function("order", I64, (NOALIAS, NOALIAS, I64), exported=True)
    rows, scratch, total = b.arguments
    different = _different_bits(b, rows, total, words)
    ends, unused = (Elements(b, b.space(I64, _DIGITS, 64)) for _ in range(2))
    first, bits = b.variable(0), b.variable(0)
    for word in reversed(range(words)):
        differs = different[word].differs(0)
        first.set(b.select(differs, word, first.value))
        bits.set(b.select(differs, different[word], bits.value))
    zeros = b.intrinsic("llvm.ctlz.i64", I64, bits.value, b.typed(I1, 0))
    with b.when((total > _CACHED // (8 * words)) & bits.value.differs(0)):
        shift = b.select(zeros < 64 - _DIGIT_BITS, b.typed(I64, 64 - _DIGIT_BITS) - zeros, 0)
        digit = first.value, shift, _DIGITS - 1
        b.call(count, rows, total, ends.address, *digit)
        b.call(one_pass, rows, scratch, total, ends.address, *digit, unused.address, first.value, shift)
        start = b.variable(0)
        with b.loop(_DIGITS) as each:
            here, there = Rows(b, scratch, words).at(start.value), Rows(b, rows, words).at(start.value)
            some = ends[each] - start.value
            start.set(ends[each])
            with b.when(b.call(b, here, there, some).equals(0)):
                b.copy(there, here, some * (8 * words))
        b.give(0)
    b.give(b.call(low_first, rows, scratch, total, different.address))


def _low_first_function(m: Module, words: int, count: Function, one_pass: Function) -> Function:
    """Define `low_first(rows, scratch, total, different) -> swapped`: a pass for each window, the lowest one first."""
    b = m.function("low_first", I64, (NOALIAS, NOALIAS, I64, PTR), inline=False)
    rows, scratch, total, different = b.arguments
    mask = b.select(total < _WIDE_DIGITS, b.typed(I64, _DIGITS - 1), _WIDE_DIGITS - 1)
    source, target, swapped = b.variable(rows), b.variable(scratch), b.variable(0)
    counts, others = (b.variable(b.space(I64, _WIDE_DIGITS, 64)) for _ in range(2))
    begun, word, shift = b.variable(0), b.variable(0), b.variable(0)

    def take_pass(next_word: Value, next_shift: Value) -> None:
        """Append the pass of the window before, which also counts the digits of the next one."""
        here, there = source.value, target.value
        digit = word.value, shift.value, mask
        b.call(one_pass, here, there, total, counts.value, *digit, others.value, next_word, next_shift)
        source.set(there)
        target.set(here)
        swapped.set(swapped.value ^ 1)

    with b.loop(words) as turn:
        last = b.typed(I64, words - 1) - turn
        left = b.variable(Elements(b, different)[last])
        with b.forever() as windows:
            with b.when(left.value.equals(0)):
                windows.leave()
            low = b.lowest_bit(left.value)
            left.set(left.value & ~(mask << low))
            with b.when(begun.value.differs(0)):
                take_pass(last, low)
            with b.when(begun.value.equals(0)):
                b.call(count, source.value, total, others.value, last, low, mask)
            begun.set(1)
            counted = others.value
            others.set(counts.value)
            counts.set(counted)
            word.set(last)
            shift.set(low)
    with b.when(begun.value.differs(0)):
        take_pass(word.value, shift.value)
    b.give(swapped.value)
    return b


def _different_bits(b: Function, rows: Value, total: Value, words: int) -> Elements:
    """Return an array with the bits of each word that are not the same in all rows."""
    different, every = Elements(b, b.space(I64, words, 8)), Rows(b, rows, words)
    for word in range(words):
        different[word] = 0
    with b.when(total.equals(0)):
        b.give(0)
    first, found = every[0], [b.variable(0) for _ in range(words)]
    with b.loop(total) as number:
        for word, value in enumerate(every[number]):
            found[word].set(found[word].value | value ^ first[word])
    for word in range(words):
        different[word] = found[word].value
    return different


def _count_function(m: Module, words: int) -> Function:
    """Define `count_digits(rows, total, counts, word, shift, mask)`: how many rows have each digit of a window."""
    b = m.function("count_digits", VOID, (NOALIAS, I64, NOALIAS, I64, I64, I64), inline=False)
    rows, total, address, word, shift, mask = b.arguments
    source, counts = Rows(b, rows, words), Elements(b, address)
    with b.loop(mask + 1) as each:
        counts[each] = 0
    with b.loop(total) as number:
        digit = _digit(b, source.at(number), word, shift, mask)
        counts[digit] = counts[digit] + 1
    b.give()
    return b


def _pass_function(m: Module, words: int) -> Function:
    """Define `one_pass(rows, target, total, counts, word, shift, mask, others, next_word, next_shift)`.

    It writes rows in the order of a window, given how many rows have each digit. Afterwards `counts` has the end of the
    rows of each digit, and `others` has the counts of the next window: counting them here saves reading all rows again.
    """
    types = (NOALIAS, NOALIAS, I64, NOALIAS, I64, I64, I64, NOALIAS, I64, I64)
    b = m.function("one_pass", VOID, types, inline=False)
    rows, target, total, counts, word, shift, mask, others, next_word, next_shift = b.arguments
    source, sorted_rows, sum_ = Rows(b, rows, words), Rows(b, target, words), b.variable(0)
    places, counted = Elements(b, counts), Elements(b, others)
    with b.loop(mask + 1) as each:
        count = places[each]
        places[each] = sum_.value
        sum_ += count
        counted[each] = 0
    with b.loop(total) as number:
        address = source.at(number)
        following = _digit(b, address, next_word, next_shift, mask)
        counted[following] = counted[following] + 1
        digit = _digit(b, address, word, shift, mask)
        at = places[digit]
        places[digit] = at + 1
        sorted_rows[at] = read_row(b, address, words)
    b.give()
    return b


def _digit(b: Function, address: Value, word: Value, shift: Value, mask: Value) -> Value:
    """Return the bits of a window of the row at an address."""
    return b.load(I64, b.element(I64, address, word)) >> shift & mask


def _distinct_function(m: Module, words: int) -> None:
    """Define `distinct`. The row before is kept in registers, as reading it back would wait for its write."""
    b = m.function("distinct", I64, (PTR, I64), exported=True)
    rows, left = Rows(b, b.arguments[0], words), b.variable(0)
    last = [b.variable(0) for _ in range(words)]
    with b.loop(b.arguments[1]) as number:
        row = rows[number]
        fresh = ~rows_equal(row, [word.value for word in last]) | number.equals(0)
        for word, value in zip(last, row, strict=True):
            word.set(value)
        rows[left.value] = row
        left += b.select(fresh, 1, 0)
    b.give(left.value)


def _merge_function(m: Module, words: int) -> None:
    """Define `merge`, which takes its steps without a branch: the order of two rows cannot be predicted."""
    b = m.function("merge", I64, (NOALIAS, I64, NOALIAS, I64, NOALIAS), exported=True)
    rows, count, others, size, merged = b.arguments
    ours, theirs, made = (Rows(b, address, words) for address in (rows, others, merged))
    mine, other, at = (b.variable(0) for _ in range(3))
    with b.forever() as steps:
        with b.when((mine.value >= count) | (other.value >= size)):
            steps.leave()
        row, there = ours[mine.value], theirs[other.value]
        before, after = rows_less(row, there), rows_less(there, row)
        made[at.value] = [b.select(after, second, first) for first, second in zip(row, there, strict=True)]
        at += 1
        mine += b.select(after, 0, 1)
        other += b.select(before, 0, 1)
    row_bytes, left, others_left = 8 * words, count - mine.value, size - other.value
    b.copy(made.at(at.value), ours.at(mine.value), left * row_bytes)
    b.copy(made.at(at.value + left), theirs.at(other.value), others_left * row_bytes)
    b.give(at.value + left + others_left)


def _pack_function(m: Module, words: int) -> None:
    b = m.function("pack", I64, (NOALIAS, I64, NOALIAS), exported=True)
    rows, total, packed = Rows(b, b.arguments[0], words), b.arguments[1], b.arguments[2]
    lengths = Elements(b, packed, I8)
    start = total * words + 1 >> 1
    at = b.variable(start)
    before = [b.variable(0) for _ in range(words)]
    with b.loop(total) as number:
        row = rows[number]
        same = number.equals(number)
        for word in range(words):
            value = row[word] - b.select(same, before[word].value, 0)
            same = same & row[word].equals(before[word].value)
            before[word].set(row[word])
            length = b.typed(I64, 71) - b.intrinsic("llvm.ctlz.i64", I64, value, b.typed("i1", 0)) >> 3
            half = number * words + word
            odd = (half & 1).differs(0)
            others = b.select(odd, lengths[half >> 1], b.typed(I8, 0))
            lengths[half >> 1] = others | b.convert("trunc", length << (half & 1) * 4, I8)
            b.store(value, b.element(I8, packed, at.value), align=1)
            at += length
    b.give(at.value)


def _unpack_function(m: Module, words: int) -> None:
    masks = m.words("masks", [(1 << 8 * min(length, 8)) - 1 for length in range(16)])
    b = m.function("unpack", I64, (NOALIAS, I64, NOALIAS), exported=True)
    packed, total, rows = b.arguments[0], b.arguments[1], Rows(b, b.arguments[2], words)
    lengths, kept = Elements(b, packed, I8), Elements(b, b.address(masks))
    at = b.variable(total * words + 1 >> 1)
    before = [b.variable(0) for _ in range(words)]
    with b.loop(total) as number:
        row, same = [], number.equals(number)
        for word in range(words):
            half = number * words + word
            length = b.convert("zext", lengths[half >> 1], I64) >> (half & 1) * 4 & 15
            value = b.load(I64, b.element(I8, packed, at.value), align=1) & kept[length]
            at += length
            last = before[word].value
            row.append(value + b.select(same, last, 0))
            same = same & row[word].equals(last)
            before[word].set(row[word])
        rows[number] = row
    b.give(at.value)


def _place_function(m: Module, words: int) -> Function:
    b = m.function("place", I64, (PTR, I64, PTR), exported=True)
    rows, row = Rows(b, b.arguments[0], words), read_row(b, b.arguments[2], words)
    low, left = b.variable(0), b.variable(b.arguments[1])
    with b.forever() as search:
        with b.when(left.value.equals(0)):
            search.leave()
        half = left.value >> 1
        before = rows_less(rows[low.value + half], row)
        low.set(b.select(before, low.value + half + 1, low.value))
        left.set(b.select(before, left.value - half - 1, half))
    b.give(low.value)
    return b


def _strike_function(m: Module, words: int, place: Function) -> None:
    """Define `strike`: a merge without branches, or a step by step or binary search for each of few rows among many."""
    b = m.function("strike", I64, (PTR, I64, PTR, PTR, I64), exported=True)
    rows, count, struck, known, size = b.arguments
    ours, theirs, marks = Rows(b, rows, words), Rows(b, known, words), Elements(b, struck, I8)

    def mark_each(few: Rows, some: Value, many: Rows, all_: Value, marked: Callable[[Value, Value], Value]) -> None:
        """Search for each of the few among the many; `marked` returns the row to mark, given the indices of both."""
        from_ = b.variable(0)
        with b.loop(some) as number:
            start = from_.value
            here = start + b.call(place, many.at(start), all_ - start, few.at(number))
            from_.set(here)
            with b.when(here < all_):
                mark = marked(number, here)
                marks[mark] = marks[mark] | _byte(b, rows_equal(many[here], few[number]))
        b.give(0)

    def walk_each(few: Rows, some: Value, many: Rows, all_: Value, marked: Callable[[Value, Value], Value]) -> None:
        """Do as `mark_each` by steps over the many, which the processor predicts."""
        here = b.variable(0)
        with b.loop(some) as number:
            row = few[number]
            with b.forever() as steps:
                with b.when(here.value >= all_):
                    b.give(0)
                with b.when(~rows_less(many[here.value], row)):
                    steps.leave()
                here += 1
            mark = marked(number, here.value)
            marks[mark] = marks[mark] | _byte(b, rows_equal(many[here.value], row))
        b.give(0)

    for times, visit in ((_MANY, mark_each), (_SOME, walk_each)):
        with b.when(count > size * times):
            visit(theirs, size, ours, count, lambda _, here: here)
        with b.when(size > count * times):
            visit(ours, count, theirs, size, lambda number, _: number)
    mine, other = b.variable(0), b.variable(0)
    with b.forever() as steps:
        with b.when((mine.value >= count) | (other.value >= size)):
            steps.leave()
        row, there = ours[mine.value], theirs[other.value]
        before, after = rows_less(row, there), rows_less(there, row)
        marks[mine.value] = marks[mine.value] | _byte(b, ~(before | after))
        mine += b.select(after, 0, 1)
        other += b.select(before, 0, 1)
    b.give(0)


def _byte(b: Function, truth: Value) -> Value:
    return b.convert("zext", truth, I8)


def _remain_function(m: Module, words: int) -> None:
    b = m.function("remain", I64, (PTR, I64, NOALIAS), exported=True)
    rows, marks, left = Rows(b, b.arguments[0], words), Elements(b, b.arguments[2], I8), b.variable(0)
    with b.loop(b.arguments[1]) as number:
        rows[left.value] = rows[number]
        left += b.select(marks[number].equals(0), 1, 0)
    b.give(left.value)
