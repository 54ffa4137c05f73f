"""Internal: consumer groups, and the topics that they read: keys, partitions, generations and committed offsets."""
