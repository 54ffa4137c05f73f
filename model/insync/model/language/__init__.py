"""Internal: the words in which an author writes a model: decorators, views of a state, quantifiers."""
