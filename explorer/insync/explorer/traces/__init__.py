"""Internal: the one type of traces, its files, and the text grid that shows it.

`trace` has the type, and makes traces of the moves that an engine found. `trace_file` reads and writes the format of
insync, and `itf` writes that of Apalache and Quint.
`state_diff` has the cells of a state and what a step changed in them, which `grid` and the pictures show.
"""

from __future__ import annotations
