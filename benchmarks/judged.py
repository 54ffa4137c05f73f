"""Write benchmarks/judged.md: how long TLC and Spin took for each comparison on record, and insync for the same.

    python benchmarks/judged.py

It measures nothing: the times are those that `make judge` wrote into tests/parity/exported.csv.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_PARITY = Path(__file__).parents[1] / "tests" / "parity"
RECORD, UNJUDGED = _PARITY / "exported.csv", _PARITY / "unjudged.csv"
TABLE = Path(__file__).with_suffix(".md")

Row = Mapping[str, str]

HEAD = """\
# What judging takes

Written by `python benchmarks/judged.py` from tests/parity/exported.csv and unjudged.csv, which `make judge` writes. A
row is one comparison; what was compared is in the record, and docs/guide/second-opinions.md says what the ways are.

- **The checker**: CPU seconds. TLC's have the start of Java in them (0.5 to 1 s), and one worker; Spin's are those of
  the search, without the C compiler.
- **insync**: wall-clock seconds of the same on one thread. Nearly all of it is the compilation of its machine code,
  where that was not in the cache.
- The machine has two cores and did other work meanwhile, at times of fifty processes. That lengthens wall-clock times
  many times over, so a row is no measurement to be quoted, and insync's seconds are an upper bound.
"""


def main() -> None:
    """Write the page."""
    TABLE.write_text(page(_read(RECORD), _read(UNJUDGED)), encoding="utf-8")


def page(rows: Sequence[Row], unjudged: Sequence[Row]) -> str:
    """Return the page about what was compared and what was not."""
    parts = [HEAD, *_summary(rows), "", *_not_compared(unjudged), ""]
    for engine in sorted({row["engine"] for row in rows}):
        parts += [
            f"## {engine}",
            "",
            "| model | bounds | asked | states | the checker, s | insync, s |",
            "|---|---|---|---|---|---|",
        ]
        parts += [_line(row) for row in rows if row["engine"] == engine]
        parts.append("")
    return "\n".join(parts)


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    yield "| way | comparisons | largest, states | checker, s in all | median | longest | insync, s in all | median |"
    yield "|---|---|---|---|---|---|---|---|"
    for engine in sorted({row["engine"] for row in rows}):
        mine = [row for row in rows if row["engine"] == engine]
        theirs, own = ([float(row[name]) for row in mine] for name in ("seconds", "insync_seconds"))
        largest = max(int(row["states"] or 0) for row in mine)
        figures = sum(theirs), statistics.median(theirs), max(theirs), sum(own), statistics.median(own)
        yield f"| `{engine}` | {len(mine)} | {largest:,} | " + " | ".join(f"{number:.2f}" for number in figures) + " |"


def _not_compared(unjudged: Sequence[Row]) -> Iterator[str]:
    """Yield how many comparisons there are not, for each reason; tests/parity/unjudged.csv names them."""
    yield from ("## What was not compared", "", "| way | reason | comparisons | of subjects |", "|---|---|---|---|")
    for engine, reason in sorted({(row["engine"], row["reason"]) for row in unjudged}):
        mine = [row for row in unjudged if (row["engine"], row["reason"]) == (engine, reason)]
        yield f"| `{engine}` | {reason} | {len(mine)} | {len({(row['model'], row['bounds']) for row in mine})} |"
    yield from ("", "tests/parity/unjudged.csv names each.")


def _read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _line(row: Row) -> str:
    states = f"{int(row['states']):,}" if row["states"] else ""
    cells = (row["model"], row["bounds"], row["properties"], states, row["seconds"], row["insync_seconds"])
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
