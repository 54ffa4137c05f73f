"""Internal: the Python workers' part of a search on Spark: tasks over partitions of states.

`level_task` makes a level, or finds a predecessor. `walk_task` takes random walks, and `release` ends a run. `worker`
has what a Python worker keeps between tasks. `known_states` is the protocol for the states of a partition: `tables`
keeps them in `shared_memory`, and `sorted_tables` in sorted files. `sending` makes packets of the candidates.
"""

from __future__ import annotations
