"""Internal: systems of users beside a model.

`adapter` takes the steps of a model on a system and compares the two. `attended_calls` limits the time of each call of
a system. `system_walks` takes walks through a state graph on new systems; `failures` is how they fail, and `shortening`
leaves out the steps that a failure does not need.
"""
