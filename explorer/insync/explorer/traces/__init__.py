"""Internal: the one type of traces, its files, and the text grid that shows it.

`trace` has the type, and `counterexample` makes traces of the moves that an engine found. `trace_file` reads and writes
the format of insync, `itf` writes that of Apalache and Quint, and `files` writes files whole or not at all.
`state_diff` has the cells of a state and what a step changed in them, which `grid` and the pictures show.
"""

from __future__ import annotations
