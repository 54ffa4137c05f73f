"""Internal: lemmas mined from a model's own conditions, which are true of its states until a step shows otherwise."""
