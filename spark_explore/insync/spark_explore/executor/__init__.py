"""Internal: the Python workers' part of a search on Spark: tasks over partitions of states.

`level_task` makes a level, or finds a predecessor: `candidates` merges what arrived with the sorted files of the
partition. `decode_task` writes states in place of codes, `walk_task` takes random walks. `worker` has what a Python
worker keeps between tasks: code and buffers, no states.
"""

from __future__ import annotations
