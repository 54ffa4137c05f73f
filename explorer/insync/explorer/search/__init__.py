"""Internal: the searches of a state space, and the way from a state back to the start.

`breadth_first` searches level by level. In a large space `encoding` replaces states by codes, and `beyond_memory`
continues the search with sorted files when memory is full. `explored` has the counts and first violations.
`run_directory` writes the levels of a search that can be resumed, with a `manifest` of their counts and files, and
`run_levels` says which of them a search takes for its own. `trace_back` finds a shortest trace to a state. `walks`
takes random walks.

Storage is exact; docs/adr/0003, 0014 and 0018 have the reasons for whole states, codes and sorted files.
`by_evaluator` is the reference engine, which searches with the evaluator.
"""
