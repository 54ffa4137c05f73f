"""Measure one model under one set of bounds in a process of its own, and print the figures as JSON.

Run by `run.py`: `python measure.py '{"model": "kip320", "bounds": {...}, "threads": 2}'`. With `"whole": true` every
state is kept whole; with `"codes_from": N` codes take the place of states when there are more than N.
"""

from __future__ import annotations

import json
import sys
import time

STARTED = time.perf_counter()

from insync.explorer.search import breadth_first as search_module  # noqa: E402  (imports are a figure)
from insync.explorer.search.breadth_first import BreadthFirstSearch  # noqa: E402  (imports are a figure)
from insync.explorer.search.explored import Explored  # noqa: E402  (imports are a figure)
from insync.machine.kernels import Kernels, compile_kernels  # noqa: E402
from insync.machine.packed import PackedRows  # noqa: E402
from insync.model.catalogue import find_model  # noqa: E402
from insync.properties.registry import judge  # noqa: E402
from insync.runtime.memory import peak_memory  # noqa: E402
from insync.runtime.watch import Limits, Watch  # noqa: E402
from insync.runtime.workers import Team  # noqa: E402

CHUNK = 1 << 16


def measure(case: dict[str, object]) -> dict[str, float]:
    """Return the figures of a case: seconds, states, bytes."""
    figures = {"import": time.perf_counter() - STARTED}
    began, processor = time.perf_counter(), time.process_time()
    bounds, threads = case["bounds"], case["threads"]
    assert isinstance(bounds, dict)
    assert isinstance(threads, int)
    model = find_model(str(case["model"]))(**bounds)
    program = model.program
    properties = judge(model).nodes
    figures["trace"], figures["trace_processor"] = time.perf_counter() - began, time.process_time() - processor
    began, processor = time.perf_counter(), time.process_time()
    kernels = compile_kernels(program, properties, symmetry=program.symmetry if case.get("symmetry") else None)
    figures["compile"], figures["compile_processor"] = time.perf_counter() - began, time.process_time() - processor
    if "codes_from" in case:
        codes_from = case["codes_from"]
        assert isinstance(codes_from, int)
        search_module.MOST_WHOLE = search_module.MOST_WHOLE_FOR_PAIRS = codes_from
    initials = PackedRows.of(program.initials.rows, kernels.sizes.words)
    with Team(threads) as team:
        began, processor = time.perf_counter(), time.process_time()
        whole = case.get("whole") or case.get("parts")  # the parts are measured on states
        schema = None if whole else program.schema
        search = BreadthFirstSearch(kernels, Watch(Limits(), None), team, threads, initials, schema=schema)
        space = search.run()
        figures["search"] = time.perf_counter() - began
        figures["processor"] = time.process_time() - processor
    figures["states"] = states = sum(space.levels)
    figures["representatives"] = sum(space.visited)
    figures["transitions"] = sum(space.steps)
    figures["depth"] = len(space.levels)
    figures["bytes_per_state"] = sum(partition.used_bytes for partition in space.partitions) / states
    figures["peak_memory_bytes"] = peak_memory()
    if case.get("parts"):
        figures["expand"] = _expand_all(kernels, space, program.initials.words(0))
        figures["insert_new"], figures["insert_known"] = _insert_all(kernels, space)
    space.release()
    return figures


def _expand_all(kernels: Kernels, space: Explored, initial: tuple[int, ...]) -> float:
    """Seconds that one thread takes to expand every state once more."""
    expander = kernels.expander(len(space.partitions), 1 << 20, initial)
    began = time.perf_counter()
    for partition in space.whole:
        place = 0
        while place < len(partition.store):
            place += expander.expand(partition.store.address(place), min(CHUNK, len(partition.store) - place))
            expander.clear()
    seconds = time.perf_counter() - began
    expander.close()
    return seconds


def _insert_all(kernels: Kernels, space: Explored) -> tuple[float, float]:
    """Seconds that one thread takes to insert every state into empty stores, and to insert it again."""
    total = sum(len(partition) for partition in space.partitions)
    store = kernels.store(kernels.sizes.row_bytes * total)
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        for partition in space.whole:
            for place in range(0, len(partition.store), CHUNK):
                count = min(CHUNK, len(partition.store) - place)
                store.insert(partition.store.address(place), count, lambda _: True)
        seconds.append(time.perf_counter() - began)
    assert len(store) == total
    store.close()
    return seconds[0], seconds[1]


if __name__ == "__main__":
    print(json.dumps(measure(json.loads(sys.argv[1]))))
