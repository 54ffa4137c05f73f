"""Internal: tracing, which turns the methods of a model into a program of guards and assignments.

`lifting` runs a method of a model on symbolic values, and each action once, for all values of its parameters.
`grounding` makes the bound actions of the result, for which `replay` runs a lifted action again. `tracer` does both for
a model, and traces conditions on states. `program` has the result: bound actions with guards, updates and checks.
`initial_states` enumerates the initial states, `predicates` traces step invariants, and `refinement_mappings` a mapping
to states of another model.
"""
