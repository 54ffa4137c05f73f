"""Internal: errors, limits, memory, threads, files and processes; nothing here depends on a model."""
