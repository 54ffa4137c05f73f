"""Internal: the explicit state graph of a small space, and what liveness and tours need of it.

`state_graph` builds the graph and writes it for other tools. `fair_cycles` finds the components that a fair run can
stay in. `lassos` finds a short stem and loop through one, and verifies it with the evaluator. `transition_tour` plans
walks that take every step of the graph.
"""

from __future__ import annotations
