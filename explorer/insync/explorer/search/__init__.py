"""Internal: breadth-first search with its partitions and run directory, random walks, the way back to the start."""
