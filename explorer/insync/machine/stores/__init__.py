"""Internal: where the states of a partition lie: in tables, as codes, in sorted files."""
