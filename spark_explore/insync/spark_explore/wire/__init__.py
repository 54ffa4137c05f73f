"""Internal: data that driver and executors exchange, as rows of Spark and as files of a run directory.

`packets` has the rows that Spark moves, and `code_bundle` the code that the driver hands to tasks. `run_folder` reads
and writes files of a run directory on one of the `file_systems`. `run_states` has the sorted files of the states.
"""

from __future__ import annotations
