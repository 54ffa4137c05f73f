"""Internal: models as text for other checkers."""
