"""Internal: exploration of a model by hand, for the prompt and the page of `insync explore`.

`session` has the exploration, `visited` its tree of visited states, and `addresses` the texts by which a state is found
again. `steps` has the enabled steps of a state, the reasons why other actions are disabled, the status of properties,
and the search onward. `conditions` reads typed conditions.
"""
