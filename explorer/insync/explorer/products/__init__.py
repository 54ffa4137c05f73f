"""Internal: two models as one program, and where they part."""
