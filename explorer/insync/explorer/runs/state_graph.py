"""The explicit state graph of a small space: every state and step in compact arrays, and its export to other tools.

States are numbered in the order of discovery: level by level, and within a level in the order of their first step from
the level before. Machine code lists the steps, so a space of 100,000 states takes about a second. All of it is in
memory. Needs numpy, which comes with the extra `graph`.
"""

from __future__ import annotations

import bisect
import io
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from insync.explorer.progress import Progress, Pulse, Reporter, estimated_end, last_growth, while_compiling
from insync.explorer.tables import Shown, TableColumns, with_fields
from insync.explorer.task import ModelLike, model_of
from insync.machine.arrow_states import columns_of, decode_states
from insync.machine.kernels import Kernels, Part, compile_kernels
from insync.machine.packed import BATCH, PackedRows
from insync.model import Model, ReadableState
from insync.model.domains.domain import Leaf
from insync.model.expressions.graph import Node
from insync.model.language.presentation import cell_text, checked_grid
from insync.model.tracing.program import BoundAction
from insync.properties.condition_text import plain
from insync.properties.registry import confined
from insync.runtime.errors import UserError
from insync.runtime.files import write_whole
from insync.runtime.text import plural
from insync.runtime.watch import Limits, Stopped, StopReason, Watch, limits_of

if TYPE_CHECKING:
    import networkx as nx

__all__ = [
    "StateGraph",
    "build_graph",
    "dot_text",
    "graph",
    "graph_limits",
    "graph_within",
    "graphml_text",
    "missing_graph_library",
    "require_graph_format",
    "require_graph_libraries",
    "to_networkx",
    "write_graph",
]


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bits = NDArray[np.bool_]
    Numbers = NDArray[np.int64]
    Rows = NDArray[np.uint64]


MOST_STATES = 3_000_000
"""The limit on the states of a graph if the caller sets none: about 2 GB."""


def missing_graph_library() -> str:
    """Return a library of the extra `graph` that is not installed; empty if all are.

    None is imported, as that would take a second.
    """
    return next((name for name in ("numpy", "scipy") if find_spec(name) is None), "")


def require_graph_libraries() -> None:
    """Raise UserError unless the extra `graph` is installed."""
    if missing := missing_graph_library():
        message = f"This needs the extra `graph` ({missing} is missing); install it: pip install 'insync[graph]'."
        raise UserError(message)


@dataclass(frozen=True, slots=True, repr=False)
class StateGraph(Shown):
    """States and steps of a model.

    Attributes:
        model: the model.
        rows: the packed states, one row each; the first are the initial states.
        starts: the number of the first state of each level, and after the last level the number of states.
        source, action, target: for each step the state it leaves, the number of its bound action, and the state it
            leads to, in the order of source and action.
        refused: the number of steps that leave a field's domain, which are not among the steps.
        refusing: the first state with such a step, in the order of levels; None if there is none.
        expanded: the number of states whose steps are in the graph, which are the first ones.
        stopped_by: the limit that ended the exploration; None if the graph is the whole space.
    """

    model: Model
    rows: Rows
    starts: tuple[int, ...]
    source: Numbers
    action: Numbers
    target: Numbers
    refused: int
    expanded: int
    stopped_by: StopReason | None
    refusing: int | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def actions(self) -> Sequence[BoundAction]:
        """The actions by number."""
        return self.model.program.actions

    def codes(self, state: int) -> tuple[int, ...]:
        """Return the codes of a state."""
        return self.model.program.schema.unpack([int(word) for word in self.rows[state]])

    def readable(self, state: int) -> ReadableState:
        """Return a state in plain Python."""
        return self.model.decode(self.codes(state))

    @property
    def initial(self) -> int:
        """The number of initial states, which are the first ones."""
        return self.starts[1]

    def level_of(self, state: int) -> int:
        """Return the level of a state; that of the initial states is 1."""
        return bisect.bisect_right(self.starts, state)

    def summary(self) -> str:
        whole = "" if self.stopped_by is None else f", stopped by {self.stopped_by}"
        return f"{self.model.name}: {plural(len(self), 'state')}, {plural(len(self.source), 'step')}{whole}"

    def _tables(self) -> Mapping[str, Callable[[], TableColumns]]:
        """Return the tables `states`, whose rows have depth and fields, and `transitions`, with a row for each step."""
        return {"states": self._states, "transitions": self._transitions}

    def _states(self) -> TableColumns:
        columns = columns_of(self.model.state, self.model.program.schema)
        decoded = decode_states(columns, self.rows)
        fields = {column.name: values for column, values in zip(columns, decoded, strict=True)}
        return with_fields({"state": list(range(len(self))), "depth": self._depths()}, fields)

    def _transitions(self) -> TableColumns:
        names, labels = [action.name for action in self.actions], [str(action) for action in self.actions]
        depths = self._depths()
        return {
            "state": self.source,
            "depth": [depths[state] for state in self.source],
            "action": [names[action] for action in self.action],
            "step": [labels[action] for action in self.action],
            "next": self.target,
        }

    def _depths(self) -> list[int]:
        return [depth for depth in range(1, len(self.starts)) for _ in range(*self.starts[depth - 1 : depth + 1])]

    def truth(self, conditions: Sequence[Node], watch: Watch | None = None) -> list[Bits]:
        """Return for each condition a mask of the states in which it holds.

        Raises:
            Stopped: the work had to stop before the conditions were compiled.
        """
        checker = compile_kernels(self.model.program, conditions, (Part.CHECK,), watch=watch).checker()
        try:
            return list(checker.holds(self.rows))
        finally:
            checker.close()


def build_graph(
    model: Model,
    *,
    limits: Limits | None = None,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> StateGraph:
    """Return the graph of a model's states, all of them unless a limit ends the exploration.

    Args:
        model: the model.
        limits: of compilation and exploration; the default limit on states is `MOST_STATES`.
        reporter: called about once a second with the progress.
        stop: ends compilation or exploration when it is set.

    Raises:
        UserError: the extra `graph` is not installed.
    """
    return graph_within(model, Watch(graph_limits(limits), stop), reporter)


def graph_limits(limits: Limits | None) -> Limits:
    """Return the limits of an exploration; the default limit on states is `MOST_STATES`."""
    given = limits_of(limits)
    return replace(given, states=given.states or MOST_STATES)


def graph_within(model: Model, watch: Watch, reporter: Reporter | None = None) -> StateGraph:
    """Return the part of the graph that is explored before a limit is reached; see `build_graph`."""
    require_graph_libraries()
    watch.require_room()
    try:
        with watch.telling(while_compiling(reporter, watch)):
            kernels = compile_kernels(model.program, parts=(Part.EDGES,), watch=watch)
    except Stopped as ended:
        return _initial_states(model, ended.reason)
    builder = _Builder(model, kernels, watch, reporter)
    try:
        return builder.run()
    finally:
        builder.close()


def _initial_states(model: Model, stopped: StopReason) -> StateGraph:
    """The graph of an exploration that ended before it began."""
    import numpy as np

    words = np.array(model.program.initials.rows, dtype=np.uint64)
    rows = words.reshape(-1, model.program.schema.words)
    nothing = np.zeros(0, dtype=np.int64)
    return StateGraph(model, rows, (0, len(rows)), nothing, nothing, nothing, 0, 0, stopped)


class _Builder:
    def __init__(self, model: Model, kernels: Kernels, watch: Watch, reporter: Reporter | None) -> None:
        self.model, self.watch, self.reporter = model, watch, reporter
        self.words, self.row_bytes = kernels.sizes.words, kernels.sizes.row_bytes
        self._edges = kernels.edges()
        self.refused, self.refusing = 0, None  # type: int, int | None
        self.rows = bytearray()
        self.index: dict[bytes, int] = {}
        self.steps: list[tuple[Numbers, Numbers, Numbers]] = []
        self._pulse = Pulse()

    def close(self) -> None:
        """Release all memory."""
        self._edges.close()

    def run(self) -> StateGraph:
        """Explore level by level."""
        initial = self.model.program.initials.rows.tobytes()
        for at in range(0, len(initial), self.row_bytes):
            self._number(initial[at : at + self.row_bytes])
        starts, done = [0], 0
        stopped: StopReason | None = None
        while done < len(self.index) and stopped is None:
            end = len(self.index)
            starts.append(end)
            stopped = self.watch.limits.after_level(len(starts) - 1, end)
            while done < end and stopped is None:
                size = min(BATCH, end - done)
                self._expand(done, size)
                done += size
                stopped = self.watch.reason() or (None if self.watch.may_use(0) else StopReason.MEMORY)
                self._report(starts, end - done)
            self._note_refused()
        if starts[-1] != len(self.index):
            starts.append(len(self.index))
        return self._graph(starts, done, stopped if done < len(self.index) else None)

    def _note_refused(self) -> None:
        """Count the refused steps of a level, and keep the least state with one of the first such level."""
        found = self._edges.take_refused()
        self.refused += found.count
        if self.refusing is None and found.least is not None:
            self.refusing = self.index[PackedRows([found.least]).content(self.words)]

    def _number(self, row: bytes) -> int:
        found = self.index.setdefault(row, len(self.index))
        if found == len(self.rows) // self.row_bytes:
            self.rows += row
        return found

    def _expand(self, first: int, size: int) -> None:
        """Take all steps of `size` states, and number the states that they lead to."""
        import numpy as np

        start = first * self.row_bytes
        rows = np.frombuffer(bytes(self.rows[start : start + size * self.row_bytes]), dtype=np.uint64)
        edges = self._edges.of(rows.reshape(-1, self.words))
        order = np.argsort(edges.source, kind="stable")
        packed = edges.target[order].tobytes()
        number, width = self._number, self.row_bytes
        targets = [number(packed[at : at + width]) for at in range(0, len(packed), width)]
        self.steps.append((first + edges.source[order], edges.action[order], np.array(targets, dtype=np.int64)))

    def _graph(self, starts: Sequence[int], done: int, stopped: StopReason | None) -> StateGraph:
        import numpy as np

        rows = np.frombuffer(bytes(self.rows), dtype=np.uint64).reshape(-1, self.words)
        empty = np.zeros(0, dtype=np.int64)
        columns = [np.concatenate([part[column] for part in self.steps] or [empty]) for column in range(3)]
        source, action, target = columns
        known = (done, stopped, self.refusing)
        return StateGraph(self.model, rows, tuple(starts), source, action, target, self.refused, *known)

    def _report(self, starts: Sequence[int], left: int) -> None:
        if self.reporter is None or not self._pulse.due():
            return
        rate = self._pulse.rate(len(self.index))
        levels = [after - before for before, after in pairwise(starts)]
        end = estimated_end(levels, self.watch.allows)
        said = Progress(len(levels), left, len(self.index), rate, self.watch.resident, self.watch.seconds)
        self.reporter(replace(said, growth=last_growth(levels), end=end))


# ------------------------------------------------------------------------------------------------------------- export


def to_networkx(graph: StateGraph) -> nx.MultiDiGraph:
    """Return a graph with a node per state and an edge per step.

    A node is the number of the state, initial states first. It has the `level` (1 for initial states), whether the
    state is `expanded`, the `label` as in the trace grid, and each field by its path (`replica[b1].leo`) with the value
    as text. An edge has the `action`, its `label`, and each parameter by name.

    Raises:
        UserError: networkx is not installed.
    """
    try:
        import networkx as nx
    except ImportError as error:
        message = "This needs the extra `graph` (networkx is missing); install it: pip install 'insync[graph]'."
        raise UserError(message) from error
    made = nx.MultiDiGraph(model=graph.model.name, **{name: str(value) for name, value in graph.model.identity.items()})
    leaves = list(graph.model.state.leaves())
    for state in range(len(graph)):
        made.add_node(state, **_node(graph, leaves, state))
    steps = zip(graph.source.tolist(), graph.action.tolist(), graph.target.tolist(), strict=True)
    for source, number, target in steps:
        action = graph.actions[number]
        made.add_edge(source, target, action=action.name, label=action.label, **action.shown_parameters)
    return made


def _node(graph: StateGraph, leaves: Sequence[Leaf], state: int) -> dict[str, object]:
    readable = graph.readable(state)
    fields = {leaf.after(""): plain(leaf.read(readable)) for leaf in leaves}
    level, expanded = graph.level_of(state), state < graph.expanded
    return {"level": level, "expanded": expanded, "label": _label(graph.model, graph, state), **fields}


def _label(model: Model, graph: StateGraph, state: int) -> str:
    columns = checked_grid(model, graph.readable(state))
    return "\n".join(f"{name}: {cell_text(cell)}" for name, cell in columns.items() if cell)


def graphml_text(graph: StateGraph) -> str:
    """Return the graph as GraphML, which yEd, Gephi and Cytoscape can read."""
    made = to_networkx(graph)

    import networkx as nx

    buffer = io.BytesIO()
    nx.write_graphml(made, buffer)
    return buffer.getvalue().decode("utf-8")


def dot_text(graph: StateGraph) -> str:
    """Return the graph in the DOT language of Graphviz: states as in the trace grid, steps by their labels."""
    lines = [f"digraph {_quoted(graph.model.name)} {{", '  node [shape=box, fontname="monospace"];']
    for state in range(len(graph)):
        style = ", penwidth=2" if state < graph.initial else "" if state < graph.expanded else ", style=dashed"
        lines.append(f"  {state} [label={_quoted(_label(graph.model, graph, state))}{style}];")
    for source, number, target in zip(graph.source.tolist(), graph.action.tolist(), graph.target.tolist(), strict=True):
        lines.append(f"  {source} -> {target} [label={_quoted(graph.actions[number].label)}];")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\l")
    return f'"{escaped}\\l"' if "\n" in text else f'"{escaped}"'


# ----------------------------------------------------------------------------------------------------------- the verb


_WRITERS: Mapping[str, Callable[[StateGraph], str]] = {".graphml": graphml_text, ".dot": dot_text}


def graph(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    within: Sequence[str] | None = None,
    limits: Limits | None = None,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> StateGraph:
    """Return the graph of a model's states, all of them unless a limit ends the exploration.

    Args:
        model: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        within: names of invariants; states in which one fails are in the graph without their steps. None is the
            confinement of the model's class.
        limits: of compilation and exploration; the default limit on states is `state_graph.MOST_STATES`.
        reporter: called about once a second with the progress.
        stop: ends compilation or exploration when it is set.

    Raises:
        UserError: an unknown model, bound or invariant, or the extra `graph` is not installed.
    """
    return build_graph(confined(model_of(model, bounds), within), limits=limits, reporter=reporter, stop=stop)


def require_graph_format(path: Path) -> None:
    """Raise UserError unless a path ends in `.graphml` or `.dot`."""
    if path.suffix not in _WRITERS:
        message = f"{path}: a graph is written as .graphml or .dot; give the file one of these endings."
        raise UserError(message)


def write_graph(path: str | Path, written: StateGraph) -> None:
    """Write a graph as GraphML or DOT, by the ending of the path.

    Raises:
        UserError: another ending, or the file cannot be written.
    """
    file = Path(path)
    require_graph_format(file)
    write_whole(file, _WRITERS[file.suffix](written))
