from __future__ import annotations

import io
import sys
from pathlib import Path

import networkx as nx
import pytest

from insync.explorer import Limits
from insync.explorer.runs.state_graph import StateGraph, build_graph, dot_text, graphml_text, to_networkx, write_graph
from insync.kafka.published import Kip320
from insync.model import ReadableState, UserError
from insync_runs import Crossing

MODEL = Kip320(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)


def test_nodes_have_the_fields_and_edges_the_actions() -> None:
    graph = build_graph(MODEL)
    made = to_networkx(graph)
    assert (made.number_of_nodes(), made.number_of_edges()) == (277, 464)
    assert made.graph["replicas"] == "2"
    first = made.nodes[0]
    assert (first["level"], first["expanded"]) == (1, True)
    assert first["quorum.isr"] == "{b1, b2}"
    assert first["quorum.leader"] == "none"
    assert first["label"] == "b1: -  [|]\nb2: -  [|]\ncontroller: no leader  ISR b1 b2"
    edges = [data for _, _, data in made.edges(0, data=True)]
    assert {"action": "controller_elect_leader", "label": "elect b1", "leader": "b1"} in edges
    assert nx.is_directed_acyclic_graph(nx.DiGraph(spending(graph)))


class Quiet(Crossing):
    """A crossing of which one column is empty."""

    def grid(self, state: ReadableState) -> dict[str, str]:
        return {"light": str(state["green"]), "nothing": "", "closed": str(state["closed"])}


def test_the_label_of_a_node_leaves_out_what_is_empty() -> None:
    assert to_networkx(build_graph(Quiet())).nodes[0]["label"] == "light: False\nclosed: False"


def spending(graph: StateGraph) -> list[tuple[int, int]]:
    """The steps that use up an epoch, which cannot come back."""
    return [
        (source, target)
        for source, number, target in zip(
            graph.source.tolist(),
            graph.action.tolist(),
            graph.target.tolist(),
            strict=True,
        )
        if MODEL.program.actions[number].name.startswith("controller")
    ]


def test_of_a_part_of_the_graph_the_nodes_say_whether_their_steps_are_known() -> None:
    graph = build_graph(Crossing(), limits=Limits(depth=2))
    nodes = [data for _, data in sorted(to_networkx(graph).nodes(data=True))]
    assert 0 < graph.expanded < len(graph)
    assert [data["expanded"] for data in nodes] == [True] * graph.expanded + [False] * (len(graph) - graph.expanded)
    assert [data["level"] for data in nodes] == sorted(data["level"] for data in nodes)


def test_graphml_is_read_back() -> None:
    graph = build_graph(MODEL)
    read = nx.read_graphml(io.BytesIO(graphml_text(graph).encode()))
    assert (read.number_of_nodes(), read.number_of_edges()) == (277, 464)
    assert read.nodes["0"]["replica[b1].leo"] == "0"


def test_dot_names_states_and_steps() -> None:
    text = dot_text(build_graph(Crossing(people=1), limits=Limits(depth=2)))
    assert text.startswith('digraph "crossing" {\n')
    assert '-> 2 [label="p1 asks"];' in text
    assert text.count("style=dashed") == 2, "what was not expanded is dashed"
    assert text.endswith("}\n")


def test_without_networkx_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = build_graph(Crossing(people=1))
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(UserError, match=r"This needs the extra `graph` \(networkx is missing\); install it"):
        to_networkx(graph)


def test_a_file_of_another_ending_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"graph\.png"):
        write_graph(tmp_path / "graph.png", build_graph(MODEL))
    assert list(tmp_path.iterdir()) == []
