from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from insync.explorer import Limits, check, diff, graph, liveness, mutate, simulate, why
from insync.explorer.search import breadth_first as search_module
from insync.explorer.search.breadth_first import MOST_WHOLE
from insync.runtime.errors import UserError
from insync.runtime.memory import HUGE_PAGE, Block, available_memory, peak_memory, physical_memory, resident_memory

SMALL = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
SCRIPT = dedent("""
    import json, sys
    from insync.explorer import Limits, check
    from insync.runtime.memory import peak_memory
    from insync.model.catalogue import find_model
    model = find_model("kip320")(replicas=3, log_size=3, max_records=3, max_leader_epoch=2)
    limit, threads, partitions = map(int, sys.argv[1:4])
    options = {"threads": threads, "partitions": partitions, "symmetry": False, "run_dir": (sys.argv[4:] or [None])[0]}
    result = check(model, limits=Limits(memory_bytes=limit), **options)
    print(json.dumps([result.verdict, result.stopped_by, result.levels, peak_memory()]))
""")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the resident set is read from /proc")
@pytest.mark.parametrize(("threads", "partitions"), [(1, 1), (2, 2), (2, 7)])
@pytest.mark.parametrize("mebibytes", [140, 170])
def test_a_limit_on_the_memory_is_kept(mebibytes: int, threads: int, partitions: int) -> None:
    command = [sys.executable, "-c", SCRIPT, str(mebibytes << 20), str(threads), str(partitions)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    verdict, stopped_by, levels, peak = json.loads(done.stdout)
    assert (verdict, stopped_by) == ("incomplete", "memory")
    assert peak <= mebibytes << 20
    # What is complete is the beginning of the space, and not just a little of it.
    assert levels[:8] == [1, 6, 30, 138, 366, 1173, 2760, 6057]
    assert sum(levels) > 300_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the resident set is read from /proc")
@pytest.mark.parametrize(("threads", "partitions"), [(1, 1), (2, 2), (2, 7)])
@pytest.mark.parametrize("mebibytes", [150, 190])
def test_a_limit_on_the_memory_is_kept_beyond_it(mebibytes: int, threads: int, partitions: int, tmp_path: Path) -> None:
    """Four million states: in memory they take 215 MiB."""
    given = [str(mebibytes << 20), str(threads), str(partitions), str(tmp_path / "run")]
    done = subprocess.run([sys.executable, "-c", SCRIPT, *given], capture_output=True, text=True, check=True)
    verdict, stopped_by, levels, peak = json.loads(done.stdout)
    assert (verdict, stopped_by, sum(levels), len(levels)) == ("holds", None, 4_093_531, 31)
    assert peak <= mebibytes << 20
    assert list((tmp_path / "run").glob("codes/*/*"))


@pytest.mark.parametrize("verb", [check, liveness, graph, mutate], ids=lambda verb: verb.__name__)
def test_less_memory_than_the_process_takes_is_refused(verb: Callable[..., object]) -> None:
    with pytest.raises(UserError, match=r"A limit of 1 MiB on the memory is too little, as insync takes \d+ MiB"):
        verb("kip320", bounds=SMALL, limits=Limits(memory_bytes=1 << 20))


LEAST = dedent("""
    import json, re, sys
    from insync.explorer import Limits, check
    from insync.runtime.memory import resident_memory
    from insync.model import UserError, find_model
    model = find_model("kip320")(**json.loads(sys.argv[1]))
    threads, partitions = map(int, sys.argv[2:])
    check(model, limits=Limits(depth=1), threads=threads, partitions=partitions, symmetry=False)
    limits = Limits(memory_bytes=resident_memory() + 1000)
    try:
        check(model, limits=limits, threads=threads, partitions=partitions, symmetry=False)
    except UserError as error:
        least = int(re.search(r"memory_bytes=([0-9]+)", error.args[0])[1])
    found = check(model, limits=Limits(memory_bytes=least), threads=threads, partitions=partitions, symmetry=False)
    print(json.dumps([found.stopped_by, found.depth]))
""")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the resident set is read from /proc")
@pytest.mark.parametrize(("threads", "partitions"), [(1, 1), (2, 4)])
def test_the_amount_that_a_refusal_names_is_enough_to_work_in(threads: int, partitions: int) -> None:
    bounds = dict.fromkeys(SMALL, 3)
    command = [sys.executable, "-c", LEAST, json.dumps(bounds), str(threads), str(partitions)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    stopped_by, depth = json.loads(done.stdout)
    assert stopped_by == "memory"
    assert depth > 3


def test_reserved_memory_is_zero_and_takes_memory_only_when_it_is_touched() -> None:
    before = resident_memory()
    block = Block(1 << 36)
    assert resident_memory() - before < 16 << 20
    assert block.read(5 << 30, 4096) == bytes(4096)
    assert block.size == 1 << 36
    block.close()


@pytest.mark.parametrize(("asked", "pages"), [(0, 1), (1, 1), (HUGE_PAGE, 1), (HUGE_PAGE + 1, 2), (3 * HUGE_PAGE, 3)])
def test_a_block_is_a_whole_number_of_huge_pages_and_at_least_one(asked: int, pages: int) -> None:
    block = Block(asked)
    assert block.size == pages * HUGE_PAGE
    assert block.read(block.size - 1, 1) == b"\0"
    block.close()


def test_the_figures_are_plausible() -> None:
    assert 1 << 20 < resident_memory() <= peak_memory() + (1 << 20)
    assert peak_memory() < physical_memory()
    assert 0 < available_memory() < physical_memory()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[Block]:
    """The blocks of memory that are held, as long as they are."""
    blocks: list[Block] = []
    honest_init, honest_close = Block.__init__, Block.close

    def init(self: Block, size: int, huge: bool = True) -> None:
        honest_init(self, size, huge)
        blocks.append(self)

    def close(self: Block) -> None:
        honest_close(self)
        blocks[:] = [block for block in blocks if block is not self]

    monkeypatch.setattr(Block, "__init__", init)
    monkeypatch.setattr(Block, "close", close)
    return blocks


@pytest.mark.slow_for("why")
@pytest.mark.parametrize(
    ("whole", "work"),
    [
        (10, lambda: check("kip101", bounds=SMALL)),
        (10, lambda: diff("kip101", "kip279", first_bounds=SMALL, second_bounds=SMALL, limits=Limits(depth=4))),
        (MOST_WHOLE, lambda: check("kip101", bounds=SMALL, limits=Limits(states=50), partitions=3)),
        (MOST_WHOLE, lambda: simulate("kip101", bounds=SMALL, walks=3, depth=9)),
        (MOST_WHOLE, lambda: liveness("kip320", bounds=SMALL)),
        (MOST_WHOLE, lambda: why("kip101", bounds=SMALL, limits=Limits(depth=4))),
    ],
    ids=["check with codes", "diff with codes", "stopped check", "simulate", "liveness", "why"],
)
def test_whatever_was_done_all_memory_is_given_back(
    work: Callable[[], object], whole: int, held: list[Block], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_module, "MOST_WHOLE", whole)
    work()
    assert not held
