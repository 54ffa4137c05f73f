"""Internal: many steps on both sides: random walks, tours of whole spaces, what is forbidden, what was covered.

`conform` puts them together and shortens what differs. `walks` are random; `touring` takes all steps of a small space,
by the plans of `insync.explorer.runs.transition_tour`, and `budget_tours` those of the spaces of a few budgets each.
`handed_out` shares walks among the processes of `walking_process`; `coverage` counts. `under_way` is a comparison that
is not over yet.
"""
