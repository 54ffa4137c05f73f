"""Internal: how a model is explored by typed commands."""
