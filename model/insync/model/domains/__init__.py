"""Internal: what values a field may have, how they lie in a state, and values as an author writes them."""
