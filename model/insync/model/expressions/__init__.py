"""Internal: conditions and numbers as a hash-consed graph, what they mean, and in which range they lie."""
