"""Internal: a model, explored by hand: where one is, what can be done there and why not more, how it is found again."""
