"""Internal: the language in which an author writes a model.

`declarations` has the decorators of methods, such as `@action` and `@invariant`. `views` and `container_views` read and
assign the fields of a state; `open_views` does so for arrays of open length. `vocabulary` has `require`, `when`, `If`
and the connectives, `quantifiers` has `for_all`, `exists` and the like, and `binders` keeps quantifiers as they are
written, for exports. `presentation` has what a model says about its pictures: grid columns, lifelines and demands.
"""
