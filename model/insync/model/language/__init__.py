"""Internal: the language in which an author writes a model.

`declarations` has the decorators of methods, such as `@action` and `@invariant`. `views` reads and assigns the fields
of a state, `sequence_views` and `set_views` those that are containers, with `container_views` as their base; these two
are loaded when a model is traced. `vocabulary` has `require`, `when`, `If` and the connectives, `quantifiers` has
`for_all`, `exists` and the like, expanded or kept as they are written. `choices` has `any_of`, `parts` has objects that
contribute to a model, and `refinements` the decorator `@refines`. `presentation` has what a model says about its
pictures: grid columns, lifelines and demands.
"""
