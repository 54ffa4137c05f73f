"""Internal: steps of a model one at a time, and what rests on them.

`stepper` takes steps with the evaluator, and `machine_stepper` lists those of a state with machine code. `shrinking` is
delta debugging of failing walks. `difference` finds the first state that evaluator and machine code treat differently.
"""
