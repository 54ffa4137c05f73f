"""Internal: tracing, which turns the methods of a model into a program of guards and assignments.

`tracer` runs each method once for each binding of its parameters, on symbolic values. `program` has the result: bound
actions with guards, updates and checks. `initial_states` enumerates the initial states, and `predicates` traces step
invariants. `lifting` traces actions for all values of their parameters at once, for exports, and `open_tracing` traces
models with open bounds. `anatomy` finds the source spans of an action's guards, branches and assignments.
"""
