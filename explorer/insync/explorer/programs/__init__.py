"""Internal: child processes that end when insync ends, even if it is killed.

`child_processes` starts programs through `guardian`, a supervisor process that runs as a script.
"""
