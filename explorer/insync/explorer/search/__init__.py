"""Internal: the searches of a state space, and the way from a state back to the start.

`breadth_first` searches level by level; `beyond_memory` continues that search with sorted files when memory is full.
`partitions` has the states that each thread owns, `explored` the counts and first violations.
`run_directory` writes the levels of a search that can be resumed. `trace_back` finds a shortest trace to a state, and
`level_file` keeps the levels for it if the search has only codes. `walks` takes random walks.

Storage is exact; docs/adr/0003, 0014 and 0018 have the reasons for whole states, codes and sorted files.
`by_evaluator` is the reference engine, which searches with the evaluator.
"""
