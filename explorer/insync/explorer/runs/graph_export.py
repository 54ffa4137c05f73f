"""A state graph for other tools: as a networkx graph, as GraphML, as DOT."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from insync.explorer.runs.state_graph import StateGraph
from insync.model import Model
from insync.model.errors import UserError
from insync.model.language.presentation import cell_text, checked_grid
from insync.properties.condition_text import field_value, plain

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["dot_text", "graphml_text", "to_networkx"]


def to_networkx(graph: StateGraph) -> nx.MultiDiGraph:
    """Return a graph with a node per state and an edge per step.

    A node is the state's number, the initial ones first, and has its `level` (1 if it is initial), whether it is
    `expanded`, its `label` as the trace grid shows it, and each field by its path (`replica[b1].leo`) with the value as
    text. An edge has the `action`, its `label`, and each parameter by name.

    Raises:
        UserError: networkx is not installed.
    """
    try:
        import networkx as nx
    except ImportError as error:
        message = "This needs the extra `graph` (networkx is missing); install it: pip install 'insync[graph]'."
        raise UserError(message) from error
    made = nx.MultiDiGraph(model=graph.model.name, **{name: str(value) for name, value in graph.model.identity.items()})
    for state in range(len(graph)):
        made.add_node(state, **_node(graph, state))
    steps = zip(graph.source.tolist(), graph.action.tolist(), graph.target.tolist(), strict=True)
    for source, number, target in steps:
        action = graph.actions[number]
        made.add_edge(source, target, action=action.name, label=action.label, **action.shown_parameters)
    return made


def _node(graph: StateGraph, state: int) -> dict[str, object]:
    readable = graph.readable(state)
    paths = [cell.path for cell in graph.model.program.schema.cells]
    fields = {path: plain(field_value(readable, path)) for path in paths}
    level, expanded = graph.level_of(state), state < graph.expanded
    return {"level": level, "expanded": expanded, "label": _label(graph.model, graph, state), **fields}


def _label(model: Model, graph: StateGraph, state: int) -> str:
    columns = checked_grid(model, graph.readable(state))
    return "\n".join(f"{name}: {cell_text(cell)}" for name, cell in columns.items() if cell)


def graphml_text(graph: StateGraph) -> str:
    """Return the graph as GraphML, which yEd, Gephi and Cytoscape read."""
    made = to_networkx(graph)

    import networkx as nx

    buffer = io.BytesIO()
    nx.write_graphml(made, buffer)
    return buffer.getvalue().decode("utf-8")


def dot_text(graph: StateGraph) -> str:
    """Return the graph in the DOT language of Graphviz: states as the trace grid shows them, steps by their labels."""
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
